#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daedalus/model/model.hpp"

namespace daedalus::solve {

/// What kind of number a column is; errors of different kinds are told apart.
enum class Quantity { position, velocity, multiplier, auxiliary, unknown };
inline constexpr std::size_t quantity_count = 5;
std::string_view name_of(Quantity quantity);

/// By quantity; absent where nothing was compared.
using ErrorBy = std::array<std::optional<double>, quantity_count>;
inline std::optional<double>& of(ErrorBy& error, Quantity quantity) {
  return error[static_cast<std::size_t>(quantity)];
}
inline const std::optional<double>& of(const ErrorBy& error, Quantity quantity) {
  return error[static_cast<std::size_t>(quantity)];
}
/// The largest of positions, velocities, auxiliary and other unknowns; of multipliers where there is nothing else.
std::optional<double> of_motion(const ErrorBy& error);

/// Rows with names.
struct Samples {
  std::vector<std::string> columns;
  std::vector<double> t;       ///< ascending
  std::vector<double> values;  ///< row by row
};

struct ComparedColumn {
  std::string name;
  Quantity quantity = Quantity::unknown;
};
/// The unknowns of a model: positions, velocities, multipliers and auxiliary unknowns of mechanics, the variables of a
/// DAE.
std::vector<ComparedColumn> compared_columns(const model::Model& model);

struct Errors {
  ErrorBy over_time, end;
  std::size_t times = 0;  ///< that both have
};

/// max |x - r|/(1 + |r|) over the times that both have and over the components of one quantity, x from `run`, r from
/// `reference`; and the same at the last of these times. Infinite where x is not a number.
Errors errors_against(const Samples& reference, const Samples& run, const std::vector<ComparedColumn>& columns);

}  // namespace daedalus::solve
