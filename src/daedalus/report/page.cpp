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

std::string page_of(const PageFrame& frame) {
  std::size_t size = 1'000'000;
  for (const auto& block : frame.numbers) size += block.second.size();
  std::string page;
  page.reserve(size);
  page += "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  page += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  // Nothing is loaded from anywhere: the page says so itself. The icon is empty, so that none is asked for.
  page +=
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
      "style-src 'unsafe-inline'; img-src data: blob:\">\n<link rel=\"icon\" href=\"data:,\">\n";
  page += fmt::format("<meta name=\"generator\" content=\"daedalus {}\">\n", version());
  page += fmt::format("<title>{} – Daedalus</title>\n<style>", escape_markup(frame.title));
  page += page_style();
  page += "</style>\n</head>\n<body>\n";
  page += fmt::format("<header class=\"top\">\n<h1>{}</h1>\n", escape_markup(frame.title));
  if (!frame.lead.empty()) page += fmt::format("<p class=\"lead\">{}</p>\n", escape_markup(frame.lead));
  page += frame.head + "</header>\n<main>\n" + frame.body;
  const bool space = frame.scripts == PageFrame::Scripts::plots_and_space;
  page += fmt::format("</main>\n<footer>Made by daedalus {} ({}). Plots by uPlot{}.</footer>\n", version(), commit(),
                      space ? ", animation by three.js" : "");
  for (const auto& [id, text] : frame.json)
    page += fmt::format("<script type=\"application/json\" id=\"{}\">", id) + text + "</script>\n";
  for (const auto& [id, text] : frame.numbers)
    page += fmt::format("<script type=\"application/octet-stream\" id=\"{}\">", id) + text + "</script>\n";
  if (space) {
    page += "<script>";
    page += page_script_3d();
    page += "</script>\n";
  }
  page += "<script>";
  page += page_script();
  page += "</script>\n</body>\n</html>\n";
  return page;
}

std::string to_page(const solve::Prepared& prepared, const solve::Trajectory& run, const solve::RunOptions& options) {
  const model::Model& model = *prepared.model;
  const PageData data = page_data(model, run);
  PageFrame frame;
  frame.title = model.name;
  frame.lead = model.description;
  frame.head = page_verdicts(prepared, run);
  frame.body = fmt::format(
      "<section class=\"long\">\n<h2>Motion</h2>\n<div class=\"motion{}\">\n<div id=\"player\"></div>\n<div "
      "id=\"plots\"></div>\n</div>\n",
      data.dimension == 0 ? " plain" : "");
  frame.body += "<noscript><p>The plots and the animation need JavaScript.</p></noscript>\n</section>\n";
  if (data.has_phases) frame.body += "<section>\n<h2>Plots of the model</h2>\n<div id=\"phases\"></div>\n</section>\n";
  frame.body += prepared.dae ? page_equations(*prepared.dae) : page_equations(prepared.functions->equations);
  frame.body += page_structure(prepared);
  frame.body += page_pencil(prepared, run.t_start);
  frame.body += page_summary(prepared, run, options);
  frame.body += data_section(data, run);
  frame.json = {{"run", data.description}};
  frame.numbers = {{"numbers", data.numbers}, {"frames", data.frames}};
  if (data.dimension == 3) frame.scripts = PageFrame::Scripts::plots_and_space;
  return page_of(frame);
}

}  // namespace daedalus::report
