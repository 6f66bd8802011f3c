#include "daedalus/report/csv_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "daedalus/base/text.hpp"
#include "daedalus/report/csv.hpp"

namespace daedalus::report {

namespace {

constexpr std::size_t large = std::size_t{1} << 18;  ///< bytes that are written without waiting
constexpr std::chrono::milliseconds patience{100}, patience_after_fault{1000};

}  // namespace

CsvStream::CsvStream(const std::string& path) : file_(path) {}

CsvStream::CsvStream(const ResultRow& earlier)
    : file_(earlier.path, earlier.bytes), earlier_(earlier), rows_written_(earlier.rows), t_written_(earlier.t) {}

CsvStream::~CsvStream() {
  if (rows_waiting_ > 0) flush();
}

void CsvStream::columns(const std::vector<std::string>& names) {
  column_count_ = names.size();
  if (!earlier_) {
    pending_ = csv_header(names);
    header_waiting_ = true;
    return;
  }
  require_columns(*earlier_, names);
}

void CsvStream::row(double t, std::span<const double> values) {
  if (earlier_ && t <= earlier_->t) return;
  append_csv_row(pending_, t, values);
  if (rows_waiting_++ == 0) t_waiting_first_ = t;
  t_waiting_last_ = t;
  // The first row goes out at once: a disk that takes nothing is then known early.
  if (!faulty_ && (header_waiting_ || pending_.size() >= large)) {
    flush();
  } else if (rows_waiting_ % 64 == 0) {
    poll();
  }
}

void CsvStream::poll() {
  if (rows_waiting_ == 0) return;
  if (Clock::now() - tried_ >= (faulty_ ? patience_after_fault : patience)) flush();
}

bool CsvStream::flush() {
  tried_ = Clock::now();
  const std::size_t taken = file_.write(pending_);
  faulty_ = taken < pending_.size() || !file_.commit();
  if (faulty_ && !file_.committed()) {
    file_.take_back();
    return false;
  }
  // A row that was taken in part only is taken back, so that the file ends with a whole one.
  const std::size_t end = taken == 0 ? std::string::npos : pending_.rfind('\n', taken - 1);
  const std::size_t whole = end == std::string::npos ? 0 : end + 1;
  if (whole < taken) file_.cut(taken - whole);
  note_written(std::string_view(pending_).substr(0, whole));
  pending_.erase(0, whole);
  return !faulty_;
}

void CsvStream::note_written(std::string_view text) {
  std::size_t lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  if (lines == 0) return;
  if (header_waiting_) --lines;
  header_waiting_ = false;
  if (lines == 0) return;
  rows_written_ += lines;
  rows_waiting_ -= lines;
  const auto time_at = [](std::string_view row, double& t) { std::from_chars(row.data(), row.data() + row.size(), t); };
  const std::size_t before_last = text.size() < 2 ? std::string_view::npos : text.rfind('\n', text.size() - 2);
  time_at(text.substr(before_last == std::string_view::npos ? 0 : before_last + 1), t_written_);
  if (rows_waiting_ > 0) time_at(std::string_view(pending_).substr(text.size()), t_waiting_first_);
}

bool CsvStream::finish() {
  if (rows_waiting_ == 0 && !earlier_) return !faulty_;
  if (!flush()) return false;
  faulty_ = !file_.sync();
  return !faulty_;
}

std::string CsvStream::fault() const {
  const std::string has =
      rows_written_ == 0 ? "none of the rows is in it"
                         : fmt::format("it has {} up to t = {}", count(rows_written_, "row"), shortest(t_written_));
  return fmt::format("'{}' cannot be written: {}; {}", path(), file_.reason(), has);
}

}  // namespace daedalus::report
