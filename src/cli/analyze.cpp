#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/output_kinds.hpp"
#include "daedalus/report/json.hpp"
#include "daedalus/report/output_file.hpp"
#include "daedalus/report/structure_plot.hpp"
#include "daedalus/report/text.hpp"
#include "daedalus/report/zero_dynamics.hpp"
#include "daedalus/solve/analysis.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::cli {

int analyze(const Command& command) {
  const PlotKind plot = plot_kind_of(command.plot);
  const auto model = std::make_shared<const model::Model>(read(command));
  const solve::Analysis analysis = solve::analyze(model, solve::start_time(*model, command.run));
  if (plot != PlotKind::none) {
    const report::Picture picture = report::structure_picture(analysis.structure, analysis.model);
    report::write_file(command.plot, plot == PlotKind::svg ? report::picture_svg(picture) : report::picture_pdf(picture));
  }
  if (!command.zero_dynamics) {
    print(command.json ? report::to_json(analysis) : report::to_text(analysis, command.model));
  } else {
    const solve::ZeroDynamics zero = solve::zero_dynamics(solve::prepare(model), solve::start_time(*model, command.run));
    print(command.json ? report::with_zero_dynamics(report::to_json(analysis), zero)
                       : report::to_text(analysis, command.model) + report::to_text(zero));
  }
  if (plot != PlotKind::none && !command.json && !command.quiet) print(fmt::format("{:<10}{}\n", "drew", command.plot));
  return done;
}

}  // namespace daedalus::cli
