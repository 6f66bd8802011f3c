// Finite modes are the finite eigenvalues of the pencil. By the test of Popov, Belevitch and Hautus a mode lambda is controllable
// where rank [lambda E - A, B] = n, observable where the same holds of the transposed matrices; impulses can be prevented where
// rank [E, A S, B] = n with S a basis of ker E (L. Dai: Singular Control Systems, 1989). Zeros of one entry of G are the finite
// eigenvalues of [A, b; c, d] - s [E, 0; 0, 0], and with V, W, L of structure/decoupling.cpp
//     G(s) = C V (s - J)^-1 L1 B + D - sum_k s^k C W N^k L2 B.

#include "daedalus/solve/control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/base/text.hpp"
#include "daedalus/linalg/lapack.hpp"
#include "daedalus/linalg/matrix_parts.hpp"
#include "daedalus/linalg/orthogonal_split.hpp"
#include "daedalus/linalg/shifted_lu.hpp"
#include "daedalus/structure/decoupling.hpp"
#include "daedalus/structure/exact_pencil.hpp"
#include "daedalus/structure/linear_solution.hpp"

namespace daedalus::solve {

using linalg::DenseMatrix;

namespace {

/// Singular values below this, relative to the largest, are taken for zero in rank tests.
constexpr double rank_tolerance = 1e-10;
/// A pole and a zero this near, relative to their size, are the same.
constexpr double cancel_tolerance = 1e-6;

DenseMatrix dense(const linalg::Sparsity& pattern, const std::vector<double>& values) {
  auto result = DenseMatrix::zero(pattern.rows, pattern.columns);
  for (std::size_t i = 0; i < pattern.rows; ++i)
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) result(i, pattern.column[k]) = values[k];
  return result;
}

/// E, A, B and C with rows and columns brought to equal size, which changes no rank.
struct Scaled {
  DenseMatrix E, A, B, C;
  double time = 1.0;  ///< an eigenvalue is this times that of the scaled pencil
};

Scaled scaled(const structure::Pencil& pencil, DenseMatrix B, DenseMatrix C) {
  const structure::PencilScaling scaling = structure::scaling_of(pencil);
  structure::Pencil unit = structure::scaled(pencil, scaling);
  Scaled s{std::move(unit.E), std::move(unit.A), std::move(B), std::move(C), scaling.time};
  const auto to_one = [](DenseMatrix& M, bool columns) {
    for (std::size_t k = 0; k < (columns ? M.columns : M.rows); ++k) {
      double largest = 0.0;
      for (std::size_t i = 0; i < (columns ? M.rows : M.columns); ++i)
        largest = std::max(largest, std::abs(columns ? M(i, k) : M(k, i)));
      if (largest > 0.0)
        for (std::size_t i = 0; i < (columns ? M.rows : M.columns); ++i) (columns ? M(i, k) : M(k, i)) /= largest;
    }
  };
  for (std::size_t i = 0; i < pencil.rows(); ++i) {
    for (std::size_t k = 0; k < s.B.columns; ++k) s.B(i, k) *= scaling.row[i];
    for (std::size_t k = 0; k < s.C.rows; ++k) s.C(k, i) *= scaling.column[i];
  }
  to_one(s.B, true);
  to_one(s.C, false);
  return s;
}

std::size_t rank_of(const DenseMatrix& M) {
  const std::vector<double> values = linalg::singular_values(M);
  return static_cast<std::size_t>(
      std::count_if(values.begin(), values.end(), [&](double value) { return value > rank_tolerance * values[0]; }));
}

/// The rank of [lambda E - A, B], by the real matrix of twice the size.
std::size_t rank_at(const DenseMatrix& E, const DenseMatrix& A, const DenseMatrix& B, Complex lambda) {
  const std::size_t n = E.rows, m = B.columns;
  const double size = std::max(1.0, std::abs(lambda));
  auto M = DenseMatrix::zero(2 * n, 2 * (n + m));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      M(i, j) = M(n + i, n + j) = (lambda.real() * E(i, j) - A(i, j)) / size;
      M(i, n + j) = -lambda.imag() * E(i, j) / size;
      M(n + i, j) = lambda.imag() * E(i, j) / size;
    }
    for (std::size_t k = 0; k < m; ++k) M(i, 2 * n + k) = M(n + i, 2 * n + m + k) = B(i, k);
  }
  return rank_of(M) / 2;
}

