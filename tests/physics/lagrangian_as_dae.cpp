// One mechanism in two kinds: its equations of motion and its constraints, written out as a plain DAE that knows nothing of
// mechanics, have the same motion. Structural analysis, differentiation of the constraints, start and projection are then
// those of any DAE.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/mechanics/derive.hpp"
#include "daedalus/solve/analysis.hpp"
#include "physics/reference.hpp"

namespace daedalus::tests {
namespace {

/// The model file of kind dae for M a + G^T lambda = f, g = 0, from the consistent start of the mechanism.
std::string as_dae(const solve::Prepared& motion) {
  const mechanics::Equations& eq = motion.functions->equations;
  const solve::Start start = solve::consistent_start(motion, 0.0, solve::Initialize::project);
  std::string text = "kind = \"dae\"\n[parameters]\n";
  for (const model::Parameter& parameter : eq.model->parameters) text += fmt::format("\"{}\" = {}\n", parameter.name, shortest(parameter.value));
  text += "[variables]\n";
  for (std::size_t i = 0; i < eq.q.size(); ++i) {
    text += fmt::format("\"{}\" = {}\n", eq.q[i].name(), shortest(start.x[i]));
    text += fmt::format("\"{}\" = {}\n", eq.v[i].name(), shortest(start.x[eq.q.size() + i]));
  }
  std::unordered_map<expr::NodeId, expr::Expr> plain;
  for (std::size_t k = 0; k < eq.lambda.size(); ++k) {
    text += fmt::format("force{} = {}\n", k, shortest(start.lambda[k]));
    plain.emplace(eq.lambda[k].id(), eq.t.graph().symbol(fmt::format("force{}", k)));
  }
  text += "[equations]\n";
  for (std::size_t i = 0; i < eq.q.size(); ++i) {
    expr::Expr sum = -eq.f[i];
    for (std::size_t k = eq.M.row_start[i]; k < eq.M.row_start[i + 1]; ++k) sum = sum + eq.M.value[k] * eq.a[eq.M.column[k]];
    for (std::size_t r = 0; r < eq.constraints.size(); ++r)
      if (const expr::Expr entry = eq.G.at(r, i); entry.valid()) sum = sum + entry * eq.lambda[r];
    text += fmt::format("balance{} = \"{} = 0\"\n", i, expr::to_text(expr::substitute(std::vector{sum}, plain)[0]));
  }
  for (std::size_t r = 0; r < eq.constraints.size(); ++r)
    text += fmt::format("bond{} = \"{} = 0\"\n", r, expr::to_text(eq.constraints[r].position));
  return text;
}

struct Mechanism {
  std::string model;
  double t_end;
};

class LagrangianAsDae : public testing::TestWithParam<Mechanism> {};

/// At rtol 1e-11 both runs are within some hundred tolerances of the motion.
TEST_P(LagrangianAsDae, IsTheSameMotion) {
  const auto& [name, t_end] = GetParam();
  const solve::Prepared motion = prepared(name);
  const std::string text = as_dae(motion);
  const solve::Prepared plain = solve::prepare(model::read_model_text(text, name + " as dae"));
  EXPECT_EQ(solve::analyze(plain, 0.0).index, 3) << text;
  solve::RunOptions options;
  options.rtol = 1e-11;
  options.t_end = t_end;
  options.samples = 21;
  options.method = "dop853";
  const solve::Trajectory one = solve::simulate(motion, options), other = solve::simulate(plain, options);
  ASSERT_TRUE(one.success()) << one.message;
  ASSERT_TRUE(other.success()) << other.message;
  EXPECT_EQ(other.formulation, "projection");
  for (const double residual : other.constraints.relative) EXPECT_LE(residual, 1e-11);
  double worst = 0.0;
  for (const expr::Expr& q : motion.functions->equations.q) {
    double size = 1.0;
    for (std::size_t row = 0; row < one.t.size(); ++row) size = std::max(size, std::abs(one.value(row, one.column(q.name()))));
    for (std::size_t row = 0; row < one.t.size(); ++row)
      worst = std::max(worst, std::abs(one.value(row, one.column(q.name())) - other.value(row, other.column(q.name()))) / size);
  }
  std::printf("%s: largest difference %.1e\n", name.c_str(), worst);
  EXPECT_LE(worst, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Models, LagrangianAsDae,
                         testing::Values(Mechanism{"pendulum", 10.0}, Mechanism{"slider_crank", 5.0}, Mechanism{"andrews", 0.03},
                                         Mechanism{"andrews_lagrangian", 0.03}, Mechanism{"rotating_wire", 2.0}, Mechanism{"spherical_pendulum", 5.0},
                                         Mechanism{"car_axis", 3.0}),
                         [](const auto& one) { return one.param.model; });

}  // namespace
}  // namespace daedalus::tests
