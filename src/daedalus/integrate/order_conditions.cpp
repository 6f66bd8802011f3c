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
  const auto size = [](const std::vector<double>& row) {
    double sum = 0.0;
    for (const double entry : row) sum += std::abs(entry);
    return sum;
  };
  double norm = 1.0;
  for (const std::vector<double>& row : a) norm = std::max(norm, size(row));
  const std::vector<double> weights = elementary_weights(trees, a, b);
  for (std::size_t k = 0; k < trees.size(); ++k) {
    // A weight is a sum of terms below |b| |A|^(order - 1), each with a few roundings per factor; coefficients
    // themselves may be rounded to fewer digits than a double has.
    const double noise = 1e3 * std::numeric_limits<double>::epsilon() * size(b) * std::pow(norm, trees[k].order - 1);
    if (std::abs(weights[k] - 1.0 / static_cast<double>(trees[k].density)) > noise) return trees[k].order - 1;
  }
  return most;
}

}  // namespace daedalus::integrate
