// A consistent start, level by level: positions, then velocities, then auxiliary unknowns, then accelerations and
// multipliers together from the KKT system. The weight of positions is the mass matrix at the given point, frozen; that
// of velocities is the one at the positions found.

#include "daedalus/solve/start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "daedalus/base/text.hpp"
#include "daedalus/compile/compile.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/linalg/gauss_newton.hpp"
#include "daedalus/linalg/rank.hpp"

namespace daedalus::solve {

using expr::Expr;
using expr::NodeId;
using linalg::GaussNewtonOutcome;
using mechanics::Functions;

namespace {

constexpr double consistent = 1e-9;  ///< largest relative residual of a start that counts as consistent

/// An equation that binds at one level of the start.
struct Binding {
  std::string name;
  Expr residual;
  Place place;
  bool initial = false;  ///< from [initial]
};

/// "a", "a and b", "a, b and c"; long lists are cut.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 6;
  std::string text;
  const std::size_t shown = std::min(names.size(), most);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += i + 1 == shown && names.size() <= most ? " and " : ", ";
    text += names[i];
  }
  return names.size() > most ? text + fmt::format(" and {} more", names.size() - most) : text;
}

std::string quoted(const std::string& name) { return "'" + name + "'"; }

/// One level of the start: unknowns y with what is known before, bound by equations.
class Level {
 public:
  Level(const Functions& fn, std::string what, std::vector<Expr> unknowns, std::vector<std::vector<Expr>> known,
        std::vector<Binding> bindings)
      : what_(std::move(what)), unknowns_(std::move(unknowns)), bindings_(std::move(bindings)) {
    std::vector<Expr> residuals;
    for (const Binding& binding : bindings_) residuals.push_back(binding.residual);
    const expr::SparseExpr jacobian = expr::jacobian(residuals, unknowns_);
    pattern_ = {jacobian.rows, jacobian.columns, jacobian.row_start, jacobian.column};
    known.push_back(unknowns_);
    const auto numbers = fn.equations.model->numbers();
    compile::Switches switches;
    std::vector<Expr> terms;
    term_start_.push_back(0);
    for (const Expr& residual : residuals) {
      const std::vector<Expr> more = expr::terms_of(residual);
      terms.insert(terms.end(), more.begin(), more.end());
      term_start_.push_back(terms.size());
    }
    residual_ = compile::compile({known, residuals, &numbers}, switches);
    jacobian_ = compile::compile({known, jacobian.value, &numbers}, switches);
    terms_ = compile::compile({known, terms, &numbers}, switches);
    residual_scratch_ = residual_.make_scratch();
    jacobian_scratch_ = jacobian_.make_scratch();
    terms_scratch_ = terms_.make_scratch();
  }

  std::size_t rows() const { return bindings_.size(); }
  const std::vector<Binding>& bindings() const { return bindings_; }
  void set_known(std::vector<const double*> known) { known_ = std::move(known); }

  std::vector<double> residual(const double* y) { return evaluate(residual_, residual_scratch_, y); }

  /// Size of each equation: its largest term, or what a unit change of the unknowns would do, scaled down.
  std::vector<double> scales(const double* y) {
    const std::vector<double> terms = evaluate(terms_, terms_scratch_, y);
    const std::vector<double> C = evaluate(jacobian_, jacobian_scratch_, y);
    std::vector<double> result(rows());
    for (std::size_t i = 0; i < rows(); ++i) {
      for (std::size_t k = term_start_[i]; k < term_start_[i + 1]; ++k)
        if (std::isfinite(terms[k])) result[i] = std::max(result[i], std::abs(terms[k]));
      double slope = 0.0;
      for (std::size_t k = pattern_.row_start[i]; k < pattern_.row_start[i + 1]; ++k)
        if (std::isfinite(C[k])) slope += std::abs(C[k]);
      result[i] = std::max(result[i], 1e-8 * slope);
      if (result[i] == 0.0) result[i] = 1.0;
    }
    return result;
  }

