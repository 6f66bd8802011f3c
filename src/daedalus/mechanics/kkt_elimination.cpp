// K = L D L^T with static pivots. Eliminating coordinates Q and multipliers P, where the constraints of P touch
// coordinates of Q only, leaves for the other coordinates
//     M_rr - M_rQ M_QQ^-1 M_Qr + (M_rQ M_QQ^-1 G_PQ^T) S^-1 (G_PQ M_QQ^-1 M_Qr),     S = G_PQ M_QQ^-1 G_PQ^T,
// a Schur complement of M plus something semidefinite, hence positive definite, and for the other multipliers minus a
// Schur complement of G M^-1 G^T, negative definite where G has full rank: no pivot vanishes, whatever the order within
// this rule (R. J. Vanderbei, SIAM J. Optimization 5, 1995, for the regularized case). The order is that of least degree, by
// rounds: what is independent of each other is eliminated together before degrees count again (J. W. H. Liu, ACM Trans. Math.
// Software 11, 1985). A chain is so eliminated from both of its ends, whose recursions do not wait for each other.
//
// In a pivot, contributions of pivots of the other kind have its own sign, those of its own kind the opposite one. The
// sum of the former over the pivot measures cancellation, as the pivot over its diagonal does in Cholesky's method.
#include "daedalus/mechanics/kkt_elimination.hpp"

#include <map>
#include <set>

