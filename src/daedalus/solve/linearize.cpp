// With F(t, x, x', u) = 0 and a solution of it at hand, small deviations satisfy F_x' x' + F_x x + F_u u = 0 up to second order:
// E = F_x', A = -F_x, B = -F_u at the point. Along a motion the coefficients change with time, and those of one moment are
// good for times in which the motion changes little; at an equilibrium they are good for ever. Mechanics is taken with its
// multipliers as unknowns and its constraints on the position level, index 3, so that nothing is lost or added.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "daedalus/base/text.hpp"
#include "daedalus/compile/implicit_function.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/mechanics/evaluator.hpp"
#include "daedalus/mechanics/implicit.hpp"
#include "daedalus/solve/linear_model.hpp"

namespace daedalus::solve {

using expr::Expr;
using expr::NodeId;

namespace {

/// F(t, y, y') = 0 with the numbers of a point.
struct Point {
  compile::ImplicitEquations equations;
  std::vector<std::string> names;
  std::vector<double> nominal;
  std::vector<double> y, dy;
};

/// The values of a model at a time, by name.
using Values = std::map<std::string, double>;

Values values_at(const Prepared& prepared, double t, RunOptions options) {
  const model::Model& model = *prepared.model;
  const double t_start = start_time(model, options);
  Values values;
  if (t == t_start) {
    const Start start = consistent_start(prepared, t_start, initialize_mode(model, options));
    if (!start.found) throw Error("no-linearization", fmt::format("there is no point at t = {}: {}", brief(t), start.message),
                                  "`daedalus init` says more about the start", {model.source});
    for (const auto& [name, value] : start.values) values[name] = value;
    if (prepared.functions) {
      const std::vector<std::string> names = prepared.functions->state_names();
      for (std::size_t i = 0; i < names.size(); ++i) values[names[i]] = start.x[i];
    }
    return values;
  }
  if (t < t_start)
    throw Error("no-linearization", fmt::format("--at {} lies before the start at t = {}", brief(t), brief(t_start)),
                "give a time at or after it");
  options.t_end = t;
  options.rows = Rows::ends;
  if (!options.rtol) options.rtol = 1e-10;
  const Trajectory run = simulate(prepared, options);
  if (!run.success() || run.t.empty() || std::abs(run.t.back() - t) > 1e-12 * std::max(1.0, std::abs(t)))
    throw Error("no-linearization", fmt::format("the run does not reach t = {}: {}", brief(t), run.message.empty() ? "an event ended it" : run.message),
                "give an earlier time, or see what `daedalus simulate` says", {model.source});
  for (const std::string& column : run.columns) values[column] = run.last(column);
  return values;
}

double value_of(const Values& values, const std::string& name) {
  const auto found = values.find(name);
  return found == values.end() ? 0.0 : found->second;
}

Point dae_point(const structure::DaeFunctions& fn, const Values& values) {
  Point point;
  point.equations = fn.equations;
  for (const auto& unknown : fn.unknowns) {
    point.names.push_back(unknown.name);
    point.nominal.push_back(unknown.of->nominal);
    point.y.push_back(value_of(values, unknown.name));
    point.dy.push_back(value_of(values, model::derivative_name(unknown.of->name, unknown.times + 1)));
  }
  return point;
}

Point motion_point(const Prepared& prepared, double t, const Values& values) {
  const std::shared_ptr<const mechanics::Functions>& functions = prepared.functions;
  const mechanics::Equations& eq = functions->equations;
  std::vector<double> x;
  for (const std::string& name : functions->state_names()) x.push_back(value_of(values, name));
  mechanics::Evaluator evaluator(functions);
  std::vector<double> w(eq.z.size(), 0.0);
  for (const std::size_t i : functions->algebraic) w[i] = value_of(values, eq.z[i].name());
  evaluator.guess_auxiliary(w);
  if (evaluator.accelerations(t, x.data()) != mechanics::Outcome::ok)
    throw Error("no-linearization", "there are no accelerations at the point: " + evaluator.explain(), "choose another time with --at");
  Point point;
  point.equations = mechanics::motion_symbols(*functions, mechanics::Level::position);
  for (const Expr& symbol : point.equations.y) point.names.push_back(symbol.name());
  const std::size_t n = functions->n;
  point.y = x;
  point.dy.assign(x.begin() + static_cast<std::ptrdiff_t>(n), x.begin() + static_cast<std::ptrdiff_t>(2 * n));
  point.dy.insert(point.dy.end(), evaluator.a().begin(), evaluator.a().end());
  for (const std::size_t i : functions->differential) point.dy.push_back(evaluator.w()[i]);
  for (const std::size_t i : functions->algebraic) point.y.push_back(evaluator.w()[i]);
  point.y.insert(point.y.end(), evaluator.lambda().begin(), evaluator.lambda().end());
  point.dy.resize(point.y.size(), 0.0);
  point.nominal.assign(point.y.size(), 1.0);
  for (std::size_t i = 0; i < n; ++i) point.nominal[i] = point.nominal[n + i] = eq.model->variables[i].nominal;
  return point;
}

/// What a person may name: symbols and formulas of a model.
class Names {
 public:
  Names(const Prepared& prepared, const Point& point) : model_(*prepared.model) {
    for (std::size_t i = 0; i < point.names.size(); ++i) quantities_.emplace(point.names[i], point.equations.y[i]);
    for (const auto& unknown : model_.variables)
      for (std::size_t k = 0; k < unknown.rates.size(); ++k)
        quantities_.try_emplace(model::derivative_name(unknown.name, k + 1), unknown.rates[k]);
    for (const model::Named& output : model_.outputs) quantities_.try_emplace(output.name, output.value);
  }

