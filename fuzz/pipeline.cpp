// A model that can be read is prepared, made consistent and run for twenty steps. The answer may be any status or an
// Error, but always an answer. The first byte chooses formulation and method.

#include "daedalus/solve/pipeline.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

#include "daedalus/base/error.hpp"
#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/integrate/integrator_entry.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/report/csv.hpp"
#include "daedalus/report/json.hpp"
#include "daedalus/report/text.hpp"
#include "daedalus/solve/analysis.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace daedalus;
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    model::Model model = model::read_model_text(text, "model.toml", {}, "no-such-folder");
    if (model.variables.size() > 12 || model.constraints.size() > 12 || model.graph->size() > 20000) return 0;
    const solve::Prepared prepared = solve::prepare(std::move(model));
    solve::RunOptions options;
    options.t_end = solve::start_time(*prepared.model, options) + 0.1;
    options.max_steps = 20;
    options.residuals = true;
    const auto& formulations = formulate::formulations();
    const auto& integrators = integrate::integrators();
    if (const std::size_t pick = data[0] % (formulations.size() + 1); pick > 0)
      options.formulation = formulations[pick - 1].name;
    if (const std::size_t pick = data[0] / 16 % (integrators.size() + 1); pick > 0)
      options.method = integrators[pick - 1].name;
    const solve::Trajectory run = solve::simulate(prepared, options);
    report::to_csv(run);
    report::to_json(run);
    report::to_text(run, "model.toml");
  } catch (const Error& error) {
    if (error.faults().empty()) std::abort();
  }
  return 0;
}
