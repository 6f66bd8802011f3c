#include "daedalus/structure/regularity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/structure/block_triangular.hpp"

namespace daedalus::structure {

namespace {

/// What has less than this part in a combination that vanishes has none.
constexpr double no_part = 0.05;

std::vector<linalg::BlockDeterminants::Block> blocks_of(const linalg::Sparsity& pattern) {
  std::vector<linalg::BlockDeterminants::Block> blocks;
  const Matching matching = maximum_matching(pattern);
  if (!matching.perfect()) return blocks;
  for (Part& part : solution_order(pattern, matching)) blocks.push_back({std::move(part.rows), std::move(part.columns)});
  return blocks;
}

}  // namespace

Regularity::Regularity(const std::shared_ptr<const DaeFunctions>& functions)
    : evaluator_(functions), determinants_(functions->function.pattern, blocks_of(functions->solved)), reference_(count(), std::numeric_limits<double>::quiet_NaN()) {}

DaeOutcome Regularity::look(double t, const double* state, State has, double* values) {
  const DaeFunctions& fn = evaluator_.functions();
  if (has != State::differential) evaluator_.guess_unknowns(state);
  if (fn.linear_in_solved || (has == State::solution && fn.solved_without_derivatives)) {
    evaluator_.guess_states(state);
  } else if (const DaeOutcome outcome = evaluator_.solve(t, state); outcome != DaeOutcome::ok) {
    return outcome;
  }
  matrix_ = evaluator_.solved_matrix(t, evaluator_.y().data(), evaluator_.dy().data());
  if (matrix_ == nullptr) return DaeOutcome::not_finite;
  for (std::size_t b = 0; b < count(); ++b) {
    const linalg::Determinant found = determinants_.of(b, matrix_);
    if (found.sign != 0 && std::isnan(reference_[b])) reference_[b] = found.logarithm;
    values[b] = found.sign * std::exp(std::min(found.logarithm - reference_[b], 600.0));
    if (found.sign == 0) values[b] = 0.0;
  }
  return DaeOutcome::ok;
}

Regularity::Undetermined Regularity::undetermined(std::size_t which) const {
  const DaeFunctions& fn = evaluator_.functions();
  const linalg::BlockDeterminants::Block& block = determinants_.block(which);
  const linalg::BlockDeterminants::NullVectors null = determinants_.null_vectors(which, matrix_);
  Undetermined result;
  const auto counts = [](const std::vector<double>& vector, std::size_t i) { return vector.empty() || std::abs(vector[i]) >= no_part; };
  // An unknown in small units has a large number.
  std::vector<double> share = null.columns;
  double largest = 0.0;
  for (std::size_t j = 0; j < share.size(); ++j) {
    share[j] /= fn.unknowns[block.columns[j]].of->nominal;
    largest = std::max(largest, std::abs(share[j]));
  }
  for (double& value : share) value /= largest;
  for (std::size_t i = 0; i < block.rows.size(); ++i) {
    if (counts(null.rows, i)) result.equations.push_back(fn.rows[block.rows[i]].name);
    if (!counts(share, i)) continue;
    const DaeFunctions::Unknown& unknown = fn.unknowns[block.columns[i]];
    result.unknowns.push_back(model::derivative_name(unknown.of->name, unknown.times + (block.columns[i] < fn.differential ? 1 : 0)));
  }
  return result;
}

}  // namespace daedalus::structure
