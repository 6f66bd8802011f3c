// Consistent states are y = V x1 + W x2 with x2 = -sum_k N^k g2^(k)(t) and any x1 (000, (2.32)). What binds or counts is a row
// (V x1)_i = y_i - (W x2)_i for x1; stage by stage those rows are met in the least-squares sense within the freedom that the
// stages before have left.

#include "daedalus/solve/start_linear.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "daedalus/base/text.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/linalg/matrix_parts.hpp"
#include "daedalus/linalg/orthogonal_split.hpp"
#include "daedalus/structure/dae_evaluator.hpp"

namespace daedalus::solve {

using linalg::BasicMatrix;
using structure::DaeFunctions;
using structure::LinearFlow;
using Number = LinearFlow::Number;
using Vector = std::vector<Number>;

namespace {

/// A start counts as consistent where it is this near to the manifold, in units of its values.
constexpr double near = 1e-10;

/// Points p + Z u that meet rows as well as those before allow.
class Freedom {
 public:
  explicit Freedom(std::size_t n1) : point_(n1, Number(0.0)), rest_(BasicMatrix<Number>::identity(n1)) {}

  struct Row {
    Vector coefficients;
    Number value;
    std::size_t of;  ///< which unknown
  };
  const Vector& point() const { return point_; }

  /// Meets rows in the least-squares sense; what is left over of each.
  std::vector<double> meet(const std::vector<Row>& rows) {
    const std::size_t free = rest_.columns;
    if (!rows.empty() && free > 0) {
      auto M = BasicMatrix<Number>::zero(rows.size(), rest_.rows);
      Vector missing;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = 0; j < rest_.rows; ++j) M(i, j) = rows[i].coefficients[j];
        missing.push_back(rows[i].value - value(rows[i]));
      }
      const BasicMatrix<Number> reduced = M * rest_;
      const auto split = linalg::orthogonal_split(transposed(reduced), linalg::row_norm(M));
      const BasicMatrix<Number> A = reduced * split.range, At = transposed(A);
      // With 31 digits the normal equations are as good as any others are with 16.
      const Vector v = linalg::times(linalg::inverse(At * A), linalg::times(At, missing));
      const Vector step = linalg::times(rest_ * split.range, v);
      for (std::size_t j = 0; j < point_.size(); ++j) point_[j] += step[j];
      rest_ = rest_ * split.rest;
    }
    std::vector<double> left;
    for (const Row& row : rows) left.push_back(double(row.value - value(row)));
    return left;
  }

 private:
  Number value(const Row& row) const {
    Number sum(0.0);
    for (std::size_t j = 0; j < point_.size(); ++j) sum += row.coefficients[j] * point_[j];
    return sum;
  }
  Vector point_;
  BasicMatrix<Number> rest_;
};

class LinearInitializer {
 public:
  LinearInitializer(const Prepared& prepared, double t, Initialize mode, Look look)
      : prepared_(prepared), fn_(*prepared.linear->functions), mode_(mode), look_(look), flow_(prepared.linear), n_(fn_.dimension()) {
    start_.t = t;
    for (const DaeFunctions::Unknown& unknown : fn_.unknowns) y_.push_back(unknown.start.value);
  }

