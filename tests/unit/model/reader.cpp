#include "daedalus/model/reader.hpp"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "unit/model/helpers.hpp"

namespace daedalus::model {
namespace {

const std::string pendulum = R"toml(
name = "pendulum"
kind = "lagrangian"
description = "free text"

[parameters]
m = 2.0
l = { value = 2.5, unit = "m", description = "rod", min = 0 }
w = "sqrt(9.81/l)"
k = [1.0, 2.0, 4.0]
K = [[1, 2], ["m", "k[3] + w"]]
g = 9.81
c = 0.1
u0 = 3
R = 1.0
L = 0.5

[inputs]
u = "0.1*sin(200*pi*t)"

[variables]
x = 0.86
y = { start = "sqrt(l^2 - x^2)", fixed = true, nominal = 2, atol = 1e-9, unit = "m", description = "height" }
"der(x)" = 0.5
"y'" = { start = "2*der(x)", fixed = true }

[initial]
angle0 = "atan2(x, -y) = pi/6"

[outputs]
angle = "atan2(x, -y)"
pull = { value = "2*l*lambda.rod", unit = "N" }
push = "reaction.rod.x"
speed = "px'"

[definitions]
px = "l*sin(x)"
"diode(u)" = "c*(exp(u/w) - 1)"

[simulation]
t_start = 0.0
t_end = "2*pi"
rtol = 1e-6
atol = 1e-8
formulation = "baumgarte:omega=2,xi=0.8"
method = "rk2:alpha=0.75"
initialize = "check"

[plots]
phase = { x = "angle", y = ["x'"] }
forces = { y = "lambda.rod" }

[drawing]
trails = ["bob"]
lines  = [["pivot", "bob"]]
[drawing.points]
pivot = ["0", 0]
bob = ["x", "y"]

[lagrangian]
kinetic   = "m/2*(der(x)^2 + der(y)^2)"
potential = "m*g*y"
dissipation = "c/2*der(x)^2"
[lagrangian.forces]
x = "u - c*der(x) + diode(i_m)"

[constraints]
rod   = "x^2 + y^2 = l^2"
skate = "der(x)*sin(x) = der(y)*cos(x)"

[auxiliary]
i_m = 0.25
[equations]
motor = "L*der(i_m) = u - R*i_m - k[2]*der(x)"
)toml";

TEST(Reader, ReadsEveryPartOfAMechanicalModel) {
  const Model model = read(pendulum);
  EXPECT_EQ(model.name, "pendulum");
  EXPECT_EQ(model.kind, Kind::lagrangian);
  EXPECT_EQ(model.description, "free text");
  EXPECT_EQ(parameter(model, "l").value, 2.5);
  EXPECT_EQ(parameter(model, "l").unit, "m");
  EXPECT_EQ(parameter(model, "l").description, "rod");
  EXPECT_EQ(parameter(model, "w").value, std::sqrt(9.81 / 2.5));
  EXPECT_EQ(parameter(model, "k[3]").value, 4.0);
  EXPECT_EQ(parameter(model, "K[2,1]").value, 2.0);
  EXPECT_EQ(parameter(model, "K[2,2]").value, 4.0 + std::sqrt(9.81 / 2.5));
  EXPECT_EQ(model.numbers().at(parameter(model, "m").symbol.id()), 2.0);

  ASSERT_EQ(model.variables.size(), 2U);
  const Unknown &x = model.variables[0], &y = model.variables[1];
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.start[0].value, 0.86);
  EXPECT_TRUE(x.start[0].given);
  EXPECT_FALSE(x.start[0].fixed);
  EXPECT_EQ(x.start[1].value, 0.5);
  EXPECT_EQ(x.rates.size(), 2U);
  EXPECT_EQ(x.start.size(), 3U);
  EXPECT_FALSE(x.start[2].given);
  EXPECT_EQ(y.start[0].value, std::sqrt(2.5 * 2.5 - 0.86 * 0.86));
  EXPECT_TRUE(y.start[0].fixed);
  EXPECT_EQ(y.start[1].value, 1.0);
  EXPECT_TRUE(y.start[1].fixed);
  EXPECT_EQ(y.nominal, 2.0);
  EXPECT_EQ(y.atol, 1e-9);
  EXPECT_EQ(y.unit, "m");
  EXPECT_EQ(y.rates[1].name(), "der(y,2)");

  ASSERT_EQ(model.auxiliary.size(), 1U);
  EXPECT_EQ(model.auxiliary[0].start[0].value, 0.25);
  EXPECT_EQ(model.auxiliary[0].rates.size(), 1U);
  ASSERT_EQ(model.equations.size(), 1U);
  EXPECT_EQ(text(model.equations[0].left), "L*der(i_m)");

