#include "peers/growth.hpp"

#include <fmt/format.h>

#include "daedalus/base/processor_time.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::bench {

namespace {

/// How a model that grows with N is made ready and run: a line of the table.
std::string line(const std::string& model, std::size_t N, std::size_t members, double t_end) {
  model::Overrides overrides;
  overrides.set.emplace_back("N", std::to_string(N));
  const double begin = processor_seconds();
  const solve::Prepared prepared = solve::prepare(model::read_model(DAEDALUS_SOURCE_DIR + std::string(model == "net" ? "/bench/" : "/models/") + model + ".toml", overrides));
  const double ready = processor_seconds() - begin;
  solve::RunOptions options;
  options.formulation = "projection";
  options.method = "dop853";
  options.rtol = options.atol = 1e-6;
  options.rows = solve::Rows::ends;
  options.watch = false;
  options.t_end = t_end;
  double least = 1e300;
  std::size_t evaluations = 0;
  for (int repeat = 0; repeat < 3 && least * repeat < 2.0; ++repeat) {
    const solve::Trajectory run = solve::simulate(prepared, options);
    if (!run.success()) return fmt::format("{} with N = {}: {}\n", model, N, run.message);
    least = std::min(least, run.processor_seconds);
    evaluations = run.stats.rhs;
  }
  return fmt::format("{:>8}{:>10}{:>14.3g}{:>16}{:>24.3g}\n", model, members, 1e3 * ready, evaluations,
                     1e9 * least / static_cast<double>(evaluations * members));
}

}  // namespace

std::string growth_text() {
  std::string text = fmt::format("{:>8}{:>10}{:>14}{:>16}{:>24}\n", "model", "links", "ready, ms", "evaluations", "ns per link and each");
  for (const std::size_t N : {10, 30, 100, 300, 1000, 3000, 10000})  // long enough for a thousand evaluations or so
    text += line("chain", N, N, N > 1000 ? 0.01 : N > 100 ? 0.05 : 1.0);
  for (const std::size_t N : {3, 6, 10, 20, 40, 60}) text += line("net", N, N * (2 * N + 1), N > 10 ? 0.01 : 0.1);
  return text;
}

}  // namespace daedalus::bench