  /// Adds what `y` violates to `violations`; true where nothing is.
  bool check(const double* y, int level, std::vector<Violation>& violations) {
    const std::vector<double> c = residual(y), scale = scales(y);
    bool good = true;
    for (std::size_t i = 0; i < rows(); ++i)
      if (!(std::abs(c[i]) <= consistent * scale[i])) {
        violations.push_back({bindings_[i].name, level, c[i]});
        good = false;
      }
    return good;
  }

  /// Moves y onto the equations with the least change. Returns false, with a message, where there is no such point;
  /// throws Error where fixed values or [initial] are to blame.
  bool solve(std::vector<double>& y, const std::vector<bool>& fixed, const linalg::Sparsity& weight,
             const std::vector<double>& weight_values, std::string& message) {
    if (rows() == 0) return true;
    linalg::GaussNewtonResult result = attempt(y, fixed, weight, weight_values, rows());
    if (result.outcome == GaussNewtonOutcome::converged) {
      y = result.x;
      return true;
    }
    std::vector<std::size_t> offending = result.offending_rows;
    if (offending.empty())
      for (std::size_t i = 0; i < rows(); ++i) offending.push_back(i);
    blame_bound_values(y, fixed, weight, weight_values, offending);
    message = describe(result, y, offending);
    return false;
  }

 private:
  std::vector<double> evaluate(const compile::Function& function, compile::Function::Scratch& scratch, const double* y) {
    std::vector<double> values(function.output_count());
    std::vector<const double*> inputs = known_;
    inputs.push_back(y);
    function(inputs.data(), values.data(), scratch);
    return values;
  }

  /// Solves the first `count` equations; the constraints stand before the [initial] ones.
  linalg::GaussNewtonResult attempt(const std::vector<double>& y, const std::vector<bool>& fixed, const linalg::Sparsity& weight,
                                    const std::vector<double>& weight_values, std::size_t count) {
    linalg::LeastChangeProblem problem;
    problem.weight = weight;
    problem.weight_values = weight_values;
    problem.jacobian = {count, pattern_.columns,
                        {pattern_.row_start.begin(), pattern_.row_start.begin() + static_cast<std::ptrdiff_t>(count) + 1},
                        {pattern_.column.begin(), pattern_.column.begin() + static_cast<std::ptrdiff_t>(pattern_.row_start[count])}};
    const auto take = [](const std::vector<double>& values, std::size_t many, double* to) {
      std::copy(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(many), to);
      return std::all_of(to, to + many, [](double value) { return std::isfinite(value); });
    };
    problem.residual = [this, take, count](const double* x, double* c) { return take(residual(x), count, c); };
    problem.jacobian_values = [this, take, nonzeros = pattern_.row_start[count]](const double* x, double* C) {
      return take(evaluate(jacobian_, jacobian_scratch_, x), nonzeros, C);
    };
    problem.fixed = fixed;
    problem.scales = scales(y.data());
    problem.scales.resize(count);
    linalg::GaussNewtonResult result = linalg::GaussNewton(problem).solve(y.data());
    if (result.outcome == GaussNewtonOutcome::stalled) {
      // Terms that vanish at the given point (all velocities 0) have their size only where the solution is.
      const std::vector<double> there = scales(result.x.data());
      for (std::size_t i = 0; i < count; ++i) problem.scales[i] = std::max(problem.scales[i], there[i]);
      result = linalg::GaussNewton(problem).solve(y.data());
    }
    if (result.outcome != GaussNewtonOutcome::singular_weight) return result;
    // no usable mass matrix at this point: plain least squares
    const std::size_t n = unknowns_.size();
    problem.weight = {n, n, {0}, {}};
    for (std::size_t i = 0; i < n; ++i) {
      problem.weight.column.push_back(i);
      problem.weight.row_start.push_back(i + 1);
    }
    problem.weight_values.assign(n, 1.0);
    return linalg::GaussNewton(problem).solve(y.data());
  }

