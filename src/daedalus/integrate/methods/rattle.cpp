// RATTLE and its relative of order 4: see families/lobatto_pair.hpp for the equations. H. C. Andersen, J. Comput. Phys.
// 52 (1983) 24-34; B. Leimkuhler, R. D. Skeel, J. Comput. Phys. 112 (1994) 117-125; L. O. Jay, SIAM J. Numer. Anal. 33
// (1996) 368-387; E. Hairer, C. Lubich, G. Wanner, Geometric Numerical Integration, 2nd ed., section VII.1.
//
// Forces that depend on velocities are taken at the inner velocities V_i, which keeps the method symmetric and its
// order, though nothing is symplectic then.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "daedalus/base/check.hpp"
#include "daedalus/base/error.hpp"
#include "daedalus/integrate/families/lobatto_pair.hpp"
#include "daedalus/integrate/families/mechanical_interpolant.hpp"
#include "daedalus/integrate/integrator_entry.hpp"
#include "daedalus/linalg/kkt.hpp"

namespace daedalus::integrate {
namespace {

Evaluation judge(linalg::KktOutcome outcome) {
  switch (outcome) {
    case linalg::KktOutcome::regular:
    case linalg::KktOutcome::redundant:
      return Evaluation::ok;
    case linalg::KktOutcome::not_finite:
      return Evaluation::not_finite;
    case linalg::KktOutcome::singular_mass:
      return Evaluation::singular;
  }
  return Evaluation::singular;
}

/// A mechanical system as LobattoStep asks for it.
struct Problem {
  explicit Problem(const MechanicalSystem& given)
      : system(given),
        n(given.n),
        m(given.m),
        mass(given.mass),
        jacobian(given.jacobian),
        constant_mass(given.constant_mass),
        force_of_position(given.constant_mass && given.hamiltonian),
        start(given),
        end(given),
        x(2 * n) {}

  /// KKT factors at one point, and those of M alone. Where M is constant these are made once.
  struct Solver {
    explicit Solver(const MechanicalSystem& given)
        : kkt(given.mass, given.jacobian),
          alone(given.mass, {0, given.n, {0}, {}}),
          mass_is_constant(given.constant_mass) {}

    Evaluation factor(const std::vector<double>& M, const std::vector<double>& G) {
      ++factorizations;
      if (!mass_is_constant || !mass_factored) {
        const Evaluation outcome = judge(alone.factor(M.data(), G.data()));
        mass_is_singular = outcome == Evaluation::singular;
        if (outcome != Evaluation::ok) return outcome;
        mass_factored = true;
      }
      return judge(kkt.factor(M.data(), G.data()));
    }
    void solve(double* f, double* gamma) { kkt.solve(f, gamma, f, gamma); }
    void solve_mass(double* f) { alone.solve(f, nullptr, f, nullptr); }

    linalg::KktSolver kkt, alone;
    bool mass_is_constant, mass_factored = false, mass_is_singular = false;
    std::size_t factorizations = 0;
  };

  Evaluation geometry(double t, const double* q, double* M, double* G, double* g) {
    return system.geometry(t, q, M, G, g);
  }
  Evaluation velocity(double t, const double* q, const double* v, double* c) {
    return system.velocity_residual(t, q, v, c);
  }
  Evaluation force(double t, const double* q, const double* v, double* F) {
    std::copy_n(q, n, x.begin());
    std::copy_n(v, n, x.begin() + static_cast<std::ptrdiff_t>(n));
    return system.momentum_rate(t, x.data(), F);
  }
  Solver& start_solver() { return start; }
  Solver& end_solver() { return end; }

  const MechanicalSystem& system;
  const std::size_t n, m;
  const linalg::Sparsity &mass, &jacobian;
  const bool constant_mass, force_of_position;
  Solver start, end;
  std::vector<double> x;
};

class Rattle final : public Stepper {
 public:
  Rattle(const System& system, int order)
      : n_(system.mechanical->n),
        problem_(*system.mechanical),
        step_(problem_, lobatto_pair(order)),
        interpolant_(system, MechanicalInterpolant::Velocities::cubic),
        old_(2 * n_),
        now_(2 * n_),
        candidate_(2 * n_),
        tried_(2 * n_) {}

  Evaluation start(double t, const double* x) override {
    t_ = t;
    std::copy_n(x, 2 * n_, now_.begin());
    stepped_ = false;
    interpolant_.restart();
    const Evaluation outcome = begin();
    if (outcome == Evaluation::singular && !started_ && problem_.start.mass_is_singular)
      throw Error("method-does-not-fit", "the method 'rattle' needs a regular mass matrix, and this one is singular",
                  "give --method half-explicit, or --formulation projection --method dop853");
    started_ = true;
    return outcome;
  }

