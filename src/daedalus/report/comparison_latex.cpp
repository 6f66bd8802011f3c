// The table of a comparison for papers. LaTeX lets \@nodocument be \relax inside of a document: there the file is the
// table alone, and elsewhere a document of its own. Rules are those of booktabs, or plain ones where it is missing.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daedalus/base/text.hpp"
#include "daedalus/report/comparison.hpp"
#include "daedalus/report/comparison_parts.hpp"

namespace daedalus::report {

using solve::ComparedRun;
using solve::Comparison;

namespace {

constexpr std::size_t longest_message = 60;
constexpr std::size_t rows_on_a_page = 45;

constexpr const char* head = R"(\expandafter\ifx\csname @nodocument\endcsname\relax
  \let\endofcomparison\relax
\else
  \documentclass[a4paper]{article}
  \usepackage[landscape,margin=12mm]{geometry}
  \IfFileExists{booktabs.sty}{\usepackage{booktabs}}{}
  \IfFileExists{longtable.sty}{\usepackage{longtable}}{}
  \pagestyle{empty}
  \begin{document}
  \def\endofcomparison{\end{document}}
\fi
\providecommand{\toprule}{\hline}
\providecommand{\midrule}{\hline}
\providecommand{\bottomrule}{\hline}
\providecommand{\addlinespace}{}
)";

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\textbackslash{}";
        break;
      case '~':
        out += "\\textasciitilde{}";
        break;
      case '^':
        out += "\\textasciicircum{}";
        break;
      case '|':
        out += "\\textbar{}";
        break;
      case '<':
        out += "\\textless{}";
        break;
      case '>':
        out += "\\textgreater{}";
        break;
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        out += std::string("\\") + c;
        break;
      default:
        out += c;
    }
  }
  return out;
}

/// 1.2e-7 as $1.2\cdot10^{-7}$.
std::string power_of_ten(double value) {
  if (value == 0.0) return "0";
  if (!std::isfinite(value)) return "$\\infty$";
  const std::string text = fmt::format("{:.1e}", value);
  const std::size_t e = text.find('e');
  return fmt::format("${}\\cdot10^{{{}}}$", text.substr(0, e), std::stoi(text.substr(e + 1)));
}

std::string tolerance(double value) {
  const double exponent = std::log10(value);
  if (std::abs(exponent - std::round(exponent)) < 1e-12) return fmt::format("$10^{{{:.0f}}}$", exponent);
  return power_of_ten(value);
}

std::string cell_of(const RunColumn& column, const ComparedRun& run) {
  const std::optional<double> value = column.value(run);
  if (!value) return "--";
  if (column.kind == RunColumn::Kind::count) return fmt::format("{:.0f}", *value);
  if (column.kind == RunColumn::Kind::seconds) return fmt::format("{:.2g}", *value);
  return column.below_least(run) ? "$<$" + power_of_ten(*column.least(run)) : power_of_ten(*value);
}

std::string row_of(const Comparison& comparison, const ComparedRun& run, const std::vector<RunColumn>& columns) {
  std::string text;
  if (comparison.models.size() > 1) text += escaped(comparison.models[run.model].name) + " & ";
  text += fmt::format("{} & {} & {}", escaped(run.formulation), escaped(run.method),
                      run.step ? "$h = " + brief(*run.step) + "$" : tolerance(run.rtol.value_or(1.0)));
  if (!run.success)
    return text + fmt::format(" & \\multicolumn{{{}}}{{l}}{{\\itshape {}}} \\\\\n", columns.size(),
                              escaped(short_message(run.message, longest_message)));
  for (const RunColumn& column : columns) text += " & " + cell_of(column, run);
  return text + " \\\\\n";
}

/// The line of groups over the heads.
std::string groups_line(const std::vector<RunColumn>& columns) {
  std::string text;
  for (std::size_t j = 0; j < columns.size();) {
    std::size_t end = j + 1;
    while (end < columns.size() && !columns[j].group().empty() && columns[end].group() == columns[j].group()) ++end;
    text += columns[j].group().empty() ? " &"
                                       : fmt::format(" & \\multicolumn{{{}}}{{c}}{{{}}}", end - j, columns[j].group());
    j = end;
  }
  return text + " \\\\\n";
}

}  // namespace

std::string to_latex(const Comparison& comparison) {
  const std::vector<RunColumn> columns = columns_of(comparison);
  const bool several = comparison.models.size() > 1;

  std::string text = head;
  for (const solve::ComparedModel& model : comparison.models) {
    const solve::Reference& reference = model.reference;
    text += fmt::format("% {}, t = {} .. {}; reference: {}\n", short_message(model.name, 300), brief(model.t_start),
                        brief(model.t_end),
                        short_message(reference.message.empty() ? reference.origin : reference.message, 300));
    if (reference.computed && reference.message.empty())
      text += fmt::format("% {}\n", agreement_text(reference.agreement));
  }
  text += "% error: largest |x - reference|/(1 + |reference|); drift: largest residual relative to its largest term\n";
  // A long table goes over several pages; a short one can stand in a float.
  const bool longer = comparison.runs.size() > rows_on_a_page;
  const std::string environment = longer ? "longtable" : "tabular";
  if (longer) text += "% inside of another document: \\usepackage{longtable} there\n";
  text += "\\begingroup\\scriptsize\\setlength{\\tabcolsep}{3pt}\n";
  text += fmt::format("\\begin{{{}}}{{@{{}}{}{}@{{}}}}\n\\toprule\n", environment, std::string(several ? 4 : 3, 'l'),
                      std::string(columns.size(), 'r'));
  text += (several ? " & & &" : " & &") + groups_line(columns);
  text += several ? "model & formulation & method & rtol" : "formulation & method & rtol";
  for (const RunColumn& column : columns) text += " & " + escaped(column.short_name);
  text += " \\\\\n\\midrule\n";
  if (longer) text += "\\endhead\n\\bottomrule\n\\endlastfoot\n";
  const ComparedRun* before = nullptr;
  for (const ComparedRun& run : comparison.runs) {
    if (before != nullptr && (before->formulation != run.formulation || before->model != run.model))
      text += "\\addlinespace\n";
    text += row_of(comparison, run, columns);
    before = &run;
  }
  if (!longer) text += "\\bottomrule\n";
  return text + fmt::format("\\end{{{}}}\n", environment) + "\\endgroup\n\\endofcomparison\n";
}

}  // namespace daedalus::report
