#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::integrate {

/// How an evaluation went. Nature's failures are data.
enum class Evaluation { ok, not_finite, singular, no_convergence };

/// The ways in which a formulation can show a system, and a method can take it.
enum class View {
  ode,           ///< x' = f(t, x)
  second_order,  ///< the same with x = (q, v, rest), q' = v
  implicit,      ///< F(t, y, y') = 0
  mechanical,    ///< M a = f - G^T lambda with g(q, t) = 0 and its derivatives
  automatic,     ///< y as in the implicit view, which is made when it is asked for; the ODE sees the leading part of y
  overdetermined,  ///< F(t, y, y') = 0 with more equations than unknowns
  flow,            ///< a formula for the solution
  normal,          ///< violations xi with xi_i' = k_i xi_i, and eta' = q(xi, eta) for the rest
  series,          ///< x' = f(t, x) with the power series of its solutions
};

/// F(t, y, y') = 0 with sparse Jacobians. The leading components of y are the differential unknowns of the ODE view, in
/// its order, so that what is known about a state x holds for y as well; purely algebraic unknowns follow.
struct ImplicitSystem {
  std::function<Evaluation(double t, const double* y, const double* dy, double* F)> residual;
  linalg::Sparsity pattern;  ///< of dF/dy and dF/dy' together
  /// Writes dF/dy and dF/dy', both in the order of `pattern`.
  std::function<Evaluation(double t, const double* y, const double* dy, double* F_y, double* F_dy)> jacobian;
  /// Writes dF/dt; empty where it vanishes.
  std::function<Evaluation(double t, const double* y, const double* dy, double* F_t)> time_derivative;
  /// Writes the derivative of the differential unknowns at a consistent point, 0 for the others.
  std::function<Evaluation(double t, const double* y, double* dy)> derivative;

  std::vector<bool> differential;  ///< whether the derivative of y_i occurs
  /// Index of each unknown: how much more sensitive to perturbations than y' = f it is. An unknown of index k > 1 is
  /// weighed with h^(k-1) in error and convergence tests.
  std::vector<int> index;
  /// Unknowns that error and convergence tests leave out: multipliers that vanish in the exact solution. Empty: none.
  std::vector<bool> ignored = {};
  int system_index = 0;  ///< of the system as it stands: the differentiation index
  /// dF/dy' is constant and F linear in y': M y' = f(t, y).
  bool constant_leading = false;
  /// Row i times h^row_power[i] and unknown j times h^column_power[j] make the matrix of Newton's method well
  /// conditioned for every h; empty: nothing to scale.
  std::vector<int> row_power, column_power;

  /// Whether error and convergence tests count an unknown, and how many they count.
  bool counts(std::size_t i) const { return ignored.empty() || !ignored[i]; }
  std::size_t counted() const;
};

/// What a Newton step means where there are more equations than unknowns: A_1 d = a_1, square, and A_2 d = a_2.
enum class Corrector {
  ssf,            ///< A_2 d = a_2 and A_1 d - a_1 in the range of A_2^T: the ssf-generalized inverse
  gauss_newton,   ///< least squares of all rows
  least_squares,  ///< least squares of A_1 d - a_1 subject to A_2 d = a_2
};

/// F(t, y, y') = 0 with more rows than unknowns. The leading rows are a square system, row i beside unknown i; the others,
/// which do not contain y', hold besides.
struct OverdeterminedSystem {
  ImplicitSystem equations;  ///< the pattern has more rows than columns
  Corrector corrector = Corrector::ssf;
};

/// M(q, t) a = f - G(q, t)^T lambda,  g(q, t) = 0,  with x = (q, v, z) and z' = r(t, x) beside it. Constraints are the
/// rows of G; those that are holonomic have a position level.
struct MechanicalSystem {
  std::size_t n = 0, m = 0;  ///< coordinates, constraints
  linalg::Sparsity mass, jacobian;
  std::vector<std::size_t> holonomic_rows;  ///< of G, ascending

