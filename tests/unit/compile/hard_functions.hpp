#pragma once

#include <memory>
#include <vector>

#include "daedalus/compile/compile.hpp"
#include "daedalus/expr/derivative.hpp"
#include "unit/expr/random_tree.hpp"

namespace daedalus::compile {

/// A function that is hard to translate, its conditions, and the graph that these are of.
struct HardFunction {
  std::unique_ptr<expr::Graph> graph = std::make_unique<expr::Graph>();
  Switches switches;
  Function function;
};

/// One operation of x, y and z, used alone, in a sum and twice in a product.
inline HardFunction operation_function(expr::Op op) {
  HardFunction hard;
  expr::Graph& graph = *hard.graph;
  const expr::Expr x = graph.symbol("x"), y = graph.symbol("y"), z = graph.symbol("z");
  const expr::Expr e = expr::arity(op) == 1   ? graph.make(op, x)
                       : expr::arity(op) == 2 ? graph.make(op, x, y)
                                              : graph.make(op, x, y, z);
  hard.function = compile({{{x, y, z}}, {e, e + x, e * e}}, hard.switches);
  return hard;
}

/// Whole powers and others of x; y is there in vain.
inline HardFunction power_function() {
  HardFunction hard;
  expr::Graph& graph = *hard.graph;
  const expr::Expr x = graph.symbol("x"), y = graph.symbol("y");
  std::vector<expr::Expr> outputs;
  for (int n = -66; n <= 66; ++n) outputs.push_back(pow(x, n));
  for (const double n : {0.5, -0.5, 1.5, 2.0 / 3.0, 1e300}) outputs.push_back(pow(x, n));
  hard.function = compile({{{x, y}}, outputs}, hard.switches);
  return hard;
}

/// A graph with many values alive at once, several blocks of seven inputs in all, a table and a held value.
inline HardFunction random_function(expr::random_tree::Random& random, std::size_t size) {
  using expr::Expr, expr::Interpolant, expr::Op;
  const std::vector<Op> all = expr::random_tree::all_operations();
  // Mostly what needs no call, which empties the registers.
  const std::vector<Op> plain{Op::add, Op::sub, Op::mul, Op::div, Op::neg, Op::sqrt, Op::min, Op::choose, Op::less};
  HardFunction hard;
  expr::Graph& graph = *hard.graph;
  const auto symbols = expr::random_tree::make_symbols(graph, 8);
  hard.switches.hold({symbols[7]});
  std::vector<Expr> outputs;
  for (int k = 0; k < 4; ++k)
    outputs.push_back(expr::random_tree::build(graph, expr::random_tree::make_tree(random, k % 2 ? all : plain, 8, size), symbols));
  Expr sum = sin(outputs[0]) * cos(outputs[0]);
  for (const Expr& output : std::vector(outputs)) sum = sum + output;
  using Values = std::vector<double>;
  graph.define_table("path", std::make_shared<Interpolant>(Values{-1.0, 0.0, 2.0}, Values{1.0, 0.0, 4.0},
                                                           Interpolant::Method::spline, Interpolant::Outside::hold));
  outputs.push_back(graph.lookup("path", sum) + symbols[7]);
  for (int k = 0; k < 5; ++k) outputs.push_back(partial(outputs[k], symbols[0]));
  hard.function = compile(
      {{{symbols[0]}, {}, {symbols[1], symbols[2]}, {symbols[3]}, {symbols[4]}, {symbols[5]}, {symbols[6]}}, outputs}, hard.switches);
  return hard;
}

/// As many values of three inputs alive as said, read again in another order, with calls between them.
inline HardFunction crowded_function(expr::random_tree::Random& random, std::size_t width) {
  HardFunction hard;
  expr::Graph& graph = *hard.graph;
  const auto symbols = expr::random_tree::make_symbols(graph, 3);
  std::vector<expr::Expr> alive;
  for (std::size_t i = 0; i < width; ++i)
    alive.push_back((symbols[0] + static_cast<double>(i)) * (symbols[1] - 0.5 * static_cast<double>(i)));
  expr::Expr sum = symbols[2];
  for (std::size_t k = 0; k < 4 * width; ++k) {
    const std::size_t i = expr::random_tree::below(random, width), j = expr::random_tree::below(random, width);
    alive[i] = alive[i] * 0.25 - alive[j];
    if (k % 7 == 0) sum = sum + sin(alive[i]);
  }
  alive.push_back(sum);
  hard.function = compile({{symbols}, alive}, hard.switches);
  return hard;
}

}  // namespace daedalus::compile
