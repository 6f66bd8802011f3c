#include "daedalus/report/matrix_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daedalus/expr/print.hpp"
#include "daedalus/expr/tidy.hpp"

namespace daedalus::report {

namespace {

/// The text of an entry that is not zero.
struct Cell {
  std::size_t row, column;
  std::string text;
};

constexpr std::size_t widest = 110, largest = 12;

std::string text_of(const std::string& name, std::size_t rows, std::size_t columns, const std::vector<Cell>& cells) {
  if (rows == 0 || columns == 0) return fmt::format("{} has no entries\n", name);
  if (cells.empty()) return fmt::format("{} = 0\n", name);
  std::vector<std::size_t> width(columns, 1);
  for (const Cell& cell : cells) width[cell.column] = std::max(width[cell.column], cell.text.size());
  std::size_t total = 0;
  for (const std::size_t one : width) total += one + 2;
  std::string text = fmt::format("{} =\n", name);
  if (rows > largest || columns > largest || total > widest) {
    for (const Cell& cell : cells) text += fmt::format("  [{},{}]  {}\n", cell.row + 1, cell.column + 1, cell.text);
    return text;
  }
  auto cell = cells.begin();
  for (std::size_t i = 0; i < rows; ++i) {
    text += "  [";
    for (std::size_t j = 0; j < columns; ++j) {
      const bool here = cell != cells.end() && cell->row == i && cell->column == j;
      text += fmt::format(" {:<{}} ", here ? cell->text : "0", width[j]);
      if (here) ++cell;
    }
    text += "]\n";
  }
  return text;
}

}  // namespace

std::string matrix_text(const std::string& name, const expr::SparseExpr& matrix) {
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < matrix.rows; ++i)
    for (std::size_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k)
      if (std::string text = expr::to_text(expr::tidy(matrix.value[k])); text != "0")
        cells.push_back({i, matrix.column[k], std::move(text)});
  return text_of(name, matrix.rows, matrix.columns, cells);
}

std::string matrix_text(const std::string& name, const linalg::RationalMatrix& matrix) {
  std::vector<Cell> cells;
  for (std::size_t i = 0; i < matrix.rows; ++i)
    for (std::size_t j = 0; j < matrix.columns; ++j)
      if (matrix(i, j).sign() != 0) cells.push_back({i, j, matrix(i, j).text()});
  return text_of(name, matrix.rows, matrix.columns, cells);
}

}  // namespace daedalus::report
