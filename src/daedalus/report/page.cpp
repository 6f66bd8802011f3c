#include "daedalus/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/mathml.hpp"
#include "daedalus/report/page_assets.hpp"
#include "daedalus/report/page_parts.hpp"
#include "daedalus/report/version.hpp"

namespace daedalus::report {

namespace {

using expr::escape_markup;

std::string data_section(const PageData& data, const solve::Trajectory& run) {
  std::string text = "<section>\n<h2>Data</h2>\n";
  text += fmt::format("<p>This page holds {} of {}", count(data.rows, "row"), count(run.columns.size() + 1, "column"));
  text += run.stats.steps + 1 < data.all_rows
              ? ": the accepted steps and, between them, points of the dense output.</p>\n"
              : ".</p>\n";
  if (data.rows < data.all_rows)
    text += fmt::format(
        "<p>The run has {} rows, more than a page can carry; these are evenly chosen ones. "
        "<code>--output result.csv</code> keeps all.</p>\n",
        data.all_rows);
  if (!data.all_columns)
    text += "<p>Of the many columns it has those that are drawn; <code>--output result.csv</code> keeps all.</p>\n";
  return text + "<p class=\"actions\"><button type=\"button\" id=\"csv\">Download as CSV</button></p>\n</section>\n";
}

}  // namespace

void picture_options(const solve::Prepared& prepared, solve::RunOptions& options, Between between) {
  options.residuals = options.pictures = true;
  if (between == Between::nothing || options.samples || options.every || !options.at.empty()) return;
  options.rows = solve::Rows::steps_and_times;
  // About two million numbers at most.
  const std::size_t width = prepared.dae ? 2 * prepared.dae->dimension()
                                         : 2 * prepared.functions->dimension() + 3 * prepared.functions->m + 1;
  options.samples = std::clamp<std::size_t>(2'000'000 / width, 201, 3001);
}

std::string to_page(const solve::Prepared& prepared, const solve::Trajectory& run, const solve::RunOptions& options) {
  const model::Model& model = *prepared.model;
  const PageData data = page_data(model, run);
  std::string page;
  page.reserve(data.numbers.size() + data.frames.size() + 1'000'000);
  page += "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  // Nothing is loaded from anywhere: the page says so itself. The icon is empty, so that none is asked for.
  page +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
      "style-src 'unsafe-inline'; img-src data: blob:\">\n<link rel=\"icon\" href=\"data:,\">\n";
  page += fmt::format("<meta name=\"generator\" content=\"daedalus {}\">\n", version());
  page += fmt::format("<title>{} – Daedalus</title>\n<style>", escape_markup(model.name));
  page += page_style();
  page += "</style>\n</head>\n<body>\n";
  page += fmt::format("<header class=\"top\">\n<h1>{}</h1>\n", escape_markup(model.name));
  if (!model.description.empty()) page += fmt::format("<p class=\"lead\">{}</p>\n", escape_markup(model.description));
  page += page_verdicts(prepared, run);
  page += "</header>\n<main>\n";
  page += fmt::format(
      "<section class=\"long\">\n<h2>Motion</h2>\n<div class=\"motion{}\">\n<div id=\"player\"></div>\n<div "
      "id=\"plots\"></div>\n</div>\n",
      data.dimension == 0 ? " plain" : "");
  page += "<noscript><p>The plots and the animation need JavaScript.</p></noscript>\n</section>\n";
  if (data.has_phases) page += "<section>\n<h2>Plots of the model</h2>\n<div id=\"phases\"></div>\n</section>\n";
  page += prepared.dae ? page_equations(*prepared.dae) : page_equations(prepared.functions->equations);
  page += page_summary(prepared, run, options);
  page += data_section(data, run);
  page += fmt::format("</main>\n<footer>Made by daedalus {} ({}). Plots by uPlot{}.</footer>\n", version(), commit(),
                      data.dimension == 3 ? ", animation by three.js" : "");
  page += "<script type=\"application/json\" id=\"run\">" + data.description + "</script>\n";
  page += "<script type=\"application/octet-stream\" id=\"numbers\">" + data.numbers + "</script>\n";
  page += "<script type=\"application/octet-stream\" id=\"frames\">" + data.frames + "</script>\n";
  if (data.dimension == 3) {
    page += "<script>";
    page += page_script_3d();
    page += "</script>\n";
  }
  page += "<script>";
  page += page_script();
  page += "</script>\n</body>\n</html>\n";
  return page;
}

}  // namespace daedalus::report
