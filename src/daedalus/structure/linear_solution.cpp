// The solution (2.31) of 000 in the coordinates of structure/decoupling.cpp,
//     x1(t + h) = e^(J h) x1(t) + int_0^h e^(J (h - s)) g1(t + s) ds,    x2(t) = - sum_(k < index) N^k g2^(k)(t),
// with g = L f. (000 prints derivatives up to the index in (2.30); they end one before.) Where f = F w with w' = S w, the
// integral is part of one exponential (C. Van Loan: Computing integrals involving the matrix exponential, IEEE Trans.
// Automat. Control 23, 1978):
//     (x1, w)(t + h) = exp(h [J, L1 F; 0, S]) (x1, w)(t),
// and derivatives of f are F S^k w. Otherwise the integral is found panel by panel, by adaptive Gauss-Kronrod quadrature or,
// where a panel is long beside the fastest mode, with a polynomial in the place of f; and derivatives of f are taken of its
// formula.

#include "daedalus/structure/linear_solution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/linalg/lapack.hpp"
#include "daedalus/structure/driven_step.hpp"
#include "daedalus/structure/kronrod.hpp"

namespace daedalus::structure {

using linalg::BasicMatrix;
using Number = LinearSolution::Number;
using Vector = std::vector<Number>;

namespace {

/// What is smaller than this beside its terms has no digit that was computed.
constexpr double no_digit = 1e-27;
/// Of f with fast functions, relative.
constexpr double rounding_of_f = 4.5 * std::numeric_limits<double>::epsilon();

DenseMatrix dense(const linalg::Sparsity& pattern, const std::vector<double>& values) {
  auto result = DenseMatrix::zero(pattern.rows, pattern.columns);
  for (std::size_t i = 0; i < pattern.rows; ++i)
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) result(i, pattern.column[k]) = values[k];
  return result;
}

DenseMatrix moduli(const BasicMatrix<Number>& M) {
  DenseMatrix result = linalg::converted<double>(M);
  for (double& entry : result.entries) entry = std::abs(entry);
  return result;
}

/// f and its derivatives as functions of time.
compile::Function compiled_derivatives(const DaeFunctions& functions, const LinearForm& form, std::size_t orders) {
  const auto numbers = functions.model->numbers();
  const expr::Expr t = functions.equations.t;
  std::vector<expr::Expr> all, level = form.f;
  const expr::Direction along{{t.id(), t.graph().constant(1.0)}};
  for (std::size_t k = 0; k <= orders; ++k) {
    all.insert(all.end(), level.begin(), level.end());
    if (k < orders) level = expr::derivative_along(level, along);
  }
  // Switches are those of the equations: what f says between two events is one function.
  compile::Switches switches = functions.switches;
  return compile::compile({{{t}}, all, &numbers, compile::Request::NewSwitches::none}, switches);
}

/// The switching functions of f that depend on time alone, and their derivatives: frozen, they are nowhere in f.
compile::Function compiled_conditions(const DaeFunctions& functions) {
  const auto numbers = functions.model->numbers();
  const expr::Expr t = functions.equations.t;
  compile::Switches switches = functions.switches;
  const auto known = [&](expr::NodeId id) {
    return t.graph().node(id).op != expr::Op::symbol || id == t.id() || numbers.contains(id) ||
           switches.held(id).has_value();
  };
  std::vector<expr::Expr> all;
  for (std::size_t i = 0; i < switches.size(); ++i)
    if (std::ranges::all_of(expr::reachable(std::vector{switches[i].function}), known))
      all.push_back(switches[i].function);
  const std::vector<expr::Expr> rates = expr::derivative_along(all, {{t.id(), t.graph().constant(1.0)}});
  all.insert(all.end(), rates.begin(), rates.end());
  return compile::compile({{{t}}, all, &numbers, compile::Request::NewSwitches::none}, switches);
}

/// Powers of two as units of the functions w, in which they drive x1 about as fast as it moves by itself: beside
/// functions that are large in units of their own, all digits of a small x1 would be lost in the exponential of both. S
/// needs one unit for all powers of t that belong to one wave.
std::vector<double> units_of(const LinearSolution& solution) {
  const std::vector<Forcing::Basis>& basis = solution.forcing->basis;
  const BasicMatrix<Number> driven = solution.parts.L1 * solution.forcing->F;
  const double speed = std::max(linalg::row_norm(solution.parts.J), linalg::row_norm(solution.forcing->S));
  std::vector<double> units(basis.size(), 1.0);
  for (std::size_t first = 0, end = 0; first < basis.size(); first = end) {
    double largest = 0.0;
    for (; end < basis.size() && basis[end].rate == basis[first].rate && basis[end].frequency == basis[first].frequency;
         ++end)
      for (std::size_t i = 0; i < driven.rows; ++i) largest = std::max(largest, std::abs(double(driven(i, end))));
    if (largest > 0.0 && speed > 0.0)
      std::fill(units.begin() + static_cast<std::ptrdiff_t>(first), units.begin() + static_cast<std::ptrdiff_t>(end),
                std::ldexp(1.0, std::ilogb(speed / largest)));
  }
  return units;
}

/// Matrix of the flow of (x1, w) with w in its units, or of x1 alone.
BasicMatrix<Number> generator(const LinearSolution& solution, const std::vector<double>& units) {
  const std::size_t n1 = solution.n1(), m = units.size();
  auto M = BasicMatrix<Number>::zero(n1 + m, n1 + m);
  M.set_block(0, 0, solution.parts.J);
  if (m > 0) {
    BasicMatrix<Number> driven = solution.parts.L1 * solution.forcing->F;
    for (std::size_t i = 0; i < n1; ++i)
      for (std::size_t k = 0; k < m; ++k) driven(i, k) *= units[k];
    M.set_block(0, n1, driven);
    M.set_block(n1, n1, solution.forcing->S);
  }
  return M;
}

/// The largest real part of an eigenvalue of J: how fast x1 grows by itself.
double growth_rate(const BasicMatrix<Number>& J) {
  if (J.rows == 0) return 0.0;
  double largest = -std::numeric_limits<double>::infinity();
  for (const auto& pair : linalg::generalized_eigen(linalg::converted<double>(J), DenseMatrix::identity(J.rows)).pairs)
    largest = std::max(largest, pair.alpha.real() / pair.beta);
  return std::isfinite(largest) ? largest : 0.0;
}

/// How much larger exp(J s) is than exp(rate s) for s up to `time`: at powers of two of a time that is short beside J, and
/// between these.
double excess(const BasicMatrix<Number>& J, double rate, double time) {
  auto M = linalg::converted<double>(J);
  for (std::size_t i = 0; i < M.rows; ++i) M(i, i) -= rate;
  const double size = linalg::row_norm(M) * time;
  if (!(size > 0.0) || !std::isfinite(size)) return 1.0;
  const int halvings = size > 0.5 ? std::ilogb(size) + 2 : 0;
  for (double& entry : M.entries) entry *= std::ldexp(time, -halvings);
  DenseMatrix power = linalg::exponential(std::move(M));
  double largest = std::max(1.0, linalg::row_norm(power));
  for (int k = 0; k < halvings; ++k) {
    const DenseMatrix twice = power * power;
    largest = std::max({largest, linalg::row_norm(twice), linalg::row_norm(twice * power)});
    power = twice;
  }
  return largest;
}

}  // namespace

