// K = [M G^T; G 0] is scaled to [D M D, D G^T E; E G D, 0] with unit masses and unit effective masses and factored by
// KLU. If sigma is the smallest singular value of M^-1/2 G^T, K has an eigenvalue near -sigma^2: rows that nearly
// depend on others make K look singular long before they are redundant. Such "weak" rows g_d are left out (identity in
// their place, K_r) and bordered:
//     K_r (x_d, c_d) = (g_d, 0)      so that  g_d = M x_d + G_r^T c_d,  G_r x_d = 0.
// |x_d|_M is the part of g_d outside the other rows, free of the square; with X^T M X = R^T R by Gram-Schmidt and
// (a, lambda_r) from K_r,
//     R^T R z = gamma_d - g_d^T a,   a += X z,   lambda_r += C z,   lambda_d = -z.
// A weak row whose remainder is round-off is redundant; e_d - c_d (less its weak parts) is then in ker G^T, and
// orthogonal projection along that kernel makes gamma consistent and lambda of least norm.
#include "daedalus/linalg/kkt_sparse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/linalg/definite.hpp"
#include "daedalus/linalg/dense_kernels.hpp"
#include "daedalus/linalg/row_selection.hpp"

namespace daedalus::linalg {

namespace {

// sigma^2 = 1e-13: below it LU of K has lost the weak row; above it refinement still repairs the solution.
constexpr double condition_limit = 1e13;
// Rows are taken for weak from here on, far enough above sqrt(1/condition_limit) that what remains is sound ...
constexpr double weak_threshold = 1e-4;
// ... and back into the factors where all of them are above this.
constexpr double sound_again = 1e-2;
// Componentwise backward error at which a correction is no longer worth its time: a hundred roundings.
constexpr double enough_backward = 3e-14;
constexpr double bad_backward = 1e-10;
constexpr std::size_t dense_limit = 3000;
constexpr double border_limit = 5e7;  // entries of X and C
constexpr double border_work = 2e9;   // operations to make them orthogonal
constexpr double regularization = 1e-9;

double inverse_power(double x) {
  const double below = power_of_two_below(x);
  const double inverse = below > 0.0 ? 1.0 / below : 1.0;
  return std::isfinite(inverse) ? inverse : 1.0;
}

}  // namespace

KktAssembly::KktAssembly(const Sparsity& mass_pattern, const Sparsity& jacobian, ZeroBlock zero_block)
    : mass(mass_pattern.nonzeros()), upper(jacobian.nonzeros()), lower(jacobian.nonzeros()) {
  const std::size_t n = mass_pattern.rows, m = jacobian.rows;
  std::vector<int> start(n + m + 1), row;
  for (const std::size_t c : mass_pattern.column) ++start[c + 1];
  for (const std::size_t c : jacobian.column) ++start[c + 1];
  for (std::size_t j = 0; j < m; ++j) {
    start[n + j + 1] = static_cast<int>(jacobian.row_start[j + 1] - jacobian.row_start[j]) +
                       (zero_block == ZeroBlock::with_diagonal ? 1 : 0);
  }
  for (std::size_t c = 0; c < n + m; ++c) start[c + 1] += start[c];
  row.resize(static_cast<std::size_t>(start.back()));
  std::vector<int> next(start.begin(), start.end() - 1);
  const auto place = [&](std::size_t i, std::size_t c) {
    const auto k = static_cast<std::size_t>(next[c]++);
    row[k] = static_cast<int>(i);
    return k;
  };
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = mass_pattern.row_start[i]; k < mass_pattern.row_start[i + 1]; ++k) {
      mass[k] = place(i, mass_pattern.column[k]);
    }
  }
  for (std::size_t j = 0; j < m; ++j) {
    for (std::size_t k = jacobian.row_start[j]; k < jacobian.row_start[j + 1]; ++k) {
      lower[k] = place(n + j, jacobian.column[k]);
      upper[k] = place(jacobian.column[k], n + j);
    }
    if (zero_block == ZeroBlock::with_diagonal) diagonal.push_back(place(n + j, n + j));
  }
  klu = std::make_unique<KluFactor>(
      std::move(start), std::move(row),
      zero_block == ZeroBlock::empty ? KluFactor::Pivots::largest : KluFactor::Pivots::diagonal);
}

