// Relative degrees, and Lemma 1 of 002 against the index by its definition.
#include "daedalus/structure/relative_degree.hpp"

#include <gtest/gtest.h>

#include "daedalus/structure/numerical_index.hpp"
#include "unit/structure/dae_examples.hpp"

namespace daedalus::structure {
namespace {

using testing::DaeExample;
using testing::Mixing;
using Unknowns = std::vector<expr::Expr>;

NumericalIndex index_of(const std::shared_ptr<const DaeFunctions>& functions) {
  ArrayPoint start;
  for (const auto& unknown : functions->unknowns) start.jets.push_back(unknown.start.value);
  return numerical_index(std::make_shared<DerivativeArray>(functions), start);
}

TEST(RelativeDegree, GivesTheIndexOfSemiExplicitExamples) {
  std::size_t applied = 0;
  for (const DaeExample& example : testing::dae_examples()) {
    SCOPED_TRACE(example.name);
    const auto functions = testing::compiled(example, Mixing::none);
    const RelativeDegrees found = relative_degrees(*functions, index_of(functions).point);
    if (!found.index) continue;
    EXPECT_EQ(*found.index, example.index);
    ++applied;
  }
  // All but the easy DAE, whose second row contains x' as well, and the three with sums of derivatives.
  EXPECT_EQ(applied, testing::dae_examples().size() - 4);
}

TEST(RelativeDegree, OfEachConstraint) {
  // x1 is pushed by z1, x2 through x3 by z2.
  const DaeExample example{"two", 3, 5, {0.0, 0.0, 0.0, 0.0, 0.0}, [](model::Builder& b, const Unknowns& x) {
                             return Unknowns{b.der(x[0]) - x[3], b.der(x[1]) - x[2], b.der(x[2]) - 2.0 * x[4] - x[3],
                                             x[0] - sin(b.time()), x[1] - cos(b.time())};
                           }};
  const auto functions = testing::compiled(example, Mixing::none);
  const NumericalIndex index = index_of(functions);
  EXPECT_EQ(index.index, 3u);
  const RelativeDegrees found = relative_degrees(*functions, index.point);
  ASSERT_TRUE(found.semi_explicit);
  EXPECT_EQ(found.rows, (std::vector<std::size_t>{3, 4}));
  EXPECT_EQ(found.degree[0], 1u);
  EXPECT_EQ(found.degree[1], 2u);
  EXPECT_EQ(found.rank, 2u);
  EXPECT_EQ(found.index, 3u);
}

TEST(RelativeDegree, SaysNothingWhereTheMatrixIsSingular) {
  // Both constraints have degree 1 by the same z1; their difference has degree 2, so that the index is 3 and not 2.
  const DaeExample example{"same input", 3, 5, {0.0, 0.0, 0.0, 0.0, 0.0}, [](model::Builder& b, const Unknowns& x) {
                             return Unknowns{b.der(x[0]) - x[3], b.der(x[1]) - x[2] - x[3], b.der(x[2]) - x[4],
                                             x[0] - sin(b.time()), x[1] - cos(b.time())};
                           }};
  const auto functions = testing::compiled(example, Mixing::none);
  const NumericalIndex index = index_of(functions);
  EXPECT_EQ(index.index, 3u);
  const RelativeDegrees found = relative_degrees(*functions, index.point);
  EXPECT_EQ(found.degree[0], 1u);
  EXPECT_EQ(found.degree[1], 1u);
  EXPECT_EQ(found.rank, 1u);
  EXPECT_FALSE(found.index);
}

TEST(RelativeDegree, IsNotDefinedAtASpecialPoint) {
  // The circle of 003 at x2 = 0: D g = x2 (x1 + z) contains z near the point, not at it.
  const auto functions = testing::compiled(testing::dae_examples()[2], Mixing::none);
  const RelativeDegrees at = relative_degrees(*functions, {0.0, {1.0, 0.0, -1.0}});
  ASSERT_TRUE(at.semi_explicit);
  EXPECT_FALSE(at.degree[0]);
  EXPECT_FALSE(at.index);
  const RelativeDegrees beside = relative_degrees(*functions, {0.0, {0.6, 0.8, -0.6}});
  EXPECT_EQ(beside.degree[0], 1u);
  EXPECT_EQ(beside.index, 2u);
}

}  // namespace
}  // namespace daedalus::structure