  ASSERT_EQ(model.constraints.size(), 2U);
  EXPECT_EQ(model.constraints[0].name, "rod");
  ASSERT_EQ(model.multipliers.size(), 2U);
  EXPECT_EQ(model.multipliers[1].name(), "lambda.skate");
  EXPECT_EQ(text(*model.kinetic), "m*(der(x)^2 + der(y)^2)/2");
  EXPECT_EQ(text(*model.dissipation), "c*der(x)^2/2");
  ASSERT_EQ(model.forces.size(), 1U);
  EXPECT_EQ(model.forces[0].name, "x");
  EXPECT_EQ(text(model.forces[0].value),
            "0.1*sin(" + text(model.graph->constant(200 * std::numbers::pi)) + "*t) - c*der(x) + c*(exp(i_m/w) - 1)");

  EXPECT_EQ(model.initial.size(), 1U);
  EXPECT_EQ(text(output(model, "pull").value), "2*l*lambda.rod");
  EXPECT_EQ(output(model, "pull").unit, "N");
  EXPECT_EQ(output(model, "push").value.name(), "reaction.rod.x");
  EXPECT_EQ(text(output(model, "speed").value), "l*cos(x)*der(x)");

  EXPECT_EQ(model.simulation.t_end, 2 * std::numbers::pi);
  EXPECT_EQ(model.simulation.formulation, "baumgarte:omega=2,xi=0.8");
  EXPECT_EQ(model.simulation.initialize, "check");
  ASSERT_EQ(model.plots.size(), 2U);
  EXPECT_EQ(model.plots[0].x, "angle");
  EXPECT_EQ(model.plots[0].y, std::vector<std::string>{"der(x)"});
  EXPECT_EQ(model.plots[1].x, "t");
  EXPECT_EQ(model.plots[1].y, std::vector<std::string>{"lambda.rod"});
  ASSERT_EQ(model.drawing.points.size(), 2U);
  EXPECT_EQ(model.drawing.lines, (std::vector<std::vector<std::string>>{{"pivot", "bob"}}));
  EXPECT_EQ(model.drawing.trails, std::vector<std::string>{"bob"});
  ASSERT_EQ(model.definitions.size(), 1U);
  EXPECT_EQ(model.definitions[0].name, "px");
}

TEST(Reader, KeepsTheOrderOfTheFile) {
  const Model model = read(
      "kind = \"dae\"\n[variables]\nzeta = 1\nalpha = 2\n\"m[i]\" = { for = \"i in 2..3\" }\nbeta = 3\n"
      "[equations]\nlast = \"zeta = 1\"\nfirst = \"alpha = 1\"\n\"e[i]\" = { for = \"i in 2..3\", equation = \"m[i] = "
      "i\" }\nb = \"beta = 1\"\n");
  std::vector<std::string> names;
  for (const Unknown& one : model.variables) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{"zeta", "alpha", "m[2]", "m[3]", "beta"}));
  names.clear();
  for (const Equation& one : model.equations) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{"last", "first", "e[2]", "e[3]", "b"}));
}

TEST(Reader, NameIsTheFileNameWhereNoneIsGiven) {
  EXPECT_EQ(read_model_text("kind = \"dae\"\n[variables]\nx = 0\n[equations]\ne = \"x\"\n", "folder/swing.toml").name,
            "swing");
}

TEST(Reader, FormatOneIsAccepted) {
  EXPECT_NO_THROW(read("format = 1\nkind = \"dae\"\n[variables]\nx = 0\n[equations]\ne = \"x\"\n"));
}

TEST(Reader, ReadsLagrangianInOnePiece) {
  const Model model = read(
      "kind = \"lagrangian\"\n[variables]\nx = 0\ny = 0\n[parameters]\nm = 1\ng = 9.81\n[lagrangian]\nlagrangian = "
      "\"m/2*(x'^2 + y'^2) - m*g*y\"\n");
  EXPECT_FALSE(model.kinetic);
  EXPECT_EQ(text(*model.lagrangian), "m*(der(x)^2 + der(y)^2)/2 - m*g*y");
}

TEST(Reader, MissingPotentialIsZero) {
  const Model model = read("kind = \"lagrangian\"\n[variables]\nx = 0\n[lagrangian]\nkinetic = \"x'^2/2\"\n");
  ASSERT_TRUE(model.potential);
  EXPECT_TRUE(model.potential->is_constant(0.0));
}

