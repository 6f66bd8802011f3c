// The error of a run against a reference: max over output times and components of
//     |x - r| / (1 + |r|),
// the absolute error of small numbers and the relative one of large numbers, as test sets measure it.

#include "daedalus/solve/comparison_errors.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace daedalus::solve {

std::string_view name_of(Quantity quantity) {
  static constexpr std::array<std::string_view, quantity_count> names{"position", "velocity", "multiplier", "auxiliary",
                                                                      "unknowns"};
  return names[static_cast<std::size_t>(quantity)];
}

std::optional<double> of_motion(const ErrorBy& error) {
  std::optional<double> most;
  for (const Quantity quantity : {Quantity::position, Quantity::velocity, Quantity::auxiliary, Quantity::unknown})
    if (const auto& one = of(error, quantity); one) most = std::max(most.value_or(0.0), *one);
  return most ? most : of(error, Quantity::multiplier);
}

std::vector<ComparedColumn> compared_columns(const model::Model& model) {
  std::vector<ComparedColumn> columns;
  const bool mechanical = model.kind == model::Kind::lagrangian || model.kind == model::Kind::mechanical;
  for (const model::Unknown& x : model.variables)
    columns.push_back({x.name, mechanical ? Quantity::position : Quantity::unknown});
  if (!mechanical) return columns;
  for (const model::Unknown& x : model.variables)
    columns.push_back({model::derivative_name(x.name, 1), Quantity::velocity});
  for (const model::Unknown& z : model.auxiliary) columns.push_back({z.name, Quantity::auxiliary});
  for (const model::Expr& lambda : model.multipliers) columns.push_back({lambda.name(), Quantity::multiplier});
  return columns;
}

namespace {

std::unordered_map<std::string_view, std::size_t> positions_of(const std::vector<std::string>& names) {
  std::unordered_map<std::string_view, std::size_t> positions;
  for (std::size_t i = 0; i < names.size(); ++i) positions.emplace(names[i], i);
  return positions;
}

}  // namespace

Errors errors_against(const Samples& reference, const Samples& run, const std::vector<ComparedColumn>& columns) {
  struct Pair {
    std::size_t r, x;
    Quantity quantity;
  };
  std::vector<Pair> pairs;
  const auto in_reference = positions_of(reference.columns), in_run = positions_of(run.columns);
  for (const ComparedColumn& column : columns) {
    const auto r = in_reference.find(column.name), x = in_run.find(column.name);
    if (r != in_reference.end() && x != in_run.end()) pairs.push_back({r->second, x->second, column.quantity});
  }
  Errors errors;
  std::size_t i = 0;
  for (std::size_t k = 0; k < reference.t.size(); ++k) {
    while (i < run.t.size() && run.t[i] < reference.t[k]) ++i;
    if (i == run.t.size() || run.t[i] != reference.t[k]) continue;
    // An event has two rows of the same time; what is after it counts.
    while (i + 1 < run.t.size() && run.t[i + 1] == run.t[i]) ++i;
    if (k + 1 < reference.t.size() && reference.t[k + 1] == reference.t[k]) continue;
    errors.end = {};
    ++errors.times;
    for (const Pair& pair : pairs) {
      const double r = reference.values[k * reference.columns.size() + pair.r];
      const double x = run.values[i * run.columns.size() + pair.x];
      if (std::isnan(r)) continue;
      const double error = std::abs(x - r) / (1.0 + std::abs(r));
      std::optional<double>& now = of(errors.end, pair.quantity);
      now = std::max(now.value_or(0.0), std::isnan(error) ? std::numeric_limits<double>::infinity() : error);
    }
    for (std::size_t q = 0; q < quantity_count; ++q)
      if (errors.end[q]) errors.over_time[q] = std::max(errors.over_time[q].value_or(0.0), *errors.end[q]);
  }
  return errors;
}

}  // namespace daedalus::solve
