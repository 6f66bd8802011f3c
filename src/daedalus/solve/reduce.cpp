// Whether a DAE has an index above 1 can be seen only at a point that satisfies all of its equations, the hidden ones too.
// Its structure says which these are (offsets c_i > 0); the differentiated equations then give the point, and there both
// are asked: the equations as written, whether they determine the derivatives after all (the structural index may be too
// high), and the differentiated ones, whether they do.

#include "daedalus/solve/reduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "daedalus/base/text.hpp"
#include "daedalus/structure/array_solver.hpp"
#include "daedalus/structure/dae_evaluator.hpp"

namespace daedalus::solve {

using structure::DaeFunctions;

namespace {

/// Values of (y, y') of one form of the equations, taken from those of another by the names of the derivatives.
std::vector<double> translated(const std::vector<double>& u, const DaeFunctions& from, const DaeFunctions& to) {
  std::unordered_map<std::string, double> known;
  const std::size_t n = from.dimension();
  for (std::size_t i = 0; i < n; ++i) {
    known.emplace(model::derivative_name(from.unknowns[i].of->name, from.unknowns[i].times), u[i]);
    if (i < from.differential) known.emplace(model::derivative_name(from.unknowns[i].of->name, from.unknowns[i].times + 1), u[n + i]);
  }
  std::vector<double> result(2 * to.dimension(), 0.0);
  for (std::size_t i = 0; i < to.dimension(); ++i)
    for (const std::size_t rate : {0u, 1u}) {
      const auto found = known.find(model::derivative_name(to.unknowns[i].of->name, to.unknowns[i].times + rate));
      if (found != known.end()) result[i + rate * to.dimension()] = found->second;
    }
  return result;
}

std::vector<double> modes_of(const DaeFunctions& fn) {
  std::vector<double> discrete;
  for (const model::Parameter& value : fn.model->discrete) discrete.push_back(value.value);
  return fn.switches.free_modes(discrete);
}

double t_start_of(const DaeFunctions& fn) { return fn.model->simulation.t_start.value_or(0.0); }

/// (y, y') as the author gives them.
std::vector<double> given_values(const DaeFunctions& fn) {
  std::vector<double> u;
  for (const DaeFunctions::Unknown& unknown : fn.unknowns) u.push_back(unknown.start.value);
  for (const model::Start& rate : fn.rate_starts) u.push_back(rate.value);
  return u;
}

/// Consistent start values where they are found, else those given with the derivatives that belong to them. Where even
/// these are not found `fault` says why, and the values are those given.
struct Beginning {
  Start start;
  std::optional<Error> fault = {};
  bool consistent = false;
  std::optional<Start> found() const { return consistent ? std::optional(start) : std::nullopt; }
};

/// The values given, with the derivatives that belong to them.
Beginning as_given(const std::shared_ptr<const DaeFunctions>& functions) {
  const double t = t_start_of(*functions);
  try {
    return {consistent_start(functions, t, Initialize::off)};
  } catch (const Error& error) {
    Start given;
    given.t = t;
    given.guess = given_values(*functions);
    return {std::move(given), error};
  }
}

Beginning begin(const std::shared_ptr<const DaeFunctions>& functions) {
  try {
    Start start = consistent_start(functions, t_start_of(*functions), Initialize::project);
    if (start.found) return {std::move(start), {}, true};
  } catch (const Error&) {  // told when the model is run
  }
  return as_given(functions);
}

/// One form of the equations at a start of another.
class Place {
 public:
  Place(const DaeFunctions& of, const Start& start) : of_(of), start_(start) {}

  /// There and beside it: matrices of derivatives may have a smaller rank at a point than everywhere else, and with it a
  /// smaller index.
  bool index_at_most_one(const std::shared_ptr<const DaeFunctions>& form) const {
    return ask(form, &structure::DaeEvaluator::index_at_most_one, 4);
  }
  bool easy(const std::shared_ptr<const DaeFunctions>& form) const { return ask(form, &structure::DaeEvaluator::easy, 1); }