  /// Throws where the constraints alone could be satisfied: then what is fixed contradicts them.
  void blame_bound_values(const std::vector<double>& y, const std::vector<bool>& fixed, const linalg::Sparsity& weight,
                          const std::vector<double>& weight_values, const std::vector<std::size_t>& offending) {
    const auto constraints = static_cast<std::size_t>(
        std::count_if(bindings_.begin(), bindings_.end(), [](const Binding& binding) { return !binding.initial; }));
    const bool any_fixed = std::find(fixed.begin(), fixed.end(), true) != fixed.end();
    if (!any_fixed && constraints == rows()) return;
    if (constraints > 0 &&
        attempt(y, std::vector<bool>(fixed.size(), false), weight, weight_values, constraints).outcome != GaussNewtonOutcome::converged)
      return;
    std::vector<std::string> equations, values;
    std::unordered_set<std::size_t> seen;
    for (const std::size_t i : offending) {
      equations.push_back((bindings_[i].initial ? "[initial] " : "") + quoted(bindings_[i].name));
      for (std::size_t k = pattern_.row_start[i]; k < pattern_.row_start[i + 1]; ++k)
        if (fixed[pattern_.column[k]] && seen.insert(pattern_.column[k]).second)
          values.push_back(fmt::format("{} = {}", unknowns_[pattern_.column[k]].name(), brief(y[pattern_.column[k]])));
    }
    throw Error("contradicting-fixed",
                values.empty() ? fmt::format("{} cannot hold together at the start", listed(equations))
                               : fmt::format("the fixed {} {} contradict{} {}", values.size() == 1 ? "value" : "values", listed(values),
                                             values.size() == 1 ? "s" : "", listed(equations)),
                values.empty() ? "drop one of them" : "drop `fixed` (or --fix) from one of the values, so that it can move",
                bindings_[offending.front()].place);
  }

  std::string describe(const linalg::GaussNewtonResult& result, const std::vector<double>& y,
                       const std::vector<std::size_t>& offending) {
    std::vector<std::string> names, unknowns;
    std::unordered_set<std::size_t> seen;
    for (const std::size_t i : offending) {
      names.push_back(quoted(bindings_[i].name));
      for (std::size_t k = pattern_.row_start[i]; k < pattern_.row_start[i + 1]; ++k)
        if (seen.insert(pattern_.column[k]).second) unknowns.push_back(unknowns_[pattern_.column[k]].name());
    }
    const std::string noun = names.size() == 1 ? "constraint" : "constraints";
    switch (result.outcome) {
      case GaussNewtonOutcome::rank_deficient_inconsistent:
        return fmt::format("the {} {} contradict{} each other on {} level: they depend on one another, but no {} satisfy all of them",
                           noun, listed(names), names.size() == 1 ? "s" : "", what_, listed(unknowns));
      case GaussNewtonOutcome::not_finite: {
        const std::vector<double> c = residual(y.data());
        for (std::size_t i = 0; i < rows(); ++i)
          if (!std::isfinite(c[i]))
            return fmt::format("the constraint '{}' is not a finite number at the given start", bindings_[i].name);
        return "the derivative of a constraint is not a finite number at the given start";
      }
      default:
        return fmt::format(
            "no consistent start: the {} {} cannot be reached from the given values of {} (the residual stays at {} of its largest "
            "term); other start values or parameters are needed",
            noun, listed(names), listed(unknowns), brief(result.residual, 2));
    }
  }

  std::string what_;
  std::vector<Expr> unknowns_;
  std::vector<Binding> bindings_;
  linalg::Sparsity pattern_;
  std::vector<std::size_t> term_start_;
  compile::Function residual_, jacobian_, terms_;
  compile::Function::Scratch residual_scratch_, jacobian_scratch_, terms_scratch_;
  std::vector<const double*> known_;
};