TEST(Reader, ReadsMassAndForce) {
  const std::string head =
      "kind = \"mechanical\"\n[parameters]\nm = 2\ng = 9.81\n[variables]\nx = 0\ny = 0\n[constraints]\nc = \"x^2 + y^2 "
      "= 1\"\n[mechanical]\nforce = [\"0\", \"-m*g\"]\n";
  const Model dense = read(head + "mass  = [[\"m\", \"0\"], [0, \"m\"]]\n");
  const Model sparse =
      read(head + "mass = { rows = 2, columns = \"1 + 1\", entries = [[2, 2, \"m\"], [1, 1, \"m\"]] }\n");
  for (const Model* model : {&dense, &sparse}) {
    EXPECT_EQ(model->mass.rows, 2U);
    EXPECT_EQ(model->mass.columns, 2U);
    ASSERT_EQ(model->mass.entries.size(), 2U);
    EXPECT_EQ(model->mass.entries[0].row, 0U);
    EXPECT_EQ(text(model->mass.entries[1].value), "m");
    EXPECT_EQ(text(model->force[1]), "-m*g");
  }
}

TEST(Reader, ReadsDaeWithInvariant) {
  const Model model = read(R"toml(
kind = "dae"
[variables]
x1 = 1
x2 = 0
z = 0
[equations]
e1 = "der(x1) = x2"
e2 = "der(x2) = z"
circle = "x1^2 + x2^2 = 1"
[invariants]
unit = "x1^2 + x2^2 = 1"
)toml");
  EXPECT_EQ(model.equations.size(), 3U);
  EXPECT_EQ(model.invariants.size(), 1U);
  EXPECT_EQ(unknown(model, "z").rates.size(), 0U);
}

TEST(Reader, ReadsLinear) {
  const std::string text_of_model = R"toml(
kind = "linear"
[parameters]
a = 2
[linear]
E = [[1,1,1],[1,1,1],[0,0,0]]
A = [["a",0,1],[1,1,0],[1,1,1]]
f = ["t", "t^3", "sin(t)"]
B = [[1],[0],[0]]
C = [[1,0,0]]
D = [[0]]
)toml";
  const Model model = read(text_of_model + "[variables]\nx1 = -1.0\nx2 = 0.0\nx3 = 1.0\n");
  EXPECT_EQ(model.E.entries.size(), 6U);
  EXPECT_EQ(text(model.A.entries[0].value), "a");
  EXPECT_EQ(text(model.f[1]), "t^3");
  EXPECT_EQ(model.B.rows, 3U);
  EXPECT_EQ(model.C.columns, 3U);
  EXPECT_EQ(model.D.entries.size(), 0U);
  EXPECT_EQ(model.variables[0].start[0].value, -1.0);
  EXPECT_EQ(model.variables[0].rates.size(), 1U);
  const Model unnamed = read(text_of_model);
  ASSERT_EQ(unnamed.variables.size(), 3U);
  EXPECT_EQ(unnamed.variables[2].name, "x3");
  const Model rectangular =
      read("kind = \"linear\"\n[linear]\nE = [[1, 0]]\nA = { rows = 1, columns = 2, entries = [[1, 2, 1.0]] }\n");
  EXPECT_EQ(rectangular.variables.size(), 2U);
  EXPECT_EQ(rectangular.f.size(), 1U);
}

TEST(Reader, ReadsEvents) {
  const Model model = read(R"toml(
kind = "dae"
[parameters]
Fs = 2
k = 3
Ts = 0.1
Kp = 4
r = 1
[discrete]
stuck = 1
cmd = "2*k"
[variables]
x = 0
y = 1
[equations]
a = "der(x) = cmd*stuck"
b = "der(y, 2) = -1"
[events]
bounce = { when = "y", direction = "down", reset = { "der(y)" = "-0.9*der(y)" } }
slip   = { when = "abs(k*x) >= Fs", reset = { stuck = 0 } }
sample = { every = "Ts", reset = { cmd = "Kp*(r - x)", "x'" = 1 } }
end    = { when = "x >= 3", stop = true }
)toml");
  ASSERT_EQ(model.discrete.size(), 2U);
  EXPECT_EQ(model.discrete[1].value, 6.0);
  EXPECT_EQ(model.numbers().at(model.discrete[1].symbol.id()), 6.0);
  ASSERT_EQ(model.events.size(), 4U);
  EXPECT_EQ(model.events[0].direction, "down");
  EXPECT_FALSE(model.events[0].when_is_condition);
  EXPECT_EQ(model.events[0].reset[0].first, "der(y)");
  EXPECT_TRUE(model.events[1].when_is_condition);
  EXPECT_EQ(text(*model.events[1].when), "Fs <= abs(k*x)");
  EXPECT_EQ(text(*model.events[2].every), "Ts");
  EXPECT_EQ(model.events[2].reset[1].first, "der(x)");
  EXPECT_TRUE(model.events[3].stop);
}

