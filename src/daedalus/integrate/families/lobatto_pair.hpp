#pragma once

// The partitioned Lobatto IIIA-IIIB pair for constrained mechanical systems, with momenta p = M(q) v and forces F:
//   Q_i = q0 + h sum_j a_ij V_j,                                        g(Q_i) = 0,
//   M(Q_i) V_i = p0 + h sum_j A_ij (F(Q_j, V_j) - G(Q_j)^T L_j),
//   q1 = Q_s,   M(q1) v1 = p0 + h sum_i b_i (F_i - G_i^T L_i),          G(q1) v1 + g_t = 0,
// a of Lobatto IIIA, A of Lobatto IIIB: L. O. Jay, Symplectic partitioned Runge-Kutta methods for constrained
// Hamiltonian systems, SIAM J. Numer. Anal. 33 (1996) 368-387. Two stages are RATTLE. The first row of a and the last
// column of A vanish: Q_1 = q0, and L_s occurs in v1 alone.
//
// Newton's method with M and G of the start of the step in place of all others, and without derivatives of F, contracts
// like O(h). With residuals R_i of the second line, e_i = M^-1 R_i, S = G M^-1 G^T and K_ik = (a A)_ik, i = 2..s, k
// = 1..s-1,
//   h S sum_k K_ik dL_k = g(Q_i)/h - sum_j a_ij G e_j,   dV_i = -e_i - h M^-1 G^T sum_k A_ik dL_k :
// one solution with the KKT matrix of the start for each k.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "daedalus/integrate/system.hpp"
#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::integrate {

struct LobattoPair {
  std::size_t stages;
  std::vector<double> a, A;  ///< row by row
  std::vector<double> b, c;
  std::vector<double> inverse;  ///< of K, row by row

  double a_of(std::size_t i, std::size_t j) const { return a[i * stages + j]; }
  double A_of(std::size_t i, std::size_t j) const { return A[i * stages + j]; }
};

/// Order 2 (two stages) or 4 (three).
inline LobattoPair lobatto_pair(int order) {
  // K = 1/2, and K = [1/12 1/24; 1/6 1/3] with the inverse [16 -2; -8 4].
  if (order == 2) return {2, {0.0, 0.0, 0.5, 0.5}, {0.5, 0.0, 0.5, 0.0}, {0.5, 0.5}, {0.0, 1.0}, {2.0}};
  return {3,
          {0.0, 0.0, 0.0, 5.0 / 24.0, 1.0 / 3.0, -1.0 / 24.0, 1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0},
          {1.0 / 6.0, -1.0 / 6.0, 0.0, 1.0 / 6.0, 1.0 / 3.0, 0.0, 1.0 / 6.0, 5.0 / 6.0, 0.0},
          {1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0},
          {0.0, 0.5, 1.0},
          {16.0, -2.0, -8.0, 4.0}};
}

inline double magnitude(double value) { return std::abs(value); }

/// One step of the pair in numbers of type Real, for which `magnitude` is known. A Problem has
///   n, m, mass, jacobian                      sizes and patterns;
///   geometry(t, q, M, G, g), velocity(t, q, v, c), force(t, q, v, F)
///                                             the system in Real;
///   start_solver(), end_solver()              with factor(M, G), solve(f, gamma), which replaces both by the solution
///   of the
///                                             KKT system, and solve_mass(f): at the start of the step these are given;
///   constant_mass, force_of_position          what need not be evaluated again.
template <class Real, class Problem>
class LobattoStep {
 public:
  LobattoStep(Problem& problem, LobattoPair pair)
      : problem_(problem), pair_(std::move(pair)), n_(problem.n), m_(problem.m), s_(pair_.stages) {
    for (auto* rows : {&Q_, &V_, &F_, &e_}) rows->assign(s_, std::vector<Real>(n_));
    for (auto* rows : {&L_, &g_}) rows->assign(s_, std::vector<Real>(m_));
    M_.assign(s_, std::vector<Real>(problem.mass.nonzeros()));
    G_.assign(s_, std::vector<Real>(problem.jacobian.nonzeros()));
    pull_.assign(s_, std::vector<Real>(n_));
    for (auto* vector : {&p_, &work_}) vector->assign(n_, Real(0.0));
    multiplier_.assign(m_, Real(0.0));
  }

  /// Forgets multipliers of earlier steps.
  void forget() {
    for (std::vector<Real>& row : L_) std::fill(row.begin(), row.end(), Real(0.0));
  }

