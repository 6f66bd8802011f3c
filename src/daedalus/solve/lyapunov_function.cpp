// Conditions of Theorems 2 and 3 of Di Franco, Scarciotti, Astolfi on a function W of the zero dynamics eta' = q0(eta),
// by looking at many states of a box: points of low discrepancy, its corners, and from the worst of them the way to one
// that is worse still. With V = W + |xi|^2/2 and r violations
//     V' <= W_eta q0 + sum_i (W_eta q_i xi_i + k_i xi_i^2) <= W_eta q0 + r/(2 delta^2) |W_eta|^2 - epsilon |xi|^2,
// by Young's inequality for each i. (28) of the paper lacks the factor r: with q_1 xi_1 = q_2 xi_2 = W_eta^T, r = 2 and
// delta = 1 it says 2 <= 1/2 + 1. So delta_bar^2 = r W_bar/(2 beta), and with gamma < 0 = gamma0, beta in (0, -gamma),
//     epsilon_bar = -gamma - beta:     V' <= (gamma + beta) V.
// eta are those coordinates in which the run begins; states of the box are found by Newton's method, eta <- eta + J^-1
// (s - s(eta)).
#include "daedalus/solve/lyapunov_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "daedalus/base/text.hpp"
#include "daedalus/compile/compile.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/formulate/dae_normal_form.hpp"
#include "daedalus/formulate/lyapunov_flow.hpp"
#include "daedalus/formulate/mechanical_normal_form.hpp"
#include "daedalus/linalg/lu.hpp"
#include "daedalus/solve/zero_dynamics.hpp"

namespace daedalus::solve {

namespace {

using integrate::Evaluation;
using Vector = std::vector<double>;

constexpr std::size_t most_dimensions = 12, most_corners = 8, scattered = 2000;
/// Of the width of the box: steps of the search for the worst state, from the first to the last.
constexpr double first_step = 0.1, last_step = 1e-6;
/// Where W is below this part of its largest value, quotients by it are round-off.
constexpr double smallest_part = 1e-6;
/// Quotients that grow by this much whenever W may be a hundred times smaller have no bound.
constexpr double unbounded_growth = 3.0;
/// Rates below this part of the largest are 0, and sums below this part of their terms.
constexpr double round_off = 1e-9, cancelled = 1e-12;

[[noreturn]] void refuse(const std::string& message, const std::string& advice) {
  throw Error("bad-lyapunov-function", message, advice);
}

/// The k-th point of Halton's sequence in the unit cube.
double halton(std::size_t k, std::size_t dimension) {
  static constexpr std::size_t primes[most_dimensions] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  double result = 0.0, share = 1.0;
  for (const std::size_t base = primes[dimension]; k > 0; k /= base) {
    share /= static_cast<double>(base);
    result += share * static_cast<double>(k % base);
  }
  return result;
}

/// W and its gradient as functions of the states.
compile::Function compile_W(const Prepared& prepared, const LyapunovQuestion& question,
                            const std::vector<expr::Expr>& states, const std::vector<std::string>& names,
                            const compile::Switches& switches) {
  const model::Model& model = *prepared.model;
  const auto numbers = model.numbers();
  const expr::Expr W = model::read_expression(model, {"W", question.W});
  for (const expr::NodeId id : expr::symbols_of(W)) {
    const std::string name = expr::Expr(model.graph.get(), id).name();
    if (numbers.contains(id) || std::ranges::find(names, name) != names.end()) continue;
    refuse(fmt::format("W uses '{}', which is no state of this model", name),
           id == model.time.id() ? "W is a function of the motion alone: leave the time out"
                                 : fmt::format("it may use {}", fmt::join(names, ", ")));
  }
  std::vector<expr::Expr> outputs = expr::gradient(W, states);
  outputs.push_back(W);
  compile::Switches own = switches;
  return compile::compile({{states}, outputs, &numbers, compile::Request::NewSwitches::none}, own);
}

/// What the conditions are about at a state on the constraints.
struct Found {
  bool good = false;
  double W = 0.0, growth = 0.0, square = 0.0;  ///< W, W_eta q0, |W_eta|^2
};

template <class Form>
class Box {
 public:
  Box(Form& form, double t, const Vector& x, compile::Function W)
      : form_(form), t_(t), W_(std::move(W)), scratch_(W_.make_scratch()), gradient_(x.size() + 1) {
    const std::size_t d = form.eta_count();
    none_.assign(form.xi_count(), 0.0);
    for (auto* vector : {&slope_, &rates_, &step_}) vector->resize(d);
    tangents_.resize(d * x.size());
    matrix_.resize(d * d);
  }

