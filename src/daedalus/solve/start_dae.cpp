// A start of F(t, y, y') = 0: the least change of the differential unknowns x, in units of their nominal values, with
//     F(t, y, y') = 0   and   the equations of [initial] and [invariants];
// algebraic unknowns and derivatives are free. First x is kept as it is: for an index of 1 at most that is a Newton iteration
// for (x', z); only where it fails, or where [initial] or [invariants] ask for more, x moves.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include "daedalus/base/listed.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/formulate/invariants.hpp"
#include "daedalus/linalg/free_columns.hpp"
#include "daedalus/linalg/rank.hpp"
#include "daedalus/solve/start_conflict.hpp"
#include "daedalus/solve/start_dae_rows.hpp"
#include "daedalus/solve/start_invariants.hpp"
#include "daedalus/solve/start_level.hpp"
#include "daedalus/solve/start_search.hpp"
#include "daedalus/structure/dae_evaluator.hpp"

namespace daedalus::solve {

using structure::DaeEvaluator;
using structure::DaeFunctions;

namespace {

/// How much a derivative that the author left open counts beside what he gave.
constexpr double weight_of_what_follows = 1e-2;
constexpr double round_off = 1e-14;   ///< residual of an equation that holds, beside its size
constexpr double consistent = 1e-9;  ///< largest relative residual of an invariant that counts as satisfied

class DaeInitializer {
 public:
  DaeInitializer(const std::shared_ptr<const DaeFunctions>& functions, double t, Initialize mode, Look look)
      : functions_(functions), fn_(*functions), mode_(mode), look_(look), problem_(fn_, t, DaeStartRows::Which::all), evaluator_(functions), n_(fn_.dimension()) {
    start_.t = t;
    evaluator_.freeze(problem_.frozen());
    for (const DaeFunctions::Unknown& unknown : fn_.unknowns) u_.push_back(unknown.start.value);
    for (const model::Start& rate : fn_.rate_starts) u_.push_back(rate.value);
    for (const DaeFunctions::Unknown& unknown : fn_.unknowns) fixed_.push_back(unknown.start.fixed);
    for (const model::Start& rate : fn_.rate_starts) fixed_.push_back(rate.fixed);
  }

  /// Takes a start that was found as it is.
  Start further(const Start& found) {
    const std::vector<double> given = std::exchange(u_, found.guess);
    start_ = found;
    if (look_ != Look::at_start) look_around(given);
    return std::move(start_);
  }