 private:
  /// Whether the answer is yes at so many points, of which the first is the start.
  template <class Question>
  bool ask(const std::shared_ptr<const DaeFunctions>& form, Question question, int points) const {
    structure::DaeEvaluator evaluator(form);
    const std::vector<double> frozen = modes_of(*form);
    evaluator.freeze(frozen.data());
    const std::size_t n = form->dimension();
    const std::vector<double> u = translated(start_.guess, of_, *form);
    std::mt19937 random(1);
    for (int point = 0; point < points; ++point) {
      std::vector<double> beside = u;
      for (std::size_t i = 0; i < (point > 0 ? u.size() : 0); ++i) {
        const double part = 0.01 * (static_cast<double>(random()) / 4294967296.0 - 0.5);
        beside[i] += part * std::max(std::abs(u[i]), form->unknowns[i % n].of->nominal);
      }
      if (!(evaluator.*question)(start_.t, beside.data(), beside.data() + n)) return false;
    }
    return true;
  }

  const DaeFunctions& of_;
  const Start& start_;
};

void refuse_rough_tables(const DaeFunctions& as_written, const DaeFunctions& differentiated) {
  auto rough = structure::rough_tables(differentiated.equations.F);
  for (auto& one : rough) one.level = differentiated.rows[one.row].level;
  structure::refuse_rough_tables(as_written, rough);
}

/// Whether a repaired structure leaves as many initial values free as the derivative array does at its start, which it must: the
/// numbers of both are the same equations. Not asked where it would take long.
bool as_free_as_the_array(const DaeFunctions& repaired, const Start& found, const std::shared_ptr<const DaeFunctions>& as_written) {
  constexpr std::size_t most_unknowns = 20;
  if (as_written->dimension() > most_unknowns) return true;
  const std::vector<double> u = translated(found.guess, repaired, *as_written), frozen = modes_of(*as_written);
  structure::IndexOptions options;
  options.frozen = frozen.data();
  options.nearby = 0;
  const structure::NumericalIndex index =
      structure::numerical_index(std::make_shared<structure::DerivativeArray>(as_written), {found.t, u}, options);
  if (index.outcome != structure::NumericalIndex::Outcome::found || !index.at_start) return true;
  return as_written->dimension() - index.algebraic == repaired.differential - repaired.hidden.size();
}

/// Whether the derivative array finds a point, and leaves another number of initial values free there than some form does.
bool array_contradicts(const DaeFunctions& form, const std::shared_ptr<const DaeFunctions>& as_written) {
  const auto array = array_form(as_written);
  return array && as_written->dimension() - array->index.algebraic != form.differential - form.hidden.size();
}

/// A model whose structure deceives, and which as it is written has no start, with its structure repaired.
Reduction repaired(const std::shared_ptr<const DaeFunctions>& as_written) {
  const Start start = as_given(as_written).start;
  const std::unordered_map<std::string, double> values(start.values.begin(), start.values.end());
  auto converted = structure::repair_structure(as_written->model, start.t, values);
  if (!converted) return {};
  auto functions = structure::compile_dae(*converted);
  const Beginning beginning = begin(functions);
  const Start& found = beginning.start;
  if (!Place(*functions, found).easy(functions)) return {};
  // Beside the solutions even equations that say less than the author's on them, S(y) f = 0, may have a regular matrix: where
  // no point of them was found they are doubted as soon as the array knows one.
  if (!found.found && array_form(as_written)) return {};
  if (found.found && !as_free_as_the_array(*functions, found, as_written)) return {};
  refuse_rough_tables(*as_written, *functions);
  return {std::move(functions), std::make_shared<const structure::Converted>(std::move(*converted)), false, beginning.found()};
}

/// Not known where no point that satisfies the equations is found from the guess: it may be a singular one.
enum class Answer { no, yes, not_known };

Answer ask_index_above_one(const std::shared_ptr<const DaeFunctions>& as_written) {
  const double t = t_start_of(*as_written);
  const std::vector<double> u = given_values(*as_written);
  structure::DaeEvaluator evaluator(as_written);
  const std::vector<double> frozen = modes_of(*as_written);
  evaluator.freeze(frozen.data());
  // The matrix of (x', z) tells at any point only where it does not depend on them: equations mixed by matrices that depend
  // on z, S(z) f = 0, have a regular one wherever f is not zero.
  if (as_written->linear_in_solved && evaluator.easy(t, u.data(), u.data() + as_written->dimension())) return Answer::no;
  try {
    return consistent_start(as_written, t, Initialize::project).index_above_one ? Answer::yes : Answer::no;
  } catch (const Error&) {  // told when the model is run
    return Answer::not_known;
  }
}

/// Moves y to the manifold, as little as possible those unknowns that occur differentiated. The others follow from them
/// where they can: they are far freer, and what their guesses still pull is undone by beginning with the values found.
structure::DaeOutcome nearest(const DaeFunctions& as_written, structure::ArraySolver& solver, double t, std::vector<double>& y,
                              std::vector<double> sizes) {
  constexpr double freer = 1e3;
  constexpr int most_rounds = 4;
  constexpr double settled = 1e-13;
  const auto differential = static_cast<std::ptrdiff_t>(as_written.differential);
  for (std::size_t i = as_written.differential; i < y.size(); ++i) sizes[i] *= freer;
  const std::vector<double> given = y;
  auto outcome = solver.project(t, y.data(), sizes.data());
  for (int round = 1; round < most_rounds && differential < std::ssize(y) && outcome == structure::DaeOutcome::ok; ++round) {
    const std::vector<double> last = y;
    std::copy_n(given.begin(), differential, y.begin());
    outcome = solver.project(t, y.data(), sizes.data());
    double moved = 0.0;
    for (std::size_t i = 0; i < as_written.differential; ++i)
      moved = std::max(moved, std::abs(y[i] - last[i]) / as_written.unknowns[i].of->nominal);
    if (moved <= settled) break;
  }
  return outcome;
}

}  // namespace

bool index_above_one(const std::shared_ptr<const DaeFunctions>& as_written) {
  return ask_index_above_one(as_written) == Answer::yes;
}

Reduction reduced(const std::shared_ptr<const DaeFunctions>& as_written) {
  const auto sigma = structure::sigma_method(structure::signature_of(structure::equations_of(*as_written->model)));
  if (!sigma) return {};
  const int most = *std::ranges::max_element(sigma->offsets.c);
  std::optional<Error> fault;
  if (most > 0 && most <= most_differentiations) {
    auto differentiated = structure::compile_dae(as_written->model, sigma->offsets);
    const Beginning beginning = begin(differentiated);
    fault = beginning.fault;
    const Place place(*differentiated, beginning.start);
    if (place.index_at_most_one(as_written)) return {};
    // Beside the solutions S(y) f may have a regular matrix where f has none: without a point of them its word is doubted.
    if (place.easy(differentiated) && (beginning.start.found || !array_contradicts(*differentiated, as_written))) {
      refuse_rough_tables(*as_written, *differentiated);
      return {std::move(differentiated), nullptr, false, beginning.found()};
    }
  }
  const Answer above_one = ask_index_above_one(as_written);
  if (above_one == Answer::no) return {};
  Reduction reduction = repaired(as_written);
  if (!reduction.functions && fault) throw *fault;
  reduction.stuck = above_one == Answer::yes && reduction.functions == nullptr;
  return reduction;
}

int differentiations(const DaeFunctions& as_written) {
  const auto sigma = structure::sigma_method(structure::signature_of(structure::equations_of(*as_written.model)));
  return sigma && !sigma->offsets.c.empty() ? *std::ranges::max_element(sigma->offsets.c) : 0;
}

std::string array_obstacle(const DaeFunctions& as_written) {
  const model::Model& model = *as_written.model;
  if (as_written.dimension() > most_array_unknowns) return fmt::format("it has more than {} unknowns", most_array_unknowns);
  if (!model.invariants.empty()) return "it has [invariants]";
  if (!model.initial.empty()) return "it has [initial]";
  return {};
}

structure::ArrayForm array_at_start(const std::shared_ptr<const DaeFunctions>& as_written) {
  const std::vector<double> frozen = modes_of(*as_written);
  std::vector<double> y;
  for (const DaeFunctions::Unknown& unknown : as_written->unknowns) y.push_back(unknown.start.value);
  const auto array = std::make_shared<structure::DerivativeArray>(as_written);
  structure::IndexOptions options;
  options.frozen = frozen.data();
  const double t = as_written->model->simulation.t_start.value_or(0.0);
  return {array, structure::numerical_index(array, {t, y}, options)};
}

std::shared_ptr<const structure::ArrayForm> array_form(const std::shared_ptr<const DaeFunctions>& as_written) {
  if (!array_obstacle(*as_written).empty()) return nullptr;
  auto form = std::make_shared<structure::ArrayForm>(array_at_start(as_written));
  return form->index.outcome == structure::NumericalIndex::Outcome::found ? form : nullptr;
}

Start consistent_start(const DaeFunctions& as_written, const structure::ArrayForm& form, double t, Initialize mode) {
  const std::size_t n = as_written.dimension();
  const std::vector<double> frozen = modes_of(as_written);
  structure::ArraySolver solver(form.array, form.index);
  solver.freeze(frozen.data());
  Start start;
  start.t = t;
  std::vector<double> y, sizes;
  for (const DaeFunctions::Unknown& unknown : as_written.unknowns) {
    y.push_back(unknown.start.value);
    sizes.push_back(unknown.start.fixed ? 0.0 : unknown.of->nominal);
  }
  const std::vector<double> given = y;
  auto outcome = mode == Initialize::off ? structure::DaeOutcome::ok : nearest(as_written, solver, t, y, sizes);
  if (outcome != structure::DaeOutcome::ok && form.index.at_start) {
    // From values as far off as these the search for the index came to a point, and that is one.
    solver = structure::ArraySolver(form.array, form.index);
    solver.freeze(frozen.data());
    for (std::size_t i = 0; i < n; ++i) y[i] = sizes[i] == 0.0 ? given[i] : form.index.point.jets[i];
    outcome = solver.project(t, y.data(), sizes.data());
  }
  if (outcome == structure::DaeOutcome::ok) outcome = solver.derivatives(t, y.data());
  for (const double residual : solver.residuals()) start.residual = std::max(start.residual, std::abs(residual));
  if (outcome != structure::DaeOutcome::ok || (mode != Initialize::off && !(start.residual < 1e-9))) {
    start.found = false;
    start.message = "no consistent start was found near the given values" +
                    (outcome == structure::DaeOutcome::ok ? std::string() : ": " + solver.explain());
    if (!form.index.at_start)
      start.message += fmt::format("; the start is a special point, and beside it, as at t = {}, the index is {}: start there",
                                   brief(form.index.point.t), form.index.index);
  }
  for (std::size_t i = 0; i < n && start.found; ++i)
    if (const double by = y[i] - given[i]; std::abs(by) > 1e-12 * std::max(std::abs(given[i]), as_written.unknowns[i].of->nominal))
      start.moved.push_back({as_written.unknowns[i].name, by});
  start.consistent_as_given = start.moved.empty();
  if (mode == Initialize::check && !start.consistent_as_given)
    throw Error("inconsistent-start",
                fmt::format("{} would have to move by {} to satisfy the equations", start.moved[0].name, brief(start.moved[0].by)),
                "give a consistent start, or let it be found with --initialize project", {as_written.model->source});
  start.x = y;
  start.guess = y;
  start.guess.insert(start.guess.end(), solver.dy().begin(), solver.dy().end());
  for (const DaeFunctions::Column& column : as_written.columns)
    start.values.emplace_back(column.name, (column.rate ? solver.dy() : y)[column.unknown]);
  return start;
}

}  // namespace daedalus::solve
