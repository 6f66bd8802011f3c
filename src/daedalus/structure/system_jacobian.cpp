#include "daedalus/structure/system_jacobian.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "daedalus/base/check.hpp"
#include "daedalus/base/finite.hpp"
#include "daedalus/compile/compile.hpp"
#include "daedalus/linalg/rank.hpp"
#include "daedalus/linalg/shifted_lu.hpp"

namespace daedalus::structure {

namespace {

// A rank decision takes the cube of the rows; larger blocks are first tried with a sparse factorization.
constexpr std::size_t small_block = 60;

struct Block {
  linalg::Sparsity pattern;
  std::vector<double> values;
};

/// Copies blocks out of a matrix, with columns numbered from 0.
class BlockCopy {
 public:
  explicit BlockCopy(const linalg::Sparsity& pattern) : pattern_(pattern), place_(pattern.columns, unmatched) {}

  Block operator()(const Part& part, const std::vector<double>& values) {
    for (std::size_t k = 0; k < part.columns.size(); ++k) place_[part.columns[k]] = k;
    Block block{{part.rows.size(), part.columns.size(), {0}, {}}, {}};
    for (const std::size_t i : part.rows) {
      for (std::size_t k = pattern_.row_start[i]; k < pattern_.row_start[i + 1]; ++k) {
        if (place_[pattern_.column[k]] == unmatched) continue;
        block.pattern.column.push_back(place_[pattern_.column[k]]);
        block.values.push_back(values[k]);
      }
      block.pattern.row_start.push_back(block.pattern.column.size());
    }
    for (const std::size_t j : part.columns) place_[j] = unmatched;
    return block;
  }

 private:
  const linalg::Sparsity& pattern_;
  std::vector<std::size_t> place_;
};

bool factors(const Block& block) {
  linalg::ShiftedLu lu(block.pattern, linalg::ShiftedLu::Numbers::real);
  return lu.factor(block.values.data(), block.values.data(), 0.0);
}

}  // namespace

SystemJacobian::SystemJacobian(const EquationSet& system, const StructuralAnalysis& analysis) : analysis_(analysis) {
  DAEDALUS_CHECK(analysis.regular(), "{} equations for {} unknowns", analysis.equations.size(),
                 analysis.unknowns.size());
  std::vector<expr::Expr> symbols, entries;
  for (const EquationSet::Unknown& unknown : system.unknowns) {
    symbols.insert(symbols.end(), unknown.derivatives.begin(), unknown.derivatives.end());
    guess_.insert(guess_.end(), unknown.guess.begin(), unknown.guess.end());
    nominal_.insert(nominal_.end(), unknown.derivatives.size(), unknown.nominal);
  }
  for (const std::size_t k : analysis.jacobian.entries) entries.push_back(analysis.signature.derivative[k]);
  values_.resize(entries.size());
  if (entries.empty()) return;
  auto numbers = system.parameters;
  numbers.insert(system.discrete.begin(), system.discrete.end());
  compile::Switches switches;
  function_ = compile::compile({{{system.time}, symbols}, entries, &numbers}, switches);
  scratch_ = function_.make_scratch();
}

SystemJacobian::Verdict SystemJacobian::at(double t, const std::vector<double>& point) {
  if (values_.empty()) return {};
  const double* inputs[] = {&t, point.data()};
  function_(inputs, values_.data(), scratch_);
  Verdict verdict;
  if (!all_finite(values_)) return {false, false, {}};
  BlockCopy copy(analysis_.jacobian.pattern);
  for (const Part& part : analysis_.blocks) {
    const Block block = copy(part, values_);
    if (part.rows.size() > small_block && factors(block)) continue;
    for (const std::size_t row : linalg::row_rank(block.pattern, block.values.data()).dependent_rows)
      verdict.dependent.push_back(part.rows[row]);
  }
  std::sort(verdict.dependent.begin(), verdict.dependent.end());
  verdict.regular = verdict.dependent.empty();
  return verdict;
}

std::vector<double> SystemJacobian::near(const std::vector<double>& point, int number) const {
  std::mt19937 random(static_cast<unsigned>(number));
  std::vector<double> result = point;
  for (std::size_t k = 0; k < result.size(); ++k) {
    const double shift = 0.02 + 0.08 * (static_cast<double>(random()) / 4294967296.0);
    result[k] += (random() % 2 == 0 ? shift : -shift) * std::max(std::abs(point[k]), nominal_[k]);
  }
  return result;
}

}  // namespace daedalus::structure