/// rank [E, A S, B] = n
bool impulses_reached(const DenseMatrix& E, const DenseMatrix& A, const DenseMatrix& B) {
  const DenseMatrix S = linalg::orthogonal_split(transposed(E)).rest;
  return rank_of(beside(beside(E, A * S), B)) == E.rows;
}

[[noreturn]] void refuse_singular(const LinearModel& model) {
  throw Error("singular-pencil", fmt::format("the pencil of '{}' is singular: there is no transfer function", model.name),
              "`daedalus analyze` says which unknowns are free and which equations depend on others");
}

/// G(s) of one channel, by its own factorization.
class Transfer {
 public:
  explicit Transfer(const LinearModel& model)
      : model_(model), lu_(model.pattern, linalg::ShiftedLu::Numbers::complex), minus_A_(model.A) {
    for (double& value : minus_A_) value = -value;
  }
  bool factor(Complex s) { return lu_.factor(minus_A_.data(), model_.E.data(), s); }
  /// (s E - A)^-1 b, then C x + D for every output.
  std::vector<Complex> column(std::size_t input) {
    std::vector<Complex> x(model_.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = model_.B(i, input);
    lu_.solve(x.data());
    std::vector<Complex> y(model_.outputs.size());
    for (std::size_t k = 0; k < y.size(); ++k) {
      y[k] = model_.D(k, input);
      for (std::size_t i = 0; i < x.size(); ++i) y[k] += model_.C(k, i) * x[i];
    }
    return y;
  }

 private:
  const LinearModel& model_;
  linalg::ShiftedLu lu_;
  std::vector<double> minus_A_;
};

/// Takes pairs that are the same out of both lists.
std::vector<Complex> cancel(std::vector<Complex>& poles, std::vector<Complex>& zeros) {
  std::vector<Complex> cancelled;
  for (std::size_t i = 0; i < poles.size();) {
    const auto near = std::ranges::min_element(zeros, {}, [&](const Complex& zero) { return std::abs(zero - poles[i]); });
    if (near == zeros.end() || std::abs(*near - poles[i]) > cancel_tolerance * std::max(1e-3, std::abs(poles[i]))) {
      ++i;
      continue;
    }
    cancelled.push_back(poles[i]);
    zeros.erase(near);
    poles.erase(poles.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return cancelled;
}

}  // namespace

ModeAnalysis mode_analysis(const structure::Pencil& pencil, const structure::KroneckerStructure& kronecker, const DenseMatrix& B,
                           const DenseMatrix& C) {
  ModeAnalysis out;
  out.n = pencil.rows();
  out.inputs = B.columns;
  out.outputs = C.rows;
  out.index = kronecker.index.value_or(0);
  out.infinite = out.n - kronecker.differential_dimension;
  if (!kronecker.decided)
    out.notes.push_back(fmt::format("ranks are not clear: the smallest number kept is {}, the largest dropped {}",
                                    brief(kronecker.kept, 2), brief(kronecker.dropped, 2)));
  const Scaled s = scaled(pencil, B, C);
  const DenseMatrix Et = transposed(s.E), At = transposed(s.A), Ct = transposed(s.C), none = DenseMatrix::zero(out.n, 0);
  double slowest = -std::numeric_limits<double>::infinity();
  bool resonant = false;
  for (const structure::FiniteEigenvalue& one : kronecker.finite) {
    FiniteMode mode{one.value, one.multiplicity};
    const Complex lambda = one.value / s.time;
    if (one.multiplicity > 1)
      mode.eigenvectors = std::clamp<std::size_t>(out.n - rank_at(s.E, s.A, none, lambda), 1, one.multiplicity);
    mode.controllable = out.inputs == 0 || rank_at(s.E, s.A, s.B, lambda) == out.n;
    mode.observable = out.outputs == 0 || rank_at(Et, At, Ct, lambda) == out.n;
    const double doubt = std::max(one.error, 1e-12 * std::abs(one.value));
    const double real = std::abs(one.value.real()) <= doubt ? 0.0 : one.value.real();
    slowest = std::max(slowest, real);
    resonant = resonant || (real == 0.0 && mode.eigenvectors < mode.multiplicity);
    out.finite.push_back(mode);
  }
  out.stability = !kronecker.decided ? Stability::undecided
                  : slowest < 0.0    ? Stability::asymptotic
                  : slowest > 0.0    ? Stability::unstable
                  : resonant         ? Stability::resonant
                                     : Stability::marginal;
  out.impulse_controllable = out.inputs == 0 || impulses_reached(s.E, s.A, s.B);
  out.impulse_observable = out.outputs == 0 || impulses_reached(Et, At, Ct);
  return out;
}

bool has_transfer_function(const LinearModel& model) {
  return structure::structure_of({dense(model.pattern, model.E), dense(model.pattern, model.A)}).regular;
}

ModeAnalysis mode_analysis(const LinearModel& model) {
  const structure::Pencil pencil{dense(model.pattern, model.E), dense(model.pattern, model.A)};
  const structure::KroneckerStructure kronecker = structure::structure_of(pencil);
  if (!kronecker.regular) refuse_singular(model);
  return mode_analysis(pencil, kronecker, model.B, model.C);
}

Channel channel(const LinearModel& model, std::size_t input, std::size_t output) {
  const std::size_t n = model.size();
  const DenseMatrix E = dense(model.pattern, model.E), A = dense(model.pattern, model.A);
  Channel out;
  out.input = input;
  out.output = output;
  const structure::KroneckerStructure own = structure::structure_of({E, A});
  if (!own.regular) refuse_singular(model);
  out.poles = own.spectrum();

  auto system_E = DenseMatrix::zero(n + 1, n + 1), system_A = system_E;
  system_E.set_block(0, 0, E);
  system_A.set_block(0, 0, A);
  for (std::size_t i = 0; i < n; ++i) {
    system_A(i, n) = model.B(i, input);
    system_A(n, i) = model.C(output, i);
  }
  system_A(n, n) = model.D(output, input);
  const structure::KroneckerStructure system = structure::structure_of({system_E, system_A});
  out.vanishes = !system.regular;
  if (!out.vanishes) out.zeros = system.spectrum();
  if (out.vanishes) {
    out.cancelled = std::move(out.poles);
    out.poles.clear();
    return out;
  }
  out.cancelled = cancel(out.poles, out.zeros);

  // The gain from one value of G at a point away from all poles and zeros.
  double reach = 1.0;
  for (const auto* list : {&out.poles, &out.zeros, &out.cancelled})
    for (const Complex& value : *list) reach = std::max(reach, std::abs(value));
  for (auto* list : {&out.poles, &out.zeros})
    for (Complex& value : *list)
      if (std::abs(value) <= 1e-13 * reach) value = 0.0;
  Transfer transfer(model);
  const Complex s(1.3 * reach, 0.7 * reach);
  if (transfer.factor(s)) {
    Complex gain = transfer.column(input)[output];
    const std::size_t most = std::max(out.poles.size(), out.zeros.size());
    for (std::size_t k = 0; k < most; ++k) {  // in turn, so that nothing overflows
      if (k < out.poles.size()) gain *= s - out.poles[k];
      if (k < out.zeros.size()) gain /= s - out.zeros[k];
    }
    out.gain = gain.real();
  }
  if (transfer.factor(0.0)) out.steady = transfer.column(input)[output].real();
  if (n > structure::most_decoupled) return out;
  using Number = linalg::DoubleDouble;
  const auto parts = structure::decouple(structure::Pencil{E, A});
  if (!parts) return out;
  std::vector<Number> x(n), c(n);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = model.B(i, input);
    c[i] = model.C(output, i);
  }
  std::vector<Number> part = linalg::times(parts->L2, x);
  double size = std::abs(model.D(output, input));
  for (int k = 0; k < std::max(1, parts->index); ++k) {
    const std::vector<Number> y = linalg::times(parts->W, part);
    Number sum(k == 0 ? model.D(output, input) : 0.0), terms(0.0);
    for (std::size_t i = 0; i < n; ++i) {
      sum -= c[i] * y[i];
      terms += abs(c[i] * y[i]);
    }
    size = std::max(size, double(terms));
    out.polynomial.push_back(std::abs(double(sum)) > 1e-14 * size ? double(sum) : 0.0);
    part = linalg::times(parts->N, part);
  }
  while (!out.polynomial.empty() && out.polynomial.back() == 0.0) out.polynomial.pop_back();
  return out;
}

FrequencyResponse frequency_response(const LinearModel& model, const std::vector<double>& omega) {
  FrequencyResponse out;
  out.omega = omega;
  const std::size_t m = model.inputs.size(), p = model.outputs.size();
  out.values.assign(m * p, std::vector<Complex>(omega.size()));
  Transfer transfer(model);
  std::size_t failed = 0;
  for (std::size_t k = 0; k < omega.size(); ++k) {
    const bool good = transfer.factor(Complex(0.0, omega[k]));
    failed += good ? 0 : 1;
    if (!good) out.notes.push_back(fmt::format("there is a pole at omega = {}", brief(omega[k])));
    for (std::size_t j = 0; j < m; ++j) {
      const std::vector<Complex> column =
          good ? transfer.column(j) : std::vector<Complex>(p, Complex(std::numeric_limits<double>::quiet_NaN(), 0.0));
      for (std::size_t i = 0; i < p; ++i) out.values[j * p + i][k] = column[i];
    }
  }
  if (!omega.empty() && failed == omega.size()) refuse_singular(model);
  return out;
}

namespace {

/// A pole -d +- i w makes a peak at w that is as wide as d, lost between frequencies that are further apart.
void add_peaks(std::vector<double>& omega, const std::vector<Channel>& channels, bool around) {
  const double low = omega.front(), high = omega.back(), grid = std::pow(high / low, 1.0 / static_cast<double>(omega.size() - 1)) - 1.0;
  std::vector<double> more;
  for (const Channel& one : channels)
    for (const auto* list : {&one.poles, &one.zeros})
      for (const Complex& value : *list) {
        const double w = value.imag(), least = 1e-4 * w, width = std::max(std::abs(value.real()), least);
        if (!(w > 0.0) || width > 0.5 * w || (!around && width > 0.1 * grid * w)) continue;
        if (width > least) more.push_back(w);  // else the value there may be infinite
        for (double off = width / 4.0; around && off < grid * w; off *= 1.5) more.insert(more.end(), {w - off, w + off});
      }
  for (const double w : more)
    if (w > low && w < high) omega.push_back(w);
  std::sort(omega.begin(), omega.end());
  const auto same = [](double a, double b) { return b - a <= 1e-9 * a; };
  omega.erase(std::unique(omega.begin(), omega.end(), same), omega.end());
}

}  // namespace

std::vector<double> frequencies(const FrequencyRange& range, const std::vector<Channel>& channels) {
  double low = 1e300, high = 0.0;
  for (const Channel& one : channels)
    for (const auto* list : {&one.poles, &one.zeros})
      for (const Complex& value : *list)
        if (std::abs(value) > 1e-12) {
          low = std::min(low, std::abs(value));
          high = std::max(high, std::abs(value));
        }
  if (high == 0.0) low = high = 1.0;
  low = range.low.value_or(std::pow(10.0, std::floor(std::log10(low) - 0.7)));
  high = range.high.value_or(std::pow(10.0, std::ceil(std::log10(high) + 0.7)));
  if (!(low > 0.0) || !(high > low) || !std::isfinite(high))
    throw Error("bad-option-value", fmt::format("frequencies from {} to {} are not possible", brief(low), brief(high)),
                "write --range LOW,HIGH with 0 < LOW < HIGH");
  const std::size_t count = range.points.value_or(static_cast<std::size_t>(std::lround(10.0 * std::log10(high / low))) + 1);
  if (count < 2 || count > 1'000'000)
    throw Error("bad-option-value", fmt::format("--points {} is not possible", count), "give a number from 2 to 1000000");
  std::vector<double> omega;
  for (std::size_t k = 0; k < count; ++k) {
    const double part = static_cast<double>(k) / static_cast<double>(count - 1);
    omega.push_back(k == 0 ? low : k + 1 == count ? high : low * std::pow(high / low, part));
  }
  if (!range.points || range.resolved) add_peaks(omega, channels, range.resolved);
  return omega;
}

std::vector<double> phase_degrees(const std::vector<Complex>& values) {
  std::vector<double> result;
  constexpr double degrees = 57.295779513082320877;
  double before = 0.0;
  bool any = false;
  for (const Complex& value : values) {
    double phase = std::arg(value) * degrees;
    if (any && std::isfinite(phase)) phase -= 360.0 * std::round((phase - before) / 360.0);
    if (std::isfinite(phase)) {
      before = phase;
      any = true;
    }
    result.push_back(phase);
  }
  return result;
}

}  // namespace daedalus::solve
