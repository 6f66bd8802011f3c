#include "daedalus/solve/tableau_method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daedalus/base/text.hpp"
#include "daedalus/integrate/families/explicit_runge_kutta.hpp"
#include "daedalus/integrate/families/implicit_runge_kutta.hpp"
#include "daedalus/integrate/order_conditions.hpp"

namespace daedalus::solve {
namespace {

using model::TableauFile;
using model::TableauNumber;

/// Coefficients written with fewer digits than a double has are good enough for this; wrong ones are not.
constexpr double row_sum_slack = 1e-12;

std::vector<double> values_of(const std::vector<TableauNumber>& row) {
  std::vector<double> values;
  for (const TableauNumber& number : row) values.push_back(number.value);
  return values;
}

std::vector<std::string> texts_of(const std::vector<TableauNumber>& row) {
  std::vector<std::string> texts;
  for (const TableauNumber& number : row) texts.push_back(number.text);
  return texts;
}

bool is_explicit(const TableauFile& file) {
  for (std::size_t i = 0; i < file.a.size(); ++i)
    for (std::size_t j = i; j < file.a.size(); ++j)
      if (file.a[i][j].value != 0.0) return false;
  return true;
}

integrate::Tableau numbers_of(const TableauFile& file) {
  integrate::Tableau tableau;
  for (const auto& row : file.a) {
    tableau.a.push_back(values_of(row));
    tableau.text.a.push_back(texts_of(row));
    double sum = 0.0;
    for (const TableauNumber& number : row) sum += number.value;
    tableau.c.push_back(sum);
    tableau.text.c.push_back(shortest(sum));
  }
  tableau.b = values_of(file.b);
  tableau.text.b = texts_of(file.b);
  tableau.embedded = values_of(file.embedded);
  tableau.text.embedded = texts_of(file.embedded);
  if (!file.c.empty()) tableau.text.c = texts_of(file.c);
  return tableau;
}

void check_nodes(const TableauFile& file, const integrate::Tableau& tableau, Faults& faults) {
  for (std::size_t i = 0; i < file.c.size(); ++i)
    if (std::abs(file.c[i].value - tableau.c[i]) > row_sum_slack * std::max(1.0, std::abs(tableau.c[i])))
      faults.add("bad-tableau",
                 fmt::format("entry {} of 'c' is {}, but row {} of 'A' adds up to {}", i + 1, file.c[i].text, i + 1,
                             brief(tableau.c[i], 10)),
                 "correct one of them, or leave out 'c'", file.c[i].place);
}

int checked_order(const TableauFile& file, const integrate::Tableau& tableau, Faults& faults) {
  const int order = integrate::order_of(tableau.a, tableau.b);
  if (order == 0) {
    double sum = 0.0;
    for (const double weight : tableau.b) sum += weight;
    faults.add("bad-tableau", fmt::format("the weights 'b' add up to {}, not to 1", brief(sum, 10)),
               "no method without that converges", file.b.front().place);
  } else if (file.order && file.order->value > order) {
    faults.add(
        "bad-tableau",
        fmt::format("the tableau claims order {}, but its coefficients satisfy the conditions up to order {} only",
                    brief(file.order->value), order),
        "look for a wrong coefficient, or correct 'order'", file.order->place);
  }
  return order;
}

}  // namespace

integrate::IntegratorEntry tableau_method(const TableauFile& file) {
  Faults faults;
  integrate::Tableau tableau = numbers_of(file);
  check_nodes(file, tableau, faults);
  const int order = checked_order(file, tableau, faults);
  const int embedded = tableau.embedded.empty() ? 0 : integrate::order_of(tableau.a, tableau.embedded);
  if (!tableau.embedded.empty() && (embedded == 0 || tableau.embedded == tableau.b))
    faults.add("bad-tableau",
               embedded == 0 ? "the weights 'embedded' do not add up to 1" : "the weights 'embedded' are those of 'b'",
               "give the weights of another formula with the same stages, or leave them out",
               file.embedded.front().place);
  faults.throw_if_any();

  integrate::IntegratorEntry entry;
  entry.name = file.name;
  entry.order = order;
  entry.citation = file.citation.empty() ? "a file of the user" : file.citation;
  if (file.order && file.order->value < order)
    entry.notes.push_back(
        fmt::format("the file says order {}; the coefficients have order {}", brief(file.order->value), order));
  entry.properties = integrate::properties_of(tableau);
  if (is_explicit(file)) {
    entry.summary = fmt::format("An explicit Runge-Kutta method of order {} from a file", order);
    entry.estimate_order = embedded == 0 ? 0 : std::min(order, embedded) + 1;
    entry.stability_radius = integrate::stability_interval(tableau, -1.0);
    for (std::size_t i = 0; i < tableau.a.size(); ++i) {
      tableau.a[i].resize(i);
      tableau.text.a[i].resize(i);
    }
    return integrate::explicit_runge_kutta(std::move(entry), std::move(tableau));
  }
  entry.summary = fmt::format("An implicit Runge-Kutta method of order {} from a file", order);
  entry.highest_index = 1;
  entry.index1_orders = {order, order};
  if (embedded != 0)
    entry.notes.push_back("implicit methods double their steps for the error estimate; 'embedded' is not used");
  return integrate::implicit_runge_kutta(std::move(entry), std::move(tableau));
}

std::shared_ptr<const integrate::IntegratorEntry> method_named(const std::string& name) {
  if (name.ends_with(".toml"))
    return std::make_shared<const integrate::IntegratorEntry>(tableau_method(model::read_tableau(name)));
  // Entries of the table live as long as the program.
  return {std::shared_ptr<const void>(), &integrate::integrator(name)};
}

}  // namespace daedalus::solve
