// Starts that are bound too much: what is named is the smallest part that cannot hold together.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "daedalus/base/text.hpp"
#include "start_tools.hpp"

namespace daedalus::tests {
namespace {

using solve::Initialize;

/// Code, message and advice of the fault that a start throws; "" where it throws none.
std::string fault_of(const std::string& text, Initialize mode = Initialize::project) {
  try {
    solve::consistent_start(solve::prepare(model::read_model_text(text, "test")), 0.0, mode, solve::Look::around);
  } catch (const Error& error) {
    const Fault& fault = error.faults().front();
    return fault.code + ": " + fault.message;
  }
  return "";
}

std::string fixed(double value) { return fmt::format("{{ start = {}, fixed = true }}", value); }

/// x1' = -x1, ..., and sums of some of the states; all but the planted conflict agree.
struct Planted {
  std::string model, conflict;
};

Planted planted(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const std::size_t states = 3 + below(5), sums = 1 + below(3);
  std::vector<double> x;
  for (std::size_t i = 0; i < states; ++i) x.push_back(static_cast<double>(1 + below(9)));
  std::string variables, equations;
  const std::size_t wrong = below(sums);
  const bool curved = below(2) == 0;
  std::vector<bool> held(states);
  for (std::size_t i = 0; i < states; ++i) held[i] = below(2) == 0;
  std::string sum_variables;
  Planted result;
  std::vector<std::size_t> wrong_members;
  double wrong_value = 0.0;
  for (std::size_t s = 0; s < sums; ++s) {
    std::vector<std::size_t> members;
    while (members.empty())
      for (std::size_t i = 0; i < states; ++i)
        if (members.size() < 4 && below(3) == 0) members.push_back(i);
    double value = 0.0;
    std::string text;
    for (const std::size_t i : members) {
      const double c = static_cast<double>(1 + below(5));
      value += c * x[i];
      text += fmt::format("{}{}*x{}", text.empty() ? "" : " + ", c, i);
    }
    // s^3 + s grows: it has one value for every sum.
    equations += curved ? fmt::format("sum{} = \"s{}^3 + s{} = ({})^3 + {}\"\n", s, s, s, text, text)
                        : fmt::format("sum{} = \"s{} = {}\"\n", s, s, text);
    if (s == wrong) {
      wrong_members = members;
      wrong_value = value + 1.0;
      for (const std::size_t i : members) held[i] = true;
    }
    sum_variables += fmt::format("s{} = {}\n", s, s == wrong ? fixed(value + 1.0) : std::to_string(value));
  }
  for (std::size_t i = 0; i < states; ++i) {
    variables += fmt::format("x{} = {}\n", i, held[i] ? fixed(x[i]) : std::to_string(x[i] + 0.5));
    equations += fmt::format("state{} = \"der(x{}) = -x{}\"\n", i, i, i);
  }
  result.model = "kind = \"dae\"\n[variables]\n" + variables + sum_variables + "[equations]\n" + equations;
  std::vector<std::string> names;
  for (const std::size_t i : wrong_members) names.push_back(fmt::format("x{} = {}", i, x[i]));
  names.push_back(fmt::format("s{} = {}", wrong, wrong_value));
  std::string list;
  for (std::size_t k = 0; k < names.size(); ++k)
    list += (k == 0 ? "" : k + 1 == names.size() ? " and " : ", ") + names[k];
  result.conflict = fmt::format("contradicting-fixed: the fixed values {} contradict 'sum{}'", list, wrong);
  return result;
}

TEST(StartConflicts, TheSmallestPartIsNamedOutOfManyFixedValues) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Planted one = planted(seed);
    EXPECT_EQ(fault_of(one.model), one.conflict) << "seed " << seed << "\n" << one.model;
  }
}

TEST(StartConflicts, AValueThatIsImpossibleByItselfIsNamedAlone) {
  // x = 2 is outside the circle whatever y is.
  EXPECT_EQ(fault_of(planar("x = { start = 2, fixed = true }\ny = { start = 0.5, fixed = true }", "rod = \"x^2 + y^2 = 1\"")),
            "contradicting-fixed: the fixed value x = 2 contradicts 'rod'");
  EXPECT_EQ(fault_of(planar("x = { start = 0.8, fixed = true }\ny = { start = 0.5, fixed = true }", "rod = \"x^2 + y^2 = 1\"")),
            "contradicting-fixed: the fixed values x = 0.8 and y = 0.5 contradict 'rod'");
}

