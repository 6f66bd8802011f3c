#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "cli/command.hpp"
#include "daedalus/base/error.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/report/csv.hpp"
#include "daedalus/report/json.hpp"
#include "daedalus/report/text.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::cli {

namespace {

volatile std::sig_atomic_t interrupt_asked = 0;

extern "C" void on_interrupt(int) { interrupt_asked = 1; }

/// One line on the terminal that is written again and again, from the second second of a run on.
class ProgressLine {
 public:
  explicit ProgressLine(bool wanted) : wanted_(wanted && isatty(STDERR_FILENO) != 0), begin_(Clock::now()), last_(begin_) {}
  ~ProgressLine() {
    if (shown_) tell("\r\033[K");
  }
  void operator()(double t, double t_start, double t_end, double h) {
    if (!wanted_) return;
    const auto now = Clock::now();
    const double running = seconds(now - begin_);
    if (running < 1.0 || seconds(now - last_) < 0.1) return;
    last_ = now;
    shown_ = true;
    const double part = (t - t_start) / (t_end - t_start);
    tell(fmt::format("\r\033[K{:3.0f} %  t = {}  step {}  {:.0f} s left", 100.0 * part, brief(t, 5), brief(h, 2),
                     part > 0.0 ? running * (1.0 - part) / part : 0.0));
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds(Clock::duration d) { return std::chrono::duration<double>(d).count(); }
  bool wanted_, shown_ = false;
  Clock::time_point begin_, last_;
};

enum class FileKind { none, csv, json };

FileKind kind_of(const std::string& path) {
  if (path.empty()) return FileKind::none;
  if (path.ends_with(".csv")) return FileKind::csv;
  if (path.ends_with(".json")) return FileKind::json;
  if (path.ends_with(".h5")) throw Error("not-yet", "HDF5 files are not available yet", "write a .csv or .json file");
  throw Error("unknown-file-type", fmt::format("the ending of '{}' does not say what to write", path),
              "end the name in .csv or .json");
}

/// The first and the last row alone.
solve::Trajectory ends_of(const solve::Trajectory& run) {
  solve::Trajectory ends = run;
  if (run.t.size() > 2) {
    const auto width = static_cast<std::ptrdiff_t>(run.columns.size());
    ends.t = {run.t.front(), run.t.back()};
    ends.values.assign(run.values.begin(), run.values.begin() + width);
    ends.values.insert(ends.values.end(), run.values.end() - width, run.values.end());
  }
  return ends;
}

}  // namespace

int simulate(const Command& command) {
  const FileKind kind = kind_of(command.output);
  const auto begin = std::chrono::steady_clock::now();
  model::Model model = read(command);
  const double read_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const solve::Prepared prepared = solve::prepare(std::move(model));

  solve::RunOptions options = command.run;
  options.rows = kind == FileKind::none ? solve::Rows::ends : solve::Rows::steps;
  std::signal(SIGINT, on_interrupt);
  std::signal(SIGTERM, on_interrupt);
  options.interrupt = [] { return interrupt_asked != 0; };
  solve::Trajectory run;
  {
    ProgressLine progress(!command.quiet);
    const double t_start = solve::start_time(*prepared.model, options);
    options.progress = [&](double t, double t_end, double h) { progress(t, t_start, t_end, h); };
    run = solve::simulate(prepared, options);
  }
  run.prepare_seconds += read_seconds;
  run.stages.emplace(run.stages.begin(), "read", read_seconds);

  if (kind == FileKind::csv) report::write_file(command.output, report::to_csv(run));
  if (kind == FileKind::json) report::write_file(command.output, report::to_json(run));
  if (command.json) {
    const bool times = options.samples || options.every || !options.at.empty();
    print(report::to_json(times ? run : ends_of(run)));
  } else if (!command.quiet) {
    print(report::to_text(run, command.model));
    if (kind != FileKind::none)
      print(fmt::format("{:<10}{} ({}, {})\n", "wrote", command.output, count(run.t.size(), "row"),
                        count(run.columns.size() + 1, "column")));
  }
  if (run.success()) return done;
  if (run.status == integrate::Status::interrupted) {
    tell(run.message + "\n");
    return interrupted;
  }
  tell(fmt::format("error[{}]: {}\n", solve::name_of(run.status), run.message));
  return numerics_failed;
}

}  // namespace daedalus::cli