  /// Writes M, f, G, gamma and z' (pointers may be null where a part is not wanted).
  std::function<Evaluation(double t, const double* x, double* M, double* f, double* G, double* gamma, double* dz)>
      motion;
  /// Writes M, G and g of the holonomic constraints.
  std::function<Evaluation(double t, const double* q, double* M, double* G, double* g)> geometry;
  /// Writes G v + g_t, or the nonholonomic constraint itself, for every row.
  std::function<Evaluation(double t, const double* q, const double* v, double* c)> velocity_residual;
  /// Writes p' + G^T lambda = f + (dM/dt) v with p = M v: the force of Hamilton's equations.
  std::function<Evaluation(double t, const double* x, double* force)> momentum_rate;
  /// Whether forces depend on velocities other than through the kinetic energy, so that no method is symplectic.
  bool hamiltonian = true;
  bool constant_mass = false;
  std::vector<std::string> constraint_names = {};  ///< one per row of G
};

/// Local coordinates y of the manifold on which the states x of a system lie, and the ODE in them. They are good near the
/// point around which they were chosen, and others are chosen where the motion leaves it. x and y have lengths of their
/// own.
struct LocalCoordinates {
  /// Chooses coordinates around x, whatever they were before. May change how many there are.
  std::function<Evaluation(double t, const double* x)> choose;
  std::function<std::size_t()> dimension;  ///< of y; may be 0

  /// y' = ode(t, y)
  std::function<Evaluation(double t, const double* y, double* dy)> ode;
  /// The state x on the manifold that has the coordinates y.
  std::function<Evaluation(double t, const double* y, double* x)> expand;
  std::function<void(const double* x, double* y)> reduce;
  /// From here on searches for states begin at x, the state at the time t.
  std::function<void(double t, const double* x)> near;

  /// When to take other coordinates: where the present ones have become bad, or where others are better at all.
  enum class Change { if_bad, if_better };
  /// Chooses other coordinates for a step of size h from x where that is called for; says whether it did.
  std::function<bool(double t, const double* x, double h, Change change)> rechart;
  /// Writes in the present coordinates what was written in those before the last change.
  std::function<Evaluation(double t, const double* before, double* y)> transfer;

  /// How far y may be off so that x is not by much more than `bound`, at the point x.
  std::function<void(double t, const double* x, const double* bound, double* of_y)> tolerances;
  /// The component of x that y_k is, or is most like.
  std::function<std::size_t(std::size_t k)> component;
  /// Names the present coordinates.
  std::function<std::string()> describe;
};

/// The solution itself, in coordinates z that hold more digits than a state.
struct Flow {
  std::size_t coordinates = 0;  ///< doubles in z
  /// z of the solution that passes the state x at t, or that a state off all solutions leaps to.
  std::function<Evaluation(double t, const double* x, double* z)> enter;
  /// z at t + h from z at t.
  std::function<Evaluation(double t, double h, double* z)> advance;
  /// The state at t: the leading half are unknowns, the others their derivatives.
  std::function<Evaluation(double t, const double* z, double* x)> leave;
  /// How many functions of time decide what the formula is until the next event, and those functions at t with their
  /// derivatives behind them: no step may be so long that events of them are lost in it.
  std::size_t conditions = 0;
  std::function<void(double t, double* values)> watch;
  /// Says how exact all of it was.
  std::function<std::string()> accuracy;
};

/// Coordinates (xi, eta) of states x in which xi_i' = k_i xi_i and eta' = q(xi, eta): xi = 0 are the constraints of a DAE,
/// eta' = q(0, eta) its zero dynamics.
struct NormalForm {
  std::function<std::size_t()> xi_count, eta_count;
  std::function<Evaluation(double t, const double* x, double* xi, double* eta)> reduce;
  /// Finds the state near x, which it replaces.
  std::function<Evaluation(double t, const double* xi, const double* eta, double* x)> expand;
  /// Takes a state from one time to another at the same coordinates, which move where constraints do; may be empty.
  std::function<Evaluation(double from, double to, double* x)> wait = {};
  /// Takes other coordinates at x where those present lead no further; says whether it did; may be empty.
  std::function<bool(double t, const double* x)> exchange = {};
  /// Writes q at x.
  std::function<Evaluation(double t, const double* x, double* q)> rates;
  /// Writes the gains k at x, of which (xi, eta) are the coordinates.
  std::function<Evaluation(double t, const double* xi, const double* eta, const double* x, double* k)> gains;
};

