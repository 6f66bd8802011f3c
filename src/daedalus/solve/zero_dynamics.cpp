// Equilibria of eta' = q(0, eta) by Newton's method from the start and from seeded points around it, with coordinates chosen
// anew at every iterate: x <- Phi^-1(0, eta - q_eta^+ q). dq/deta is taken by central differences; its eigenvalues decide the
// stability where none has a real part of 0. Equilibria need not lie alone: a body without forces rests everywhere. So the
// inverse is that of least change, and of equilibria with the same eigenvalues in families of one dimension one is told.
#include "daedalus/solve/zero_dynamics.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "daedalus/expr/substitute.hpp"
#include "daedalus/formulate/dae_normal_form.hpp"
#include "daedalus/formulate/mechanical_normal_form.hpp"
#include "daedalus/linalg/lapack.hpp"

namespace daedalus::solve {

namespace {

using integrate::Evaluation;
using Vector = std::vector<double>;

constexpr std::size_t largest_dimension = 12, seeds = 40;
constexpr int most_iterations = 60;
/// Entries and singular values below this part of the largest are errors of differences.
constexpr double vanishing = 1e-5;
/// Eigenvalues of one family agree to this part of the largest.
constexpr double alike = 1e-3;

/// A matrix of differences, with what its singular values say: A = R^-1 U diag(values) V^T, where diagonal R makes the largest
/// entries of rows 1, but for those that are nothing.
class Equilibrated {
 public:
  explicit Equilibrated(linalg::DenseMatrix A) : row_(A.rows, 1.0) {
    double most = 0.0;
    for (const double entry : A.entries) most = std::max(most, std::abs(entry));
    for (std::size_t i = 0; i < A.rows && most > 0.0; ++i) {
      double largest = vanishing * most;
      for (std::size_t k = 0; k < A.columns; ++k) largest = std::max(largest, std::abs(A(i, k)));
      row_[i] = 1.0 / largest;
      for (std::size_t k = 0; k < A.columns; ++k) A(i, k) *= row_[i];
    }
    svd_ = linalg::svd(A);
    while (rank_ < svd_.values.size() && svd_.values[rank_] > vanishing * svd_.values[0]) ++rank_;
  }

  std::size_t kernel() const { return row_.size() - rank_; }

  /// The least y with A y as near to q as can be.
  Vector solve(const Vector& q) const {
    Vector y(q.size(), 0.0);
    for (std::size_t r = 0; r < rank_; ++r) {
      double part = 0.0;
      for (std::size_t i = 0; i < q.size(); ++i) part += svd_.U(i, r) * row_[i] * q[i];
      for (std::size_t k = 0; k < q.size(); ++k) y[k] += svd_.V(k, r) * part / svd_.values[r];
    }
    return y;
  }

 private:
  Vector row_;
  linalg::Svd svd_;
  std::size_t rank_ = 0;
};

template <class Form>
class Search {
 public:
  Search(Form& form, double t) : form_(form), t_(t) {}

  /// The rates at eta on the constraints; x is where the search for the state begins and what it finds.
  bool rates(const Vector& eta, Vector& x, Vector& q) {
    const Vector none(form_.xi_count(), 0.0);
    q.resize(form_.eta_count());
    return form_.expand(t_, none.data(), eta.data(), x.data()) == Evaluation::ok &&
           form_.rates(t_, x.data(), q.data()) == Evaluation::ok;
  }

  /// Coordinates around x, and the point of the constraints with the same eta.
  bool settle(Vector& x, Vector& eta) {
    if (form_.choose(t_, x.data()) != Evaluation::ok) return false;
    Vector xi(form_.xi_count());
    eta.resize(form_.eta_count());
    if (form_.reduce(t_, x.data(), xi.data(), eta.data()) != Evaluation::ok) return false;
    for (double share = 0.5; share > 1e-3; share *= 0.5) {  // in halves, so that Newton's method contracts
      Vector part = xi;
      for (double& value : part) value *= share;
      if (form_.expand(t_, part.data(), eta.data(), x.data()) != Evaluation::ok) return false;
    }
    Vector q;
    return rates(eta, x, q);
  }

  bool slope(const Vector& eta, const Vector& x, linalg::DenseMatrix& A) {
    const std::size_t d = eta.size();
    A = linalg::DenseMatrix::zero(d, d);
    for (std::size_t k = 0; k < d; ++k) {
      const double h = 1e-5 * std::max(1.0, std::abs(eta[k]));
      Vector shifted = eta, there = x, high, low;
      shifted[k] = eta[k] + h;
      if (!rates(shifted, there, high)) return false;
      shifted[k] = eta[k] - h;
      there = x;
      if (!rates(shifted, there, low)) return false;
      for (std::size_t i = 0; i < d; ++i) A(i, k) = (high[i] - low[i]) / (2.0 * h);
    }
    return true;
  }

