#pragma once

#include <memory>
#include <vector>

#include "daedalus/compile/compile_as_wished.hpp"
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
  for (const double n : {0.5, -0.5, 1.5, -2.5, 7.5, 8.5, 2.0 / 3.0, 1e300}) outputs.push_back(pow(x, n));
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

/// The same random operations for each of some members, on a shared number, two of its own and one of the next member. Outputs,
/// of which some are notes, are what the members compute, their differences, and sums over all of them in both directions.
inline HardFunction members_function(expr::random_tree::Random& random, std::size_t members, std::size_t size) {
  using expr::Expr, expr::Op;
  HardFunction hard;
  expr::Graph& graph = *hard.graph;
  const auto symbols = expr::random_tree::make_symbols(graph, 2 * members + 3);
  const std::vector<Op> all = expr::random_tree::all_operations();
  const std::vector<Op> plain{Op::add, Op::sub, Op::mul, Op::div, Op::neg, Op::sqrt, Op::abs, Op::hypot};
  const auto tree = expr::random_tree::make_tree(random, expr::random_tree::below(random, 3) == 0 ? all : plain, 4, size);
  const auto at = symbols.begin() + static_cast<std::ptrdiff_t>(members) + 2;
  const std::vector<Expr> x(symbols.begin() + 1, at), y(at, symbols.end());
  std::vector<Expr> outputs;
  for (std::size_t i = 0; i < members; ++i) outputs.push_back(build(graph, tree, {symbols[0], x[i], y[i], x[i + 1]}));
  const std::vector<Expr> each = outputs;
  for (std::size_t i = 0; i + 1 < members; ++i) outputs.push_back((each[i] - each[i + 1]) * symbols[0]);
  Expr forth = symbols[0], back = each.back();
  std::vector<Expr> chain;
  for (std::size_t i = 0; i < members; ++i) {
    forth = forth + each[i];
    back = back * 0.5 - each[members - 1 - i];
    chain.push_back(forth * y[i]);
  }
  outputs.push_back(back);
  outputs.insert(outputs.end(), chain.begin(), chain.end());
  hard.function = compile_as_wished({{{symbols[0]}, x, y}, outputs}, {{}, members / 2}, hard.switches);
  return hard;
}

/// Forces between all pairs of points, given as all x, then all y, or point after point.
enum class Coordinates { side_by_side, by_point };
inline HardFunction pairs_function(std::size_t points, Coordinates coordinates) {
  using expr::Expr;
  HardFunction hard;
  expr::Graph& graph = *hard.graph;
  const auto symbols = expr::random_tree::make_symbols(graph, 2 * points);
  std::vector<Expr> inputs = symbols, forces(2 * points, graph.constant(0.0));
  if (coordinates == Coordinates::by_point)
    for (std::size_t i = 0; i < points; ++i) {
      inputs[2 * i] = symbols[i];
      inputs[2 * i + 1] = symbols[points + i];
    }
  for (std::size_t i = 0; i < points; ++i)
    for (std::size_t j = i + 1; j < points; ++j) {
      const Expr x = symbols[i] - symbols[j], y = symbols[points + i] - symbols[points + j];
      const Expr over = 3.0 / (x * x + y * y);
      for (const auto& [k, d] : {std::pair{std::size_t{0}, x}, std::pair{points, y}}) {
        const Expr force = d * over;
        forces[k + i] = forces[k + i] + force;
        forces[k + j] = forces[k + j] - force;
      }
    }
  hard.function = compile({{inputs}, forces}, hard.switches);
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