/// The stages of an explicit Runge-Kutta step from x with the slope k_1, counted from k_2 on.
struct ExplicitStages {
  std::vector<double> nodes;              ///< c_i: stage i is evaluated at t + c_i h
  std::vector<std::vector<double>> rows;  ///< a_i1, a_i2, ...: there the state is x + h sum_j a_ij k_j
  std::vector<std::vector<double>> sums;  ///< weights of further sums of slopes; the first is that of the end of the step
  std::size_t stride = 0;                 ///< from one result to the next: the dimension in whole fours, to which x and k_1 have room too
};
/// Evaluates all of these. The results: k_2, k_3, ..., the state of the last stage, the end x + h (first sum), then the other
/// sums; 0 between them. False where the stages have to be evaluated one by one.
using StagesInLine = std::function<bool(double t, double h, const double* x, const double* k_1, double* results)>;

/// A system of numbers in one view. The callables own their workspace: one System serves one trajectory at a time.
struct System {
  std::size_t dimension = 0;  ///< of x, or of y in the implicit view

  /// x' = ode(t, x)
  std::function<Evaluation(double t, const double* x, double* dx)> ode;
  /// Makes one function of all stages of a step, where there is one that is faster; else it returns an empty one.
  std::function<StagesInLine(const ExplicitStages& stages)> stages_in_line = {};
  /// Writes df/dx, row by row; empty where only differences give it.
  std::function<Evaluation(double t, const double* x, double* jacobian)> ode_jacobian;

  /// Writes the Taylor coefficients x^(k)/k!, k = 0 to `order`, of the solution through (t, x), one after the other.
  std::function<Evaluation(double t, const double* x, std::size_t order, double* series)> series;

  /// Second-order structure: x = (q, v, rest) with q' = v, both of this length; 0 where there is none.
  std::size_t coordinates = 0;

  std::shared_ptr<const ImplicitSystem> implicit;
  std::shared_ptr<const MechanicalSystem> mechanical;
  std::shared_ptr<const OverdeterminedSystem> overdetermined;
  std::shared_ptr<const Flow> flow;
  std::shared_ptr<const NormalForm> normal_form;
  /// Where methods work in local coordinates; `ode` then holds for any x and serves no more than the first look.
  std::shared_ptr<const LocalCoordinates> local;

  std::size_t leading = 0;  ///< so many components of y are the x of the ODE view
  /// Writes the components behind the leading ones that belong to them.
  std::function<Evaluation(double t, double* y)> complete;
  /// Lets the next `complete` look for them near those in y, where it has to look for them.
  std::function<void(const double* y)> near;
  /// Makes the implicit view of the automatic one.
  std::function<std::shared_ptr<const ImplicitSystem>()> make_implicit;

  /// Moves x (or the leading part of y) onto all constraints (least change), where the formulation projects.
  std::function<Evaluation(double t, double* x)> project;
  /// The same for states between steps, where the steps keep the constraints by themselves and interpolation does not.
  std::function<Evaluation(double t, double* x)> project_between;
  /// `project` leaves some points where they are: what it moves others by says nothing about the last step.
  bool projects_seldom = false;
  /// Removes from an error estimate the part that `project` would remove, using what the last ode() call left.
  std::function<void(double* error)> project_error;

  /// Told from where and how far the next step goes, before every attempt, where the system depends on it (by feedback of
  /// what is violated there). True where that has changed the system; between two calls it is one function of (t, x).
  std::function<bool(double t, const double* x, double h)> begin_step;
  /// How far a state is from where `begin_step` changes the system: > 0 while it does not. Steps under control end where it
  /// vanishes, so that the motion does not depend on where steps end. Empty where no change is one of the motion.
  std::function<double(double t, const double* x)> room = {};

  /// Says in the user's names what went wrong in the last failed call.
  std::function<std::string()> explain;

  std::vector<std::string> names;  ///< of the components of x
};

/// Moves y at t with a projection of the system. The unknowns behind the leading ones follow, where the method has them and moves
/// them all: an implicit step that begins with multipliers of another state errs by as much, however short it is.
Evaluation project_all(const System& system, const std::function<Evaluation(double t, double* x)>& project, bool moves_all, double t,
                       double* y);

/// How many components of the state the ODE view has: the leading ones where it is one of two views, else all.
std::size_t ode_dimension(const System& system);

/// Whether the system has this view.
bool shows(const System& system, View view);
/// F(t, y, y') = 0 of the implicit or the overdetermined view; none where the system has neither.
std::shared_ptr<const ImplicitSystem> implicit_equations(const System& system);

/// The ODE x' = f(t, x) as F(t, x, x') = x' - f = 0 with a full Jacobian, by differences where the system gives none.
ImplicitSystem implicit_from_ode(const System& system);

}  // namespace daedalus::integrate
