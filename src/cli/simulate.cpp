#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>

#include "cli/command.hpp"
#include "daedalus/base/error.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/report/csv.hpp"
#include "daedalus/report/json.hpp"
#include "daedalus/report/plot.hpp"
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

enum class PlotKind { none, svg, pdf };

PlotKind plot_kind_of(const std::string& path) {
  if (path.empty()) return PlotKind::none;
  if (path.ends_with(".svg")) return PlotKind::svg;
  if (path.ends_with(".pdf")) return PlotKind::pdf;
  throw Error("unknown-file-type", fmt::format("the ending of '{}' does not say what to draw", path),
              "end the name in .svg or .pdf");
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

/// Takes out the columns that only the figure needed; they are the last ones.
void drop_residuals(solve::Trajectory& run, bool has_energy) {
  const auto extra = [](const std::string& name) { return name.starts_with("residual.") || name.starts_with("der(residual."); };
  const std::size_t width = run.columns.size();
  if (has_energy && width > 0) run.columns.pop_back();
  while (!run.columns.empty() && extra(run.columns.back())) run.columns.pop_back();
  const std::size_t kept = run.columns.size();
  for (std::size_t row = 1; row < run.t.size(); ++row)
    std::copy_n(run.values.begin() + static_cast<std::ptrdiff_t>(row * width), kept, run.values.begin() + static_cast<std::ptrdiff_t>(row * kept));
  run.values.resize(run.t.size() * kept);
}

}  // namespace

int simulate(const Command& command) {
  const FileKind kind = kind_of(command.output);
  const PlotKind plot = plot_kind_of(command.plot);
  const auto begin = std::chrono::steady_clock::now();
  model::Model model = read(command);
  const double read_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const solve::Prepared prepared = solve::prepare(std::move(model));

  solve::RunOptions options = command.run;
  options.rows = kind == FileKind::none && plot == PlotKind::none ? solve::Rows::ends : solve::Rows::steps;
  const bool times = options.samples || options.every || !options.at.empty();
  if (plot != PlotKind::none) {
    options.residuals = options.pictures = true;
    // Dense output draws smoother than straight lines between long steps; a file keeps the steps.
    if (!times && kind == FileKind::none) options.samples = prepared.functions->dimension() < 200 ? 4001 : 1001;
  }
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

  if (plot == PlotKind::svg) report::write_file(command.plot, report::plot_svg(report::plot_data(run, *prepared.model)));
  if (plot == PlotKind::pdf) report::write_file(command.plot, report::plot_pdf(report::plot_data(run, *prepared.model)));
  if (plot != PlotKind::none && !command.run.residuals) drop_residuals(run, prepared.functions->has_energy());
  if (kind == FileKind::csv) report::write_file(command.output, report::to_csv(run));
  if (kind == FileKind::json) report::write_file(command.output, report::to_json(run));
  if (command.json) {
    print(report::to_json(times ? run : ends_of(run)));
  } else if (!command.quiet) {
    print(report::to_text(run, command.model));
    if (kind != FileKind::none)
      print(fmt::format("{:<10}{} ({}, {})\n", "wrote", command.output, count(run.t.size(), "row"),
                        count(run.columns.size() + 1, "column")));
    if (plot != PlotKind::none) print(fmt::format("{:<10}{}\n", "drew", command.plot));
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
