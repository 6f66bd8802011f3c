#include "daedalus/structure/easy_test.hpp"

#include "daedalus/linalg/equilibrate.hpp"
#include "daedalus/linalg/rank.hpp"

namespace daedalus::structure {

EasyTest easy_test(const DaeFunctions& functions, double t, const std::vector<double>& y, const std::vector<double>& dy,
                   const double* frozen) {
  const compile::ImplicitFunction& implicit = functions.function;
  const linalg::Sparsity& pattern = implicit.pattern;
  const std::size_t count = pattern.nonzeros();
  compile::Function::Scratch scratch = implicit.jacobian.make_scratch();
  std::vector<double> jacobian(implicit.jacobian.output_count()), matrix(count);
  const double* inputs[] = {&t, y.data(), dy.data()};
  implicit.jacobian(inputs, jacobian.data(), scratch, frozen);
  for (std::size_t k = 0; k < count; ++k)
    matrix[k] = jacobian[pattern.column[k] < functions.differential ? count + k : k];
  linalg::equilibrate(pattern, matrix);
  const linalg::RankDecision decision = linalg::row_rank(pattern, matrix.data());
  return {decision.rank, functions.dimension(), decision.kept, decision.dropped, decision.dependent_rows};
}

}  // namespace daedalus::structure
