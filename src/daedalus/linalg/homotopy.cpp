// Newton homotopy H(x, s) = c(x) - (1 - s) c(x0) = 0 by predictor and corrector (Allgower, Georg: Numerical Continuation
// Methods, 1990, chapters 2 to 6). With A = [C, c(x0)] and lengths measured by D = diag(1/sizes, 1):
//     tangent    the projection of e_s onto the kernel of A, or, where that points back, of the last tangent:
//                then s passes a turning point, and the path goes on;
//     corrector  the shortest d with A d = -H.
// Both are KKT systems [D^2 A^T; A 0]. Where c has fewer rows than x has entries the kernel of A has more than one
// dimension, and e_s leads along the steepest of its ways.
#include "daedalus/linalg/homotopy.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "daedalus/base/check.hpp"
#include "daedalus/base/finite.hpp"
#include "daedalus/linalg/kkt.hpp"
#include "daedalus/linalg/reduced_pattern.hpp"

namespace daedalus::linalg {

namespace {

constexpr double first_step = 0.1, shortest_step = 1e-7, longest_step = 10.0;  // in units of the sizes
constexpr double straight = 0.7;        // cosine between tangents of one step
constexpr int most_corrections = 5;     // of one step
constexpr double close = 1e-2;          // corrections so much shorter than the step end it
constexpr double far_away = 1e8;        // in units of the sizes
constexpr double least_s = -3.0;        // a path that runs away backwards
constexpr double near_the_end = 1e-6;   // of s

class Path {
 public:
  Path(const LeastChangeProblem& problem, const double* x0, const std::vector<double>& sizes)
      : problem_(problem), m_(problem.jacobian.rows), n_(problem.jacobian.columns), x_(x0, x0 + n_), c_(m_), first_(m_), H_(m_) {
    DAEDALUS_CHECK(sizes.size() == n_, "{} sizes of {} entries", sizes.size(), n_);
    std::vector<std::size_t> position(n_, no_entry);
    for (std::size_t i = 0; i < n_; ++i)
      if (problem.fixed.empty() || !problem.fixed[i]) {
        position[i] = free_.size();
        free_.push_back(i);
        D_.push_back(1.0 / (sizes[i] * sizes[i]));
      }
    D_.push_back(1.0);
    k_ = free_.size() + 1;
    columns_ = reduce_columns(problem.jacobian, free_.size(), position);
    all_C_.resize(problem.jacobian.nonzeros());
    Sparsity mass{k_, k_, {0}, {}}, jacobian{m_, k_, {0}, {}};
    for (std::size_t i = 0; i < k_; ++i) {
      mass.column.push_back(i);
      mass.row_start.push_back(i + 1);
    }
    for (std::size_t j = 0; j < m_; ++j) {
      for (std::size_t e = columns_.pattern.row_start[j]; e < columns_.pattern.row_start[j + 1]; ++e)
        jacobian.column.push_back(columns_.pattern.column[e]);
      jacobian.column.push_back(k_ - 1);
      jacobian.row_start.push_back(jacobian.column.size());
    }
    A_.resize(jacobian.nonzeros());
    kkt_.emplace(std::move(mass), std::move(jacobian));
    zero_.assign(std::max(k_, m_), 0.0);
    for (auto* vector : {&tangent_, &last_, &step_}) vector->assign(k_, 0.0);
    multipliers_.resize(m_);
  }

  HomotopyResult operator()(const HomotopyOptions& options) {
    result_.x = x_;
    if (!evaluate()) return result_;
    first_ = c_;
    if (!factor() || !first_tangent()) return result_;
    double h = first_step;
    while (result_.steps < options.most_steps && h >= shortest_step) {
      ++result_.steps;
      const std::vector<double> before = x_;
      const double s_before = s_;
      const double rise = tangent_.back();
      // Not beyond s = 1.
      const double along = rise > 0.0 ? std::min(h, (1.0 - s_) / rise) : h;
      const int corrections = advance(along);
      last_ = tangent_;
      if (corrections == 0 || !next_tangent()) {
        x_ = before;
        s_ = s_before;
        tangent_ = last_;
        h = 0.4 * along;
        continue;
      }
      result_.turned = result_.turned || s_ < s_before;
      if (s_ >= 1.0 - near_the_end) {
        result_.reached = true;
        break;
      }
      if (s_ < least_s || distance() > far_away) break;
      h = std::min(longest_step, corrections <= 2 ? 2.0 * h : corrections == 3 ? 1.3 * h : 0.7 * h);
    }
    result_.x = x_;
    result_.s = s_;
    return result_;
  }

