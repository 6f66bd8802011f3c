// A start of F(t, y, y') = 0: the least change of the differential unknowns x, in units of their nominal values, with
//     F(t, y, y') = 0   and   the equations of [initial] and [invariants];
// algebraic unknowns and derivatives are free. First x is kept as it is: for an index of 1 at most that is a Newton iteration
// for (x', z); only where it fails, or where [initial] or [invariants] ask for more, x moves.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "daedalus/base/text.hpp"
#include "daedalus/formulate/invariants.hpp"
#include "daedalus/linalg/gauss_newton.hpp"
#include "daedalus/linalg/rank.hpp"
#include "daedalus/solve/start_invariants.hpp"
#include "daedalus/structure/dae_evaluator.hpp"

namespace daedalus::solve {

using structure::DaeEvaluator;
using structure::DaeFunctions;

namespace {

constexpr double consistent = 1e-9;  ///< largest relative residual of an invariant that counts as satisfied

/// F, and with it [initial] and [invariants], as functions of u = (y, y').
class Problem {
 public:
  enum class Rows { equations, all };
  Problem(const DaeFunctions& functions, double t, Rows rows)
      : fn_(functions),
        t_(t),
        n_(fn_.dimension()),
        kept_(fn_.kept.rows()),
        extra_(rows == Rows::all ? fn_.model->initial.size() + kept_ : 0) {
    frozen_ = fn_.switches.free_modes(discrete());
    parts_.push_back(&fn_.function);
    if (extra_ > 0) parts_.push_back(&fn_.initial);
    for (const auto* part : parts_) {
      residual_scratch_.push_back(part->residual.make_scratch());
      jacobian_scratch_.push_back(part->jacobian.make_scratch());
      for (std::size_t i = 0; i + 1 < part->pattern.row_start.size(); ++i) {
        const std::size_t begin = part->pattern.row_start[i], end = part->pattern.row_start[i + 1];
        for (const std::size_t shift : {std::size_t{0}, n_})
          for (std::size_t k = begin; k < end; ++k) pattern_.column.push_back(part->pattern.column[k] + shift);
        pattern_.row_start.push_back(pattern_.column.size());
      }
    }
    pattern_.rows = n_ + extra_;
    pattern_.columns = 2 * n_;
  }

  const linalg::Sparsity& pattern() const { return pattern_; }
  std::size_t rows() const { return n_ + extra_; }
  const double* frozen() const { return frozen_.data(); }
  std::string row_name(std::size_t i) const { return binding(i).first; }
  Place row_place(std::size_t i) const { return binding(i).second; }

  bool residual(const double* u, double* c) {
    for (std::size_t p = 0, row = 0; p < parts_.size(); row += parts_[p]->residual.output_count(), ++p) {
      const double* inputs[] = {&t_, u, u + n_};
      parts_[p]->residual(inputs, c + row, residual_scratch_[p], frozen());
    }
    return std::all_of(c, c + rows(), [](double value) { return std::isfinite(value); });
  }

  /// Size of each equation: hidden ones and invariants count in units of their largest term, the others as they are.
  std::vector<double> scales(const double* u) const {
    std::vector<double> result(rows(), 1.0);
    const std::size_t count = extra_ == 0 ? 0 : kept_;
    if (count == 0) return result;
    compile::StateValues values({std::shared_ptr<void>(), &fn_.kept});
    values.freeze(frozen());
    values.residuals(t_, u);
    for (std::size_t i = 0; i < count; ++i)
      if (const double scale = values.scale()[i]; scale > 0.0 && std::isfinite(scale)) result[rows() - count + i] = scale;
    return result;
  }

  bool jacobian(const double* u, double* C) {
    bool finite = true;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const linalg::Sparsity& pattern = parts_[p]->pattern;
      values_.resize(parts_[p]->jacobian.output_count());
      const double* inputs[] = {&t_, u, u + n_};
      parts_[p]->jacobian(inputs, values_.data(), jacobian_scratch_[p], frozen());
      finite = finite && std::ranges::all_of(values_, [](double value) { return std::isfinite(value); });
      for (std::size_t i = 0; i < pattern.rows; ++i)
        for (const std::size_t shift : {std::size_t{0}, pattern.nonzeros()})
          for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) *C++ = values_[shift + k];
    }
    return finite;
  }