  /// Begins at the state x, which is moved onto the constraints; false where that cannot be.
  bool begin(Vector x, double& violation) {
    Vector xi(form_.xi_count());
    center_.eta.resize(form_.eta_count());
    if (form_.reduce(t_, x.data(), xi.data(), center_.eta.data()) != Evaluation::ok) return false;
    violation = 0.0;
    for (const double value : xi) violation += 0.5 * value * value;
    for (double share = 0.5; share > 1e-3; share *= 0.5) {  // in halves, so that Newton's method contracts
      Vector part = xi;
      for (double& value : part) value *= share;
      if (form_.expand(t_, part.data(), center_.eta.data(), x.data()) != Evaluation::ok) return false;
    }
    center_.x = x;
    return form_.expand(t_, none_.data(), center_.eta.data(), center_.x.data()) == Evaluation::ok;
  }
  double W_at_start() { return look(center_).W; }

  /// Takes the names of the box; the error says what is wrong with them.
  void take(std::vector<model::Range> ranges, const std::vector<std::string>& names) {
    ranges_ = std::move(ranges);
    for (const model::Range& range : ranges_) {
      const auto found = std::ranges::find(names, range.name);
      if (found == names.end())
        refuse(fmt::format("the box has an interval of '{}', which is no state of this model", range.name),
               fmt::format("its states are {}", fmt::join(names, ", ")));
      place_.push_back(static_cast<std::size_t>(found - names.begin()));
    }
    if (place_.size() != form_.eta_count())
      refuse(
          fmt::format("the box has {} interval{}, and the motion on the constraints has {} coordinate{}", place_.size(),
                      place_.size() == 1 ? "" : "s", form_.eta_count(), form_.eta_count() == 1 ? "" : "s"),
          "give as many, of states that determine the others; `daedalus analyze MODEL --zero-dynamics` names some");
    Vector middle;
    for (const model::Range& range : ranges_) middle.push_back(0.5 * (range.low + range.high));
    Place there = center_;
    if (!travel(middle, there))
      refuse(fmt::format("the middle of the box, {}, is not reached from the start: {}", text(middle), explanation_),
             "give intervals around the start of states that determine the others");
    center_ = std::move(there);
  }

  const std::vector<model::Range>& ranges() const { return ranges_; }
  std::size_t states() const { return looked_; }
  std::string text(const Vector& s) const {
    std::string text;
    for (std::size_t k = 0; k < s.size(); ++k)
      text += fmt::format("{}{} = {}", k == 0 ? "" : ", ", ranges_[k].name, brief(s[k]));
    return text;
  }

  struct Sample {
    Vector s;
    Found found;
  };
  /// All states that are looked at first.
  std::vector<Sample> scatter() {
    const std::size_t d = ranges_.size();
    std::vector<Sample> samples;
    const auto add = [&](const std::function<double(std::size_t)>& share) {
      Vector s(d);
      for (std::size_t k = 0; k < d; ++k) s[k] = ranges_[k].low + share(k) * (ranges_[k].high - ranges_[k].low);
      samples.push_back({s, at(s)});
    };
    for (std::size_t i = 1; i <= scattered; ++i) add([&](std::size_t k) { return halton(i, k); });
    for (std::size_t i = 0; d <= most_corners && i < std::size_t{1} << d; ++i)
      add([&](std::size_t k) { return static_cast<double>((i >> k) & 1U); });
    return samples;
  }
  /// Points of the faces.
  std::vector<Sample> scatter_faces() {
    const std::size_t d = ranges_.size(), each = d == 1 ? 1 : scattered / (2 * d);
    std::vector<Sample> samples;
    for (std::size_t face = 0; face < 2 * d; ++face)
      for (std::size_t i = 1; i <= each; ++i) {
        Vector s(d);
        for (std::size_t k = 0, other = 0; k < d; ++k) {
          const double share = k == face / 2 ? static_cast<double>(face % 2) : halton(i, other++);
          s[k] = ranges_[k].low + share * (ranges_[k].high - ranges_[k].low);
        }
        samples.push_back({s, at(s)});
      }
    return samples;
  }

