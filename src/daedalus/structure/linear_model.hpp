#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daedalus/model/model.hpp"
#include "daedalus/structure/pencil.hpp"
#include "daedalus/structure/sparse_pencil.hpp"

namespace daedalus::structure {

/// A model as E x' = A x + f(t), with its author's names. Of second and higher derivatives all but the highest are
/// unknowns of their own, with rows der(x)' = der(x,2) after the author's.
template <class Matrices>
struct BasicLinearModel {
  Matrices pencil;
  std::vector<expr::Expr> f;           ///< of t; parameters are numbers
  std::vector<std::string> unknowns;   ///< "x", "der(x)"
  std::vector<std::string> equations;  ///< "row 1", or as the author named them
  expr::Expr time;
};
using SparseLinearModel = BasicLinearModel<SparsePencil>;
using LinearModel = BasicLinearModel<Pencil>;

/// The largest model that is brought to this form: a dense matrix of its size must be worth having.
inline constexpr std::size_t most_dense = 400;
/// The largest one that is looked at without them.
inline constexpr std::size_t most_sparse = 50'000;

/// A model of kind linear, or one of kind dae that is linear with constant coefficients; none for others,
/// and for those of more than `most_sparse` unknowns.
std::optional<SparseLinearModel> sparse_linear_model(const model::Model& model);
/// The same with dense matrices; none for those of more than `most_dense` unknowns.
std::optional<LinearModel> linear_model(SparseLinearModel sparse);
std::optional<LinearModel> linear_model(const model::Model& model);

}  // namespace daedalus::structure
