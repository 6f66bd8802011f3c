// How the cost of a chain grows with its length N: time from the model file to the first step, and time per right-hand
// side. Linear growth is a ratio of 10 per decade; the program fails where a ratio exceeds 13 up to a thousand links.
// (Ten thousand no longer fit into the caches; the row is for information.)

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"

using namespace daedalus;

namespace {

double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main() {
  const std::string path = std::string(DAEDALUS_SOURCE_DIR) + "/models/chain.toml";
  struct Row {
    int links;
    double ready, rhs;
  };
  std::vector<Row> rows;
  for (const int links : {10, 100, 1000, 10000}) {
    Row row{links, 1e300, 1e300};
    for (int repeat = 0; repeat < (links > 1000 ? 2 : 5); ++repeat) {
      formulate::Formulated formulated;
      solve::Start start;
      row.ready = std::min(row.ready, seconds_of([&] {
        model::Overrides overrides;
        overrides.set.emplace_back("N", std::to_string(links));
        const solve::Prepared prepared = solve::prepare(model::read_model(path, overrides));
        start = solve::consistent_start(prepared.functions, 0.0, solve::Initialize::project);
        const formulate::FormulationEntry& entry = formulate::formulation("projection");
        formulated = entry.make({prepared.functions, nullptr}, integrate::View::ode, Options(Choice{"projection", {}}, entry.options));
        std::vector<double> dx(start.x.size());
        formulated.system.ode(0.0, start.x.data(), dx.data());
      }));
      // two states in turn: equal matrices would not be factored again
      std::vector<double> dx(start.x.size()), other = start.x;
      for (double& value : other) value *= 1.0 + 1e-9;
      const int calls = std::max(20, 200000 / links);
      row.rhs = std::min(row.rhs, seconds_of([&] {
                                    for (int k = 0; k < calls; ++k)
                                      formulated.system.ode(0.0, (k % 2 == 0 ? start.x : other).data(), dx.data());
                                  }) / calls);
    }
    rows.push_back(row);
  }
  fmt::print("{:>8}{:>14}{:>9}{:>16}{:>9}\n", "links", "ready [ms]", "ratio", "per rhs [us]", "ratio");
  bool linear = true;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double ready = i == 0 ? 0.0 : rows[i].ready / rows[i - 1].ready, rhs = i == 0 ? 0.0 : rows[i].rhs / rows[i - 1].rhs;
    fmt::print("{:>8}{:>14.3f}{:>9}{:>16.3f}{:>9}\n", rows[i].links, rows[i].ready * 1e3, i == 0 ? "" : fmt::format("{:.1f}", ready),
               rows[i].rhs * 1e6, i == 0 ? "" : fmt::format("{:.1f}", rhs));
    if (rows[i].links <= 1000) linear = linear && ready <= 13.0 && rhs <= 13.0;
  }
  fmt::print("{}\n", linear ? "linear: no ratio per decade above 13" : "NOT linear: a ratio per decade is above 13");
  return linear ? 0 : 1;
}
