#pragma once

#include <vector>

#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::integrate {

/// A rooted tree: the trees that remain when the root is removed, by their numbers in the list of all trees.
struct RootedTree {
  int order = 1;                      ///< number of vertices
  long long density = 1;              ///< gamma(t): the order times the densities of the children
  std::vector<std::size_t> children;  ///< ascending
};

/// All rooted trees with at most `order` vertices, ascending in order: 1, 1, 2, 4, 9, 20, 48, 115, ... of each.
std::vector<RootedTree> rooted_trees(int order);

/// The elementary weights sum_i b_i u_i(t) of all trees, where u_i(t) is the product over the children t' of t of
/// sum_j a_ij u_j(t'). The method has order p if the weight of each tree of at most p vertices is 1/gamma(t). Where a
/// and b are given multiplied by D, the weight of a tree comes multiplied by D^order: whole numbers suffice.
template <class Number>
std::vector<Number> elementary_weights(const std::vector<RootedTree>& trees, const std::vector<std::vector<Number>>& a,
                                       const std::vector<Number>& b) {
  const std::size_t stages = b.size();
  std::vector<std::vector<Number>> moved;  // A u(t) of each tree
  std::vector<Number> weights;
  for (const RootedTree& tree : trees) {
    std::vector<Number> u(stages, Number(1));
    for (const std::size_t child : tree.children) {
      for (std::size_t i = 0; i < stages; ++i) u[i] = u[i] * moved[child][i];
    }
    std::vector<Number> next(stages, Number(0));
    Number weight(0);
    for (std::size_t i = 0; i < stages; ++i) {
      for (std::size_t j = 0; j < a[i].size(); ++j) next[i] = next[i] + a[i][j] * u[j];
      weight = weight + b[i] * u[i];
    }
    moved.push_back(std::move(next));
    weights.push_back(weight);
  }
  return weights;
}

/// The largest order, at most 9, whose conditions the weights `b` satisfy up to round-off; 0 where they do not add up
/// to 1.
int order_of(const std::vector<std::vector<double>>& a, const std::vector<double>& b);

}  // namespace daedalus::integrate
