#include "daedalus/expr/collect.hpp"

#include <gtest/gtest.h>

#include "daedalus/expr/print.hpp"

namespace daedalus::expr {
namespace {

class Collected : public testing::Test {
 protected:
  Graph graph;
  Expr x = graph.symbol("x"), y = graph.symbol("y"), k = graph.symbol("k");
  std::unordered_map<NodeId, double> numbers{{k.id(), 3.0}};

  std::string of(Expr e) const { return to_text(collected(e, numbers, 1e-12)); }
};

/// 0.1 + 0.2 - 0.3 is 5.6e-17: as a factor of exp(x) it would be as large as anything far from the start.
TEST_F(Collected, LeavesNothingOfWhatCancels) {
  const Expr f = exp(x) + y * y, g = sin(y);
  EXPECT_EQ(of(0.1 * (f + g) + 0.2 * f - 0.3 * f), "0.1*sin(y)");
  EXPECT_EQ(of(k * f - (f + f + f) + g), "sin(y)");
  EXPECT_EQ(of(f / 3.0 - f * (1.0 / 3.0)), "0");
}

/// The parts of two sums may cancel where the sums do not.
TEST_F(Collected, LooksIntoSums) {
  EXPECT_EQ(of((exp(x) + 2.0 * y) - 0.5 * (2.0 * exp(x) - y)), "2.5*y");
}

TEST_F(Collected, KeepsTheFormWhereNothingCancels) {
  for (const Expr e : {2.0 * (x + 3.0 * (y - exp(x))), (x + y) * (x - y), k * x + 1e-9 * x, graph.constant(2.0)})
    EXPECT_EQ(collected(e, numbers, 1e-12), e) << to_text(e);
}

}  // namespace
}  // namespace daedalus::expr
