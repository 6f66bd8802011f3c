// Newton steps for more equations than unknowns, A_1 d = a_1 and A_2 d = a_2, C. Fuehrer, B. J. Leimkuhler, Numerical
// solution of differential-algebraic equations for constrained mechanical motion, Numer. Math. 59 (1991) 55-69 (001).
//
// The ssf-generalized inverse (27), with V a basis of the kernel of A_2,
//     d = A_2^+ a_2 + V (V^T A_1 V)^-1 V^T (a_1 - A_1 A_2^+ a_2),
// is, whatever V, the d of
//     [ A_1  A_2^T ] [ d ]   [ a_1 ]
//     [ A_2    0   ] [ z ] = [ a_2 ],                        (38)
// because V^T takes A_2^T z away. This needs no V and no A_1^-1, as (30) does, and keeps the sparsity.
//
// Least squares with weights R_i, over all rows or, (28), subject to A_2 d = a_2:
//     [ D    A ] [ r ]   [ a ]
//     [ A^T  0 ] [ d ] = [ 0 ],   D_i = R_i^-2, and 0 for rows that must hold.
#include "daedalus/integrate/families/overdetermined_newton.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/base/check.hpp"
#include "daedalus/linalg/shifted_lu.hpp"

namespace daedalus::integrate {
namespace {

constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

/// A square matrix made of entries of the rectangular one, of its transpose, and of others.
class Assembly {
 public:
  Assembly(const linalg::Sparsity& source, std::size_t size) : source_(source), rows_(size) {}

  /// Puts entries of row i of the source into row `to`, their columns moved by `offset`.
  void row(std::size_t i, std::size_t to, std::size_t offset) {
    for (std::size_t k = source_.row_start[i]; k < source_.row_start[i + 1]; ++k)
      rows_[to].push_back({source_.column[k] + offset, k});
  }
  /// Puts entries of row i of the source into column `to`, their rows moved by `offset`.
  void column(std::size_t i, std::size_t to, std::size_t offset) {
    for (std::size_t k = source_.row_start[i]; k < source_.row_start[i + 1]; ++k)
      rows_[source_.column[k] + offset].push_back({to, k});
  }
  void other(std::size_t row, std::size_t column) { rows_[row].push_back({column, none}); }

  linalg::Sparsity pattern;
  std::vector<std::size_t> from;  ///< where each entry of the pattern comes from; none: elsewhere

  void finish() {
    pattern = {rows_.size(), rows_.size(), {0}, {}};
    for (auto& row : rows_) {
      std::ranges::sort(row, {}, &Entry::column);
      for (const Entry& entry : row) {
        pattern.column.push_back(entry.column);
        from.push_back(entry.from);
      }
      pattern.row_start.push_back(pattern.column.size());
    }
    rows_.clear();
  }
  /// Writes the entries of the source, 0 for others.
  void fill(const double* source, double* values) const {
    for (std::size_t k = 0; k < from.size(); ++k) values[k] = from[k] == none ? 0.0 : source[from[k]];
  }

 private:
  struct Entry {
    std::size_t column, from;
  };
  const linalg::Sparsity& source_;
  std::vector<std::vector<Entry>> rows_;
};

/// The matrix of (38).
Assembly bordered(const linalg::Sparsity& source) {
  const std::size_t n = source.columns;
  Assembly result(source, source.rows);
  for (std::size_t i = 0; i < source.rows; ++i) {
    result.row(i, i, 0);
    if (i >= n) result.column(i, i, 0);
  }
  result.finish();
  return result;
}

/// The matrix of least squares; the diagonal entries of D are those from elsewhere.
Assembly augmented(const linalg::Sparsity& source) {
  const std::size_t rows = source.rows;
  Assembly result(source, rows + source.columns);
  for (std::size_t i = 0; i < rows; ++i) {
    result.other(i, i);
    result.row(i, i, rows);
    result.column(i, i, rows);
  }
  result.finish();
  return result;
}

/// Powers of h for the multipliers of (38): those of the rows in which they stand.
std::vector<int> multiplier_powers(const ImplicitSystem& system) {
  std::vector<int> powers;
  const linalg::Sparsity& pattern = system.pattern;
  for (std::size_t i = pattern.columns; i < pattern.rows; ++i) {
    int least = std::numeric_limits<int>::max();
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
      least = std::min(least, system.row_power[pattern.column[k]]);
    powers.push_back(pattern.row_start[i] == pattern.row_start[i + 1] ? 0 : least);
  }
  return powers;
}

class OverdeterminedCorrection {
 public:
  explicit OverdeterminedCorrection(std::shared_ptr<const OverdeterminedSystem> system)
      : system_(std::move(system)),
        rows_(equations().pattern.rows),
        n_(equations().pattern.columns),
        ssf_(system_->corrector == Corrector::ssf),
        assembly_(ssf_ ? bordered(equations().pattern) : augmented(equations().pattern)),
        lu_(assembly_.pattern, linalg::ShiftedLu::Numbers::real),
        F_y_(equations().pattern.nonzeros()),
        F_dy_(F_y_.size()),
        A_(assembly_.pattern.nonzeros()),
        B_(A_.size()),
        row_scale_(assembly_.pattern.rows),
        column_scale_(assembly_.pattern.rows),
        right_(assembly_.pattern.rows) {
    DAEDALUS_CHECK(rows_ >= n_, "{} equations for {} unknowns", rows_, n_);
    column_power_ = equations().column_power;
    if (ssf_) {
      const std::vector<int> more = multiplier_powers(equations());
      column_power_.insert(column_power_.end(), more.begin(), more.end());
    }
  }

