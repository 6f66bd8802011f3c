#include "cli/command.hpp"
#include "daedalus/report/json.hpp"
#include "daedalus/report/text.hpp"
#include "daedalus/solve/analysis.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::cli {

int analyze(const Command& command) {
  const solve::Prepared prepared = solve::prepare(read(command));
  const solve::Analysis analysis = solve::analyze(prepared, solve::start_time(*prepared.model, command.run));
  print(command.json ? report::to_json(analysis) : report::to_text(analysis, command.model));
  return done;
}

}  // namespace daedalus::cli