  Start operator()() {
    const std::vector<double> given = y_;
    const Vector x2 = flow_.consistent_part(start_.t), before = flow_.algebraic_part(y_.data());
    Vector x1 = flow_.differential_part(y_.data());
    const Vector off = offset(x2), was = linalg::times(prepared_.linear->parts.W, before);
    double size = 1.0;
    for (std::size_t i = 0; i < n_; ++i) size = std::max(size, std::abs(y_[i]));
    bool on_manifold = true;
    for (std::size_t i = 0; i < n_; ++i) on_manifold = on_manifold && std::abs(double(off[i] - was[i])) <= near * size;
    const bool bound = fixed_rates();
    if (mode_ != Initialize::off && (!on_manifold || bound)) x1 = least_change(off);
    if (mode_ == Initialize::off && !on_manifold)
      start_.notes = impulse_texts(fn_, start_.t, y_, flow_.impulses(before, x2));
    std::vector<std::vector<double>> states;
    const auto orders = static_cast<std::size_t>(prepared_.linear->parts.index) + 1;
    // Derivatives above the first are for guesses alone.
    bool finite = flow_.states(start_.t, x1, orders, states);
    if (!finite && flow_.states(start_.t, x1, 1, states)) {
      finite = true;
      states.resize(orders + 1, std::vector<double>(n_, 0.0));
    }
    if (!finite) {
      start_.found = false;
      start_.message = orders == 1 ? "f is not a finite number at the start"
                                   : fmt::format("f or a derivative of it up to order {} is not a finite number at the start", orders - 1);
      states.assign(orders + 1, std::vector<double>(n_, 0.0));
    }
    if (mode_ == Initialize::off || (on_manifold && !bound)) states[0] = given;
    for (std::size_t i = 0; i < n_ && start_.found; ++i) {
      const DaeFunctions::Unknown& unknown = fn_.unknowns[i];
      const double by = states[0][i] - given[i];
      const bool counts = unknown.start.given || (i < fn_.differential && unknown.times == 0);
      if (counts && std::abs(by) > 1e-12 * std::max(std::abs(given[i]), unknown.of->nominal)) start_.moved.push_back({unknown.name, by});
    }
    // What nobody gave may take any value.
    start_.consistent_as_given = mode_ == Initialize::off ? on_manifold : start_.moved.empty();
    if (mode_ == Initialize::check && !start_.consistent_as_given) refuse();
    fill(states);
    return std::move(start_);
  }

 private:
  Vector offset(const Vector& x2) const { return linalg::times(prepared_.linear->parts.W, x2); }
  bool fixed_rates() const {
    return std::ranges::any_of(fn_.rate_starts, [](const model::Start& rate) { return rate.fixed; });
  }

  Freedom::Row row(std::size_t i, const Vector& off, double scale) const {
    const BasicMatrix<Number>& V = prepared_.linear->parts.V;
    Freedom::Row result{Vector(V.columns), (Number(y_[i]) - off[i]) * Number(scale), i};
    for (std::size_t j = 0; j < V.columns; ++j) result.coefficients[j] = V(i, j) * Number(scale);
    return result;
  }

  /// x1 of the consistent state that the values ask for.
  Vector least_change(const Vector& off) {
    Freedom freedom(prepared_.linear->n1());
    std::vector<Freedom::Row> fixed, given, others;
    for (std::size_t i = 0; i < n_; ++i) {
      const DaeFunctions::Unknown& unknown = fn_.unknowns[i];
      Freedom::Row one = row(i, off, 1.0 / unknown.of->nominal);
      if (unknown.start.fixed)
        fixed.push_back(std::move(one));
      else if (i < fn_.differential)
        (unknown.start.given ? given : others).push_back(std::move(one));
    }
    add_fixed_rates(fixed);
    const std::vector<double> left = freedom.meet(fixed);
    std::vector<std::string> names;
    for (std::size_t k = 0; k < fixed.size(); ++k)
      if (!(std::abs(left[k]) <= near * (1.0 + std::abs(double(fixed[k].value))))) names.push_back(fixed_text(fixed[k].of));
    if (!names.empty()) contradiction(names, fixed);
    freedom.meet(given);
    freedom.meet(others);
    return freedom.point();
  }

  /// y' = V (J x1 + g1) + W x2': a row for each fixed derivative; the part free of x1 is y' at x1 = 0.
  void add_fixed_rates(std::vector<Freedom::Row>& rows) {
    if (!fixed_rates()) return;
    std::vector<std::vector<double>> at_zero;
    flow_.states(start_.t, Vector(prepared_.linear->n1(), Number(0.0)), 1, at_zero);
    const BasicMatrix<Number> VJ = prepared_.linear->parts.V * prepared_.linear->parts.J;
    for (std::size_t i = 0; i < fn_.rate_starts.size(); ++i) {
      if (!fn_.rate_starts[i].fixed) continue;
      Freedom::Row one{Vector(VJ.columns), Number(fn_.rate_starts[i].value) - Number(at_zero[1][i]), n_ + i};
      for (std::size_t j = 0; j < VJ.columns; ++j) one.coefficients[j] = VJ(i, j);
      rows.push_back(std::move(one));
    }
  }