std::shared_ptr<const LinearSolution> linear_solution(const std::shared_ptr<const DaeFunctions>& functions) {
  if (functions->dimension() > most_decoupled) return nullptr;
  std::optional<LinearForm> form = linear_form(*functions);
  if (!form) return nullptr;
  auto result = std::make_shared<LinearSolution>();
  result->functions = functions;
  const Pencil pencil{dense(form->pattern, form->E), dense(form->pattern, form->A)};
  for (const DenseMatrix* matrix : {&pencil.E, &pencil.A})
    for (const double entry : matrix->entries)
      if (!std::isfinite(entry)) return nullptr;
  const std::optional<RationalPencil> fractions = short_rational(pencil);
  result->E = fractions ? linalg::extended(fractions->E) : linalg::converted<Number>(pencil.E);
  result->A = fractions ? linalg::extended(fractions->A) : linalg::converted<Number>(pencil.A);
  auto parts = fractions ? decouple(*fractions) : decouple(pencil);
  if (!parts) return nullptr;
  result->parts = std::move(*parts);
  result->form = std::move(*form);
  auto numbers = functions->model->numbers();
  for (const model::Parameter& value : functions->model->discrete) numbers.erase(value.symbol.id());
  result->forcing = forcing_of(result->form.f, functions->equations.t, numbers);
  // x2 needs derivatives up to the index - 1, each derivative of it one more.
  result->highest = 2 * static_cast<std::size_t>(result->parts.index) + 2;
  if (!result->forcing) {
    result->derivatives = compiled_derivatives(*functions, result->form, result->highest);
    result->at_nodes.emplace(compiled_derivatives(*functions, result->form, 0), compile::Elementary::fast);
    result->conditions = compiled_conditions(*functions);
  }
  return result;
}

