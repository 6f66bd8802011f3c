// The Lobatto IIIA-IIIB pair: orders, constraints, the two-form by dual numbers, reversibility, energy, refusals.
#include <gtest/gtest.h>

#include <limits>

#include "daedalus/base/check.hpp"
#include "daedalus/base/error.hpp"
#include "daedalus/integrate/families/lobatto_pair.hpp"
#include "daedalus/linalg/kkt.hpp"
#include "unit/integrate/mechanical_problems.hpp"
#include "unit/integrate/problems.hpp"

namespace daedalus::integrate {
namespace {

using problems::Ellipse;

constexpr double epsilon = std::numeric_limits<double>::epsilon();

std::unique_ptr<Stepper> rattle(const System& system, const std::string& order, Control control = Control::fixed) {
  const IntegratorEntry& entry = integrator("rattle");
  return make_stepper(entry, system, Options(Choice{"rattle", {{"order", order}}}, entry.options), control);
}

LoopResult run(const System& system, const std::string& order, const LoopOptions& options, std::vector<double>& x,
               const Observer& observer = {}) {
  const std::unique_ptr<Stepper> stepper = rattle(system, order, options.step ? Control::fixed : Control::adaptive);
  return integrate(system, integrator("rattle"), *stepper, options, observer, x);
}

/// Largest errors of q, v and lambda (from the equations of motion) on the way.
std::array<double, 3> errors(const Ellipse& problem, const std::string& order, int steps) {
  const System system = problem.system();
  std::array<double, 3> largest{};
  Observer observer;
  observer.step = [&](double t, const double* x) {
    const std::vector<double> exact = problem.exact(t);
    for (std::size_t i = 0; i < 4; ++i) largest[i / 2] = std::max(largest[i / 2], std::abs(x[i] - exact[i]));
    largest[2] = std::max(largest[2], std::abs(problem.lambda(t, x) - Ellipse::solution(t).lambda));
  };
  std::vector<double> x = problem.exact(0.0);
  EXPECT_EQ(run(system, order, problems::fixed(4.0, 4.0 / steps), x, observer).status, Status::done);
  return largest;
}

TEST(Rattle, OrdersAreTwoAndFour) {
  for (const Ellipse& problem : {Ellipse{0.0, 0.0}, Ellipse{0.3, 0.0}, Ellipse{0.0, 0.2}, Ellipse{0.3, 0.2}}) {
    for (const int order : {2, 4}) {
      // Errors at the end of three halvings are 1000 round-offs or more: 4e-3^4 = 1e-10 times constants of about 1.
      const int finest = order == 2 ? 2048 : 512;
      const auto coarse = errors(problem, std::to_string(order), finest / 8);
      const auto fine = errors(problem, std::to_string(order), finest);
      for (std::size_t kind = 0; kind < 3; ++kind) {
        const double measured = std::log2(coarse[kind] / fine[kind]) / 3.0;
        EXPECT_NEAR(measured, order, 0.1) << "c = " << problem.c << ", k = " << problem.k << ", kind " << kind;
        RecordProperty("order" + std::to_string(order) + "_c" + std::to_string(problem.c != 0.0) + "_k" +
                           std::to_string(problem.k != 0.0) + "_kind" + std::to_string(kind),
                       std::to_string(measured));
      }
    }
  }
}

TEST(Rattle, ConstraintsHoldToRoundOff) {
  for (const char* order : {"2", "4"}) {
    const Ellipse problem{0.3, 0.1};
    double position = 0.0, velocity = 0.0;
    Observer observer;
    observer.step = [&](double, const double* x) {
      position = std::max(position, std::abs(x[0] * x[0] + 0.25 * x[1] * x[1] - 1.0));
      velocity = std::max(velocity, std::abs(2.0 * x[0] * x[2] + 0.5 * x[1] * x[3]));
    };
    std::vector<double> x = problem.exact(0.0);
    EXPECT_EQ(run(problem.system(), order, problems::fixed(10.0, 0.02), x, observer).status, Status::done);
    // Sums of two terms of size 1 and 2 with three roundings each.
    EXPECT_LT(position, 6 * epsilon);
    EXPECT_LT(velocity, 12 * epsilon);
  }
}

TEST(Rattle, ComesBack) {
  for (const char* order : {"2", "4"}) {
    for (const Ellipse& problem : {Ellipse{0.0, 0.0}, Ellipse{0.3, 0.2}}) {
      const System system = problem.system();
      const std::vector<double> start = problem.exact(0.0);
      std::vector<double> x = start;
      ASSERT_EQ(run(system, order, problems::fixed(5.0, 0.05), x).status, Status::done);
      LoopOptions back = problems::fixed(0.0, 0.05);
      back.t_start = 5.0;
      ASSERT_EQ(run(system, order, back, x).status, Status::done);
      // 200 steps, each with some ten roundings of numbers up to 3, and errors that grow with the time, here by less
      // than 10.
      EXPECT_LT(problems::distance(x, start), 10.0 * 3.0 * std::sqrt(10.0 * 200) * epsilon)
          << order << ", c = " << problem.c;
    }
  }
}

TEST(Rattle, EnergyErrorIsBounded) {
  const System system = problems::spherical_pendulum();
  for (const char* order : {"2", "4"}) {
    std::vector<double> x{0.8, 0.0, -0.6, 0.0, 0.5, 0.0};
    const double energy = problems::spherical_energy(x.data()), moment = x[0] * x[4] - x[1] * x[3];
    double first = 0.0, last = 0.0, turned = 0.0;
    constexpr double end = 1e4, h = 0.1;
    Observer observer;
    observer.step = [&](double t, const double* y) {
      const double error = std::abs(problems::spherical_energy(y) - energy);
      if (t < 0.1 * end) first = std::max(first, error);
      if (t > 0.9 * end) last = std::max(last, error);
      turned = std::max(turned, std::abs(y[0] * y[4] - y[1] * y[3] - moment));
    };
    const LoopResult result = run(system, order, problems::fixed(end, h), x, observer);
    EXPECT_EQ(result.status, Status::done);
    EXPECT_EQ(result.stats.steps, 100000u);
    // It returns to the same maximum, met more or less closely, plus 1e5 roundings of 1e-16 in random directions.
    EXPECT_LT(last, 1.01 * first + 1e-12) << order;
    EXPECT_GT(first, 1e-8) << "too small to tell";
    // The angular momentum about the vertical is quadratic: the pair keeps it.
    EXPECT_LT(turned, 3.0 * std::sqrt(10.0 * 1e5) * epsilon) << order;
    if (std::string(order) == "2") {
      // A constant mass and a force of position: one evaluation per step, and one factorization.
      EXPECT_LE(result.stats.rhs, 100001u);
      EXPECT_LE(result.stats.factorizations, 100001u);
    }
  }
}

/// Value and derivatives by four parameters.
struct Dual {
  double value = 0.0;
  std::array<double, 4> part{};
  Dual() = default;
  Dual(double given) : value(given) {}
  Dual& operator+=(const Dual& other) {
    value += other.value;
    for (std::size_t i = 0; i < 4; ++i) part[i] += other.part[i];
    return *this;
  }
  Dual& operator-=(const Dual& other) { return *this += Dual(-1.0) * other; }
  friend Dual operator*(const Dual& a, const Dual& b) {
    Dual product(a.value * b.value);
    for (std::size_t i = 0; i < 4; ++i) product.part[i] = a.value * b.part[i] + a.part[i] * b.value;
    return product;
  }
  friend Dual operator+(Dual a, const Dual& b) { return a += b; }
  friend Dual operator-(Dual a, const Dual& b) { return a -= b; }
  friend Dual operator-(const Dual& a) { return Dual(-1.0) * a; }
};

double magnitude(const Dual& value) {
  double largest = std::abs(value.value);
  for (const double part : value.part) largest = std::max(largest, std::abs(part));
  return largest;
}

/// Two particles in the plane, the first on the unit circle, the second at distance 1 from the first, with masses that
/// depend on the place, coupled: L = v^T M(q) v / 2 - V(q), q = (x1, y1, x2, y2),
///   M = [1 + x1^2/5, 0, 1/10, 0; 0, 1, 0, 0; 1/10, 0, 1, y2/4; 0, 0, y2/4, 2],   V = y1 + 2 y2 + x1 y2 / 2 + x2^2/4.
struct DoublePendulum {
  std::size_t n = 4, m = 2;
  linalg::Sparsity mass{4, 4, {0, 2, 3, 6, 8}, {0, 2, 1, 0, 2, 3, 2, 3}};
  linalg::Sparsity jacobian{2, 4, {0, 2, 6}, {0, 1, 0, 1, 2, 3}};
  bool constant_mass = false, force_of_position = false;

