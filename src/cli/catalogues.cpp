#include "cli/command.hpp"
#include "daedalus/report/json.hpp"
#include "daedalus/report/text.hpp"

namespace daedalus::cli {

int methods(const Command& command) {
  print(command.json ? report::methods_json(command.model) : report::methods_text(command.model));
  return done;
}

int formulations(const Command& command) {
  print(command.json ? report::formulations_json(command.model) : report::formulations_text(command.model));
  return done;
}

}  // namespace daedalus::cli
