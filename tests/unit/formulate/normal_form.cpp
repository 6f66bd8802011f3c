// The normal form of constrained motion and the gains of the Lyapunov stabilization against finite differences, a
// derivation by hand, and what defines them.

#include "daedalus/formulate/lyapunov_flow.hpp"
#include "daedalus/formulate/mechanical_normal_form.hpp"
#include "unit/formulate/slider_crank_by_hand.hpp"
#include "unit/formulate/tools.hpp"

namespace daedalus::tests {
namespace {

using formulate::LyapunovFlow;
using formulate::MechanicalNormalForm;
using formulate::Path;
using mechanics::Completion;
using Vector = std::vector<double>;

constexpr Completion completions[] = {Completion::momentum, Completion::velocity};

/// A form with coordinates chosen at the start, and a state off the constraints.
struct Off {
  MechanicalNormalForm form;
  Vector x, xi, eta;
  double t = 0.1;

  Off(const solve::Prepared& model, Completion completion, double size, unsigned seed)
      : form(model.functions, completion) {
    const Ready ready(model, "index1");
    x = ready.near(size, seed);
    EXPECT_EQ(form.choose(0.0, ready.x.data()), Evaluation::ok) << form.explain();
    xi.resize(form.xi_count());
    eta.resize(form.eta_count());
    EXPECT_EQ(form.reduce(t, x.data(), xi.data(), eta.data()), Evaluation::ok) << form.explain();
  }
};

std::vector<std::string> constrained_models() {
  std::vector<std::string> names;
  for (const std::string& name : smooth_models())
    if (name != "slider_crank_position" && prepared_model(name).functions->m > 0) names.push_back(name);
  return names;
}

class NormalForm : public testing::TestWithParam<std::string> {};

TEST_P(NormalForm, LeadsThereAndBack) {
  const solve::Prepared model = prepared_model(GetParam());
  for (const Completion completion : completions) {
    Off off(model, completion, 1e-3, 1);
    Vector again = off.x;
    for (double& value : again) value *= 1.0 + 1e-4;
    ASSERT_EQ(off.form.expand(off.t, off.xi.data(), off.eta.data(), again.data()), Evaluation::ok) << off.form.explain();
    // Round-off of a well-conditioned system; masses of very different size cost some digits.
    for (std::size_t i = 0; i < again.size(); ++i) EXPECT_NEAR(again[i], off.x[i], 1e-9 * size_of(off.x)) << i;
  }
}

/// Central differences of the rates along every xi. Their error is h^2 times third derivatives and eps/h.
TEST_P(NormalForm, DifferentiatesTheRatesAcrossTheConstraints) {
  const solve::Prepared model = prepared_model(GetParam());
  for (const Completion completion : completions) {
    Off off(model, completion, 1e-3, 2);
    const std::size_t rest = off.eta.size();
    Vector slopes(off.xi.size() * rest), high(rest), low(rest);
    ASSERT_EQ(off.form.slopes(off.t, off.x.data(), slopes.data()), Evaluation::ok) << off.form.explain();
    const double size = size_of(slopes);
    for (std::size_t i = 0; i < off.xi.size(); ++i) {
      const double h = 1e-5 * std::max(1e-2, std::abs(off.xi[i]));
      const auto rates_at = [&](double shift, Vector& rates) {
        Vector xi = off.xi, x = off.x;
        xi[i] += shift;
        ASSERT_EQ(off.form.expand(off.t, xi.data(), off.eta.data(), x.data()), Evaluation::ok) << off.form.explain();
        ASSERT_EQ(off.form.rates(off.t, x.data(), rates.data()), Evaluation::ok) << off.form.explain();
      };
      rates_at(h, high);
      rates_at(-h, low);
      double round_off = 0.0;
      for (std::size_t k = 0; k < rest; ++k) round_off = std::max(round_off, 1e-13 * std::abs(high[k]) / h);
      for (std::size_t k = 0; k < rest; ++k)
        EXPECT_NEAR(slopes[i * rest + k], (high[k] - low[k]) / (2.0 * h), 3e-5 * size + 100.0 * round_off) << i << ", " << k;
    }
  }
}

/// Central differences of the states along every xi and every eta, the others fixed.
TEST_P(NormalForm, FollowsItsCoordinates) {
  const solve::Prepared model = prepared_model(GetParam());
  for (const Completion completion : completions) {
    Off off(model, completion, 1e-3, 5);
    const std::size_t states = off.x.size(), across = off.xi.size();
    Vector directions(states * states);
    ASSERT_EQ(off.form.crossings(off.t, off.x.data(), directions.data()), Evaluation::ok) << off.form.explain();
    ASSERT_EQ(off.form.tangents(off.t, off.x.data(), directions.data() + across * states), Evaluation::ok) << off.form.explain();
    for (std::size_t k = 0; k < states; ++k) {
      const Vector own(directions.begin() + static_cast<std::ptrdiff_t>(k * states), directions.begin() + static_cast<std::ptrdiff_t>((k + 1) * states));
      const double h = 1e-5 * size_of(off.x) / size_of(own);
      Vector sides[2]{off.x, off.x};
      for (const int side : {0, 1}) {
        Vector xi = off.xi, eta = off.eta;
        (k < across ? xi[k] : eta[k - across]) += side == 0 ? -h : h;
        ASSERT_EQ(off.form.expand(off.t, xi.data(), eta.data(), sides[side].data()), Evaluation::ok) << off.form.explain();
      }
      for (std::size_t j = 0; j < states; ++j)
        EXPECT_NEAR(own[j], (sides[1][j] - sides[0][j]) / (2.0 * h), 1e-6 * size_of(own)) << k << ", " << j;
    }
  }
}

/// Central differences of the positions with the time, all coordinates fixed.
TEST_P(NormalForm, MovesWithItsConstraints) {
  const solve::Prepared model = prepared_model(GetParam());
  Off off(model, Completion::momentum, 1e-3, 6);
  const std::size_t states = off.x.size(), n = model.functions->n;
  Vector drift(states);
  ASSERT_EQ(off.form.drift(off.t, off.x.data(), drift.data()), Evaluation::ok) << off.form.explain();
  if (!off.form.moves_with_time()) {
    EXPECT_EQ(drift, Vector(states, 0.0));
    return;
  }
  const double h = 1e-5;
  Vector sides[2]{off.x, off.x};
  for (const int side : {0, 1})
    ASSERT_EQ(off.form.expand(off.t + (side == 0 ? -h : h), off.xi.data(), off.eta.data(), sides[side].data()), Evaluation::ok);
  for (std::size_t j = 0; j < n; ++j) EXPECT_NEAR(drift[j], (sides[1][j] - sides[0][j]) / (2.0 * h), 1e-6 * size_of(drift)) << j;
}

/// Along x' of `lift` xi changes as asked and eta by its rates.
TEST_P(NormalForm, LiftsRates) {
  const solve::Prepared model = prepared_model(GetParam());
  for (const Completion completion : completions) {
    Off off(model, completion, 1e-3, 3);
    Vector wanted(off.xi.size()), dx(off.x.size()), rates(off.eta.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] = 0.1 + 0.01 * static_cast<double>(i);
    ASSERT_EQ(off.form.lift(off.t, off.x.data(), wanted.data(), dx.data()), Evaluation::ok) << off.form.explain();
    ASSERT_EQ(off.form.rates(off.t, off.x.data(), rates.data()), Evaluation::ok) << off.form.explain();
    const double h = 1e-6 / size_of(dx);
    Vector xi[2]{off.xi, off.xi}, eta[2]{off.eta, off.eta};
    for (const int side : {0, 1}) {
      const double shift = side == 0 ? -h : h;
      Vector x = off.x;
      for (std::size_t i = 0; i < x.size(); ++i) x[i] += shift * dx[i];
      ASSERT_EQ(off.form.reduce(off.t + shift, x.data(), xi[side].data(), eta[side].data()), Evaluation::ok);
    }
    const double round_off = 1e-14 * (size_of(off.xi) + size_of(off.eta)) / h;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_NEAR((xi[1][i] - xi[0][i]) / (2.0 * h), wanted[i], 1e-5 * size_of(dx) + round_off) << i;
    for (std::size_t k = 0; k < rates.size(); ++k)
      EXPECT_NEAR((eta[1][k] - eta[0][k]) / (2.0 * h), rates[k], 1e-5 * size_of(rates) + round_off) << k;
  }
}

/// q(xi, eta) - q(0, eta) = sum q_i xi_i, for either path: what the gains rest on, (20). Violations are small enough for
/// five Gauss points to be exact.
TEST_P(NormalForm, SplitsWhatViolationsDo) {
  const solve::Prepared model = prepared_model(GetParam());
  for (const Completion completion : completions)
    for (const Path path : {Path::ray, Path::sequential}) {
      const Ready ready(model, "index1");
      LyapunovFlow<MechanicalNormalForm> flow(MechanicalNormalForm(model.functions, completion), {1.0, 1.0, path});
      ASSERT_EQ(flow.begin(0.0, ready.x.data()), Evaluation::ok) << flow.explain();
      Vector x = ready.near(1e-3, 4), on = x, there(flow.form().eta_count()), here(there.size());
      ASSERT_EQ(flow.gains(0.0, x.data()), Evaluation::ok) << flow.explain();
      ASSERT_EQ(flow.form().rates(0.0, x.data(), there.data()), Evaluation::ok);
      const Vector zero(flow.xi().size(), 0.0), eta = flow.eta();
      ASSERT_EQ(flow.form().expand(0.0, zero.data(), eta.data(), on.data()), Evaluation::ok) << flow.form().explain();
      ASSERT_EQ(flow.form().rates(0.0, on.data(), here.data()), Evaluation::ok);
      double largest = 0.0;
      for (std::size_t i = 0; i < zero.size(); ++i)
        for (std::size_t k = 0; k < there.size(); ++k)
          largest = std::max(largest, std::abs(flow.slope()[i * there.size() + k] * flow.xi()[i]));
      for (std::size_t k = 0; k < there.size(); ++k) {
        double sum = here[k];
        for (std::size_t i = 0; i < zero.size(); ++i) sum += flow.slope()[i * there.size() + k] * flow.xi()[i];
        EXPECT_NEAR(sum, there[k], 1e-6 * largest + 1e-10 * size_of(there)) << k;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Models, NormalForm, testing::ValuesIn(constrained_models()),
                         [](const auto& one) { return one.param; });

/// The q_i of the paper, with psi=velocity and path=sequential, far from the constraint too.
TEST(LyapunovGains, AreThePapersForTheSliderCrank) {
  const solve::Prepared model = prepared_model("slider_crank");
  const SliderCrankByHand hand;
  LyapunovFlow<MechanicalNormalForm> flow(MechanicalNormalForm(model.functions, Completion::velocity),
                                          {1.0, 0.1, Path::sequential});
  const Ready ready(model, "index1");
  ASSERT_EQ(flow.begin(0.0, ready.x.data()), Evaluation::ok) << flow.explain();
  for (const double xi1 : {-0.8, -1e-4, -1e-9, 0.0, 1e-12, 0.3})
    for (const double xi2 : {-9.0, 0.0, 1e-7, 10.0})
      for (const double eta1 : {0.7, -2.0})
        for (const double eta2 : {0.0, 5.0}) {
          SCOPED_TRACE(testing::Message() << xi1 << ' ' << xi2 << ' ' << eta1 << ' ' << eta2);
          const Vector x{eta1, M_PI + xi1 - eta1, eta2, xi2 - eta2};
          ASSERT_EQ(flow.gains(0.0, x.data()), Evaluation::ok) << flow.explain();
          const double q1 = hand.q1(xi1, eta1, eta2), q2 = hand.q2(xi1, xi2, eta1, eta2);
          const Vector& q = flow.slope();
          EXPECT_EQ(q[0], 0.0);
          EXPECT_EQ(q[2], 0.0);
          // The nearest pole of q is 0.96 from the real axis: on a path of length 0.8 ten Gauss points err by 5^-20.
          EXPECT_NEAR(q[1], q1, 1e-11 * (1.0 + std::abs(q1) + eta2 * eta2));
          EXPECT_NEAR(q[3], q2, 1e-11 * (1.0 + std::abs(q2)));
          EXPECT_NEAR(flow.gain()[1], -0.5 * q2 * q2 - 0.1, 1e-10 * (1.0 + q2 * q2));
        }
}

}  // namespace
}  // namespace daedalus::tests