LinearFlow::LinearFlow(std::shared_ptr<const LinearSolution> solution)
    : solution_(std::move(solution)),
      units_(solution_->forcing ? units_of(*solution_) : std::vector<double>()),
      exponential_(generator(*solution_, units_)) {
  const LinearSolution& s = *solution_;
  if (s.forcing) {
    BasicMatrix<Number> F = s.forcing->F;
    for (std::size_t k = 0; k <= s.highest; ++k) {
      g1_of_.push_back(s.parts.L1 * F);
      g2_of_.push_back(s.parts.L2 * F);
      F = F * s.forcing->S;
    }
  } else {
    scratch_ = s.derivatives.make_scratch();
    values_.resize(s.derivatives.output_count());
    conditions_scratch_ = s.conditions.make_scratch();
    const std::size_t lanes = s.at_nodes->lanes(), calls = (kronrod_points + lanes - 1) / lanes;
    nodes_scratch_ = s.at_nodes->make_scratch();
    node_times_.resize(calls * lanes);
    node_values_.resize(calls * lanes * s.n());
    lanes_.resize(lanes * s.n());
  }
  g1_.resize(s.highest + 1);
  g2_.resize(s.highest + 1);
  // Entries that are given as doubles may not carry such a small number.
  constexpr double doubtful = 1e-9;
  if (!s.parts.decided)
    remarks.push_back("the structure of the pencil is in doubt, and the likeliest one counts; `daedalus analyze` says what the "
                      "entries allow");
  else if (s.parts.kept < doubtful)
    remarks.push_back(fmt::format("the structure of the pencil is in doubt: a pivot of {} beside E and A of size 1 counts; "
                                  "`daedalus analyze` says what the entries allow",
                                  brief(s.parts.kept, 1)));
  norm_J_ = linalg::row_norm(s.parts.J);
  entry_ = moduli(s.parts.L1 * s.E);
  rate_ = growth_rate(s.parts.J);
  norm_V_ = linalg::row_norm(s.parts.V);
  norm_W_ = linalg::row_norm(s.parts.W);
  // What errors of f and its derivatives mean for y through x2, unknown by unknown: they may have units of very
  // different size.
  BasicMatrix<Number> power = BasicMatrix<Number>::identity(s.parts.n2());
  DenseMatrix reached = DenseMatrix::zero(s.parts.n2(), s.n());
  std::vector<double> norms;
  for (int k = 0; k < s.parts.index; ++k) {
    norms.push_back(linalg::row_norm(power));
    reached = reached + moduli(power) * moduli(s.parts.L2);
    power = power * s.parts.N;
  }
  spread_ = moduli(s.parts.W) * reached;
  // A relative change of E and A changes N by as much: N^k by the sum of N^i dN N^j with i + j = k - 1, and g itself.
  for (std::size_t k = 0; k <= norms.size(); ++k) {
    changes_.push_back(k < norms.size() ? norms[k] : 0.0);
    for (std::size_t i = 0; i < k; ++i) changes_[k] += norms[i] * norms[k - 1 - i];
  }
}

Vector LinearFlow::differential_part(const double* y) const {
  const Vector state(y, y + solution_->n());
  return linalg::times(solution_->parts.L1, linalg::times(solution_->E, state));
}

double LinearFlow::entered(double t, const double* y) {
  const LinearSolution& s = *solution_;
  double terms = 0.0;
  for (std::size_t i = 0; i < s.n1(); ++i) {
    double sum = 0.0;
    for (std::size_t j = 0; j < s.n(); ++j) sum += entry_(i, j) * std::abs(y[j]);
    terms = std::max(terms, sum);
  }
  const bool given = !first_time_ || t == *first_time_;
  if (!first_time_) first_time_ = t;
  return terms * (given ? linalg::unit_roundoff(Number()) : linalg::unit_roundoff(double()));
}

Vector LinearFlow::algebraic_part(const double* y) const {
  const Vector state(y, y + solution_->n());
  return linalg::times(solution_->parts.L2, linalg::times(solution_->A, state));
}

