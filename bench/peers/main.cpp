// Daedalus beside programs that experts write and beside IDA of SUNDIALS, on problems of mechanics and of the Test Set for
// Initial Value Problem Solvers: `./daedalus bench [PROBLEM...] [--quick] [--json FILE] [--report FILE.html]`.

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "daedalus/base/error.hpp"
#include "daedalus/base/text.hpp"
#include "peers/growth.hpp"
#include "peers/problems.hpp"
#include "peers/standings.hpp"

namespace daedalus::bench {
namespace {

struct Wish {
  std::vector<std::string> problems;
  std::string json, report;
  bool quick = false, growth = false, without_ida = false;
};

constexpr const char* usage =
    "daedalus bench [PROBLEM...] [--quick] [--without-ida] [--growth] [--json FILE] [--report FILE.html]\n"
    "Measures Daedalus beside hand-written programs and, where SUNDIALS is installed (libsundials-dev), beside IDA.\n"
    "  --quick    fewer runs: three minutes instead of fifteen\n"
    "  --growth   only how the work grows with the size of a chain and of a net\n"
    "  --without-ida\n"
    "Problems: ";

/// Throws Error for what it does not know.
Wish parse(int count, char** arguments) {
  Wish wish;
  const std::vector<std::string> known = problem_names();
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= count) throw Error("missing-value", word + " needs the name of a file", "write for example " + word + " bench.json");
      return arguments[++i];
    };
    if (word == "--quick") wish.quick = true;
    else if (word == "--growth") wish.growth = true;
    else if (word == "--without-ida") wish.without_ida = true;
    else if (word == "--json") wish.json = value();
    else if (word == "--report") wish.report = value();
    else if (std::ranges::find(known, word) != known.end()) wish.problems.push_back(word);
    else
      throw Error("unknown-problem", fmt::format("there is no problem or option '{}'", word),
                  fmt::format("the problems are {}", fmt::join(known, ", ")));
  }
  if (wish.problems.empty()) wish.problems = known;
  return wish;
}

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw Error("cannot-write", path + " cannot be written");
  fmt::print("wrote {}\n", path);
}

/// A problem solved by its hand-written program alone.
Standing measured_by_hand(const std::string& name, const Effort& effort) {
  Standing standing{make_problem(name, DAEDALUS_SOURCE_DIR "/models"), {}};
  std::erase_if(standing.problem.contestants, [](const Contestant& one) { return one.name != "by hand"; });
  standing.lines = measure(standing.problem, effort);
  return standing;
}

void run(const Wish& wish) {
  if (wish.growth) {
    fmt::print("{}", growth_text());
    return;
  }
  Effort effort;
  if (wish.quick) effort = {{0.9, 1.0, 1.1}, 3, 0.5};
  std::vector<Standing> standings;
  for (const std::string& name : wish.problems) {
    Standing standing{make_problem(name, DAEDALUS_SOURCE_DIR "/models"), {}};
    if (wish.without_ida)
      std::erase_if(standing.problem.contestants, [](const Contestant& one) { return one.name.starts_with("ida"); });
    standing.lines = measure(standing.problem, effort);
    fmt::print("{}\n", to_text(standing));
    std::fflush(stdout);
    standings.push_back(std::move(standing));
  }
  double machine = machine_factor(standings);
  if (!std::isfinite(machine)) machine = machine_factor({measured_by_hand("andrews", effort)});
  for (Standing& standing : standings) standing.machine = machine;
  fmt::print("{}", summary_text(standings));
  if (!wish.json.empty()) write(wish.json, to_json(standings).dump(2) + "\n");
  if (!wish.report.empty()) write(wish.report, to_page(standings));
}

}  // namespace
}  // namespace daedalus::bench

int main(int count, char** arguments) {
  using namespace daedalus;
  if (count == 2 && (std::string(arguments[1]) == "--help" || std::string(arguments[1]) == "-h")) {
    fmt::print("{}{}\n", bench::usage, fmt::join(bench::problem_names(), ", "));
    return 0;
  }
  try {
    bench::run(bench::parse(count, arguments));
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 2;
  }
  return 0;
}
