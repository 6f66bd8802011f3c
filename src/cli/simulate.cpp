#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "cli/check_values.hpp"
#include "cli/command.hpp"
#include "cli/output_kinds.hpp"
#include "cli/perturb.hpp"
#include "cli/progress.hpp"
#include "daedalus/base/error.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/report/csv.hpp"
#include "daedalus/report/csv_stream.hpp"
#include "daedalus/report/hdf5.hpp"
#include "daedalus/report/json.hpp"
#include "daedalus/report/page.hpp"
#include "daedalus/report/plot.hpp"
#include "daedalus/report/result_file.hpp"
#include "daedalus/report/text.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "daedalus/solve/restart.hpp"

namespace daedalus::cli {

namespace {

enum class FileKind { none, csv, json, h5 };

FileKind kind_of(const std::string& path) {
  if (path.empty()) return FileKind::none;
  if (path.ends_with(".csv")) return FileKind::csv;
  if (path.ends_with(".json")) return FileKind::json;
  if (path.ends_with(".h5")) return FileKind::h5;
  throw Error("unknown-file-type", fmt::format("the ending of '{}' does not say what to write", path),
              "end the name in .csv, .json or .h5");
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

/// How many of the columns were asked for: those that only a figure needs are the last ones.
std::size_t columns_without_residuals(const std::vector<std::string>& columns, bool has_energy) {
  const auto extra = [](const std::string& name) {
    return name.starts_with("residual.") || name.starts_with("der(residual.");
  };
  std::size_t kept = columns.size();
  if (has_energy && kept > 0) --kept;
  while (kept > 0 && extra(columns[kept - 1])) --kept;
  return kept;
}

void keep_columns(solve::Trajectory& run, std::size_t kept) {
  const std::size_t width = run.columns.size();
  if (kept == width) return;
  run.columns.resize(kept);
  for (std::size_t row = 1; row < run.t.size(); ++row)
    std::copy_n(run.values.begin() + static_cast<std::ptrdiff_t>(row * width), kept,
                run.values.begin() + static_cast<std::ptrdiff_t>(row * kept));
  run.values.resize(run.t.size() * kept);
}

/// The row to continue from, where --restart asks for one.
std::optional<report::ResultRow> restart_row(const Command& command) {
  if (command.restart.empty()) return std::nullopt;
  const auto [path, t] = report::split_restart(command.restart);
  return report::read_result(path, t);
}

bool same_file(const std::string& one, const std::string& other) {
  std::error_code ignored;
  return std::filesystem::equivalent(one, other, ignored) && !ignored;
}

/// The model, started at the row.
model::Model continued(model::Model model, const report::ResultRow& row, const solve::RunOptions& options) {
  const std::optional<double> t_end = options.t_end ? options.t_end : model.simulation.t_end;
  model = solve::continued(std::move(model), {row.t, row.columns, row.values, row.path, row.model});
  if (t_end && row.t > *t_end)
    throw Error("restart-after-end",
                fmt::format("the row at t = {} of '{}' is after the end of the run, t_end = {}", shortest(row.t),
                            row.path, shortest(*t_end)),
                "give a later --t-end, or an earlier row with --restart FILE@T");
  return model;
}

std::string continued_note(const report::ResultRow& row) {
  std::string text = fmt::format("continued from row {} of '{}' at t = {}", row.rows, row.path, shortest(row.t));
  if (row.rows_after > 0)
    text += fmt::format("; {} {} after it", count(row.rows_after, "row"), row.rows_after == 1 ? "comes" : "come");
  if (row.torn) text += "; an incomplete last row was left out";
  return text;
}

/// Puts the rows of a continued .json or .h5 file before the new ones.
void put_before(solve::Trajectory& run, const report::ResultRow& row) {
  const auto first = static_cast<std::size_t>(std::upper_bound(run.t.begin(), run.t.end(), row.t) - run.t.begin());
  run.t.erase(run.t.begin(), run.t.begin() + static_cast<std::ptrdiff_t>(first));
  run.values.erase(run.values.begin(), run.values.begin() + static_cast<std::ptrdiff_t>(first * run.columns.size()));
  run.t.insert(run.t.begin(), row.all_t.begin(), row.all_t.end());
  run.values.insert(run.values.begin(), row.all_values.begin(), row.all_values.end());
}

/// Says where the model asks for what is refused, where the command line does not.
Error with_place(const Error& error, const Command& command, const model::Model& model) {
  std::vector<Fault> faults = error.faults();
  const auto blame = [&](Fault& fault, const char* key, const std::optional<std::string>& given,
                         const std::optional<std::string>& in_model) {
    const auto place = model.places.find(std::string("simulation.") + key);
    if (given || !in_model || place == model.places.end() || fault.place.source) return;
    const std::string name = in_model->substr(0, in_model->find(':'));
    if (fault.message.find(name) != std::string::npos) fault.place = place->second;
  };
  for (Fault& fault : faults) {
    blame(fault, "method", command.run.method, model.simulation.method);
    blame(fault, "formulation", command.run.formulation, model.simulation.formulation);
  }
  return Error(std::move(faults));
}

/// What to try after a run that failed; empty where the message says it.
std::string advice_after(const solve::Trajectory& run) {
  const auto says = [&](std::string_view what) { return run.message.find(what) != std::string::npos; };
  if (run.status == integrate::Status::not_finite || says("finite number"))
    return "look for a root or logarithm of a negative number, a division by 0 or an overflow in the model there";
  if (says("mass matrix"))
    return "every coordinate needs inertia: its velocity in the kinetic energy with a positive mass, or a constraint that "
           "holds it";
  if (run.status == integrate::Status::event_failed && says("contradict"))
    return "reset fewer of the values, so that the others can follow, or to values that fit";
  if (says("leaves the domain of the coordinates"))
    return "start nearer to the constraints, or take a formulation without coordinates of its own, such as baumgarte";
  if (says("contradict")) return "drop one of them, or change start values or parameters";
  switch (run.status) {
    case integrate::Status::no_convergence:
      if (run.step && run.stats.steps == 0 && says("in the step")) return "give a smaller --step, or leave it out";
      return run.stats.steps == 0 ? "`daedalus init` shows the start; try other start values"
                                  : "try smaller steps with --max-step or --step, or a tighter --rtol";
    case integrate::Status::singular:
      if (says("has a corner"))
        return "make the constraint smooth (a table with interpolation = \"spline\" and more data, a formula without corners), or describe "
               "what happens at the corner by an event that resets the velocity";
      if (says("the equations change there") || says("after the event at"))
        return "a run keeps the index that it starts with: let both branches of the condition determine the same unknowns, or "
               "go on with a model of the equations that hold from there on";
      return "look at the position there; change start values or parameters so that it is not reached";
    case integrate::Status::step_too_small:
      return "look at the rows before that time (--output), or loosen --rtol and --atol";
    default:
      return {};
  }
}

/// Why the CSV file is not complete, with what becomes of the rows that are not in it.
std::string stream_fault(const report::CsvStream& stream, const char* fate_of_one, const char* fate_of_many) {
  if (stream.rows_waiting() == 0) return stream.fault();
  if (stream.rows_waiting() == 1)
    return fmt::format("{}; 1 row, t = {}, {}", stream.fault(), shortest(stream.t_waiting_first()), fate_of_one);
  return fmt::format("{}; {} from t = {} to t = {} {}", stream.fault(), count(stream.rows_waiting(), "row"),
                     shortest(stream.t_waiting_first()), shortest(stream.t_waiting_last()), fate_of_many);
}

}  // namespace

int simulate(const Command& command) {
  if (command.perturb) return simulate(with_perturbed_start(command));
  check_values(command);
  for (const std::string& path : {command.output, command.plot, command.page}) refuse_folder(path);
  const FileKind kind = kind_of(command.output);
  const PlotKind plot = plot_kind_of(command.plot);
  const bool page = page_asked(command.page);
  if (!command.curves.empty() && plot == PlotKind::none)
    throw Error("bad-command-line", "--curves chooses what --plot draws, and there is no --plot",
                "add --plot FILE.svg or --plot FILE.pdf");
  // What can be known about the files is checked before anything is computed.
  const std::optional<report::ResultRow> earlier = restart_row(command);
  const bool append = earlier && kind != FileKind::none && same_file(earlier->path, command.output);
  std::optional<report::CsvStream> stream;
  if (kind == FileKind::csv && append) stream.emplace(*earlier);
  if (kind == FileKind::csv && !append) stream.emplace(command.output);
  if (kind == FileKind::json || kind == FileKind::h5) report::check_writable(command.output);
  if (plot != PlotKind::none) report::check_writable(command.plot);
  if (page) report::check_writable(command.page);

  const auto begin = std::chrono::steady_clock::now();
  model::Model model = read(command);
  check_times(command, model);
  if (earlier) model = continued(std::move(model), *earlier, command.run);
  const double read_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const solve::Prepared prepared = solve::prepare(std::move(model));

  solve::RunOptions options = command.run;
  options.rows = kind == FileKind::none && plot == PlotKind::none && !page ? solve::Rows::ends : solve::Rows::steps;
  const bool times = options.samples || options.every || !options.at.empty();
  if (earlier) {
    options.continues = true;
    options.output_start = std::min(earlier->t, solve::start_time(*prepared.model, command.run));
    options.t_start = earlier->t;
    std::vector<solve::Moment> moments;
    for (std::size_t i = 0; i < earlier->recent_t.size(); ++i)
      moments.push_back(
          {earlier->recent_t[i], earlier->columns, earlier->recent_values[i], earlier->path, earlier->model});
    if (const auto next = solve::next_step(prepared, options, moments)) {
      options.first_step = next->size;
      options.first_step_was_refused = next->was_refused;
    }
  }
  // Dense output draws smoother than straight lines between long steps; a file keeps the steps.
  if (page || plot != PlotKind::none)
    report::picture_options(prepared, options,
                            kind == FileKind::none ? report::Between::dense_output : report::Between::nothing);
  const auto wanted_columns = [&](const std::vector<std::string>& columns) {
    return options.residuals == command.run.residuals
               ? columns.size()
               : columns_without_residuals(columns, prepared.functions && prepared.functions->has_energy());
  };
  const auto cut = [&](const std::vector<std::string>& columns) {
    return std::vector<std::string>(columns.begin(),
                                    columns.begin() + static_cast<std::ptrdiff_t>(wanted_columns(columns)));
  };
  if (append && !stream)
    options.on_columns = [&](const std::vector<std::string>& columns) {
      report::require_columns(*earlier, cut(columns));
    };
  if (stream) {
    options.keep_rows = plot != PlotKind::none || page || (command.json && times);
    options.on_columns = [&](const std::vector<std::string>& columns) { stream->columns(cut(columns)); };
    options.on_row = [&](double t, std::span<const double> values) {
      stream->row(t, values.first(stream->column_count()));
    };
  }

  if (!command.curves.empty())
    options.on_columns = [&, then = options.on_columns](const std::vector<std::string>& columns) {
      report::require_curves(command.curves, columns, *prepared.model);
      if (then) then(columns);
    };

  take_signals();
  solve::Trajectory run;
  {
    ProgressLine progress(command.quiet || command.json ? ProgressLine::Show::never : ProgressLine::Show::on_terminal);
    const double t_start = solve::start_time(*prepared.model, options);
    options.progress = [&](double t, double t_end, double h) { progress(t, t_start, t_end, h); };
    bool told = false;
    options.interrupt = [&] {
      if (stream) {
        stream->poll();
        if (stream->faulty() && !told) {
          told = true;
          progress.clear();
          tell(fmt::format(
              "warning: {}\n  -> {}\n",
              stream_fault(*stream, "waits in memory and is tried again", "wait in memory and are tried again"),
              stream->advice()));
        }
        if (stream->overflown()) return true;
      }
      return asked_to_stop();
    };
    try {
      run = solve::simulate(prepared, options);
    } catch (const Error& error) {
      throw with_place(error, command, *prepared.model);
    }
  }
  run.prepare_seconds += read_seconds;
  run.stages.emplace(run.stages.begin(), "read", read_seconds);
  if (earlier) run.notes.insert(run.notes.begin(), continued_note(*earlier));

  // The rows first: whatever fails later, they are safe.
  std::vector<std::string> faults;
  const auto attempt = [&](const std::string& lost, const auto& write) {
    try {
      write();
    } catch (const Error& error) {
      faults.push_back(error.faults().front().message + lost);
      tell(fmt::format("error[{}]: {}\n  -> {}\n", error.faults().front().code, faults.back(),
                       error.faults().front().advice));
    }
  };
  std::size_t rows = run.t.size();
  double t_last = run.t.empty() ? run.t_start : run.t.back();
  if (stream) {
    if (!stream->finish()) {
      faults.push_back(stream_fault(*stream, "is lost", "are lost"));
      tell(fmt::format("error[cannot-write]: {}\n  -> {}\n", faults.back(), stream->advice()));
    }
    rows = stream->rows();
    t_last = stream->t_written();
  }
  std::string figure;
  if (plot == PlotKind::svg) figure = report::plot_svg(report::plot_data(run, *prepared.model, command.curves));
  if (plot == PlotKind::pdf) figure = report::plot_pdf(report::plot_data(run, *prepared.model, command.curves));
  const std::string page_text = page ? report::to_page(prepared, run, command.run) : std::string{};
  keep_columns(run, wanted_columns(run.columns));
  if (kind == FileKind::json || kind == FileKind::h5) {
    attempt(fmt::format("; {} up to t = {} are lost", count(rows, "row"), shortest(t_last)), [&] {
      if (append) put_before(run, *earlier);
      report::write_file(command.output, kind == FileKind::json ? report::to_json(run) : report::to_hdf5(run));
    });
    rows = run.t.size();
  }
  if (plot != PlotKind::none) attempt("", [&] { report::write_file(command.plot, figure); });
  if (page) attempt("", [&] { report::write_file(command.page, page_text); });

  if (command.json) {
    print(report::to_json(times ? run : ends_of(run), faults.empty() ? "" : faults.front()));
  } else if (!command.quiet) {
    print(report::to_text(run));
    if (kind != FileKind::none && faults.empty())
      print(fmt::format("{:<10}{} ({}{}, {})\n", "wrote", command.output, count(rows, "row"),
                        append ? fmt::format(", {} of them new", rows - earlier->rows) : "",
                        count(run.columns.size() + 1, "column")));
    if (plot != PlotKind::none && faults.empty()) print(fmt::format("{:<10}{}\n", "drew", command.plot));
    if (page && faults.empty())
      print(fmt::format("{:<10}{} ({:.1f} MB; open it in a browser)\n", "page", command.page,
                        1e-6 * static_cast<double>(page_text.size())));
    print(report::next_text(run, command.model, page ? report::Seen::page : report::Seen::numbers));
  }
  if (run.success()) return faults.empty() ? done : numerics_failed;
  if (run.status == integrate::Status::interrupted) {
    std::string text = run.message;
    if (kind != FileKind::none && rows > 0) {
      text += fmt::format("; '{}' has {} up to t = {}", command.output, count(rows, "row"), shortest(t_last));
      if (faults.empty())
        text += fmt::format("\n  -> the same command with --restart {} goes on from there", command.output);
    }
    tell(text + "\n");
    return faults.empty() ? interrupted : numerics_failed;
  }
  tell_failure(std::string(solve::name_of(run.status)), run.message, advice_after(run), *prepared.model);
  return numerics_failed;
}

}  // namespace daedalus::cli
