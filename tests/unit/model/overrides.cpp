#include <numbers>

#include "unit/model/helpers.hpp"

namespace daedalus::model {
namespace {

const std::string base = R"toml(
kind = "dae"
[parameters]
N = 2
l = { value = 1.0, min = 0 }
k = [1, 2]
w = "2*l"
[inputs]
u = "sin(t)"
[discrete]
mode = 1
[variables]
"x[i]" = { for = "i in 1..N", start = "i*l" }
y = { start = 3, fixed = true }
z = 0
[equations]
"e[i]" = { for = "i in 1..N", equation = "der(x[i]) = u*mode + k[1]" }
f = "y = w"
g = "der(z) = 1"
[outputs]
o = "y"
)toml";

Model set(const std::string& name, const std::string& value) { return read(base, {{{name, value}}, {}, {}}); }
Model fix(const std::string& name, const std::string& value) { return read(base, {{}, {{name, value}}, {}}); }
std::vector<std::string> codes_of_set(const std::string& name, const std::string& value) {
  return codes_of(base, {{{name, value}}, {}, {}});
}
std::vector<std::string> codes_of_fix(const std::string& name, const std::string& value) {
  return codes_of(base, {{}, {{name, value}}, {}});
}

TEST(Overrides, ChangeParametersBeforeAnythingElse) {
  EXPECT_EQ(set("N", "4").variables.size(), 6U);
  EXPECT_EQ(parameter(set("l", "3"), "w").value, 6.0);
  EXPECT_EQ(unknown(set("l", "3"), "x[2]").start[0].value, 6.0);
  EXPECT_EQ(parameter(set("k[2]", "2*pi*l"), "k[2]").value, 2 * std::numbers::pi);
  EXPECT_EQ(parameter(set("w", "5"), "w").value, 5.0);
  EXPECT_EQ(parameter(read(base, {{{"l", "2"}, {"l", "3"}}, {}, {}}), "l").value, 3.0) << "the last one counts";
}

TEST(Overrides, ChangeInputsAndDiscreteValues) {
  EXPECT_EQ(text(set("u", "cos(2*t)").inputs[0].value), "cos(2*t)");
  EXPECT_EQ(set("mode", "2*l").discrete[0].value, 2.0);
}

TEST(Overrides, ChangeStarts) {
  const Model guessed = set("z", "2*l + x[2]");
  EXPECT_EQ(unknown(guessed, "z").start[0].value, 4.0);
  EXPECT_TRUE(unknown(guessed, "z").start[0].given);
  EXPECT_FALSE(unknown(guessed, "z").start[0].fixed);
  EXPECT_TRUE(unknown(set("y", "7"), "y").start[0].fixed) << "a fixed start keeps binding";
  const Model fixed = fix("x[2]", "5");
  EXPECT_EQ(unknown(fixed, "x[2]").start[0].value, 5.0);
  EXPECT_TRUE(unknown(fixed, "x[2]").start[0].fixed);
  EXPECT_FALSE(unknown(fixed, "x[1]").start[0].fixed);
  for (const std::string name : {"der(z)", "z'", "der(z,1)"}) {
    EXPECT_EQ(unknown(set(name, "1.5"), "z").start[1].value, 1.5);
    EXPECT_TRUE(unknown(fix(name, "1.5"), "z").start[1].fixed);
  }
}

TEST(Overrides, TimeOfStart) {
  Overrides late;
  late.t_start = 4.0;
  late.set = {{"z", "t_start + 1"}};
  EXPECT_EQ(unknown(read(base, late), "z").start[0].value, 5.0);
}

TEST(Overrides, FaultsNameTheOption) {
  using Codes = std::vector<std::string>;
  EXPECT_EQ(codes_of_set("q", "1"), Codes{"unknown-name"});
  EXPECT_EQ(codes_of_set("o", "1"), Codes{"not-allowed-here"});
  EXPECT_EQ(codes_of_fix("l", "1"), Codes{"not-allowed-here"});
  EXPECT_EQ(codes_of_set("l", "-1"), Codes{"out-of-range"});
  EXPECT_EQ(codes_of_set("l", "2*x"), Codes{"not-constant"});
  EXPECT_EQ(codes_of_set("l", "1 +"), Codes{"incomplete-expression"});
  EXPECT_EQ(codes_of_set("k[3]", "1"), Codes{"no-such-member"});
  EXPECT_EQ(codes_of_set("k", "1"), Codes{"no-such-member"});
  EXPECT_EQ(codes_of_set("x[3]", "1"), Codes{"no-such-member"});
  EXPECT_EQ(codes_of_set("x", "1"), Codes{"no-such-member"});
  EXPECT_EQ(codes_of_set("l l", "1"), Codes{"bad-name"});
  EXPECT_EQ(codes_of_set("N", "1.5"), Codes{"index-not-whole"});
  try {
    set("length", "1");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "--set:1:1: error[unknown-name]: the model has no 'length'\n     1 | length=1\n       | ^~~~~~\n  -> "
              "known names: N, l, k, w, u, x, y, z, mode");
  }
}

}  // namespace
}  // namespace daedalus::model
