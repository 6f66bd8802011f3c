// The equations of a model on its page.

#include <fmt/format.h>

#include <algorithm>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/mathml.hpp"
#include "daedalus/expr/tidy.hpp"
#include "daedalus/report/page_parts.hpp"
#include "daedalus/report/shared_parts.hpp"

namespace daedalus::report {

using expr::escape_markup;
using expr::Expr;
using expr::name_to_mathml;
using expr::SparseExpr;
using mechanics::Constraint;
using mechanics::Equations;

namespace {

constexpr std::size_t largest_matrix = 8;  ///< rows and columns that are shown as a matrix
constexpr std::size_t most_entries = 24;   ///< of a larger one, and of lists
constexpr std::size_t longest_entry = 6000;

std::string formula_of(Expr e) {
  std::string text = expr::to_mathml(expr::tidy(e));
  return text.size() <= longest_entry ? text : "<mtext>(long)</mtext>";
}

std::string display(const std::string& mathml) {
  return fmt::format("<div class=\"display\"><math displaystyle=\"true\">{}</math></div>\n", mathml);
}

std::string inline_math(const std::string& mathml) { return fmt::format("<math>{}</math>", mathml); }

std::string equals(const std::string& left, const std::string& right) {
  return fmt::format("<mrow>{}<mo>=</mo>{}</mrow>", left, right);
}

std::string zero_equation(Expr e) { return equals(formula_of(e), "<mn>0</mn>"); }

std::string in_bounds(const std::string& rows) { return fmt::format("<mtable class=\"matrix\">{}</mtable>", rows); }

std::string indexed(const std::string& name, std::size_t row, std::size_t column) {
  return fmt::format("<msub>{}<mrow><mn>{}</mn><mo>,</mo><mn>{}</mn></mrow></msub>", name, row + 1, column + 1);
}

/// A small matrix as a matrix, a large one as its first entries that are not zero.
std::string matrix(const std::string& name, const SparseExpr& values) {
  if (values.value.empty()) return display(equals(name, "<mn>0</mn>"));
  if (values.rows <= largest_matrix && values.columns <= largest_matrix) {
    std::string rows;
    bool zero = true;
    for (std::size_t i = 0; i < values.rows; ++i) {
      rows += "<mtr>";
      for (std::size_t j = 0; j < values.columns; ++j) {
        const Expr entry = values.at(i, j);
        const std::string text = entry.valid() ? formula_of(entry) : "<mn>0</mn>";
        zero = zero && text == "<mn>0</mn>";
        rows += fmt::format("<mtd>{}</mtd>", text);
      }
      rows += "</mtr>";
    }
    return display(equals(name, zero ? "<mn>0</mn>" : in_bounds(rows)));
  }
  std::string text = "<div class=\"terms\">";
  std::size_t shown = 0;
  for (std::size_t i = 0; i < values.rows && shown < most_entries; ++i)
    for (std::size_t k = values.row_start[i]; k < values.row_start[i + 1] && shown < most_entries; ++k)
      if (const std::string entry = formula_of(values.value[k]); entry != "<mn>0</mn>") {
        text += inline_math(equals(indexed(name, i, values.column[k]), entry));
        ++shown;
      }
  text += "</div>\n";
  return text + fmt::format("<p class=\"quietly\">{} is a {} × {} matrix with {}{}.</p>\n", inline_math(name),
                            values.rows, values.columns,
                            values.value.size() == 1 ? "1 entry" : fmt::format("{} entries", values.value.size()),
                            shown < values.value.size() ? fmt::format(", of which {} are shown", shown) : "");
}

std::string vector(const std::string& name, const std::vector<Expr>& values) {
  if (std::all_of(values.begin(), values.end(), [](const Expr& e) { return e.is_constant(0.0); }))
    return display(equals(name, "<mn>0</mn>"));
  if (values.size() <= largest_matrix) {
    std::string rows;
    for (const Expr& value : values) rows += fmt::format("<mtr><mtd>{}</mtd></mtr>", formula_of(value));
    return display(equals(name, in_bounds(rows)));
  }
  std::string text = "<div class=\"terms\">";
  std::size_t shown = 0, filled = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].is_constant(0.0)) continue;
    ++filled;
    if (shown == most_entries) continue;
    text += inline_math(equals(fmt::format("<msub><mrow><mo>(</mo>{}<mo>)</mo></mrow><mn>{}</mn></msub>", name, i + 1),
                               formula_of(values[i])));
    ++shown;
  }
  return text + fmt::format("</div>\n<p class=\"quietly\">{} has {} components{}; those not listed are {}.</p>\n",
                            inline_math(name), values.size(),
                            shown < filled ? fmt::format(", of which {} are shown", shown) : "",
                            shown < filled ? "alike or zero" : "zero");
}

