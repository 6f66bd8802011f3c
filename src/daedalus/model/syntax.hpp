#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daedalus/model/passage.hpp"

namespace daedalus::model {

/// What a part of an expression is, before names have a meaning.
enum class SyntaxKind : std::uint8_t {
  number,        ///< `value`
  name,          ///< `name`, children: indices
  dotted,        ///< lambda.rod[2], reaction.rod[2].x: children are the segments, each a `name`
  prime,         ///< child' with `order` primes
  call,          ///< `name`(children); also der and if
  negate,        ///< -child
  sum,           ///< children with signs: flags '+' or '-'
  product,       ///< children with flags '*' or '/'
  power,         ///< child ^ child
  compare,       ///< child `name` child, name one of < <= > >= == !=
  logical_and,   ///< children
  logical_or,    ///< children
  logical_not,   ///< child
  loop_sum,      ///< children: from, to, body; `name` is the index
  loop_product,  ///< the same
};

using SyntaxId = std::uint32_t;

/// One part of an expression. Sums and products are flat: their depth is one whatever their length.
struct Syntax {
  SyntaxKind kind;
  std::uint32_t begin = 0, end = 0;  ///< characters in the passage
  std::uint32_t first_child = 0, child_count = 0;
  std::uint32_t first_flag = 0;
  std::uint32_t name = 0;  ///< number of the name
  int order = 0;           ///< of a derivative; of a loop, where its index stands
  double value = 0.0;
};

/// A parsed expression or equation.
class SyntaxTree {
 public:
  const Syntax& operator[](SyntaxId id) const { return nodes_[id]; }
  std::span<const SyntaxId> children(const Syntax& node) const {
    return {children_.data() + node.first_child, node.child_count};
  }
  /// '+', '-', '*' or '/' before the i-th child of a sum or product.
  char flag(const Syntax& node, std::size_t i) const { return flags_[node.first_flag + i]; }
  const std::string& name(const Syntax& node) const { return names_[node.name]; }
  /// What was written for this node.
  std::string_view text(const Syntax& node) const {
    return std::string_view(passage_.text()).substr(node.begin, node.end - node.begin);
  }
  Place place(const Syntax& node) const { return passage_.place(node.begin, node.end - node.begin); }
  Place place() const { return passage_.place(); }
  const Passage& passage() const { return passage_; }

  SyntaxId left() const { return left_; }
  bool has_right() const { return has_right_; }
  SyntaxId right() const { return right_; }
  std::size_t size() const { return nodes_.size(); }

 private:
  friend class Parser;
  Passage passage_;
  std::vector<Syntax> nodes_;
  std::vector<SyntaxId> children_;
  std::vector<char> flags_;
  std::vector<std::string> names_;
  SyntaxId left_ = 0, right_ = 0;
  bool has_right_ = false;
};

/// One `i in from..to`.
struct LoopSyntax {
  std::string name;
  std::uint32_t begin = 0, end = 0;
  SyntaxId from = 0, to = 0;
};

/// The `for` of a family: "i in 1..N, j in i+1..N".
struct LoopsSyntax {
  SyntaxTree tree;
  std::vector<LoopSyntax> loops;
};

/// The name under which an entry of a section stands.
struct KeySyntax {
  enum class Form { plain, indexed, derivative, function };
  Form form = Form::plain;
  std::string base;  ///< x of "x", "x[i]", "der(x[i],2)", "x(u)"
  bool has_indices = false;
  int order = 0;                       ///< of the derivative
  std::vector<SyntaxId> indices;       ///< parts of `tree`
  std::vector<std::string> arguments;  ///< of a function
  SyntaxTree tree;
};

/// Parses an expression; an "=" in it is a fault whose advice depends on `what` is read. Throws Error.
SyntaxTree parse_expression(const Passage& passage);
/// Parses `a = b` or a residual without "=". Throws Error.
SyntaxTree parse_equation(const Passage& passage);
/// Parses the `for` of a family. Throws Error.
LoopsSyntax parse_loops(const Passage& passage);
/// Parses a key: x, x[i,j], der(x), der(x,2), x', f(u,v). Throws Error.
KeySyntax parse_key(const Passage& passage);

/// Whether a text is a name of letters, digits and "_" that does not begin with a digit.
bool is_name(std::string_view text);

}  // namespace daedalus::model