SparseKkt::SparseKkt(const Sparsity& mass, const Sparsity& jacobian)
    : mass_(mass),
      jacobian_(jacobian),
      n_(mass.rows),
      m_(jacobian.rows),
      M_(mass.nonzeros()),
      G_(jacobian.nonzeros()),
      scaled_M_(M_.size()),
      scaled_G_(G_.size()),
      d_(n_),
      e_(m_),
      plain_(mass, jacobian, KktAssembly::ZeroBlock::empty),
      b_(n_ + m_),
      x_(n_ + m_),
      r_(n_ + m_),
      size_(n_ + m_) {}

double SparseKkt::estimate_cost() const {
  // Measured: sparse elimination costs about twenty dense operations per entry and two per sparse one.
  return 20.0 * plain_.klu->predicted_nonzeros() + 2.0 * plain_.klu->predicted_operations();
}

void SparseKkt::choose_scales() {
  std::fill(d_.begin(), d_.end(), 0.0);
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t k = mass_.row_start[i]; k < mass_.row_start[i + 1]; ++k) {
      if (mass_.column[k] == i && M_[k] != 0.0) d_[i] = inverse_power(std::sqrt(std::abs(M_[k])));
    }
  }
  double* massless = x_.data();  // largest scaled entry of G in a column without mass
  std::fill(massless, massless + n_, 0.0);
  for (std::size_t j = 0; j < m_; ++j) {
    double mobility = 0.0, largest = 0.0;
    for (std::size_t k = jacobian_.row_start[j]; k < jacobian_.row_start[j + 1]; ++k) {
      const double entry = G_[k] * d_[jacobian_.column[k]];
      mobility += entry * entry;
      largest = std::max(largest, std::abs(G_[k]));
    }
    e_[j] = mobility > 0.0 ? inverse_power(std::sqrt(mobility)) : largest > 0.0 ? inverse_power(largest) : 1.0;
    for (std::size_t k = jacobian_.row_start[j]; k < jacobian_.row_start[j + 1]; ++k) {
      double& size = massless[jacobian_.column[k]];
      size = std::max(size, std::abs(G_[k]) * e_[j]);
    }
  }
  for (std::size_t i = 0; i < n_; ++i) {
    if (d_[i] == 0.0) d_[i] = massless[i] > 0.0 ? inverse_power(massless[i]) : 1.0;
  }
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t k = mass_.row_start[i]; k < mass_.row_start[i + 1]; ++k) {
      scaled_M_[k] = d_[i] * M_[k] * d_[mass_.column[k]];
    }
  }
  scale_jacobian();
}

void SparseKkt::scale_jacobian() {
  for (std::size_t j = 0; j < m_; ++j) {
    for (std::size_t k = jacobian_.row_start[j]; k < jacobian_.row_start[j + 1]; ++k) {
      scaled_G_[k] = e_[j] * G_[k] * d_[jacobian_.column[k]];
    }
  }
}

void SparseKkt::assemble(KktAssembly& assembly, double shift) {
  double* K = assembly.klu->values();
  for (std::size_t k = 0; k < scaled_M_.size(); ++k) K[assembly.mass[k]] = scaled_M_[k];
  if (assembly.diagonal.empty()) {
    for (std::size_t k = 0; k < scaled_G_.size(); ++k) K[assembly.upper[k]] = K[assembly.lower[k]] = scaled_G_[k];
    return;
  }
  const double largest = m_ > 0 ? *std::max_element(e_.begin(), e_.end()) : 1.0;
  for (std::size_t j = 0; j < m_; ++j) {
    const bool left_out = shift == 0.0 && is_weak_[j];
    for (std::size_t k = jacobian_.row_start[j]; k < jacobian_.row_start[j + 1]; ++k) {
      K[assembly.upper[k]] = K[assembly.lower[k]] = left_out ? 0.0 : scaled_G_[k];
    }
    // In the units of the rows as given, so that the corrections stay in the range of G and lambda of least norm.
    const double unit = std::max(1e-3, e_[j] / largest);
    K[assembly.diagonal[j]] = left_out ? 1.0 : -shift * unit * unit;
  }
}

