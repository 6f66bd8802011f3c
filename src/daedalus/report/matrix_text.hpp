#pragma once

#include <string>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/linalg/rational.hpp"

namespace daedalus::report {

/// "M =" and below it the entries: a small matrix as rows, a large or wide one entry by entry.
std::string matrix_text(const std::string& name, const expr::SparseExpr& matrix);
/// The same with fractions.
std::string matrix_text(const std::string& name, const linalg::RationalMatrix& matrix);

}  // namespace daedalus::report