 private:
  double scale(std::size_t row) const { return problem_.scales.empty() ? 1.0 : problem_.scales[row]; }

  bool evaluate() {
    if (m_ == 0 || !problem_.residual(x_.data(), c_.data())) return false;
    for (std::size_t j = 0; j < m_; ++j) c_[j] /= scale(j);
    return all_finite(c_);
  }

  /// Of A at x_.
  bool factor() {
    if (!problem_.jacobian_values(x_.data(), all_C_.data())) return false;
    for (std::size_t j = 0, at = 0; j < m_; ++j) {
      for (std::size_t e = columns_.pattern.row_start[j]; e < columns_.pattern.row_start[j + 1]; ++e)
        A_[at++] = all_C_[columns_.source[e]] / scale(j);
      A_[at++] = first_[j];
    }
    if (!all_finite(A_)) return false;
    const KktOutcome outcome = kkt_->factor(D_.data(), A_.data());
    return outcome == KktOutcome::regular || outcome == KktOutcome::redundant;
  }

  double length(const std::vector<double>& d) const { return std::sqrt(product(d, d)); }
  double product(const std::vector<double>& a, const std::vector<double>& b) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < k_; ++i) sum += D_[i] * a[i] * b[i];
    return sum;
  }

  double distance() const {
    double largest = 0.0;
    for (std::size_t r = 0; r < free_.size(); ++r) largest = std::max(largest, std::sqrt(D_[r]) * std::abs(x_[free_[r]]));
    return largest;
  }

  /// The projection of a vector onto the kernel of A, of length 1; false where nothing of it is left.
  bool project(std::vector<double> from, std::vector<double>& to) {
    for (std::size_t i = 0; i < k_; ++i) from[i] *= D_[i];
    kkt_->solve(from.data(), zero_.data(), to.data(), multipliers_.data());
    const double size = length(to);
    if (!(size > 1e-10)) return false;
    for (double& value : to) value /= size;
    return true;
  }

  bool first_tangent() {
    std::vector<double> up(k_, 0.0);
    up.back() = 1.0;
    return project(up, tangent_);
  }

  bool next_tangent() {
    if (!factor()) return false;
    const bool steep = first_tangent();
    if (!steep || product(tangent_, last_) < 0.0)
      if (!project(last_, tangent_)) return false;
    return product(tangent_, last_) >= straight;
  }

  void move(const std::vector<double>& d, double factor) {
    for (std::size_t r = 0; r < free_.size(); ++r) x_[free_[r]] += factor * d[r];
    s_ += factor * d.back();
  }

  /// One step and its corrections: how many they were, 0 where they do not converge.
  int advance(double h) {
    move(tangent_, h);
    double last = h;
    for (int k = 1; k <= most_corrections; ++k) {
      if (!evaluate() || !factor()) return 0;
      for (std::size_t j = 0; j < m_; ++j) H_[j] = (1.0 - s_) * first_[j] - c_[j];
      kkt_->solve(zero_.data(), H_.data(), step_.data(), multipliers_.data());
      const double size = length(step_);
      if (!(size <= 0.5 * last)) return 0;
      move(step_, 1.0);
      if (size <= close * h) return evaluate() ? k : 0;
      last = size;
    }
    return 0;
  }

  const LeastChangeProblem& problem_;
  std::size_t m_, n_, k_ = 0;
  std::vector<std::size_t> free_;
  std::vector<double> x_, D_, c_, first_, H_, all_C_, A_, zero_, tangent_, last_, step_, multipliers_;
  double s_ = 0.0;
  Reduced columns_;
  std::optional<KktSolver> kkt_;
  HomotopyResult result_;
};

}  // namespace

HomotopyResult follow_homotopy(const LeastChangeProblem& problem, const double* x0, const std::vector<double>& sizes,
                               const HomotopyOptions& options) {
  return Path(problem, x0, sizes)(options);
}

}  // namespace daedalus::linalg
