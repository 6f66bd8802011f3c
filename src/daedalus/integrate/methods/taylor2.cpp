// With x = (q, v, z), q' = v, v' = a(t, x), z' = r(t, x) and a, r taken at the start of the step,
//   q1 = q + h v + h^2/2 a,   v1 = v + h a,   z1 = z + h r:
// two Taylor terms in q, one in the rest, as in the lecture slides "ODE from mechanical principle". The error of v is
// O(h) and enters q, so the order is 1 although one step errs in q by O(h^3) only.
#include <cstddef>

#include "daedalus/base/check.hpp"
#include "daedalus/integrate/families/two_ends.hpp"
#include "daedalus/integrate/integrator_entry.hpp"

namespace daedalus::integrate {
namespace {

class Taylor2 final : public Stepper {
 public:
  explicit Taylor2(const System& system)
      : dimension_(system.dimension), coordinates_(system.coordinates), ends_(system) {}

  Evaluation start(double t, const double* x) override {
    t_ = t;
    ends_.start(x);
    return Evaluation::ok;
  }

  Attempt attempt(double h, const Tolerance*) override {
    Attempt result;
    result.outcome = ends_.need_slope(t_, stats_);
    if (result.outcome != Evaluation::ok) return result;
    const double* x = ends_.state();
    const double* slope = ends_.slope();
    double* next = ends_.candidate();
    for (std::size_t i = 0; i < dimension_; ++i) next[i] = x[i] + h * slope[i];
    for (std::size_t i = 0; i < coordinates_; ++i) next[i] += 0.5 * h * h * slope[coordinates_ + i];
    return result;
  }

  double* candidate() override { return ends_.candidate(); }

  Evaluation accepted(double t_next) override {
    ends_.advance(t_, t_next);
    t_ = t_next;
    return Evaluation::ok;
  }

  Evaluation replace_state(const double* x) override { return start(t_, x); }
  Evaluation interpolate(double theta, double* x) override { return ends_.interpolate(theta, x, stats_); }
  const double* derivative() const override { return ends_.slope(); }
  const double* state() const override { return ends_.state(); }

 private:
  const std::size_t dimension_, coordinates_;
  TwoEnds ends_;
};

}  // namespace

IntegratorEntry integrator_taylor2() {
  IntegratorEntry entry;
  entry.name = "taylor2";
  entry.summary = "Positions by two Taylor terms, velocities by one: one evaluation per step";
  entry.citation = "Lecture slides \"ODE from mechanical principle\"";
  entry.order = 1;
  entry.stages = 1;
  entry.accepts = {View::second_order};
  entry.dense_order = 1;
  entry.make = [](const System& system, const Options&) -> std::unique_ptr<Stepper> {
    DAEDALUS_CHECK(system.ode && system.coordinates > 0 && 2 * system.coordinates <= system.dimension,
                   "{} coordinates in {} unknowns", system.coordinates, system.dimension);
    return std::make_unique<Taylor2>(system);
  };
  return entry;
}

}  // namespace daedalus::integrate
