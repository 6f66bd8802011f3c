#include "daedalus/integrate/integrator_entry.hpp"
#include "daedalus/integrate/surd.hpp"

namespace daedalus::integrate {
namespace {

std::vector<double> values_of(const std::vector<std::string>& texts) {
  std::vector<double> values;
  for (const std::string& text : texts) values.push_back(value_of(parse_surd(text)));
  return values;
}

}  // namespace

Tableau exact_tableau(TableauText text) {
  Tableau tableau;
  for (const std::vector<std::string>& row : text.a) tableau.a.push_back(values_of(row));
  tableau.b = values_of(text.b);
  tableau.c = values_of(text.c);
  tableau.embedded = values_of(text.embedded);
  tableau.text = std::move(text);
  return tableau;
}

}  // namespace daedalus::integrate
