#include <fmt/format.h>

#include "daedalus/report/comparison.hpp"
#include "daedalus/report/comparison_parts.hpp"
#include "daedalus/report/csv.hpp"

namespace daedalus::report {

namespace {

std::string cell(const std::optional<double>& value) { return value ? fmt::format("{:.17g}", *value) : ""; }

}  // namespace

std::string to_csv(const solve::Comparison& comparison) {
  const std::vector<std::size_t> levels = levels_of(comparison);
  std::string text = "model,formulation,method,rtol,step,success";
  for (const char* which : {"error", "error_end"})
    for (const solve::Quantity quantity : comparison.quantities)
      text += fmt::format(",{}.{}", which, name_of(quantity));
  for (const char* which : {"constraints", "constraints_relative"})
    for (const std::size_t level : levels) text += fmt::format(",{}.{}", which, level_name(comparison, level));
  const std::vector<std::string> invariants = invariants_of(comparison);
  for (const std::string& name : invariants) text += "," + csv_cell("invariants." + name);
  text += ",stats.steps,stats.rejected,stats.rhs,stats.jacobians,stats.factorizations,stats.newton_iterations";
  text += ",stats.projections,stats.seconds,message\n";
  for (const solve::ComparedRun& run : comparison.runs) {
    const solve::Trajectory& of_run = run.trajectory;
    text += fmt::format("{},{},{},{},{},{}", csv_cell(comparison.models[run.model].name), csv_cell(run.formulation),
                        csv_cell(run.method), cell(run.rtol), cell(run.step), run.success ? "true" : "false");
    for (const solve::ErrorBy* errors : {&run.error, &run.error_end})
      for (const solve::Quantity quantity : comparison.quantities) text += "," + cell(of(*errors, quantity));
    for (const auto* residuals : {&of_run.constraints.absolute, &of_run.constraints.relative})
      for (const std::size_t level : levels)
        text += "," + (of_run.constraints.has(level) ? cell((*residuals)[level]) : "");
    for (const std::string& name : invariants) text += "," + cell(change_of(run, name));
    const integrate::Stats& stats = of_run.stats;
    text += fmt::format(",{},{},{},{},{},{},{},{:.6g},{}\n", stats.steps, stats.rejected, stats.rhs, stats.jacobians,
                        stats.factorizations, stats.newton_iterations, stats.projections, of_run.processor_seconds,
                        csv_cell(run.message));
  }
  return text;
}

}  // namespace daedalus::report