  /// The symbol that stands for an input, and whether it is a deviation.
  Expr input(const std::string& name) const {
    for (const std::string& wanted : {deviation_prefix + name, name})
      for (const model::Parameter& parameter : model_.parameters)
        if (parameter.name == wanted) return parameter.symbol;
    std::vector<std::string> known;
    for (const model::Named& one : model_.inputs) known.push_back(one.name);
    for (const model::Parameter& parameter : model_.parameters)
      if (parameter.name.find(deviation_prefix) == std::string::npos) known.push_back(parameter.name);
    throw Error("unknown-name", fmt::format("the model has no input or parameter '{}'", name), suggest(name, known), {model_.source});
  }

  Expr output(const std::string& name) const {
    const auto found = quantities_.find(name);
    if (found != quantities_.end()) return found->second;
    std::vector<std::string> known;
    for (const auto& [one, value] : quantities_) known.push_back(one);
    throw Error("unknown-name", fmt::format("the model has no output or variable '{}'", name), suggest(name, known), {model_.source});
  }

 private:
  const model::Model& model_;
  std::map<std::string, Expr> quantities_;
};

/// Partial derivatives of expressions by symbols, with numbers for everything.
linalg::DenseMatrix partials(const std::vector<Expr>& of, const std::vector<Expr>& by,
                             const std::unordered_map<NodeId, double>& numbers) {
  auto result = linalg::DenseMatrix::zero(of.size(), by.size());
  if (of.empty() || by.empty()) return result;
  const expr::SparseExpr entries = expr::jacobian(of, by);
  for (std::size_t i = 0; i < entries.rows; ++i)
    for (std::size_t k = entries.row_start[i]; k < entries.row_start[i + 1]; ++k)
      result(i, entries.column[k]) = expr::evaluate(entries.value[k], numbers);
  return result;
}

/// Answers inputs whose derivatives the equations contain: u' is not among the inputs of a linear model.
void refuse_rates(const model::Model& model, const std::vector<std::string>& inputs, const std::vector<Expr>& F,
                  const std::unordered_map<NodeId, double>& numbers) {
  for (const std::string& name : inputs) {
    std::vector<Expr> rates;
    for (const std::size_t order : {1, 2})
      for (const model::Parameter& parameter : model.parameters)
        if (parameter.name == model::derivative_name(deviation_prefix + name, order)) rates.push_back(parameter.symbol);
    for (const double value : partials(F, rates, numbers).entries)
      if (value != 0.0)
        throw Error("no-linearization", fmt::format("the equations contain derivatives of the input '{}'", name),
                    "let a variable follow it, x = u, or take its derivative as the input", {model.source});
  }
}

}  // namespace

LinearModel linearize(const Prepared& prepared, double t, const Ports& ports, const RunOptions& options) {
  const model::Model& model = *prepared.model;
  const Values values = values_at(prepared, t, options);
  const Point point = prepared.functions ? motion_point(prepared, t, values) : dae_point(*prepared.dae, values);
  const compile::ImplicitEquations& eq = point.equations;
  const std::size_t n = point.y.size();

  LinearModel out;
  out.name = model.name;
  out.deviations = true;
  out.t = t;
  out.states = point.names;
  out.point = point.y;
  out.inputs = ports.inputs;
  out.outputs = ports.outputs;
  for (std::size_t i = 0; i < n; ++i)
    if (eq.dy[i].valid()) out.fastest = std::max(out.fastest, std::abs(point.dy[i]) / point.nominal[i]);

  const Names names(prepared, point);
  auto numbers = model.numbers();
  std::vector<Expr> inputs, outputs;
  for (const std::string& name : ports.inputs) {
    inputs.push_back(names.input(name));
    double at = numbers.at(inputs.back().id());
    for (const model::Named& input : model.inputs)
      if (input.name == name) {
        auto with_time = numbers;
        with_time[model.time.id()] = t;
        at = expr::evaluate(input.value, with_time);
      }
    out.input_point.push_back(at);
  }
  for (const std::string& name : ports.outputs) outputs.push_back(names.output(name));
  if (prepared.functions && !outputs.empty()) outputs = expr::substitute(outputs, mechanics::reactions(prepared.functions->equations, outputs));

  // Jacobians of F as functions, B and the outputs by their formulas.
  compile::Switches switches = prepared.functions ? prepared.functions->switches : prepared.dae->switches;
  const compile::ImplicitFunction F = compile::compile_implicit(eq, numbers, switches, compile::Request::NewSwitches::none);
  std::vector<double> jacobian(F.jacobian.output_count());
  auto scratch = F.jacobian.make_scratch();
  const double* blocks[] = {&t, point.y.data(), point.dy.data()};
  F.jacobian(blocks, jacobian.data(), scratch);
  out.pattern = F.pattern;
  const auto middle = jacobian.begin() + static_cast<std::ptrdiff_t>(F.pattern.nonzeros());
  out.A.assign(jacobian.begin(), middle);
  for (double& value : out.A) value = -value;
  out.E.assign(middle, jacobian.end());
  for (const double value : jacobian)
    if (!std::isfinite(value))
      throw Error("no-linearization", fmt::format("a derivative of the equations is not finite at t = {}", brief(t)), "choose another time with --at");

  numbers[eq.t.id()] = t;
  for (std::size_t i = 0; i < n; ++i) {
    numbers[eq.y[i].id()] = point.y[i];
    if (eq.dy[i].valid()) numbers[eq.dy[i].id()] = point.dy[i];
  }
  for (const model::Parameter& parameter : model.parameters)
    if (parameter.name == deviation_prefix + "time") numbers[parameter.symbol.id()] = t;
  refuse_rates(model, ports.inputs, eq.F, numbers);
  out.B = partials(eq.F, inputs, numbers);
  for (double& value : out.B.entries) value = -value;
  // An output that contains the highest derivatives is not a function of the state alone.
  std::vector<Expr> rates;
  for (const Expr& rate : eq.dy)
    if (rate.valid()) rates.push_back(rate);
  for (std::size_t k = 0; k < outputs.size(); ++k)
    for (const double value : partials({outputs[k]}, rates, numbers).entries)
      if (value != 0.0)
        throw Error("no-linearization", fmt::format("the output '{}' contains highest derivatives, which are not states", ports.outputs[k]),
                    "name a variable, its velocity, a multiplier or a function of these", {model.source});
  out.C = partials(outputs, eq.y, numbers);
  out.D = partials(outputs, inputs, numbers);
  for (const Expr& output : outputs) out.output_point.push_back(expr::evaluate(output, numbers));
  return out;
}

}  // namespace daedalus::solve