  Evaluation geometry(double, const Dual* q, Dual* M, Dual* G, Dual* g) {
    const Dual masses[] = {1.0 + 0.2 * (q[0] * q[0]), 0.1, 1.0, 0.1, 1.0, 0.25 * q[3], 0.25 * q[3], 2.0};
    std::copy(std::begin(masses), std::end(masses), M);
    const Dual dx = q[2] - q[0], dy = q[3] - q[1];
    const Dual slopes[] = {2.0 * q[0], 2.0 * q[1], -2.0 * dx, -2.0 * dy, 2.0 * dx, 2.0 * dy};
    std::copy(std::begin(slopes), std::end(slopes), G);
    g[0] = q[0] * q[0] + q[1] * q[1] - 1.0;
    g[1] = dx * dx + dy * dy - 1.0;
    return Evaluation::ok;
  }
  Evaluation velocity(double, const Dual* q, const Dual* v, Dual* c) {
    c[0] = 2.0 * (q[0] * v[0] + q[1] * v[1]);
    c[1] = 2.0 * ((q[2] - q[0]) * (v[2] - v[0]) + (q[3] - q[1]) * (v[3] - v[1]));
    return Evaluation::ok;
  }
  Evaluation force(double, const Dual* q, const Dual* v, Dual* F) {
    F[0] = 0.2 * (q[0] * (v[0] * v[0])) - 0.5 * q[3];
    F[1] = -1.0;
    F[2] = -0.5 * q[2];
    F[3] = 0.25 * (v[2] * v[3]) - 2.0 - 0.5 * q[0];
    return Evaluation::ok;
  }