bool SparseKkt::definite() const { return definite_on_kernel(mass_, scaled_M_.data(), jacobian_, scaled_G_.data()); }

KktOutcome SparseKkt::factor(const double* M, const double* G) {
  if (known_ && same_bits(M, M_.data(), M_.size()) && same_bits(G, G_.data(), G_.size())) return outcome_;
  known_ = false;
  inconsistency_ = 0.0;
  rank_ = m_;
  dependent_rows_.clear();
  if (!all_finite(M, M_.size()) || !all_finite(G, G_.size())) return outcome_ = KktOutcome::not_finite;
  // With a constant mass the scales chosen at the last fresh factorization serve on: the pivots tell when they do not.
  const bool keep_scales = fresh_ && mode_ == Mode::plain && same_bits(M, M_.data(), M_.size());
  std::copy(M, M + M_.size(), M_.begin());
  std::copy(G, G + G_.size(), G_.begin());
  if (keep_scales) {
    scale_jacobian();
  } else {
    choose_scales();
  }
  fresh_ = true;
  known_ = true;
  // Rows that were weak last time are most likely still so.
  if (mode_ == Mode::bordered && outcome_ != KktOutcome::singular_mass && !weak_no_longer_ &&
      factor_bordered(Reuse::pivots)) {
    return outcome_ = dependent_rows_.empty() ? KktOutcome::regular : KktOutcome::redundant;
  }
  outcome_ = factor_plain();
  if (outcome_ == KktOutcome::singular_mass) rank_ = 0;
  return outcome_;
}

KktOutcome SparseKkt::factor_plain() {
  assemble(plain_, 0.0);
  if (mode_ == Mode::plain && definite_ && plain_.klu->refactor()) return KktOutcome::regular;
  choose_scales();
  assemble(plain_, 0.0);
  mode_ = Mode::plain;
  weak_no_longer_ = false;
  const bool factored = plain_.klu->factor();
  if (!factored || !(plain_.klu->condition() <= condition_limit)) return factor_carefully(factored);
  definite_ = definite();
  return definite_ ? KktOutcome::regular : KktOutcome::singular_mass;
}

KktOutcome SparseKkt::factor_carefully(bool factored) {
  definite_ = definite();
  if (!definite_) return KktOutcome::singular_mass;
  weak_ = select_rows(jacobian_, scaled_G_.data(), weak_threshold, Combinations::none).dependent;
  if (weak_.empty() && factored) return KktOutcome::regular;
  if (!weak_.empty() && factor_bordered(Reuse::nothing)) {
    mode_ = Mode::bordered;
    return dependent_rows_.empty() ? KktOutcome::regular : KktOutcome::redundant;
  }
  return last_resort();
}

bool SparseKkt::factor_bordered(Reuse reuse) {
  const double entries = static_cast<double>(weak_.size()) * static_cast<double>(n_ + m_);
  if (entries > border_limit || entries * static_cast<double>(weak_.size()) > border_work) return false;
  if (!bordered_) bordered_ = std::make_unique<KktAssembly>(mass_, jacobian_, KktAssembly::ZeroBlock::with_diagonal);
  is_weak_.assign(m_, 0);
  for (const std::size_t w : weak_) is_weak_[w] = 1;
  assemble(*bordered_, 0.0);
  KluFactor& klu = *bordered_->klu;
  if (reuse == Reuse::nothing || !klu.refactor()) {
    if (!klu.factor() || !(klu.condition() <= condition_limit)) return false;
  }
  const std::size_t count = weak_.size();
  X_.resize(count * n_);
  C_.resize(count * m_);
  for (std::size_t w = 0; w < count; ++w) {
    std::fill(b_.begin(), b_.end(), 0.0);
    for (std::size_t k = jacobian_.row_start[weak_[w]]; k < jacobian_.row_start[weak_[w] + 1]; ++k) {
      b_[jacobian_.column[k]] = scaled_G_[k];
    }
    x_ = b_;
    klu.solve(x_.data());
    // One correction always: x is a small difference of large terms.
    klu.residual(b_.data(), x_.data(), r_.data());
    klu.solve(r_.data());
    for (std::size_t i = 0; i < n_ + m_; ++i) x_[i] += r_[i];
    std::copy(x_.begin(), x_.begin() + static_cast<std::ptrdiff_t>(n_),
              X_.begin() + static_cast<std::ptrdiff_t>(w * n_));
    std::copy(x_.begin() + static_cast<std::ptrdiff_t>(n_), x_.end(), C_.begin() + static_cast<std::ptrdiff_t>(w * m_));
  }
  if (!all_finite(X_.data(), X_.size()) || !all_finite(C_.data(), C_.size())) return false;
  if (!orthogonalize_weak()) return false;
  collect_null_vectors();
  return true;
}

