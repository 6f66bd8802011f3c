// Digits at a given tolerance, and whether every run arrives: the pendulum and Andrews' squeezer in index 3, 2 and 1
// with the implicit methods, at tolerances 1e-4 .. 1e-10 times 0.8 .. 1.25, beside RADAU5, DASKR and MEBDFI. The
// program fails where a run does not reach t_end or the median digits are more than 0.3 below the other code's.
// Arguments choose rows: bench_robustness andrews index3 bdf

#include "physics/robustness.hpp"

#include <fmt/format.h>

#include <set>

using namespace daedalus;

int main(int count, char** arguments) {
  const std::set<std::string> chosen(arguments + 1, arguments + count);
  const auto skipped = [&](const std::vector<std::string>& words, const std::string& word) {
    bool any = false;
    for (const std::string& other : words) any = any || chosen.contains(other);
    return any && !chosen.contains(word);
  };
  bool good = true;
  for (const std::string problem_name : {"pendulum", "andrews"}) {
    if (skipped({"pendulum", "andrews"}, problem_name)) continue;
    const tests::RobustnessProblem problem = tests::robustness_problem(problem_name);
    fmt::print("\n## {}\n\n| form | code | 1e-04 | 1e-05 | 1e-06 | 1e-07 | 1e-08 | 1e-09 | 1e-10 | s | below |\n",
               problem_name);
    fmt::print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (const tests::Peer& peer : tests::peers()) {
      if (peer.problem != problem_name || skipped({"index3", "index2", "index1"}, peer.formulation) ||
          skipped({"radau", "bdf", "mebdf"}, peer.method))
        continue;
      std::string row = fmt::format("| {} | {} |", peer.formulation, peer.method), below;
      std::vector<std::string> messages;
      double seconds = 0.0;
      for (std::size_t k = 0; k < 7; ++k) {
        const tests::RobustnessCell cell =
            tests::run_cell(problem, peer.formulation, peer.method, std::pow(10.0, -4.0 - static_cast<double>(k)),
                            tests::robustness_factors);
        row += fmt::format(" {:.2f} ({}) |", cell.digits, cell.reached);
        seconds += cell.seconds;
        if (!cell.message.empty()) messages.push_back(cell.message);
        if (cell.reached < cell.runs || cell.digits < peer.digits[k] - 0.3) below += fmt::format(" 1e-{:02}", k + 4);
      }
      fmt::print("{} {:.1f} |{} |\n| | {} |", row, seconds, below.empty() ? " -" : below, peer.code);
      for (const double digits : peer.digits) fmt::print(" {:.2f} |", digits);
      fmt::print(" | |\n");
      for (const std::string& message : messages) fmt::print("<!-- {} -->\n", message);
      std::fflush(stdout);
      good = good && below.empty();
    }
  }
  fmt::print("\n{}\n", good ? "every run arrives, no cell is below" : "NOT everywhere: see the last column");
  return good ? 0 : 1;
}
