// Pryce: A simple structural analysis method for DAEs, BIT 41, 2001. A transversal T takes one entry of every row and
// column of the signature matrix sigma; one of the highest value, sum of sigma_ij over T, and offsets c, d >= 0 with
//     d_j - c_i >= sigma_ij,   equality on T                                                                        (1)
// are solutions of a linear program, the assignment problem, and of its dual. The canonical offsets are the smallest
// ones: the least fixed point of d_j = max_i (sigma_ij + c_i), c_i = d_j - sigma_ij for (i, j) in T.
//
// The transversal is found from the dual: start with c = 0, d_j = max_i sigma_ij, match along entries with equality in
// (1) as far as possible, then raise c and d of all that is reached from rows without partner, by distances in the
// reduced lengths r_ij = d_j - c_i - sigma_ij >= 0, until a further path has equality throughout; and so on. Values are
// small whole numbers, so that many paths appear at once (compare Gabow, Tarjan: Faster scaling algorithms for network
// problems, SIAM J. Comput. 18, 1989).
//
// Pryce iterates the fixed point, which takes as many sweeps as a chain of differentiations is long. With offsets c',
// d' that satisfy (1), whichever they are, it is one search of shortest paths: each row i has c_i >= c_k + sigma_kj -
// sigma_ij for (i, j) in T and all k, so that c_i is the longest path in lengths sigma_kj - sigma_ij = c'_i - c'_k -
// r'_kj. Hence c_i = c'_i - e_i, d_j = d'_j - e_i, where e_i is the smallest c'_k + sum of r' over the paths from any k
// to i.
#include "daedalus/structure/sigma_method.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>

namespace daedalus::structure {

namespace {

constexpr int infinite = std::numeric_limits<int>::max();

/// Rows in the order of their distance.
using RowQueue =
    std::priority_queue<std::pair<int, std::size_t>, std::vector<std::pair<int, std::size_t>>, std::greater<>>;

class Transversal {
 public:
  explicit Transversal(const Signature& sigma) : sigma_(sigma), search_(sigma.pattern), distance_(sigma.pattern.rows) {
    offsets_.c.assign(sigma.pattern.rows, 0);
    offsets_.d.assign(sigma.pattern.columns, 0);
    for (std::size_t k = 0; k < sigma.order.size(); ++k) {
      int& d = offsets_.d[sigma.pattern.column[k]];
      d = std::max(d, sigma.order[k]);
    }
  }

  /// False where no transversal exists.
  bool find() {
    const auto equality = [this](std::size_t i, std::size_t k) { return reduced(i, k) == 0; };
    search_.enlarge(equality);
    while (!search_.matching().perfect()) {
      if (!raise()) return false;
      search_.enlarge(equality);
    }
    return true;
  }

  SigmaMethod canonical() {
    RowQueue queue;
    for (std::size_t i = 0; i < distance_.size(); ++i) queue.emplace(distance_[i] = offsets_.c[i], i);
    shortest_paths(queue, infinite);
    SigmaMethod result{search_.matching(), offsets_, 0};
    for (std::size_t i = 0; i < distance_.size(); ++i) {
      result.offsets.c[i] -= distance_[i];
      result.offsets.d[result.transversal.column_of[i]] -= distance_[i];
    }
    result.entries_seen = entries_seen_ + search_.entries_seen();
    return result;
  }

 private:
  int reduced(std::size_t i, std::size_t k) const {
    return offsets_.d[sigma_.pattern.column[k]] - offsets_.c[i] - sigma_.order[k];
  }

  /// Distances of rows over rows' partners, as far as they are below the bound or the distance of a column without
  /// partner, which is returned.
  int shortest_paths(RowQueue& queue, int bound) {
    while (!queue.empty() && queue.top().first < bound) {
      const auto [distance, i] = queue.top();
      queue.pop();
      if (distance > distance_[i]) continue;
      for (std::size_t k = sigma_.pattern.row_start[i]; k < sigma_.pattern.row_start[i + 1]; ++k) {
        ++entries_seen_;
        const int through = distance + reduced(i, k);
        const std::size_t other = search_.matching().row_of[sigma_.pattern.column[k]];
        if (other == unmatched) {
          bound = std::min(bound, through);
        } else if (through < distance_[other]) {
          queue.emplace(distance_[other] = through, other);
        }
      }
    }
    return bound;
  }

  /// Raises offsets until a row without partner has a path of equalities to a column without partner.
  bool raise() {
    RowQueue queue;
    for (std::size_t i = 0; i < distance_.size(); ++i) {
      distance_[i] = search_.matching().column_of[i] == unmatched ? 0 : infinite;
      if (distance_[i] == 0) queue.emplace(0, i);
    }
    const int nearest = shortest_paths(queue, infinite);
    if (nearest == infinite) return false;
    for (std::size_t i = 0; i < distance_.size(); ++i) {
      if (distance_[i] >= nearest) continue;
      offsets_.c[i] += nearest - distance_[i];
      if (const std::size_t j = search_.matching().column_of[i]; j != unmatched)
        offsets_.d[j] += nearest - distance_[i];
    }
    return true;
  }

  const Signature& sigma_;
  MatchingSearch search_;
  Offsets offsets_;
  std::vector<int> distance_;
  std::size_t entries_seen_ = 0;
};

}  // namespace

int Offsets::structural_index() const {
  const int most = c.empty() ? 0 : *std::max_element(c.begin(), c.end());
  return most + (std::find(d.begin(), d.end(), 0) == d.end() ? 0 : 1);
}

std::size_t Offsets::degrees_of_freedom() const {
  std::ptrdiff_t sum = 0;
  for (const int each : d) sum += each;
  for (const int each : c) sum -= each;
  return static_cast<std::size_t>(sum);
}

std::optional<SigmaMethod> sigma_method(const Signature& signature) {
  if (signature.pattern.rows != signature.pattern.columns) return std::nullopt;
  Transversal transversal(signature);
  if (!transversal.find()) return std::nullopt;
  return transversal.canonical();
}

JacobianPattern jacobian_pattern(const Signature& signature, const Offsets& offsets) {
  const linalg::Sparsity& all = signature.pattern;
  JacobianPattern result{{all.rows, all.columns, {0}, {}}, {}};
  for (std::size_t i = 0; i < all.rows; ++i) {
    for (std::size_t k = all.row_start[i]; k < all.row_start[i + 1]; ++k) {
      if (offsets.d[all.column[k]] - offsets.c[i] != signature.order[k]) continue;
      result.pattern.column.push_back(all.column[k]);
      result.entries.push_back(k);
    }
    result.pattern.row_start.push_back(result.pattern.column.size());
  }
  return result;
}

}  // namespace daedalus::structure
