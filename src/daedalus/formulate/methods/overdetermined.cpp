// A DAE with all that it hides as more equations than unknowns: with x the differential unknowns of the differentiated
// equations F(t, x, x', z) = 0 and b(t, x) = 0 their lower derivatives and the invariants,
//     x' = w,   F(t, x, w, z) = 0,   b(t, x) = 0            for (x, w, z):
// (17) of Fuehrer and Leimkuhler 1991 for equations of any form. The corrector of a multistep method solves it by the
// ssf-generalized inverse, which adds b_x^T mu to x' = w and to nothing else. With derivatives left in F instead of w, the
// equations that determine z would be corrected, too, and z would take up errors divided by the step size: the same reason
// for which ODASSL wants the equation of lambda free of v'.

#include <algorithm>

#include "daedalus/expr/substitute.hpp"
#include "daedalus/formulate/first_order.hpp"
#include "daedalus/formulate/implicit_view.hpp"
#include "daedalus/formulate/invariant_projection.hpp"
#include "daedalus/structure/dae_evaluator.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;
using structure::DaeEvaluator;
using structure::DaeFunctions;

namespace {

std::shared_ptr<const compile::ImplicitFunction> equations_of(const DaeFunctions& fn) {
  const std::size_t count = fn.differential;
  const compile::ImplicitEquations& given = fn.equations;
  compile::ImplicitEquations all{given.t, {}, {}, {}};
  std::unordered_map<expr::NodeId, expr::Expr> rates;
  std::vector<expr::Expr> w;
  for (std::size_t i = 0; i < count; ++i) {
    w.push_back(given.t.graph().symbol("unknown.rate." + std::to_string(i)));
    rates.emplace(given.dy[i].id(), w.back());
    all.F.push_back(given.dy[i] - w.back());
  }
  const std::vector<expr::Expr> F = expr::substitute(given.F, rates);
  all.F.insert(all.F.end(), F.begin(), F.end());
  all.F.insert(all.F.end(), fn.hidden_residuals.begin(), fn.hidden_residuals.end());
  for (const model::Equation& invariant : fn.model->invariants) all.F.push_back(invariant.residual);
  const auto z = given.y.begin() + static_cast<std::ptrdiff_t>(count);
  all.y.assign(given.y.begin(), z);
  all.y.insert(all.y.end(), w.begin(), w.end());
  all.y.insert(all.y.end(), z, given.y.end());
  all.dy.assign(given.dy.begin(), given.dy.begin() + static_cast<std::ptrdiff_t>(count));
  all.dy.resize(all.y.size());
  compile::Switches switches = fn.switches;
  return std::make_shared<const compile::ImplicitFunction>(
      compile::compile_implicit(all, fn.model->numbers(), switches, compile::Request::NewSwitches::none));
}

integrate::ImplicitSystem shown(const DaeFunctions& fn, const std::shared_ptr<DaeEvaluator>& running,
                                const std::shared_ptr<const double*>& frozen) {
  const std::size_t count = fn.differential;
  integrate::ImplicitSystem system = implicit_view(equations_of(fn), frozen);
  system.system_index = 1;
  system.derivative = [running, count, size = system.pattern.columns](double t, const double* y, double* dy) {
    const auto outcome = static_cast<Evaluation>(running->solve(t, y));
    std::fill_n(dy, size, 0.0);
    std::copy_n(running->dy().begin(), count, dy);
    return outcome;
  };
  // x' = w times h: every row then has entries of about one size. w follows x and z, whose errors are looked at.
  system.row_power.assign(system.pattern.rows, 0);
  std::fill_n(system.row_power.begin(), count, 1);
  system.column_power.assign(system.pattern.columns, 0);
  system.ignored.assign(system.pattern.columns, false);
  std::fill_n(system.ignored.begin() + static_cast<std::ptrdiff_t>(count), count, true);
  return system;
}

}  // namespace

FormulationEntry formulation_overdetermined() {
  FormulationEntry entry;
  entry.name = "overdetermined";
  entry.summary = "a DAE with its hidden constraints as more equations than unknowns: no drift";
  entry.citation = "Fuehrer, Leimkuhler 1991, (17), (27)";
  entry.kinds = {"dae", "linear"};
  entry.reduces = true;
  entry.keeps_invariants_of = entry.kinds;
  entry.index = 1;
  entry.views = {integrate::View::overdetermined};
  entry.make = [](const Equations& equations, integrate::View, const Options&) {
    const DaeFunctions& fn = *equations.dae;
    Formulated result = first_order(equations, integrate::View::ode);
    integrate::System& system = result.system;
    auto running = std::make_shared<DaeEvaluator>(equations.dae);
    auto frozen = std::make_shared<const double*>(nullptr);
    system.ode = nullptr;
    system.overdetermined = std::make_shared<const integrate::OverdeterminedSystem>(
        integrate::OverdeterminedSystem{shown(fn, running, frozen)});
    system.leading = fn.differential;
    system.dimension = fn.differential + fn.dimension();
    for (std::size_t i = 0; i < fn.differential; ++i) system.names.push_back("der(" + fn.unknowns[i].name + ")");
    for (std::size_t i = fn.differential; i < fn.dimension(); ++i) system.names.push_back(fn.unknowns[i].name);
    system.complete = [running, count = fn.differential](double t, double* y) {
      const auto outcome = static_cast<Evaluation>(running->solve(t, y));
      double* next = std::copy_n(running->dy().begin(), count, y + count);
      std::copy(running->y().begin() + static_cast<std::ptrdiff_t>(count), running->y().end(), next);
      return outcome;
    };
    system.explain = [running] { return running->explain(); };
    // Steps hold the equations by themselves, to their tolerance; what is interpolated between them is moved onto them.
    keep_invariants(result, equations);
    system.project_between = [project = std::move(system.project), complete = system.complete](double t, double* y) {
      const Evaluation outcome = project(t, y);
      return outcome == Evaluation::ok ? complete(t, y) : outcome;
    };
    system.project = nullptr;
    result.guess = [running, size = fn.dimension(), inner = result.guess](const std::vector<double>& y_dy) {
      const auto middle = y_dy.begin() + static_cast<std::ptrdiff_t>(size);
      running->guess({y_dy.begin(), middle}, {middle, y_dy.end()});
      inner(y_dy);
    };
    result.freeze = [running, frozen, inner = result.freeze](const double* values) {
      running->freeze(values);
      *frozen = values;
      inner(values);
    };
    return result;
  };
  return entry;
}

}  // namespace daedalus::formulate