  using Measure = std::function<double(const Found&)>;
  /// The state of the box with the largest measure, from the best of the samples on; `fixed` keeps a coordinate.
  Sample largest(const std::vector<Sample>& samples, const Measure& measure, bool on_faces = false) {
    Sample best = samples.front();
    double most = -INFINITY;
    for (const Sample& sample : samples)
      if (const double value = measure(sample.found); value > most) {
        most = value;
        best = sample;
      }
    for (double step = first_step; step >= last_step;) {
      bool moved = false;
      for (std::size_t k = 0; k < ranges_.size(); ++k)
        for (const double direction : {-1.0, 1.0}) {
          if (on_faces && (best.s[k] == ranges_[k].low || best.s[k] == ranges_[k].high)) continue;
          Sample next{best.s, {}};
          next.s[k] = std::clamp(next.s[k] + direction * step * (ranges_[k].high - ranges_[k].low), ranges_[k].low,
                                 ranges_[k].high);
          if (next.s[k] == best.s[k]) continue;
          next.found = at(next.s);
          if (const double value = measure(next.found); value > most) {
            most = value;
            best = next;
            moved = true;
          }
        }
      if (!moved) step *= 0.5;
    }
    return best;
  }

 private:
  struct Place {
    Vector eta, x;
  };

  Found at(const Vector& s) {
    Place place = center_;
    if (!travel(s, place))
      refuse(fmt::format("the box holds {}, where the constraints cannot be solved in the coordinates of the start: {}",
                         text(s), explanation_),
             "give smaller intervals");
    return look(place);
  }

  Found look(const Place& place) {
    ++looked_;
    Found found;
    const double* inputs[] = {place.x.data()};
    W_(inputs, gradient_.data(), scratch_);
    found.W = gradient_.back();
    if (form_.tangents(t_, place.x.data(), tangents_.data()) != Evaluation::ok ||
        form_.rates(t_, place.x.data(), rates_.data()) != Evaluation::ok)
      return found;
    double terms = 0.0;
    for (std::size_t k = 0; k < rates_.size(); ++k) {
      double slope = 0.0;
      for (std::size_t j = 0; j + 1 < gradient_.size(); ++j) slope += gradient_[j] * tangents_[k * place.x.size() + j];
      found.growth += slope * rates_[k];
      terms += std::abs(slope * rates_[k]);
      found.square += slope * slope;
    }
    if (std::abs(found.growth) <= cancelled * terms) found.growth = 0.0;  // W is kept
    found.good = std::isfinite(found.W) && std::isfinite(found.growth) && std::isfinite(found.square);
    return found;
  }

  /// Goes to the state with these values of the box, in as many parts as Newton's method needs.
  bool travel(const Vector& s, Place& place) {
    Vector from;
    for (const std::size_t j : place_) from.push_back(place.x[j]);
    double done = 0.0, part = 1.0;
    while (done < 1.0) {
      const double next = std::min(1.0, done + part);
      Vector target(s);
      for (std::size_t k = 0; k < s.size() && next < 1.0; ++k) target[k] = from[k] + next * (s[k] - from[k]);
      Place trial = place;
      if (!solve(target, trial)) {
        part *= 0.5;
        if (part < 1e-3) return false;
        continue;
      }
      place = std::move(trial);
      done = next;
    }
    return true;
  }

  bool solve(const Vector& target, Place& place) {
    constexpr int most_iterations = 20;
    linalg::DenseLu lu(target.size());
    double last = INFINITY;
    for (int iteration = 0; iteration < most_iterations; ++iteration) {
      if (form_.expand(t_, none_.data(), place.eta.data(), place.x.data()) != Evaluation::ok) {
        explanation_ = form_.explain();
        return false;
      }
      double distance = 0.0;
      for (std::size_t k = 0; k < target.size(); ++k) {
        step_[k] = target[k] - place.x[place_[k]];
        distance = std::max(distance, std::abs(step_[k]) / (ranges_[k].high - ranges_[k].low));
      }
      if (distance <= 1e-13 || (distance <= 1e-10 && distance >= last)) return true;
      if (iteration > 1 && distance > 0.5 * last) break;
      last = distance;
      if (form_.tangents(t_, place.x.data(), tangents_.data()) != Evaluation::ok) {
        explanation_ = form_.explain();
        return false;
      }
      for (std::size_t i = 0; i < target.size(); ++i)
        for (std::size_t k = 0; k < target.size(); ++k)
          matrix_[i * target.size() + k] = tangents_[k * place.x.size() + place_[i]];
      if (!lu.factor(matrix_.data())) break;
      lu.solve(step_.data());
      for (std::size_t k = 0; k < target.size(); ++k) place.eta[k] += step_[k];
    }
    explanation_ = "these values do not determine a state near it";
    return false;
  }