 private:
  /// Name and place of a row.
  std::pair<std::string, Place> binding(std::size_t i) const {
    if (i < n_) return {fn_.rows[i].name, fn_.rows[i].place};
    i -= n_;
    const auto& initial = fn_.model->initial;
    if (i < initial.size()) return {initial[i].name, initial[i].place};
    i -= initial.size();
    if (i < fn_.hidden.size()) return {fn_.hidden[i].name, fn_.hidden[i].place};
    const model::Equation& invariant = fn_.model->invariants[i - fn_.hidden.size()];
    return {invariant.name, invariant.place};
  }

  std::vector<double> discrete() const {
    std::vector<double> result;
    for (const model::Parameter& value : fn_.model->discrete) result.push_back(value.value);
    return result;
  }

  const DaeFunctions& fn_;
  double t_;
  std::size_t n_, kept_, extra_;
  std::vector<double> frozen_, values_;
  std::vector<const compile::ImplicitFunction*> parts_;
  std::vector<compile::Function::Scratch> residual_scratch_, jacobian_scratch_;
  linalg::Sparsity pattern_;
};

class DaeInitializer {
 public:
  DaeInitializer(const std::shared_ptr<const DaeFunctions>& functions, double t, Initialize mode)
      : functions_(functions), fn_(*functions), mode_(mode), problem_(fn_, t, Problem::Rows::all), evaluator_(functions), n_(fn_.dimension()) {
    start_.t = t;
    evaluator_.freeze(problem_.frozen());
    for (const DaeFunctions::Unknown& unknown : fn_.unknowns) u_.push_back(unknown.start.value);
    for (const model::Start& rate : fn_.rate_starts) u_.push_back(rate.value);
    for (const DaeFunctions::Unknown& unknown : fn_.unknowns) fixed_.push_back(unknown.start.fixed);
    for (const model::Start& rate : fn_.rate_starts) fixed_.push_back(rate.fixed);
  }

  Start operator()() {
    const std::vector<double> given = u_;
    check_kept();
    if (mode_ != Initialize::off) find();
    if (start_.found) {
      for (std::size_t i = 0; i < n_; ++i) {
        const double by = u_[i] - given[i];
        const DaeFunctions::Unknown& unknown = fn_.unknowns[i];
        const bool counts = unknown.start.given || (i < fn_.differential && unknown.times == 0);
        if (counts && std::abs(by) > 1e-12 * std::max(std::abs(given[i]), unknown.of->nominal)) {
          start_.moved.push_back({unknown.name, by});
          start_.consistent_as_given = false;
        }
      }
      if (mode_ == Initialize::check && !start_.consistent_as_given) refuse();
      derivatives();
    }
    fill();
    if (mode_ != Initialize::off) judge_invariants(functions_, problem_.frozen(), start_);
    return std::move(start_);
  }

 private:
  /// Of the start as given.
  void check_kept() {
    const formulate::Kept kept = formulate::kept_by(functions_);
    if (!kept.equations) return;
    compile::StateValues values(kept.equations);
    values.freeze(problem_.frozen());
    values.residuals(start_.t, u_.data());
    for (std::size_t i = 0; i < kept.count(); ++i) {
      if (std::abs(values.residual()[i]) <= consistent * values.scale()[i]) continue;
      if (i < fn_.hidden.size())
        start_.violations.push_back({fn_.hidden[i].of, static_cast<int>(fn_.hidden[i].level), values.residual()[i]});
      else
        start_.violations.push_back({kept.invariants[i - fn_.hidden.size()], 0, values.residual()[i]});
    }
    start_.consistent_as_given = start_.violations.empty();
  }

  /// The least change with some unknowns kept; true where all equations of the problem hold.
  bool least_change(Problem& rows, const std::vector<bool>& kept) {
    linalg::LeastChangeProblem problem;
    problem.weight = {2 * n_, 2 * n_, {0}, {}};
    for (std::size_t i = 0; i < 2 * n_; ++i) {
      if (i < fn_.differential) {
        problem.weight.column.push_back(i);
        const double nominal = fn_.unknowns[i].of->nominal;
        problem.weight_values.push_back(1.0 / (nominal * nominal));
      }
      problem.weight.row_start.push_back(problem.weight.column.size());
    }
    problem.jacobian = rows.pattern();
    problem.residual = [&](const double* u, double* c) { return rows.residual(u, c); };
    problem.jacobian_values = [&](const double* u, double* C) { return rows.jacobian(u, C); };
    problem.fixed = kept;
    problem.scales = rows.scales(u_.data());
    linalg::GaussNewton solver(std::move(problem));
    result_ = solver.solve(u_.data());
    return result_.outcome == linalg::GaussNewtonOutcome::converged;
  }

