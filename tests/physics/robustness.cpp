// The pendulum of the notes and Andrews' squeezer in index 3, 2 and 1 with the implicit methods, tolerances 1e-4 ..
// 1e-10 with five factors from 0.8 to 1.25: every run arrives, the error falls with the tolerance, and the median
// digits are at most 0.3 below those of RADAU5, DASKR and MEBDFI. bench_robustness prints the table.

#include "physics/robustness.hpp"

#include <gtest/gtest.h>

namespace daedalus::tests {
namespace {

class Robustness : public testing::TestWithParam<Peer> {};

TEST_P(Robustness, EveryRunArrivesWithTheDigitsOfOtherCodes) {
  const Peer& peer = GetParam();
  const RobustnessProblem problem = robustness_problem(peer.problem);
  double before = -INFINITY;
  for (std::size_t k = 0; k < peer.digits.size(); ++k) {
    const double tolerance = std::pow(10.0, -4.0 - static_cast<double>(k));
    const RobustnessCell cell = run_cell(problem, peer.formulation, peer.method, tolerance, robustness_factors);
    std::printf("%s %s %s %.0e: %.2f (%zu of %zu), %s %.2f\n", peer.problem.c_str(), peer.formulation.c_str(),
                peer.method.c_str(), tolerance, cell.digits, cell.reached, cell.runs, peer.code.c_str(),
                peer.digits[k]);
    EXPECT_EQ(cell.reached, cell.runs) << tolerance << ": " << cell.message;
    if (!std::isnan(peer.digits[k])) {
      EXPECT_GE(cell.digits, peer.digits[k] - 0.3) << tolerance;
    }
    EXPECT_GT(cell.digits, before) << "the error does not fall at " << tolerance;
    before = cell.digits;
  }
}

INSTANTIATE_TEST_SUITE_P(Peers, Robustness, testing::ValuesIn(peers()), [](const testing::TestParamInfo<Peer>& one) {
  return one.param.problem + "_" + one.param.formulation + "_" + one.param.method;
});

}  // namespace
}  // namespace daedalus::tests
