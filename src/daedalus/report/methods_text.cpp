#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daedalus/base/text.hpp"
#include "daedalus/report/methods.hpp"
#include "daedalus/report/text_parts.hpp"
#include "daedalus/solve/tableau_method.hpp"

namespace daedalus::report {

using integrate::IntegratorEntry;
using integrate::View;

namespace {

bool accepts(const IntegratorEntry& method, View view) {
  return std::ranges::find(method.accepts, view) != method.accepts.end();
}

/// "A, L, symplectic", or how far an explicit method reaches on the real axis: what a table has room for.
std::string short_stability(const IntegratorEntry& method) {
  std::vector<std::string> words;
  for (const char* letter : {"A", "L", "B"})
    for (const std::string& property : method.properties)
      if (property.starts_with(fmt::format("{}-stable", letter))) words.push_back(letter + property.substr(8));
  for (const char* property : {"symplectic", "symmetric"})
    if (has_property(method, property)) words.push_back(property);
  if (words.empty() && method.tableau)
    words.push_back(fmt::format("h lambda > -{}", brief(integrate::stability_interval(*method.tableau, -1.0), 3)));
  return words.empty() ? "-" : joined(words);
}

std::vector<std::string> texts_of(const std::vector<double>& numbers) {
  std::vector<std::string> texts;
  for (const double number : numbers) texts.push_back(brief(number, 7));
  return texts;
}

std::string one_method(const IntegratorEntry& entry, const std::string& name) {
  std::string text = line("method", entry.name) + line("", entry.summary);
  text += line("order", fmt::format("{}, {}, dense output of order {}", entry.order,
                                    count(static_cast<std::size_t>(entry.stages), "stage"), entry.dense_order));
  for (const std::string& orders : index_orders_of(entry)) text += line("", orders);
  if (const std::string stability = stability_of(entry); !stability.empty()) text += line("stability", stability);
  text += line("steps", "fixed (--step) or by --rtol and --atol: " + control_of(entry));
  text += line("takes", systems_of(entry));
  text += option_lines(entry.options);
  for (const std::string& note : entry.notes) text += line("note", note);
  text += line("source", entry.citation);
  if (entry.tableau) {
    const bool rounded = entry.tableau->text.b.empty();
    text += line("tableau", rounded ? "rounded; --json has all digits" : "exact");
    if (!entry.options.empty()) text += line("", "for the default options");
    text += "\n" + tableau_text(*entry.tableau) + "\n";
  }
  if (integrate::stability_regions(entry) > 0)
    text += line("next", fmt::format("daedalus methods {} --plot region.svg   (where it is stable)", name));
  return text;
}

}  // namespace

Group group_of(const IntegratorEntry& method) {
  if (!method.accepts.empty() && method.accepts.front() == View::mechanical) return Group::mechanical_methods;
  if (has_property(method, "multistep")) return Group::multistep_methods;
  return method.implicit ? Group::implicit_methods : Group::explicit_methods;
}

std::string name_of(Group group) {
  switch (group) {
    case Group::explicit_methods:
      return "explicit";
    case Group::implicit_methods:
      return "implicit";
    case Group::multistep_methods:
      return "multistep";
    case Group::mechanical_methods:
      return "mechanics";
  }
  return "";
}

std::string systems_of(const IntegratorEntry& method) {
  std::vector<std::string> words;
  if (accepts(method, View::mechanical)) words.push_back("constrained mechanics");
  if (accepts(method, View::ode)) words.push_back("ode");
  if (accepts(method, View::series)) words.push_back("ode with its Taylor series");
  if (accepts(method, View::second_order)) words.push_back("ode with q' = v");
  if (accepts(method, View::implicit)) words.push_back(fmt::format("dae up to index {}", method.highest_index));
  if (accepts(method, View::overdetermined)) words.push_back("more equations than unknowns");
  if (accepts(method, View::flow)) words.push_back("linear dae with constant coefficients, of any index");
  if (accepts(method, View::normal)) words.push_back("the normal form of the formulation lyapunov");
  if (accepts(method, View::automatic)) words.push_back("every model");
  return joined(words);
}

std::vector<std::string> index_orders_of(const IntegratorEntry& method) {
  std::vector<std::string> result;
  const auto add = [&](int index, const std::vector<int>& orders) {
    if (orders.empty() || method.highest_index < index) return;
    result.push_back(
        fmt::format("on index {}: {} ({})", index, fmt::join(orders, ", "),
                    orders.size() == 3 ? "positions, velocities, multipliers" : "differential, algebraic unknowns"));
  };
  add(1, method.index1_orders);
  add(2, method.index2_orders);
  add(3, method.index3_orders);
  return result;
}

std::string stability_of(const IntegratorEntry& method) {
  std::vector<std::string> parts = method.properties;
  if (method.tableau) {
    const double real = integrate::stability_interval(*method.tableau, -1.0);
    const double imaginary = integrate::stability_interval(*method.tableau, {0.0, 1.0});
    const double far = integrate::stability_at_infinity(*method.tableau);
    if (std::isfinite(real)) parts.push_back(fmt::format("on the real axis down to -{}", brief(real, 4)));
    if (std::isfinite(imaginary))
      parts.push_back(imaginary > 0.0 ? fmt::format("on the imaginary axis up to {}i", brief(imaginary, 4))
                                      : "nowhere on the imaginary axis");
    if (std::isfinite(far)) parts.push_back(fmt::format("|R| tends to {}", far < 1e-6 ? "0" : brief(far, 4)));
  }
  return joined(parts);
}

std::string control_of(const IntegratorEntry& method) {
  if (method.adaptive) return "error estimate of its own";
  const bool extrapolated = !method.implicit && !has_property(method, "symplectic");
  return extrapolated ? "step doubling, extrapolated" : "step doubling";
}

std::string tableau_text(const integrate::Tableau& tableau) {
  const bool exact = !tableau.text.b.empty();
  const std::size_t stages = tableau.b.size();
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const std::string& node, const std::vector<double>& numbers,
                       const std::vector<std::string>* texts) {
    std::vector<std::string> row{node};
    for (const std::string& cell : exact ? *texts : texts_of(numbers)) row.push_back(cell);
    row.resize(stages + 1);
    rows.push_back(std::move(row));
  };
  for (std::size_t i = 0; i < stages; ++i)
    add(exact ? tableau.text.c[i] : brief(tableau.c[i], 7), tableau.a[i], exact ? &tableau.text.a[i] : nullptr);
  add("", tableau.b, &tableau.text.b);
  if (!tableau.embedded.empty()) add("", tableau.embedded, &tableau.text.embedded);