/// The acceleration level of a constraint as an equation: G a - gamma = 0.
Expr acceleration_level(const Equations& eq, std::size_t i) {
  Expr sum = eq.model->graph->constant(0.0);
  for (std::size_t k = eq.G.row_start[i]; k < eq.G.row_start[i + 1]; ++k)
    sum = sum + eq.G.value[k] * eq.a[eq.G.column[k]];
  return sum - eq.constraints[i].gamma;
}

std::string constraints_table(const Equations& eq) {
  std::string text =
      "<h3>Constraints, with the hidden ones that follow by differentiation</h3>\n<div class=\"scroll\"><table "
      "class=\"plain\">\n"
      "<thead><tr><th>constraint</th><th>multiplier</th><th>level</th><th>equation</th></tr></thead>\n<tbody>\n";
  const std::size_t shown = std::min<std::size_t>(eq.constraints.size(), 8);
  for (std::size_t i = 0; i < shown; ++i) {
    const Constraint& constraint = eq.constraints[i];
    const auto row = [&](bool first, const char* level, const std::string& equation) {
      text += fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                          first ? escape_markup(constraint.name) : "",
                          first ? inline_math(expr::to_mathml(eq.lambda[i])) : "", level, inline_math(equation));
    };
    const model::Equation& given = eq.model->constraints[i];
    if (constraint.holonomic) row(true, "position", equals(expr::to_mathml(given.left), expr::to_mathml(given.right)));
    row(!constraint.holonomic, "velocity", zero_equation(constraint.velocity));
    row(false, "acceleration", zero_equation(acceleration_level(eq, i)));
  }
  text += "</tbody></table></div>\n";
  if (shown < eq.constraints.size())
    text += fmt::format("<p class=\"quietly\">{} further constraints: <code>daedalus derive</code> lists all.</p>\n",
                        eq.constraints.size() - shown);
  return text;
}

/// The equations of a DAE with their names, both sides as they were written; nothing where they are too many or too long.
std::string equations_as_written(const model::Model& model) {
  constexpr std::size_t longest = 40'000;
  if (model.kind != model::Kind::dae || model.equations.size() > most_entries) return {};
  std::string text = "<div class=\"scroll\"><table class=\"plain\"><tbody>\n";
  for (const model::Equation& equation : model.equations) {
    text += fmt::format("<tr><th>{}</th><td><math displaystyle=\"true\">{}</math></td></tr>\n", escape_markup(equation.name),
                        equals(expr::to_mathml(equation.left), expr::to_mathml(equation.right)));
    if (text.size() > longest) return {};
  }
  return text + "</tbody></table></div>\n";
}

/// What happens when, in the words of the model.
std::string events_list(const model::Model& model) {
  if (model.events.empty()) return {};
  std::string text = "<h3>Events</h3>\n<div class=\"scroll\"><table class=\"plain\"><tbody>\n";
  for (const model::Event& event : model.events) {
    std::string when;
    if (event.every) when = "every " + inline_math(formula_of(*event.every));
    if (event.when && event.when_is_condition) when = inline_math(formula_of(*event.when)) + " becomes true";
    if (event.when && !event.when_is_condition)
      when = inline_math(formula_of(*event.when)) + " crosses zero" +
             (event.direction == "up" ? " upwards" : event.direction == "down" ? " downwards" : "");
    std::string what;
    for (const auto& [name, value] : event.reset)
      what += (what.empty() ? "" : ", ") +
              inline_math(fmt::format("<mrow>{}<mo>≔</mo>{}</mrow>", name_to_mathml(name), formula_of(value)));
    if (event.stop) what += what.empty() ? "the run ends" : "; the run ends";
    text += fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td></tr>\n", escape_markup(event.name), when, what);
  }
  return text + "</tbody></table></div>\n";
}

std::string parameters_table(const model::Model& model) {
  if (model.parameters.empty()) return {};
  std::string text = "<h3>Parameters</h3>\n<div class=\"scroll\"><table class=\"plain\"><tbody>\n";
  const std::size_t shown = std::min(model.parameters.size(), most_entries);
  for (std::size_t i = 0; i < shown; ++i) {
    const model::Parameter& parameter = model.parameters[i];
    text += fmt::format("<tr><th>{}</th><td class=\"n\">{}</td><td>{}</td><td>{}</td></tr>\n",
                        inline_math(name_to_mathml(parameter.name)), brief(parameter.value, 9),
                        escape_markup(unit_text(parameter.unit)), escape_markup(parameter.description));
  }
  text += "</tbody></table></div>\n";
  if (shown < model.parameters.size())
    text += fmt::format("<p class=\"quietly\">and {} more</p>\n", model.parameters.size() - shown);
  return text;
}

}  // namespace

