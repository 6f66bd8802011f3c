#include "daedalus/structure/linear_solution.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "daedalus/linalg/matrix_parts.hpp"
#include "daedalus/model/reader.hpp"
#include "unit/structure/random_pencil.hpp"

namespace daedalus::structure {
namespace {

using Number = linalg::DoubleDouble;

model::Model read(const std::string& text) { return model::read_model_text(text, "test.toml"); }

std::shared_ptr<const LinearSolution> solution_of(const std::string& text) {
  return linear_solution(compile_dae(std::make_shared<const model::Model>(read(text))));
}

/// F w(t) of functions given as texts, beside their own values.
void expect_forcing(const std::vector<std::string>& texts, std::size_t functions) {
  std::string rows, list;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    rows += "x" + std::to_string(i) + " = 0\n";
    list += "e" + std::to_string(i) + " = \"der(x" + std::to_string(i) + ") = " + texts[i] + "\"\n";
  }
  const model::Model model = read("kind = \"dae\"\n[parameters]\na = -0.5\nw = 3\n[variables]\n" + rows + "[equations]\n" + list);
  const auto dae = compile_dae(std::make_shared<const model::Model>(model));
  const auto form = linear_form(*dae);
  ASSERT_TRUE(form);
  const auto forcing = forcing_of(form->f, dae->equations.t, dae->model->numbers());
  ASSERT_TRUE(forcing);
  EXPECT_EQ(forcing->basis.size(), functions);
  compile::Switches switches = dae->switches;
  const auto numbers = dae->model->numbers();
  const compile::Function f = compile::compile({{{dae->equations.t}}, form->f, &numbers}, switches);
  auto scratch = f.make_scratch();
  for (const double t : {-1.3, 0.0, 0.4, 2.5}) {
    std::vector<double> expected(texts.size());
    const double* inputs[] = {&t};
    f(inputs, expected.data(), scratch);
    std::vector<Number> w, w_later;
    forcing->at(t, w);
    const std::vector<Number> values = linalg::times(forcing->F, w);
    for (std::size_t i = 0; i < texts.size(); ++i)
      EXPECT_NEAR(double(values[i]), expected[i], 1e-13 * (1.0 + std::abs(expected[i]))) << texts[i] << " at " << t;
    // w' = S w: w(t + h) by the exponential.
    linalg::Exponential<Number> exponential(forcing->S);
    exponential.apply(0.25, w);
    forcing->at(t + 0.25, w_later);
    for (std::size_t k = 0; k < w.size(); ++k) EXPECT_LT(std::abs(double(w[k] - w_later[k])), 1e-27 * (1.0 + std::abs(double(w[k]))));
  }
}

TEST(Forcing, PolynomialsExponentialsAndWaves) {
  expect_forcing({"1 + 2*t - t^3/3"}, 4);
  expect_forcing({"exp(a*t + 1)*(2 - t)"}, 2);
  expect_forcing({"sin(w*t + 0.3)*cos(w*t)"}, 3);       // a constant and two waves of 2 w
  expect_forcing({"t^2*exp(-t)*sin(2*t)"}, 6);          // all powers up to 2 of both waves
  expect_forcing({"cosh(2*t) - sinh(t)^2"}, 3);         // e^(2t), e^(-2t), 1
  expect_forcing({"sqrt(2)*t", "sin(t)", "0"}, 4);      // 1, t and both waves
}

TEST(Forcing, OtherFunctionsAreNotTakenForThese) {
  for (const std::string text : {"sin(t^2)", "sqrt(1 + t^2)", "1/(1 + t)", "abs(t)", "if(t < 1, 0, 1)", "t^0.5"}) {
    const auto model = std::make_shared<const model::Model>(
        read("kind = \"dae\"\n[variables]\nx = 0\n[equations]\ne = \"der(x) = " + text + "\"\n"));
    const auto dae = compile_dae(model);
    const auto form = linear_form(*dae);
    ASSERT_TRUE(form);
    EXPECT_FALSE(forcing_of(form->f, dae->equations.t, model->numbers())) << text;
  }
}

TEST(LinearForm, OnlyConstantCoefficients) {
  const auto recognised = [](const std::string& equation) {
    return linear_form(*compile_dae(std::make_shared<const model::Model>(
        read("kind = \"dae\"\n[parameters]\nk = 2\n[discrete]\nd = 1\n[variables]\nx = 0\n[equations]\ne = \"" + equation + "\"\n")))).has_value();
  };
  EXPECT_TRUE(recognised("k^2*der(x) = -x + sin(t)"));
  EXPECT_TRUE(recognised("der(x, 2) + k*der(x) + x = d*t"));
  EXPECT_FALSE(recognised("der(x) = -t*x"));
  EXPECT_FALSE(recognised("der(x) = -d*x"));
  EXPECT_FALSE(recognised("der(x) = x^2"));
  EXPECT_FALSE(recognised("x*der(x) = 1"));
}

TEST(LinearForm, ParametersDecideWhatIsLinear) {
  // x^n with n = 1, and the branch that a parameter has chosen; the analysis of the pencil takes numbers for parameters, too.
  const auto solution = [](const std::string& n) {
    return solution_of("kind = \"dae\"\n[parameters]\nn = " + n +
                       "\n[variables]\nx = 1\nz = 0\n[equations]\na = \"der(x) = if(n < 2, -x, x^2)\"\nb = \"z^n = 2*x\"\n");
  };
  const auto linear = solution("1");
  ASSERT_TRUE(linear);
  EXPECT_EQ(linear->n1(), 1u);
  EXPECT_EQ(linear->parts.index, 1);
  EXPECT_FALSE(solution("2"));
}

TEST(Decoupling, SatisfiesItsEquations) {
  // x1' = x2 + f1, 0 = x1 + f2: index 2, and x3' = -x3 beside it, mixed by hand.
  auto E = linalg::BasicMatrix<Number>::zero(3, 3), A = E;
  E(0, 0) = 1.0, E(2, 0) = 1.0, E(2, 2) = 1.0;
  A(0, 1) = 1.0, A(1, 0) = 1.0, A(2, 1) = 1.0, A(2, 2) = -1.0;
  const auto parts = decouple(E, A);
  ASSERT_TRUE(parts);
  EXPECT_EQ(parts->index, 2);
  EXPECT_EQ(parts->nilpotent_blocks, std::vector<std::size_t>{2});
  ASSERT_EQ(parts->n1(), 1u);
  EXPECT_NEAR(double(parts->J(0, 0)), -1.0, 1e-30);
  const auto expect = [](const linalg::BasicMatrix<Number>& found, const linalg::BasicMatrix<Number>& wanted) {
    for (std::size_t k = 0; k < found.entries.size(); ++k) EXPECT_LT(std::abs(double(found.entries[k] - wanted.entries[k])), 1e-29);
  };
  expect(parts->L1 * (E * parts->V), linalg::BasicMatrix<Number>::identity(1));
  expect(parts->L2 * (E * parts->V), linalg::BasicMatrix<Number>::zero(2, 1));
  expect(parts->L1 * (E * parts->W), linalg::BasicMatrix<Number>::zero(1, 2));
  expect(parts->L2 * (A * parts->W), linalg::BasicMatrix<Number>::identity(2));
  expect(parts->N * parts->N, linalg::BasicMatrix<Number>::zero(2, 2));
}

TEST(Decoupling, NothingForASingularPencil) {
  auto E = linalg::BasicMatrix<Number>::zero(2, 2), A = E;
  E(0, 0) = 1.0;
  A(0, 1) = 1.0;
  EXPECT_FALSE(decouple(E, A));
}

TEST(Decoupling, EntriesThatWereRoundedHaveTheRanksOfTheStaircase) {
  // Double precision hides the zeros of the structure behind 1e-16, which 31 digits would see as numbers.
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const testing::KnownPencil known = testing::random_regular_pencil(seed, 0.0);
    const auto parts = decouple(known.pencil);
    ASSERT_TRUE(parts) << seed;
    EXPECT_EQ(parts->nilpotent_blocks, known.nilpotent_blocks) << seed;
    EXPECT_EQ(parts->n1(), known.simple.size() + known.multiple.size()) << seed;
    // L E V = I with 31 digits; what mixes both parts is the rounding of the entries, grown by the condition.
    const auto E = linalg::converted<Number>(known.pencil.E);
    const auto one = parts->L1 * (E * parts->V), mixed = parts->L1 * (E * parts->W);
    for (std::size_t i = 0; i < parts->n1(); ++i) {
      EXPECT_NEAR(double(one(i, i)), 1.0, 1e-20 * parts->condition) << seed;
      for (std::size_t j = 0; j < parts->n2(); ++j) EXPECT_LT(std::abs(double(mixed(i, j))), 1e-15 * parts->condition * parts->condition) << seed;
    }
  }
}