  /// Where the slope vanishes, too, as for eta' = -eta^3, steps shorten by a constant factor r only: then the sum of all those to
  /// come is taken, step/(1 - r).
  bool newton(Vector& x) {
    Vector eta, q, step, before;
    double last = INFINITY;
    for (int iteration = 0; iteration < most_iterations; ++iteration) {
      linalg::DenseMatrix A;
      if (!settle(x, eta) || !rates(eta, x, q) || !slope(eta, x, A)) return false;
      double size = 0.0;
      for (const double value : q) size = std::max(size, std::abs(value));
      step = Equilibrated(std::move(A)).solve(q);
      double length = 0.0;
      for (std::size_t k = 0; k < step.size(); ++k) length = std::max(length, std::abs(step[k]) / std::max(1.0, std::abs(eta[k])));
      if (size < 1e-7 && (length < 1e-9 || size >= last)) return true;
      last = size;
      double factor = std::min(1.0, 0.5 / std::max(length, 1e-300));
      constexpr double near = 1e-3;
      if (const double r = factor < 1.0 || size > near ? 0.0 : common_factor(step, before); r > 0.0) factor = 1.0 / (1.0 - r);
      before = factor == 1.0 ? step : Vector();  // after a longer one it begins anew
      for (std::size_t k = 0; k < step.size(); ++k) eta[k] -= factor * step[k];
      Vector there = x;
      if (!rates(eta, there, q)) return false;
      x = there;
    }
    return last < 1e-10;
  }

