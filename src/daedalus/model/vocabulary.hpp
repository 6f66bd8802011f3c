#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daedalus/expr/graph.hpp"

namespace daedalus::model {

/// A function of the expression language that is one operation of the graph.
struct Builtin {
  std::string_view name;
  expr::Op op;
  std::size_t least, most;  ///< arguments; min and max take any number from two on
};

/// The built-in function of that name, or null.
const Builtin* find_builtin(std::string_view name);

/// Whether a name belongs to the language: t, time, pi, the functions, sum, product, der, if, in, and, or, not.
bool is_reserved(std::string_view name);

/// All names that can be called, for suggestions.
std::vector<std::string> callable_names();

/// "; a unit is a label apart: ..." where a text begins with the label of a unit, or nothing.
std::string unit_advice(std::string_view text);

/// What to write instead of a function or constant of other languages ("ln": "log(...)"), or nothing.
std::string advice_for_foreign_name(std::string_view name);

}  // namespace daedalus::model