  std::vector<std::size_t> width(stages + 1, 0);
  for (const auto& row : rows)
    for (std::size_t j = 0; j < row.size(); ++j) width[j] = std::max(width[j], row[j].size());
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i == stages) {
      std::size_t long_line = 0;
      for (std::size_t j = 1; j <= stages; ++j) long_line += width[j] + 2;
      text += fmt::format("  {}-+{}\n", std::string(width[0], '-'), std::string(long_line, '-'));
    }
    std::string out = fmt::format("  {:>{}} |", rows[i][0], width[0]);
    for (std::size_t j = 1; j <= stages; ++j) out += fmt::format("  {:<{}}", rows[i][j], width[j]);
    while (out.ends_with(' ')) out.pop_back();
    text += out + "\n";
  }
  return text;
}

std::string methods_text(const std::string& name) {
  if (!name.empty()) return one_method(*solve::method_named(name), name);
  std::vector<std::vector<std::string>> rows{{"method", "order", "stages", "stable", "takes", "summary"}};
  std::vector<std::vector<std::string>> sources;
  for (const Group group :
       {Group::explicit_methods, Group::implicit_methods, Group::multistep_methods, Group::mechanical_methods}) {
    bool first = true;
    for (const IntegratorEntry& entry : integrate::integrators()) {
      if (group_of(entry) != group) continue;
      if (first) rows.push_back({name_of(group)});
      first = false;
      rows.push_back({"  " + entry.name, std::to_string(entry.order), std::to_string(entry.stages),
                      short_stability(entry), systems_of(entry), entry.summary});
      sources.push_back({"  " + entry.name, entry.citation});
    }
  }
  return table(rows) + "\nsources\n" + table(sources) +
         "\nAll of them take --rtol. daedalus methods NAME says all about one; a name that ends in .toml is a file "
         "with a "
         "tableau of your own.\n";
}

}  // namespace daedalus::report