TEST(LinearFlow, DerivativesOfAHighOrderAreFinite) {
  // x1 = -f^(5) with f = log(2 + t): squares of squares of the denominator would overflow.
  const auto solution = solution_of(R"toml(
kind = "linear"
[linear]
E = [[0,1,0,0,0,0],[0,0,1,0,0,0],[0,0,0,1,0,0],[0,0,0,0,1,0],[0,0,0,0,0,1],[0,0,0,0,0,0]]
A = [[1,0,0,0,0,0],[0,1,0,0,0,0],[0,0,1,0,0,0],[0,0,0,1,0,0],[0,0,0,0,1,0],[0,0,0,0,0,1]]
f = ["0", "0", "0", "0", "0", "log(2 + t)"]
)toml");
  ASSERT_TRUE(solution);
  LinearFlow flow(solution);
  std::vector<std::vector<double>> y;
  ASSERT_TRUE(flow.states(0.0, {}, 7, y));
  for (std::size_t i = 0; i < 6; ++i) {
    if (solution->functions->unknowns[i].name != "x1") continue;
    EXPECT_NEAR(y[0][i], -24.0 / 32.0, 1e-15);
  }
}

TEST(LinearFlow, DerivativesThatDoNotEnterMayBeInfinite) {
  // x2 = t^1.5 has one derivative at 0, and x1' = -x1 + x2 needs no more.
  const auto solution = solution_of("kind = \"linear\"\n[linear]\nE = [[1, 0], [0, 0]]\nA = [[-1, 1], [0, 1]]\nf = [\"0\", \"-t^1.5\"]\n");
  ASSERT_TRUE(solution);
  LinearFlow flow(solution);
  std::vector<std::vector<double>> y;
  EXPECT_TRUE(flow.states(0.0, {Number(0.0)}, 1, y));
  std::vector<Number> x1{Number(0.0)};
  double error = 0.0;
  EXPECT_TRUE(flow.advance(0.0, 1.0, x1, error));
  EXPECT_TRUE(flow.states(1.0, x1, 1, y, error));
  // The infinite ones do not count in the bound either: that of f and of the quadrature, with numbers up to 1.
  EXPECT_LT(flow.error_bound(), 1e-14);
}

