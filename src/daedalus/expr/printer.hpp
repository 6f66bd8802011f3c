#pragma once

#include <string>
#include <utility>
#include <vector>

#include "daedalus/expr/graph.hpp"

// Part of printing; not part of this room's interface.
namespace daedalus::expr {

/// How tightly a form binds; an operand that binds less than its place asks for is put in parentheses.
enum Binding { lowest = 0, or_ = 1, and_ = 2, not_ = 3, compare = 4, sum = 5, product = 6, power_ = 8, atom = 9 };

inline Binding binding_of(const Node& node) {
  switch (node.op) {
    case Op::add:
    case Op::sub:
    case Op::neg:
      return sum;
    case Op::mul:
    case Op::div:
      return product;
    case Op::pow:
      return power_;
    case Op::less:
    case Op::less_equal:
    case Op::equal:
    case Op::not_equal:
      return compare;
    case Op::logical_and:
      return and_;
    case Op::logical_or:
      return or_;
    case Op::logical_not:
      return not_;
    case Op::constant:
      return node.value < 0.0 ? sum : atom;
    default:
      return atom;
  }
}

/// Emits an expression with an explicit stack: pieces of text and operands with the binding their place asks for.
class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph) {}
  virtual ~Printer() = default;

  /// False where the text grows longer than that; it ends after any piece then.
  bool print(NodeId root, std::size_t longest) {
    push(root, lowest);
    while (!stack_.empty() && text_.size() < longest) {
      Piece piece = std::move(stack_.back());
      stack_.pop_back();
      if (piece.literal)
        text_ += piece.text;
      else
        open(piece.id, piece.place);
    }
    return stack_.empty();
  }
  std::string text() { return std::move(text_); }

 protected:
  void push(NodeId id, int place) { stack_.push_back({false, {}, id, place}); }
  void push(std::string text) { stack_.push_back({true, std::move(text)}); }

  virtual bool needs_parentheses(const Node& node, int place) const { return binding_of(node) < place; }
  virtual std::pair<std::string, std::string> parentheses() const { return {"(", ")"}; }
  /// Pushes the parts of a node, last part first.
  virtual void emit(const Node& node) = 0;

  const Graph& graph_;

 private:
  struct Piece {
    bool literal;
    std::string text;
    NodeId id = 0;
    int place = lowest;
  };

  void open(NodeId id, int place) {
    const Node& node = graph_.node(id);
    if (!needs_parentheses(node, place)) return emit(node);
    auto [opening, closing] = parentheses();
    push(std::move(closing));
    push(id, lowest);
    push(std::move(opening));
  }

  std::vector<Piece> stack_;
  std::string text_;
};

}  // namespace daedalus::expr
