#include <nlohmann/json.hpp>

#include "daedalus/expr/print.hpp"
#include "daedalus/expr/tidy.hpp"
#include "daedalus/report/derivation.hpp"
#include "daedalus/report/version.hpp"

namespace daedalus::report {

using Json = nlohmann::ordered_json;
using structure::Derivation;

namespace {

std::string text_of(const expr::Expr& e) { return expr::to_text(expr::tidy(e)); }

Json equations_json(const std::vector<Derivation::Equation>& equations) {
  Json list = Json::array();
  for (const Derivation::Equation& equation : equations)
    list.push_back({{"name", equation.name}, {"equation", text_of(equation.left) + " = " + text_of(equation.right)}});
  return list;
}

/// A matrix as an array of its rows.
Json rows_json(const expr::SparseExpr& matrix) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    Json row(matrix.columns, "0");
    for (std::size_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k)
      row[matrix.column[k]] = text_of(matrix.value[k]);
    rows.push_back(row);
  }
  return rows;
}

Json rows_json(const linalg::RationalMatrix& matrix) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    Json row = Json::array();
    for (std::size_t j = 0; j < matrix.columns; ++j) row.push_back(matrix(i, j).text());
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::string steps_json(const Derivation& derivation) {
  Json steps = Json::array();
  for (const Derivation::Step& step : derivation.steps) {
    Json parts = Json::array();
    for (const Derivation::Part& part : step.parts) {
      Json one{{"text", part.text}};
      if (!part.equations.empty()) one["equations"] = equations_json(part.equations);
      for (const Derivation::Matrix& matrix : part.matrices)
        one["matrices"].push_back({{"name", matrix.name},
                                   {"rows", matrix.fractions ? rows_json(*matrix.fractions) : rows_json(matrix.entries)}});
      parts.push_back(one);
    }
    steps.push_back({{"title", step.title}, {"parts", parts}});
  }
  Json json{{"version", version()},
            {"model", derivation.model},
            {"kind", derivation.kind},
            {"method", derivation.method},
            {"complete", derivation.complete}};
  json["index"] = derivation.index ? Json(*derivation.index) : Json();
  json["steps"] = steps;
  json["reduced_system"] = equations_json(derivation.reduced);
  json["consistency_conditions"] = equations_json(derivation.conditions);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace daedalus::report