std::string page_equations(const Equations& eq) {
  const model::Model& model = *eq.model;
  const bool lagrangian = model.kind == model::Kind::lagrangian;
  const bool constrained = !eq.constraints.empty();
  const std::string q_dot = "<mover accent=\"true\"><mi>q</mi><mo>˙</mo></mover>",
                    q_ddot = "<mover accent=\"true\"><mi>q</mi><mo>¨</mo></mover>",
                    gradient = "<mfrac><mrow><mo>∂</mo><mi>V</mi></mrow><mrow><mo>∂</mo><mi>q</mi></mrow></mfrac>";
  std::string text = "<section class=\"long\">\n<h2>Equations</h2>\n";
  const std::string right =
      fmt::format("<mi>{}</mi>{}", lagrangian ? "Q" : "f",
                  constrained ? "<mo>−</mo><msup><mi>G</mi><mi mathvariant=\"normal\">T</mi></msup><mi>λ</mi>" : "");
  std::string law = lagrangian ? fmt::format("<mrow><mi>M</mi>{}<mo>+</mo><mi>C</mi>{}<mo>+</mo>{}<mo>=</mo>{}</mrow>",
                                             q_ddot, q_dot, gradient, right)
                               : fmt::format("<mrow><mi>M</mi>{}<mo>=</mo>{}</mrow>", q_ddot, right);
  std::string names;
  for (std::size_t i = 0; i < eq.q.size() && i < most_entries; ++i)
    names += (i > 0 ? "<mo>,</mo>" : "") + expr::to_mathml(eq.q[i]);
  if (eq.q.size() > most_entries) names += "<mo>,</mo><mo>…</mo>";
  law += fmt::format(
      "<mspace width=\"1.6em\"/><mtext>with</mtext><mspace width=\"0.7em\"/><mi>q</mi><mo>=</mo><mo "
      "stretchy=\"false\">(</mo>{}<mo stretchy=\"false\">)</mo>",
      names);
  text += display("<mrow>" + law + "</mrow>");
  const auto energy = [&](const char* letter, const std::optional<Expr>& value) {
    if (!value) return;
    const std::string body = expr::to_mathml(*value);
    if (body.size() < longest_entry) text += display(equals(fmt::format("<mi>{}</mi>", letter), body));
  };
  if (lagrangian) {
    text += "<div class=\"terms\">";
    energy("T", model.kinetic);
    energy("V", model.potential);
    energy("L", model.lagrangian);
    energy("R", model.dissipation);
    text += "</div>\n";
  }
  text += "<div class=\"terms\">";
  text += matrix("<mi>M</mi>", eq.M);
  if (lagrangian) {
    const mechanics::ForceTerms terms = mechanics::force_terms(eq);
    text += matrix("<mi>C</mi>", terms.C);
    text += vector(gradient, terms.gradient);
    text += vector("<mi>Q</mi>", terms.Q);
  } else {
    text += vector("<mi>f</mi>", eq.f);
  }
  if (constrained) text += matrix("<mi>G</mi>", eq.G);
  text += "</div>\n";
  if (constrained) text += constraints_table(eq);
  if (!eq.auxiliary.empty()) {
    text += "<h3>Auxiliary equations</h3>\n";
    for (std::size_t i = 0; i < eq.auxiliary.size() && i < most_entries; ++i)
      text += display(zero_equation(eq.auxiliary[i]));
  }
  return text + events_list(model) + parameters_table(model) + "</section>\n";
}

std::string page_equations(const structure::DaeFunctions& dae) {
  const model::Model& model = *dae.model;
  const std::size_t own = dae.rows.size() - (dae.dimension() - model.variables.size());
  std::string text = "<section id=\"equations\">\n<h2>Equations</h2>\n";
  if (const std::string given = equations_as_written(model); !given.empty())
    return text + given + events_list(model) + parameters_table(model) + "</section>\n";
  const std::size_t shown = std::min(own, most_entries);
  const auto begin = dae.equations.F.begin();
  const SharedParts shared = shared_parts({begin, begin + static_cast<std::ptrdiff_t>(shown)});
  for (const Expr& residual : shared.roots) text += display(zero_equation(residual));
  if (own > shown) text += fmt::format("<p>... and {} further equations</p>\n", own - shown);
  if (!shared.parts.empty()) text += "<p>Parts that occur more than once:</p>\n";
  for (const auto& [name, value] : shared.parts) text += display(equals(formula_of(name), formula_of(value)));
  return text + events_list(model) + parameters_table(model) + "</section>\n";
}

}  // namespace daedalus::report
