// Any bytes: a tableau file becomes a method or an Error with places inside the text. A method that claims order p has
// b^T A^(k-1) 1 = 1/k! for k <= p (the tall trees), and runs x' = -x for a few steps.

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "daedalus/integrate/loop.hpp"
#include "daedalus/solve/tableau_method.hpp"
#include "places.hpp"

namespace {

using namespace daedalus;

void check_order(const model::TableauFile& file, int order) {
  const std::size_t stages = file.b.size();
  std::vector<long double> power(stages, 1.0L);  // A^(k-1) 1
  long double factorial = 1.0L;
  for (int k = 1; k <= order; ++k) {
    factorial *= k;
    long double weight = 0.0L;
    std::vector<long double> next(stages, 0.0L);
    for (std::size_t i = 0; i < stages; ++i) {
      weight += file.b[i].value * power[i];
      for (std::size_t j = 0; j < stages; ++j) next[i] += file.a[i][j].value * power[j];
    }
    // Far more than rounding: the claim is about the method, not about the last digits of its coefficients.
    if (!(std::abs(weight * factorial - 1.0L) < 1e-2L)) std::abort();
    power = std::move(next);
  }
}

void run(const integrate::IntegratorEntry& method, integrate::Control control) {
  integrate::System system;
  system.dimension = 1;
  system.ode = [](double, const double* x, double* dx) {
    dx[0] = -x[0];
    return std::isfinite(dx[0]) ? integrate::Evaluation::ok : integrate::Evaluation::not_finite;
  };
  system.explain = [] { return std::string(); };
  system.names = {"x"};
  integrate::LoopOptions loop;
  loop.t_end = 1.0;
  loop.tolerance = {1e-6, {1e-8}};
  loop.max_steps = 20;
  loop.output_times = {0.3, 0.7};
  if (control == integrate::Control::fixed) loop.step = 0.125;
  const Options options(Choice{method.name, {}}, method.options);
  const auto stepper = integrate::make_stepper(method, system, options, control);
  std::vector<double> x{1.0};
  integrate::integrate(system, method, *stepper, loop, {}, x);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const model::TableauFile file = model::read_tableau_text(text, "method.toml");
    if (file.b.size() > 12) return 0;
    const integrate::IntegratorEntry method = solve::tableau_method(file);
    check_order(file, method.order);
    run(method, integrate::Control::fixed);
    run(method, integrate::Control::adaptive);
  } catch (const Error& error) {
    fuzz::check_faults(error);
  }
  return 0;
}
