#include "daedalus/model/builder.hpp"

#include "unit/model/helpers.hpp"

namespace daedalus::model {
namespace {

using expr::atan2;
using expr::pow;

std::vector<std::string> codes(const Builder& builder) {
  try {
    builder.build();
  } catch (const Error& error) {
    std::vector<std::string> result;
    for (const Fault& fault : error.faults()) result.push_back(fault.code);
    return result;
  }
  return {};
}

TEST(Builder, BuildsWhatTheReaderReads) {
  Builder b("pendulum");
  const Expr m = b.parameter("m", 2.0), l = b.parameter("l", 2.5), g = b.parameter("g", 9.81);
  const Expr x = b.variable("x", {.start = 0.86, .fixed = true}), y = b.variable("y", {.start = 2.35});
  b.kinetic(m / 2.0 * (pow(b.der(x), 2.0) + pow(b.der(y), 2.0)));
  b.potential(m * g * y);
  b.dissipation(0.1 * pow(b.der(x), 2.0));
  b.force(y, -b.der(y));
  const Expr lambda = b.constraint("rod", pow(x, 2.0) + pow(y, 2.0), pow(l, 2.0));
  b.start(b.der(x), 1.0);
  b.fix(b.der(y), 0.0);
  b.initial("angle", atan2(x, -y), b.constant(0.5));
  b.output("angle", atan2(x, -y));
  b.output("pull", 2.0 * l * lambda);
  b.output("push", b.reaction("rod", x));
  const Model built = b.build();

  const Model model = read(R"toml(
name = "pendulum"
kind = "lagrangian"
[parameters]
m = 2
l = 2.5
g = 9.81
[variables]
x = { start = 0.86, fixed = true }
y = 2.35
"x'" = 1
"y'" = { start = 0, fixed = true }
[lagrangian]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*g*y"
dissipation = "0.1*x'^2"
[lagrangian.forces]
y = "-y'"
[constraints]
rod = "x^2 + y^2 = l^2"
[initial]
angle = "atan2(x, -y) = 0.5"
[outputs]
angle = "atan2(x, -y)"
pull = "2*l*lambda.rod"
push = "reaction.rod.x"
)toml");
  EXPECT_EQ(built.name, model.name);
  EXPECT_EQ(text(*built.kinetic), text(*model.kinetic));
  EXPECT_EQ(text(*built.potential), text(*model.potential));
  EXPECT_EQ(text(*built.dissipation), text(*model.dissipation));
  EXPECT_EQ(text(built.forces[0].value), text(model.forces[0].value));
  EXPECT_EQ(text(built.constraints[0].residual), text(model.constraints[0].residual));
  EXPECT_EQ(text(built.initial[0].residual), text(model.initial[0].residual));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(text(built.outputs[i].value), text(model.outputs[i].value));
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(built.variables[i].rates.size(), model.variables[i].rates.size());
    for (std::size_t k = 0; k <= model.variables[i].rates.size(); ++k) {
      EXPECT_EQ(built.variables[i].start[k].value, model.variables[i].start[k].value);
      EXPECT_EQ(built.variables[i].start[k].fixed, model.variables[i].start[k].fixed);
    }
  }
  EXPECT_EQ(built.multipliers[0].name(), "lambda.rod");
}

TEST(Builder, BuildsOtherKinds) {
  Builder dae("circle", Kind::dae);
  const Expr u = dae.variable("u", {.start = 1.0}), v = dae.variable("v");
  dae.equation("first", dae.der(u, 2), v);
  dae.equation("circle", pow(u, 2.0) + pow(v, 2.0), dae.constant(1.0));
  dae.invariant("energy", u * dae.der(u), dae.time());
  EXPECT_EQ(dae.build().variables[0].rates.size(), 2U);

  Builder mechanical("mass", Kind::mechanical);
  const Expr q = mechanical.variable("q"), s = mechanical.variable("s");
  mechanical.mass(q, q, mechanical.constant(2.0));
  mechanical.mass(s, s, mechanical.constant(3.0));
  mechanical.force(s, -s);
  const Model body = mechanical.build();
  EXPECT_EQ(body.mass.rows, 2U);
  EXPECT_TRUE(body.force[0].is_constant(0.0));
  EXPECT_EQ(text(body.force[1]), "-s");

  Builder linear("pencil", Kind::linear);
  linear.variable("x1");
  linear.variable("x2");
  linear.linear({{1, 0}, {0, 0}}, {{0, 1}, {1, 0}}, {linear.constant(0.0), linear.time()});
  EXPECT_EQ(linear.build().A.entries.size(), 2U);
}

TEST(Builder, FaultsAreThoseOfTheReader) {
  using Codes = std::vector<std::string>;
  Builder empty("empty");
  EXPECT_EQ(codes(empty), (Codes{"no-variables", "missing-key"}));

  Builder twice("twice");
  twice.parameter("x", 1.0);
  const Expr x = twice.variable("x");
  twice.kinetic(pow(twice.der(x), 2.0));
  EXPECT_EQ(codes(twice), Codes{"duplicate-name"});

  Builder reserved("reserved");
  const Expr sine = reserved.variable("sin");
  reserved.kinetic(pow(reserved.der(sine), 2.0));
  EXPECT_EQ(codes(reserved), Codes{"reserved-name"});

  Builder quartic("quartic");
  const Expr y = quartic.variable("y");
  quartic.kinetic(pow(quartic.der(y), 4.0));
  EXPECT_EQ(codes(quartic), Codes{"not-quadratic"});

  Builder wrong("wrong");
  const Expr z = wrong.variable("z");
  wrong.kinetic(pow(wrong.der(z), 2.0));
  wrong.force(z, wrong.constraint("c", z, sin(wrong.time())));
  wrong.output("o", wrong.multiplier("d"));
  EXPECT_EQ(codes(wrong), Codes{"unknown-name"});
  Builder force("force");
  const Expr w = force.variable("w");
  force.kinetic(pow(force.der(w), 2.0));
  force.force(w, force.constraint("c", w, sin(force.time())));
  EXPECT_EQ(codes(force), Codes{"multiplier-not-allowed"});

  Builder few("few", Kind::dae);
  few.variable("a");
  EXPECT_EQ(codes(few), Codes{"too-few-equations"});
}

}  // namespace
}  // namespace daedalus::model