/// Finds g1, g2 and their derivatives up to an order, at t.
bool LinearFlow::forcing_at(double t, std::size_t orders) {
  const LinearSolution& s = *solution_;
  orders = std::min(orders, s.highest);
  if (s.forcing) {
    s.forcing->at(t, w_);
    for (std::size_t k = 0; k <= orders; ++k) {
      g1_[k] = linalg::times(g1_of_[k], w_);
      g2_[k] = linalg::times(g2_of_[k], w_);
    }
    return std::isfinite(linalg::largest_of(w_));
  }
  const double* inputs[] = {&t};
  s.derivatives(inputs, values_.data(), scratch_, frozen_);
  for (std::size_t k = 0; k <= orders; ++k) {
    const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(k * s.n());
    const Vector f(begin, begin + static_cast<std::ptrdiff_t>(s.n()));
    if (!std::isfinite(linalg::largest_of(f))) return false;
    g1_[k] = linalg::times(s.parts.L1, f);
    g2_[k] = linalg::times(s.parts.L2, f);
    if (k >= static_cast<std::size_t>(std::max(1, s.parts.index))) continue;
    constexpr double rounding = 1.2e-16;
    for (std::size_t i = 0; i < s.n(); ++i) {
      double sum = 0.0;
      for (std::size_t j = 0; j < s.n(); ++j) sum += spread_(i, j) * std::abs(double(f[j]));
      error2_ = std::max(error2_, rounding * sum);
    }
  }
  return true;
}

void LinearFlow::conditions(double t, double* values) {
  const double* inputs[] = {&t};
  solution_->conditions(inputs, values, conditions_scratch_, frozen_);
}

Vector LinearFlow::consistent_part(double t) {
  Vector x2(solution_->parts.n2(), Number(0.0));
  const auto index = static_cast<std::size_t>(solution_->parts.index);
  if (index == 0 || !forcing_at(t, index - 1)) return x2;
  for (std::size_t k = index; k-- > 0;) {
    x2 = linalg::times(solution_->parts.N, x2);
    for (std::size_t i = 0; i < x2.size(); ++i) x2[i] -= g2_[k][i];
  }
  return x2;
}

bool LinearFlow::states(double t, const Vector& x1, std::size_t orders, std::vector<std::vector<double>>& y, double error) {
  const LinearSolution& s = *solution_;
  const auto index = static_cast<std::size_t>(s.parts.index);
  if (!first_time_) first_time_ = t;
  passed_ = std::max(passed_, std::abs(t - *first_time_));
  // x2 and its derivatives need those of f up to the index - 1 + orders, x1 those up to orders - 1.
  if (!forcing_at(t, std::max(orders + index, std::size_t{1}) - 1)) return false;
  y.resize(orders + 1);
  Vector part1 = x1;
  for (std::size_t order = 0; order <= orders; ++order) {
    Vector part2(s.parts.n2(), Number(0.0));
    for (std::size_t k = index; k-- > 0;) {
      part2 = linalg::times(s.parts.N, part2);
      for (std::size_t i = 0; i < part2.size(); ++i) part2[i] -= g2_[std::min(k + order, s.highest)][i];
    }
    const Vector a = linalg::times(s.parts.V, part1), b = linalg::times(s.parts.W, part2);
    y[order].resize(s.n());
    for (std::size_t i = 0; i < s.n(); ++i) {
      double size = 0.0;
      for (std::size_t j = 0; j < part1.size(); ++j) size += std::abs(double(s.parts.V(i, j) * part1[j]));
      for (std::size_t j = 0; j < part2.size(); ++j) size += std::abs(double(s.parts.W(i, j) * part2[j]));
      const double sum = double(a[i] + b[i]);
      y[order][i] = std::isfinite(size) && std::abs(sum) <= no_digit * size ? 0.0 : sum;
    }
    if (order == 0) {
      const double noise = s.parts.dropped * s.parts.condition;  // of entries that are no better
      const double roundoff = linalg::unit_roundoff(Number()) * s.parts.condition + noise;
      error1_ = std::max(error1_, error + roundoff * linalg::largest_of(part1));
      double changed = 0.0;
      for (std::size_t k = 0; k < changes_.size(); ++k) changed += changes_[k] * linalg::largest_of(g2_[k]);
      error2_ = std::max(error2_, norm_W_ * (roundoff * linalg::largest_of(part2) + noise * changed));
    }
    if (order == orders) break;
    part1 = linalg::times(s.parts.J, part1);
    for (std::size_t i = 0; i < part1.size(); ++i) part1[i] += g1_[std::min(order, s.highest)][i];
  }
  return std::isfinite(linalg::largest_of(y[0]));
}