  Start operator()() {
    if (mode_ == Initialize::off) follow();
    const std::vector<double> given = u_;
    check_kept();
    if (mode_ == Initialize::check) check_initial();
    if (mode_ != Initialize::off) find();
    if (start_.found) {
      for (std::size_t i = 0; i < n_; ++i) {
        const double by = u_[i] - given[i];
        const DaeFunctions::Unknown& unknown = fn_.unknowns[i];
        const bool counts = unknown.start.given || (i < fn_.differential && own(i));
        if (counts && std::abs(by) > 1e-12 * std::max(std::abs(given[i]), unknown.of->nominal)) {
          start_.moved.push_back({unknown.name, by});
          start_.consistent_as_given = false;
        }
      }
      if (mode_ == Initialize::check && (!start_.consistent_as_given || !start_.violations.empty())) refuse_inconsistent();
      derivatives();
      if (start_.found && look_ != Look::at_start && mode_ != Initialize::off) look_around(given);
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

  /// Of the start as given, with the (x', z) that belong to it.
  void check_initial() {
    if (fn_.model->initial.empty()) return;
    DaeStartRows equations(fn_, start_.t, DaeStartRows::Which::equations);
    const linalg::GaussNewtonResult whole = near_guess(problem(equations, all_kept(), u_));
    if (whole.outcome != linalg::GaussNewtonOutcome::converged) return;
    std::vector<double> residual(problem_.rows()), derivatives(problem_.pattern().nonzeros());
    problem_.residual(whole.x.data(), residual.data());
    problem_.jacobian(whole.x.data(), derivatives.data());
    for (std::size_t j = 0; j < residual.size(); ++j) {
      if (!problem_.row_initial(j)) continue;
      // In units of what a relative change of its unknowns does.
      double size = 0.0;
      for (std::size_t k = problem_.pattern().row_start[j]; k < problem_.pattern().row_start[j + 1]; ++k) {
        const std::size_t i = problem_.pattern().column[k];
        size = std::max(size, std::abs(derivatives[k]) * std::max(std::abs(whole.x[i]), fn_.unknowns[i % n_].of->nominal));
      }
      if (!(std::abs(residual[j]) <= consistent * size)) start_.violations.push_back({problem_.row_name(j), 0, residual[j]});
    }
  }

  /// What some equations ask near a guess, with some unknowns kept.
  StartProblem problem(DaeStartRows& rows, const std::vector<bool>& kept, const std::vector<double>& guess) const {
    StartProblem result;
    linalg::LeastChangeProblem& inner = result.least_change;
    inner.weight = {2 * n_, 2 * n_, {0}, {}};
    for (std::size_t i = 0; i < 2 * n_; ++i) {
      const DaeFunctions::Unknown& unknown = fn_.unknowns[i % n_];
      const double nominal = unknown.of->nominal;
      if (i < fn_.differential) {
        inner.weight.column.push_back(i);
        inner.weight_values.push_back((own(i) ? 1.0 : weight_of_what_follows) / (nominal * nominal));
      }
      inner.weight.row_start.push_back(inner.weight.column.size());
      result.unknowns.push_back(model::derivative_name(unknown.of->name, unknown.times + i / n_));
      result.sizes.push_back(std::max(std::abs(guess[i]), nominal));
      result.nominal.push_back(nominal);
      result.searched.push_back(i < n_);
    }
    inner.jacobian = rows.pattern();
    inner.residual = [&rows](const double* u, double* c) { return rows.residual(u, c); };
    inner.jacobian_values = [&rows](const double* u, double* C) { return rows.jacobian(u, C); };
    inner.fixed = kept;
    inner.scales = rows.scales(guess.data());
    for (std::size_t j = 0; j < rows.rows(); ++j) result.rows.push_back({rows.row_name(j), rows.row_place(j), rows.row_initial(j)});
    result.guess = guess;
    return result;
  }

  /// The differential unknowns keep their values wherever the equations allow it.
  std::vector<bool> all_kept() const {
    std::vector<bool> kept = fixed_;
    for (std::size_t i = 0; i < fn_.differential; ++i) kept[i] = true;
    return kept;
  }

  /// Whether a differential unknown is the author's own, or a derivative to which he gave a value. The others follow from
  /// the equations, as der(y) does from der(y) = v.
  bool own(std::size_t i) const {
    return (fn_.unknowns[i].times == 0 && !combined(fn_.unknowns[i])) || fn_.unknowns[i].start.given;
  }
  /// Whether an unknown of a repaired structure is a sum of the author's, and may have their open derivatives in it.
  static bool combined(const DaeFunctions::Unknown& unknown) { return unknown.of->name.find(' ') != std::string::npos; }

  /// Derivatives that the author left open take the values that his equations for them say, as der(y) does from der(y) = v:
  /// a start off the constraints violates these, and not how the motion is written.
  void follow() {
    std::vector<bool> kept(2 * n_, true), rows(problem_.rows(), false);
    const std::vector<bool> said = structure::said_derivatives(fn_);
    for (std::size_t i = 0; i < fn_.differential; ++i) kept[i] = !said[i] || own(i) || fixed_[i];
    const linalg::Sparsity& pattern = fn_.kept.pattern;
    const std::vector<bool> constraint = structure::hidden_constraints(fn_);
    for (std::size_t j = 0; j < fn_.hidden.size(); ++j)
      for (std::size_t k = pattern.row_start[j]; k < pattern.row_start[j + 1]; ++k)
        if (!constraint[j] && !kept[pattern.column[k]]) rows[problem_.rows() - fn_.kept.rows() + j] = true;
    if (std::ranges::find(rows, true) == rows.end()) return;
    const linalg::GaussNewtonResult near = near_guess(problem(problem_, kept, u_).part(rows, kept));
    if (near.outcome == linalg::GaussNewtonOutcome::converged) u_ = near.x;
  }

  /// Near the guess with these values kept. Nothing where an equation between kept values alone does not hold.
  std::optional<linalg::GaussNewtonResult> near_with(const std::vector<bool>& kept) {
    const StartProblem whole = problem(problem_, kept, u_);
    const linalg::LeastChangeProblem& inner = whole.least_change;
    std::vector<double> residual(problem_.rows());
    const bool finite = inner.residual(u_.data(), residual.data());
    std::vector<bool> open(problem_.rows(), false);
    double largest = 0.0;
    for (std::size_t j = 0; j < open.size(); ++j) {
      const double relative = finite ? std::abs(residual[j]) / inner.scales[j] : std::numeric_limits<double>::infinity();
      largest = std::max(largest, relative);
      for (std::size_t k = inner.jacobian.row_start[j]; k < inner.jacobian.row_start[j + 1]; ++k)
        open[j] = open[j] || !kept[inner.jacobian.column[k]];
      if (!open[j] && !(relative <= round_off)) return std::nullopt;
    }
    if (!(largest <= round_off)) return near_guess(whole.part(open, kept));
    linalg::GaussNewtonResult here;  // large systems are spared a factorization
    here.outcome = linalg::GaussNewtonOutcome::converged;
    here.x = u_;
    here.residual = largest;
    return here;
  }

  void find() {
    if (fn_.model->initial.empty()) {
      DaeStartRows equations(fn_, start_.t, DaeStartRows::Which::equations);
      const StartFound found = search_along_path(problem(equations, all_kept(), u_));
      if (found.found()) {
        u_ = found.result.x;  // x as given, with the (x', z) that belong to it
        start_.residual = found.result.residual;
        if (const std::string note = found.note(); !note.empty()) start_.notes.push_back(note);
        if (fn_.kept.rows() == 0) return;
      } else if (found.result.outcome == linalg::GaussNewtonOutcome::not_finite && fn_.kept.rows() == 0) {
        // A pole at the given x: no equation asks x to move.
        start_.found = false;
        start_.message = fmt::format("no consistent start: {} at the given values", not_finite_rows());
        return;
      }
    }
    if (fn_.kept.rows() > 0) {
      // The author's own values may be consistent, and only derivatives that he left open not yet theirs.
      std::vector<bool> kept = fixed_;
      for (std::size_t i = 0; i < fn_.differential; ++i) kept[i] = fixed_[i] || own(i);
      const std::optional<linalg::GaussNewtonResult> near = near_with(kept);
      if (near && near->outcome == linalg::GaussNewtonOutcome::converged) {
        u_ = near->x;
        start_.residual = near->residual;
        start_.violations.clear();
        start_.consistent_as_given = true;
        return;
      }
    }
    const StartProblem all = problem(problem_, fixed_, u_);
    const StartFound found = search(all);
    if (found.found()) {
      const std::vector<double> given = std::exchange(u_, found.result.x);
      start_.residual = found.result.residual;
      if (const std::string note = found.note(); !note.empty()) start_.notes.push_back(note);
      undo_pull(given);
      return;
    }
    const Conflict conflict = find_conflict(all, found.result);
    if (conflict.of_bindings) refuse(conflict, all, conflict.fixed.empty() ? "" : choice_text(free_at(conflict.unbound), "in all"));
    if (found.result.outcome == linalg::GaussNewtonOutcome::rank_deficient_inconsistent && !conflict.equations.empty() && looks_linear(all))
      throw Error("contradicting-equations",
                  fmt::format("{}: no values satisfy {}", text_of(conflict, all), conflict.equations.size() > 1 ? "them all" : "it"),
                  "no other start helps: correct one of them, or write the equation that is missing in its place",
                  all.rows[conflict.equations.back()].place);
    start_.found = false;
    start_.message = found.result.outcome == linalg::GaussNewtonOutcome::not_finite
                         ? fmt::format("no consistent start: {} at the given values", not_finite_rows())
                         : fmt::format("no consistent start was found near the given values: {}{}", text_of(conflict, all), tried(found));
  }

  /// Derivatives that the author left open have no values that could be kept, and yet those they began with have pulled at
  /// the given ones, by their small weight. From the values that were found for them they pull less, and so on.
  void undo_pull(const std::vector<double>& given) {
    constexpr int most_rounds = 10;
    constexpr double settled = 1e-14;  // of the nominal values
    for (int round = 0; round < most_rounds && has_open_derivatives(); ++round) {
      const linalg::GaussNewtonResult nearer = near_guess(problem(problem_, fixed_, with_derivatives_found(given)), &u_);
      if (nearer.outcome != linalg::GaussNewtonOutcome::converged) return;
      double moved = 0.0;
      for (std::size_t i = 0; i < fn_.differential; ++i)
        if (own(i)) moved = std::max(moved, std::abs(nearer.x[i] - u_[i]) / fn_.unknowns[i].of->nominal);
      u_ = nearer.x;
      start_.residual = nearer.residual;
      if (moved <= settled) return;
    }
  }

  /// A guess whose open derivatives are those of the start that was found.
  std::vector<double> with_derivatives_found(std::vector<double> guess) const {
    for (std::size_t i = 0; i < fn_.differential; ++i)
      if (!own(i)) guess[i] = u_[i];
    return guess;
  }

  bool has_open_derivatives() const {
    for (std::size_t i = 0; i < fn_.differential; ++i)
      if (!own(i)) return true;
    return false;
  }

  /// What was done in vain.
  static std::string tried(const StartFound& found) {
    return found.starts == 0 ? ""
                             : fmt::format("; a path from the guess and {} random starts around it lead to none", found.starts);
  }

  /// What can be chosen at a consistent point.
  FreeValues free_at(const std::vector<double>& u) {
    FreeValuesQuestion question;
    std::vector<bool> rows;
    for (std::size_t j = 0; j < problem_.rows(); ++j) rows.push_back(!problem_.row_initial(j));
    const StartProblem part = problem(problem_, fixed_, u).part(rows, fixed_);
    question.pattern = part.least_change.jacobian;
    question.values.resize(question.pattern.nonzeros());
    if (!part.least_change.jacobian_values(u.data(), question.values.data())) return {};
    question.names = part.unknowns;
    question.sizes = part.sizes;
    question.fixed = fixed_;
    const bool repaired = std::ranges::any_of(fn_.unknowns, combined);
    for (std::size_t i = 0; i < 2 * n_; ++i) {
      // Where combined unknowns carry the motion, the author's own can be chosen all the same.
      const bool carries = i < fn_.differential || (repaired && i < n_ && fn_.unknowns[i].times == 0);
      question.state.push_back(carries && !combined(fn_.unknowns[i % n_]));
    }
    return only_where_equations_are(question);
  }

  /// Derivatives of algebraic unknowns stand in no equation.
  FreeValues only_where_equations_are(FreeValuesQuestion& question) const {
    for (std::size_t i = n_ + fn_.differential; i < 2 * n_; ++i) question.fixed[i] = false;
    if (fn_.kept.rows() > 0 || !start_.solvable || question.names.size() <= 500) return free_values(question);
    // Nothing binds the states of a large system without hidden constraints.
    question.pattern = {0, fn_.differential, {0}, {}};
    question.values.clear();
    for (auto* flags : {&question.state, &question.fixed}) flags->resize(fn_.differential);
    question.names.resize(fn_.differential);
    question.sizes.resize(fn_.differential);
    return free_values(question);
  }

  void look_around(const std::vector<double>& given) {
    start_.free = free_at(u_);
    note_surplus(start_);
    if (look_ != Look::around) return;
    const bool held = fn_.model->initial.empty() && fn_.kept.rows() == 0;
    if (held && fn_.linear_in_solved) return;
    DaeStartRows equations(fn_, start_.t, DaeStartRows::Which::equations);
    std::vector<double> guess = with_derivatives_found(given);
    if (held) std::copy_n(u_.begin(), fn_.differential, guess.begin());
    const StartProblem around = problem(held ? equations : problem_, held ? all_kept() : fixed_, guess);
    std::vector<bool> compared(2 * n_, start_.solvable);
    std::fill_n(compared.begin(), n_, true);
    for (std::size_t i = n_ + fn_.differential; i < 2 * n_; ++i) compared[i] = false;
    const BranchPoints points = other_solutions(around, u_, compared);
    start_.branch_starts = points.starts;
    if (points.solutions.size() < 2) return;
    std::fill(compared.begin() + static_cast<std::ptrdiff_t>(n_), compared.end(), false);
    for (const std::vector<double>& solution : points.solutions) {
      Branch branch{{}, distance_from_guess(around, solution, compared)};
      for (const DaeFunctions::Column& column : fn_.columns)
        if (!column.rate || start_.solvable) branch.values.emplace_back(column.name, solution[column.unknown + (column.rate ? n_ : 0)]);
      start_.branches.push_back(std::move(branch));
    }
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

  /// Algebraic unknowns and derivatives that the equations leave open.
  std::vector<std::string> undetermined(const linalg::Sparsity& pattern, const std::vector<double>& values) const {
    constexpr std::size_t most_columns = 500;
    if (pattern.columns > most_columns) return {};
    std::vector<int> turn;
    for (std::size_t i = 0; i < 2 * n_; ++i) turn.push_back(i >= fn_.differential && i < n_ + fn_.differential ? 0 : 1);
    const linalg::FreeColumns columns = linalg::free_columns(pattern, values.data(), std::vector<double>(2 * n_, 1.0), turn);
    std::vector<bool> open(2 * n_, false);
    for (std::size_t q = 0; q < columns.free.size(); ++q) {
      if (turn[columns.free[q]] != 0) continue;
      open[columns.free[q]] = true;
      for (std::size_t p = 0; p < columns.determined.size(); ++p)
        if (columns.entry(p, q) != 0.0) open[columns.determined[p]] = true;
    }
    std::vector<std::string> names;
    for (std::size_t i = fn_.differential; i < n_ + fn_.differential; ++i)
      if (open[i]) names.push_back(model::derivative_name(fn_.unknowns[i % n_].of->name, fn_.unknowns[i % n_].times + i / n_));
    return names;
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
    const std::vector<std::string> open = undetermined(pattern, values);
    const std::string lost = open.empty() ? "" : fmt::format("; {} {} not determined", listed(open), open.size() == 1 ? "is" : "are");
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
                 "other start values may help; otherwise write the equation that is missing in its place" + lost,
                 problem_.row_place(row));
    }
    faults.throw_if_any();
  }

  /// What an equation that is violated is called, and where it stands.
  std::pair<std::string, Place> kind_of(const Violation& violation) const {
    if (const auto hidden = std::ranges::find(fn_.hidden, violation.of, &DaeFunctions::Row::of); hidden != fn_.hidden.end())
      return {violation.level == 0 ? "the equation" : "the hidden constraint", hidden->place};
    if (const auto found = std::ranges::find(fn_.model->invariants, violation.of, &model::Equation::name);
        found != fn_.model->invariants.end())
      return {"the invariant", found->place};
    const auto found = std::ranges::find(fn_.model->initial, violation.of, &model::Equation::name);
    return {"the [initial] equation", found == fn_.model->initial.end() ? Place{} : found->place};
  }

  [[noreturn]] void refuse_inconsistent() const {
    Faults faults;
    for (const Violation& violation : start_.violations) {
      const auto [what, place] = kind_of(violation);
      faults.add("inconsistent-start",
                 fmt::format("the start does not satisfy {} '{}': the residual is {}", what,
                             model::derivative_name(violation.of, static_cast<std::size_t>(violation.level)), brief(violation.value)),
                 "`daedalus init` shows a consistent start; --initialize project uses it", place);
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
    for (double& value : u_)
      if (std::abs(value) < std::numeric_limits<double>::min()) value = 0.0;  // iterations end with such numbers
    if (start_.residual < std::numeric_limits<double>::min()) start_.residual = 0.0;
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
  Look look_;
  DaeStartRows problem_;
  DaeEvaluator evaluator_;
  std::size_t n_;
  std::vector<double> u_;
  std::vector<bool> fixed_;
  Start start_;
};

}  // namespace

Start consistent_start(const std::shared_ptr<const DaeFunctions>& functions, double t, Initialize mode, Look look) {
  return DaeInitializer(functions, t, mode, look)();
}

Start look_further(const std::shared_ptr<const DaeFunctions>& functions, const Start& start, Look look) {
  return DaeInitializer(functions, start.t, Initialize::project, look).further(start);
}

}  // namespace daedalus::solve