std::unordered_set<NodeId> ids(const std::vector<Expr>& symbols) {
  std::unordered_set<NodeId> set;
  for (const Expr& symbol : symbols) set.insert(symbol.id());
  return set;
}

class Initializer {
 public:
  Initializer(const std::shared_ptr<const Functions>& functions, double t, Initialize mode)
      : functions_(functions), fn_(*functions), eq_(functions->equations), mode_(mode), evaluator_(functions) {
    start_.t = t;
  }

  Start operator()() {
    sort_initial_equations();
    take_given_values();
    const std::vector<double> given = start_.x;
    if (positions() && velocities() && auxiliary()) {
      note_moves(given);
      accelerations();
    } else {
      start_.found = false;
    }
    return std::move(start_);
  }

 private:
  void sort_initial_equations() {
    const auto v = ids(eq_.v), a = ids(eq_.a), lambda = ids(eq_.lambda);
    auto z = ids(eq_.z);
    for (const Expr& rate : eq_.z_rate) z.insert(rate.id());
    for (const model::Equation& equation : eq_.model->initial) {
      const std::vector<NodeId> used = expr::symbols_of(equation.residual);
      const auto uses = [&](const std::unordered_set<NodeId>& set) {
        return std::any_of(used.begin(), used.end(), [&](NodeId id) { return set.contains(id); });
      };
      if (uses(a) || uses(lambda))
        throw Error("initial-too-high",
                    fmt::format("the [initial] equation '{}' contains accelerations or multipliers", equation.name),
                    "accelerations and multipliers follow from the equations; write it for positions and velocities",
                    equation.place);
      (uses(z) ? auxiliary_initial_ : uses(v) ? velocity_initial_ : position_initial_)
          .push_back({equation.name, equation.residual, equation.place, true});
    }
  }

  void take_given_values() {
    const model::Model& model = *eq_.model;
    const auto start_of = [](const model::Unknown& unknown, std::size_t level) {
      return level < unknown.start.size() ? unknown.start[level] : model::Start{};
    };
    for (const model::Unknown& unknown : model.variables) {
      if (start_of(unknown, 2).fixed)
        throw Error("fixed-acceleration", fmt::format("der({},2) cannot be fixed", unknown.name),
                    "accelerations follow from the equations of motion", start_of(unknown, 2).place);
      start_.x.push_back(start_of(unknown, 0).value);
      fixed_q_.push_back(start_of(unknown, 0).fixed);
      fixed_v_.push_back(start_of(unknown, 1).fixed);
    }
    for (const model::Unknown& unknown : model.variables) start_.x.push_back(start_of(unknown, 1).value);
    for (std::size_t i = 0; i < eq_.z.size(); ++i) {
      const model::Start value = start_of(model.auxiliary[i], 0), rate = start_of(model.auxiliary[i], 1);
      const bool differential = eq_.z_differential[i];
      if (differential) {
        start_.x.push_back(value.value);
        fixed_z_.push_back(value.fixed);
      }
      start_.w.push_back(differential ? rate.value : value.value);
      fixed_w_.push_back(differential ? rate.fixed : value.fixed);
    }
    for (std::size_t i = 0; i < start_.x.size(); ++i)
      DAEDALUS_CHECK(std::isfinite(start_.x[i]), "start value {} of {} is not finite", i, fn_.state_names()[i]);
  }

  bool positions() {
    std::vector<Binding> bindings;
    for (const mechanics::Constraint& constraint : eq_.constraints)
      if (constraint.holonomic) bindings.push_back({constraint.name, constraint.position, constraint.place});
    bindings.insert(bindings.end(), position_initial_.begin(), position_initial_.end());
    Level level(fn_, "position", eq_.q, {{eq_.t}}, std::move(bindings));
    level.set_known({&start_.t});
    std::vector<double> q(start_.x.begin(), start_.x.begin() + offset(1));
    level.check(q.data(), 0, start_.violations);
    check_velocities_as_given();
    start_.consistent_as_given = start_.violations.empty();
    if (mode_ == Initialize::check && !start_.consistent_as_given) throw_inconsistent();
    take_weight();
    if (mode_ != Initialize::project) return true;
    if (!level.solve(q, fixed_q_, fn_.mass, weight_, start_.message)) return false;
    std::copy(q.begin(), q.end(), start_.x.begin());
    start_.residual = std::max(start_.residual, largest(level, q));
    return true;
  }