  std::string fixed_text(std::size_t of) const {
    const DaeFunctions::Unknown& unknown = fn_.unknowns[of % n_];
    return of < n_ ? fmt::format("{} = {}", unknown.name, brief(y_[of]))
                   : fmt::format("{} = {}", model::derivative_name(unknown.of->name, unknown.times + 1), brief(fn_.rate_starts[of - n_].value));
  }

  [[noreturn]] void contradiction(const std::vector<std::string>& names, const std::vector<Freedom::Row>& fixed) const {
    throw Error("contradicting-fixed",
                fmt::format("the fixed {} {} cannot be met: consistent values at t = {} have {} of freedom, and {} fixed",
                            names.size() == 1 ? "value" : "values", fmt::join(names, ", "), brief(start_.t),
                            count(prepared_.linear->n1(), "degree"), fixed.size() == 1 ? "1 value is" : fmt::format("{} values are", fixed.size())),
                "drop `fixed` (or --fix) from one of the values, so that it can move", {fn_.model->source});
  }

  void refuse() const {
    Faults faults;
    for (const auto& [name, by] : start_.moved)
      faults.add("inconsistent-start",
                 fmt::format("{} would have to move by {} to satisfy the equations", name, brief(by)),
                 "give a consistent start, or let it be found with --initialize project", {fn_.model->source});
    faults.throw_if_any();
  }

  /// The state in the unknowns of every formulation.
  void fill(const std::vector<std::vector<double>>& states) {
    start_.whole = states[0];
    start_.whole.insert(start_.whole.end(), states[1].begin(), states[1].end());
    for (const DaeFunctions::Column& column : fn_.columns)
      start_.values.emplace_back(column.name, states[column.rate ? 1 : 0][column.unknown]);
    if (ask_general() && prepared_.converted) return;  // else the formula knows better, and its values are taken
    const DaeFunctions& fn = *prepared_.solvable_dae();
    // Derivatives of the author's variables, from those of the unknowns as written.
    const auto value = [&](const model::Unknown* of, std::size_t times) {
      for (std::size_t i = 0; i < n_; ++i) {
        const DaeFunctions::Unknown& unknown = fn_.unknowns[i];
        if (unknown.of != of || unknown.times > times) continue;
        const bool last = i + 1 == n_ || fn_.unknowns[i + 1].of != of;
        if (unknown.times == times || last) return states[std::min(times - unknown.times, states.size() - 1)][i];
      }
      return 0.0;
    };
    // Where the structure was repaired, its unknowns are the author's by name, or combinations of them.
    std::unordered_map<expr::NodeId, double> authors;
    if (prepared_.converted)
      for (const model::Unknown& unknown : fn_.model->variables) {
        authors[unknown.symbol.id()] = value(&unknown, 0);
        for (std::size_t k = 0; k < unknown.rates.size(); ++k) authors[unknown.rates[k].id()] = value(&unknown, k + 1);
      }
    const auto known = [&](const model::Unknown* of, std::size_t times) {
      if (!prepared_.converted) return value(of, times);
      for (const model::Unknown& unknown : fn_.model->variables)
        if (unknown.name == of->name) return value(&unknown, times);
      if (times > of->rates.size()) return 0.0;
      const auto meaning = prepared_.converted->meaning.find((times == 0 ? of->symbol : of->rates[times - 1]).id());
      return meaning == prepared_.converted->meaning.end() ? 0.0 : expr::evaluate(meaning->second, authors);
    };
    std::vector<double> y, dy;
    for (const DaeFunctions::Unknown& unknown : fn.unknowns) {
      y.push_back(known(unknown.of, unknown.times));
      dy.push_back(known(unknown.of, unknown.times + 1));
    }
    start_.guess = y;
    start_.guess.insert(start_.guess.end(), dy.begin(), dy.end());
    if (prepared_.array) {
      start_.x = y;
      return;
    }
    const auto middle = y.begin() + static_cast<std::ptrdiff_t>(fn.differential);
    start_.x.assign(y.begin(), middle);
    start_.algebraic.assign(middle, y.end());
    if (prepared_.reduced) return;
    start_.index_above_one = prepared_.linear->parts.index > 1;
    structure::DaeEvaluator evaluator(prepared_.dae);
    start_.solvable = !start_.index_above_one && evaluator.easy(start_.t, y.data(), dy.data());
  }

