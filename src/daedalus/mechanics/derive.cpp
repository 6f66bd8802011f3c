// From a Lagrangian to the equations of constrained motion.
//
//     d/dt (dL/dv) - dL/dq + G^T lambda = Q - dD/dv
//
// With p = dL/dv(q, v, z, t), linear in v:  d/dt p = M a + p_q v + p_z z' + p_t, M = dp/dv, so that
//
//     M a = f - G^T lambda,     f = Q - dD/dv + dL/dq - (p_q v + p_z z' + p_t).
//
// The bracket is one forward sweep along (q, z, t) -> (v, z', 1): no Christoffel symbol is needed for numbers.
//
// Constraints: g(q, t) = 0 gives G v + g_t = 0 and G a = gamma with
//     gamma = -(v^T g_qq v + 2 g_qt v + g_tt),
// the derivative of the velocity level along (q, t) -> (v, 1). (The notes 000 drop one of the two mixed terms in (4.5),
// (4.6c) and (4.21).) A nonholonomic constraint enters at the velocity level.

#include "daedalus/mechanics/derive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <unordered_set>

#include "daedalus/expr/print.hpp"
#include "daedalus/expr/substitute.hpp"

namespace daedalus::mechanics {

using expr::Direction;
using expr::Graph;
using expr::NodeId;

namespace {

/// Whether `e`, which contains some of `symbols`, really varies with them: two random points that differ in them only.
bool varies(Expr e, const std::vector<Expr>& symbols) {
  std::mt19937_64 random(12345);
  std::uniform_real_distribution<double> uniform(0.2, 1.2);
  const std::vector<NodeId> used = expr::symbols_of(e);
  for (int trial = 0; trial < 3; ++trial) {
    std::unordered_map<NodeId, double> values;
    for (const NodeId id : used) values[id] = uniform(random);
    const double first = expr::evaluate(e, values);
    for (const Expr& symbol : symbols)
      if (values.contains(symbol.id())) values[symbol.id()] = uniform(random);
    const double second = expr::evaluate(e, values);
    if (std::abs(first - second) > 1e-9 * (std::abs(first) + std::abs(second))) return true;
  }
  return false;
}

std::unordered_set<NodeId> set_of(const std::vector<Expr>& symbols) {
  std::unordered_set<NodeId> set;
  for (const Expr& symbol : symbols) set.insert(symbol.id());
  return set;
}

std::unordered_map<NodeId, Expr> zeros_for(const std::vector<Expr>& symbols) {
  std::unordered_map<NodeId, Expr> zeros;
  for (const Expr& symbol : symbols) zeros.emplace(symbol.id(), symbol.graph().constant(0.0));
  return zeros;
}

/// Makes a matrix that must not depend on the velocities free of them: by the letter where it is, by numbers where
/// simplification alone does not show it. Returns the first row that does depend, or the number of rows.
std::size_t free_of_velocity(SparseExpr& matrix, const std::vector<Expr>& v) {
  const std::vector<bool> dependent = expr::dependence(matrix.value, set_of(v));
  for (std::size_t i = 0; i < matrix.rows; ++i)
    for (std::size_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      Expr& entry = matrix.value[k];
      if (!dependent[k]) continue;
      if (varies(entry, v)) return i;
      entry = expr::substitute(entry, zeros_for(v));
    }
  return matrix.rows;
}

class Derivation {
 public:
  explicit Derivation(std::shared_ptr<const model::Model> model) : model_(*model) { out_.model = std::move(model); }

  Equations operator()() {
    collect_symbols();
    if (model_.kind == model::Kind::mechanical)
      mass_and_force();
    else
      lagrangian();
    constraints();
    out_.auxiliary.reserve(model_.equations.size());
    for (const model::Equation& equation : model_.equations) out_.auxiliary.push_back(equation.residual);
    judge_energy();
    return std::move(out_);
  }

 private:
  void collect_symbols() {
    out_.t = model_.time;
    for (const model::Unknown& unknown : model_.variables) {
      out_.q.push_back(unknown.symbol);
      out_.v.push_back(unknown.rates.at(0));
      out_.a.push_back(unknown.rates.at(1));
    }
    for (const model::Unknown& unknown : model_.auxiliary) {
      out_.z.push_back(unknown.symbol);
      out_.z_rate.push_back(unknown.rates.empty() ? graph().symbol(model::derivative_name(unknown.name, 1))
                                                  : unknown.rates.front());
    }
    out_.lambda = model_.multipliers;
    const std::unordered_set<NodeId> rates = set_of(out_.z_rate);
    std::unordered_set<NodeId> seen;
    std::vector<Expr> roots;
    for (const model::Equation& equation : model_.equations) roots.push_back(equation.residual);
    for (const NodeId id : expr::symbols_of(roots))
      if (rates.contains(id)) seen.insert(id);
    for (const Expr& rate : out_.z_rate) out_.z_differential.push_back(seen.contains(rate.id()));
    for (std::size_t i = 0; i < out_.q.size(); ++i) along_.emplace(out_.q[i].id(), out_.v[i]);
    along_.emplace(out_.t.id(), graph().constant(1.0));
  }