  Level velocity_level() {
    std::vector<Binding> bindings;
    for (const mechanics::Constraint& constraint : eq_.constraints)
      bindings.push_back({constraint.name, constraint.velocity, constraint.place});
    bindings.insert(bindings.end(), velocity_initial_.begin(), velocity_initial_.end());
    return Level(fn_, "velocity", eq_.v, {{eq_.t}, eq_.q}, std::move(bindings));
  }

  void check_velocities_as_given() {
    velocity_ = std::make_unique<Level>(velocity_level());
    velocity_->set_known({&start_.t, start_.x.data()});
    velocity_->check(start_.x.data() + fn_.n, 1, start_.violations);
  }

  bool velocities() {
    if (mode_ != Initialize::project) return true;
    take_weight();
    velocity_->set_known({&start_.t, start_.x.data()});
    std::vector<double> v(start_.x.begin() + offset(1), start_.x.begin() + offset(2));
    if (!velocity_->solve(v, fixed_v_, fn_.mass, weight_, start_.message)) return false;
    std::copy(v.begin(), v.end(), start_.x.begin() + offset(1));
    start_.residual = std::max(start_.residual, largest(*velocity_, v));
    return true;
  }

  /// Whether [initial] or a fixed algebraic unknown binds: otherwise the evaluator solves the auxiliary equations.
  bool auxiliary_bound() const {
    return !auxiliary_initial_.empty() || std::find(fixed_w_.begin(), fixed_w_.end(), true) != fixed_w_.end();
  }

  /// The auxiliary equations, then those of [initial]; unknowns are z_d, then the rates of z_d and the algebraic z.
  Level auxiliary_level() {
    std::vector<Binding> bindings;
    for (std::size_t i = 0; i < eq_.auxiliary.size(); ++i)
      bindings.push_back({eq_.model->equations[i].name, eq_.auxiliary[i], eq_.model->equations[i].place});
    bindings.insert(bindings.end(), auxiliary_initial_.begin(), auxiliary_initial_.end());
    std::vector<Expr> unknowns;
    for (const std::size_t i : fn_.differential) unknowns.push_back(eq_.z[i]);
    for (std::size_t i = 0; i < eq_.z.size(); ++i)
      unknowns.push_back(eq_.z_differential[i] ? eq_.z_rate[i] : eq_.z[i]);
    Level level(fn_, "auxiliary", unknowns, {{eq_.t}, eq_.q, eq_.v}, std::move(bindings));
    level.set_known({&start_.t, start_.x.data(), start_.x.data() + fn_.n});
    return level;
  }

  bool auxiliary() {
    if (!auxiliary_bound() || mode_ != Initialize::project) return true;
    Level level = auxiliary_level();
    std::vector<double> y(start_.x.begin() + offset(2), start_.x.end());
    y.insert(y.end(), start_.w.begin(), start_.w.end());
    std::vector<bool> fixed = fixed_z_;
    fixed.insert(fixed.end(), fixed_w_.begin(), fixed_w_.end());
    // What follows from the equations moves freely; the values of differential unknowns move only where they must.
    linalg::Sparsity weight{y.size(), y.size(), {0}, {}};
    std::vector<double> values;
    for (std::size_t i = 0; i < y.size(); ++i) {
      weight.column.push_back(i);
      weight.row_start.push_back(i + 1);
      values.push_back(i < fn_.differential.size() ? 1.0 : 0.0);
    }
    if (!level.solve(y, fixed, weight, values, start_.message)) return false;
    std::copy(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(fn_.differential.size()), start_.x.begin() + offset(2));
    std::copy(y.begin() + static_cast<std::ptrdiff_t>(fn_.differential.size()), y.end(), start_.w.begin());
    return true;
  }

