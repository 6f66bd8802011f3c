// Random graphs run as machine code, at one point and at four and eight at once, and on the interpreter; all agree to the last
// bit, up to which NaN it is. With fast functions a lane does not depend on the others.
//
// The input is a list of parts of four bytes: an operation and up to three operands among the parts before it, counted
// back from the end. After the parts, which a zero operation ends, the remaining bytes choose values of the inputs and
// of the modes.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "daedalus/compile/compile.hpp"
#include "daedalus/expr/print.hpp"
#include "unit/compile/both_paths.hpp"

namespace {

using namespace daedalus;
using expr::Expr;
using expr::Interpolant;
using expr::Op;

constexpr int operations = static_cast<int>(Op::choose) - static_cast<int>(Op::lookup) + 1;
constexpr std::size_t block_sizes[] = {1, 3, 0, 2, 1, 1, 1, 1};
constexpr std::size_t symbol_count = 10;

/// Bytes as numbers: some by name, the others whole multiples of 1/16, or eight bytes as they are.
class Numbers {
 public:
  Numbers(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  double next() {
    if (at_ >= size_) return 0.75 + static_cast<double>(count_++);
    const std::uint8_t byte = data_[at_++];
    constexpr double named[] = {0.0,
                                -0.0,
                                1.0,
                                -1.0,
                                std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN(),
                                std::numeric_limits<double>::denorm_min(),
                                std::numeric_limits<double>::max(),
                                0.1};
    if (byte < std::size(named)) return named[byte];
    if (byte == 10 && at_ + 8 <= size_) {
      double value = 0.0;
      std::memcpy(&value, data_ + at_, 8);
      at_ += 8;
      return value;
    }
    return (static_cast<double>(byte) - 128.0) / 16.0;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_, at_ = 0, count_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  expr::Graph graph;
  compile::Switches switches;
  std::vector<std::vector<Expr>> blocks;
  std::vector<Expr> parts;
  for (const std::size_t length : block_sizes) {
    blocks.emplace_back();
    for (std::size_t i = 0; i < length; ++i) {
      parts.push_back(graph.symbol("x" + std::to_string(parts.size())));
      blocks.back().push_back(parts.back());
    }
  }
  const Expr held = graph.symbol("held");
  switches.hold({held});
  parts.push_back(held);
  using Method = Interpolant::Method;
  using Outside = Interpolant::Outside;
  const std::vector<double> knots{-1.0, 0.5, 2.0, 3.0}, heights{1.0, 0.0, 4.0, 1.0};
  graph.define_table("a", std::make_shared<Interpolant>(knots, heights, Method::spline, Outside::error));
  graph.define_table("b", std::make_shared<Interpolant>(knots, heights, Method::linear, Outside::periodic));

  std::size_t at = 0;
  const auto extend = [&](std::vector<Expr>& parts, std::size_t most) {
    for (at = 0; at + 4 <= size && data[at] != 0 && parts.size() < most; at += 4) {
      const std::uint8_t kind = data[at];
      if (kind == 255) {
        parts.push_back(graph.constant((static_cast<double>(data[at + 1]) - 128.0) / 4.0));
        continue;
      }
      const auto op = static_cast<Op>(static_cast<int>(Op::lookup) + (kind - 1) % operations);
      const auto operand = [&](std::size_t k) { return parts[parts.size() - 1 - data[at + k] % parts.size()]; };
      if (op == Op::lookup)
        parts.push_back(graph.lookup(data[at + 2] % 2 == 0 ? "a" : "b'", operand(1)));
      else if (expr::arity(op) == 1)
        parts.push_back(graph.make(op, operand(1)));
      else if (expr::arity(op) == 2)
        parts.push_back(graph.make(op, operand(1), operand(2)));
      else
        parts.push_back(graph.make(op, operand(1), operand(2), operand(3)));
    }
  };
  extend(parts, 2000);
  at += at + 4 <= size ? 4 : 0;

  // The last parts are outputs, and every seventh one, so that values live long.
  std::vector<Expr> outputs;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (i + 3 >= parts.size() || i % 7 == 0) outputs.push_back(parts[i]);
  const compile::Function function = compile::compile({blocks, outputs}, switches);
  Numbers numbers(data + at, size - at);
  std::vector<double> modes;
  const auto expect_same = [](const std::vector<Expr>& of, const std::optional<compile::Difference>& difference, std::size_t lanes,
                              bool frozen) {
    if (!difference) return;
    std::fprintf(stderr, "output %zu of %zu on %zu lanes%s: native %.17g, interpreted %.17g\n", difference->output, of.size(),
                 lanes, frozen ? " with modes" : "", difference->native, difference->interpreted);
    if (difference->output < of.size())
      std::fprintf(stderr, "%s\n", expr::to_text(of[difference->output]).substr(0, 2000).c_str());
    std::abort();
  };
  const auto expect_none = [&](const std::optional<compile::Difference>& difference, std::size_t lanes, bool frozen) {
    expect_same(outputs, difference, lanes, frozen);
  };
  std::vector<std::vector<double>> points;
  for (int point = 0; point < 3; ++point) {
    points.emplace_back();
    for (std::size_t i = 0; i < symbol_count; ++i) points.back().push_back(numbers.next());
    modes = switches.free_modes({numbers.next()});
    for (std::size_t i = 0; i < switches.size(); ++i) modes[switches.place(i)] = numbers.next();
    for (const std::vector<double>* frozen : {static_cast<const std::vector<double>*>(nullptr), &std::as_const(modes)})
      expect_none(compile::compare_paths(function, points.back(), frozen), 1, frozen != nullptr);
  }
  while (points.size() < 8) points.push_back(points[points.size() - 3]);
  for (const std::size_t lanes : {4U, 8U}) {
    for (const std::vector<double>* frozen : {static_cast<const std::vector<double>*>(nullptr), &std::as_const(modes)})
      expect_none(compile::compare_lanes(compile::Batch(function, compile::Elementary::exact, lanes), points, frozen), lanes,
                  frozen != nullptr);
    const compile::Batch fast(function, compile::Elementary::fast, lanes);
    auto scratch = fast.make_scratch();
    const std::vector<double> together = compile::call_batch(fast, scratch, points, modes.data());
    const std::size_t each = outputs.size() + 1;
    for (std::size_t i = 0; i < outputs.size(); ++i)  // point 3 is point 0
      if (!compile::equal_bits(together[i], together[3 * each + i]))
        expect_none(compile::Difference{i, together[3 * each + i], together[i]}, lanes, true);
  }

  // The same for each of some members, whose numbers stand side by side: the first is of all of them, every third that of the
  // next member.
  if (parts.size() > 200) return 0;
  constexpr std::size_t members = 6;
  std::vector<std::vector<Expr>> arrays;
  for (std::size_t k = 0; k < symbol_count; ++k) {
    arrays.emplace_back();
    for (std::size_t i = 0; i <= members; ++i) arrays[k].push_back(graph.symbol("m" + std::to_string(k) + "_" + std::to_string(i)));
  }
  compile::Switches of_members;
  of_members.hold({held});
  std::vector<Expr> all;
  Expr sum = arrays[0][0];
  for (std::size_t i = 0; i < members; ++i) {
    std::vector<Expr> own;
    for (std::size_t k = 0; k < symbol_count; ++k) own.push_back(arrays[k][k == 0 ? 0 : k % 3 == 0 ? i + 1 : i]);
    own.push_back(held);
    extend(own, 200);
    sum = sum + own.back();
    for (const Expr& e : {own.back(), own[own.size() / 2 + 5], sum}) all.push_back(e);
  }
  const compile::Function function_of_members = compile::compile({arrays, all}, of_members);
  std::vector<double> values;
  for (std::size_t k = 0; k < symbol_count * (members + 1); ++k) values.push_back(numbers.next());
  modes = of_members.free_modes({numbers.next()});
  for (std::size_t i = 0; i < of_members.size(); ++i) modes[of_members.place(i)] = numbers.next();
  for (const std::vector<double>* frozen : {static_cast<const std::vector<double>*>(nullptr), &std::as_const(modes)})
    expect_same(all, compile::compare_paths(function_of_members, values, frozen), 1, frozen != nullptr);
  return 0;
}
