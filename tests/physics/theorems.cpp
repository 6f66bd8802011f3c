// Theorems 3.1 and 4.1 of 001 (C. Fuehrer, B. J. Leimkuhler): the ssf-generalized inverse on an overdetermined system
// and Newton's method on the system extended by multipliers are the same iteration, if the same A_2 stands in the
// kernel V, in Newton's matrix and in the terms A_2^T (mu, eta) of the residual, and if mu and eta are in no norm. What
// runs here are the systems of the formulations and the correctors of the multistep methods; the test only freezes A_2
// in the residual of the extended system, as the theorems suppose.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/integrate/families/multistep_history.hpp"
#include "daedalus/integrate/families/overdetermined_newton.hpp"
#include "daedalus/integrate/integrator_entry.hpp"
#include "dense.hpp"
#include "physics/reference.hpp"

namespace daedalus::tests {
namespace {

using integrate::Evaluation;
using integrate::ImplicitSystem;
using integrate::System;

formulate::Formulated formulated(const solve::Prepared& model, const std::string& choice) {
  const Choice parsed = parse_choice(choice);
  const formulate::FormulationEntry& entry = formulate::formulation(parsed.name);
  return entry.make({model.functions, nullptr}, entry.views.front(), Options(parsed, entry.options));
}

/// The extended system with multipliers outside the Jacobian and with their columns in the residual as they were when
/// the Jacobian was evaluated last.
std::shared_ptr<const ImplicitSystem> frozen(const std::shared_ptr<const ImplicitSystem>& given) {
  struct Work {
    std::vector<double> y, F_y, F_dy;
  };
  auto work = std::make_shared<Work>();
  const std::size_t n = given->pattern.columns;
  work->y.resize(n);
  work->F_y.resize(given->pattern.nonzeros());
  work->F_dy.resize(given->pattern.nonzeros());
  const auto without_multipliers = [given, work, n](const double* y) {
    for (std::size_t i = 0; i < n; ++i) work->y[i] = given->counts(i) ? y[i] : 0.0;
    return work->y.data();
  };
  auto result = std::make_shared<ImplicitSystem>(*given);
  result->jacobian = [=](double t, const double* y, const double* dy, double* F_y, double* F_dy) {
    const Evaluation outcome = given->jacobian(t, without_multipliers(y), dy, F_y, F_dy);
    std::copy_n(F_y, work->F_y.size(), work->F_y.begin());
    return outcome;
  };
  result->residual = [=](double t, const double* y, const double* dy, double* F) {
    const Evaluation outcome = given->residual(t, without_multipliers(y), dy, F);
    const linalg::Sparsity& pattern = given->pattern;
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
        if (!given->counts(pattern.column[k])) F[i] += work->F_y[k] * y[pattern.column[k]];
    return outcome;
  };
  return result;
}

struct Setting {
  std::string model;
  double step;   ///< so long that Newton's method has something to do
  double t_end;  ///< of the prescribed sequence of steps
  double tolerance;
  std::string theorem, overdetermined, extended;
};

const std::vector<Setting>& settings() {
  static const std::vector<Setting> all = [] {
    std::vector<Setting> out;
    for (const auto& [overdetermined, extended, theorem] :
         {std::tuple{"overdetermined-index2", "ggl", "4.1"},
          std::tuple{"overdetermined-index2:weight=mass", "ggl:weight=mass", "4.1 in the mass metric"},
          std::tuple{"overdetermined-index1", "stabilized-index1", "3.1"},
          std::tuple{"overdetermined-index1:time=0.1", "stabilized-index1:time=0.1",
                     "3.1 with another unit of time"}}) {
      out.push_back({"pendulum", 0.05, 5.0, 1e-6, theorem, overdetermined, extended});
      out.push_back({"andrews", 2e-4, 0.03, 1e-4, theorem, overdetermined, extended});
    }
    return out;
  }();
  return all;
}

/// Largest difference relative to the size of q, v or the rest, of which n unknowns are compared.
double difference(const std::vector<double>& a, const double* b, std::size_t n_q, std::size_t n) {
  double worst = 0.0;
  const std::size_t blocks[] = {0, n_q, 2 * n_q, n};
  for (int k = 0; k < 3; ++k) {
    double size = 0.0, off = 0.0;
    for (std::size_t i = blocks[k]; i < blocks[k + 1]; ++i) {
      size = std::max(size, std::abs(a[i]));
      off = std::max(off, std::abs(a[i] - b[i]));
    }
    worst = std::max(worst, off / std::max(size, 1.0));
  }
  return worst;
}

class Theorems : public testing::TestWithParam<Setting> {
 protected:
  Theorems()
      : model_(prepared(GetParam().model)),
        overdetermined_(formulated(model_, GetParam().overdetermined)),
        extended_(formulated(model_, GetParam().extended)),
        n_(overdetermined_.system.dimension),
        n_extended_(extended_.system.dimension),
        start_(solve::consistent_start(model_, 0.0, solve::Initialize::project).x) {
    start_.resize(n_extended_);
    EXPECT_EQ(extended_.system.complete(0.0, start_.data()), Evaluation::ok);
  }

