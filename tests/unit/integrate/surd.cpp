#include "daedalus/integrate/surd.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "daedalus/base/check.hpp"
#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::integrate {
namespace {

void expect_surd(const char* text, const Surd& expected) {
  const Surd found = parse_surd(text);
  EXPECT_EQ(found.p, expected.p) << text;
  EXPECT_EQ(found.q, expected.q) << text;
  EXPECT_EQ(found.r, expected.r) << text;
  EXPECT_EQ(found.d, expected.d) << text;
}

TEST(Surd, ReadsWhatTableauxContain) {
  expect_surd("0", {0, 0, 1, 1});
  expect_surd("-2187/6784", {-2187, 0, 6784, 1});
  expect_surd("6/4", {3, 0, 2, 1});
  expect_surd("(4 - sqrt(6))/10", {4, -1, 10, 6});
  expect_surd("357/256*sqrt(5) - 2889/1024", {-2889, 1428, 1024, 5});
  expect_surd("sqrt(12)", {0, 2, 1, 3});
  expect_surd("sqrt(9)", {3, 0, 1, 1});
  expect_surd("1/(1 + sqrt(2))", {-1, 1, 1, 2});
  expect_surd("sqrt(3)*sqrt(3)", {3, 0, 1, 1});
  expect_surd(" - ( 1 / 2 ) ", {-1, 0, 2, 1});
}

TEST(Surd, RefusesEverythingElse) {
  for (const char* text :
       {"", "1/0", "0.5", "1 +", "(1", "sqrt(2) + sqrt(3)", "alpha", "1 2", "sqrt(-1)", "99999999999999999999"})
    EXPECT_THROW(parse_surd(text), InternalError) << text;
}

TEST(Surd, RoundsCorrectly) {
  EXPECT_EQ(value_of(parse_surd("1/3")), 1.0 / 3.0);
  EXPECT_EQ(value_of(parse_surd("-7/9")), -7.0 / 9.0);
  EXPECT_EQ(value_of(parse_surd("sqrt(3)")), std::sqrt(3.0));
  // 3 - 2 sqrt 2 loses three digits if computed as it stands in doubles; its inverse 3 + 2 sqrt 2 does not.
  EXPECT_DOUBLE_EQ(value_of(parse_surd("3 - 2*sqrt(2)")), 1.0 / (3.0 + 2.0 * std::sqrt(2.0)));
  EXPECT_DOUBLE_EQ(value_of(parse_surd("577 - 408*sqrt(2)")), 1.0 / (577.0 + 408.0 * std::sqrt(2.0)));
}

TEST(Surd, TableauKeepsTextAndNumbers) {
  const Tableau tableau = exact_tableau({.a = {{}, {"1/2"}}, .b = {"0", "1"}, .c = {"0", "1/2"}});
  EXPECT_EQ(tableau.a[1], std::vector<double>{0.5});
  EXPECT_EQ(tableau.b, (std::vector<double>{0.0, 1.0}));
  EXPECT_EQ(tableau.text.c[1], "1/2");
  EXPECT_TRUE(tableau.embedded.empty());
}

}  // namespace
}  // namespace daedalus::integrate
