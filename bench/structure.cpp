// Structural analysis of large systems: signature matrix, Sigma-method, Dulmage-Mendelsohn and blocks; beside it
// Pantelides' algorithm. The program fails where the analysis of one system of 10,000 equations takes more than two
// seconds.

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <string>
#include <vector>

#include "daedalus/model/reader.hpp"
#include "daedalus/structure/pantelides.hpp"
#include "daedalus/structure/structural_analysis.hpp"
#include "daedalus/structure/system_jacobian.hpp"

using namespace daedalus;

namespace {

double seconds_of(const auto& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Problem {
  std::string name, variables, equations;
  int (*members)(int equations);  ///< N
};

int whole(int equations) { return equations; }
int half(int equations) { return equations / 2; }
int third(int equations) { return equations / 3; }
int root(int equations) { return static_cast<int>(std::sqrt(2.0 * equations)); }

std::string text_of(const Problem& problem, int equations) {
  return fmt::format("kind = \"dae\"\n[parameters]\nN = {}\n[variables]\n{}[equations]\n{}", problem.members(equations),
                     problem.variables, problem.equations);
}

const std::vector<Problem>& problems() {
  static const std::vector<Problem> all = {
      {"ladder of resistors and capacitors",
       "\"u[i]\" = { for = \"i in 0..N-1\" }\n\"j[i]\" = { for = \"i in 1..N\" }\n",
       "source = \"u[0] = sin(t)\"\n"
       "\"node[i]\" = { for = \"i in 1..N-1\", equation = \"u[i]' = j[i] - j[i+1]\" }\n"
       "\"wire[i]\" = { for = \"i in 1..N-1\", equation = \"j[i] = u[i-1] - u[i]\" }\n"
       "end = \"j[N] = u[N-1]\"\n",
       half},
      {"chain of integrators (index n)", "\"x[i]\" = { for = \"i in 1..N\" }\n",
       "first = \"x[1] = sin(t)\"\n\"next[i]\" = { for = \"i in 2..N\", equation = \"x[i-1]' = x[i]\" }\n",
       whole},
      {"chains of integrators of lengths 1, 2, 3, ...",  // each needs a raise of its own
       "\"x[i,k]\" = { for = \"i in 1..N, k in 1..i\" }\n",
       "\"first[i]\" = { for = \"i in 1..N\", equation = \"x[i,1] = sin(t)\" }\n"
       "\"next[i,k]\" = { for = \"i in 1..N, k in 2..i\", equation = \"x[i,k-1]' = x[i,k]\" }\n",
       root},
      {"band, implicit", "\"x[i]\" = { for = \"i in 1..N\" }\n",
       "first = \"x[1]' + x[2]' = -x[1]\"\n"
       "\"row[i]\" = { for = \"i in 2..N-1\", equation = \"x[i-1]' + 4*x[i]' + x[i+1]' = x[i-1] - x[i+1]^2\" }\n"
       "last = \"x[N-1]' + x[N]' = t\"\n",
       whole},
      {"tree of tanks with incompressible pipes",
       "\"p[i]\" = { for = \"i in 1..N\" }\n\"q[i]\" = { for = \"i in 1..N\" }\n",
       "root = \"q[1] = p[1]\"\n"
       "\"pipe[i]\" = { for = \"i in 2..N\", equation = \"q[i]' = p[i] - p[floor(i/2)]\" }\n"
       "\"knot[i]\" = { for = \"i in 1..N\", equation = \"q[i] = if(2*i <= N, q[min(2*i,N)], 0) + if(2*i+1 <= N, "
       "q[min(2*i+1,N)], 0) + if(2*i > N, p[i]', 0)\" }\n",
       half},
      {"chain of pendulums (index 3)",
       "\"x[i]\" = { for = \"i in 1..N\", start = \"i\" }\n\"y[i]\" = { for = \"i in 1..N\" }\n\"lam[i]\" = { for = "
       "\"i in 1..N\" }\n",
       "\"mx[i]\" = { for = \"i in 1..N-1\", equation = \"x[i]'' = -lam[i]*(x[i] - if(i > 1, x[max(i-1,1)], 0)) + "
       "lam[i+1]*(x[i+1] - x[i])\" }\n"
       "\"my[i]\" = { for = \"i in 1..N-1\", equation = \"y[i]'' = -lam[i]*(y[i] - if(i > 1, y[max(i-1,1)], 0)) + "
       "lam[i+1]*(y[i+1] - y[i]) - 9.81\" }\n"
       "mxN = \"x[N]'' = -lam[N]*(x[N] - x[N-1])\"\nmyN = \"y[N]'' = -lam[N]*(y[N] - y[N-1]) - 9.81\"\n"
       "\"rod[i]\" = { for = \"i in 1..N\", equation = \"(x[i] - if(i > 1, x[max(i-1,1)], 0))^2 + (y[i] - if(i > 1, "
       "y[max(i-1,1)], 0))^2 = 1\" }\n",
       third},
      {"every row but the last takes a wrong column", "\"x[i]\" = { for = \"i in 1..N\" }\n",
       "\"row[i]\" = { for = \"i in 1..N-1\", equation = \"x[i]^2 + x[i+1] = t\" }\nlast = \"x[1] = 1\"\n",
       whole},
  };
  return all;
}

}  // namespace

int main() {
  fmt::print("{:<46}{:>9}{:>10}{:>12}{:>12}{:>11}{:>12}{:>8}{:>8}\n", "system", "size", "read [ms]", "analyze [ms]",
             "sigma [ms]", "J [ms]", "Pantel. [ms]", "index", "blocks");
  bool fast = true;
  for (const Problem& problem : problems())
    for (const int size : {1000, 10000}) {
      structure::EquationSet system;
      structure::StructuralAnalysis analysis;
      model::Model model;
      const double read = seconds_of([&] { model = model::read_model_text(text_of(problem, size), "bench"); });
      const double analyzed = seconds_of([&] {
        system = structure::equations_of(model);
        analysis = structure::structural_analysis(system);
      });
      const double sigma = seconds_of([&] { (void)structure::sigma_method(analysis.signature); });
      const double other = seconds_of([&] { (void)structure::pantelides(analysis.signature); });
      std::string verdict = "singular";
      double jacobian = 0.0;
      if (analysis.regular()) {
        jacobian = seconds_of([&] {
          structure::SystemJacobian J(system, analysis);
          verdict = J.at(0.0, J.near(J.guess(), 1)).regular ? "" : "J singular";
        });
      }
      fmt::print("{:<46}{:>9}{:>10.1f}{:>12.1f}{:>12.2f}{:>11.1f}{:>12.1f}{:>8}{:>8} {}\n", problem.name,
                 analysis.equations.size(), read * 1e3, analyzed * 1e3, sigma * 1e3, jacobian * 1e3, other * 1e3,
                 analysis.index().value_or(-1), analysis.blocks.size(), verdict);
      fast = fast && analyzed < 2.0;
    }
  fmt::print("{}\n", fast ? "no analysis above 2 s" : "an analysis takes MORE than 2 s");
  return fast ? 0 : 1;
}
