#include "daedalus/base/processor_time.hpp"
#include "unit/model/helpers.hpp"

namespace daedalus::model {
namespace {

const std::string chain = R"toml(
kind = "lagrangian"
[parameters]
N = 3
l = 0.5
m = 2
g = 9.81
[variables]
"x[1]" = { start = "l" }
"x[i]" = { for = "i in 2..N", start = "x[i-1] + l" }
"y[i]" = { for = "i in 1..N" }
"der(x[i])" = { for = "i in 1..N", start = "i", fixed = true }
[lagrangian]
kinetic = "m/2*sum(i in 1..N, der(x[i])^2 + der(y[i])^2)"
potential = "m*g*sum(i in 1..N, y[i])"
[lagrangian.forces]
"x[i]" = { for = "i in 1..N", value = "-i*der(x[i])" }
[constraints]
"rod[1]" = "x[1]^2 + y[1]^2 = l^2"
"rod[i]" = { for = "i in 2..N", equation = "(x[i] - x[i-1])^2 + (y[i] - y[i-1])^2 = l^2" }
[outputs]
"pull[i]" = { for = "i in 1..N", value = "lambda.rod[i]" }
push = "reaction.rod[N].x[max(N-1, 1)]"
[drawing]
lines = [["pivot", "p[1]"], { for = "i in 2..N", points = ["p[i-1]", "p[i]"] }]
trails = ["p[N]"]
[drawing.points]
pivot = ["0", "0"]
"p[i]" = { for = "i in 1..N", at = ["x[i]", "y[i]"] }
)toml";

TEST(Family, WritesOutMembers) {
  const Model model = read(chain);
  EXPECT_EQ(model.variables.size(), 6U);
  EXPECT_EQ(unknown(model, "x[3]").start[0].value, 1.5);
  EXPECT_EQ(unknown(model, "x[3]").start[1].value, 3.0);
  EXPECT_TRUE(unknown(model, "x[3]").start[1].fixed);
  EXPECT_FALSE(unknown(model, "y[3]").start[0].given);
  ASSERT_EQ(model.constraints.size(), 3U);
  EXPECT_EQ(model.constraints[2].name, "rod[3]");
  EXPECT_EQ(text(model.constraints[2].left), "(x[3] - x[2])^2 + (y[3] - y[2])^2");
  EXPECT_EQ(model.multipliers[2].name(), "lambda.rod[3]");
  EXPECT_EQ(output(model, "pull[2]").value.name(), "lambda.rod[2]");
  EXPECT_EQ(output(model, "push").value.name(), "reaction.rod[3].x[2]");
  EXPECT_EQ(model.forces.size(), 3U);
  EXPECT_EQ(text(model.forces[2].value), "-3*der(x[3])");
  EXPECT_EQ(model.drawing.lines.size(), 3U);
  EXPECT_EQ(model.drawing.lines[2], (std::vector<std::string>{"p[2]", "p[3]"}));
  EXPECT_EQ(model.drawing.trails, std::vector<std::string>{"p[3]"});
}

TEST(Family, BoundsMayBeEmptyAndUseOuterIndices) {
  const Model model = read(R"toml(
kind = "dae"
[parameters]
N = 3
[variables]
"x[i,j]" = { for = "i in 1..N, j in i+1..N", start = "10*i + j" }
[equations]
"e[i,j]" = { for = "i in 1..N, j in i+1..N", equation = "x[i,j] = 10*i + j" }
)toml");
  ASSERT_EQ(model.variables.size(), 3U);
  EXPECT_EQ(model.variables[2].name, "x[2,3]");
  EXPECT_EQ(model.variables[1].start[0].value, 13.0);
  EXPECT_EQ(read(chain, {{{"N", "1"}}, {}, {}}).constraints.size(), 1U) << "an empty family";
}

TEST(Family, ConstantIfExpandsItsChosenBranchOnly) {
  const Model model = read(R"toml(
kind = "dae"
[parameters]
N = 3
k = [1, 2, 3]
[variables]
"x[i]" = { for = "i in 1..N" }
[equations]
"e[i]" = { for = "i in 1..N", equation = "der(x[i]) = if(i > 1, x[i-1], 0) + if(i < N and k[i+1] > 2, x[i+1], 0)" }
)toml");
  EXPECT_EQ(text(model.equations[0].right), "0");
  EXPECT_EQ(text(model.equations[1].right), "x[1] + x[3]");
  EXPECT_EQ(text(model.equations[2].right), "x[2]");
}

TEST(Family, DefinitionsMayUseLaterMembersAndOtherDefinitions) {
  const Model model = read(R"toml(
kind = "dae"
[parameters]
N = 3
l = 2
[definitions]
"X[i]" = { for = "i in 1..N", value = "sum(k in 1..i, l*sin(th[k]))" }
"T[i]" = { for = "i in 1..N-1", value = "T[i+1] + X[i]" }
"T[N]" = "X[N]"
[variables]
"th[i]" = { for = "i in 1..N" }
[equations]
"e[i]" = { for = "i in 1..N", equation = "der(th[i]) = T[i]" }
)toml");
  EXPECT_EQ(text(model.equations[2].right), "l*sin(th[1]) + l*sin(th[2]) + l*sin(th[3])");
  EXPECT_EQ(model.definitions.size(), 6U);
}

TEST(Family, IndicesAreWholeArithmetic) {
  const Model model = read(R"toml(
kind = "dae"
[parameters]
N = 4
h = "N/2"
[variables]
"x[i]" = { for = "i in 1..N" }
[equations]
"e[2*i-1]" = { for = "i in 1..h", equation = "x[2*i-1] = x[floor((N+1)/2)]" }
"e[2*i]" = { for = "i in 1..h", equation = "x[max(2*i, 1)] = x[N]" }
)toml");
  EXPECT_EQ(text(model.equations[1].left), "x[3]");
  EXPECT_EQ(text(model.equations[1].right), "x[2]");
  EXPECT_EQ(model.equations[3].name, "e[4]");
}

/// Processor time to read a chain of N links: what else runs has little to do with it.
double seconds(const std::string& text_of_model, int n) {
  double best = 1e9;
  for (int trial = 0; trial < 3; ++trial) {
    const double start = processor_seconds();
    read(text_of_model, {{{"N", std::to_string(n)}}, {}, {}});
    best = std::min(best, processor_seconds() - start);
  }
  return best;
}

TEST(Family, ReadingGrowsInProportion) {
  // Ten times the links cost ten times the time in a linear reader, a hundred times in a quadratic one. The bound lies
  // between, above what caches and a busy machine add.
  EXPECT_LT(seconds(chain, 4000) / seconds(chain, 400), 40.0);
}

TEST(Family, LongChainsNeedNoDeepStack) {
  const std::string text_of_model = R"toml(
kind = "dae"
[parameters]
N = 10
[definitions]
"T[i]" = { for = "i in 1..N", value = "if(i < N, T[i+1] + x[i], x[N])" }
[variables]
"x[i]" = { for = "i in 1..N", start = "if(i < N, x[i+1] + 1, 0)" }
[equations]
"e[i]" = { for = "i in 1..N", equation = "der(x[i]) = T[i] + der(T[i])" }
)toml";
  const Model model = read(text_of_model, {{{"N", "20000"}}, {}, {}});
  EXPECT_EQ(model.variables[0].start[0].value, 19999.0);
  EXPECT_LT(seconds(text_of_model, 4000) / seconds(text_of_model, 400), 40.0);
}