// Pivoted modified Gram-Schmidt of X in the inner product of M, each step twice (Kahan and Parlett).
bool SparseKkt::orthogonalize_weak() {
  const std::size_t count = weak_.size();
  const double tolerance = rank_tolerance(m_, n_);
  V_ = X_;
  MV_.assign(n_, 0.0);
  R_.assign(count * count, 0.0);
  order_.resize(count);
  t_.resize(count);
  std::vector<double> limit(count), square(count);
  weak_no_longer_ = true;
  const auto mass_norm = [&](const double* v) {
    std::fill(MV_.begin(), MV_.end(), 0.0);
    multiply_add(mass_, scaled_M_.data(), 1.0, v, MV_.data());
    return dot(v, MV_.data(), n_);
  };
  for (std::size_t w = 0; w < count; ++w) {
    order_[w] = w;
    double largest = 1.0;
    for (std::size_t j = 0; j < m_; ++j) largest = std::max(largest, std::abs(C_[w * m_ + j]));
    limit[w] = tolerance * largest;
    square[w] = mass_norm(V_.data() + w * n_);
    if (square[w] < -limit[w]) return false;
    if (!(square[w] > sound_again * sound_again)) weak_no_longer_ = false;
  }
  weak_rank_ = 0;
  for (std::size_t k = 0; k < count; ++k) {
    std::size_t chosen = count;
    double largest = 0.0;
    for (std::size_t i = k; i < count; ++i) {
      const std::size_t w = order_[i];
      const double relative = square[w] / (limit[w] * limit[w]);
      if (relative > 1.0 && relative > 4.0 * largest) {
        largest = relative;
        chosen = i;
      }
    }
    if (chosen == count) break;
    std::rotate(order_.begin() + static_cast<std::ptrdiff_t>(k), order_.begin() + static_cast<std::ptrdiff_t>(chosen),
                order_.begin() + static_cast<std::ptrdiff_t>(chosen) + 1);
    const std::size_t p = order_[k];
    double* q = V_.data() + p * n_;
    const double length = std::sqrt(mass_norm(q));
    R_[k * count + p] = length;
    for (std::size_t i = 0; i < n_; ++i) {
      q[i] /= length;
      MV_[i] /= length;
    }
    weak_rank_ = k + 1;
    const std::vector<double> Mq = MV_;
    for (std::size_t i = k + 1; i < count; ++i) {
      const std::size_t w = order_[i];
      double* v = V_.data() + w * n_;
      for (int pass = 0; pass < 2; ++pass) {
        const double s = dot(Mq.data(), v, n_);
        R_[k * count + w] += s;
        add_multiple(-s, q, v, n_);
      }
      square[w] = mass_norm(v);
    }
  }
  return true;
}

void SparseKkt::collect_null_vectors() {
  const std::size_t count = weak_.size(), redundant = count - weak_rank_;
  dependent_rows_.clear();
  rank_ = m_ - redundant;
  if (redundant == 0) return;
  std::vector<std::vector<double>> kernel;
  for (std::size_t k = weak_rank_; k < count; ++k) {
    std::vector<double>& v = kernel.emplace_back(m_);
    const auto subtract = [&](std::size_t w, double factor) {
      v[weak_[w]] += factor;
      add_multiple(-factor, C_.data() + w * m_, v.data(), m_);
    };
    for (std::size_t i = weak_rank_; i-- > 0;) {
      double sum = R_[i * count + order_[k]];
      for (std::size_t l = i + 1; l < weak_rank_; ++l) sum -= R_[i * count + order_[l]] * t_[l];
      t_[i] = sum / R_[i * count + order_[i]];
    }
    subtract(order_[k], 1.0);
    for (std::size_t i = 0; i < weak_rank_; ++i) subtract(order_[i], -t_[i]);
  }
  dependent_rows_ = prefer_later_rows(kernel);
  null_ = std::make_unique<HouseholderQr>(redundant, m_);
  for (std::size_t k = 0; k < redundant; ++k) {
    double* v = null_->clear(k);
    for (std::size_t j = 0; j < m_; ++j) v[j] = e_[j] * kernel[k][j];
    null_->set_support(k, 0, m_);
  }
  null_->factor(redundant, 0.0, 0.0);
}

