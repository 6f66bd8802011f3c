// The derivative x_j^(s) of an unknown is lacking where the equations contain derivatives of order D_j <= s < d_j. In the
// system Jacobian the columns of such unknowns have entries only in rows of equations with c_i >= d_j - s: those whose
// derivatives of lower order are hidden constraints. Where it is regular these columns are independent, so that hidden
// constraints determine all that is lacking, one derivative after the other. There may be more of them than needed: the
// least differentiated ones are taken.

#include "daedalus/structure/jet_lift.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "daedalus/linalg/rank.hpp"

namespace daedalus::structure {

namespace {

constexpr int most_iterations = 20;

using Jets = std::map<std::pair<const model::Unknown*, std::size_t>, std::size_t>;

}  // namespace

JetLift::JetLift(const DaeFunctions& written, std::shared_ptr<const DaeFunctions> differentiated)
    : functions_(std::move(differentiated)),
      values_({functions_, &functions_->kept}),
      known_(functions_->differential, none),
      column_(functions_->differential, none),
      x_(functions_->differential),
      lu_(0) {
  Jets jets;
  for (std::size_t i = 0; i < functions_->dimension(); ++i)
    jets.emplace(std::pair(functions_->unknowns[i].of, functions_->unknowns[i].times), i);
  const auto source = [&](const model::Unknown* of, std::size_t times) {
    Source result;
    if (const auto found = jets.find({of, times}); found != jets.end()) {
      result.state = found->second;
    } else if (const auto before = jets.find({of, times - 1}); times > 0 && before != jets.end()) {
      result.rate = before->second;
    }
    return result;
  };
  for (std::size_t i = 0; i < written.dimension(); ++i) {
    const DaeFunctions::Unknown& unknown = written.unknowns[i];
    unknowns_.push_back(source(unknown.of, unknown.times));
    rates_.push_back(i < written.differential ? source(unknown.of, unknown.times + 1) : Source{});
    const std::size_t state = unknowns_.back().state;
    if (state < functions_->differential) known_[state] = i;
  }
  for (std::size_t i = 0; i < known_.size(); ++i)
    if (known_[i] == none) {
      column_[i] = missing_.size();
      missing_.push_back(i);
    }
  const std::size_t count = missing_.size();
  matrix_.resize(count * count);
  step_.resize(count);
  lu_ = linalg::DenseLu(count);
}

void JetLift::guess(const double* y) {
  std::copy_n(y, x_.size(), x_.begin());
  chosen_ = false;
}

void JetLift::choose_rows(double t) {
  chosen_ = true;
  rows_.clear();
  if (!values_.jacobian(t, x_.data())) return;
  const linalg::Sparsity& pattern = functions_->kept.pattern;
  std::vector<std::size_t> order(functions_->hidden.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return functions_->hidden[a].level < functions_->hidden[b].level; });
  linalg::Sparsity part{0, missing_.size(), {0}, {}};
  std::vector<std::size_t> candidates;
  std::vector<double> entries;
  for (const std::size_t row : order) {
    const std::size_t before = entries.size();
    for (std::size_t k = pattern.row_start[row]; k < pattern.row_start[row + 1]; ++k)
      if (const std::size_t column = column_[pattern.column[k]]; column != none) {
        part.column.push_back(column);
        entries.push_back(values_.jacobian()[k]);
      }
    if (entries.size() == before) continue;
    part.row_start.push_back(entries.size());
    candidates.push_back(row);
  }
  part.rows = candidates.size();
  const linalg::RankDecision decision = linalg::row_rank(part, entries.data());
  for (std::size_t i = 0; i < candidates.size(); ++i)
    if (!std::ranges::binary_search(decision.dependent_rows, i)) rows_.push_back(candidates[i]);
}

DaeOutcome JetLift::lift(double t, const double* y, double* x) {
  for (std::size_t i = 0; i < x_.size(); ++i)
    if (known_[i] != none) x_[i] = y[known_[i]];
  if (!missing_.empty()) {
    if (!chosen_) choose_rows(t);
    if (rows_.size() != missing_.size()) return DaeOutcome::singular;
    double last = std::numeric_limits<double>::infinity();
    for (int iteration = 0;; ++iteration) {
      if (!values_.residuals(t, x_.data())) return DaeOutcome::not_finite;
      double size = 0.0;  // the largest residual beside its terms
      for (const std::size_t row : rows_)
        if (const double off = std::abs(values_.residual()[row]); off > 0.0) size = std::max(size, off / values_.scale()[row]);
      if (size <= 4.0 * std::numeric_limits<double>::epsilon() || (size >= 0.5 * last && size <= 1e-12)) break;
      if (iteration == most_iterations) return DaeOutcome::no_convergence;
      last = size;
      if (!values_.jacobian(t, x_.data())) return DaeOutcome::not_finite;
      if (!correct()) return DaeOutcome::singular;
    }
  }
  std::ranges::copy(x_, x);
  return DaeOutcome::ok;
}

bool JetLift::correct() {
  const linalg::Sparsity& pattern = functions_->kept.pattern;
  const std::size_t count = missing_.size();
  std::ranges::fill(matrix_, 0.0);
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t k = pattern.row_start[rows_[r]]; k < pattern.row_start[rows_[r] + 1]; ++k)
      if (const std::size_t column = column_[pattern.column[k]]; column != none)
        matrix_[r * count + column] = values_.jacobian()[k];
    step_[r] = values_.residual()[rows_[r]];
  }
  if (!lu_.factor(matrix_.data())) return false;
  lu_.solve(step_.data());
  for (std::size_t k = 0; k < count; ++k) x_[missing_[k]] -= step_[k];
  return true;
}

void JetLift::lower(const double* y, const double* dy, double* written) const {
  for (const Source& source : unknowns_) *written++ = source.of(y, dy);
}

void JetLift::lower_rates(const double* y, const double* dy, double* written) const {
  for (const Source& source : rates_) *written++ = source.of(y, dy);
}

}  // namespace daedalus::structure
