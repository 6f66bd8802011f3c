// A consistent start, level by level: positions, then velocities, then auxiliary unknowns, then accelerations and
// multipliers together from the KKT system. The weight of positions is the mass matrix at the given point, frozen; that
// of velocities is the one at the positions found.

#include "daedalus/solve/start.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "daedalus/base/listed.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/compile/compile.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/solve/start_invariants.hpp"
#include "daedalus/solve/start_level.hpp"
#include "daedalus/solve/start_redundancy.hpp"

namespace daedalus::solve {

using expr::Expr;
using expr::NodeId;
using mechanics::Functions;

namespace {

std::unordered_set<NodeId> ids(const std::vector<Expr>& symbols) {
  std::unordered_set<NodeId> set;
  for (const Expr& symbol : symbols) set.insert(symbol.id());
  return set;
}

class Initializer {
 public:
  Initializer(const std::shared_ptr<const Functions>& functions, double t, Initialize mode, Look look)
      : functions_(functions), fn_(*functions), eq_(functions->equations), mode_(mode), look_(look), evaluator_(functions) {
    start_.t = t;
  }

  Start operator()() {
    sort_initial_equations();
    sort_invariants();
    take_given_values();
    const std::vector<double> given = start_.x;
    if (positions() && velocities() && auxiliary()) {
      note_moves(given);
      accelerations();
      if (start_.found && look_ != Look::at_start && mode_ != Initialize::off) look_around(given);
    } else {
      start_.found = false;
    }
    if (mode_ != Initialize::off) judge_invariants(functions_, start_);
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

  /// What contains positions alone is met by them; everything else by velocities where possible.
  void sort_invariants() {
    auto moving = ids(eq_.v);
    for (const Expr& z : eq_.z) moving.insert(z.id());
    for (const model::Equation& equation : eq_.model->invariants) {
      const bool moves = std::ranges::any_of(expr::symbols_of(equation.residual), [&](NodeId id) { return moving.contains(id); });
      (moves ? velocity_invariants_ : position_invariants_).push_back({equation.name, equation.residual, equation.place});
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

  std::vector<Binding> position_bindings() const {
    std::vector<Binding> bindings;
    for (const mechanics::Constraint& constraint : eq_.constraints)
      if (constraint.holonomic) bindings.push_back({constraint.name, constraint.position, constraint.place});
    for (const auto* more : {&position_invariants_, &position_initial_}) bindings.insert(bindings.end(), more->begin(), more->end());
    return bindings;
  }

  std::vector<Binding> velocity_bindings() const {
    std::vector<Binding> bindings;
    for (const mechanics::Constraint& constraint : eq_.constraints)
      bindings.push_back({constraint.name, constraint.velocity, constraint.place});
    for (const auto* more : {&velocity_invariants_, &velocity_initial_}) bindings.insert(bindings.end(), more->begin(), more->end());
    return bindings;
  }

  Level position_level() {
    Level level(fn_, "position", eq_.q, {{eq_.t}}, position_bindings());
    level.set_known({&start_.t});
    return level;
  }

  bool positions() {
    Level level = position_level();
    std::vector<double> q(start_.x.begin(), start_.x.begin() + offset(1));
    level.check(q.data(), 0, start_.violations);
    check_velocities_as_given();
    start_.consistent_as_given = start_.violations.empty();
    if (mode_ == Initialize::check && !start_.consistent_as_given) throw_inconsistent();
    take_weight();
    position_weight_ = weight_;
    if (mode_ != Initialize::project) return true;
    if (!level.solve(q, fixed_q_, fn_.mass, weight_, start_.message, Level::Extent::anywhere, &start_.notes)) return false;
    std::copy(q.begin(), q.end(), start_.x.begin());
    start_.residual = std::max(start_.residual, largest(level, q));
    return true;
  }

  std::vector<Expr> differential_auxiliary() const {
    std::vector<Expr> z_d;
    for (const std::size_t i : fn_.differential) z_d.push_back(eq_.z[i]);
    return z_d;
  }

  void check_velocities_as_given() {
    velocity_ = std::make_unique<Level>(fn_, "velocity", eq_.v,
                                        std::vector<std::vector<Expr>>{{eq_.t}, eq_.q, differential_auxiliary()}, velocity_bindings());
    know_positions();
    velocity_->check(start_.x.data() + fn_.n, 1, start_.violations);
  }

  void know_positions() { velocity_->set_known({&start_.t, start_.x.data(), start_.x.data() + offset(2)}); }

  bool velocities() {
    if (mode_ != Initialize::project) return true;
    take_weight();
    know_positions();
    std::vector<double> v(start_.x.begin() + offset(1), start_.x.begin() + offset(2));
    if (!velocity_invariants_.empty() && !velocity_->possible(v, fixed_v_, fn_.mass, weight_)) return positions_and_velocities();
    if (!velocity_->solve(v, fixed_v_, fn_.mass, weight_, start_.message, Level::Extent::anywhere, &start_.notes)) return false;
    std::copy(v.begin(), v.end(), start_.x.begin() + offset(1));
    start_.residual = std::max(start_.residual, largest(*velocity_, v));
    return true;
  }

  /// Both at once, where velocities alone cannot meet the invariants: they are fixed, or too little energy is left.
  bool positions_and_velocities() {
    std::vector<Expr> unknowns = eq_.q;
    unknowns.insert(unknowns.end(), eq_.v.begin(), eq_.v.end());
    std::vector<Binding> bindings = position_bindings();
    for (Binding& binding : velocity_bindings()) bindings.push_back(std::move(binding));
    // Level tells constraints from what binds the start by their order.
    std::stable_partition(bindings.begin(), bindings.end(), [](const Binding& binding) { return !binding.initial; });
    Level level(fn_, "position and velocity", unknowns, {{eq_.t}, differential_auxiliary()}, std::move(bindings));
    level.set_known({&start_.t, start_.x.data() + offset(2)});
    std::vector<double> y(start_.x.begin(), start_.x.begin() + offset(2));
    std::vector<bool> fixed = fixed_q_;
    fixed.insert(fixed.end(), fixed_v_.begin(), fixed_v_.end());
    linalg::Sparsity weight = fn_.mass;
    std::vector<double> values = weight_;
    weight.rows = weight.columns = 2 * fn_.n;
    for (std::size_t i = 0; i < fn_.n; ++i) weight.row_start.push_back(fn_.mass.nonzeros() + fn_.mass.row_start[i + 1]);
    for (std::size_t k = 0; k < fn_.mass.nonzeros(); ++k) {
      weight.column.push_back(fn_.mass.column[k] + fn_.n);
      values.push_back(weight_[k]);
    }
    if (!level.solve(y, fixed, weight, values, start_.message, Level::Extent::anywhere, &start_.notes)) return false;
    std::copy(y.begin(), y.end(), start_.x.begin());
    start_.residual = largest(level, y);
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
    if (!level.solve(y, fixed, weight, values, start_.message, Level::Extent::anywhere, &start_.notes)) return false;
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
    start_.guess = start_.w;
    if (start_.rank < fn_.m) name_redundancy(functions_, evaluator_, start_);
  }

  /// Which positions and velocities can be chosen, and which other positions there are near the given ones.
  void look_around(const std::vector<double>& given) {
    Level level = position_level();
    const std::vector<double> q(start_.x.begin(), start_.x.begin() + offset(1));
    const std::vector<double> v(start_.x.begin() + offset(1), start_.x.begin() + offset(2));
    start_.free = level.free_at(q, fixed_q_);
    know_positions();
    append(start_.free, velocity_->free_at(v, fixed_v_));
    FreeValuesQuestion auxiliary;
    for (const Expr& z : differential_auxiliary()) auxiliary.names.push_back(z.name());
    auxiliary.pattern.columns = auxiliary.names.size();
    auxiliary.sizes.assign(auxiliary.names.size(), 1.0);
    auxiliary.state.assign(auxiliary.names.size(), true);
    auxiliary.fixed = fixed_z_;
    append(start_.free, free_values(auxiliary));
    note_surplus(start_);
    if (look_ != Look::around) return;

    const StartProblem problem = level.problem({given.begin(), given.begin() + offset(1)}, fixed_q_, fn_.mass, position_weight_);
    const std::vector<bool> compared(fn_.n, true);
    const BranchPoints points = other_solutions(problem, q, compared);
    start_.branch_starts = points.starts;
    if (points.solutions.size() < 2) return;
    for (const std::vector<double>& solution : points.solutions) {
      Branch branch{{}, distance_from_guess(problem, solution, compared)};
      for (std::size_t i = 0; i < fn_.n; ++i) branch.values.emplace_back(eq_.q[i].name(), solution[i]);
      start_.branches.push_back(std::move(branch));
    }
  }

  /// Throws where fixed values of algebraic unknowns or rates are not what the equations give, or an [initial] equation
  /// does not hold for what they give.
  void check_auxiliary(const std::vector<double>& given) {
    Level level = auxiliary_level();
    std::vector<double> y(start_.x.begin() + offset(2), start_.x.end());
    for (std::size_t i = 0; i < given.size(); ++i) y.push_back(fixed_w_[i] ? given[i] : start_.w[i]);
    if (!level.check(y.data(), 2, start_.violations)) throw_inconsistent();
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
      for (const auto* equations : {&eq_.model->equations, &eq_.model->initial, &eq_.model->invariants})
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
  Look look_;
  mechanics::Evaluator evaluator_;
  Start start_;
  std::unique_ptr<Level> velocity_;
  std::vector<Binding> position_initial_, velocity_initial_, auxiliary_initial_, position_invariants_, velocity_invariants_;
  std::vector<bool> fixed_q_, fixed_v_, fixed_z_, fixed_w_;
  std::vector<double> weight_, position_weight_;
};

}  // namespace

Initialize parse_initialize(const std::string& word) {
  if (word == "project") return Initialize::project;
  if (word == "check") return Initialize::check;
  if (word == "off") return Initialize::off;
  throw Error("bad-initialize", fmt::format("'{}' is no way to initialize", word), suggest(word, {"project", "check", "off"}));
}

namespace {

std::vector<std::pair<std::string, double>> values_of(const Start& start, const Functions& fn) {
  const mechanics::Equations& eq = fn.equations;
  std::vector<std::pair<std::string, double>> values;
  for (std::size_t i = 0; i < fn.n; ++i) values.emplace_back(eq.q[i].name(), start.x[i]);
  for (std::size_t i = 0; i < fn.n; ++i) values.emplace_back(eq.v[i].name(), start.x[fn.n + i]);
  for (std::size_t i = 0, d = 2 * fn.n; i < start.w.size(); ++i)
    values.emplace_back(eq.z[i].name(), eq.z_differential[i] ? start.x[d++] : start.w[i]);
  for (std::size_t i = 0; i < start.a.size(); ++i) values.emplace_back(eq.a[i].name(), start.a[i]);
  for (std::size_t i = 0; i < start.w.size(); ++i)
    if (eq.z_differential[i]) values.emplace_back(eq.z_rate[i].name(), start.w[i]);
  for (std::size_t i = 0; i < start.lambda.size(); ++i) values.emplace_back(eq.lambda[i].name(), start.lambda[i]);
  return values;
}

}  // namespace

void note_surplus(Start& start) {
  if (start.free.surplus.empty()) return;
  const bool one = start.free.surplus.size() == 1;
  start.notes.push_back(fmt::format("more is fixed than can be chosen: {} {} from the other fixed values and the equations, and agree{} with them",
                                    listed(start.free.surplus), one ? "follows" : "follow", one ? "s" : ""));
}

Start consistent_start(const std::shared_ptr<const Functions>& functions, double t, Initialize mode, Look look) {
  Start start = Initializer(functions, t, mode, look)();
  start.values = values_of(start, *functions);
  return start;
}

}  // namespace daedalus::solve