  void accelerations() {
    evaluator_.guess_auxiliary(start_.w);
    const mechanics::Outcome outcome = evaluator_.accelerations(start_.t, start_.x.data());
    start_.rank = evaluator_.kkt().rank();
    start_.holonomic_rank = fn_.holonomic;
    if (outcome != mechanics::Outcome::ok) {
      start_.found = false;
      start_.message = fmt::format("no accelerations at the start: {}", evaluator_.explain());
      start_.rank = std::min(fn_.n, fn_.m);
      return;
    }
    start_.a = evaluator_.a();
    start_.lambda = evaluator_.lambda();
    const std::vector<double> given = std::exchange(start_.w, evaluator_.w());
    if (mode_ == Initialize::check && auxiliary_bound()) check_auxiliary(given);
    for (const std::size_t i : fn_.algebraic) start_.algebraic.push_back(start_.w[i]);
    start_.algebraic.insert(start_.algebraic.end(), start_.lambda.begin(), start_.lambda.end());
    if (start_.rank < fn_.m) name_redundancy();
  }

  /// Throws where fixed values of algebraic unknowns or rates are not what the equations give, or an [initial] equation
  /// does not hold for what they give.
  void check_auxiliary(const std::vector<double>& given) {
    Level level = auxiliary_level();
    std::vector<double> y(start_.x.begin() + offset(2), start_.x.end());
    for (std::size_t i = 0; i < given.size(); ++i) y.push_back(fixed_w_[i] ? given[i] : start_.w[i]);
    if (!level.check(y.data(), 2, start_.violations)) throw_inconsistent();
  }

  void name_redundancy() {
    const auto constraint = [&](std::size_t i) { return eq_.constraints[i].name; };
    std::vector<double> geometry(fn_.geometry.output_count());
    auto scratch = fn_.geometry.make_scratch();
    const double* inputs[] = {&start_.t, start_.x.data()};
    fn_.geometry(inputs, geometry.data(), scratch);
    const linalg::RankDecision decision = linalg::row_rank(fn_.jacobian, geometry.data() + fn_.mass.nonzeros());
    std::vector<std::string> names;
    for (std::size_t k = 0; k < decision.dependent_rows.size(); ++k) {
      const std::size_t row = decision.dependent_rows[k];
      Redundancy one{constraint(row), {}};
      if (k < decision.combinations.size())
        for (std::size_t i = 0; i < fn_.m; ++i)
          if (i != row && std::abs(decision.combinations[k][i]) > 1e-8) one.follows_from.push_back(constraint(i));
      names.push_back(quoted(one.constraint));
      start_.redundant.push_back(std::move(one));
    }
    start_.rank = decision.rank;
    start_.holonomic_rank = rank_of_holonomic(geometry.data() + fn_.mass.nonzeros());
    double gamma = 1.0;
    for (const double scale : evaluator_.acceleration_scale()) gamma = std::max(gamma, scale);
    if (evaluator_.kkt().inconsistency() > 1e-8 * gamma) {
      start_.found = false;
      start_.message = fmt::format("the {} {} {} not independent at the start and contradict the others on acceleration level",
                                   names.size() == 1 ? "constraint" : "constraints", listed(names), names.size() == 1 ? "is" : "are");
      return;
    }
    for (const Redundancy& one : start_.redundant) {
      std::vector<std::string> others;
      for (const std::string& name : one.follows_from) others.push_back(quoted(name));
      start_.notes.push_back(fmt::format("the constraint '{}' is redundant: at the start it follows from {}; the multipliers of "
                                         "least size are used",
                                         one.constraint, others.empty() ? "the other constraints" : listed(others)));
    }
  }

