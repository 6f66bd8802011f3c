#include "daedalus/solve/tableau_method.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "daedalus/integrate/loop.hpp"

namespace daedalus::solve {
namespace {

integrate::IntegratorEntry method_of(const std::string& text) {
  return tableau_method(model::read_tableau_text(text, "mine.toml"));
}

/// The messages of all faults, in order.
std::string faults_of(const std::string& text) {
  try {
    method_of(text);
    return "accepted";
  } catch (const Error& error) {
    std::string all;
    for (const Fault& fault : error.faults())
      all += fault.code + " " + std::to_string(fault.place.line) + ": " + fault.message + "\n";
    return all;
  }
}

const char* const rk38 = R"(
name = "three eighths"
order = 4
A = [[], ["1/3"], ["-1/3", 1], [1, -1, 1]]
b = ["1/8", "3/8", "3/8", "1/8"]
)";

TEST(TableauFile, ExplicitMethod) {
  const integrate::IntegratorEntry entry = method_of(rk38);
  EXPECT_EQ(entry.name, "three eighths");
  EXPECT_EQ(entry.order, 4);
  EXPECT_EQ(entry.stages, 4);
  EXPECT_FALSE(entry.implicit);
  EXPECT_FALSE(entry.adaptive);
  const integrate::Tableau& known = *integrate::integrator("rk38").tableau;
  EXPECT_EQ(entry.tableau->a, known.a);
  EXPECT_EQ(entry.tableau->b, known.b);
  EXPECT_EQ(entry.tableau->text.a[1][0], "1/3");
  EXPECT_NEAR(entry.stability_radius, 2.7853, 1e-3);
}

TEST(TableauFile, ImplicitMethodWithRoots) {
  const integrate::IntegratorEntry entry = method_of(R"(
A = [["1/4", "1/4 - sqrt(3)/6"], ["1/4 + sqrt(3)/6", 0.25]]
b = [0.5, 0.5]
c = ["1/2 - sqrt(3)/6", "1/2 + sqrt(3)/6"]
)");
  EXPECT_EQ(entry.name, "mine");
  EXPECT_EQ(entry.order, 4);
  EXPECT_TRUE(entry.implicit);
  EXPECT_TRUE(has_property(entry, "symplectic"));
  EXPECT_TRUE(has_property(entry, "A-stable"));

  integrate::System system;
  system.dimension = 1;
  system.ode = [](double, const double* x, double* dx) {
    dx[0] = -x[0];
    return integrate::Evaluation::ok;
  };
  const auto stepper =
      integrate::make_stepper(entry, system, Options(Choice{entry.name, {}}, {}), integrate::Control::fixed);
  std::vector<double> x{1.0};
  integrate::LoopOptions options;
  options.t_end = 1.0;
  options.step = 0.1;
  ASSERT_EQ(integrate::integrate(system, entry, *stepper, options, {}, x).status, integrate::Status::done);
  EXPECT_NEAR(x[0], std::exp(-1.0), 1e-4 / 720.0);  // error constant 1/720, h^4 = 1e-4
}

TEST(TableauFile, EmbeddedFormulaGivesTheEstimate) {
  const integrate::IntegratorEntry entry = method_of("A = [[], [1]]\nb = [0.5, 0.5]\nembedded = [1, 0]\n");
  EXPECT_TRUE(entry.adaptive);
  EXPECT_EQ(entry.order, 2);
  EXPECT_EQ(entry.estimate_order, 2);
}

TEST(TableauFile, TrueOrderIsSaid) {
  const integrate::IntegratorEntry entry = method_of("order = 1\nA = [[], [0.5]]\nb = [0, 1]\n");
  EXPECT_EQ(entry.order, 2);
  ASSERT_EQ(entry.notes.size(), 1u);
  EXPECT_EQ(entry.notes[0], "the file says order 1; the coefficients have order 2");
}

TEST(TableauFile, RoundOffSatisfiesNoCondition) {
  // 1e20 - 1e20 has no digits left that could be a 1 or a 1/2.
  EXPECT_EQ(faults_of("A = [[], [0.5]]\nb = [1e20, -1e20]\n"),
            "bad-tableau 2: the weights 'b' add up to 0, not to 1\n");
  EXPECT_EQ(method_of("A = [[1e20, -1e20], [1e20, -1e20]]\nb = [0.5, 0.5]\n").order, 1);
}

TEST(TableauFile, FaultsHaveAPlace) {
  EXPECT_EQ(faults_of("A = [[], [0.5]]\nb = [0.5, 1]\n"), "bad-tableau 2: the weights 'b' add up to 1.5, not to 1\n");
  EXPECT_EQ(
      faults_of("order = 3\nA = [[], [0.5]]\nb = [0, 1]\n"),
      "bad-tableau 1: the tableau claims order 3, but its coefficients satisfy the conditions up to order 2 only\n");
  EXPECT_EQ(faults_of("A = [[], [\"1/3\"], [0, \"2/3\"]]\nb = [0.25, 0, 0.75]\nc = [0, \"1/3\", \"1/3\"]\n"),
            "bad-tableau 3: entry 3 of 'c' is 1/3, but row 3 of 'A' adds up to 0.6666666667\n");
  EXPECT_EQ(faults_of("A = [[], [1]]\nb = [0.5, 0.5]\nembedded = [0.5, 0.5]\n"),
            "bad-tableau 3: the weights 'embedded' are those of 'b'\n");
  EXPECT_EQ(faults_of("A = [[], [1, 2, 3]]\nb = [1]\n"),
            "wrong-size 1: row 2 of 'A' has 3 numbers, but there are 2 rows\nwrong-size 2: 'b' has 1 number, but 'A' "
            "has 2 rows\n");
  EXPECT_EQ(faults_of("b = [1]\nweights = [1]\n"),
            "missing-key 1: the tableau does not say 'A'\nunknown-key 2: a tableau has no key 'weights'\n");
  EXPECT_EQ(faults_of("A = [[true]]\nb = [\"x + 1\"]\n"),
            "wrong-type 1: row 1 of 'A' has true where a number or an expression in quotes is expected\n"
            "unknown-name 2: there is no 'x'\n");
  EXPECT_EQ(faults_of("A = [[]]\nb = [\"1/0\"]\n").substr(0, 12), "not-finite 2");
  EXPECT_EQ(faults_of("A = 1\nb = [1]\n").substr(0, 12), "wrong-type 1");
  EXPECT_EQ(faults_of("A = []\nb = []\n").substr(0, 12), "wrong-size 1");
}

TEST(MethodNamed, TableOrFile) {
  EXPECT_EQ(method_named("rk4").get(), &integrate::integrator("rk4"));
  EXPECT_THROW(method_named("rk5"), Error);
  EXPECT_THROW(method_named("there_is_no_such_file.toml"), Error);
}

}  // namespace
}  // namespace daedalus::solve
