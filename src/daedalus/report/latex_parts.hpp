#pragma once

#include <string>
#include <vector>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/linalg/rational.hpp"

/// Parts of LaTeX documents with formulas. Long sums are broken, wide matrices get names for their entries, and what is
/// still too wide is scaled to the page.
namespace daedalus::report::latex {

/// A document that compiles as it is.
std::string document(const std::string& title, const std::string& content);

/// An expression, tidied.
std::string of(expr::Expr e);
/// A text of people, so that it stands as it is.
std::string escaped(const std::string& text);

/// A row of an align: `left`, then the sum in as many lines as it needs, then `right`.
std::string row(const std::string& left, expr::Expr sum, const std::string& right = {});
/// Such rows together.
std::string aligned(const std::vector<std::string>& rows);

std::string matrix(const std::string& name, const expr::SparseExpr& matrix);
std::string matrix(const std::string& name, const linalg::RationalMatrix& matrix);
/// A vector as a column, or component by component where one of them is long; `component` has {} for the coordinate.
std::string column(const std::string& name, const std::vector<expr::Expr>& values,
                   const std::vector<std::string>& coordinates, const std::string& component);
/// The names of all unknowns, in as many lines as they need.
std::string unknowns(const std::string& symbol, const std::vector<std::string>& names);

}  // namespace daedalus::report::latex