  Evaluation prepare(const NewtonPoint& point, Jacobians jacobians, Stats& stats) {
    if (jacobians == Jacobians::evaluate) {
      ++stats.jacobians;
      const Evaluation outcome = equations().jacobian(point.t, point.y, point.dy, F_y_.data(), F_dy_.data());
      if (outcome != Evaluation::ok) return outcome;
    }
    assembly_.fill(F_y_.data(), A_.data());
    assembly_.fill(F_dy_.data(), B_.data());
    set_scales(std::abs(point.h));
    ++stats.factorizations;
    const bool regular = lu_.factor(A_.data(), B_.data(), point.c, row_scale_.data(), column_scale_.data());
    return regular ? Evaluation::ok : Evaluation::singular;
  }

  void solve(double* residual) {
    if (ssf_) {
      lu_.solve(residual);
      return;
    }
    std::copy_n(residual, rows_, right_.begin());
    std::fill(right_.begin() + static_cast<std::ptrdiff_t>(rows_), right_.end(), 0.0);
    lu_.solve(right_.data());
    std::copy_n(right_.begin() + static_cast<std::ptrdiff_t>(rows_), n_, residual);
  }

 private:
  const ImplicitSystem& equations() const { return system_->equations; }

  void set_scales(double h) {
    if (ssf_) {
      for (std::size_t i = 0; i < rows_; ++i) {
        row_scale_[i] = std::pow(h, equations().row_power[i]);
        column_scale_[i] = std::pow(h, column_power_[i]);
      }
      return;
    }
    for (std::size_t i = 0; i < rows_; ++i) {
      const double weight = std::pow(h, equations().row_power[i]);
      row_scale_[i] = weight;
      column_scale_[i] = 1.0 / weight;
      const bool holds = i >= n_ && system_->corrector == Corrector::least_squares;
      A_[diagonal(i)] = holds ? 0.0 : 1.0 / (weight * weight);
    }
    for (std::size_t j = 0; j < n_; ++j) {
      column_scale_[rows_ + j] = std::pow(h, column_power_[j]);
      row_scale_[rows_ + j] = 1.0 / column_scale_[rows_ + j];
    }
  }

  /// D stands before A in every row.
  std::size_t diagonal(std::size_t i) const { return assembly_.pattern.row_start[i]; }

  std::shared_ptr<const OverdeterminedSystem> system_;
  const std::size_t rows_, n_;
  const bool ssf_;
  Assembly assembly_;
  linalg::ShiftedLu lu_;
  std::vector<int> column_power_;
  std::vector<double> F_y_, F_dy_, A_, B_, row_scale_, column_scale_, right_;
};

}  // namespace

NewtonCorrection overdetermined_correction(std::shared_ptr<const OverdeterminedSystem> system) {
  const auto inverse = std::make_shared<OverdeterminedCorrection>(system);
  NewtonCorrection correction;
  correction.rows = system->equations.pattern.rows;
  correction.residual = [system](double t, const double* y, const double* dy, double* F) {
    return system->equations.residual(t, y, dy, F);
  };
  correction.prepare = [inverse](const NewtonPoint& point, Jacobians jacobians, Stats& stats) {
    return inverse->prepare(point, jacobians, stats);
  };
  correction.solve = [inverse](double* residual) { inverse->solve(residual); };
  return correction;
}

ImplicitSystem extended_system(std::shared_ptr<const OverdeterminedSystem> given) {
  const ImplicitSystem& inner = given->equations;
  const linalg::Sparsity& source = inner.pattern;
  const std::size_t n = source.columns, rows = source.rows;
  const Assembly assembly = bordered(source);
  ImplicitSystem result;
  result.pattern = assembly.pattern;
  // One workspace for both callables, which are never at work at the same time.
  struct Work {
    std::vector<double> F_y, F_dy;
  };
  auto work = std::make_shared<Work>();
  work->F_y.resize(source.nonzeros());
  work->F_dy.resize(source.nonzeros());
  result.residual = [given, work, n, rows](double t, const double* y, const double* dy, double* F) {
    const ImplicitSystem& system = given->equations;
    Evaluation outcome = system.jacobian(t, y, dy, work->F_y.data(), work->F_dy.data());
    if (outcome == Evaluation::ok) outcome = system.residual(t, y, dy, F);
    if (outcome != Evaluation::ok) return outcome;
    for (std::size_t i = n; i < rows; ++i)
      for (std::size_t k = system.pattern.row_start[i]; k < system.pattern.row_start[i + 1]; ++k)
        F[system.pattern.column[k]] += work->F_y[k] * y[i];
    return outcome;
  };
  result.jacobian = [given, work, assembly](double t, const double* y, const double* dy, double* F_y, double* F_dy) {
    const Evaluation outcome = given->equations.jacobian(t, y, dy, work->F_y.data(), work->F_dy.data());
    assembly.fill(work->F_y.data(), F_y);
    assembly.fill(work->F_dy.data(), F_dy);
    return outcome;
  };
  result.derivative = [given, n, rows](double t, const double* y, double* dy) {
    std::fill(dy + n, dy + rows, 0.0);
    return given->equations.derivative(t, y, dy);
  };
  result.differential = inner.differential;
  result.differential.resize(rows, false);
  result.index = inner.index;
  result.index.resize(rows, 2);
  result.ignored.assign(rows, false);
  for (std::size_t i = n; i < rows; ++i) result.ignored[i] = true;
  result.system_index = std::max(inner.system_index, 2);
  result.row_power = inner.row_power;
  result.column_power = inner.column_power;
  const std::vector<int> more = multiplier_powers(inner);
  result.column_power.insert(result.column_power.end(), more.begin(), more.end());
  return result;
}

}  // namespace daedalus::integrate
