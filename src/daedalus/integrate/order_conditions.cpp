// Order conditions by rooted trees: J. C. Butcher; E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential
// Equations I, 2nd ed., theorem II.2.13.
#include "daedalus/integrate/order_conditions.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace daedalus::integrate {

std::vector<RootedTree> rooted_trees(int order) {
  std::vector<RootedTree> trees{{}};
  for (int vertices = 2; vertices <= order; ++vertices) {
    std::vector<RootedTree> found;
    RootedTree tree{.order = vertices, .density = vertices, .children = {}};
    // Adds children, each not before the last one in the list, until no vertex is left.
    const std::function<void(std::size_t, int)> extend = [&](std::size_t first, int left) {
      if (left == 0) {
        found.push_back(tree);
        return;
      }
      for (std::size_t child = first; child < trees.size() && trees[child].order <= left; ++child) {
        const long long density = tree.density;
        tree.children.push_back(child);
        tree.density *= trees[child].density;
        extend(child, left - trees[child].order);
        tree.children.pop_back();
        tree.density = density;
      }
    };
    extend(0, vertices - 1);
    trees.insert(trees.end(), found.begin(), found.end());
  }
  return trees;
}

int order_of(const std::vector<std::vector<double>>& a, const std::vector<double>& b) {
  constexpr int most = 9;
  static const std::vector<RootedTree> trees = rooted_trees(most);
  std::vector<std::vector<double>> sizes_a = a;
  std::vector<double> sizes_b = b;
  for (std::vector<double>& row : sizes_a)
    for (double& entry : row) entry = std::abs(entry);
  for (double& entry : sizes_b) entry = std::abs(entry);
  const std::vector<double> weights = elementary_weights(trees, a, b),
                            sizes = elementary_weights(trees, sizes_a, sizes_b);
  for (std::size_t k = 0; k < trees.size(); ++k) {
    // Every term of the sum has a few roundings for each of its factors, and these are rounded themselves.
    const double noise = 10.0 * std::numeric_limits<double>::epsilon() * trees[k].order * sizes[k];
    const double wanted = 1.0 / static_cast<double>(trees[k].density);
    // Coefficients so large that round-off hides a condition, or overflows, do not satisfy it.
    if (!(std::abs(weights[k] - wanted) <= std::min(noise, 1e-3 * wanted))) return trees[k].order - 1;
  }
  return most;
}

}  // namespace daedalus::integrate