  /// Geometry (and, where it depends on positions alone, the force) at a start (t, q); its solver is factored there.
  Evaluation begin(double t, const Real* q) {
    std::copy_n(q, n_, Q_[0].begin());
    Evaluation outcome = problem_.geometry(t, q, M_[0].data(), G_[0].data(), g_[0].data());
    if (outcome == Evaluation::ok && problem_.force_of_position) outcome = problem_.force(t, q, q, F_[0].data());
    return outcome == Evaluation::ok ? problem_.start_solver().factor(M_[0], G_[0]) : outcome;
  }

  /// Makes the end of a step the start of the next: nothing is evaluated again. The solvers are the problem's to
  /// exchange.
  void advance() {
    std::swap(Q_[0], Q_[s_ - 1]);
    std::swap(M_[0], M_[s_ - 1]);
    std::swap(G_[0], G_[s_ - 1]);
    std::swap(F_[0], F_[s_ - 1]);
  }

  /// A step from the begun start with velocity v; writes the end. The end solver is then factored there.
  Evaluation step(double t, const Real* v, double h, Real* q1, Real* v1) {
    std::fill(p_.begin(), p_.end(), Real(0.0));
    multiply_add(problem_.mass, M_[0].data(), 1.0, v, p_.data());
    for (std::vector<Real>& stage : V_) std::copy_n(v, n_, stage.begin());
    if (const Evaluation outcome = solve_stages(t, h); outcome != Evaluation::ok) return outcome;
    std::copy(Q_[s_ - 1].begin(), Q_[s_ - 1].end(), q1);
    return finish(t + h, h, v, v1);
  }

  std::size_t iterations = 0, force_evaluations = 0;

 private:
  static void multiply_add(const linalg::Sparsity& pattern, const Real* A, double factor, const Real* x, Real* y) {
    for (std::size_t i = 0; i < pattern.rows; ++i)
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
        y[i] += factor * (A[k] * x[pattern.column[k]]);
  }
  static void transposed_add(const linalg::Sparsity& pattern, const Real* A, double factor, const Real* x, Real* y) {
    for (std::size_t i = 0; i < pattern.rows; ++i)
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
        y[pattern.column[k]] += factor * (A[k] * x[i]);
  }

  Evaluation force(double t, std::size_t stage) {
    ++force_evaluations;
    return problem_.force(t, Q_[stage].data(), V_[stage].data(), F_[stage].data());
  }

  /// Evaluates everything that the stage equations need at the present V.
  Evaluation evaluate(double t, double h) {
    for (std::size_t i = 1; i < s_; ++i) {
      for (std::size_t k = 0; k < n_; ++k) {
        Real sum = Real(0.0);
        for (std::size_t j = 0; j < s_; ++j) sum += pair_.a_of(i, j) * V_[j][k];
        Q_[i][k] = Q_[0][k] + h * sum;
      }
      const Evaluation outcome =
          problem_.geometry(t + pair_.c[i] * h, Q_[i].data(), M_[i].data(), G_[i].data(), g_[i].data());
      if (outcome != Evaluation::ok) return outcome;
    }
    for (std::size_t j = problem_.force_of_position ? 1 : 0; j + 1 < s_; ++j) {
      if (const Evaluation outcome = force(t + pair_.c[j] * h, j); outcome != Evaluation::ok) return outcome;
    }
    return Evaluation::ok;
  }

  /// e_i = M^-1 R_i
  void residuals(double h) {
    for (std::size_t j = 0; j + 1 < s_; ++j) {
      pull_[j] = F_[j];
      transposed_add(problem_.jacobian, G_[j].data(), -1.0, L_[j].data(), pull_[j].data());
    }
    for (std::size_t i = 0; i < s_; ++i) {
      if (i == 1 && s_ == 2 && problem_.constant_mass) {  // both stages have the same momentum
        e_[1] = e_[0];
        continue;
      }
      for (std::size_t k = 0; k < n_; ++k) e_[i][k] = -p_[k];
      multiply_add(problem_.mass, M_[i].data(), 1.0, V_[i].data(), e_[i].data());
      for (std::size_t j = 0; j + 1 < s_; ++j) {
        const double weight = h * pair_.A_of(i, j);
        for (std::size_t k = 0; k < n_; ++k) e_[i][k] -= weight * pull_[j][k];
      }
      problem_.start_solver().solve_mass(e_[i].data());
    }
  }

