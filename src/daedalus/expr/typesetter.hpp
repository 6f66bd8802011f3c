#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daedalus/expr/printer.hpp"

// Part of printing; not part of this room's interface.
namespace daedalus::expr {

/// What stands before, between and after operands.
struct Marks {
  std::string before, between, after;
};

/// The signs of a language for formulas.
struct Notation {
  Marks parentheses;
  std::map<Op, Marks> marks;            ///< operators, roots and what else has signs of its own
  Marks beside_digits;                  ///< a product whose second factor begins with digits
  std::array<std::string, 4> cases;     ///< before the value, the condition and the other value, and after it
  std::map<Op, std::string> functions;  ///< names of functions that are not those of the model file
  std::string before_function;
  Marks arguments;
};

/// Prints an expression as a person would write it by hand: fractions, roots, powers, Greek letters.
class Typesetter : public Printer {
 public:
  Typesetter(const Graph& graph, const Notation& notation) : Printer(graph), notation_(notation) {}

 protected:
  virtual std::string number(double value) const = 0;
  virtual std::string name(const std::string& name) const = 0;
  virtual std::string function(std::string_view name) const = 0;
  virtual void emit_power(const Node& node) = 0;

 private:
  bool needs_parentheses(const Node& node, int place) const override;
  std::pair<std::string, std::string> parentheses() const override;
  void emit(const Node& node) override;
  void emit_operands(const Node& node, const Marks& marks, std::pair<int, int> places);
  void emit_call(std::string name, const Node& node);
  bool begins_with_digits(NodeId factor) const;

  const Notation& notation_;
};

/// The Greek letter of that name, or null.
const std::string* greek_letter(const std::string& name);

/// theta1 is theta and 1: digits at the end of a word stand below it.
std::pair<std::string, std::string> word_and_digits(const std::string& text);

/// The parts of a name: x_max is x with max below it, lambda.rod[3] is lambda with rod and 3, der(x,2) is x with two
/// dots.
struct NameParts {
  explicit NameParts(const std::string& name);

  struct Subscript {
    enum class Kind { index, word, label } kind;  ///< of an element or a number; after an underscore; after a dot
    std::string text;
  };
  std::string base;
  std::vector<Subscript> subscripts;
  int derivatives = 0;

 private:
  void split(const std::string& name);
  void split_words(const std::string& words);
};

}  // namespace daedalus::expr
