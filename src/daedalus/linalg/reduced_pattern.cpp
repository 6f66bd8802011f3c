#include "daedalus/linalg/reduced_pattern.hpp"

namespace daedalus::linalg {

Reduced reduce_weight(const Sparsity& weight, const std::vector<std::size_t>& free,
                      const std::vector<std::size_t>& position) {
  Reduced reduced;
  reduced.pattern.rows = reduced.pattern.columns = free.size();
  for (std::size_t r = 0; r < free.size(); ++r) {
    bool diagonal = false;
    const auto add = [&](std::size_t column, std::size_t source) {
      reduced.pattern.column.push_back(column);
      reduced.source.push_back(source);
    };
    for (std::size_t k = weight.row_start[free[r]]; k < weight.row_start[free[r] + 1]; ++k) {
      const std::size_t column = position[weight.column[k]];
      if (column == no_entry) continue;
      if (column > r && !diagonal) add(r, no_entry);
      diagonal = diagonal || column >= r;
      add(column, k);
    }
    if (!diagonal) add(r, no_entry);
    reduced.pattern.row_start.push_back(reduced.pattern.column.size());
  }
  return reduced;
}

Reduced reduce_columns(const Sparsity& jacobian, std::size_t columns, const std::vector<std::size_t>& position) {
  Reduced reduced;
  reduced.pattern.rows = jacobian.rows;
  reduced.pattern.columns = columns;
  for (std::size_t i = 0; i < jacobian.rows; ++i) {
    for (std::size_t k = jacobian.row_start[i]; k < jacobian.row_start[i + 1]; ++k) {
      if (position[jacobian.column[k]] == no_entry) continue;
      reduced.pattern.column.push_back(position[jacobian.column[k]]);
      reduced.source.push_back(k);
    }
    reduced.pattern.row_start.push_back(reduced.pattern.column.size());
  }
  return reduced;
}

Sparsity extended_weight(const Sparsity& weight, std::size_t m) {
  Sparsity extended = weight;
  for (std::size_t j = 0; j < m; ++j) {
    extended.column.push_back(weight.rows + j);
    extended.row_start.push_back(extended.column.size());
  }
  extended.rows = extended.columns = weight.rows + m;
  return extended;
}

Sparsity extended_jacobian(const Sparsity& jacobian) {
  Sparsity extended;
  extended.rows = jacobian.rows;
  extended.columns = jacobian.columns + jacobian.rows;
  for (std::size_t i = 0; i < jacobian.rows; ++i) {
    for (std::size_t k = jacobian.row_start[i]; k < jacobian.row_start[i + 1]; ++k) {
      extended.column.push_back(jacobian.column[k]);
    }
    extended.column.push_back(jacobian.columns + i);
    extended.row_start.push_back(extended.column.size());
  }
  return extended;
}

}  // namespace daedalus::linalg
