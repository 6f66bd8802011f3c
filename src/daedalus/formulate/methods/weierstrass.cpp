// E x' = A x + f taken apart, x = V x1 + W x2: an ODE x1' = J x1 + L1 f and x2 = -sum N^k (L2 f)^(k), the theorem of
// Weierstrass (000, Theorem 4 and (2.31)), with V, W from Wong's sequences instead of Jordan forms.

#include <fmt/format.h>

#include <algorithm>

#include "daedalus/base/text.hpp"
#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/formulate/linear_observation.hpp"
#include "daedalus/structure/linear_solution.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;
using structure::LinearFlow;
using Number = LinearFlow::Number;

namespace {

/// z holds both doubles of every number, then what steps have added up in errors.
std::vector<Number> unpacked(const double* z, std::size_t count) {
  std::vector<Number> x1;
  for (std::size_t i = 0; i < count; ++i) x1.emplace_back(z[2 * i], z[2 * i + 1]);
  return x1;
}

void pack(const std::vector<Number>& x1, double* z) {
  for (std::size_t i = 0; i < x1.size(); ++i) {
    z[2 * i] = x1[i].high();
    z[2 * i + 1] = x1[i].low();
  }
}

std::string accuracy_text(const LinearFlow& flow) {
  return fmt::format("error bound {} beside the rounding of the numbers shown: {}, condition of the decomposition {}",
                     brief(flow.error_bound(), 2), flow.precision(), brief(flow.solution().parts.condition, 2));
}

Formulated make(const Equations& equations) {
  const std::shared_ptr<const structure::LinearSolution>& solution = equations.linear;
  const structure::DaeFunctions& fn = *solution->functions;
  const std::size_t n = fn.dimension(), n1 = solution->n1();
  auto flow = std::make_shared<LinearFlow>(solution);
  auto observation = std::make_shared<LinearObservation>(solution->functions);
  auto y = std::make_shared<std::vector<std::vector<double>>>();
  Formulated result;
  integrate::System& system = result.system;
  system.dimension = 2 * n;
  for (const auto& unknown : fn.unknowns) system.names.push_back(unknown.name);
  for (const auto& unknown : fn.unknowns) system.names.push_back("der(" + unknown.name + ")");

  auto formula = std::make_shared<integrate::Flow>();
  formula->coordinates = 2 * n1 + 1;
  formula->enter = [flow, n1](double t, const double* x, double* z) {
    pack(flow->differential_part(x), z);
    z[2 * n1] = flow->entered(t, x);
    return Evaluation::ok;
  };
  formula->advance = [flow, n1](double t, double h, double* z) {
    std::vector<Number> x1 = unpacked(z, n1);
    const bool good = flow->advance(t, h, x1, z[2 * n1]);
    pack(x1, z);
    return good ? Evaluation::ok : Evaluation::not_finite;
  };
  formula->leave = [flow, y, n, n1](double t, const double* z, double* x) {
    if (!flow->states(t, unpacked(z, n1), 1, *y, z[2 * n1])) return Evaluation::not_finite;
    std::ranges::copy((*y)[0], x);
    std::ranges::copy((*y)[1], x + n);
    return Evaluation::ok;
  };
  formula->conditions = solution->forcing ? 0 : solution->conditions.output_count() / 2;
  formula->watch = [flow](double t, double* values) { flow->conditions(t, values); };
  formula->accuracy = [flow] { return accuracy_text(*flow); };
  system.flow = formula;
  system.explain = [] { return std::string("f or its integral is not a finite number"); };

  result.observation = observation;
  result.guess = [](const std::vector<double>&) {};
  result.freeze = [flow, observation](const double* frozen) {
    flow->freeze(frozen);
    observation->freeze(frozen);
  };
  result.factorizations = [] { return std::size_t{0}; };
  result.flow = flow;
  return result;
}

}  // namespace

FormulationEntry formulation_weierstrass() {
  FormulationEntry entry;
  entry.name = "weierstrass";
  entry.summary = "linear DAEs with constant coefficients of any index, taken apart into an ODE and derivatives of f";
  entry.citation = "DAE notes (000), Theorem 4 and (2.31); Berger, Ilchmann, Trenn, Linear Algebra Appl. 436, 2012";
  entry.kinds = {"linear", "dae"};
  entry.index = 0;
  entry.projects = true;
  entry.takes_arrays = true;
  entry.reduces = true;
  entry.views = {integrate::View::flow};
  entry.make = [](const Equations& equations, integrate::View, const Options&) { return make(equations); };
  return entry;
}

}  // namespace daedalus::formulate
