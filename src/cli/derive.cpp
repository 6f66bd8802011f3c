#include "cli/command.hpp"
#include "daedalus/report/equations.hpp"
#include "daedalus/report/json.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::cli {

int derive(const Command& command) {
  const solve::Prepared prepared = solve::prepare(read(command));
  if (prepared.dae) {
    print(command.json                ? report::to_json(*prepared.dae)
          : command.format == "latex" ? report::equations_latex(*prepared.dae)
                                      : report::equations_text(*prepared.dae));
    return done;
  }
  const mechanics::Equations& equations = prepared.functions->equations;
  print(command.json                  ? report::to_json(equations)
        : command.format == "latex" ? report::equations_latex(equations)
                                      : report::equations_text(equations));
  return done;
}

}  // namespace daedalus::cli