TEST(StartConflicts, EquationsOfInitialAreNamed) {
  const std::string falling = "kind = \"dae\"\n[variables]\nx = 1\ny = 2\nz = 0\n[equations]\na = \"der(x) = y\"\n"
                              "b = \"der(y) = -x\"\nc = \"z = x + y\"\n[initial]\n";
  EXPECT_EQ(fault_of(falling + "p = \"x = 1\"\nq = \"y = 2\"\nr = \"x + 2*y = 4\"\n"),
            "contradicting-fixed: the [initial] equations 'p', 'q' and 'r' contradict each other");
  EXPECT_EQ(fault_of(falling + "p = \"z = 1\"\nq = \"x + y = 2\"\n"),
            "contradicting-fixed: the [initial] equations 'p' and 'q' contradict 'c'");
  // An equation that can never hold.
  EXPECT_EQ(fault_of(falling + "p = \"x^2 = -1\"\n"), "contradicting-fixed: the [initial] equation 'p' cannot be met");
}

TEST(StartConflicts, FixedValuesAndInitialEquationsTogether) {
  EXPECT_EQ(fault_of("kind = \"dae\"\n[variables]\nx = { start = 1, fixed = true }\ny = 2\n[equations]\na = \"der(x) = y\"\n"
                     "c = \"y = 3*x\"\n[initial]\np = \"x + y = 5\"\n"),
            "contradicting-fixed: the fixed value x = 1, together with the [initial] equation 'p' contradict 'c'");
}

TEST(StartConflicts, HiddenConstraintsTakePart) {
  // The pendulum as plain equations: der(x) and der(y) cannot both be chosen beside x and y.
  const std::string answer = fault_of(
      "kind = \"dae\"\n[variables]\nx = { start = 0.6, fixed = true }\ny = -0.8\n"
      "\"der(x)\" = { start = 1, fixed = true }\n\"der(y)\" = { start = 1, fixed = true }\nf = 0\n"
      "[equations]\nh = \"der(x,2) = -f*x\"\nv = \"der(y,2) = -f*y - 9.81\"\nrod = \"x^2 + y^2 = 1\"\n");
  EXPECT_EQ(answer, "contradicting-fixed: the fixed values x = 0.6, der(x) = 1 and der(y) = 1 contradict 'rod' and 'der(rod)'");
}

TEST(StartConflicts, TooManyThatAgreeAreFineAndSaid) {
  const solve::Start start = solve::consistent_start(
      solve::prepare(model::read_model_text("kind = \"dae\"\n[variables]\nx = { start = 0.6, fixed = true }\n"
                                            "y = { start = 0.8, fixed = true }\n[equations]\na = \"der(x) = -x*y\"\n"
                                            "circle = \"x^2 + y^2 = 1\"\n",
                                            "test")),
      0.0, Initialize::project, solve::Look::freedom);
  ASSERT_TRUE(start.found);
  EXPECT_EQ(start.free.count, 1u);
  EXPECT_EQ(start.free.surplus, std::vector<std::string>{"y"});
  ASSERT_EQ(start.notes.size(), 1u);
  EXPECT_EQ(start.notes[0],
            "more is fixed than can be chosen: y follows from the other fixed values and the equations, and agrees with them");
}

TEST(StartConflicts, CheckNamesTheInitialEquation) {
  const std::string model = "kind = \"dae\"\n[variables]\nx = 1\nz = 2\n[equations]\na = \"der(x) = z\"\nb = \"z = 2*x\"\n[initial]\n";
  EXPECT_EQ(fault_of(model + "p = \"z = 2\"\n", Initialize::check), "");
  EXPECT_EQ(fault_of(model + "p = \"z = 3\"\n", Initialize::check),
            "inconsistent-start: the start does not satisfy the [initial] equation 'p': the residual is -1");
}

}  // namespace
}  // namespace daedalus::tests