  /// The step that the corrector takes is the one that (27) defines with a basis V of the kernel of A_2.
  void expect_definition(const integrate::NewtonCorrection& ssf, const integrate::NewtonPoint& at) const {
    const ImplicitSystem& system = overdetermined_.system.overdetermined->equations;
    const linalg::Sparsity& pattern = system.pattern;
    std::vector<double> F_y(pattern.nonzeros()), F_dy(pattern.nonzeros()), step(n_extended_);
    ASSERT_EQ(system.jacobian(at.t, at.y, at.dy, F_y.data(), F_dy.data()), Evaluation::ok);
    Matrix A{n_extended_, n_}, right{n_extended_, 1};
    for (std::size_t i = 0; i < pattern.rows; ++i)
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
        A(i, pattern.column[k]) = F_y[k] + at.c * F_dy[k];
    ASSERT_EQ(system.residual(at.t, at.y, at.dy, right.entries.data()), Evaluation::ok);
    step = right.entries;
    ssf.solve(step.data());
    const Matrix defined =
        ssf_solution(part(A, 0, n_), part(A, n_, n_extended_), part(right, 0, n_), part(right, n_, n_extended_));
    // Rows of A are as different as 1 and 1/h^2, and V loses the square of the condition of A_2, 1e4 at most.
    const std::size_t blocks[] = {0, model_.functions->n, 2 * model_.functions->n, n_};
    for (int k = 0; k < 3; ++k) {
      double size = 0.0, off = 0.0;
      for (std::size_t i = blocks[k]; i < blocks[k + 1]; ++i) {
        size = std::max(size, std::abs(step[i]));
        off = std::max(off, std::abs(step[i] - defined(i, 0)));
      }
      EXPECT_LE(off, 1e-7 * size) << "block " << k;
    }
  }

  solve::Prepared model_;
  formulate::Formulated overdetermined_, extended_;
  std::size_t n_, n_extended_;
  std::vector<double> start_;  ///< of the extended system, which begins with the unknowns of the other
};

TEST_P(Theorems, ExtendedSystemHasTheSameUnknownsFirst) {
  ASSERT_GT(n_extended_, n_);
  for (std::size_t i = 0; i < n_; ++i) {
    EXPECT_EQ(overdetermined_.system.names[i], extended_.system.names[i]);
    EXPECT_TRUE(extended_.system.implicit->counts(i));
  }
  for (std::size_t i = n_; i < n_extended_; ++i) EXPECT_FALSE(extended_.system.implicit->counts(i));
  EXPECT_EQ(overdetermined_.system.overdetermined->equations.pattern.rows, n_extended_);
}

TEST_P(Theorems, IteratesAgree) {
  // Four points of the motion, and from them a backward differentiation of order 3.
  const double h = GetParam().step;
  const std::size_t points = 4;
  solve::RunOptions options;
  options.rtol = options.atol = 1e-9;
  options.t_end = 4.0 * h;
  for (std::size_t k = 0; k < points; ++k) options.at.push_back(static_cast<double>(k) * h);
  const solve::Trajectory run = solve::simulate(model_, options);
  ASSERT_TRUE(run.success()) << run.message;
  integrate::MultistepHistory history(n_extended_);
  std::vector<double> past(n_extended_);
  for (std::size_t k = points; k-- > 0;) {
    for (std::size_t i = 0; i < 2 * model_.functions->n; ++i) past[i] = run.value(k, i);
    ASSERT_EQ(extended_.system.complete(run.t[k], past.data()), Evaluation::ok);
    history.append(static_cast<double>(points - 1 - k) * h, past.data());
  }
  std::vector<double> weights(points), guess(n_extended_), slope(n_extended_);
  history.value_weights(points, h, weights.data());
  history.combine(points, weights.data(), 1.0, guess.data());
  history.slope_weights(points, h, weights.data());
  history.combine(points, weights.data(), 0.0, slope.data());
  const double c = (1.0 + 1.0 / 2.0 + 1.0 / 3.0) / h, t = run.t.back() + h;

  const integrate::NewtonCorrection ssf = overdetermined_correction(overdetermined_.system.overdetermined),
                                    newton = square_correction(frozen(extended_.system.implicit));
  std::vector<double> y_ssf = guess, dy_ssf = slope, y_newton = guess, dy_newton = slope;
  for (std::size_t i = n_; i < n_extended_; ++i)
    y_newton[i] = 1e-3;  // with which multipliers it starts does not matter
  std::vector<double> change(n_extended_);
  integrate::Stats stats;
  const auto iterate = [&](const integrate::NewtonCorrection& correction, std::size_t n, std::vector<double>& y,
                           std::vector<double>& dy) {
    ASSERT_EQ(correction.residual(t, y.data(), dy.data(), change.data()), Evaluation::ok);
    correction.solve(change.data());
    for (std::size_t i = 0; i < n; ++i) {
      y[i] -= change[i];
      dy[i] -= c * change[i];
    }
  };
  ASSERT_EQ(ssf.prepare({t, h, c, y_ssf.data(), dy_ssf.data()}, integrate::Jacobians::evaluate, stats), Evaluation::ok);
  ASSERT_EQ(newton.prepare({t, h, c, y_newton.data(), dy_newton.data()}, integrate::Jacobians::evaluate, stats),
            Evaluation::ok);
  expect_definition(ssf, {t, h, c, guess.data(), slope.data()});
  double moved = 0.0;
  for (int iteration = 1; iteration <= 5; ++iteration) {
    const std::vector<double> before = y_ssf;
    iterate(ssf, n_, y_ssf, dy_ssf);
    iterate(newton, n_extended_, y_newton, dy_newton);
    if (iteration == 1) moved = difference(y_ssf, before.data(), model_.functions->n, n_);
    EXPECT_LE(difference(y_ssf, y_newton.data(), model_.functions->n, n_), 1e-12) << "iteration " << iteration;
  }
  EXPECT_GT(moved, 1e-6);  // otherwise nothing was compared
}

/// One attempt of a prescribed sequence, and whether it becomes a step.
struct Prescribed {
  double h;
  bool accepted;
};

/// What a stepper makes of a sequence of attempts, as states of n unknowns after every step.
class Follower {
 public:
  Follower(const Setting& setting, const System& system, std::vector<double> start, std::size_t n)
      : system_(system),
        n_(n),
        tolerance_{setting.tolerance, std::vector<double>(system.dimension, setting.tolerance)} {
    const integrate::IntegratorEntry& bdf = integrate::integrator("bdf");
    stepper_ = make_stepper(bdf, system_, Options(Choice{"bdf", {}}, bdf.options), integrate::Control::adaptive);
    start.resize(system_.dimension);
    EXPECT_EQ(stepper_->start(0.0, start.data()), Evaluation::ok);
  }

