#include "cli/command.hpp"
#include "daedalus/report/derivation.hpp"
#include "daedalus/report/equations.hpp"
#include "daedalus/report/json.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::cli {

namespace {

void print_steps(const Command& command, const structure::Derivation& steps) {
  print(command.json                ? report::steps_json(steps)
        : command.format == "latex" ? report::steps_latex(steps)
                                    : report::steps_text(steps));
}

}  // namespace

int derive(const Command& command) {
  model::Model model = read(command);
  if (command.derivation && model.kind == model::Kind::linear) {
    print_steps(command, solve::derivation(model));
    return done;
  }
  const solve::Prepared prepared = solve::prepare(std::move(model));
  if (command.derivation) {
    print_steps(command, solve::derivation(prepared, solve::start_time(*prepared.model, command.run)));
    return done;
  }
  if (prepared.dae) {
    print(command.json                ? report::to_json(*prepared.dae)
          : command.format == "latex" ? report::equations_latex(*prepared.dae)
                                      : report::equations_text(*prepared.dae));
    return done;
  }
  const mechanics::Equations& equations = prepared.functions->equations;
  print(command.json                ? report::to_json(equations)
        : command.format == "latex" ? report::equations_latex(equations)
                                    : report::equations_text(equations));
  return done;
}

}  // namespace daedalus::cli