  /// Factors of the values, applied to values and derivatives: Newton's method corrects what these leave out.
  struct Solver {
    explicit Solver(const DoublePendulum& p)
        : kkt(p.mass, p.jacobian), alone(p.mass, linalg::Sparsity{0, 4, {0}, {}}) {}
    Evaluation factor(const std::vector<Dual>& M, const std::vector<Dual>& G) {
      double masses[8], slopes[6];
      for (std::size_t i = 0; i < 8; ++i) masses[i] = M[i].value;
      for (std::size_t i = 0; i < 6; ++i) slopes[i] = G[i].value;
      const bool good = alone.factor(masses, slopes) == linalg::KktOutcome::regular &&
                        kkt.factor(masses, slopes) == linalg::KktOutcome::regular;
      return good ? Evaluation::ok : Evaluation::singular;
    }
    template <class Solve>
    static void each(Dual* f, Dual* gamma, const Solve& solve) {
      for (std::size_t part = 0; part < 5; ++part) {
        const auto of = [&](Dual& d) -> double& { return part == 0 ? d.value : d.part[part - 1]; };
        double a[4], b[2] = {0.0, 0.0};
        for (std::size_t i = 0; i < 4; ++i) a[i] = of(f[i]);
        if (gamma != nullptr)
          for (std::size_t i = 0; i < 2; ++i) b[i] = of(gamma[i]);
        solve(a, b);
        for (std::size_t i = 0; i < 4; ++i) of(f[i]) = a[i];
        if (gamma != nullptr)
          for (std::size_t i = 0; i < 2; ++i) of(gamma[i]) = b[i];
      }
    }
    void solve(Dual* f, Dual* gamma) {
      each(f, gamma, [&](double* a, double* b) { kkt.solve(a, b, a, b); });
    }
    void solve_mass(Dual* f) {
      each(f, nullptr, [&](double* a, double*) { alone.solve(a, nullptr, a, nullptr); });
    }
    linalg::KktSolver kkt, alone;
  };
  Solver& start_solver() { return *start; }
  Solver& end_solver() { return *end; }
  std::unique_ptr<Solver> start, end;
  DoublePendulum() : start(std::make_unique<Solver>(*this)), end(std::make_unique<Solver>(*this)) {}
};

/// omega(i, j) = dq_i . dp_j - dq_j . dp_i with p = M v, for the derivatives by all pairs of parameters.
std::array<double, 16> two_form(DoublePendulum& problem, const std::vector<Dual>& q, const std::vector<Dual>& v,
                                double& largest) {
  std::vector<Dual> M(8), G(6), g(2), p(4);
  problem.geometry(0.0, q.data(), M.data(), G.data(), g.data());
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = problem.mass.row_start[i]; k < problem.mass.row_start[i + 1]; ++k)
      p[i] += M[k] * v[problem.mass.column[k]];
  std::array<double, 16> omega{};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      for (std::size_t k = 0; k < 4; ++k) {
        omega[4 * i + j] += q[k].part[i] * p[k].part[j] - q[k].part[j] * p[k].part[i];
        largest = std::max({largest, std::abs(q[k].part[i]), std::abs(p[k].part[j])});
      }
    }
  }
  return omega;
}

