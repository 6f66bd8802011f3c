#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

namespace daedalus::cli {

/// Takes Ctrl-C, SIGTERM and SIGHUP: the first one asks the run to stop, the second one ends the program at once. A
/// limit on the size of files becomes a fault of the write instead of a signal.
void take_signals();
/// Whether a signal asked to stop.
bool asked_to_stop();

/// One line on the terminal that is written again and again, from the second second of a run on.
class ProgressLine {
 public:
  enum class Show { on_terminal, never };
  explicit ProgressLine(Show show);
  ~ProgressLine();
  void operator()(double t, double t_start, double t_end, double h);
  /// The same for many runs.
  void count(std::size_t done, std::size_t planned, std::size_t failed);
  /// Takes the line away, so that a message can be told.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  /// Whether it is time to write; then for how long it has been running, in seconds.
  std::optional<double> due();
  bool wanted_, shown_ = false;
  Clock::time_point begin_, last_;
};

}  // namespace daedalus::cli