  void find(Vector start, ZeroDynamics& out) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (std::size_t k = 0; k < seeds; ++k) {
      Vector x = start;
      for (double& value : x) value += k == 0 ? 0.0 : (k < seeds / 2 ? 1.0 : 4.0) * uniform(random) * std::max(0.5, std::abs(value));
      if (!newton(x)) continue;
      // A multiple zero is found to some digits less.
      const auto same = [&](const ZeroDynamics::Equilibrium& other) {
        for (std::size_t i = 0; i < x.size(); ++i)
          if (std::abs(x[i] - other.x[i]) > 1e-5 * std::max(1.0, std::abs(x[i]))) return false;
        return true;
      };
      if (std::ranges::any_of(out.equilibria, same)) continue;
      ZeroDynamics::Equilibrium found;
      found.x = x;
      judge(x, found);
      const auto of_one_family = [&](const ZeroDynamics::Equilibrium& other) { return are_of_one_family(found, other); };
      if (std::ranges::none_of(out.equilibria, of_one_family)) out.equilibria.push_back(std::move(found));
    }
    const auto distance = [&](const ZeroDynamics::Equilibrium& one) {
      double sum = 0.0;
      for (std::size_t i = 0; i < start.size(); ++i) sum += (one.x[i] - start[i]) * (one.x[i] - start[i]);
      return sum;
    };
    std::ranges::stable_sort(out.equilibria, [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
    constexpr std::size_t most = 6;  // angles have equilibria without end
    if (out.equilibria.size() > most) out.equilibria.resize(most);
  }

 private:
  /// r with step = r before, where r is that of a multiple zero, 1/2 and more; else 0.
  static double common_factor(const Vector& step, const Vector& before) {
    constexpr double least = 0.4, most = 0.95, straight = 0.1;
    if (before.size() != step.size()) return 0.0;
    double product = 0.0, square = 0.0, rest = 0.0;
    for (std::size_t k = 0; k < step.size(); ++k) {
      product += step[k] * before[k];
      square += before[k] * before[k];
    }
    const double r = square > 0.0 ? product / square : 0.0;
    for (std::size_t k = 0; k < step.size(); ++k) rest += (step[k] - r * before[k]) * (step[k] - r * before[k]);
    return r > least && r < most && rest < straight * straight * r * r * square ? r : 0.0;
  }

  void judge(Vector x, ZeroDynamics::Equilibrium& found) {
    Vector eta;
    linalg::DenseMatrix A;
    if (!settle(x, eta) || !slope(eta, x, A)) return;
    found.family = Equilibrated(A).kernel();
    const linalg::GeneralizedEigen eigen = linalg::generalized_eigen(A, linalg::DenseMatrix::identity(A.rows));
    if (!eigen.converged) return;
    double size = 1.0, most = -INFINITY;
    for (const auto& pair : eigen.pairs) {
      found.eigenvalues.push_back(pair.alpha / pair.beta);
      size = std::max(size, std::abs(found.eigenvalues.back()));
      most = std::max(most, found.eigenvalues.back().real());
    }
    std::ranges::sort(found.eigenvalues, [](const auto& a, const auto& b) {
      return std::pair(a.real(), a.imag()) < std::pair(b.real(), b.imag());
    });
    // A double eigenvalue splits by the root of the error of the differences, about 1e-9.
    const double zero = 1e-4 * size;
    found.stability = most > zero    ? ZeroDynamics::Stability::unstable
                      : most < -zero ? ZeroDynamics::Stability::asymptotic
                                     : ZeroDynamics::Stability::undecided;
  }

  static bool are_of_one_family(const ZeroDynamics::Equilibrium& one, const ZeroDynamics::Equilibrium& other) {
    if (one.family == 0 || one.family != other.family || one.eigenvalues.size() != other.eigenvalues.size()) return false;
    double size = 1.0;
    for (const auto& value : one.eigenvalues) size = std::max(size, std::abs(value));
    auto left = other.eigenvalues;
    for (const auto& value : one.eigenvalues) {
      const auto nearest = std::ranges::min_element(left, {}, [&](const auto& candidate) { return std::abs(candidate - value); });
      if (std::abs(*nearest - value) > alike * size) return false;
      left.erase(nearest);
    }
    return true;
  }

  Form& form_;
  double t_;
};

template <class Form>
void look_at(Form& form, double t, const Vector& x, ZeroDynamics::Look look, ZeroDynamics& out) {
  if (form.choose(t, x.data()) != Evaluation::ok) {
    out.message = form.explain();
    return;
  }
  out.dimension = form.eta_count();
  out.constraints = form.xi_count();
  out.coordinates = form.eta_names();
  out.searched = look == ZeroDynamics::Look::for_equilibria && out.autonomous && out.dimension <= largest_dimension && out.dimension > 0;
  if (out.searched) Search<Form>(form, t).find(x, out);
}

bool depends_on_time(const std::vector<expr::Expr>& roots, const expr::Expr& t) {
  const std::vector<bool> depends = expr::dependence(roots, {t.id()});
  return std::ranges::find(depends, true) != depends.end();
}

}  // namespace

bool is_autonomous(const Prepared& prepared) {
  if (!prepared.functions) return !depends_on_time(prepared.solvable_dae()->equations.F, prepared.solvable_dae()->equations.t);
  const mechanics::Equations& equations = prepared.functions->equations;
  std::vector<expr::Expr> roots = equations.f;
  roots.insert(roots.end(), equations.M.value.begin(), equations.M.value.end());
  roots.insert(roots.end(), equations.auxiliary.begin(), equations.auxiliary.end());
  for (const mechanics::Constraint& constraint : equations.constraints) {
    roots.push_back(constraint.velocity);
    if (constraint.holonomic) roots.push_back(constraint.position);
  }
  return !depends_on_time(roots, equations.t);
}

ZeroDynamics zero_dynamics(const Prepared& prepared, double t, ZeroDynamics::Look look) {
  ZeroDynamics out;
  const Start start = consistent_start(prepared, t, Initialize::project);
  if (!start.found) {
    out.message = start.message;
    return out;
  }
  out.autonomous = is_autonomous(prepared);
  if (prepared.functions) {
    const mechanics::Functions& fn = *prepared.functions;
    out.names = fn.state_names();
    formulate::MechanicalNormalForm form(prepared.functions, mechanics::Completion::velocity);
    if (!start.guess.empty()) form.evaluator().guess_auxiliary(start.guess);
    look_at(form, t, start.x, look, out);
    return out;
  }
  const auto& functions = prepared.solvable_dae();
  if (!prepared.reduced) {
    out.message = prepared.array ? "its structure does not show its constraints" : "nothing in it must be differentiated: it has no hidden constraints";
    return out;
  }
  for (std::size_t i = 0; i < functions->differential; ++i) out.names.push_back(functions->unknowns[i].name);
  formulate::DaeNormalForm form(functions);
  if (!start.guess.empty()) {
    const auto middle = start.guess.begin() + static_cast<std::ptrdiff_t>(start.guess.size() / 2);
    form.evaluator().guess({start.guess.begin(), middle}, {middle, start.guess.end()});
  }
  look_at(form, t, start.x, look, out);
  return out;
}

}  // namespace daedalus::solve
