// Manufactured solutions: q*(t) and lambda*(t) are chosen first, then forces and constraints such that they are exact.
//
//     M(q, t) a = f - G^T lambda,     f = M(q, t) a*(t) + G(q, t)^T lambda*(t) - k sin(q - q*) - c (v - v*)
//     g(q, t) = r(q) - r(q*(t))                           holonomic, rheonomic, r nonlinear
//     A(q, t) v = A(q, t) v*(t) + d(q) - d(q*(t))         nonholonomic
//
// or, for kind lagrangian, T = v^T M v / 2 + b(q, t)^T v and V with forces Q(t) = d/dt p - dL/dq + G^T lambda*, both
// parts taken along the exact motion as functions of t alone: another way to the same numbers than `mechanics` takes.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::tests {
namespace {

using expr::Expr;
using expr::NodeId;

constexpr double t_end = 2.0;

/// A model with its exact solution.
class Manufactured {
 public:
  explicit Manufactured(unsigned seed) : random_(seed) {
    n_ = 2 + seed % 4;
    const std::size_t m = 1 + random_() % (n_ - 1);
    const std::size_t nonholonomic = seed % 3 == 0 ? m : seed % 3 == 1 ? 0 : m / 2;
    graph_ = std::make_shared<expr::Graph>();
    t_ = graph_->symbol("t");
    make_motion();
    make_mass();
    for (std::size_t i = 0; i < m; ++i) add_constraint(i, i >= m - nonholonomic);
    if (seed % 5 < 3) {
      mechanical();
    } else {
      lagrangian();
    }
    fill(seed);
  }

  const model::Model& model() const { return model_; }

  /// Largest errors of a run over all its rows: of q and v, of lambda, each with absolute values.
  struct Errors {
    double motion = 0.0, multipliers = 0.0;
  };
  Errors errors(const solve::Trajectory& run) const {
    Errors result;
    for (std::size_t row = 0; row < run.t.size(); ++row) {
      const std::vector<double> q = at(q_exact_, run.t[row]), v = at(v_exact_, run.t[row]),
                                lambda = at(lambda_exact_, run.t[row]);
      for (std::size_t i = 0; i < n_; ++i) {
        result.motion = std::max(result.motion, std::abs(run.value(row, run.column(q_[i].name())) - q[i]));
        result.motion = std::max(result.motion, std::abs(run.value(row, run.column(v_[i].name())) - v[i]));
      }
      for (std::size_t i = 0; i < lambda.size(); ++i)
        result.multipliers =
            std::max(result.multipliers, std::abs(run.value(row, run.column(lambda_[i].name())) - lambda[i]));
    }
    return result;
  }

  /// The model with every start value moved a little.
  model::Model disturbed(double by) const {
    model::Model copy = model_;
    double sign = 1.0;
    for (model::Unknown& unknown : copy.variables)
      for (std::size_t level = 0; level < 2; ++level) unknown.start[level].value += (sign = -sign) * by;
    return copy;
  }

  double size() const {
    double most = 0.0;
    for (int k = 0; k <= 20; ++k)
      for (const auto* exact : {&q_exact_, &v_exact_})
        for (const double value : at(*exact, t_end * k / 20.0)) most = std::max(most, std::abs(value));
    return most;
  }

 private:
  double uniform(double least, double most) { return std::uniform_real_distribution<double>(least, most)(random_); }

  void make_motion() {
    for (std::size_t i = 0; i < n_; ++i) {
      const std::string name = "q" + std::to_string(i + 1);
      q_.push_back(graph_->symbol(name));
      v_.push_back(graph_->symbol(model::derivative_name(name, 1)));
      a_.push_back(graph_->symbol(model::derivative_name(name, 2)));
      q_exact_.push_back(uniform(-0.5, 0.5) + uniform(-0.4, 0.4) * t_ + uniform(-0.1, 0.1) * pow(t_, 2.0) +
                         uniform(0.2, 0.5) * sin(uniform(0.5, 2.0) * t_ + uniform(0.0, 3.0)) +
                         uniform(0.1, 0.2) * cos(uniform(1.0, 3.0) * t_));
      v_exact_.push_back(expr::partial(q_exact_[i], t_));
      a_exact_.push_back(expr::partial(v_exact_[i], t_));
    }
  }

  /// M = B^T B + I / 2 with B = constant + smooth: positive definite everywhere.
  void make_mass() {
    std::vector<std::vector<Expr>> B(n_, std::vector<Expr>(n_));
    for (auto& row : B)
      for (Expr& entry : row)
        entry = uniform(-0.6, 0.6) + 0.3 * sin(q_[random_() % n_] + uniform(-1.0, 1.0) * t_ + uniform(0.0, 3.0));
    M_.assign(n_, std::vector<Expr>(n_));
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < n_; ++j) {
        M_[i][j] = graph_->constant(i == j ? 0.5 : 0.0);
        for (std::size_t k = 0; k < n_; ++k) M_[i][j] = M_[i][j] + B[k][std::min(i, j)] * B[k][std::max(i, j)];
      }
  }