  void find() {
    std::vector<bool> kept = fixed_;
    for (std::size_t i = 0; i < fn_.differential; ++i) kept[i] = true;
    bool found = false;
    if (fn_.model->initial.empty()) {
      Problem equations(fn_, start_.t, Problem::Rows::equations);
      found = least_change(equations, kept);
      if (found && fn_.kept.rows() > 0) {
        u_ = result_.x;  // x as given, with the (x', z) that belong to it
        found = false;
      }
    }
    if (found || least_change(problem_, fixed_)) {
      u_ = result_.x;
      start_.residual = result_.residual;
      return;
    }
    blame_fixed();
    start_.found = false;
    std::vector<std::string> names;
    for (const std::size_t row : result_.offending_rows) names.push_back("'" + problem_.row_name(row) + "'");
    start_.message = result_.outcome == linalg::GaussNewtonOutcome::not_finite
                         ? fmt::format("no consistent start: {} at the given values", not_finite_rows())
                     : names.empty() ? "no consistent start was found near the given values"
                                     : fmt::format("no consistent start was found near the given values: {} cannot be met{}",
                                                   fmt::join(names, ", "), names.size() > 1 ? " together" : "");
  }

  /// "'b' is not a finite number" or "'a', 'b' are ...": the equations that have no value at the given start.
  std::string not_finite_rows() {
    std::vector<double> residual(problem_.pattern().rows);
    problem_.residual(u_.data(), residual.data());
    std::vector<std::string> names;
    for (std::size_t row = 0; row < residual.size(); ++row)
      if (!std::isfinite(residual[row])) names.push_back("'" + problem_.row_name(row) + "'");
    if (names.empty()) return "a derivative of the equations is not a finite number";
    return fmt::format("{} {}", fmt::join(names, ", "), names.size() == 1 ? "is not a finite number" : "are no finite numbers");
  }

  /// Throws where a start exists without the fixed values.
  void blame_fixed() {
    const linalg::GaussNewtonResult failed = result_;
    const bool free = std::ranges::find(fixed_, true) != fixed_.end() && least_change(problem_, std::vector<bool>(2 * n_, false));
    result_ = failed;
    if (!free) return;
    std::vector<std::string> equations, values;
    std::unordered_set<std::size_t> seen;
    const linalg::Sparsity& pattern = problem_.pattern();
    for (const std::size_t row : failed.offending_rows) {
      equations.push_back("'" + problem_.row_name(row) + "'");
      for (std::size_t k = pattern.row_start[row]; k < pattern.row_start[row + 1]; ++k) {
        const std::size_t i = pattern.column[k];
        if (!fixed_[i] || !seen.insert(i).second) continue;
        const DaeFunctions::Unknown& unknown = fn_.unknowns[i % n_];
        values.push_back(fmt::format("{} = {}", model::derivative_name(unknown.of->name, unknown.times + (i < n_ ? 0 : 1)), brief(u_[i])));
      }
    }
    if (values.empty()) return;
    throw Error("contradicting-fixed",
                fmt::format("the fixed {} {} contradict{} {}", values.size() == 1 ? "value" : "values",
                            fmt::join(values, ", "), values.size() == 1 ? "s" : "", fmt::join(equations, ", ")),
                "drop `fixed` (or --fix) from one of the values, so that it can move",
                problem_.row_place(failed.offending_rows.front()));
  }