// K_r is still too ill conditioned, or the border too large: a dense solver where that is affordable, else
// [M G^T; G -delta] with corrections against K, which converge by about delta/(delta + sigma^2) each.
KktOutcome SparseKkt::last_resort() {
  if (n_ + m_ <= dense_limit) {
    mode_ = Mode::dense;
    if (!dense_) dense_ = std::make_unique<DenseKkt>(mass_, jacobian_);
    const KktOutcome outcome = dense_->factor(M_.data(), G_.data());
    rank_ = dense_->rank();
    dependent_rows_ = dense_->dependent_rows();
    return outcome;
  }
  mode_ = Mode::regularized;
  if (!bordered_) bordered_ = std::make_unique<KktAssembly>(mass_, jacobian_, KktAssembly::ZeroBlock::with_diagonal);
  is_weak_.assign(m_, 0);
  assemble(*bordered_, regularization);
  if (!bordered_->klu->factor()) return KktOutcome::singular_mass;
  dependent_rows_ = select_rows(jacobian_, scaled_G_.data(), rank_tolerance(m_, n_), Combinations::none).dependent;
  rank_ = m_ - dependent_rows_.size();
  return dependent_rows_.empty() ? KktOutcome::regular : KktOutcome::redundant;
}

void SparseKkt::project_out_null(double* rows) const {
  null_->apply_transposed(rows);
  std::fill(rows, rows + null_->rank(), 0.0);
  null_->apply(rows);
}

void SparseKkt::solve_bordered(double* x) {
  const std::size_t count = weak_.size();
  for (std::size_t k = 0; k < weak_rank_; ++k) t_[k] = x[n_ + weak_[order_[k]]];
  for (const std::size_t w : weak_) x[n_ + w] = 0.0;
  bordered_->klu->solve(x);
  for (std::size_t k = 0; k < weak_rank_; ++k) {
    const std::size_t row = weak_[order_[k]];
    for (std::size_t l = jacobian_.row_start[row]; l < jacobian_.row_start[row + 1]; ++l) {
      t_[k] -= scaled_G_[l] * x[jacobian_.column[l]];
    }
  }
  for (std::size_t k = 0; k < weak_rank_; ++k) {
    for (std::size_t i = 0; i < k; ++i) t_[k] -= R_[i * count + order_[k]] * t_[i];
    t_[k] /= R_[k * count + order_[k]];
  }
  for (std::size_t k = weak_rank_; k-- > 0;) {
    for (std::size_t i = k + 1; i < weak_rank_; ++i) t_[k] -= R_[k * count + order_[i]] * t_[i];
    t_[k] /= R_[k * count + order_[k]];
  }
  for (std::size_t k = 0; k < weak_rank_; ++k) {
    add_multiple(t_[k], X_.data() + order_[k] * n_, x, n_);
    add_multiple(t_[k], C_.data() + order_[k] * m_, x + n_, m_);
    x[n_ + weak_[order_[k]]] = -t_[k];
  }
}

