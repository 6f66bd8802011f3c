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

/// A point at which expressions are compared as numbers: velocities of either sign, everything else positive.
std::unordered_map<NodeId, double> random_point(const std::vector<NodeId>& symbols, const std::vector<Expr>& v,
                                                std::mt19937_64& random) {
  std::uniform_real_distribution<double> uniform(0.2, 1.2);
  std::unordered_map<NodeId, double> values;
  for (const NodeId id : symbols) values[id] = uniform(random);
  for (const Expr& symbol : v)
    if (const auto found = values.find(symbol.id()); found != values.end() && random() % 2 == 0)
      found->second = -found->second;
  return values;
}

/// Whether `e`, which contains some of the velocities, really varies with them: random points that differ in them only.
/// `size` is what the entries beside `e` amount to, so that the round-off of a sum that cancels does not count.
bool varies(Expr e, const std::vector<Expr>& v, double size) {
  std::mt19937_64 random(12345);
  const std::vector<NodeId> used = expr::symbols_of(e);
  int compared = 0;
  for (int trial = 0; trial < 20 && compared < 6; ++trial) {
    std::unordered_map<NodeId, double> values = random_point(used, v, random);
    const double first = expr::evaluate(e, values);
    const std::unordered_map<NodeId, double> other = random_point(used, v, random);
    for (const Expr& symbol : v)
      if (values.contains(symbol.id())) values[symbol.id()] = other.at(symbol.id());
    const double second = expr::evaluate(e, values);
    if (!std::isfinite(first) || !std::isfinite(second)) continue;  // outside the domain
    ++compared;
    if (std::abs(first - second) > 1e-9 * (std::abs(first) + std::abs(second)) + 1e-13 * size) return true;
  }
  return compared == 0;
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

/// Takes the upper triangle for both: the two are equal but may be written differently, and so rounded differently.
/// What is stored on one side only is zero in disguise.
SparseExpr mirrored(const SparseExpr& M) {
  SparseExpr result;
  result.rows = M.rows;
  result.columns = M.columns;
  for (std::size_t i = 0; i < M.rows; ++i) {
    for (std::size_t k = M.row_start[i]; k < M.row_start[i + 1]; ++k) {
      const Expr other = M.at(M.column[k], i);
      if (!other.valid()) continue;
      result.column.push_back(M.column[k]);
      result.value.push_back(M.column[k] < i ? other : M.value[k]);
    }
    result.row_start.push_back(result.column.size());
  }
  return result;
}

/// Velocities of which none is 0.
std::unordered_map<NodeId, Expr> moving_point(const std::vector<Expr>& v) {
  std::unordered_map<NodeId, Expr> point;
  for (std::size_t i = 0; i < v.size(); ++i)
    point.emplace(v[i].id(), v[i].graph().constant(1.0 + 0.0625 * static_cast<double>(i % 16)));
  return point;
}

/// Velocities at which an expression that does not depend on them is taken: at rest where all `roots` are finite there,
/// otherwise somewhere (hypot(x', y')^2 has no derivatives at rest that a computer could evaluate).
std::unordered_map<NodeId, Expr> resting_point(const std::vector<Expr>& roots, const std::vector<Expr>& v) {
  std::unordered_map<NodeId, Expr> point = zeros_for(v);
  std::mt19937_64 random(12345);
  const std::vector<Expr> rest = expr::substitute(roots, point);
  const std::unordered_map<NodeId, double> values = random_point(expr::symbols_of(rest), v, random);
  const bool finite =
      std::all_of(rest.begin(), rest.end(), [&](const Expr& e) { return std::isfinite(expr::evaluate(e, values)); });
  return finite ? point : moving_point(v);
}

/// A point for an expression that does not depend on the velocities: at rest where its value there is that of elsewhere
/// (sign(x')^2, of abs(x')^2, is 1 but at rest).
std::unordered_map<NodeId, Expr> point_for(Expr one, const std::vector<Expr>& v) {
  const std::unordered_map<NodeId, Expr> rest = resting_point({one}, v), moving = moving_point(v);
  const Expr there = expr::substitute(one, rest), elsewhere = expr::substitute(one, moving);
  std::mt19937_64 random(2468);
  const std::unordered_map<NodeId, double> values = random_point(expr::symbols_of(elsewhere + there), v, random);
  const double a = expr::evaluate(there, values), b = expr::evaluate(elsewhere, values);
  return std::isfinite(b) && !(std::abs(a - b) <= 1e-8 * std::max(std::abs(a), std::abs(b))) ? moving : rest;
}

/// How a matrix that must not depend on the velocities stands to them.
struct VelocityCheck {
  std::size_t first_dependent;  ///< the first row that depends on them, or the number of rows
  bool by_letter = true;        ///< no entry contained them; otherwise they were put to a point
};

/// Makes a matrix that must not depend on the velocities free of them: by the letter where it is, by numbers where
/// simplification alone does not show it.
VelocityCheck free_of_velocity(SparseExpr& matrix, const std::vector<Expr>& v) {
  const std::vector<bool> dependent = expr::dependence(matrix.value, set_of(v));
  VelocityCheck check{matrix.rows};
  for (std::size_t i = 0; i < matrix.rows; ++i) {
    const auto begin = matrix.row_start[i], end = matrix.row_start[i + 1];
    if (std::find(dependent.begin() + static_cast<std::ptrdiff_t>(begin),
                  dependent.begin() + static_cast<std::ptrdiff_t>(end),
                  true) == dependent.begin() + static_cast<std::ptrdiff_t>(end))
      continue;
    double size = 0.0;
    std::mt19937_64 random(54321);
    for (std::size_t k = begin; k < end; ++k) {
      const double value =
          std::abs(expr::evaluate(matrix.value[k], random_point(expr::symbols_of(matrix.value[k]), v, random)));
      if (std::isfinite(value)) size = std::max(size, value);
    }
    for (std::size_t k = begin; k < end; ++k) {
      if (!dependent[k]) continue;
      if (varies(matrix.value[k], v, size)) return {i, false};
      matrix.value[k] = expr::substitute(matrix.value[k], point_for(matrix.value[k], v));
      check.by_letter = false;
    }
  }
  return check;
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
    numbers_ = model_.numbers();
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
    Expr L =
        model_.lagrangian ? *model_.lagrangian : *model_.kinetic - model_.potential.value_or(graph().constant(0.0));
    std::vector<Expr> p = expr::gradient(L, out_.v);
    out_.M = expr::jacobian(p, out_.v);
    const VelocityCheck check = free_of_velocity(out_.M, out_.v);
    if (const std::size_t row = check.first_dependent; row < out_.M.rows)
      throw Error("not-quadratic",
                  fmt::format("the Lagrangian is not quadratic in the velocities: its part with {} is {}",
                              out_.v[row].name(), expr::to_text(p[row])),
                  "kinetic energy must be at most quadratic in the velocities, with factors that depend on coordinates "
                  "and time alone",
                  place_of_energy());
    if (!check.by_letter) {
      L = written_out(L, p);
      p = expr::gradient(L, out_.v);
      out_.M = expr::jacobian(p, out_.v);
    }
    out_.M = mirrored(out_.M);
    out_.lagrangian = L;
    refuse_auxiliary(p);
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

  /// L = v^T M v / 2 + b^T v + L0, where that form is hidden in L (hypot(x', y')^2).
  Expr written_out(Expr L, const std::vector<Expr>& p) {
    std::vector<Expr> roots = p;
    roots.push_back(L);
    const std::unordered_map<NodeId, Expr> point = resting_point(roots, out_.v);
    const std::vector<Expr> there = expr::substitute(roots, point);
    Expr quadratic = graph().constant(0.0), quadratic_there = quadratic, linear = quadratic, linear_there = quadratic;
    for (std::size_t i = 0; i < p.size(); ++i) {
      Expr row = graph().constant(0.0), row_there = row;
      for (std::size_t k = out_.M.row_start[i]; k < out_.M.row_start[i + 1]; ++k) {
        const Expr v = out_.v[out_.M.column[k]];
        row = row + out_.M.value[k] * v;
        row_there = row_there + out_.M.value[k] * point.at(v.id());
      }
      const Expr v_there = point.at(out_.v[i].id()), b = there[i] - row_there;
      quadratic = quadratic + out_.v[i] * row;
      quadratic_there = quadratic_there + v_there * row_there;
      linear = linear + b * out_.v[i];
      linear_there = linear_there + b * v_there;
    }
    return quadratic / 2.0 + linear + (there.back() - quadratic_there / 2.0 - linear_there);
  }

  /// M may not depend on auxiliary unknowns, and momenta only on those whose rates are known.
  void refuse_auxiliary(const std::vector<Expr>& p) {
    const Place place = place_of_energy();
    const std::vector<bool> mass = expr::dependence(out_.M.value, set_of(out_.z));
    if (std::find(mass.begin(), mass.end(), true) != mass.end())
      throw Error("mass-depends-on-auxiliary", "the mass matrix depends on auxiliary unknowns",
                  "masses may depend on coordinates and time; make the unknown a coordinate instead", place);
    std::vector<Expr> algebraic;
    for (std::size_t i = 0; i < out_.z.size(); ++i)
      if (!out_.z_differential[i]) algebraic.push_back(out_.z[i]);
    const std::vector<bool> momenta = expr::dependence(p, set_of(algebraic));
    for (std::size_t i = 0; i < momenta.size(); ++i)
      if (momenta[i])
        throw Error(
            "momentum-of-algebraic",
            fmt::format("the momentum that belongs to {} depends on an algebraic auxiliary unknown, whose rate is "
                        "not known: it is {}",
                        out_.q[i].name(), expr::to_text(p[i])),
            "put what the [equations] say about it into the Lagrangian", place);
  }

  Place place_of_energy() const {
    for (const char* key : {"lagrangian", "kinetic", "mass"})
      if (const auto found = model_.places.find(key); found != model_.places.end()) return found->second;
    return {};
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
    if (const std::size_t row = free_of_velocity(out_.M, out_.v).first_dependent; row < n)
      throw Error("mass-depends-on-velocity",
                  fmt::format("row {} of the mass matrix ({}) depends on velocities", row + 1, out_.q[row].name()),
                  "move what depends on velocities into [mechanical] force", place_of_energy());
    refuse_auxiliary({});
    out_.f = model_.force;
    add_forces(out_.f);
  }

  /// Entries of a mass matrix may be written differently on the two sides of the diagonal: they are compared as
  /// numbers.
  void check_symmetry() {
    for (std::size_t i = 0; i < out_.M.rows; ++i)
      for (std::size_t k = out_.M.row_start[i]; k < out_.M.row_start[i + 1]; ++k) {
        const std::size_t j = out_.M.column[k];
        const Expr value = out_.M.value[k];
        const Expr other = out_.M.at(j, i).valid() ? out_.M.at(j, i) : graph().constant(0.0);
        if (other == value || same_numbers(value, other)) continue;
        throw Error(
            "mass-not-symmetric",
            fmt::format("the mass matrix is not symmetric: row {}, column {} is {}, but row {}, column {} is {}", i + 1,
                        j + 1, expr::to_text(value), j + 1, i + 1, expr::to_text(other)),
            "write the same expression on both sides of the diagonal", place_of_energy());
      }
  }

  bool same_numbers(Expr left, Expr right) const {
    std::mt19937_64 random(4711);
    const Expr both[] = {left, right};
    int compared = 0;
    for (int trial = 0; trial < 20 && compared < 3; ++trial) {
      std::unordered_map<NodeId, double> values = random_point(expr::symbols_of(both), out_.v, random);
      for (const auto& [id, number] : numbers_) values[id] = number;
      const double l = expr::evaluate(left, values), r = expr::evaluate(right, values);
      if (!std::isfinite(l) || !std::isfinite(r)) continue;  // outside the domain
      ++compared;
      if (std::abs(l - r) > 1e-12 * (std::abs(l) + std::abs(r))) return false;
    }
    return true;
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
    const VelocityCheck check = free_of_velocity(by_velocity, out_.v);
    if (const std::size_t row = check.first_dependent; row < by_velocity.rows)
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
  std::unordered_map<NodeId, double> numbers_;
};

}  // namespace

std::size_t Equations::holonomic_count() const {
  return static_cast<std::size_t>(
      std::count_if(constraints.begin(), constraints.end(), [](const Constraint& c) { return c.holonomic; }));
}

Equations derive(std::shared_ptr<const model::Model> model) { return Derivation(std::move(model))(); }

}  // namespace daedalus::mechanics