TEST(Family, LongChainsOfParameters) {
  std::string text_of_model = "kind = \"dae\"\n[variables]\nx = 0\n[equations]\ne = \"x = p0\"\n[parameters]\n";
  for (int i = 0; i < 5000; ++i)
    text_of_model += "p" + std::to_string(i) + " = \"p" + std::to_string(i + 1) + " + 1\"\n";
  EXPECT_EQ(parameter(read(text_of_model + "p5000 = 1\n"), "p0").value, 5001.0);
  EXPECT_EQ(codes_of(text_of_model + "p5000 = \"p0\"\n"), std::vector<std::string>{"cycle"});
}

TEST(Family, AbsurdSizesAreRefusedAtOnce) {
  const std::string head = "kind = \"dae\"\n[equations]\ne = \"1 = 1\"\n[variables]\n";
  EXPECT_EQ(codes_of(head + "\"x[i]\" = { for = \"i in 1..1000000000000\" }\n"),
            std::vector<std::string>{"too-many-members"});
  EXPECT_EQ(codes_of(head + "\"x[i,j]\" = { for = \"i in 1..10000, j in 1..10000\" }\n"),
            std::vector<std::string>{"too-many-members"});
  EXPECT_EQ(codes_of("kind = \"dae\"\n[variables]\nx = 0\n[equations]\ne = \"x = sum(i in 1..100000000, i)\"\n"),
            std::vector<std::string>{"too-many-members"});
}

}  // namespace
}  // namespace daedalus::model
