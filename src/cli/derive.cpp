#include <fmt/format.h>

#include "cli/command.hpp"
#include "daedalus/report/equations.hpp"
#include "daedalus/report/json.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::cli {

int derive(const Command& command) {
  const solve::Prepared prepared = solve::prepare(read(command));
  if (prepared.dae)
    throw Error("not-yet", fmt::format("the equations of a model of kind \"{}\" cannot be shown yet", model::name_of(prepared.model->kind)),
                "this version derives the kinds \"lagrangian\" and \"mechanical\"; simulate and init run every kind", {prepared.model->source});
  const mechanics::Equations& equations = prepared.functions->equations;
  print(command.json                  ? report::to_json(equations)
        : command.format == "latex" ? report::equations_latex(equations)
                                      : report::equations_text(equations));
  return done;
}

}  // namespace daedalus::cli
