// Equations that do not determine at some point what they determine elsewhere: passed and said, or the end of the run.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "folders.hpp"

namespace daedalus::tests {
namespace {

solve::Trajectory run(const model::Model& model, const std::string& formulation, const std::string& method, double t_end,
                      double rtol = 1e-6) {
  solve::RunOptions options;
  options.formulation = formulation;
  options.method = method;
  options.t_end = t_end;
  options.rtol = rtol;
  return solve::simulate(model, options);
}

/// z acts on x2 alone, and the circle says nothing about it where x2 = 0: at pi/2 and 3 pi/2 on the way of x1 = sin t.
TEST(SingularPoints, ArePassedAndSaid) {
  const model::Model model = model::read_model(source_folder() + "/models/circle_dae.toml");
  const std::pair<const char*, const char*> all[] = {
      {"projection", "dop853"}, {"projection", "radau"}, {"projection", "bdf"},  {"projection", "auto"}, {"index1", "dop853"},
      {"baumgarte", "dop853"},  {"direct", "radau"}, {"dummy-derivatives", "dop853"}, {"overdetermined", "bdf"}};
  for (const auto& [formulation, method] : all)
    for (const double rtol : {1e-5, 1e-8}) {
      SCOPED_TRACE(std::string(formulation) + " + " + method + " at " + std::to_string(-std::log10(rtol)));
      const solve::Trajectory trajectory = run(model, formulation, method, 3.0, rtol);
      ASSERT_TRUE(trajectory.success()) << trajectory.message;
      ASSERT_EQ(trajectory.singular_points.size(), 1u);
      const integrate::SingularPoint& point = trajectory.singular_points[0];
      EXPECT_NEAR(point.t, 0.5 * std::numbers::pi, 1e3 * rtol);
      EXPECT_EQ(point.equations, std::vector<std::string>{"der(circle)"});
      EXPECT_EQ(point.unknowns, std::vector<std::string>{"der(x2)"});
      bool said = false;
      for (const std::string& note : trajectory.notes) said = said || note.find("singular at t = 1.57") == 0;
      EXPECT_TRUE(said);
    }
}

/// A coefficient that touches zero and does not change its sign. (radau, which iterates with the matrix from the start of a
/// step, comes to it in ever shorter steps and ends there.)
TEST(SingularPoints, ThatAreTouchedAreSeenToo) {
  const model::Model model = model::read_model_text(R"toml(
kind = "dae"
[variables]
x = { start = 0, fixed = true }
z = 0
[equations]
slow = "(t - 1)^2*(z - sin(x)) = 0"
motion = "der(x) = 1 - 0.1*z"
)toml", "touch");
  for (const std::string method : {"dop853", "bdf"}) {
    const solve::Trajectory trajectory = run(model, "direct", method, 2.0);
    ASSERT_TRUE(trajectory.success()) << trajectory.message;
    ASSERT_EQ(trajectory.singular_points.size(), 1u) << method;
    EXPECT_NEAR(trajectory.singular_points[0].t, 1.0, 1e-3) << method;
    EXPECT_EQ(trajectory.singular_points[0].equations, std::vector<std::string>{"slow"});
    EXPECT_EQ(trajectory.singular_points[0].unknowns, std::vector<std::string>{"z"});
  }
}

/// z^2 = 1 - t has no solution beyond t = 1, where its two solutions meet.
TEST(SingularPoints, ThatEndTheSolutionEndTheRun) {
  const model::Model index1 = model::read_model_text(R"toml(
kind = "dae"
[variables]
x = { start = 1, fixed = true }
z = 1
[equations]
fall = "der(x) = -1"
root = "z^2 = x"
)toml", "root");
  const model::Model index2 = model::read_model_text(R"toml(
kind = "dae"
[variables]
x = 1
y = { start = 1, fixed = true }
z = 1
[equations]
fall = "der(y) = -1"
motion = "der(x) = z"
root = "x^2 = y"
)toml", "root2");
  for (const std::string method : {"dop853", "radau", "bdf"})
    for (const bool higher : {false, true}) {
      const solve::Trajectory trajectory = run(higher ? index2 : index1, higher ? "projection" : "direct", method, 2.0);
      SCOPED_TRACE(method + (higher ? ", index 2: " : ", index 1: ") + trajectory.message);
      EXPECT_EQ(trajectory.status, integrate::Status::singular);
      ASSERT_EQ(trajectory.singular_points.size(), 1u);
      const integrate::SingularPoint& point = trajectory.singular_points[0];
      EXPECT_NEAR(point.t, 1.0, 1e-3);
      EXPECT_LT(point.t, 1.0);
      EXPECT_LT(trajectory.stats.rejected, 60u);
      if (higher) continue;
      EXPECT_EQ(point.equations, std::vector<std::string>{"root"});
      EXPECT_EQ(point.unknowns, std::vector<std::string>{"z"});
    }
}

/// der(x) exp(der(x)) = -y has no solution for y above 1/e: a long step goes over that, and the run ends where the solution does.
/// At x = 0 the two solutions of z^2 = x^2 (1 + x) meet: no step leads away from there.
TEST(SingularPoints, AreNamedWhereStepsGoOverThemOrNoneIsTaken) {
  const model::Model lambert = model::read_model_text(R"toml(
kind = "dae"
[variables]
x = { start = 1, fixed = true }
y = { start = 0, fixed = true }
[equations]
a = "der(x)*exp(der(x)) + y = 0"
b = "der(y) + 0.1*sin(der(y)) = 1.1*x"
)toml", "lambert");
  double end = 0.0;
  for (const std::string method : {"radau", "bdf", "dop853"}) {
    const solve::Trajectory trajectory = run(lambert, "direct", method, 1.0, 1e-8);
    SCOPED_TRACE(method + ": " + trajectory.message);
    EXPECT_EQ(trajectory.status, integrate::Status::singular);
    ASSERT_EQ(trajectory.singular_points.size(), 1u);
    EXPECT_EQ(trajectory.singular_points[0].equations, std::vector<std::string>{"a"});
    EXPECT_EQ(trajectory.singular_points[0].unknowns, std::vector<std::string>{"der(x)"});
    EXPECT_NEAR(trajectory.last("y"), std::exp(-1.0), 0.05);
    if (end > 0.0) {
      EXPECT_NEAR(trajectory.singular_points[0].t, end, 1e-5);
    }
    end = trajectory.singular_points[0].t;
  }
  const model::Model meeting = model::read_model_text(R"toml(
kind = "dae"
[variables]
x = 0
z = 0
[equations]
a = "der(x) = 1 - z"
b = "z^2 = x^2*(1 + x)"
)toml", "meeting");
  const solve::Trajectory trajectory = run(meeting, "direct", "radau", 1.0, 1e-8);
  EXPECT_EQ(trajectory.status, integrate::Status::singular) << trajectory.message;
  ASSERT_EQ(trajectory.singular_points.size(), 1u);
  EXPECT_EQ(trajectory.singular_points[0].equations, std::vector<std::string>{"b"});
  EXPECT_EQ(trajectory.singular_points[0].unknowns, std::vector<std::string>{"z"});
}

/// x = sin, y = cos and z = exp, of 1e6 t, come to a point where z determines nothing. Beside it solutions end there from both sides,
/// and a method that errs goes over it and back again: the run says so, and does not go on for ever.
TEST(SingularPoints, OverWhichStepsGoToAndFroEndTheRun) {
  const model::Model model = model::read_model_text(R"toml(
kind = "dae"
[variables]
x = 0
y = 1
z = { start = 1e6, nominal = 1e6 }
[equations]
a = "der(x) - z - 1e6*y = -1e6*exp(-1e6*t)"
b = "der(y) + 1e6*x - z*x = -1e6*exp(-1e6*t)*sin(1e6*t)"
c = "x + y^2 = sin(1e6*t) + cos(1e6*t)^2"
)toml", "fro");
  for (const std::string formulation : {"projection", "index1"}) {
    const solve::Trajectory trajectory = run(model, formulation, "dop853", 3e-6, 1e-5);
    EXPECT_FALSE(trajectory.success()) << formulation;
    EXPECT_LT(trajectory.stats.steps, 2000u) << formulation;
    ASSERT_GT(trajectory.singular_points.size(), 100u) << formulation;
    EXPECT_NE(trajectory.message.find("'a', 'b' and 'der(c)' do not determine"), std::string::npos) << trajectory.message;
  }
}

/// Coefficients that only decay, or change much and fast, are no singular points.
/// x, the factor of z, falls by four decades and stays ten thousand tolerances above zero: radau may be off by a hundred in
/// components that have decayed.
TEST(SingularPoints, AreNotSeenWhereThereAreNone) {
  const model::Model decay = model::read_model_text(R"toml(
kind = "dae"
[variables]
x = { start = 1, fixed = true }
y = { start = 2, fixed = true }
z = 0
[equations]
fast = "der(x) = -1000*(x - 1e-4)"
weak = "x*z = y*x"
swing = "der(y) = cos(5*t)*z"
)toml", "decay");
  for (const std::string method : {"dop853", "radau", "bdf"}) {
    const solve::Trajectory trajectory = run(decay, "direct", method, 1.0);
    EXPECT_TRUE(trajectory.success()) << trajectory.message;
    EXPECT_TRUE(trajectory.singular_points.empty()) << method;
  }
}

/// x1 = 1, x2 = 0 is a solution of the circle's equations that stays, and one that moves on goes through it: the equations
/// alone do not choose.
TEST(SingularPoints, AStartAtOneIsTold) {
  for (const bool there : {true, false}) {
    model::Overrides overrides;
    overrides.set = {{"x1", there ? "1" : "0.6"}, {"x2", there ? "0" : "0.8"}};
    solve::RunOptions options;
    options.t_end = 0.1;
    const solve::Trajectory run = solve::simulate(
        solve::prepare(model::read_model(source_folder() + "/models/circle_dae.toml", overrides)), options);
    ASSERT_TRUE(run.success()) << run.message;
    const bool told = std::ranges::any_of(run.notes, [](const std::string& note) {
      return note.starts_with("the system Jacobian is singular at the start, its rows for circle follow from others");
    });
    EXPECT_EQ(told, there);
  }
}

}  // namespace
}  // namespace daedalus::tests