bool LinearFlow::advance(double t, double h, Vector& x1, double& error) {
  const LinearSolution& s = *solution_;
  if (x1.empty() || h == 0.0) return true;
  error *= std::exp(rate_ * h);
  if (!s.forcing) return integrate(t, h, x1, error);
  s.forcing->at(t, w_);
  z_ = x1;
  for (std::size_t k = 0; k < w_.size(); ++k) z_.push_back(w_[k] / units_[k]);
  exponential_.apply(h, z_);
  std::copy_n(z_.begin(), x1.size(), x1.begin());
  error += exponential_.error();
  return std::isfinite(linalg::largest_of(x1));
}

/// f at all nodes of a panel, which nothing makes depend on each other.
void LinearFlow::forcing_at_nodes(double t, double h) {
  const compile::Batch& batch = *solution_->at_nodes;
  const std::size_t lanes = batch.lanes(), n = solution_->n();
  for (std::size_t i = 0; i < node_times_.size(); ++i)
    node_times_[i] = t + kronrod_node(std::min(i, kronrod_points - 1)) * h;  // the last one fills the lanes
  for (std::size_t first = 0; first < node_times_.size(); first += lanes) {
    const double* inputs[] = {node_times_.data() + first};
    batch(inputs, lanes_.data(), nodes_scratch_, frozen_);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < lanes; ++k) node_values_[(first + k) * n + j] = lanes_[j * lanes + k];
  }
}

/// g1 at the nodes of a panel, and the size of the terms it is a sum of; false where f is not finite.
bool LinearFlow::driving_at_nodes(double t, double h) {
  const LinearSolution& s = *solution_;
  forcing_at_nodes(t, h);
  driving_ = BasicMatrix<Number>::zero(s.n1(), kronrod_points);
  driving_size_ = 0.0;
  for (std::size_t node = 0; node < kronrod_points; ++node) {
    const double* f = node_values_.data() + node * s.n();
    for (std::size_t i = 0; i < s.n1(); ++i) {
      double terms = 0.0;
      for (std::size_t j = 0; j < s.n(); ++j) {
        const Number term = s.parts.L1(i, j) * Number(f[j]);
        driving_(i, node) += term;
        terms += std::abs(double(term));
      }
      if (!std::isfinite(terms)) return false;
      driving_size_ = std::max(driving_size_, terms);
    }
  }
  return true;
}

/// One panel: x1 at its end, and how far the rule with fewer points is from it.
bool LinearFlow::panel(double t, double h, const Vector& x1, Vector& end, double& error) {
  const std::size_t n1 = x1.size();
  if (!driving_at_nodes(t, h)) return false;
  // Carries along x1 and both sums from node to node.
  Vector both = x1, few(n1, Number(0.0));
  double before = 0.0;
  for (std::size_t i = 0; i < kronrod_points; ++i) {
    const double node = kronrod_node(i), weight = kronrod_weight(i), fewer = weight - (i % 2 == 1 ? gauss_weight(i) : 0.0);
    exponential_.apply((node - before) * h, both);
    exponential_.apply((node - before) * h, few);
    before = node;
    for (std::size_t j = 0; j < n1; ++j) {
      both[j] += Number(h * weight) * driving_(j, i);
      few[j] += Number(h * fewer) * driving_(j, i);
    }
  }
  exponential_.apply((1.0 - before) * h, both);
  exponential_.apply((1.0 - before) * h, few);
  ++panels_;
  // The usual estimate of the 15-point rule from its distance to the 7-point rule.
  const double size = std::max(linalg::largest_of(both), 1e-300), distance = linalg::largest_of(few);
  error = size * std::min(distance / size, std::pow(200.0 * distance / size, 1.5));
  end = std::move(both);
  return std::isfinite(size);
}

