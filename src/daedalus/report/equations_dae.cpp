#include <fmt/format.h>

#include <algorithm>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/expr/tidy.hpp"
#include "daedalus/report/equations.hpp"
#include "daedalus/report/shared_parts.hpp"

namespace daedalus::report {

using structure::DaeFunctions;

std::string equations_text(const DaeFunctions& dae) {
  const std::size_t algebraic = dae.dimension() - dae.differential;
  std::string text = fmt::format("{}: F(t, y, y') = 0 with {}, {} differential and {} algebraic\n\n", dae.model->name,
                                 count(dae.dimension(), "unknown"), dae.differential, algebraic);
  std::size_t width = 0;
  for (const DaeFunctions::Row& row : dae.rows) width = std::max(width, row.name.size());
  const SharedParts shared = shared_parts(dae.equations.F);
  for (std::size_t i = 0; i < dae.rows.size(); ++i)
    text += fmt::format("  {:<{}}  {} = 0\n", dae.rows[i].name, width, expr::to_text(expr::tidy(shared.roots[i])));
  if (!shared.parts.empty()) text += "\nwhere parts that occur more than once are\n";
  for (const auto& [name, value] : shared.parts)
    text += fmt::format("  {} = {}\n", name.name(), expr::to_text(expr::tidy(value)));
  text += "\nunknowns:";
  for (const DaeFunctions::Unknown& unknown : dae.unknowns) text += " " + unknown.name;
  return text + "\n";
}

}  // namespace daedalus::report