  Attempt attempt(double h, const Tolerance*) override {
    if (stepped_) interpolant_.advance();
    stepped_ = false;
    Attempt result;
    result.outcome = step_.step(t_, now_.data() + n_, h, candidate_.data(), candidate_.data() + n_);
    tried_ = candidate_;
    count();
    return result;
  }

  double* candidate() override { return candidate_.data(); }

  Evaluation accepted(double t_next) override {
    old_.swap(now_);
    now_.swap(candidate_);
    t_old_ = std::exchange(t_, t_next);
    if (std::equal(now_.begin(), now_.begin() + static_cast<std::ptrdiff_t>(n_), tried_.begin())) {
      step_.advance();
      std::swap(problem_.start, problem_.end);
    } else if (const Evaluation outcome = begin(); outcome != Evaluation::ok) {
      t_ = t_old_;
      now_.swap(candidate_);
      old_.swap(now_);
      static_cast<void>(begin());  // it could be evaluated before
      return outcome;
    }
    stepped_ = true;
    return Evaluation::ok;
  }

  Evaluation replace_state(const double* x) override { return start(t_, x); }

  Evaluation interpolate(double theta, double* x) override {
    DAEDALUS_CHECK(stepped_, "no accepted step, theta = {}", theta);
    const Evaluation outcome = interpolant_.at(theta, {t_old_, t_, old_.data(), now_.data()}, x);
    count();
    return outcome;
  }

  const double* state() const override { return now_.data(); }

 private:
  Evaluation begin() {
    step_.forget();
    if (problem_.force_of_position) ++step_.force_evaluations;
    const Evaluation outcome = step_.begin(t_, now_.data());
    count();
    return outcome;
  }

  void count() {
    stats_.rhs = step_.force_evaluations + interpolant_.evaluations;
    stats_.newton_iterations = step_.iterations;
    stats_.factorizations = problem_.start.factorizations + problem_.end.factorizations + interpolant_.factorizations;
  }

  const std::size_t n_;
  Problem problem_;
  LobattoStep<double, Problem> step_;
  MechanicalInterpolant interpolant_;
  std::vector<double> old_, now_, candidate_, tried_;
  double t_old_ = 0.0;
  bool stepped_ = false;  ///< the last step is accepted, no attempt since
  bool started_ = false;
};

void refuse(const System& system) {
  const MechanicalSystem& mechanical = *system.mechanical;
  for (std::size_t i = 0; i < mechanical.m; ++i) {
    if (std::ranges::find(mechanical.holonomic_rows, i) != mechanical.holonomic_rows.end()) continue;
    const std::string name =
        i < mechanical.constraint_names.size() ? mechanical.constraint_names[i] : std::to_string(i + 1);
    throw Error("method-does-not-fit",
                fmt::format("the method 'rattle' takes position constraints only, and '{}' binds velocities", name),
                "give --method half-explicit, or --formulation projection --method dop853");
  }
  if (system.dimension > 2 * mechanical.n)
    throw Error("method-does-not-fit",
                fmt::format("the method 'rattle' takes no auxiliary unknowns with rates, and '{}' is one",
                            system.names.size() > 2 * mechanical.n ? system.names[2 * mechanical.n] : "z"),
                "give --method half-explicit, or --formulation projection --method dop853");
}

}  // namespace

IntegratorEntry integrator_rattle() {
  IntegratorEntry entry;
  entry.name = "rattle";
  entry.summary =
      "Symplectic method for motion with position constraints, which hold to round-off: RATTLE, or its relative of "
      "order 4";
  entry.citation =
      "H. C. Andersen, J. Comput. Phys. 52 (1983) 24-34; L. O. Jay, Symplectic partitioned Runge-Kutta methods for "
      "constrained Hamiltonian systems, SIAM J. Numer. Anal. 33 (1996) 368-387";
  entry.order = 2;
  entry.stages = 2;
  entry.implicit = true;
  entry.accepts = {View::mechanical};
  entry.properties = {"symplectic", "symmetric", "keeps constraints"};
  entry.highest_index = 3;
  entry.index3_orders = {2, 2, 2};
  entry.dense_order = 2;
  entry.options = {{.name = "order",
                    .summary = "2 (RATTLE) or 4 (three stages of Lobatto IIIA-IIIB)",
                    .standard = std::nullopt,
                    .words = {"2", "4"}}};
  entry.notes = {
      "symplectic for forces that come from a potential; forces that depend on velocities keep order and symmetry",
      "it needs a regular mass matrix; multipliers in the output come from the equations of motion at the output "
      "point",
      "with order = 4 the orders above are 4, and 3 between steps"};
  entry.make = [](const System& system, const Options& options) -> std::unique_ptr<Stepper> {
    DAEDALUS_CHECK(system.mechanical != nullptr, "dimension {}", system.dimension);
    refuse(system);
    return std::make_unique<Rattle>(system, options.word("order") == "4" ? 4 : 2);
  };
  return entry;
}

}  // namespace daedalus::integrate