  Expr along_exact(Expr e) const {
    std::unordered_map<NodeId, Expr> exact;
    for (std::size_t i = 0; i < n_; ++i) {
      exact.emplace(q_[i].id(), q_exact_[i]);
      exact.emplace(v_[i].id(), v_exact_[i]);
    }
    return expr::substitute(e, exact);
  }

  /// Each constraint has a coordinate of its own with a slope that outweighs the others: rows stay independent.
  void add_constraint(std::size_t own, bool nonholonomic) {
    const std::string name = "c" + std::to_string(own + 1);
    Expr left, right;
    if (nonholonomic) {
      left = right = graph_->constant(0.0);
      for (std::size_t j = 0; j < n_; ++j) {
        const Expr A =
            j == own ? graph_->constant(2.0) : uniform(-0.3, 0.3) * cos(q_[random_() % n_] + uniform(0.0, 1.0) * t_);
        left = left + A * v_[j];
        right = right + A * v_exact_[j];
      }
      const Expr d = 0.5 * sin(q_[random_() % n_]);
      right = right + (d - along_exact(d));
    } else {
      left = 2.0 * q_[own];
      for (std::size_t j = 0; j < n_; ++j)
        if (j != own) left = left + uniform(-0.15, 0.15) * q_[j];
      left = left + 0.4 * sin(q_[random_() % n_] + 0.3) + 0.15 * q_[random_() % n_] * q_[random_() % n_];
      right = along_exact(left);
    }
    model_.constraints.push_back({name, left, right, left - right, {}});
    lambda_.push_back(graph_->symbol("lambda." + name));
    lambda_exact_.push_back(uniform(-2.0, 2.0) + uniform(0.5, 1.5) * sin(uniform(0.5, 2.0) * t_));
    const std::vector<Expr> row = expr::gradient(left - right, nonholonomic ? v_ : q_);
    G_.push_back(row);
  }

  /// G^T lambda* + forces that pull back to the exact motion.
  Expr rest_of_force(std::size_t i) {
    Expr sum = -(uniform(0.0, 2.0) * sin(q_[i] - q_exact_[i])) - uniform(0.0, 1.0) * (v_[i] - v_exact_[i]);
    for (std::size_t k = 0; k < G_.size(); ++k) sum = sum + G_[k][i] * lambda_exact_[k];
    return sum;
  }

  void mechanical() {
    model_.kind = model::Kind::mechanical;
    model_.mass.rows = model_.mass.columns = n_;
    for (std::size_t i = 0; i < n_; ++i) {
      Expr f = rest_of_force(i);
      for (std::size_t j = 0; j < n_; ++j) {
        model_.mass.entries.push_back({i, j, M_[i][j]});
        f = f + M_[i][j] * a_exact_[j];
      }
      model_.force.push_back(f);
    }
  }

  void lagrangian() {
    model_.kind = model::Kind::lagrangian;
    Expr T = uniform(-1.0, 1.0) * pow(q_[0], 2.0) * sin(t_);  // degree 0 in the velocities
    for (std::size_t i = 0; i < n_; ++i) {
      T = T + uniform(-0.5, 0.5) * sin(q_[random_() % n_] + t_) * v_[i];  // degree 1
      for (std::size_t j = 0; j < n_; ++j) T = T + M_[i][j] * v_[i] * v_[j] / 2.0;
    }
    Expr V = graph_->constant(0.0);
    for (std::size_t i = 0; i < n_; ++i) V = V + uniform(0.0, 1.0) * cos(q_[i] + 0.2 * t_);
    model_.kinetic = T;
    model_.potential = V;
    const Expr L = T - V;
    for (std::size_t i = 0; i < n_; ++i) {
      const Expr p = along_exact(expr::partial(L, v_[i])), L_q = along_exact(expr::partial(L, q_[i]));
      model_.forces.push_back({q_[i].name(), expr::partial(p, t_) - L_q + rest_of_force(i), {}, {}, {}});
    }
  }

  void fill(unsigned seed) {
    model_.name = "manufactured " + std::to_string(seed);
    model_.graph = graph_;
    model_.time = t_;
    model_.multipliers = lambda_;
    const std::vector<double> q = at(q_exact_, 0.0), v = at(v_exact_, 0.0);
    for (std::size_t i = 0; i < n_; ++i) {
      model::Unknown unknown;
      unknown.name = q_[i].name();
      unknown.symbol = q_[i];
      unknown.rates = {v_[i], a_[i]};
      unknown.start = {{q[i], true, false, {}}, {v[i], true, false, {}}, {}};
      model_.variables.push_back(unknown);
    }
  }

