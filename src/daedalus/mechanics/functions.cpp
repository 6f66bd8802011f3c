#include "daedalus/mechanics/functions.hpp"

#include <fmt/format.h>

#include "daedalus/compile/native.hpp"
#include "daedalus/expr/substitute.hpp"

namespace daedalus::mechanics {

using expr::NodeId;

namespace {

linalg::Sparsity pattern_of(const SparseExpr& matrix) {
  return {matrix.rows, matrix.columns, matrix.row_start, matrix.column};
}

void append(std::vector<Expr>& to, const std::vector<Expr>& from) { to.insert(to.end(), from.begin(), from.end()); }

/// t, q, v, z_d, w: what the motion depends on.
std::vector<std::vector<Expr>> moving(const Equations& eq) {
  std::vector<Expr> z_d, w;
  for (std::size_t i = 0; i < eq.z.size(); ++i) {
    if (eq.z_differential[i]) z_d.push_back(eq.z[i]);
    w.push_back(eq.z_differential[i] ? eq.z_rate[i] : eq.z[i]);
  }
  return {{eq.t}, eq.q, eq.v, z_d, w};
}

/// M, f, G, gamma
std::vector<Expr> motion_of(const Equations& eq) {
  std::vector<Expr> values = eq.M.value;
  append(values, eq.f);
  append(values, eq.G.value);
  for (const Constraint& constraint : eq.constraints) values.push_back(constraint.gamma);
  return values;
}

/// M, G and position residuals. M may depend on auxiliary unknowns only by mistake; the reader refuses it, so that t and q
/// suffice.
std::vector<Expr> geometry_of(const Equations& eq) {
  std::vector<Expr> values = eq.M.value;
  append(values, eq.G.value);
  for (const Constraint& constraint : eq.constraints)
    if (constraint.holonomic) values.push_back(constraint.position);
  return values;
}

/// A k-th derivative of a table exists, as a function, where the (k-1)-th is continuous. Constraints with rougher tables
/// would need impulses at the knots.
void check_tables(const Equations& equations) {
  const expr::Graph& graph = *equations.model->graph;
  Faults faults;
  for (const Constraint& constraint : equations.constraints) {
    const std::vector<Expr> levels{constraint.velocity, constraint.gamma};
    for (const NodeId id : expr::reachable(levels)) {
      if (graph.node(id).op != expr::Op::lookup) continue;
      const expr::Graph::TableUse use = graph.table(graph.node(id).index);
      if (!use.data || use.times <= use.data->smoothness() + 1) continue;
      const std::string name = graph.table_name(graph.node(id).index);
      faults.add("table-not-smooth",
                 fmt::format("the constraint '{}' needs {} of the table '{}', which its interpolation does not have",
                             constraint.name, use.times == 1 ? "the first derivative" : "the second derivative",
                             name.substr(0, name.find('\''))),
                 use.times == 1 ? "write interpolation = \"linear\", \"monotone\" or \"spline\""
                                : "write interpolation = \"monotone\" or \"spline\"",
                 constraint.place);
      break;
    }
  }
  faults.throw_if_any();
}

}  // namespace

std::unordered_map<NodeId, Expr> reactions(const Equations& equations, const std::vector<Expr>& outputs) {
  const model::Model& model = *equations.model;
  std::unordered_map<std::string, std::size_t> row, column;
  for (std::size_t i = 0; i < equations.constraints.size(); ++i) row.emplace(equations.constraints[i].name, i);
  for (std::size_t j = 0; j < equations.q.size(); ++j) column.emplace(equations.q[j].name(), j);
  std::unordered_map<NodeId, Expr> replacement;
  constexpr std::string_view prefix = "reaction.";
  for (const NodeId id : expr::symbols_of(outputs)) {
    const Expr symbol{model.graph.get(), id};
    if (!symbol.name().starts_with(prefix)) continue;
    const std::size_t dot = symbol.name().find('.', prefix.size());  // names of the author have no dots
    const std::size_t i = row.at(symbol.name().substr(prefix.size(), dot - prefix.size()));
    const Expr entry = equations.G.at(i, column.at(symbol.name().substr(dot + 1)));
    replacement.emplace(id, entry.valid() ? -(entry * equations.lambda[i]) : model.graph->constant(0.0));
  }
  return replacement;
}

std::vector<std::string> Functions::state_names() const {
  std::vector<std::string> names;
  for (const Expr& q : equations.q) names.push_back(q.name());
  for (const Expr& v : equations.v) names.push_back(v.name());
  for (const std::size_t i : differential) names.push_back(equations.z[i].name());
  return names;
}

std::shared_ptr<const Functions> compile_functions(Equations derived) {
  auto result = std::make_shared<Functions>();
  result->equations = std::move(derived);
  Functions& out = *result;
  const Equations& eq = out.equations;
  const model::Model& model = *eq.model;
  out.n = eq.q.size();
  out.m = eq.constraints.size();
  for (std::size_t i = 0; i < out.m; ++i)
    if (eq.constraints[i].holonomic) out.holonomic_rows.push_back(i);
  out.holonomic = out.holonomic_rows.size();

  for (std::size_t i = 0; i < eq.z.size(); ++i) (eq.z_differential[i] ? out.differential : out.algebraic).push_back(i);
  const std::vector<std::vector<Expr>> all_moving = moving(eq);
  const std::vector<Expr>& w = all_moving.back();

  check_tables(eq);
  out.mass = pattern_of(eq.M);
  out.jacobian = pattern_of(eq.G);
  const auto numbers = model.numbers();
  const std::vector<Expr> time{eq.t};
  std::vector<Expr> discrete;
  for (const model::Parameter& value : model.discrete) discrete.push_back(value.symbol);
  out.switches.hold(discrete);
  const auto make = [&](std::vector<std::vector<Expr>> inputs, std::vector<Expr> outputs) {
    return compile::compile({std::move(inputs), std::move(outputs), &numbers}, out.switches);
  };
  // What is only looked at must not change the steps.
  const auto make_view = [&](std::vector<std::vector<Expr>> inputs, std::vector<Expr> outputs) {
    return compile::compile({std::move(inputs), std::move(outputs), &numbers, compile::Request::NewSwitches::none},
                            out.switches);
  };

  std::vector<Expr> position, velocity;
  for (const Constraint& constraint : eq.constraints) {
    if (constraint.holonomic) position.push_back(constraint.position);
    velocity.push_back(constraint.velocity);
  }
  out.motion = make(all_moving, motion_of(eq));
  out.geometry = make({time, eq.q}, geometry_of(eq));
  out.velocity = make({time, eq.q, eq.v}, velocity);

  std::vector<Expr> terms;
  const auto add_terms = [&](const std::vector<Expr>& residuals, std::vector<std::size_t>& start) {
    start.push_back(terms.size());
    for (const Expr& residual : residuals) {
      append(terms, expr::terms_of(residual));
      start.push_back(terms.size());
    }
  };
  add_terms(position, out.position_term_start);
  add_terms(velocity, out.velocity_term_start);
  out.terms = make_view({time, eq.q, eq.v}, terms);

  if (!model.invariants.empty()) {
    std::vector<Expr> state = eq.q, kept = position;
    append(state, eq.v);
    append(state, all_moving[3]);
    append(kept, velocity);
    for (const model::Equation& invariant : model.invariants) kept.push_back(invariant.residual);
    out.kept = compile::compile_state_equations(kept, eq.t, state, numbers, out.switches);
  }

  if (!w.empty()) {
    const SparseExpr jacobian = expr::jacobian(eq.auxiliary, w);
    out.auxiliary_jacobian = pattern_of(jacobian);
    std::unordered_set<NodeId> unknown;
    for (const Expr& e : w) unknown.insert(e.id());
    for (const bool depends : expr::dependence(jacobian.value, unknown)) out.auxiliary_linear &= !depends;
    std::vector<Expr> auxiliary = eq.auxiliary;
    append(auxiliary, jacobian.value);
    out.auxiliary = make(all_moving, auxiliary);
  }

  if (eq.kinetic) out.energy = make_view(all_moving, {*eq.kinetic, *eq.potential});

  const auto make_seen = [&](const std::vector<Expr>& seen) {
    std::vector<std::vector<Expr>> all = all_moving;
    all.push_back(eq.a);
    all.push_back(eq.lambda);
    if (seen.empty()) return compile::Function{};
    return compile::called_seldom(make_view(std::move(all), expr::substitute(seen, reactions(eq, seen))));
  };
  std::vector<Expr> outputs, pictures;
  for (const model::Named& output : model.outputs) outputs.push_back(output.value);
  for (const auto& [name, coordinates] : model.drawing.points) append(pictures, coordinates);
  for (const model::Plot& plot : model.plots) {
    pictures.push_back(plot.x_value);
    append(pictures, plot.y_values);
  }
  out.outputs = make_seen(outputs);
  out.pictures = make_seen(pictures);
  return result;
}

std::shared_ptr<const Functions> with_unit_masses(const Functions& functions) {
  auto result = std::make_shared<Functions>(functions);
  Functions& out = *result;
  SparseExpr& M = out.equations.M;
  const Equations& eq = out.equations;
  M = SparseExpr();
  M.rows = M.columns = out.n;
  for (std::size_t i = 0; i < out.n; ++i) {
    M.column.push_back(i);
    M.value.push_back(eq.model->graph->constant(1.0));
    M.row_start.push_back(i + 1);
  }
  out.mass = pattern_of(M);

  const auto numbers = eq.model->numbers();
  const auto make = [&](std::vector<std::vector<Expr>> inputs, std::vector<Expr> outputs) {
    return compile::compile({std::move(inputs), std::move(outputs), &numbers, compile::Request::NewSwitches::none},
                            out.switches);
  };
  out.motion = make(moving(eq), motion_of(eq));
  out.geometry = make({{eq.t}, eq.q}, geometry_of(eq));
  return result;
}

}  // namespace daedalus::mechanics