  /// What the general way to a start tells besides: which values can be chosen, and the unknowns of repaired equations, which
  /// are combinations of the author's.
  bool ask_general() {
    if (prepared_.array || (!prepared_.converted && look_ == Look::at_start) || start_.index_above_one) return false;
    try {
      Start general = consistent_start(prepared_.solvable_dae(), start_.t, mode_ == Initialize::check ? Initialize::project : mode_,
                                       look_ == Look::around ? Look::freedom : look_);
      start_.free = std::move(general.free);
      start_.violations = std::move(general.violations);
      start_.x = std::move(general.x);
      start_.algebraic = std::move(general.algebraic);
      start_.guess = std::move(general.guess);
      start_.solvable = general.solvable;
      return general.found;
    } catch (const Error&) {
      return false;
    }
  }

  const Prepared& prepared_;
  const DaeFunctions& fn_;
  Initialize mode_;
  Look look_;
  LinearFlow flow_;
  std::size_t n_;
  std::vector<double> y_;
  Start start_;
};

}  // namespace

Start linear_start(const Prepared& prepared, double t, Initialize mode, Look look) {
  return LinearInitializer(prepared, t, mode, look)();
}

std::vector<double> whole_state(const Prepared& prepared, const Start& start) {
  if (!start.whole.empty()) return start.whole;
  const DaeFunctions& fn = *prepared.linear->functions;
  const auto value = [&](const std::string& name) {
    const auto found = std::ranges::find(start.values, name, &std::pair<std::string, double>::first);
    return found == start.values.end() ? 0.0 : found->second;
  };
  std::vector<double> state;
  for (const DaeFunctions::Unknown& unknown : fn.unknowns) state.push_back(value(unknown.name));
  LinearFlow flow(prepared.linear);
  std::vector<std::vector<double>> states;
  if (!flow.states(start.t, flow.differential_part(state.data()), 1, states)) states.assign(2, std::vector<double>(state.size(), 0.0));
  state.insert(state.end(), states[1].begin(), states[1].end());
  return state;
}

std::vector<std::string> impulse_texts(const DaeFunctions& functions, double t, const std::vector<double>& before,
                                       const std::vector<structure::Impulse>& impulses) {
  std::vector<std::string> texts;
  for (const structure::Impulse& one : impulses) {
    const std::string& name = functions.unknowns[one.unknown].name;
    std::vector<std::string> parts;
    if (one.jump != 0.0)
      parts.push_back(fmt::format("jumps from {} to {}", brief(before[one.unknown]), brief(before[one.unknown] + one.jump)));
    for (std::size_t k = 0; k < one.strengths.size(); ++k) {
      if (one.strengths[k] == 0.0) continue;
      const std::string order = k == 0   ? std::string()
                                : k == 1 ? ", once differentiated,"
                                         : fmt::format(", differentiated {} times,", k);
      parts.push_back(fmt::format("gets a Dirac impulse{} of {}", order, brief(one.strengths[k])));
    }
    texts.push_back(fmt::format("{} {} at t = {}", name, fmt::join(parts, " and "), brief(t)));
  }
  return texts;
}

}  // namespace daedalus::solve