  std::vector<double> at(const std::vector<Expr>& functions, double t) const {
    std::vector<double> values;
    for (const Expr& function : functions) values.push_back(expr::evaluate(function, {{t_.id(), t}}));
    return values;
  }

  std::mt19937_64 random_;
  std::size_t n_ = 0;
  std::shared_ptr<expr::Graph> graph_;
  Expr t_;
  std::vector<Expr> q_, v_, a_, lambda_, q_exact_, v_exact_, a_exact_, lambda_exact_;
  std::vector<std::vector<Expr>> M_, G_;
  model::Model model_;
};

solve::Trajectory run(const model::Model& model, double tolerance, const std::string& formulation,
                      const std::string& initialize) {
  solve::RunOptions options;
  options.t_end = t_end;
  options.rtol = options.atol = tolerance;
  options.samples = 9;
  options.formulation = formulation;
  options.method = "dop853";
  options.initialize = initialize;
  solve::Trajectory result = solve::simulate(model, options);
  EXPECT_TRUE(result.success()) << result.message;
  return result;
}

/// Checks a formulation at rtol = atol = 1e-10. A step's error is about the tolerance times 1 + |x|, and what has come
/// together after all steps is at most their number times that, times the factor K by which the equations magnify a
/// disturbance until t_end. K is measured with a disturbance of 1e-7 of the start: large against the errors of the
/// runs, small enough for linearity.
Manufactured::Errors check(const Manufactured& manufactured, const std::string& formulation,
                           const std::string& initialize) {
  constexpr double tolerance = 1e-10, disturbance = 1e-7;
  const solve::Trajectory fine = run(manufactured.model(), tolerance, formulation, initialize);
  const Manufactured::Errors error = manufactured.errors(fine);
  const Manufactured::Errors moved =
      manufactured.errors(run(manufactured.disturbed(disturbance), tolerance, formulation, initialize));
  const double steps = static_cast<double>(fine.stats.steps);
  const double unit = steps * tolerance * (1.0 + manufactured.size());
  EXPECT_LE(error.motion, unit * std::max(1.0, moved.motion / disturbance)) << formulation;
  EXPECT_LE(error.multipliers, unit * std::max(1.0, moved.multipliers / disturbance)) << formulation;
  // the disturbance is seen at all, and the bound is a sharp one
  EXPECT_LT(moved.motion, 1e3 * disturbance) << formulation;
  EXPECT_GT(moved.motion, 0.0);
  return error;
}

class ManufacturedSolution : public testing::TestWithParam<unsigned> {};

TEST_P(ManufacturedSolution, IsFollowedToTheAccuracyOfTheMethod) {
  const Manufactured manufactured(GetParam());
  const Manufactured::Errors fine = check(manufactured, "projection", "project");
  const solve::Trajectory coarse_run = run(manufactured.model(), 1e-6, "projection", "project");
  const Manufactured::Errors coarse = manufactured.errors(coarse_run);
  // In proportion the errors fall by 1e4. The step control of an eighth-order method holds that within a factor of
  // 30 on runs of ten to thirty steps.
  EXPECT_LT(fine.motion, 30e-4 * coarse.motion);
  EXPECT_LT(fine.multipliers, 30e-4 * coarse.multipliers);
  for (const solve::Trajectory& one : {coarse_run}) {
    EXPECT_LE(one.constraints.relative[0], 1e-12);
    EXPECT_LE(one.constraints.relative[1], 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ManufacturedSolution, testing::Range(1u, 21u));

TEST(ManufacturedSolutions, IndexOneAndBaumgarteFollowThemToo) {
  for (const unsigned seed : {2u, 3u, 5u, 7u, 9u}) {
    SCOPED_TRACE(seed);
    const Manufactured manufactured(seed);
    check(manufactured, "index1", "off");
    check(manufactured, "baumgarte:omega=5", "off");
  }
}

TEST(ManufacturedSolutions, CoverEveryKindOfModel) {
  std::size_t mechanical = 0, lagrangian = 0, holonomic = 0, nonholonomic = 0, mixed = 0;
  for (unsigned seed = 1; seed < 21; ++seed) {
    const Manufactured manufactured(seed);
    const auto equations = mechanics::derive(std::make_shared<const model::Model>(manufactured.model()));
    ++(manufactured.model().kind == model::Kind::mechanical ? mechanical : lagrangian);
    const std::size_t h = equations.holonomic_count(), m = equations.constraints.size();
    ++(h == m ? holonomic : h == 0 ? nonholonomic : mixed);
  }
  EXPECT_GE(mechanical, 5u);
  EXPECT_GE(lagrangian, 5u);
  EXPECT_GE(holonomic, 3u);
  EXPECT_GE(nonholonomic, 3u);
  EXPECT_GE(mixed, 2u);
}

}  // namespace
}  // namespace daedalus::tests