// residual = b - K x for the whole scaled K; returns the componentwise backward error.
double SparseKkt::true_residual(const double* b, const double* x, double* residual) {
  std::copy(b, b + n_ + m_, residual);
  for (std::size_t i = 0; i < n_ + m_; ++i) size_[i] = std::abs(b[i]);
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::size_t k = mass_.row_start[i]; k < mass_.row_start[i + 1]; ++k) {
      const double term = scaled_M_[k] * x[mass_.column[k]];
      residual[i] -= term;
      size_[i] += std::abs(term);
    }
  }
  for (std::size_t j = 0; j < m_; ++j) {
    for (std::size_t k = jacobian_.row_start[j]; k < jacobian_.row_start[j + 1]; ++k) {
      const std::size_t i = jacobian_.column[k];
      const double upper = scaled_G_[k] * x[n_ + j], lower = scaled_G_[k] * x[i];
      residual[i] -= upper;
      size_[i] += std::abs(upper);
      residual[n_ + j] -= lower;
      size_[n_ + j] += std::abs(lower);
    }
  }
  double largest = 0.0;
  for (std::size_t i = 0; i < n_ + m_; ++i) {
    if (residual[i] != 0.0) largest = std::max(largest, std::abs(residual[i]) / size_[i]);
  }
  return largest;
}

void SparseKkt::solve_plain() {
  KluFactor& klu = *plain_.klu;
  for (int attempt = 0;; ++attempt) {
    x_ = b_;
    klu.solve(x_.data());
    double error = klu.residual(b_.data(), x_.data(), r_.data());
    if (error <= enough_backward) return;
    klu.solve(r_.data());
    for (std::size_t i = 0; i < n_ + m_; ++i) x_[i] += r_[i];
    if (error <= bad_backward || attempt == 1) return;
    error = klu.residual(b_.data(), x_.data(), r_.data());
    if (error <= bad_backward) return;
    // The pivots kept from earlier values have grown too far.
    klu.factor();
  }
}

void SparseKkt::solve_refined(int most_corrections) {
  const auto solve_once = [this](double* x) {
    if (mode_ == Mode::bordered) {
      solve_bordered(x);
    } else {
      bordered_->klu->solve(x);
    }
  };
  x_ = b_;
  solve_once(x_.data());
  double last = std::numeric_limits<double>::infinity();
  for (int i = 0; i < most_corrections; ++i) {
    const double error = true_residual(b_.data(), x_.data(), r_.data());
    if (error <= enough_backward || !(error < 0.5 * last)) return;
    last = error;
    solve_once(r_.data());
    for (std::size_t k = 0; k < n_ + m_; ++k) x_[k] += r_[k];
  }
}

void SparseKkt::solve(const double* f, const double* gamma, double* a, double* lambda) {
  if (mode_ == Mode::dense) {
    dense_->solve(f, gamma, a, lambda);
    inconsistency_ = dense_->inconsistency();
    return;
  }
  const bool redundant = !dependent_rows_.empty();
  const bool known_kernel = redundant && mode_ == Mode::bordered;
  std::copy(gamma, gamma + m_, b_.begin() + static_cast<std::ptrdiff_t>(n_));
  if (known_kernel) project_out_null(b_.data() + n_);
  for (std::size_t i = 0; i < n_; ++i) b_[i] = d_[i] * f[i];
  for (std::size_t j = 0; j < m_; ++j) b_[n_ + j] *= e_[j];
  switch (mode_) {
    case Mode::plain:
      solve_plain();
      break;
    case Mode::bordered:
      solve_refined(2);
      break;
    default:
      solve_refined(20);
      if (redundant) {
        // What of gamma lies outside the range of G has driven lambda along the kernel of G^T: once more without it.
        std::fill(b_.begin() + static_cast<std::ptrdiff_t>(n_), b_.end(), 0.0);
        multiply_add(jacobian_, scaled_G_.data(), 1.0, x_.data(), b_.data() + n_);
        solve_refined(20);
      }
  }
  for (std::size_t i = 0; i < n_; ++i) x_[i] *= d_[i];
  for (std::size_t j = 0; j < m_; ++j) x_[n_ + j] *= e_[j];
  if (known_kernel) project_out_null(x_.data() + n_);
  if (redundant) {
    std::copy(gamma, gamma + m_, r_.begin());
    multiply_add(jacobian_, G_.data(), -1.0, x_.data(), r_.data());
    inconsistency_ = 0.0;
    for (std::size_t j = 0; j < m_; ++j) inconsistency_ = std::max(inconsistency_, std::abs(r_[j]));
  }
  std::copy(x_.begin(), x_.begin() + static_cast<std::ptrdiff_t>(n_), a);
  std::copy(x_.begin() + static_cast<std::ptrdiff_t>(n_), x_.end(), lambda);
}

}  // namespace daedalus::linalg
