#include <fmt/format.h>

#include "cli/command.hpp"
#include "daedalus/base/error.hpp"
#include "daedalus/report/json.hpp"
#include "daedalus/report/methods.hpp"
#include "daedalus/report/output_file.hpp"
#include "daedalus/report/stability_plot.hpp"
#include "daedalus/report/text.hpp"
#include "daedalus/solve/tableau_method.hpp"

namespace daedalus::cli {
namespace {

void draw_stability(const Command& command) {
  const bool svg = command.plot.ends_with(".svg");
  if (!svg && !command.plot.ends_with(".pdf"))
    throw Error("unknown-file-type", fmt::format("the ending of '{}' does not say what to draw", command.plot),
                "end the name in .svg or .pdf");
  if (command.model.empty())
    throw Error("bad-command-line", "--plot draws the stability region of one method, and none is named",
                "write `daedalus methods NAME --plot FILE.svg`");
  const report::Picture picture = report::stability_picture(*solve::method_named(command.model));
  report::write_file(command.plot, svg ? report::picture_svg(picture) : report::picture_pdf(picture));
}

}  // namespace

int methods(const Command& command) {
  if (command.format == "markdown" && !command.model.empty())
    throw Error("bad-command-line", "--format markdown prints the page of all methods", "leave out the name");
  if (!command.plot.empty()) draw_stability(command);
  if (command.json) {
    print(report::methods_json(command.model));
  } else if (command.format == "markdown") {
    print(report::methods_markdown());
  } else {
    print(report::methods_text(command.model));
    if (!command.plot.empty() && !command.quiet) print(fmt::format("{:<10}{}\n", "drew", command.plot));
  }
  return done;
}

int formulations(const Command& command) {
  print(command.json ? report::formulations_json(command.model) : report::formulations_text(command.model));
  return done;
}

}  // namespace daedalus::cli
