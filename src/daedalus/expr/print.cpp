#include "daedalus/expr/print.hpp"

#include <fmt/format.h>

#include <numbers>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/printer.hpp"

namespace daedalus::expr {

namespace {

constexpr std::size_t longest_text = 4'000'000;

class TextPrinter : public Printer {
 public:
  using Printer::Printer;

 private:
  void infix(const Node& node, std::string sign, int left, int right) {
    push(node.b, right);
    push(std::move(sign));
    push(node.a, left);
  }

  void emit(const Node& node) override {
    switch (node.op) {
      case Op::constant:
        push(node.value == std::numbers::pi ? "pi" : shortest(node.value));
        return;
      case Op::symbol:
        push(graph_.symbol_name(node.index));
        return;
      case Op::add:
        infix(node, " + ", sum, sum);
        return;
      case Op::sub:
        infix(node, " - ", sum, sum + 1);
        return;
      case Op::mul:
        infix(node, "*", product, product);
        return;
      case Op::div:
        infix(node, "/", product, product + 1);
        return;
      case Op::pow:
        infix(node, "^", power_ + 1, power_);
        return;
      case Op::less:
      case Op::less_equal:
      case Op::equal:
      case Op::not_equal:
        infix(node, fmt::format(" {} ", name_of(node.op)), sum, sum);
        return;
      case Op::logical_and:
        infix(node, " and ", and_, and_ + 1);
        return;
      case Op::logical_or:
        infix(node, " or ", or_, or_ + 1);
        return;
      case Op::neg:
        push(node.a, product);
        push("-");
        return;
      case Op::logical_not:
        push(node.a, not_);
        push("not ");
        return;
      default: {
        push(")");
        const int n = arity(node.op);
        if (n > 2) {
          push(node.c, lowest);
          push(", ");
        }
        if (n > 1) {
          push(node.b, lowest);
          push(", ");
        }
        push(node.a, lowest);
        push(std::string(node.op == Op::lookup ? graph_.table_name(node.index) : name_of(node.op)) + "(");
      }
    }
  }
};

}  // namespace

std::string to_text(Expr root) {
  TextPrinter printer(root.graph());
  return printer.print(root.id(), longest_text) ? printer.text() : printer.text() + " ...";
}

}  // namespace daedalus::expr