/// Largest change of the two-form in some steps, relative to the square of the largest derivative.
double two_form_defect(DoublePendulum& problem, int order, bool spoiled) {
  // Angles of the rods with the vertical and their rates are the parameters: tangent vectors by construction.
  const double a = 0.7, b = -0.4, da = 0.5, db = 1.1;
  const auto parameter = [](double value, std::size_t number) {
    Dual d(value);
    d.part[number] = 1.0;
    return d;
  };
  const Dual rate_a = parameter(da, 2), rate_b = parameter(db, 3);
  const auto circle = [](double value, std::size_t number) {
    Dual sine(std::sin(value)), cosine(std::cos(value));
    sine.part[number] = std::cos(value);
    cosine.part[number] = -std::sin(value);
    return std::pair(sine, cosine);
  };
  const auto [sine_a, cosine_a] = circle(a, 0);
  const auto [sine_b, cosine_b] = circle(b, 1);
  std::vector<Dual> q{sine_a, -cosine_a, sine_a + sine_b, -cosine_a - cosine_b};
  std::vector<Dual> v{cosine_a * rate_a, sine_a * rate_a, cosine_a * rate_a + cosine_b * rate_b,
                      sine_a * rate_a + sine_b * rate_b};
  double largest = 0.0;
  const std::array<double, 16> before = two_form(problem, q, v, largest);
  LobattoPair pair = lobatto_pair(order);
  if (spoiled) pair.A = {1.0 / 6.0, -1.0 / 6.0, 0.0, 1.0 / 6.0, 1.0 / 3.0 + 0.01, -0.01, 1.0 / 6.0, 5.0 / 6.0, 0.0};
  LobattoStep<Dual, DoublePendulum> step(problem, pair);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(step.begin(0.0, q.data()), Evaluation::ok);
    std::vector<Dual> q1(4), v1(4);
    EXPECT_EQ(step.step(0.0, v.data(), 0.05, q1.data(), v1.data()), Evaluation::ok);
    q = q1;
    v = v1;
  }
  const std::array<double, 16> after = two_form(problem, q, v, largest);
  double defect = 0.0;
  for (std::size_t i = 0; i < 16; ++i) defect = std::max(defect, std::abs(after[i] - before[i]));
  return defect / (largest * largest);
}