  void lagrangian() {
    const Expr L = model_.lagrangian ? *model_.lagrangian
                                     : *model_.kinetic - model_.potential.value_or(graph().constant(0.0));
    const std::vector<Expr> p = expr::gradient(L, out_.v);
    out_.M = expr::jacobian(p, out_.v);
    if (const std::size_t row = free_of_velocity(out_.M, out_.v); row < out_.M.rows)
      throw Error("not-quadratic",
                  fmt::format("the Lagrangian is not quadratic in the velocities: its part with {} is {}",
                              out_.v[row].name(), expr::to_text(p[row])),
                  "kinetic energy must be at most quadratic in the velocities, with factors that depend on coordinates "
                  "and time alone");
    Direction along = along_;
    for (std::size_t i = 0; i < out_.z.size(); ++i)
      if (out_.z_differential[i]) along.emplace(out_.z[i].id(), out_.z_rate[i]);
    const std::vector<Expr> p_dot = expr::derivative_along(p, along);
    const std::vector<Expr> L_q = expr::gradient(L, out_.q);
    out_.f.resize(out_.q.size());
    for (std::size_t i = 0; i < out_.q.size(); ++i) out_.f[i] = L_q[i] - p_dot[i];
    add_forces(out_.f);

    // v^T dL/dv - L = T2 - L0, with L0 = L at rest and T2 = v^T (p - p at rest) / 2
    const Expr rest = expr::substitute(L, zeros_for(out_.v));
    Expr twice = graph().constant(0.0);
    const std::vector<Expr> p_rest = expr::substitute(p, zeros_for(out_.v));
    for (std::size_t i = 0; i < p.size(); ++i) twice = twice + out_.v[i] * (p[i] - p_rest[i]);
    out_.kinetic = twice / 2.0;
    out_.potential = -rest;
  }

  void add_forces(std::vector<Expr>& f) {
    for (const model::Named& force : model_.forces) {
      const auto found = std::find_if(model_.variables.begin(), model_.variables.end(),
                                      [&](const model::Unknown& unknown) { return unknown.name == force.name; });
      DAEDALUS_CHECK(found != model_.variables.end(), "force on '{}', which is no coordinate", force.name);
      Expr& sum = f[static_cast<std::size_t>(found - model_.variables.begin())];
      sum = sum + force.value;
    }
    if (model_.dissipation) {
      const std::vector<Expr> drag = expr::gradient(*model_.dissipation, out_.v);
      for (std::size_t i = 0; i < f.size(); ++i) f[i] = f[i] - drag[i];
    }
  }

  void mass_and_force() {
    const std::size_t n = out_.q.size();
    std::vector<std::vector<std::pair<std::size_t, Expr>>> rows(n);
    for (const model::Entry& entry : model_.mass.entries)
      if (!entry.value.is_constant(0.0)) rows[entry.row].emplace_back(entry.column, entry.value);
    out_.M.rows = out_.M.columns = n;
    for (auto& row : rows) {
      std::sort(row.begin(), row.end(), [](const auto& l, const auto& r) { return l.first < r.first; });
      for (const auto& [column, value] : row) {
        out_.M.column.push_back(column);
        out_.M.value.push_back(value);
      }
      out_.M.row_start.push_back(out_.M.column.size());
    }
    check_symmetry();
    if (const std::size_t row = free_of_velocity(out_.M, out_.v); row < n)
      throw Error("mass-depends-on-velocity",
                  fmt::format("row {} of the mass matrix ({}) depends on velocities", row + 1, out_.q[row].name()),
                  "move what depends on velocities into [mechanical] force");
    out_.f = model_.force;
    add_forces(out_.f);
  }