namespace daedalus::mechanics {

KktElimination::Signed KktElimination::sign_apart(Expr e) {
  const expr::Node node = e.node();
  expr::Graph& graph = e.graph();
  if (node.op == expr::Op::neg) return {Expr{&graph, node.a}, true};
  if (node.op == expr::Op::sub && node.a < node.b) return {Expr{&graph, node.b} - Expr{&graph, node.a}, true};
  return {e, false};
}

KktElimination::Signed KktElimination::less(const Signed& a, const Signed& b) {
  const Signed sum = sign_apart(a.minus != b.minus ? a.value + b.value : a.value - b.value);
  return {sum.value, sum.minus != a.minus};
}

std::optional<KktElimination> KktElimination::of(const SparseExpr& M, const SparseExpr& G, std::size_t most) {
  const std::size_t n = M.rows, m = G.rows, size = n + m;
  KktElimination out(n, m);
  if (n == 0) return std::nullopt;
  expr::Graph& graph = M.value.front().graph();
  const Signed zero{graph.constant(0.0)};

  std::vector<std::map<std::size_t, Signed>> rows(size);  // what is left of K, both triangles without the diagonal
  std::vector<Signed> diagonal(size, zero);
  std::vector<std::size_t> touched(m, 0);  // coordinates of a constraint that are left
  std::vector<std::vector<std::size_t>> constraints(n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = M.row_start[i]; k < M.row_start[i + 1]; ++k) {
      if (M.column[k] == i)
        diagonal[i] = sign_apart(M.value[k]);
      else
        rows[i].emplace(M.column[k], sign_apart(M.value[k]));
    }
  for (std::size_t j = 0; j < m; ++j)
    for (std::size_t k = G.row_start[j]; k < G.row_start[j + 1]; ++k) {
      const Signed entry = sign_apart(G.value[k]);
      rows[n + j].emplace(G.column[k], entry);
      rows[G.column[k]].emplace(n + j, entry);
      constraints[G.column[k]].push_back(j);
      ++touched[j];
    }
  std::vector<Signed> reinforced = diagonal;  // the diagonal without what cancels in it

  std::set<std::pair<std::size_t, std::size_t>> ready;  // degree and number
  const auto is_ready = [&](std::size_t i) { return i < n || touched[i - n] == 0; };
  for (std::size_t i = 0; i < size; ++i)
    if (is_ready(i)) ready.emplace(rows[i].size(), i);
  std::size_t operations = 0;
  std::vector<std::size_t> round;       // of one degree, by number
  std::vector<bool> changed(size);      // by what was eliminated in this round
  std::vector<std::size_t> neighbours;  // of that
  for (std::size_t at = 0; !ready.empty() || at < round.size(); ++at) {
    if (at >= round.size()) {
      at = 0;
      round.clear();
      for (const std::size_t i : neighbours) changed[i] = false;
      neighbours.clear();
      const std::size_t least = ready.begin()->first;
      for (const auto& [degree, i] : ready) {
        if (degree > least) break;
        round.push_back(i);
      }
    }
    const std::size_t pivot = round[at];
    if (changed[pivot]) continue;
    ready.erase({rows[pivot].size(), pivot});
    const std::size_t degree = rows[pivot].size();
    operations += 2 + degree * (degree + 6);
    if (operations > most) return std::nullopt;
    out.order_.push_back(pivot);
    const Signed inverse = out.inverse_[pivot] = {1.0 / diagonal[pivot].value, diagonal[pivot].minus};
    if (pivot < n)
      out.inverse_masses_.push_back(plain(inverse));
    else
      out.inverse_constraints_.push_back(inverse.value);
    if (!(reinforced[pivot].value == diagonal[pivot].value))
      out.cancellations_.push_back(plain(times(reinforced[pivot], inverse)));
    for (const auto& [i, value] : rows[pivot]) {
      if (is_ready(i)) ready.erase({rows[i].size(), i});
      rows[i].erase(pivot);
      if (!changed[i]) neighbours.push_back(i);
      changed[i] = true;
    }
    for (const auto& [i, value] : rows[pivot]) {
      const Signed factor = times(value, inverse);
      out.columns_[pivot].push_back({i, factor});
      const Signed own = times(factor, value);
      if ((pivot < n) != (i < n)) reinforced[i] = less(reinforced[i], own);
      diagonal[i] = less(diagonal[i], own);
      for (auto next = rows[pivot].upper_bound(i); next != rows[pivot].end(); ++next) {
        const auto& [j, other] = *next;
        const Signed product = times(factor, other);
        const auto [place, fresh] = rows[i].try_emplace(j, Signed{product.value, !product.minus});
        if (!fresh) place->second = less(place->second, product);
        rows[j][i] = place->second;
      }
    }
    if (pivot < n)
      for (const std::size_t j : constraints[pivot]) --touched[j];
    for (const auto& [i, value] : rows[pivot])
      if (is_ready(i)) ready.emplace(rows[i].size(), i);
    rows[pivot].clear();
  }
  return out;
}

KktElimination::Solution KktElimination::solve(const std::vector<Expr>& f, const std::vector<Expr>& gamma) const {
  std::vector<Signed> right;
  for (const auto* part : {&f, &gamma})
    for (const Expr& e : *part) right.push_back(sign_apart(e));
  std::vector<Signed> x(right.size());
  Solution solution;
  for (const std::size_t k : order_) {
    for (const Entry& entry : columns_[k]) right[entry.row] = less(right[entry.row], times(entry.value, right[k]));
    x[k] = times(right[k], inverse_[k]);
    if (k < n_) continue;
    solution.order.push_back(inverse_[k].value);
    solution.order.push_back(x[k].value);
  }
  // An unknown waits for those that come after it in the order; coordinates are at the end of the line.
  std::vector<std::size_t> waits(right.size());
  std::vector<std::vector<std::size_t>> waiting(right.size());
  std::vector<std::size_t> known;
  for (const std::size_t k : order_) {
    waits[k] = columns_[k].size();
    for (const Entry& entry : columns_[k]) waiting[entry.row].push_back(k);
  }
  for (std::size_t at = order_.size(); at-- > 0;)
    if (waits[order_[at]] == 0) known.push_back(order_[at]);
  const auto solve_for = [&](std::size_t k) {
    for (const Entry& entry : columns_[k]) x[k] = less(x[k], times(entry.value, x[entry.row]));
    solution.order.push_back(x[k].value);
  };
  for (std::size_t at = 0; at < known.size(); ++at) {
    const std::size_t k = known[at];
    solve_for(k);
    for (const std::size_t other : waiting[k])
      if (--waits[other] == 0) known.push_back(other);
  }
  for (std::size_t i = 0; i < n_ + m_; ++i) (i < n_ ? solution.a : solution.lambda).push_back(plain(x[i]));
  return solution;
}

}  // namespace daedalus::mechanics