TEST(Reader, ReadsTables) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "daedalus_reader_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "log.csv") << "time,\"q1, raw\",q1\n0,9,1.5\n0.5,9,2.5\r\n1.0,9,-3e-1\n\n";
  const std::string model_text = R"toml(
kind = "dae"
[tables]
path = { file = "log.csv", x = "time", y = "q1", interpolation = "spline", outside = "error" }
map  = { x = [0, 1, 2], y = [0, 1, 4], interpolation = "monotone" }
[variables]
x = 0
[equations]
e = "x = path(t) + map(2*t)"
)toml";
  const Model model = read_model_text(model_text, "m.toml", {}, folder.string());
  ASSERT_EQ(model.tables.size(), 2U);
  EXPECT_EQ(model.tables[0].y, (std::vector<double>{1.5, 2.5, -0.3}));
  EXPECT_EQ(model.tables[0].outside, "error");
  EXPECT_EQ(model.tables[1].x, (std::vector<double>{0, 1, 2}));
  EXPECT_EQ(model.tables[1].outside, "hold");
  EXPECT_EQ(text(model.equations[0].right), "path(t) + map(2*t)");

  std::ofstream(folder / "model.toml") << model_text;
  EXPECT_EQ(read_model((folder / "model.toml").string()).tables[0].x.size(), 3U) << "a file is found beside the model";
  std::ofstream(folder / "log.csv") << "time,q1\n0,abc\n";
  EXPECT_THROW(read_model((folder / "model.toml").string()), Error);
  std::filesystem::remove_all(folder);
}

TEST(Reader, StartsMayUseEachOther) {
  const Model model = read(R"toml(
kind = "dae"
[parameters]
l = 2
[definitions]
twice = "2*b"
[inputs]
u = "3 + t"
[variables]
a = "twice + u"
b = "l + t_start"
"der(a)" = "der(b)*2"
"der(b)" = "l^2"
[equations]
e = "der(a) = b"
f = "der(b) = a"
[simulation]
t_start = 10
)toml");
  EXPECT_EQ(unknown(model, "b").start[0].value, 12.0);
  EXPECT_EQ(unknown(model, "a").start[0].value, 24.0 + 13.0);
  EXPECT_EQ(unknown(model, "a").start[1].value, 8.0);
}

TEST(Reader, ArgumentsShadowNamesOfTheModel) {
  const Model model = read(R"toml(
kind = "dae"
[parameters]
u = 5
[definitions]
"square(u)" = "u^2"
"both(u, v)" = "square(u) + square(v)"
[variables]
x = 0
[equations]
e = "x = both(x, 3) + u"
)toml");
  EXPECT_EQ(text(model.equations[0].right), "x^2 + 9 + u");
}

TEST(Reader, LambdaIsAFreeNameInADae) {
  EXPECT_NO_THROW(read("kind = \"dae\"\n[variables]\nlambda = 0\n[equations]\ne = \"lambda = 1\"\n"));
}

TEST(Reader, NotATextFile) {
  EXPECT_EQ(codes_of("kind = \"d\xff\"\n"), std::vector<std::string>{"not-text"});
  EXPECT_EQ(codes_of(std::string("kind = \"dae\"\0", 13)), std::vector<std::string>{"not-text"});
  try {
    read_model("no/such/model.toml");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.faults()[0].code, "file-not-found");
  }
  try {
    read_model(std::filesystem::temp_directory_path().string());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.faults()[0].code, "file-not-found");
  }
}

TEST(Reader, RubbishIsAnErrorAndNeverACrash) {
  for (const std::string rubbish : {"[,", "[", "]", "=", "\"", "[[", "a = [", "a = {", "a.", "[a.b", "\n\n[a]\n[a]",
                                    "kind", "x = \"\"\"", "'", "#", "{}"})
    EXPECT_THROW(read(rubbish), Error) << rubbish;
  std::string dots = "a";
  for (int i = 0; i < 100000; ++i) dots += ".a";
  EXPECT_THROW(read(dots + " = 1"), Error);
  EXPECT_THROW(read("a = " + std::string(100000, '[')), Error);
}

TEST(Reader, AByteOrderMarkIsSkipped) {
  EXPECT_NO_THROW(read("\xEF\xBB\xBFkind = \"dae\"\n[variables]\nx = 0\n[equations]\ne = \"x\"\n"));
}

}  // namespace
}  // namespace daedalus::model
