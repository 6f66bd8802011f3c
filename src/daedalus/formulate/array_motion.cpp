// The strangeness-free form of P. Kunkel and V. Mehrmann, Differential-Algebraic Equations, 2006, sections 4.1 and 6.2, as
// an ODE on a manifold: of F_mu = (F, DF, ..., D^mu F) some combinations connect t and y alone, c(t, y) = 0, and the others
// determine y'. Both come from factorizations of the Jacobians of F_mu at every point (structure/array_solver.cpp), so that
// nothing depends on where the unknowns stand.

#include "daedalus/formulate/array_motion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daedalus/structure/array_solver.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;
using structure::ArrayForm;
using structure::ArraySolver;
using structure::DaeFunctions;

namespace {

/// The solver of one trajectory, and what a change of each unknown counts in projections.
struct Running {
  ArraySolver solver;
  double rtol = 0.0;
  std::vector<double> atol, sizes;
};

class ArrayObservation final : public Observation {
 public:
  ArrayObservation(std::shared_ptr<const DaeFunctions> functions, const ArrayForm& form, std::shared_ptr<const Running> running)
      : functions_(std::move(functions)),
        running_(std::move(running)),
        solver_(form.array, form.index),
        y_(functions_->dimension()),
        outputs_scratch_(functions_->outputs.make_scratch()),
        pictures_scratch_(functions_->pictures.make_scratch()) {
    for (const DaeFunctions::Column& column : functions_->columns) columns_.push_back(column.name);
    const std::size_t count = solver_.residuals().size();
    levels_.resize(1);
    for (std::size_t k = 0; k < count; ++k) levels_[0].columns.push_back(fmt::format("residual.hidden[{}]", k + 1));
    levels_[0].residual.resize(count);
    levels_[0].scale.assign(count, 1.0);  // residuals are relative already
    picture_count_ = functions_->pictures.output_count();
  }

  Evaluation at(double t, const double* state) override {
    t_ = t;
    std::copy_n(state, y_.size(), y_.begin());
    solver_.begin_at(running_->solver);  // rows are projected, most often just now
    const auto outcome = static_cast<Evaluation>(solver_.derivatives_at_projected(t, state));
    std::ranges::copy(solver_.residuals(), levels_[0].residual.begin());
    return outcome;
  }
  std::string explain() const override { return solver_.explain(); }
  void values(double* row) const override {
    for (const DaeFunctions::Column& column : functions_->columns)
      *row++ = (column.rate ? solver_.dy() : y_)[column.unknown];
  }
  void outputs(double* row) override { see(functions_->outputs, outputs_scratch_, row); }
  void pictures(double* row) override { see(functions_->pictures, pictures_scratch_, row); }
  void freeze(const double* frozen) {
    frozen_ = frozen;
    solver_.freeze(frozen);
  }

 private:
  void see(const compile::Function& function, compile::Function::Scratch& scratch, double* row) const {
    const double* inputs[] = {&t_, y_.data(), solver_.dy().data()};
    if (function.output_count() > 0) function(inputs, row, scratch, frozen_);
  }

  std::shared_ptr<const DaeFunctions> functions_;
  std::shared_ptr<const Running> running_;
  ArraySolver solver_;
  double t_ = 0.0;
  std::vector<double> y_;
  compile::Function::Scratch outputs_scratch_, pictures_scratch_;
  const double* frozen_ = nullptr;
};

}  // namespace

Formulated array_motion(const Equations& equations) {
  const ArrayForm& form = *equations.array;
  const std::size_t n = equations.dae->dimension();
  auto running = std::make_shared<Running>(
      Running{ArraySolver(form.array, form.index), 0.0, std::vector<double>(n, 1.0), std::vector<double>(n)});
  auto observation = std::make_shared<ArrayObservation>(equations.dae, form, running);
  Formulated result;
  integrate::System& system = result.system;
  system.dimension = n;
  for (const DaeFunctions::Unknown& unknown : equations.dae->unknowns) system.names.push_back(unknown.name);
  system.ode = [running](double t, const double* y, double* dy) {
    const auto outcome = static_cast<Evaluation>(running->solver.derivatives(t, y));
    std::ranges::copy(running->solver.dy(), dy);
    return outcome;
  };
  system.ode_jacobian = [running](double t, const double* y, double* jacobian) {
    return static_cast<Evaluation>(running->solver.jacobian(t, y, jacobian));
  };
  system.project = [running](double t, double* y) {
    for (std::size_t i = 0; i < running->sizes.size(); ++i)
      running->sizes[i] = running->atol[i] + running->rtol * std::abs(y[i]);
    return static_cast<Evaluation>(running->solver.project(t, y, running->sizes.data()));
  };
  system.begin_step = [running](double t, const double* y, double) {
    running->solver.begin_step(t, y);
    return false;  // on the manifold the derivatives are what they were
  };
  system.explain = [running] { return running->solver.explain(); };
  result.observation = observation;
  result.guess = [](const std::vector<double>&) {};
  result.weigh = [running](double rtol, const std::vector<double>& atol) {
    running->rtol = rtol;
    running->atol = atol;
  };
  result.freeze = [running, observation](const double* frozen) {
    running->solver.freeze(frozen);
    observation->freeze(frozen);
  };
  result.factorizations = [running] { return running->solver.factorizations(); };
  return result;
}

}  // namespace daedalus::formulate