  /// Entries of a mass matrix may be written differently on the two sides of the diagonal: they are compared as numbers.
  void check_symmetry() {
    std::unordered_map<NodeId, double> values;
    std::mt19937_64 random(4711);
    std::uniform_real_distribution<double> uniform(0.2, 1.2);
    std::vector<Expr> all = out_.M.value;
    for (const NodeId id : expr::symbols_of(all)) values[id] = uniform(random);
    for (const auto& [id, number] : model_.numbers()) values[id] = number;
    for (std::size_t i = 0; i < out_.M.rows; ++i)
      for (std::size_t k = out_.M.row_start[i]; k < out_.M.row_start[i + 1]; ++k) {
        const std::size_t j = out_.M.column[k];
        const Expr other = out_.M.at(j, i);
        if (other == out_.M.value[k]) continue;
        const double left = expr::evaluate(out_.M.value[k], values);
        const double right = other.valid() ? expr::evaluate(other, values) : 0.0;
        if (std::abs(left - right) <= 1e-12 * (std::abs(left) + std::abs(right)) && other.valid()) continue;
        if (!other.valid() && left == 0.0) continue;
        throw Error("mass-not-symmetric",
                    fmt::format("the mass matrix is not symmetric: row {}, column {} is {}, but row {}, column {} is {}",
                                i + 1, j + 1, expr::to_text(out_.M.value[k]), j + 1, i + 1,
                                other.valid() ? expr::to_text(other) : "0"),
                    "write the same expression on both sides of the diagonal");
      }
  }

  void constraints() {
    std::vector<Expr> level;
    for (const model::Equation& equation : model_.constraints) level.push_back(equation.residual);
    const std::vector<bool> nonholonomic = expr::dependence(level, set_of(out_.v));
    for (std::size_t i = 0; i < level.size(); ++i) {
      Constraint constraint{model_.constraints[i].name, !nonholonomic[i], {}, {}, {}, model_.constraints[i].place};
      if (constraint.holonomic) constraint.position = level[i];
      out_.constraints.push_back(std::move(constraint));
    }
    const std::vector<Expr> rates = expr::derivative_along(level, along_);
    for (std::size_t i = 0; i < level.size(); ++i)
      out_.constraints[i].velocity = out_.constraints[i].holonomic ? rates[i] : level[i];
    std::vector<Expr> velocity;
    for (const Constraint& constraint : out_.constraints) velocity.push_back(constraint.velocity);
    // For a holonomic constraint dg/dq is the shorter way to the same matrix.
    SparseExpr by_velocity = expr::jacobian(velocity, out_.v), by_position = expr::jacobian(level, out_.q);
    if (const std::size_t row = free_of_velocity(by_velocity, out_.v); row < by_velocity.rows)
      throw Error("constraint-not-linear",
                  fmt::format("the constraint '{}' is not linear in the velocities", out_.constraints[row].name),
                  "a constraint may contain velocities only as A(q, t)*velocity + b(q, t) = 0",
                  out_.constraints[row].place);
    out_.G.rows = level.size();
    out_.G.columns = out_.q.size();
    for (std::size_t i = 0; i < level.size(); ++i) {
      const SparseExpr& from = out_.constraints[i].holonomic ? by_position : by_velocity;
      for (std::size_t k = from.row_start[i]; k < from.row_start[i + 1]; ++k) {
        out_.G.column.push_back(from.column[k]);
        out_.G.value.push_back(from.value[k]);
      }
      out_.G.row_start.push_back(out_.G.column.size());
    }
    const std::vector<Expr> acceleration = expr::derivative_along(velocity, along_);
    for (std::size_t i = 0; i < level.size(); ++i) out_.constraints[i].gamma = -acceleration[i];
  }

  void judge_energy() {
    if (!out_.kinetic) return;
    bool conserved = model_.forces.empty() && !model_.dissipation && model_.auxiliary.empty() && model_.events.empty();
    std::vector<Expr> roots;
    for (const Constraint& constraint : out_.constraints) roots.push_back(constraint.velocity);
    for (const Expr& rest : expr::substitute(roots, zeros_for(out_.v))) conserved = conserved && rest.is_constant(0.0);
    roots.push_back(*out_.kinetic);
    roots.push_back(*out_.potential);
    for (const NodeId id : expr::symbols_of(roots)) conserved = conserved && id != out_.t.id();
    out_.conservative = conserved;
  }

  Graph& graph() const { return *model_.graph; }

  const model::Model& model_;
  Equations out_;
  Direction along_;  ///< q -> v, t -> 1
};

}  // namespace

std::size_t Equations::holonomic_count() const {
  return static_cast<std::size_t>(
      std::count_if(constraints.begin(), constraints.end(), [](const Constraint& c) { return c.holonomic; }));
}

Equations derive(std::shared_ptr<const model::Model> model) { return Derivation(std::move(model))(); }

}  // namespace daedalus::mechanics