  /// Throws where some equation says at the start nothing that others do not say: [F_y, F_y'] has too low a rank.
  void check_dependence() {
    linalg::Sparsity pattern = problem_.pattern();
    std::vector<double> values(pattern.nonzeros());
    if (!problem_.jacobian(u_.data(), values.data())) return;
    pattern.rows = n_;
    pattern.row_start.resize(n_ + 1);
    pattern.column.resize(pattern.row_start.back());
    const linalg::RankDecision decision = linalg::row_rank(pattern, values.data());
    Faults faults;
    for (std::size_t d = 0; d < decision.combinations.size(); ++d) {
      const std::size_t row = decision.dependent_rows[d];
      const std::vector<double>& c = decision.combinations[d];
      std::vector<std::string> others;
      for (std::size_t i = 0; i < n_; ++i)
        if (i != row && std::abs(c[i]) > 1e-10 * std::abs(c[row])) others.push_back("'" + problem_.row_name(i) + "'");
      faults.add("dependent-equations",
                 others.empty() ? fmt::format("the equation '{}' determines nothing at the start", problem_.row_name(row))
                                : fmt::format("the equation '{}' says nothing new at the start: it depends on {}",
                                              problem_.row_name(row), fmt::join(others, ", ")),
                 "other start values may help; otherwise write the equation that is missing in its place",
                 problem_.row_place(row));
    }
    faults.throw_if_any();
  }

  [[noreturn]] void refuse() const {
    Faults faults;
    for (const Violation& violation : start_.violations) {
      const auto invariant = std::ranges::find(fn_.model->invariants, violation.of, &model::Equation::name);
      const auto equation = std::ranges::find(fn_.hidden, violation.of, &DaeFunctions::Row::of);
      const bool own = invariant == fn_.model->invariants.end();
      faults.add("inconsistent-start",
                 fmt::format("the start does not satisfy {}'{}': the residual is {}",
                             !own                   ? "the invariant "
                             : violation.level == 0 ? "the equation "
                                                    : "the hidden constraint ",
                             model::derivative_name(violation.of, static_cast<std::size_t>(violation.level)), brief(violation.value)),
                 "`daedalus init` shows a consistent start; --initialize project uses it",
                 own ? equation->place : invariant->place);
    }
    faults.throw_if_any();
    for (const Moved& moved : start_.moved)
      faults.add("inconsistent-start", fmt::format("{} would have to move by {} to satisfy the equations", moved.name, brief(moved.by)),
                 "give a consistent start, or let it be found with --initialize project", {fn_.model->source});
    faults.throw_if_any();
    throw Error("inconsistent-start", "the start does not satisfy the equations", "let it be found with --initialize project");
  }

  /// Derivatives that the equations alone leave open follow from their derivatives.
  void derivatives() {
    const std::vector<double> y(u_.begin(), u_.begin() + static_cast<std::ptrdiff_t>(n_));
    const std::vector<double> dy(u_.begin() + static_cast<std::ptrdiff_t>(n_), u_.end());
    if (!evaluator_.index_at_most_one(start_.t, y.data(), dy.data())) {
      check_dependence();
      start_.found = false;
      start_.index_above_one = true;
      start_.message = "the index is above 1: some derivatives follow only from derivatives of the equations";
      return;
    }
    start_.solvable = evaluator_.easy(start_.t, y.data(), dy.data());
    evaluator_.guess(y, dy);
    if (evaluator_.derivatives(start_.t, y.data()) != structure::DaeOutcome::ok) {
      start_.found = false;
      start_.message = "no derivatives at the start: " + evaluator_.explain();
      return;
    }
    std::ranges::copy(evaluator_.dy(), u_.begin() + static_cast<std::ptrdiff_t>(n_));
  }

  void fill() {
    const auto at = [&](std::size_t i) { return u_.begin() + static_cast<std::ptrdiff_t>(i); };
    start_.x.assign(u_.begin(), at(fn_.differential));
    start_.algebraic.assign(at(fn_.differential), at(n_));
    start_.guess = u_;
    for (const DaeFunctions::Column& column : fn_.columns)
      start_.values.emplace_back(column.name, u_[column.unknown + (column.rate ? n_ : 0)]);
  }

  std::shared_ptr<const DaeFunctions> functions_;
  const DaeFunctions& fn_;
  Initialize mode_;
  Problem problem_;
  DaeEvaluator evaluator_;
  std::size_t n_;
  std::vector<double> u_;
  std::vector<bool> fixed_;
  linalg::GaussNewtonResult result_;
  Start start_;
};

}  // namespace

Start consistent_start(const std::shared_ptr<const DaeFunctions>& functions, double t, Initialize mode) {
  return DaeInitializer(functions, t, mode)();
}

}  // namespace daedalus::solve
