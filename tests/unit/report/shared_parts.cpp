#include "daedalus/report/shared_parts.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "daedalus/expr/substitute.hpp"

namespace daedalus::report {
namespace {

using expr::Expr;

/// u -> (u + sin(u)*x)^2, n times: without names the text doubles every time.
Expr nested(expr::Graph& graph, int times) {
  const Expr x = graph.symbol("x"), t = graph.symbol("t");
  Expr u = graph.make(expr::Op::add, x, t);
  for (int i = 0; i < times; ++i) u = u + expr::sin(u) * x * t + u * expr::cos(u) * (x - t);
  return u;
}

TEST(SharedParts, LeavesShortExpressionsAlone) {
  expr::Graph graph;
  const Expr u = nested(graph, 3);
  const SharedParts shared = shared_parts({u});
  EXPECT_TRUE(shared.parts.empty());
  EXPECT_EQ(shared.roots.front().id(), u.id());
}

TEST(SharedParts, NamesAreNewAndPutInGiveTheSameValue) {
  expr::Graph graph;
  const Expr taken = graph.symbol("e[1]"), u = nested(graph, 8) + taken;
  const SharedParts shared = shared_parts({u});
  ASSERT_FALSE(shared.parts.empty());
  const double x = 0.3, t = 0.2, e1 = 0.7;
  std::unordered_map<expr::NodeId, double> values{
      {graph.symbol("x").id(), x}, {graph.symbol("t").id(), t}, {taken.id(), e1}};
  const double direct = expr::evaluate(u, values);
  for (const auto& [name, value] : shared.parts) {
    EXPECT_FALSE(values.contains(name.id())) << name.name();
    values[name.id()] = expr::evaluate(value, values);  // throws where a part uses a later one
  }
  // The same operations in the same order.
  EXPECT_EQ(expr::evaluate(shared.roots.front(), values), direct);
}

}  // namespace
}  // namespace daedalus::report
