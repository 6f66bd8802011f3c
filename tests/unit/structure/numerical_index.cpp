// The index of DAEs whose index is known: examples of the documents, textbook forms, the same mixed by random matrices,
// and random DAEs that hide an ODE and chains of differentiators.
#include "daedalus/structure/numerical_index.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "daedalus/model/reader.hpp"
#include "folders.hpp"
#include "unit/structure/dae_examples.hpp"

namespace daedalus::structure {
namespace {

using testing::DaeExample;
using testing::Mixing;
using Outcome = NumericalIndex::Outcome;

ArrayPoint start_of(const DaeFunctions& functions) {
  ArrayPoint point;
  for (const auto& unknown : functions.unknowns) point.jets.push_back(unknown.start.value);
  return point;
}

NumericalIndex index_of(const std::shared_ptr<const DaeFunctions>& functions) {
  return numerical_index(std::make_shared<DerivativeArray>(functions), start_of(*functions));
}

std::shared_ptr<const DaeFunctions> functions_of(const std::string& text) {
  return compile_dae(std::make_shared<const model::Model>(model::read_model_text(text, "test")));
}

void expect(const NumericalIndex& found, std::size_t n, std::size_t index, std::size_t constraints) {
  ASSERT_EQ(found.outcome, Outcome::found);
  EXPECT_EQ(found.index, index);
  EXPECT_EQ(found.algebraic, constraints);
  EXPECT_EQ(found.differential, n - constraints);  // every regular DAE satisfies Kunkel and Mehrmann's hypothesis
  EXPECT_TRUE(found.at_start);
  EXPECT_EQ(found.nearby, 3u);
  EXPECT_TRUE(found.elsewhere.empty());
  ASSERT_EQ(found.ranks.size(), index + 1);
  for (const ArrayRanks& ranks : found.ranks) {
    EXPECT_EQ(ranks.rows, (ranks.mu + 1) * n);
    EXPECT_EQ(ranks.redundant, 0u);
    EXPECT_EQ(ranks.rank, ranks.rows - ranks.constraints);
    EXPECT_EQ(ranks.determined.size() == n, ranks.mu == index);
    // Round-off, raised by no more than the conditioning of arrays this small, against numbers that are not zero.
    EXPECT_LT(ranks.dropped, 1e-11);
    EXPECT_GT(ranks.kept, 1e-8);
  }
}

class KnownIndex : public ::testing::TestWithParam<std::size_t> {};

TEST_P(KnownIndex, AsItIsWritten) {
  const DaeExample example = testing::dae_examples()[GetParam()];
  SCOPED_TRACE(example.name);
  expect(index_of(testing::compiled(example, Mixing::none)), example.start.size(), example.index, example.constraints);
}

TEST_P(KnownIndex, MixedByRandomMatrices) {
  const DaeExample example = testing::dae_examples()[GetParam()];
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(example.name + ", seed " + std::to_string(seed));
    expect(index_of(testing::compiled(example, Mixing::dense, seed)), example.start.size(), example.index,
           example.constraints);
  }
}

INSTANTIATE_TEST_SUITE_P(Examples, KnownIndex, ::testing::Range<std::size_t>(0, testing::dae_examples().size()));

TEST(NumericalIndex, OfRandomSparseDaes) {
  const std::size_t count = std::getenv("DAEDALUS_LONG") != nullptr ? 300 : 60;
  for (std::size_t k = 0; k < count; ++k) {
    testing::Random random(1000 + k);
    const std::size_t size = 5 + random.below(46), index = random.below(6);
    const testing::KnownDae dae =
        testing::random_dae(size, index, k, k % 2 == 0 ? testing::Hiding::linear : testing::Hiding::nonlinear);
    SCOPED_TRACE("number " + std::to_string(k));
    expect(index_of(dae.functions), size, index, dae.constraints);
  }
}

// The test set for IVP solvers says: index 1. The capacitances of the amplifier have rank 5 of 8.
TEST(NumericalIndex, OfShippedModels) {
  struct Known {
    const char* name;
    std::size_t index, constraints;
  };
  for (const Known& known : {Known{"transistor_amplifier", 1, 3}, Known{"robertson", 1, 1},
                             Known{"chemical_akzo_nobel", 1, 1}, Known{"kepler", 0, 0}}) {
    SCOPED_TRACE(known.name);
    const std::string path = tests::source_folder() + "/models/" + known.name + ".toml";
    const auto functions = compile_dae(std::make_shared<const model::Model>(model::read_model(path)));
    expect(index_of(functions), functions->dimension(), known.index, known.constraints);
  }
}

// Units of unknowns and equations, and the unit of time, are the author's choice.
TEST(NumericalIndex, DoesNotDependOnUnits) {
  for (const DaeExample& original : testing::dae_examples()) {
    if (original.solution == nullptr && original.name != "pendulum") continue;
    DaeExample scaled = original;
    const std::size_t n = original.start.size();
    const auto unit = [](std::size_t i) { return std::pow(10.0, static_cast<double>((7 * i) % 5) - 2.0); };
    for (std::size_t i = 0; i < n; ++i) scaled.start[i] /= unit(i);
    scaled.residuals = [&](model::Builder& b, const std::vector<expr::Expr>& x) {
      std::vector<expr::Expr> own = x;
      for (std::size_t i = 0; i < n; ++i) own[i] = unit(i) * x[i];
      std::vector<expr::Expr> F = original.residuals(b, own);
      for (std::size_t i = 0; i < n; ++i) F[i] = std::pow(10.0, static_cast<double>((5 * i) % 7) * 2.0 - 6.0) * F[i];
      return F;
    };
    SCOPED_TRACE(original.name);
    const NumericalIndex found = index_of(testing::compiled(scaled, Mixing::none));
    ASSERT_EQ(found.outcome, Outcome::found);
    EXPECT_EQ(found.index, original.index);
    EXPECT_EQ(found.algebraic, original.constraints);
  }
}

TEST(NumericalIndex, NamesWhatASingularSystemLeavesOpen) {
  // The second equation is twice the first: y1 + y2 is known, y1 and y2 are not, y3 is.
  const NumericalIndex found = index_of(functions_of(R"toml(
kind = "dae"
[variables]
y1 = 1
y2 = 1
y3 = 1
[equations]
sum = "y1 + y2 = sin(t)"
twice = "2*y1 + 2*y2 = 2*sin(t)"
rate = "der(y3) = -y3"
)toml"));
  ASSERT_EQ(found.outcome, Outcome::singular);
  // y3 is the only unknown with a derivative, hence the first of y.
  EXPECT_EQ(found.undetermined, (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(found.ranks.back().redundant, found.ranks.back().mu + 1);
}

TEST(NumericalIndex, SaysWhichEquationsContradictEachOther) {
  const NumericalIndex found = index_of(functions_of(R"toml(
kind = "dae"
[variables]
y1 = 1
y2 = 1
y3 = 1
[equations]
sum = "y1 + y2 = 1"
twice = "2*y1 + 2*y2 = 3"
rate = "der(y3) = -y3"
)toml"));
  ASSERT_EQ(found.outcome, Outcome::inconsistent);
  ASSERT_EQ(found.offending.size(), 2u);
  EXPECT_EQ(found.offending[0].row, 0u);
  EXPECT_EQ(found.offending[1].row, 1u);
}

// The circle of 003 has index 2 where x2 is not zero. At (1, 0) the second derivative leaves z' open; the third gives
// it, but only there.
TEST(NumericalIndex, OfTheNeighbourhoodWhereTheStartIsASpecialPoint) {
  DaeExample circle = testing::dae_examples()[2];
  circle.start = {1.0, 0.0, -1.0};
  const NumericalIndex found = index_of(testing::compiled(circle, Mixing::none));
  ASSERT_EQ(found.outcome, Outcome::found);
  EXPECT_FALSE(found.at_start);
  EXPECT_EQ(found.index, 2u);
  EXPECT_EQ(found.elsewhere.size(), 1u);
}

// x' = z, 0 = x - u(t), with u from a table: z = u' needs a table whose first derivative exists, z' its second.
std::string with_table(const std::string& interpolation, const std::string& equation) {
  return R"toml(
kind = "dae"
[tables.u]
x = [0, 1, 2, 3]
y = [0, 1, 0, 1]
interpolation = ")toml" +
         interpolation + R"toml("
[variables]
x = 0
z = 1
[equations]
rate = "der(x) = z"
)toml" + equation;
}

/// z' has the factor t: at t = 0 alone the third equation says nothing about it, and z follows from derivatives.
TEST(NumericalIndex, OfTheTimeAfterTheStartWhereThatIsASpecialOne) {
  const NumericalIndex found = index_of(functions_of(R"toml(
kind = "dae"
[variables]
x = 0
z = 0
[equations]
a = "der(x) = z"
b = "t*der(z) + z + x = 0"
)toml"));
  ASSERT_EQ(found.outcome, Outcome::found);
  EXPECT_EQ(found.index, 0u);
  EXPECT_FALSE(found.at_start);
  EXPECT_GT(found.point.t, 0.0);
}

TEST(NumericalIndex, KnowsTablesThatAreNotSmoothEnough) {
  const std::string path = "path = \"x = u(t + 0.3)\"\n", load = "load = \"z + x = u(t + 0.3)\"\n";
  const auto rough = [](const std::string& text) {
    const NumericalIndex found = index_of(functions_of(text));
    EXPECT_EQ(found.outcome, Outcome::found);
    return found.rough.size();
  };
  EXPECT_EQ(rough(with_table("spline", path)), 0u);
  EXPECT_EQ(rough(with_table("monotone", path)), 0u);
  EXPECT_GT(rough(with_table("linear", path)), 0u);
  EXPECT_GT(rough(with_table("step", path)), 0u);
  EXPECT_EQ(rough(with_table("linear", load)), 0u);  // z' = u' - x'
}

}  // namespace
}  // namespace daedalus::structure