  /// Changes V and L; the largest change of a velocity.
  double correct(double h) {
    // g becomes the right sides of the equations for the multipliers.
    for (std::size_t i = 1; i < s_; ++i) {
      for (std::size_t k = 0; k < n_; ++k) {
        work_[k] = Real(0.0);
        for (std::size_t j = 0; j < s_; ++j) work_[k] += pair_.a_of(i, j) * e_[j][k];
      }
      for (Real& g : g_[i]) g = (1.0 / h) * g;
      multiply_add(problem_.jacobian, G_[0].data(), -1.0, work_.data(), g_[i].data());
    }
    for (std::size_t k = 0; k + 1 < s_; ++k) {
      for (std::size_t r = 0; r < m_; ++r) {
        multiplier_[r] = Real(0.0);
        for (std::size_t i = 1; i < s_; ++i) multiplier_[r] += pair_.inverse[k * (s_ - 1) + i - 1] * g_[i][r];
      }
      std::fill(work_.begin(), work_.end(), Real(0.0));
      problem_.start_solver().solve(work_.data(), multiplier_.data());
      for (std::size_t r = 0; r < m_; ++r) L_[k][r] -= (1.0 / h) * multiplier_[r];
      for (std::size_t i = 0; i < s_; ++i)
        for (std::size_t j = 0; j < n_; ++j) e_[i][j] += pair_.A_of(i, k) * work_[j];
    }
    double largest = 0.0;
    for (std::size_t i = 0; i < s_; ++i) {
      for (std::size_t k = 0; k < n_; ++k) {
        V_[i][k] -= e_[i][k];
        largest = std::max(largest, magnitude(e_[i][k]));
      }
    }
    return largest;
  }

  static double largest_of(const std::vector<std::vector<Real>>& stages) {
    double largest = 0.0;
    for (const std::vector<Real>& stage : stages)
      for (const Real& value : stage) largest = std::max(largest, magnitude(value));
    return largest;
  }

  /// Iterates until round-off is all that is left.
  Evaluation solve_stages(double t, double h) {
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    constexpr int most = 60;
    double last = std::numeric_limits<double>::infinity();
    for (int iteration = 0; iteration < most; ++iteration) {
      if (const Evaluation outcome = evaluate(t, h); outcome != Evaluation::ok) return outcome;
      residuals(h);
      const double change = correct(h);
      ++iterations;
      if (!std::isfinite(change)) return Evaluation::no_convergence;
      const double speed = largest_of(V_), size = largest_of(Q_) + std::abs(h) * speed;
      const double rate = change / last;
      if (change <= 0.25 * epsilon * speed ||
          (iteration > 0 && rate < 0.5 && change * rate <= 0.25 * epsilon * speed)) {
        return evaluate_end(t, h);
      }
      if (rate >= 1.0 && std::abs(h) * change <= 1e-12 * size) return evaluate_end(t, h);
      if (rate > 2.0 && iteration > 2) return Evaluation::no_convergence;
      last = change;
    }
    return Evaluation::no_convergence;
  }

  Evaluation evaluate_end(double t, double h) {
    if (const Evaluation outcome = evaluate(t, h); outcome != Evaluation::ok) return outcome;
    return force(t + h, s_ - 1);
  }

  /// The momentum at the end and the velocity that satisfies its constraint.
  Evaluation finish(double t, double h, const Real* v, Real* v1) {
    for (std::size_t i = 0; i < s_; ++i) {
      for (std::size_t k = 0; k < n_; ++k) p_[k] += (h * pair_.b[i]) * F_[i][k];
      if (i + 1 < s_) transposed_add(problem_.jacobian, G_[i].data(), -h * pair_.b[i], L_[i].data(), p_.data());
    }
    const std::vector<Real>&M = M_[s_ - 1], &G = G_[s_ - 1];
    if (const Evaluation outcome = problem_.end_solver().factor(M, G); outcome != Evaluation::ok) return outcome;
    // p_ becomes what M v1 + G^T L still lacks; from v on, so that velocities without forces stay what they are. The
    // solution is exact after one pass but for round-off, or for the parts of Real that the factors do not have.
    std::copy_n(v, n_, v1);
    multiply_add(problem_.mass, M.data(), -1.0, v1, p_.data());
    for (int pass = 0; pass < 3; ++pass) {
      const Evaluation outcome = problem_.velocity(t, Q_[s_ - 1].data(), v1, multiplier_.data());
      if (outcome != Evaluation::ok) return outcome;
      for (Real& r : multiplier_) r = -1.0 * r;
      work_ = p_;
      problem_.end_solver().solve(work_.data(), multiplier_.data());
      for (std::size_t k = 0; k < n_; ++k) v1[k] += work_[k];
      multiply_add(problem_.mass, M.data(), -1.0, work_.data(), p_.data());
      transposed_add(problem_.jacobian, G.data(), -1.0, multiplier_.data(), p_.data());
    }
    return Evaluation::ok;
  }

  Problem& problem_;
  const LobattoPair pair_;
  const std::size_t n_, m_, s_;
  std::vector<std::vector<Real>> Q_, V_, F_, L_, g_, M_, G_, e_, pull_;
  std::vector<Real> p_, work_, multiplier_;
};

}  // namespace daedalus::integrate
