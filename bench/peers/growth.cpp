#include "peers/growth.hpp"

#include <fmt/format.h>

#include "daedalus/base/processor_time.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::bench {

std::string growth_text() {
  std::string text = fmt::format("{:>8}{:>14}{:>18}{:>24}\n", "links", "ready, ms", "evaluations", "ns per link and each");
  for (const std::size_t links : {10, 30, 100, 300, 1000, 3000, 10000}) {
    model::Overrides overrides;
    overrides.set.emplace_back("N", std::to_string(links));
    const double begin = processor_seconds();
    const solve::Prepared prepared = solve::prepare(model::read_model(DAEDALUS_SOURCE_DIR "/models/chain.toml", overrides));
    const double ready = processor_seconds() - begin;
    solve::RunOptions options;
    options.formulation = "projection";
    options.method = "dop853";
    options.rtol = options.atol = 1e-6;
    options.rows = solve::Rows::ends;
    options.watch = false;
    options.t_end = links > 1000 ? 0.01 : links > 100 ? 0.05 : 1.0;  // long enough for a thousand evaluations or so
    double least = 1e300;
    std::size_t evaluations = 0;
    for (int repeat = 0; repeat < 3; ++repeat) {
      const solve::Trajectory run = solve::simulate(prepared, options);
      least = std::min(least, run.processor_seconds);
      evaluations = run.stats.rhs;
    }
    text += fmt::format("{:>8}{:>14.3g}{:>18}{:>24.3g}\n", links, 1e3 * ready, evaluations,
                        1e9 * least / static_cast<double>(evaluations * links));
  }
  return text;
}

}  // namespace daedalus::bench