TEST(LinearFlow, QuadratureAgreesWithTheExponential) {
  // The same f once as a wave and once hidden from recognition: log(exp(...)).
  const auto text = [](const std::string& f) {
    return "kind = \"dae\"\n[variables]\nx = 0\ny = 0\nz = 0\n[equations]\na = \"der(x) = y\"\nb = \"der(y) = -4*x - 0.1*y + " + f +
           "\"\nc = \"z = x + " + f + "\"\n";
  };
  const auto plain = solution_of(text("cos(3*t)")), hidden = solution_of(text("log(exp(cos(3*t)))"));
  ASSERT_TRUE(plain && hidden);
  EXPECT_TRUE(plain->forcing);
  EXPECT_FALSE(hidden->forcing);
  LinearFlow one(plain), other(hidden);
  const double start[] = {1.0, 0.0, 0.0};
  auto x1 = one.differential_part(start), y1 = other.differential_part(start);
  double errors[2] = {0.0, 0.0};
  ASSERT_TRUE(one.advance(0.0, 7.0, x1, errors[0]));
  ASSERT_TRUE(other.advance(0.0, 7.0, y1, errors[1]));
  std::vector<std::vector<double>> x, y;
  ASSERT_TRUE(one.states(7.0, x1, 1, x));
  ASSERT_TRUE(other.states(7.0, y1, 1, y));
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(x[k][i], y[k][i], 1e-13) << k << " " << i;  // f itself is rounded to 1e-16
}

TEST(LinearFlow, ImpulsesOfAnInconsistentStart) {
  // 0 = x1 - t, x1' = x2, x2' = x3 started at x1 = 1: x1 jumps by -1, so x2 has -delta and x3 its derivative.
  const auto solution = solution_of(
      "kind = \"dae\"\n[variables]\nx1 = 1\nx2 = 1\nx3 = 0\n[equations]\na = \"x1 = t\"\nb = \"der(x1) = x2\"\nc = \"der(x2) = x3\"\n");
  ASSERT_TRUE(solution);
  EXPECT_EQ(solution->parts.index, 3);
  LinearFlow flow(solution);
  const double start[] = {1.0, 1.0, 0.0};
  const auto impulses = flow.impulses(flow.algebraic_part(start), flow.consistent_part(0.0));
  ASSERT_EQ(impulses.size(), 3u);
  EXPECT_DOUBLE_EQ(impulses[0].jump, -1.0);
  EXPECT_TRUE(impulses[0].strengths.empty());
  EXPECT_EQ(impulses[1].jump, 0.0);
  ASSERT_EQ(impulses[1].strengths.size(), 1u);
  EXPECT_DOUBLE_EQ(impulses[1].strengths[0], -1.0);
  ASSERT_EQ(impulses[2].strengths.size(), 2u);
  EXPECT_EQ(impulses[2].strengths[0], 0.0);
  EXPECT_DOUBLE_EQ(impulses[2].strengths[1], -1.0);
}

}  // namespace
}  // namespace daedalus::structure