  Form& form_;
  double t_;
  compile::Function W_;
  compile::Function::Scratch scratch_;
  Vector gradient_, none_, slope_, rates_, step_, tangents_, matrix_;
  std::vector<model::Range> ranges_;
  std::vector<std::size_t> place_;  ///< of the names of the box among the states
  Place center_;
  std::size_t looked_ = 0;
  std::string explanation_;
};

/// The largest (growth - gamma0)/W or square/W, if there is one.
template <class Form>
struct Quotient {
  typename Box<Form>::Sample worst;
  double value;
  bool bounded;
};

template <class Form>
Quotient<Form> largest_quotient(Box<Form>& box, const std::vector<typename Box<Form>::Sample>& samples,
                                double largest_W, const std::function<double(const Found&)>& dividend) {
  Quotient<Form> result{samples.front(), -INFINITY, true};
  int growths = 0;
  for (const double part : {1e-2, 1e-4, smallest_part}) {
    const auto measure = [&](const Found& found) {
      return found.W > part * largest_W ? dividend(found) / found.W : -INFINITY;
    };
    auto worst = box.largest(samples, measure);
    const double value = measure(worst.found);
    if (value > unbounded_growth * result.value && result.value > 0.0) ++growths;
    if (value > result.value || part == 1e-2) result = {std::move(worst), value, true};
  }
  result.bounded = growths < 2;
  return result;
}

template <class Form>
LyapunovFunction check(Box<Form>& box, const LyapunovQuestion& question, std::size_t violations) {
  LyapunovFunction out;
  out.box = box.ranges();
  out.violations = violations;
  const auto samples = box.scatter();
  double largest_W = 0.0, largest_rate = 0.0;
  for (const auto& sample : samples) {
    if (!sample.found.good)
      refuse(fmt::format("W or its derivative along the motion is not a finite number at {}", box.text(sample.s)),
             "give a smaller box, or another W");
    largest_W = std::max(largest_W, std::abs(sample.found.W));
  }
  const auto least = box.largest(samples, [](const Found& found) { return -found.W; });
  if (least.found.W < -round_off * largest_W)
    refuse(fmt::format("W is not positive definite: it is {} at {}", brief(least.found.W), box.text(least.s)),
           "W must be 0 at rest and positive elsewhere: add a constant, or give a smaller box");
  if (!(largest_W > 0.0)) refuse("W is 0 everywhere in the box", "W must be positive where the motion is not at rest");
  for (const auto& sample : samples)
    if (sample.found.W > smallest_part * largest_W)
      largest_rate = std::max(largest_rate, std::abs(sample.found.growth) / sample.found.W);

  const auto steepness =
      largest_quotient<Form>(box, samples, largest_W, [](const Found& found) { return found.square; });
  if (!steepness.bounded)
    refuse(fmt::format("|W_eta|^2/W has no bound, (26) and (32): it is {} at {}, where W = {}, and grows where W falls",
                       brief(steepness.value), box.text(steepness.worst.s), brief(steepness.worst.found.W)),
           "W must be flat where it is 0, like a square, or positive everywhere");
  out.W_bar = steepness.value;

  if (question.gamma) {
    out.gamma = *question.gamma;
    const double gamma = out.gamma;
    const auto worst = box.largest(samples, [gamma](const Found& found) { return found.growth - gamma * found.W; });
    const double excess = worst.found.growth - gamma * worst.found.W,
                 none = round_off * largest_W * std::max(largest_rate, std::abs(gamma));
    out.gamma0 = question.gamma0.value_or(std::max(excess <= none ? 0.0 : excess, 0.0));
    if (excess > out.gamma0 + none)
      refuse(fmt::format("W_eta q0 <= gamma W + gamma0, (25), does not hold with gamma = {} and gamma0 = {}: at {} the "
                         "left side is {}, "
                         "the right one {}",
                         brief(gamma), brief(out.gamma0), box.text(worst.s), brief(worst.found.growth),
                         brief(gamma * worst.found.W + out.gamma0)),
             "leave gamma and gamma0 out: the least that hold on the box are found");
  } else {
    const double gamma0 = question.gamma0.value_or(0.0);
    const auto rate =
        largest_quotient<Form>(box, samples, largest_W, [gamma0](const Found& found) { return found.growth - gamma0; });
    if (!rate.bounded && question.gamma0)
      refuse(
          fmt::format("W_eta q0 <= gamma W + gamma0, (25), holds for no gamma with gamma0 = {}: at {} the left side is "
                      "{} where W is {}",
                      brief(gamma0), box.text(rate.worst.s), brief(rate.worst.found.growth), brief(rate.worst.found.W)),
          "leave gamma0 out: a pair that holds on the box is found");
    out.gamma = std::abs(rate.value) <= round_off * largest_rate ? 0.0 : rate.value;
    out.gamma0 = gamma0;
    if (!rate.bounded) {
      out.gamma = 0.0;
      for (const auto& sample : samples)
        if (sample.found.W > 0.1 * largest_W) out.gamma = std::max(out.gamma, sample.found.growth / sample.found.W);
      const double gamma = out.gamma;
      const auto worst = box.largest(samples, [gamma](const Found& found) { return found.growth - gamma * found.W; });
      out.gamma0 = std::max(0.0, worst.found.growth - gamma * worst.found.W);
    }
  }

  out.decays = out.gamma < 0.0 && out.gamma0 <= 0.0;
  if (question.beta && !(out.decays && *question.beta > 0.0 && *question.beta < -out.gamma))
    refuse(fmt::format("beta = {} is not between 0 and -gamma = {}{}", brief(*question.beta), brief(-out.gamma),
                       out.decays ? "" : ": W does not decay along the zero dynamics"),
           out.decays ? "leave it out: half of that is taken" : "leave it out: any delta will do");
  if (out.decays) {
    out.beta = question.beta.value_or(-0.5 * out.gamma);
    out.delta_bar = std::sqrt(static_cast<double>(violations) * out.W_bar / (2.0 * out.beta));
    out.epsilon_bar = -out.gamma - out.beta;
  }
  const auto lowest = box.largest(
      box.scatter_faces(), [](const Found& found) { return -found.W; }, true);
  out.edge = lowest.found.W;
  out.states = box.states();
  return out;
}

template <class Form>
LyapunovFunction ask(Form& form, const Prepared& prepared, const Start& start, double t,
                     const LyapunovQuestion& question, const std::vector<std::string>& names, compile::Function W) {
  if (form.choose(t, start.x.data()) != Evaluation::ok)
    refuse("the start has no coordinates in which W could be checked: " + form.explain(),
           "start elsewhere, or leave W out");
  const std::size_t d = form.eta_count();
  if (d == 0 || d > most_dimensions)
    refuse(d == 0
               ? std::string("nothing moves on the constraints: there is nothing that W could be a function of")
               : fmt::format(
                     "the motion on the constraints has {} coordinates: a box of so many cannot be looked through", d),
           fmt::format("leave W out; it is for motions with 1 to {} coordinates", most_dimensions));
  Box<Form> box(form, t, start.x, std::move(W));
  double violation = 0.0;
  if (!box.begin(start.x, violation))
    refuse("the way from the start to the constraints leaves the domain of the coordinates: " + form.explain(),
           "start nearer, or leave W out");
  const double begun = box.W_at_start() + violation;
  box.take(model::read_ranges(*prepared.model, {"box", question.box}), names);
  LyapunovFunction out = check(box, question, form.xi_count());
  out.start = begun;
  return out;
}

}  // namespace

LyapunovFunction check_lyapunov_function(const Prepared& prepared, const Start& start, double t,
                                         const LyapunovQuestion& question) {
  if (!is_autonomous(prepared)) refuse("the motion depends on time, and W is for motions that do not", "leave W out");
  std::vector<expr::Expr> states;
  std::vector<std::string> names;
  if (prepared.functions) {
    const mechanics::Functions& fn = *prepared.functions;
    if (fn.m == 0)
      refuse("the model has no constraints: there are no violations that W could say something about", "leave W out");
    names = fn.state_names();
    states = fn.equations.q;
    states.insert(states.end(), fn.equations.v.begin(), fn.equations.v.end());
    for (const std::size_t i : fn.differential) states.push_back(fn.equations.z[i]);
    formulate::MechanicalNormalForm form(
        prepared.functions, question.momentum ? mechanics::Completion::momentum : mechanics::Completion::velocity);
    if (!start.guess.empty()) form.evaluator().guess_auxiliary(start.guess);
    return ask(form, prepared, start, t, question, names, compile_W(prepared, question, states, names, fn.switches));
  }
  const auto& functions = prepared.solvable_dae();
  for (std::size_t i = 0; i < functions->differential; ++i) {
    names.push_back(functions->unknowns[i].name);
    states.push_back(functions->equations.y[i]);
  }
  formulate::DaeNormalForm form(functions);
  if (!start.guess.empty()) {
    const auto middle = start.guess.begin() + static_cast<std::ptrdiff_t>(start.guess.size() / 2);
    form.evaluator().guess({start.guess.begin(), middle}, {middle, start.guess.end()});
  }
  return ask(form, prepared, start, t, question, names,
             compile_W(prepared, question, states, names, functions->switches));
}

namespace {

/// With the gains of a run.
std::vector<std::string> describe(const LyapunovFunction& function, double delta, double epsilon) {
  std::vector<std::string> lines;
  const bool promised = delta >= function.delta_bar && epsilon >= function.epsilon_bar;
  const double beta = static_cast<double>(function.violations) * function.W_bar / (2.0 * delta * delta),
               rate = function.gamma + beta;
  lines.push_back(fmt::format(
      "W: at {} states of the box W_eta q0 <= {} W{}, (25), and |W_eta|^2 <= {} W, (26) and (32)", function.states,
      brief(function.gamma), function.gamma0 == 0.0 ? "" : " + " + brief(function.gamma0), brief(function.W_bar)));
  if (!function.decays) {
    lines.push_back(
        fmt::format("W: every delta keeps V = W + |xi|^2/2 from growing faster than exponentially; with delta = {} {}",
                    brief(delta),
                    function.gamma0 == 0.0 ? fmt::format("V <= V(0) exp({} t)", brief(rate))
                                           : fmt::format("V' <= {} V + {}", brief(rate), brief(function.gamma0))));
  } else {
    lines.push_back(
        fmt::format("W: delta_bar = {} and epsilon_bar = {}, with beta = {}: from them on V = W + |xi|^2/2 falls at "
                    "least like exp({} t)",
                    brief(function.delta_bar), brief(function.epsilon_bar), brief(function.beta),
                    brief(function.gamma + function.beta)));
    if (!promised)
      lines.push_back(fmt::format("W: delta = {} and epsilon = {} are not both as large, so that this is not promised",
                                  brief(delta), brief(epsilon)));
  }
  lines.push_back(fmt::format("W: that holds in the box, on whose faces W is {} at least; V(0) = {}, {}",
                              brief(function.edge), brief(function.start),
                              function.start >= function.edge || !promised ? "so that the run may leave it"
                              : function.decays                            ? "so that the run stays inside"
                                                                           : "so that the run is inside for a while"));
  return lines;
}

}  // namespace

std::vector<std::string> follow_lyapunov_function(const Prepared& prepared, const Start& start, double t_start,
                                                  double t_end, Choice& choice) {
  if (choice.name != "lyapunov" || !start.found) return {};
  const Options options(choice, formulate::formulation(choice.name).options);
  if (!options.given("W")) {
    for (const char* name : {"box", "gamma", "gamma0", "beta"})
      if (options.given(name))
        refuse(fmt::format("'{}' says something about W, and there is no W", name), "give W, too, or leave it out");
    return {};
  }
  if (!options.given("box")) {
    const std::vector<std::string> names =
        zero_dynamics(prepared, t_start, ZeroDynamics::Look::at_coordinates).coordinates;
    std::string example;
    for (const std::string& name : names) example += fmt::format("{}{} in -1..1", example.empty() ? "" : " and ", name);
    refuse("W is checked in a box, and there is none", example.empty()
                                                           ? "give box, such as box=x in -1..1 and der(x) in -1..1"
                                                           : fmt::format("give it, as in box={}", example));
  }
  LyapunovQuestion question{options.word("W"), options.word("box"), {}, {}, {}, options.word("psi") == "momentum"};
  for (const auto& [name, value] :
       {std::pair{"gamma", &question.gamma}, {"gamma0", &question.gamma0}, {"beta", &question.beta}})
    if (options.given(name)) *value = options.number(name);
  const LyapunovFunction function = check_lyapunov_function(prepared, start, t_start, question);
  double delta = options.number("delta"),
         epsilon = t_end > t_start ? formulate::least_decay / (t_end - t_start) : function.epsilon_bar;
  if (options.given("epsilon")) {
    epsilon = options.number("epsilon");
  } else {
    epsilon = std::max(epsilon, function.epsilon_bar);
    choice.options.emplace_back("epsilon", shortest(epsilon));
  }
  if (!options.given("delta") && function.decays) {
    delta = function.delta_bar;
    choice.options.emplace_back("delta", shortest(delta));
  }
  return describe(function, delta, epsilon);
}

}  // namespace daedalus::solve