/// A panel that is long beside the fastest mode: x1 at its end, with a polynomial in the place of g1. `rest` is what it leaves
/// out: where none of that degree is near enough, the panel is not done. `stalls` says how many times in turn halving the
/// panel has not made the rest smaller: it is noise then.
bool LinearFlow::long_panel(double t, double h, const Vector& x1, Vector& end, double& error, int stalls, double& rest) {
  const LinearSolution& s = *solution_;
  constexpr double epsilon = std::numeric_limits<double>::epsilon(), near = 8.0, nothing = 0.25, may_be_noise = 1e-12;
  if (!driving_at_nodes(t, h)) return false;
  const PolynomialFit fit = polynomial_fit(driving_, nothing * epsilon * driving_size_);
  // Times are rounded as well.
  const double rounding = rounding_of_f * driving_size_ + epsilon * std::abs(t / h) * fit.slope;
  const bool noise = stalls >= 2 && fit.rest <= may_be_noise * driving_size_;
  rest = fit.rest;
  end.clear();
  if (fit.rest > near * epsilon * driving_size_ && fit.rest > rounding && !noise) return true;
  ++panels_;
  DrivenStep step = driven_step(s.parts.J, fit.powers, h, x1);
  const double roundoff = linalg::unit_roundoff(Number()) * static_cast<double>(s.n1()) * (1.0 + norm_J_ * std::abs(h));
  error = step.reach * (fit.rest + rounding) + roundoff * std::max(linalg::largest_of(x1), linalg::largest_of(step.end));
  end = std::move(step.end);
  return std::isfinite(linalg::largest_of(end));
}

bool LinearFlow::integrate(double t, double h, Vector& x1, double& sum) {
  constexpr double smallest = 1e-15;
  constexpr double short_beside_modes = 2.0;
  constexpr std::size_t most_panels = 20000;
  const std::size_t first = panels_;
  double done = 0.0, width = 1.0, before = std::numeric_limits<double>::infinity();
  int stalls = 0;
  Vector end;
  while (done < 1.0) {
    double error = 0.0;
    width = std::min(width, 1.0 - done);
    if (norm_J_ * std::abs(width * h) > short_beside_modes) {
      double rest = 0.0;
      if (!long_panel(t + done * h, width * h, x1, end, error, stalls, rest)) return false;
      if (end.empty()) {
        if (panels_ - first > most_panels) return false;
        stalls = rest > 0.25 * before ? stalls + 1 : 0;
        before = rest;
        width /= 2.0;
        continue;
      }
      x1 = end;
      sum += error;
      done += width;
      width *= 2.0;
      stalls = 0;
      before = std::numeric_limits<double>::infinity();
      continue;
    }
    if (!panel(t + done * h, width * h, x1, end, error)) return false;
    const double size = std::max(linalg::largest_of(end), linalg::largest_of(x1));
    const bool good = error <= smallest * size, too_short = width < 1e-13;
    if (!good && !too_short) {
      if (panels_ - first > most_panels) return false;
      width /= 2.0;
      continue;
    }
    x1 = end;
    sum += error + rounding_of_f * std::abs(width * h) * driving_size_;
    done += width;
    if (error < 0.01 * smallest * size) width *= 2.0;
  }
  return true;
}

std::vector<Impulse> LinearFlow::impulses(const Vector& before, const Vector& after) const {
  // N x2' = x2 + g2 from x2(0-) = a: with c the consistent value, x2 jumps by c - a and carries
  // sum_j delta^(j) N^(j+1) (c - a).
  const LinearSolution& s = *solution_;
  Vector step(after.size());
  for (std::size_t i = 0; i < after.size(); ++i) step[i] = after[i] - before[i];
  const double least = 1e-12;
  std::vector<Impulse> all(s.n());
  const double size = norm_W_ * std::max(linalg::largest_of(before), linalg::largest_of(after));
  std::vector<double> largest;
  for (int j = 0; j == 0 || j < s.parts.index; ++j) {
    const Vector y = linalg::times(s.parts.W, step);
    for (std::size_t i = 0; i < s.n(); ++i) {
      const double value = std::abs(double(y[i])) > least * (1.0 + size) ? double(y[i]) : 0.0;
      all[i].unknown = i;
      if (j == 0)
        all[i].jump = value;
      else
        all[i].strengths.push_back(value);
    }
    step = linalg::times(s.parts.N, step);
  }
  std::vector<Impulse> result;
  for (Impulse& one : all) {
    while (!one.strengths.empty() && one.strengths.back() == 0.0) one.strengths.pop_back();
    if (one.jump != 0.0 || !one.strengths.empty()) result.push_back(std::move(one));
  }
  return result;
}

double LinearFlow::error_bound() const {
  return excess(solution_->parts.J, rate_, passed_) * norm_V_ * error1_ + error2_;
}

std::string LinearFlow::precision() const {
  return solution_->forcing ? "arithmetic of 31 digits, one exponential of (x1, f)"
                            : fmt::format("arithmetic of 31 digits, f in double precision, quadrature over {} panels", panels_);
}

}  // namespace daedalus::structure
