// The perturbation index, measured: an error delta in the constraints changes lambda like delta / h^(index - 1). One
// step of implicit Euler from a consistent start, with delta added to the constraints of the formulation.
#include <gtest/gtest.h>

#include <cmath>

#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/integrate/integrator_entry.hpp"
#include "physics/reference.hpp"

namespace daedalus::tests {
namespace {

using integrate::Evaluation;
using integrate::ImplicitSystem;

struct Form {
  std::string name;
  int index_of_lambda;       ///< how its multipliers of the equations of motion react
  int index_of_multipliers;  ///< and those that hold lower levels; 0 where there are none
};

class PerturbationIndex : public testing::TestWithParam<std::tuple<Form, std::string>> {};

TEST_P(PerturbationIndex, IsTheOneOfTheFormulation) {
  const auto& [form, name] = GetParam();
  const solve::Prepared model = prepared(name);
  const mechanics::Functions& fn = *model.functions;
  const formulate::FormulationEntry& entry = formulate::formulation(form.name);
  formulate::Formulated formulated =
      entry.make({model.functions, nullptr}, integrate::View::implicit, Options(Choice{form.name, {}}, entry.options));
  const std::size_t n = formulated.system.dimension, lambda = fn.dimension() + fn.algebraic.size();
  std::vector<double> start = solve::consistent_start(model, 0.0, solve::Initialize::project).x;
  start.resize(n);
  ASSERT_EQ(formulated.system.complete(0.0, start.data()), Evaluation::ok);

  // Constraints are the rows behind the equations of motion and the auxiliary ones; among them, with accelerations as
  // unknowns, M a = f - G^T lambda, which an error of the same kind does no harm.
  const std::shared_ptr<const ImplicitSystem> given = formulated.system.implicit;
  const auto end_of_step = [&](double h, double delta) {
    auto disturbed = std::make_shared<ImplicitSystem>(*given);
    disturbed->residual = [given, delta, n, lambda](double t, const double* y, const double* dy, double* F) {
      const Evaluation outcome = given->residual(t, y, dy, F);
      for (std::size_t i = lambda; i < n; ++i) F[i] -= delta;
      return outcome;
    };
    integrate::System system = formulated.system;
    system.implicit = disturbed;
    const integrate::IntegratorEntry& euler = integrate::integrator("implicit-euler");
    const auto stepper =
        make_stepper(euler, system, Options(Choice{euler.name, {}}, euler.options), integrate::Control::fixed);
    EXPECT_EQ(stepper->start(0.0, start.data()), Evaluation::ok);
    EXPECT_EQ(stepper->attempt(h, nullptr).outcome, Evaluation::ok) << h;
    return std::vector<double>(stepper->candidate(), stepper->candidate() + n);
  };
  const auto change = [&](double h, double delta, std::size_t from, std::size_t to) {
    const std::vector<double> without = end_of_step(h, 0.0), with = end_of_step(h, delta);
    double largest = 0.0;
    for (std::size_t i = from; i < to; ++i) largest = std::max(largest, std::abs(with[i] - without[i]));
    return largest;
  };

  // Steps far below the time scale of the motion, so that lower powers of h are lost in none of them; an error far
  // above round-off, eps/h^2 of lambda, and far below what the step moves.
  const double T = name == "andrews" ? 1e-3 : 1.0;
  const double delta = 1e-10, h1 = 1e-3 * T, h2 = 1e-4 * T;
  const auto order = [&](std::size_t from, std::size_t to) {
    return std::log10(change(h2, delta, from, to) / change(h1, delta, from, to)) / std::log10(h1 / h2);
  };
  EXPECT_NEAR(order(lambda, lambda + fn.m), form.index_of_lambda - 1, 0.1);
  // The same for the size of the error: proportional.
  const double ratio = change(h1, 2.0 * delta, lambda, lambda + fn.m) / change(h1, delta, lambda, lambda + fn.m);
  EXPECT_NEAR(ratio, 2.0, 0.02);
  if (form.index_of_multipliers > 0) {
    const std::size_t behind = n - static_cast<std::size_t>(std::ranges::count(given->ignored, true));
    EXPECT_NEAR(order(behind, n), form.index_of_multipliers - 1, 0.1);
  }
}

INSTANTIATE_TEST_SUITE_P(Implicit, PerturbationIndex,
                         testing::Combine(testing::Values(Form{"index1", 1, 0}, Form{"index2", 2, 0},
                                                          Form{"index3", 3, 0}, Form{"ggl", 2, 2},
                                                          Form{"stabilized-index1", 1, 2}),
                                          testing::Values("pendulum", "andrews", "spherical_pendulum")),
                         [](const auto& one) {
                           std::string name = std::get<0>(one.param).name + "_" + std::get<1>(one.param);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace daedalus::tests
