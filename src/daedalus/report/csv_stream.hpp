#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "daedalus/report/output_file.hpp"
#include "daedalus/report/result_file.hpp"

namespace daedalus::report {

/// Writes rows to a CSV file while they are computed. Whole rows reach the file at the latest a tenth of a second after
/// they were given, so that a run that is killed leaves everything but its last moments. Rows that the disk does not
/// take wait in memory and are tried again.
class CsvStream {
 public:
  /// Starts a new file; an older one of that name stays until the first row is written. Throws Error("cannot-write").
  explicit CsvStream(const std::string& path);
  /// Continues a file after the row that was read from it. Throws Error("cannot-write").
  explicit CsvStream(const ResultRow& earlier);
  /// Writes what is left, if it can.
  ~CsvStream();

  /// Must be called before the first row. Throws Error("restart-columns") where a continued file has others.
  void columns(const std::vector<std::string>& names);
  /// Takes a row. Rows at or before the last one of a continued file are there already.
  void row(double t, std::span<const double> values);
  /// Writes what has waited for a tenth of a second, or for a second after a fault.
  void poll();
  /// Writes everything that is left. False where that is not possible.
  bool finish();

  /// Whether more waits in memory than may: the run has to stop.
  bool overflown() const { return pending_.size() > most_pending; }
  /// Whether the last attempt to write failed.
  bool faulty() const { return faulty_; }
  /// "'x.csv' cannot be written: No space left on device; it has 12 rows up to t = 3"
  std::string fault() const;
  std::string advice() const { return file_.advice(); }

  const std::string& path() const { return file_.path(); }
  std::size_t rows() const { return rows_written_; }  ///< in the file, also those of a continued one
  std::size_t rows_waiting() const { return rows_waiting_; }
  double t_written() const { return t_written_; }  ///< of the last row in the file
  double t_waiting_first() const { return t_waiting_first_; }
  double t_waiting_last() const { return t_waiting_last_; }
  std::size_t column_count() const { return column_count_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t most_pending = std::size_t{256} << 20;

  bool flush();
  void note_written(std::string_view text);

  OutputFile file_;
  std::optional<ResultRow> earlier_;
  std::string pending_;
  bool header_waiting_ = false, faulty_ = false;
  std::size_t rows_written_ = 0, rows_waiting_ = 0, column_count_ = 0;
  double t_written_ = 0.0, t_waiting_first_ = 0.0, t_waiting_last_ = 0.0;
  Clock::time_point tried_;
};

}  // namespace daedalus::report