  /// A holonomic row may depend on a nonholonomic one, so the holonomic rows are judged by themselves.
  std::size_t rank_of_holonomic(const double* G) const {
    linalg::Sparsity pattern{fn_.holonomic, fn_.n, {0}, {}};
    std::vector<double> values;
    for (const std::size_t row : fn_.holonomic_rows) {
      for (std::size_t k = fn_.jacobian.row_start[row]; k < fn_.jacobian.row_start[row + 1]; ++k) {
        pattern.column.push_back(fn_.jacobian.column[k]);
        values.push_back(G[k]);
      }
      pattern.row_start.push_back(pattern.column.size());
    }
    return linalg::row_rank(pattern, values.data()).rank;
  }

  void take_weight() {
    std::vector<double> geometry(fn_.geometry.output_count());
    auto scratch = fn_.geometry.make_scratch();
    const double* inputs[] = {&start_.t, start_.x.data()};
    fn_.geometry(inputs, geometry.data(), scratch);
    weight_.assign(geometry.begin(), geometry.begin() + static_cast<std::ptrdiff_t>(fn_.mass.nonzeros()));
    for (double& value : weight_)
      if (!std::isfinite(value)) value = 0.0;
  }

  static double largest(Level& level, const std::vector<double>& y) {
    const std::vector<double> c = level.residual(y.data()), scale = level.scales(y.data());
    double most = 0.0;
    for (std::size_t i = 0; i < c.size(); ++i) most = std::max(most, std::abs(c[i]) / scale[i]);
    return most;
  }

  void note_moves(const std::vector<double>& given) {
    const std::vector<std::string> names = fn_.state_names();
    for (std::size_t i = 0; i < given.size(); ++i) {
      const double by = start_.x[i] - given[i];
      if (std::abs(by) > 1e-13 * std::max(1.0, std::abs(given[i]))) start_.moved.push_back({names[i], by});
    }
  }

  [[noreturn]] void throw_inconsistent() {
    Faults faults;
    for (const Violation& violation : start_.violations) {
      Place place;
      for (const mechanics::Constraint& constraint : eq_.constraints)
        if (constraint.name == violation.of) place = constraint.place;
      for (const auto* equations : {&eq_.model->equations, &eq_.model->initial})
        for (const model::Equation& equation : *equations)
          if (!place.source && equation.name == violation.of) place = equation.place;
      static constexpr const char* levels[] = {" on position level", " on velocity level", ""};
      faults.add("inconsistent-start",
                 fmt::format("the start does not satisfy '{}'{}: the residual is {}", violation.of,
                             levels[violation.level], brief(violation.value)),
                 "`daedalus init` shows a consistent start; --initialize project uses it", place);
    }
    faults.throw_if_any();
    DAEDALUS_CHECK(false, "an inconsistent start without a violation among {}", start_.violations.size());
  }

  std::ptrdiff_t offset(std::size_t blocks) const { return static_cast<std::ptrdiff_t>(blocks * fn_.n); }

  std::shared_ptr<const Functions> functions_;
  const Functions& fn_;
  const mechanics::Equations& eq_;
  Initialize mode_;
  mechanics::Evaluator evaluator_;
  Start start_;
  std::unique_ptr<Level> velocity_;
  std::vector<Binding> position_initial_, velocity_initial_, auxiliary_initial_;
  std::vector<bool> fixed_q_, fixed_v_, fixed_z_, fixed_w_;
  std::vector<double> weight_;
};

}  // namespace

Initialize parse_initialize(const std::string& word) {
  if (word == "project") return Initialize::project;
  if (word == "check") return Initialize::check;
  if (word == "off") return Initialize::off;
  throw Error("bad-initialize", fmt::format("'{}' is no way to initialize", word), suggest(word, {"project", "check", "off"}));
}

Start consistent_start(const std::shared_ptr<const Functions>& functions, double t, Initialize mode) {
  return Initializer(functions, t, mode)();
}

}  // namespace daedalus::solve
