#include "daedalus/model/vocabulary.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace daedalus::model {

namespace {

using expr::Op;
constexpr std::size_t any = std::numeric_limits<std::size_t>::max();

constexpr std::array<Builtin, 24> builtins{{
    {"sin", Op::sin, 1, 1},     {"cos", Op::cos, 1, 1},   {"tan", Op::tan, 1, 1},     {"asin", Op::asin, 1, 1},
    {"acos", Op::acos, 1, 1},   {"atan", Op::atan, 1, 1}, {"atan2", Op::atan2, 2, 2}, {"sinh", Op::sinh, 1, 1},
    {"cosh", Op::cosh, 1, 1},   {"tanh", Op::tanh, 1, 1}, {"asinh", Op::asinh, 1, 1}, {"acosh", Op::acosh, 1, 1},
    {"atanh", Op::atanh, 1, 1}, {"exp", Op::exp, 1, 1},   {"log", Op::log, 1, 1},     {"log10", Op::log10, 1, 1},
    {"sqrt", Op::sqrt, 1, 1},   {"cbrt", Op::cbrt, 1, 1}, {"abs", Op::abs, 1, 1},     {"sign", Op::sign, 1, 1},
    {"min", Op::min, 2, any},   {"max", Op::max, 2, any}, {"hypot", Op::hypot, 2, 2}, {"floor", Op::floor, 1, 1},
}};

constexpr std::array<std::string_view, 11> words{"t",  "time", "pi",  "sum", "product", "der",
                                                 "if", "in",   "and", "or",  "not"};

}  // namespace

const Builtin* find_builtin(std::string_view name) {
  for (const Builtin& builtin : builtins)
    if (builtin.name == name) return &builtin;
  return nullptr;
}

bool is_reserved(std::string_view name) {
  return find_builtin(name) != nullptr || std::find(words.begin(), words.end(), name) != words.end();
}

std::vector<std::string> callable_names() {
  std::vector<std::string> names;
  for (const Builtin& builtin : builtins) names.emplace_back(builtin.name);
  for (const std::string_view name : {"if", "der", "sum", "product"}) names.emplace_back(name);
  return names;
}

std::string unit_advice(std::string_view text) {
  const std::string_view word = text.substr(0, std::min(text.find_first_of("/*^ "), text.size()));
  static constexpr std::array<std::string_view, 26> units{"m",  "mm", "cm",  "km", "s",   "ms", "min", "h",   "kg",
                                                          "N",  "kN", "Nm",  "J",  "W",   "kW", "V",   "mV",  "A",
                                                          "Hz", "Pa", "bar", "K",  "deg", "C",  "rad", "Ohm"};
  if (std::find(units.begin(), units.end(), word) == units.end() || text.find(' ') != text.npos) return {};
  const bool whole = text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/*^-") == text.npos;
  return "; a unit is a label apart from the number: unit = \"" + std::string(whole ? text : word) + "\"";
}

std::string advice_for_foreign_name(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 34> foreign{{
      {"ln", "the natural logarithm is log(x)"},
      {"lg", "the decimal logarithm is log10(x)"},
      {"arcsin", "write asin(x)"},
      {"arccos", "write acos(x)"},
      {"arctan", "write atan(x)"},
      {"arctan2", "write atan2(y, x)"},
      {"arsinh", "write asinh(x)"},
      {"arcosh", "write acosh(x)"},
      {"artanh", "write atanh(x)"},
      {"pow", "a power is written x^y"},
      {"power", "a power is written x^y"},
      {"sqr", "a square is written x^2"},
      {"square", "a square is written x^2"},
      {"fabs", "write abs(x)"},
      {"sgn", "write sign(x)"},
      {"signum", "write sign(x)"},
      {"ceil", "write -floor(-x)"},
      {"round", "write floor(x + 0.5)"},
      {"mod", "write x - n*floor(x/n)"},
      {"cot", "write 1/tan(x)"},
      {"diff", "a derivative is written der(x)"},
      {"ddt", "a derivative is written der(x)"},
      {"D", "a derivative is written der(x)"},
      {"d", "a derivative is written der(x)"},
      {"dt", "a derivative is written der(x)"},
      {"derivative", "a derivative is written der(x)"},
      {"int", "write a variable whose derivative is the integrand: der(s) = ..."},
      {"integral", "write a variable whose derivative is the integrand: der(s) = ..."},
      {"log2", "write log(x)/log(2)"},
      {"step", "write if(t < 1, 0, 1)"},
      {"heaviside", "write if(x < 0, 0, 1)"},
      {"exponent", "write exp(x)"},
      {"\u03C0", "write pi"},
      {"PI", "write pi"},
  }};
  for (const auto& [word, advice] : foreign)
    if (word == name) return std::string(advice);
  if (name == "Pi") return "write pi";
  if (name == "e") return "Euler's number is exp(1), and e^x is written exp(x)";
  if (name == "true" || name == "false") return "write a comparison such as x > 0, or 1 and 0 for a discrete value";
  if (name == "on" || name == "off") return "write 1 for on and 0 for off";
  if (name == "kinetic" || name == "potential")
    return "the energies have no names: define one in [definitions], and use that name in both places";
  if (name == "inf" || name == "nan") return "there is no such number in a model";
  return {};
}

}  // namespace daedalus::model
