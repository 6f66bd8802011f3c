// A model that can be read is prepared, made consistent and run for some steps. The answer may be any status or an
// Error, but always an answer, and one that makes sense. The first three bytes choose formulation, method and the rest
// of the options; 000 leaves everything to the model.

#include "daedalus/solve/pipeline.hpp"

#include <cmath>
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

namespace {

using namespace daedalus;

/// Name of the entry that a byte chooses; nothing for '0'.
template <class Entry>
std::optional<std::string> chosen(std::uint8_t byte, const std::vector<Entry>& entries) {
  const std::size_t pick = static_cast<std::uint8_t>(byte - '0') % (entries.size() + 1);
  return pick == 0 ? std::nullopt : std::optional(entries[pick - 1].name);
}

solve::RunOptions options_of(const std::uint8_t* head, const model::Model& model) {
  solve::RunOptions options;
  options.formulation = chosen(head[0], formulate::formulations());
  options.method = chosen(head[1], integrate::integrators());
  options.max_steps = 30;
  const auto flags = static_cast<std::uint8_t>(head[2] - '0');
  const double length[] = {0.1, 0.1, 1.0, 10.0};
  if (flags % 4 != 0 || !model.simulation.t_end) options.t_end = solve::start_time(model, options) + length[flags % 4];
  options.residuals = options.pictures = (flags & 4) != 0;
  if ((flags & 8) != 0) options.step = length[flags % 4] / 8.0;
  if ((flags & 16) != 0) options.samples = 5;
  if ((flags & 32) != 0) options.rtol = 1e-10;
  if ((flags & 64) != 0) options.initialize = "off";
  return options;
}

void check(const solve::Trajectory& run) {
  if (run.values.size() != run.t.size() * run.columns.size()) std::abort();
  if (run.pictures.size() != run.t.size() * run.picture_count) std::abort();
  if (!run.success() && run.message.empty()) std::abort();
  for (std::size_t i = 0; i < run.t.size(); ++i)
    if (!(run.t[i] >= (i == 0 ? run.t_start : run.t[i - 1]) && run.t[i] <= run.t_end)) std::abort();
  if (run.status == integrate::Status::done && (run.t.empty() || run.t.back() != run.t_end)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 3, size - 3);
  try {
    model::Model model = model::read_model_text(text, "model.toml", {}, "no-such-folder");
    if (model.variables.size() > 12 || model.constraints.size() > 12 || model.graph->size() > 20000) return 0;
    const solve::RunOptions options = options_of(data, model);
    const solve::Prepared prepared = solve::prepare(std::move(model));
    if (options.residuals) {
      const solve::Analysis analysis = solve::analyze(prepared, solve::start_time(*prepared.model, options));
      report::to_json(analysis);
      report::to_text(analysis, "model.toml");
    }
    const solve::Trajectory run = solve::simulate(prepared, options);
    check(run);
    report::to_csv(run);
    report::to_json(run);
    report::to_text(run);
    report::next_text(run, "model.toml", report::Seen::numbers);
  } catch (const Error& error) {
    if (error.faults().empty()) std::abort();
  }
  return 0;
}
