// The normal form of DAEs against differences and what defines it.

#include "daedalus/formulate/dae_normal_form.hpp"

#include "unit/formulate/tools.hpp"

namespace daedalus::tests {
namespace {

using Vector = std::vector<double>;

/// Models of kind dae that must be differentiated.
std::vector<std::string> reduced_models() {
  std::vector<std::string> names;
  for (const char* name :
       {"capacitor_loop", "circle_dae", "finite_escape", "inductor_cutset", "integrator_chain", "pendulum_dae"})
    names.emplace_back(name);
  return names;
}

class DaeNormalForm : public testing::TestWithParam<std::string> {};

/// A state off the hidden constraints with its coordinates leads back to itself; tangents, slopes and lifted rates are
/// differences of that. Central differences with h of 1e-6 are right to 1e-8 times third derivatives.
TEST_P(DaeNormalForm, IsWhatItSays) {
  const solve::Prepared model = prepared_model(GetParam());
  ASSERT_TRUE(model.reduced);
  const solve::Start start = solve::consistent_start(model, 0.0, solve::Initialize::project);
  ASSERT_TRUE(start.found) << start.message;
  formulate::DaeNormalForm form(model.reduced);
  const auto middle = start.guess.begin() + static_cast<std::ptrdiff_t>(start.guess.size() / 2);
  form.evaluator().guess({start.guess.begin(), middle}, {middle, start.guess.end()});
  ASSERT_EQ(form.choose(0.0, start.x.data()), Evaluation::ok) << form.explain();
  Vector x = start.x, xi(form.xi_count()), eta(form.eta_count());
  const std::size_t states = x.size(), rest = eta.size();
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform(-1e-3, 1e-3);
  for (std::size_t i = 0; i < states; ++i) x[i] += uniform(random) * std::max(1e-2, std::abs(x[i]));
  ASSERT_EQ(form.reduce(0.0, x.data(), xi.data(), eta.data()), Evaluation::ok);
  Vector again = start.x;
  ASSERT_EQ(form.expand(0.0, xi.data(), eta.data(), again.data()), Evaluation::ok) << form.explain();
  for (std::size_t i = 0; i < states; ++i) EXPECT_NEAR(again[i], x[i], 1e-10 * size_of(x)) << i;

  Vector tangents(rest * states), slopes(xi.size() * rest);
  ASSERT_EQ(form.tangents(0.0, x.data(), tangents.data()), Evaluation::ok) << form.explain();
  ASSERT_EQ(form.slopes(0.0, x.data(), slopes.data()), Evaluation::ok) << form.explain();
  const auto moved = [&](double* coordinate, double h) {
    const double kept = *coordinate;
    Vector there = x;
    *coordinate = kept + h;
    EXPECT_EQ(form.expand(0.0, xi.data(), eta.data(), there.data()), Evaluation::ok) << form.explain();
    *coordinate = kept;
    return there;
  };
  for (std::size_t k = 0; k < rest; ++k) {
    const double h = 1e-5 * std::max(1e-2, std::abs(eta[k]));
    const Vector high = moved(&eta[k], h), low = moved(&eta[k], -h);
    double size = 0.0;
    for (std::size_t j = 0; j < states; ++j) size = std::max(size, std::abs(tangents[k * states + j]));
    for (std::size_t j = 0; j < states; ++j)
      EXPECT_NEAR(tangents[k * states + j], (high[j] - low[j]) / (2.0 * h), 1e-5 * size + 1e-14 * std::abs(x[j]) / h)
          << k << ", " << j;
  }
  for (std::size_t i = 0; i < xi.size() && rest > 0; ++i) {
    const double h = 1e-5 * std::max(1e-2, std::abs(xi[i]));
    const Vector high = moved(&xi[i], h), low = moved(&xi[i], -h);
    Vector q_high(rest), q_low(rest);
    ASSERT_EQ(form.rates(0.0, high.data(), q_high.data()), Evaluation::ok);
    ASSERT_EQ(form.rates(0.0, low.data(), q_low.data()), Evaluation::ok);
    double size = 0.0;
    for (std::size_t k = 0; k < rest; ++k) size = std::max(size, std::abs(slopes[i * rest + k]));
    for (std::size_t k = 0; k < rest; ++k)
      EXPECT_NEAR(slopes[i * rest + k], (q_high[k] - q_low[k]) / (2.0 * h),
                  1e-5 * size + 1e-12 * std::abs(q_high[k]) / h)
          << i << ", " << k;
  }

  Vector wanted(xi.size(), 0.1), dx(states), rates(rest);
  ASSERT_EQ(form.lift(0.0, x.data(), wanted.data(), dx.data()), Evaluation::ok) << form.explain();
  ASSERT_EQ(form.rates(0.0, x.data(), rates.data()), Evaluation::ok);
  const double h = 1e-6 / size_of(dx);
  Vector xis[2]{xi, xi}, etas[2]{eta, eta};
  for (const int side : {0, 1}) {
    Vector there = x;
    for (std::size_t i = 0; i < states; ++i) there[i] += (side == 0 ? -h : h) * dx[i];
    ASSERT_EQ(form.reduce(side == 0 ? -h : h, there.data(), xis[side].data(), etas[side].data()), Evaluation::ok);
  }
  const double round_off = 1e-14 * (size_of(x) + size_of(xi)) / h;
  for (std::size_t i = 0; i < xi.size(); ++i)
    EXPECT_NEAR((xis[1][i] - xis[0][i]) / (2.0 * h), 0.1, 1e-5 * size_of(dx) + round_off) << i;
  for (std::size_t k = 0; k < rest; ++k)
    EXPECT_NEAR((etas[1][k] - etas[0][k]) / (2.0 * h), rates[k], 1e-5 * size_of(rates) + round_off) << k;
}

INSTANTIATE_TEST_SUITE_P(Models, DaeNormalForm, testing::ValuesIn(reduced_models()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace daedalus::tests
