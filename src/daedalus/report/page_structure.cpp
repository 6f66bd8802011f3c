// The section of the page that shows which unknowns stand in which equations, before and after these are put in order.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "daedalus/base/listed.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/expr/mathml.hpp"
#include "daedalus/report/linear_text.hpp"
#include "daedalus/report/page_parts.hpp"
#include "daedalus/report/structure_plot.hpp"
#include "daedalus/solve/structure_check.hpp"

namespace daedalus::report {

using expr::escape_markup;
using structure::StructuralAnalysis;

namespace {

constexpr std::size_t most_entries = 20'000;  ///< about 300 kB of page

/// "Differentiated 2 times: rod. 3 blocks, the largest of 4 equations."
std::string facts(const StructuralAnalysis& structure) {
  std::map<int, std::vector<std::string>, std::greater<>> differentiated;
  for (std::size_t i = 0; i < structure.equations.size(); ++i)
    if (const int times = structure.sigma->offsets.c[i]; times > 0) differentiated[times].push_back(structure.equations[i]);
  std::string text;
  for (const auto& [times, names] : differentiated)
    text += fmt::format("Differentiated {}: {}. ", count(static_cast<std::size_t>(times), "time"), listed(names));
  std::size_t largest = 0;
  for (const structure::Part& block : structure.blocks) largest = std::max(largest, block.rows.size());
  return text + fmt::format("{}, the largest of {}.", count(structure.blocks.size(), "block"), count(largest, "equation"));
}

}  // namespace

std::string page_structure(const solve::Prepared& prepared) {
  const StructuralAnalysis structure = structure::structural_analysis(
      prepared.dae ? structure::equations_of(*prepared.model) : solve::equations_of(prepared.functions->equations));
  if (!structure.regular()) return {};  // no run of such a model has a page
  std::string text = "<section id=\"structure\">\n<h2>Structure</h2>\n";
  text += fmt::format(
      "<p>Which derivatives of which unknowns (columns) stand in which equations (rows). On the right the equations are in "
      "the order in which they can be solved, block after block; dark entries determine the highest derivatives. {}</p>\n",
      escape_markup(facts(structure)));
  if (const std::size_t entries = structure.signature.pattern.nonzeros(); entries > most_entries)
    return text + fmt::format("<p class=\"quietly\">The matrix has {} entries, too many for a page; "
                              "<code>daedalus analyze --plot</code> draws it.</p>\n</section>\n", entries);
  const std::string svg = picture_svg(structure_picture(structure, prepared.model->name));
  return text + fmt::format("<p><img alt=\"The signature matrix as written and in the order of solution\" "
                            "style=\"max-width:100%\" src=\"data:image/svg+xml;base64,{}\"></p>\n</section>\n",
                            base64(svg.data(), svg.size()));
}

std::string page_pencil(const solve::Prepared& prepared, double t_start) {
  if (!prepared.linear && prepared.model->kind != model::Kind::linear) return {};
  const std::optional<solve::LinearFindings> findings = solve::linear_findings(*prepared.model, t_start);
  if (!findings) return {};
  return fmt::format(
      "<section id=\"pencil\">\n<h2>Pencil</h2>\n<p>The equations are linear with constant coefficients, E x' = A x + f(t): their "
      "{}.</p>\n<pre style=\"overflow-x:auto\">{}</pre>\n</section>\n",
      findings->structure.index ? fmt::format("index is {}", *findings->structure.index) : "pencil is singular", escape_markup(linear_lines(*findings)));
}

}  // namespace daedalus::report
