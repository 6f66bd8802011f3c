#include "cli/command.hpp"
#include "daedalus/report/json.hpp"
#include "daedalus/report/text.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::cli {

int init(const Command& command) {
  const solve::Prepared prepared = solve::prepare(read(command));
  const solve::Start start =
      solve::consistent_start(prepared, solve::start_time(*prepared.model, command.run),
                              solve::initialize_mode(*prepared.model, command.run), solve::Look::around);
  if (start.index_above_one && !prepared.linear) solve::refuse_index(*prepared.model);
  print(command.json ? report::to_json(start, *prepared.model)
                     : report::to_text(start, *prepared.model, command.model));
  if (!start.found)
    tell_failure("no-convergence", start.message,
                 start.message.find("finite number") == std::string::npos
                     ? "give start values nearer to a solution, or let more of them move (without `fixed`)"
                     : "look for a root or logarithm of a negative number, a division by 0 or an overflow",
                 *prepared.model);
  return start.found ? done : numerics_failed;
}

}  // namespace daedalus::cli