  /// The sequence that step control chooses until t_end.
  std::vector<Prescribed> choose(double first, double t_end) {
    std::vector<Prescribed> sequence;
    for (double h = first; t_ < t_end && sequence.size() < 100000;) {
      const integrate::Attempt attempt = stepper_->attempt(h, &tolerance_);
      const bool good = attempt.outcome == Evaluation::ok && attempt.error <= 1.0;
      sequence.push_back({h, good});
      finish(sequence.back());
      h = *attempt.next_step;
    }
    return sequence;
  }

  void follow(const std::vector<Prescribed>& sequence) {
    for (const Prescribed& one : sequence) {
      const integrate::Attempt attempt = stepper_->attempt(one.h, &tolerance_);
      if (one.accepted) {
        ASSERT_EQ(attempt.outcome, Evaluation::ok) << "t = " << t_;
      }
      finish(one);
    }
  }

  std::vector<std::vector<double>> states;

 private:
  void finish(const Prescribed& one) {
    if (!one.accepted) {
      stepper_->rejected();
      return;
    }
    t_ += one.h;
    EXPECT_EQ(stepper_->accepted(t_), Evaluation::ok);
    states.emplace_back(stepper_->state(), stepper_->state() + n_);
  }

  const System& system_;
  std::size_t n_;
  integrate::Tolerance tolerance_;
  std::unique_ptr<integrate::Stepper> stepper_;
  double t_ = 0.0;
};

TEST_P(Theorems, PrescribedStepsAgree) {
  System extended = extended_.system;
  extended.implicit = frozen(extended_.system.implicit);
  Follower ssf(GetParam(), overdetermined_.system, start_, n_), newton(GetParam(), extended, start_, n_),
      fresh(GetParam(), extended_.system, start_, n_);
  const std::vector<Prescribed> sequence = ssf.choose(1e-3 * GetParam().step, GetParam().t_end);
  newton.follow(sequence);
  fresh.follow(sequence);
  ASSERT_GT(ssf.states.size(), 100u);
  ASSERT_EQ(newton.states.size(), ssf.states.size());
  ASSERT_EQ(fresh.states.size(), ssf.states.size());
  double worst = 0.0, loose = 0.0;
  for (std::size_t k = 0; k < ssf.states.size(); ++k) {
    worst = std::max(worst, difference(ssf.states[k], newton.states[k].data(), model_.functions->n, n_));
    loose = std::max(loose, difference(ssf.states[k], fresh.states[k].data(), model_.functions->n, n_));
  }
  EXPECT_LE(worst, 1e-10);
  // With A_2 afresh in the residual the two are different methods.
  EXPECT_GT(loose, 1e3 * worst);
}

INSTANTIATE_TEST_SUITE_P(Fuehrer, Theorems, testing::ValuesIn(settings()), [](const auto& one) {
  std::string name = one.param.model + "_theorem_" + one.param.theorem;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

}  // namespace
}  // namespace daedalus::tests
