#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace daedalus::report {

/// What a result is read for: to go on from one row of it, or to be compared with all of them.
enum class ResultUse { restart, reference };

/// A row of a result file, from which a run can continue, and what stands before it.
struct ResultRow {
  std::string path;
  ResultUse use = ResultUse::restart;
  std::string model;                 ///< its name, where the file says so; a CSV file does not
  std::vector<std::string> columns;  ///< beside t
  double t = 0.0;
  std::vector<double> values;  ///< of the columns
  std::size_t rows = 0;        ///< up to this one, with it
  std::size_t rows_after = 0;  ///< complete rows that follow it
  bool torn = false;           ///< the file ends with an incomplete row

  std::vector<double> recent_t;                    ///< of the last rows up to this one
  std::vector<std::vector<double>> recent_values;  ///< of the same rows

  std::uintmax_t bytes = 0;               ///< of a CSV file up to the end of this row
  /// All rows up to this one, row by row; of a CSV file, which may be larger than the memory, only for ResultUse::reference.
  std::vector<double> all_t, all_values;
};

/// Splits "FILE@T" where the text after the last @ is a number and no file has the whole name.
std::pair<std::string, std::optional<double>> split_restart(const std::string& text);

/// Reads the last complete row of a .csv, .json or .h5 file, or the last one that is not after `until`. Throws
/// Error("file-not-found"), Error("unknown-file-type"), Error("bad-result-file") or Error("no-such-row").
ResultRow read_result(const std::string& path, std::optional<double> until, ResultUse use = ResultUse::restart);

/// Throws Error("restart-columns") unless a run with these columns can be appended to the file.
void require_columns(const ResultRow& row, const std::vector<std::string>& columns);

}  // namespace daedalus::report
