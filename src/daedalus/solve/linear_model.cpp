#include "daedalus/solve/linear_model.hpp"

#include <fmt/format.h>

#include <cctype>
#include <map>
#include <set>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/substitute.hpp"

namespace daedalus::solve {

namespace {

std::vector<std::string> numbered(const std::string& letter, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < count; ++k) names.push_back(count == 1 ? letter : letter + std::to_string(k + 1));
  return names;
}

/// Letters, digits and underscores, as names of a model are; unique among those before.
std::string plain(const std::string& name, std::set<std::string>& used) {
  std::string result;
  for (const char c : name) {
    const bool fine = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (fine)
      result += c;
    else if (!result.empty() && result.back() != '_' && c != ')' && c != ']')
      result += '_';
  }
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0])) != 0) result = "x_" + result;
  std::string unique = result;
  for (int k = 2; !used.insert(unique).second; ++k) unique = result + "_" + std::to_string(k);
  return unique;
}

std::string dense_text(const linalg::DenseMatrix& matrix) {
  std::string text = "[";
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    text += i == 0 ? "[" : ",\n     [";
    for (std::size_t j = 0; j < matrix.columns; ++j) text += (j == 0 ? "" : ", ") + shortest(matrix(i, j) + 0.0);
    text += "]";
  }
  return text + "]";
}

std::string sparse_text(const linalg::Sparsity& pattern, const std::vector<double>& values) {
  constexpr std::size_t few = 12;
  if (pattern.rows <= few) {
    auto matrix = linalg::DenseMatrix::zero(pattern.rows, pattern.columns);
    for (std::size_t i = 0; i < pattern.rows; ++i)
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) matrix(i, pattern.column[k]) = values[k];
    return dense_text(matrix);
  }
  std::string text = fmt::format("{{ rows = {}, columns = {}, entries = [", pattern.rows, pattern.columns);
  bool first = true;
  for (std::size_t i = 0; i < pattern.rows; ++i)
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
      if (values[k] == 0.0) continue;
      text += fmt::format("{}[{}, {}, {}]", first ? "" : ", ", i + 1, pattern.column[k] + 1, shortest(values[k]));
      first = false;
    }
  return text + "] }";
}

}  // namespace

LinearModel linear_model(const model::Model& model) {
  if (model.E.rows != model.E.columns)
    throw Error("not-square", fmt::format("{} for {}", count(model.E.rows, "equation"), count(model.E.columns, "variable")),
                "give E and A as many rows as there are variables", {model.source});
  const auto numbers = model.numbers();
  const std::size_t n = model.E.rows;
  LinearModel out;
  out.name = model.name;
  for (const model::Unknown& unknown : model.variables) out.states.push_back(unknown.name);
  std::vector<std::map<std::size_t, std::pair<double, double>>> rows(n);
  for (const model::Entry& entry : model.E.entries) rows[entry.row][entry.column].first = expr::evaluate(entry.value, numbers);
  for (const model::Entry& entry : model.A.entries) rows[entry.row][entry.column].second = expr::evaluate(entry.value, numbers);
  out.pattern = {n, n, {0}, {}};
  for (const auto& row : rows) {
    for (const auto& [column, values] : row) {
      out.pattern.column.push_back(column);
      out.E.push_back(values.first);
      out.A.push_back(values.second);
    }
    out.pattern.row_start.push_back(out.pattern.column.size());
  }
  const auto dense = [&](const model::Matrix& matrix, std::size_t height, std::size_t width) {
    auto result = linalg::DenseMatrix::zero(height, width);
    for (const model::Entry& entry : matrix.entries) result(entry.row, entry.column) = expr::evaluate(entry.value, numbers);
    return result;
  };
  out.inputs = numbered("u", model.B.columns);
  out.outputs = numbered("y", model.C.rows);
  out.B = dense(model.B, n, model.B.columns);
  out.C = dense(model.C, model.C.rows, n);
  out.D = dense(model.D, model.C.rows, model.B.columns);
  return out;
}

std::string model_file(const LinearModel& model) {
  std::set<std::string> used{"t", "time", "pi", "der"};
  std::string text = fmt::format("name = \"{}_linear\"\nkind = \"linear\"\n", model.name);
  if (model.deviations) {
    text += fmt::format("description = \"the model {} linearized at t = {}; all values are deviations from that point\"\n", model.name,
                        shortest(model.t));
    for (std::size_t k = 0; k < model.inputs.size(); ++k)
      text += fmt::format("# column {} of B, D: {} - ({})\n", k + 1, model.inputs[k], shortest(model.input_point[k]));
    for (std::size_t k = 0; k < model.outputs.size(); ++k)
      text += fmt::format("# row {} of C, D: {} - ({})\n", k + 1, model.outputs[k], shortest(model.output_point[k]));
  }
  text += "\n[linear]\nE = " + sparse_text(model.pattern, model.E) + "\nA = " + sparse_text(model.pattern, model.A) + "\n";
  if (!model.inputs.empty() && !model.outputs.empty())
    text += "B = " + dense_text(model.B) + "\nC = " + dense_text(model.C) + "\nD = " + dense_text(model.D) + "\n";
  text += "\n[variables]\n";
  for (std::size_t i = 0; i < model.size(); ++i) {
    const std::string name = plain(model.states[i], used);
    text += name + " = 0.0";
    if (model.deviations) text += fmt::format("  # {} - ({})", model.states[i], shortest(model.point[i]));
    text += "\n";
  }
  return text;
}

}  // namespace daedalus::solve