TEST(Rattle, KeepsTheTwoForm) {
  DoublePendulum problem;
  // 50 steps round every derivative some twenty times, which adds up as a square root; eight products make one entry.
  const double round_off = 8.0 * std::sqrt(20.0 * 50.0) * epsilon;
  const double second = two_form_defect(problem, 2, false), fourth = two_form_defect(problem, 4, false);
  EXPECT_LT(second, round_off);
  EXPECT_LT(fourth, round_off);
  RecordProperty("defect2", std::to_string(second / epsilon));
  RecordProperty("defect4", std::to_string(fourth / epsilon));
}

TEST(Rattle, TwoFormOfAnotherMethodIsSeenToChange) {
  // The constraint forces of an order that is not symplectic: Lobatto IIIA for the momenta as well, which has no L of
  // the last stage. A change of A by 0.01 in the second stage is enough.
  DoublePendulum problem;
  EXPECT_GT(two_form_defect(problem, 4, true), 1e-9);
}

TEST(Rattle, DenseOutputPassesBothEnds) {
  const Ellipse problem{0.3, 0.1};
  const System system = problem.system();
  const std::unique_ptr<Stepper> stepper = rattle(system, "4");
  const std::vector<double> start = problem.exact(0.4);
  for (const double h : {0.2, 0.1, -0.1}) {
    ASSERT_EQ(stepper->start(0.4, start.data()), Evaluation::ok);
    ASSERT_EQ(stepper->attempt(h, nullptr).outcome, Evaluation::ok);
    ASSERT_EQ(stepper->accepted(0.4 + h), Evaluation::ok);
    std::vector<double> row(4);
    ASSERT_EQ(stepper->interpolate(0.0, row.data()), Evaluation::ok);
    EXPECT_LT(problems::distance(row, start), 1e-15);
    ASSERT_EQ(stepper->interpolate(1.0, row.data()), Evaluation::ok);
    EXPECT_LT(problems::distance(row, std::vector<double>(stepper->state(), stepper->state() + 4)), 4e-15);
    ASSERT_EQ(stepper->interpolate(0.37, row.data()), Evaluation::ok);
    // Cubic polynomials for v err by h^4 |v''''| / 384, with derivatives below 100.
    EXPECT_LT(problems::distance(row, problem.exact(0.4 + 0.37 * h)), 100.0 / 384.0 * std::pow(h, 4.0));
  }
}

TEST(Rattle, StepControlFollowsTheTolerance) {
  const Ellipse problem{0.3, 0.1};
  const System system = problem.system();
  // A step may err by tol (1 + |x|) <= 4 tol, and errors grow by less than 10 on this way: n steps make at most 40 n
  // tol.
  const auto error = [&](double tolerance) {
    std::vector<double> x = problem.exact(0.0);
    const LoopResult result = run(system, "2", problems::controlled(system, 4.0, tolerance), x);
    EXPECT_EQ(result.status, Status::done);
    const double distance = problems::distance(x, problem.exact(4.0));
    EXPECT_LT(distance, 40.0 * tolerance * static_cast<double>(result.stats.steps));
    return distance;
  };
  // For order 2 an error per step of tol makes a global one of tol^(2/3): a factor of 22 for 100.
  EXPECT_LT(error(1e-6), 0.1 * error(1e-4));
}

TEST(Rattle, RefusesWhatItCannotTake) {
  System system = Ellipse{}.system();
  auto rolling = std::make_shared<MechanicalSystem>(*system.mechanical);
  rolling->holonomic_rows.clear();
  rolling->constraint_names = {"rolling"};
  system.mechanical = rolling;
  try {
    rattle(system, "2");
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.faults()[0].code, "method-does-not-fit");
    EXPECT_NE(error.faults()[0].message.find("'rolling'"), std::string::npos);
  }
  Ellipse with_auxiliary;
  with_auxiliary.auxiliary = true;
  EXPECT_THROW(rattle(with_auxiliary.system(), "2"), Error);
  EXPECT_THROW(rattle(problems::kepler(), "2"), InternalError);
}

}  // namespace
}  // namespace daedalus::integrate
