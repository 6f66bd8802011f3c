// What `auto` costs: for every model the time of `auto` at three tolerances beside that of the best single method with
// the same formulation at equal digits, found on the line log(time) over digits through its runs at 1e-3 .. 1e-11.
// Times are CPU time of the integration, the least of some runs. Arguments choose models: bench_automatic andrews
// pendulum

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>

#include "daedalus/base/processor_time.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "work_precision.hpp"

using namespace daedalus;

namespace {

struct Point : bench::WorkPoint {
  std::string method;
};

class Model {
 public:
  explicit Model(const std::string& name)
      : prepared_(solve::prepare(model::read_model(DAEDALUS_SOURCE_DIR "/models/" + name + ".toml"))) {}

  /// Runs once; the trajectory has start and end.
  solve::Trajectory run(const std::string& method, double rtol) const {
    solve::RunOptions options;
    options.method = method;
    options.rtol = rtol;
    options.rows = solve::Rows::ends;
    options.max_steps = 1'000'000;
    return solve::simulate(prepared_, options);
  }

  bool find_reference() {
    for (const double rtol : {1e-12, 1e-11})
      for (const char* method : {"dop853", "radau"}) {
        try {
          reference_ = run(method, rtol);
        } catch (const Error&) {
          continue;  // no ODE
        }
        if (reference_->success()) return true;
      }
    return false;
  }

  Point measure(const std::string& method, double rtol) const {
    Point point;
    point.seconds = 1e300;
    double spent = 0.0;
    for (int repeat = 0; repeat < 5 && spent < 0.5; ++repeat) {
      const double begin = processor_seconds();
      solve::Trajectory result;
      try {
        result = run(method, rtol);
      } catch (const Error&) {
        return point;
      }
      const double seconds = processor_seconds() - begin;
      spent += seconds;
      point.seconds = std::min(point.seconds, seconds);
      point.good = result.success();
      if (!point.good) return point;
      point.digits = digits_of(result);
      point.method = result.method;
    }
    return point;
  }

 private:
  double digits_of(const solve::Trajectory& run) const {
    double most = 1e-16;
    for (const model::Unknown& unknown : prepared_.model->variables) {
      const double exact = reference_->last(unknown.name);
      most = std::max(most, std::abs(run.last(unknown.name) - exact) / (1.0 + std::abs(exact)));
    }
    return -std::log10(most);
  }

  solve::Prepared prepared_;
  std::optional<solve::Trajectory> reference_;
};

}  // namespace

int main(int count, char** arguments) {
  const std::set<std::string> chosen(arguments + 1, arguments + count);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(DAEDALUS_SOURCE_DIR "/models"))
    if (entry.path().extension() == ".toml" && (chosen.empty() || chosen.contains(entry.path().stem().string())))
      names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  fmt::print("{:<24} {:>6} {:<16} {:>6} {:>10} {:<8} {:>10} {:>6}\n", "model", "rtol", "auto used", "digits", "ms",
             "best", "ms", "ratio");
  double worst = 0.0;
  for (const std::string& name : names) {
    Model model(name);
    if (!model.find_reference()) {
      fmt::print("{:<24} no reference\n", name);
      continue;
    }
    const std::vector<std::string> singles{"dop853", "radau"};
    std::vector<std::vector<Point>> lines;
    for (const std::string& single : singles) {
      lines.emplace_back();
      for (double rtol = 1e-3; rtol > 1e-11; rtol /= 10.0) lines.back().push_back(model.measure(single, rtol));
    }
    for (const double rtol : {1e-4, 1e-6, 1e-8}) {
      const Point mine = model.measure("auto", rtol);
      if (!mine.good) {
        fmt::print("{:<24} {:>6.0e} FAILED\n", name, rtol);
        worst = INFINITY;
        continue;
      }
      double best = 1e300;
      std::string by = "-";
      for (std::size_t i = 0; i < singles.size(); ++i)
        if (const auto seconds = bench::time_at(lines[i], mine.digits); seconds && *seconds < best) {
          best = *seconds;
          by = singles[i];
        }
      const double ratio = by == "-" ? 1.0 : mine.seconds / best;
      worst = std::max(worst, ratio);
      fmt::print("{:<24} {:>6.0e} {:<16} {:>6.1f} {:>10.3f} {:<8} {:>10.3f} {:>6.2f}\n", name, rtol, mine.method,
                 mine.digits, 1e3 * mine.seconds, by, by == "-" ? 0.0 : 1e3 * best, ratio);
      std::fflush(stdout);
    }
  }
  fmt::print("\nlargest ratio {:.2f}\n", worst);
  return 0;
}
