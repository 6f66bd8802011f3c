// M, C, gradient, G and gamma against formulas derived by hand, as numbers and as text.
//
// Both sides evaluate a few products of rounded numbers of the same size; 1e-14 of the largest entry is 45 units in the
// last place.

#include "daedalus/expr/print.hpp"
#include "daedalus/expr/tidy.hpp"
#include "unit/mechanics/tools.hpp"

namespace daedalus::tests {
namespace {

constexpr double tolerance = 1e-14;

struct Hand {
  std::vector<std::vector<double>> M, C, G;
  std::vector<double> gradient, gamma;
};

void compare(const Equations& equations, const Point& at, const Hand& hand) {
  const mechanics::ForceTerms terms = mechanics::force_terms(equations);
  const auto matrix = [&](const expr::SparseExpr& actual, const std::vector<std::vector<double>>& expected,
                          const std::string& name) {
    ASSERT_EQ(actual.rows, expected.size()) << name;
    double size = 0.0;
    for (const auto& row : expected)
      for (const double value : row) size = std::max(size, std::abs(value));
    for (std::size_t i = 0; i < expected.size(); ++i)
      for (std::size_t j = 0; j < expected[i].size(); ++j)
        expect_close(at(actual.at(i, j)), expected[i][j], size, tolerance,
                     name + std::to_string(i + 1) + std::to_string(j + 1));
  };
  matrix(equations.M, hand.M, "M");
  matrix(terms.C, hand.C, "C");
  matrix(equations.G, hand.G, "G");
  ASSERT_EQ(terms.gradient.size(), hand.gradient.size());
  double force = 0.0;
  for (const double value : hand.gradient) force = std::max(force, std::abs(value));
  for (std::size_t i = 0; i < hand.gradient.size(); ++i)
    expect_close(at(terms.gradient[i]), hand.gradient[i], force, tolerance, "dV/dq" + std::to_string(i + 1));
  ASSERT_EQ(equations.constraints.size(), hand.gamma.size());
  for (std::size_t i = 0; i < hand.gamma.size(); ++i)
    expect_close(at(equations.constraints[i].gamma), hand.gamma[i], std::max(1.0, std::abs(hand.gamma[i])), tolerance,
                 "gamma");
}

TEST(HandDerived, Pendulum) {
  const Equations equations = derived_file("pendulum");
  for (unsigned seed = 1; seed < 6; ++seed) {
    const Point at(equations, seed);
    const double m = at["m"], g = at["g"], x = at["x"], y = at["y"], vx = at["der(x)"], vy = at["der(y)"];
    compare(equations, at,
            {{{m, 0}, {0, m}}, {{0, 0}, {0, 0}}, {{2 * x, 2 * y}}, {0, m * g}, {-2 * (vx * vx + vy * vy)}});
  }
  EXPECT_EQ(expr::to_text(equations.M.at(0, 0)), "m");
  EXPECT_FALSE(equations.M.at(0, 1).valid());
  EXPECT_EQ(expr::to_text(equations.G.at(0, 0)), "2*x");
  EXPECT_EQ(expr::to_text(equations.G.at(0, 1)), "2*y");
  EXPECT_EQ(expr::to_text(equations.constraints[0].velocity), "2*x*der(x) + 2*y*der(y)");
  EXPECT_EQ(expr::to_text(equations.constraints[0].gamma), "-(2*der(x)^2 + 2*der(y)^2)");
  EXPECT_EQ(mechanics::force_terms(equations).C.value.size(), 0u);
  EXPECT_TRUE(equations.conservative);
}

/// T = (m1 + m2) l^2 th1'^2/2 + m2 l^2 (th2'^2 + 2 th1' th2' cos(th2 - th1))/2. With s = sin(th2 - th1):
/// d/dt(dT/dth1') has m2 l^2 (th2'' cos - th2' (th2' - th1') s), dT/dth1 = m2 l^2 th1' th2' s: together -m2 l^2 s
/// th2'^2; likewise +m2 l^2 s th1'^2 in the second equation.
Hand slider_crank(const Point& at) {
  const double m1 = at["m1"], m2 = at["m2"], l = at["l"], g = at["g_v"], a = at["theta1"], b = at["theta2"];
  const double s = std::sin(b - a), c = std::cos(b - a);
  Hand hand;
  hand.M = {{(m1 + m2) * l * l, m2 * l * l * c}, {m2 * l * l * c, m2 * l * l}};
  hand.C = {{0, -m2 * l * l * s * at["der(theta2)"]}, {m2 * l * l * s * at["der(theta1)"], 0}};
  hand.gradient = {(m1 + m2) * g * l * std::sin(a), m2 * g * l * std::sin(b)};
  return hand;
}

TEST(HandDerived, SliderCrankWithBothConstraints) {
  const Equations angles = derived_file("slider_crank"), position = derived_file("slider_crank_position");
  for (unsigned seed = 1; seed < 6; ++seed) {
    Point at(angles, seed);
    at.set("m2", 1.7);
    at.set("l", 0.6);
    Hand hand = slider_crank(at);
    hand.G = {{1, 1}};
    hand.gamma = {0};
    compare(angles, at, hand);

    Point there(position, seed);
    hand = slider_crank(there);
    const double a = there["theta1"], b = there["theta2"], va = there["der(theta1)"], vb = there["der(theta2)"];
    hand.G = {{-std::sin(a), -std::sin(b)}};
    hand.gamma = {std::cos(a) * va * va + std::cos(b) * vb * vb};
    compare(position, there, hand);
  }
  EXPECT_EQ(expr::to_text(angles.M.at(0, 0)), "(m1 + m2)*l^2");
  EXPECT_EQ(expr::to_text(angles.M.at(0, 1)), "m2*l^2*cos(theta2 - theta1)");
  EXPECT_EQ(expr::to_text(angles.M.at(1, 1)), "m2*l^2");
  EXPECT_EQ(angles.M.at(0, 1), angles.M.at(1, 0));
  // what cancels by Christoffel's formula is not there
  const mechanics::ForceTerms terms = mechanics::force_terms(angles);
  EXPECT_EQ(terms.C.value.size(), 2u);
  EXPECT_TRUE(terms.C.at(0, 1).valid());
  EXPECT_TRUE(terms.C.at(1, 0).valid());
}

/// By hand, with masses m below each joint: M_ij = m l^2 (4 - max(i,j)) cos(th_i - th_j), C_ij = m l^2 (4 - max(i,j))
/// sin(th_i - th_j) th_j', gradient_i = (4 - i) m g l sin(th_i), i and j from 1.
TEST(HandDerived, ChainOfThreeLinksInAngles) {
  const Equations equations = derived_file("chain_minimal");
  for (unsigned seed = 1; seed < 6; ++seed) {
    Point at(equations, seed);
    const double m = at["m"], l = at["l"], g = at["g"];
    Hand hand;
    hand.M.assign(3, std::vector<double>(3));
    hand.C = hand.M;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string name = "th[" + std::to_string(i + 1) + "]";
      hand.gradient.push_back((3.0 - static_cast<double>(i)) * m * g * l * std::sin(at[name]));
      for (std::size_t j = 0; j < 3; ++j) {
        const std::string other = "th[" + std::to_string(j + 1) + "]";
        const double below = m * l * l * (3.0 - static_cast<double>(std::max(i, j)));
        hand.M[i][j] = below * std::cos(at[name] - at[other]);
        hand.C[i][j] = below * std::sin(at[name] - at[other]) * at["der(" + other + ")"];
      }
    }
    compare(equations, at, hand);
  }
}

/// As `derive` prints them: like a person would.
TEST(HandDerived, PrintedAsByHand) {
  const auto printed = [](Expr e) { return expr::to_text(expr::tidy(e)); };
  const Equations chain = derived_file("chain_minimal");
  const mechanics::ForceTerms terms = mechanics::force_terms(chain);
  EXPECT_EQ(printed(chain.M.at(0, 0)), "3*l^2*m");
  EXPECT_EQ(printed(chain.M.at(0, 1)), "2*l^2*m*cos(th[1] - th[2])");
  EXPECT_EQ(printed(chain.M.at(2, 1)), "l^2*m*cos(th[2] - th[3])");
  EXPECT_EQ(printed(terms.C.at(0, 1)), "2*l^2*m*sin(th[1] - th[2])*der(th[2])");
  EXPECT_EQ(printed(terms.C.at(1, 1)), "0");
  EXPECT_EQ(printed(terms.gradient[0]), "3*l*m*g*sin(th[1])");
}

/// Every printed expression means what it was printed from: read back as an output of the same model, it has the same
/// value to the last digits.
TEST(HandDerived, PrintedTextReadsBack) {
  for (const std::string name : {"pendulum", "slider_crank", "slider_crank_position", "chain_minimal"}) {
    const Equations equations = derived_file(name);
    const mechanics::ForceTerms terms = mechanics::force_terms(equations);
    std::vector<Expr> all = equations.M.value;
    for (const auto* more : {&equations.G.value, &terms.C.value, &terms.gradient, &equations.f})
      all.insert(all.end(), more->begin(), more->end());
    for (const mechanics::Constraint& constraint : equations.constraints) all.push_back(constraint.gamma);
    std::string outputs = "[outputs]\n";
    for (std::size_t k = 0; k < all.size(); ++k)
      outputs += "printed" + std::to_string(k) + " = \"" + expr::to_text(all[k]) + "\"\n";
    std::string text = "kind = \"lagrangian\"\n[parameters]\n";
    for (const model::Parameter& parameter : equations.model->parameters)
      if (parameter.name != "N") text += parameter.name + " = " + std::to_string(parameter.value) + "\n";
    text += "[variables]\n";
    for (const Expr& q : equations.q) text += "\"" + q.name() + "\" = 0.1\n";
    text += "[lagrangian]\nkinetic = \"";
    for (const Expr& v : equations.v) text += (v == equations.v.front() ? "" : " + ") + v.name() + "^2";
    const Equations again = derived(text + "\"\n" + outputs);
    ASSERT_EQ(again.model->outputs.size(), all.size());
    const Point at(equations, 7);
    Point there(again, 7);
    for (const model::Parameter& parameter : equations.model->parameters)
      if (parameter.name != "N") there.set(parameter.name, parameter.value);
    for (std::size_t i = 0; i < equations.q.size(); ++i) {
      there.set(again.q[i], at(equations.q[i]));
      there.set(again.v[i], at(equations.v[i]));
    }
    for (std::size_t k = 0; k < all.size(); ++k)
      expect_close(there(again.model->outputs[k].value), at(all[k]), std::abs(at(all[k])) + 1.0, tolerance, outputs);
  }
}

}  // namespace
}  // namespace daedalus::tests
