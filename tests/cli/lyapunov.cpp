// analyze --zero-dynamics, and starts off the constraints on purpose.

#include <gtest/gtest.h>

#include <cmath>

#include "cli/run.hpp"

namespace daedalus::tests {
namespace {

/// The zero dynamics of the slider-crank are (72) of Di Franco, Scarciotti, Astolfi: at (0, pi) 5 eta'' + c eta' + g eta = 0,
/// at (pi, 0) 5 eta'' + c eta' - g eta = 0.
TEST(ZeroDynamics, OfTheSliderCrankRestWhereThePaperSays) {
  const auto call = daedalus("analyze models/slider_crank.toml --set c=3 --zero-dynamics --json");
  ASSERT_EQ(call.status, 0) << call.err;
  const auto zero = call.json()["zero_dynamics"];
  EXPECT_EQ(zero["dimension"], 2);
  EXPECT_EQ(zero["constraints"], 2);
  EXPECT_EQ(zero["autonomous"], true);
  bool hanging = false, upright = false;
  for (const auto& one : zero["equilibria"]) {
    const double theta1 = one["state"]["theta1"], theta2 = one["state"]["theta2"];
    EXPECT_NEAR(theta1 + theta2, M_PI, 1e-9);
    EXPECT_NEAR(std::sin(theta1), 0.0, 1e-9);
    const bool down = std::cos(theta1) > 0.0;
    (down ? hanging : upright) = true;
    EXPECT_EQ(one["stability"], down ? "asymptotically stable" : "unstable");
    for (const auto& eigenvalue : one["eigenvalues"]) {
      const double a = eigenvalue[0], b = eigenvalue[1];
      EXPECT_NEAR(5.0 * (a * a - b * b) + 3.0 * a + (down ? 9.81 : -9.81), 0.0, 1e-5);
      EXPECT_NEAR(10.0 * a * b + 3.0 * b, 0.0, 1e-5);
    }
  }
  EXPECT_TRUE(hanging && upright);
  const auto text = daedalus("analyze models/slider_crank.toml --zero-dynamics");
  EXPECT_NE(text.out.find("not decided by its linearization"), std::string::npos) << text.out;
  const auto driven = daedalus("analyze models/kapitza_pendulum.toml --zero-dynamics");
  EXPECT_NE(driven.out.find("depend on time"), std::string::npos) << driven.out;
}

/// A sleigh rests wherever it is, turned as it is.
TEST(ZeroDynamics, RestInFamilies) {
  const auto call = daedalus("analyze models/sleigh.toml --zero-dynamics --json");
  ASSERT_EQ(call.status, 0) << call.err;
  const auto equilibria = call.json()["zero_dynamics"]["equilibria"];
  ASSERT_EQ(equilibria.size(), 1u);
  EXPECT_EQ(equilibria[0]["family"], 3);
  EXPECT_EQ(equilibria[0]["stability"], "not decided by its linearization");
  for (const char* rate : {"der(x)", "der(y)", "der(phi)"}) EXPECT_NEAR(equilibria[0]["state"][rate].get<double>(), 0.0, 1e-8);
  const auto top = daedalus("analyze models/heavy_top.toml --zero-dynamics");
  EXPECT_NE(top.out.find("one of a family of dimension 1, unstable"), std::string::npos) << top.out;
}

/// eta' = -eta^3 rests at 0 alone, where its slope vanishes, too: steps of Newton's method shorten by a third only.
TEST(ZeroDynamics, RestAtMultipleZeros) {
  const Folder folder;
  folder.write("cubic.toml", R"model(kind = "dae"
[variables]
xi = 0.1
eta = 1.2
u = 0
[equations]
a = "der(xi) = u"
b = "der(eta) = -eta^3 + xi"
h = "xi = 0"
[simulation]
t_end = 1
)model");
  const auto call = daedalus("analyze " + folder.file("cubic.toml") + " --zero-dynamics --json");
  ASSERT_EQ(call.status, 0) << call.err;
  const auto equilibria = call.json()["zero_dynamics"]["equilibria"];
  ASSERT_EQ(equilibria.size(), 1u) << equilibria.dump();
  EXPECT_NEAR(equilibria[0]["state"]["eta"].get<double>(), 0.0, 1e-6);
  EXPECT_EQ(equilibria[0]["stability"], "not decided by its linearization");
}

/// A drive with constant speed depends on time, though its velocity does not.
TEST(ZeroDynamics, OfDrivesDependOnTime) {
  const Folder folder;
  const auto write = [&](const std::string& name, const std::string& more, const std::string& kinetic, const std::string& potential) {
    folder.write(name, "kind = \"lagrangian\"\n[variables]\nth = 0.0\n" + more + "[lagrangian]\nkinetic = \"" + kinetic +
                           "\"\npotential = \"" + potential + "\"\n[constraints]\ndrive = \"th = 6*t\"\n[simulation]\nt_end = 1\n");
    return folder.file(name);
  };
  const std::string free = write("free.toml", "u = 1.0\n", "der(th)^2/2 + der(u)^2/2", "u^2 + sin(th)*u");
  const auto call = daedalus("analyze " + free + " --zero-dynamics --json");
  ASSERT_EQ(call.status, 0) << call.err;
  EXPECT_EQ(call.json()["zero_dynamics"]["autonomous"], false);
  EXPECT_TRUE(call.json()["zero_dynamics"]["equilibria"].empty());
  const auto refused = daedalus("simulate " + free + " --formulation \"lyapunov:W=u^2+der(u)^2,box=u in -1..1 and der(u) in -1..1\"");
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("the motion depends on time, and W is for motions that do not"), std::string::npos) << refused.err;
  const auto nothing = daedalus("analyze " + write("nothing.toml", "", "der(th)^2/2", "th") + " --zero-dynamics");
  EXPECT_NE(nothing.out.find("the constraints leave nothing that moves by itself"), std::string::npos) << nothing.out;
}

TEST(Perturb, StartsOffTheConstraintsByWhatWasAsked) {
  const Folder folder;
  const auto call = daedalus("simulate models/pendulum.toml --perturb 0.1 --formulation lyapunov --t-end 2 --residuals --output " +
                             folder.file("run.csv"));
  ASSERT_EQ(call.status, 0) << call.err;
  const std::string text = slurp(folder.file("run.csv"));
  const std::string first = text.substr(text.find('\n') + 1, text.find('\n', text.find('\n') + 1) - text.find('\n') - 1);
  // The largest term of x^2 + y^2 = l^2 is l^2 = 6.25.
  EXPECT_NE(first.find("0.625"), std::string::npos) << first;
}

/// Start values that are given say from where on the constraints are violated.
TEST(Perturb, StartsFromGivenValues) {
  const std::string from = "simulate models/pendulum.toml --set x=1.5 --set y=-2 --set \"x'=0.8\" --set \"der(y)=0.6\" ";
  const auto values = [](const std::string& command) {
    const auto call = daedalus(command + "--t-end 1 --at 0 --residuals --json --formulation lyapunov");
    EXPECT_EQ(call.status, 0) << call.err;
    return call.status == 0 ? call.json()["values"] : decltype(call.json())();
  };
  const auto on = values(from), off = values(from + "--perturb 0.1 ");
  ASSERT_TRUE(on.is_object() && off.is_object());
  EXPECT_NEAR(on["residual.rod"][0].get<double>(), 0.0, 1e-14);
  EXPECT_NEAR(off["residual.rod"][0].get<double>(), 0.625, 1e-12);  // a tenth of l^2
  // The larger entry of (x, y) carries the constraint, the other one and the momentum along it stay.
  EXPECT_EQ(off["x"][0], on["x"][0]);
}

/// Some unknowns of these equations, which are mixed by whole numbers, were found by combining the model's, and cannot be given.
TEST(Perturb, RefusesWhereCombinationsOfUnknownsMove) {
  const Folder folder;
  folder.write("mixed.toml", R"model(kind = "dae"
[variables]
x0 = 0.1
x1 = 0.1
x2 = 0.1
x3 = 0.1
x4 = 0.1
[equations]
e0 = "der(x0) - der(x3) = -x0 - 5*x2 - 4*x3 - 7*x4"
e1 = "4*der(x0) + 3*der(x1) + 2*der(x2) + der(x3) + 3*der(x4) = -3*x0 - 3*x1 - 2*x2 - x3 - 3*x4"
e2 = "9*der(x0) + 6*der(x1) + 4*der(x2) + der(x3) + 6*der(x4) = -5*x0 - 4*x1 - 7*x2 - 4*x3 - 10*x4"
e3 = "-der(x3) = -5*x2 - 4*x3 - 7*x4"
e4 = "8*der(x0) + 6*der(x1) + 4*der(x2) + der(x3) + 6*der(x4) = -4*x0 - 4*x1 - 7*x2 - 5*x3 - 10*x4 + 0.01*x0*x1"
[simulation]
t_end = 0.1
)model");
  for (const char* command : {"simulate", "compare"}) {
    const auto call = daedalus(std::string(command) + " " + folder.file("mixed.toml") + " --perturb 0.1");
    EXPECT_EQ(call.status, 2);
    EXPECT_NE(call.err.find("no-perturbed-start"), std::string::npos) << call.err;
  }
}

TEST(Perturb, SaysThatSmallerViolationsAreThere) {
  const Folder folder;
  folder.write("sine.toml", "kind = \"lagrangian\"\n[variables]\nx = 0.5\ny = 0.1\n[lagrangian]\nkinetic = \"(der(x)^2 + der(y)^2)/2\"\n"
                            "potential = \"y\"\n[constraints]\nh = \"sin(x) = 0.5\"\n[simulation]\nt_end = 1\n");
  const auto call = daedalus("simulate " + folder.file("sine.toml") + " --perturb 2");
  EXPECT_EQ(call.status, 2);
  EXPECT_NE(call.err.find("'sine' has no start with every constraint violated by 2\n  -> give a smaller --perturb"), std::string::npos) << call.err;
  EXPECT_EQ(daedalus("simulate " + folder.file("sine.toml") + " --perturb 0.2").status, 0);
}

/// Three derivatives of a constraint, two of them of derivatives that occur in no equation: these follow from the others.
TEST(Perturb, StartsWhatWasDifferentiatedMoreThanWritten) {
  const Folder folder;
  folder.write("chain.toml", R"model(kind = "dae"
[variables]
x1 = 0.1
x2 = 0.0
x3 = 0.0
e = 1.0
u = 0.0
[equations]
a = "der(x1) = x2"
b = "der(x2) = x3 + x1^2"
c = "der(x3) = u*(1 + 0.2*cos(e)) + e"
d = "der(e) = -e^3 + x1 + 0.3*x3*e"
h = "x1 = 0.1*cos(t)"
[simulation]
t_end = 3
)model");
  const auto call = daedalus("compare " + folder.file("chain.toml") + " --perturb 0.5 --formulation lyapunov --json");
  ASSERT_EQ(call.status, 0) << call.err;
  const auto json = call.json();
  for (const auto& run : json["runs"]) EXPECT_EQ(run["outcome"], "returned") << run.dump();
  const auto one = daedalus("simulate " + folder.file("chain.toml") + " --perturb 0.5 --formulation lyapunov --residuals --at 0 --json");
  ASSERT_EQ(one.status, 0) << one.err;
  const auto values = one.json()["values"];
  EXPECT_NEAR(values["residual.h"][0].get<double>(), 0.05, 1e-12);  // half of the largest term, 0.1
  EXPECT_NEAR(values["residual.a"][0].get<double>(), 0.0, 1e-12);   // an equation of motion, not a constraint
}

/// The schemes step xi and eta, whatever the coordinates of other methods are.
TEST(LyapunovCoordinates, AreThoseOfTheSchemesInEitherCase) {
  const auto end_of = [](const std::string& model, const std::string& coordinates) {
    const auto call = daedalus("simulate models/" + model + ".toml --perturb 0.2 --t-end 0.5 --step 0.01 --method lyapunov-implicit " +
                               "--formulation lyapunov:coordinates=" + coordinates + " --json");
    EXPECT_EQ(call.status, 0) << call.err;
    return call.json()["values"].dump();
  };
  for (const char* model : {"pendulum", "pendulum_dae"}) EXPECT_EQ(end_of(model, "normal"), end_of(model, "original"));
  const auto answer = daedalus("methods lyapunov-implicit");
  EXPECT_NE(answer.out.find("takes     the normal form of the formulation lyapunov"), std::string::npos) << answer.out;
}

/// Both coordinates of a pendulum longer than its rod: neither leads to the constraint while the other stays.
TEST(LyapunovCoordinates, SayWhereTheyDoNotReach) {
  const auto call = daedalus("simulate models/pendulum.toml --initialize off --set x=2.7 --set y=-2.8 --formulation lyapunov");
  EXPECT_EQ(call.status, 3);
  EXPECT_NE(call.err.find("the way from the state to the constraints leaves the domain of the coordinates: the constraints cannot be "
                          "solved for y, at the start, t = 0\n  -> start nearer to the constraints, or take a formulation without "
                          "coordinates of its own, such as baumgarte"),
            std::string::npos)
      << call.err;
}

/// A constraint that always holds violates nothing: the motion is that without it.
TEST(LyapunovCoordinates, MayBeWithoutViolations) {
  const Folder folder;
  const auto write = [&](const std::string& name, const std::string& constraints) {
    folder.write(name, "kind = \"lagrangian\"\n[variables]\nx = 0.5\ny = -1.0\n[lagrangian]\nkinetic = \"(der(x)^2 + der(y)^2)/2\"\n"
                       "potential = \"9.81*y + y^2\"\n" + constraints + "[simulation]\nt_end = 1\n");
    return folder.file(name);
  };
  const std::string with = write("with.toml", "[constraints]\nnothing = \"sin(x)^2 + cos(x)^2 = 1\"\n"), without = write("without.toml", "");
  const auto height = [](const std::string& model, const std::string& options) {
    const auto call = daedalus("simulate " + model + " --json --rtol 1e-9 " + options);
    EXPECT_EQ(call.status, 0) << call.err;
    return call.status == 0 ? call.json()["values"]["y"].back().get<double>() : NAN;
  };
  const double expected = height(without, "");
  for (const char* path : {"ray", "sequential"})
    EXPECT_NEAR(height(with, std::string("--formulation lyapunov:path=") + path), expected, 1e-8);
  EXPECT_NEAR(height(with, "--formulation lyapunov --method lyapunov-explicit:scheme=rk4 --step 0.01"), expected, 1e-8);
}

/// A ring in a plane that turns, on which a bead hardly moves: steps are as long as half a turn, and the same place on the other
/// side of the ring satisfies the same constraints.
TEST(LyapunovCoordinates, StayOnTheBranchOfConstraintsThatMove) {
  const Folder folder;
  folder.write("hoop.toml", R"model(kind = "lagrangian"
[parameters]
W = 4.0
R = 0.8
[variables]
x = { start = 0.5, fixed = true }
y = 0
z = -0.6
[lagrangian]
kinetic = "(der(x)^2 + der(y)^2 + der(z)^2)/2"
potential = "9.81*z"
[constraints]
plane = "x*sin(W*t) = y*cos(W*t)"
ring = "x^2 + y^2 + z^2 = R^2"
[simulation]
t_end = 3
)model");
  const auto end_of = [&](const std::string& options) {
    const auto call = daedalus("simulate " + folder.file("hoop.toml") + " --json " + options);
    EXPECT_EQ(call.status, 0) << options << ": " << call.err;
    return call.json()["values"]["x"].back().get<double>();
  };
  const double exact = end_of("--formulation projection --rtol 1e-10");
  for (const char* method : {"radau", "dop853", "bdf"})
    for (const char* rtol : {"1e-3", "1e-4", "1e-5"})
      EXPECT_NEAR(end_of(std::string("--formulation lyapunov:coordinates=normal --method ") + method + " --rtol " + rtol), exact, 1e-2)
          << method << ' ' << rtol;
  EXPECT_NEAR(end_of("--formulation lyapunov --method lyapunov-implicit:scheme=gauss4 --step 0.1"), exact, 1e-2);
}

/// eta are positions and momenta, and an error of a position is one of the velocity besides, as masses depend on it: by a hundred
/// times as much on the seven-body mechanism.
TEST(LyapunovCoordinates, KeepTheTolerancesOfTheState) {
  const auto values_of = [](const std::string& options) {
    const auto call = daedalus("simulate models/andrews_lagrangian.toml --samples 21 --json " + options);
    EXPECT_EQ(call.status, 0) << call.err;
    return call.json()["values"];
  };
  const auto exact = values_of("--formulation projection --method dop853 --rtol 1e-12");
  const auto error_of = [&](const std::string& options) {
    const auto values = values_of(options);
    double worst = 0.0;
    for (const auto& [name, column] : exact.items()) {
      if (name.starts_with("lambda") || name.starts_with("reaction")) continue;
      for (std::size_t row = 0; row < column.size(); ++row) {
        const double expected = column[row];
        worst = std::max(worst, std::abs(values[name][row].get<double>() - expected) / (1.0 + std::abs(expected)));
      }
    }
    return worst;
  };
  EXPECT_LE(error_of("--formulation lyapunov:coordinates=normal --rtol 1e-9"),
            30.0 * error_of("--formulation projection --method dop853 --rtol 1e-9"));
}

/// Both rods are too long, and of coordinates that pivoting picks at the start, at the nearest point of the constraints or at the end of
/// the way none lead to the constraints. Others do.
TEST(LyapunovCoordinates, AreTriedWhereThoseOfPivotingDoNotReach) {
  const Folder folder;
  folder.write("spherical.toml", R"model(kind = "lagrangian"
[variables]
x1 = 0.64
y1 = 0.15
z1 = -1.0
x2 = 0.69
y2 = 0.52
z2 = -1.5
[lagrangian]
kinetic = "(der(x1)^2 + der(y1)^2 + der(z1)^2)/2 + 0.6*(der(x2)^2 + der(y2)^2 + der(z2)^2)/2"
potential = "9.81*(z1 + 0.6*z2)"
[constraints]
upper = "x1^2 + y1^2 + z1^2 = 1"
lower = "(x2 - x1)^2 + (y2 - y1)^2 + (z2 - z1)^2 = 0.64"
[simulation]
t_end = 2
initialize = "off"
)model");
  for (const char* more : {"", "--set x1=0.42 --set y1=0.17 --set z1=-0.63 --set x2=1.11 --set y2=0.65 --set z2=-1.75"}) {
    const auto call = daedalus("simulate " + folder.file("spherical.toml") + " --formulation lyapunov --rtol 1e-9 --residuals --json " + more);
    ASSERT_EQ(call.status, 0) << call.err;
    for (const char* residual : {"residual.upper", "residual.lower"})
      EXPECT_NEAR(call.json()["values"][residual].back().get<double>(), 0.0, 1e-8);
  }
}

/// A bead falls over the bottom of its wire in one step: with its height as coordinate it ends there, with the other one it does not.
TEST(LyapunovCoordinates, AreOthersWhereAStepLeavesTheirDomain) {
  const Folder folder;
  folder.write("wire.toml", R"model(kind = "lagrangian"
[variables]
x = { start = 0.9, fixed = true }
y = 0.5
"der(x)" = { start = 0.4, fixed = true }
[lagrangian]
kinetic = "1.3/2*(der(x)^2 + der(y)^2)"
potential = "1.3*9.81*y"
[constraints]
wire = "y = 0.7*x^2"
[simulation]
t_end = 2.2
)model");
  const auto call = daedalus("simulate " + folder.file("wire.toml") + " --perturb 0.05 --step 0.11426 --residuals --json " +
                             "--method lyapunov-implicit:scheme=rk4 --formulation lyapunov:delta=0.1,epsilon=1 --every 0.11426");
  ASSERT_EQ(call.status, 0) << call.err;
  const auto residual = call.json()["values"]["residual.wire"];
  for (std::size_t row = 1; row < residual.size(); ++row)
    EXPECT_LE(std::abs(residual[row].get<double>()), std::abs(residual[row - 1].get<double>()) + 1e-14) << row;
}

/// Rows between steps are on the way of the coordinates: a chord of states would be off a rod of 2.5 by a third. From T = 0.0625 on a
/// step of the pendulum leaves the domain of the coordinates in which it begins.
TEST(LyapunovCoordinates, AreThoseOfRowsBetweenSteps) {
  for (const char* step : {"0.125", "0.0625", "0.01"}) {
    const auto call = daedalus(std::string("simulate models/pendulum.toml --perturb 0.1 --t-end 2 --samples 81 --residuals --json --step ") + step +
                               " --method lyapunov-implicit:scheme=rk4 --formulation lyapunov:delta=0.1");
    ASSERT_EQ(call.status, 0) << call.err;
    const auto values = call.json()["values"];
    for (const char* name : {"residual.rod", "der(residual.rod)"})
      for (std::size_t row = 1; row < values[name].size(); ++row)
        ASSERT_LE(std::abs(values[name][row].get<double>()), std::abs(values[name][row - 1].get<double>()) + 1e-13) << name << ' ' << row;
    // The angle at the end by small steps; rk4 of the zero dynamics and the rest by Euler's method err by 0.04 at T = 0.125.
    EXPECT_NEAR(values["x"].back().get<double>(), -2.4788, 0.01);
    EXPECT_NEAR(values["y"].back().get<double>(), -0.325, 0.05);
  }
}

/// Constraints on velocities alone have no positions to violate: with rates of 0 their starts are on them, but for round-off.
TEST(Perturb, KnowsStartsThatViolateNothing) {
  const Folder folder;
  folder.write("penny.toml", R"model(kind = "lagrangian"
[parameters]
R = 0.5
[variables]
x = 0
y = 0
th = 0
ph = 0.3
"der(th)" = { start = 2.0, fixed = true }
"der(ph)" = { start = 0.8, fixed = true }
[lagrangian]
kinetic = "(der(x)^2 + der(y)^2)/2 + 0.1*der(th)^2 + 0.05*der(ph)^2"
potential = "0.5*x + 0.2*y^2"
[constraints]
along = "der(x) = R*cos(ph)*der(th)"
across = "der(y) = R*sin(ph)*der(th)"
[simulation]
t_end = 4
)model");
  const auto call = daedalus("compare " + folder.file("penny.toml") + " --perturb 0.3 --rtol 1e-6 --formulation ascher-chin-reich --json");
  ASSERT_EQ(call.status, 0) << call.err;
  for (const auto& run : call.json()["runs"]) EXPECT_EQ(run["outcome"], "returned") << run.dump();
}

TEST(Perturb, MapsTheReturnOfEveryFormulation) {
  const Folder folder;
  const auto call = daedalus("compare models/slider_crank.toml --perturb 0.2 --t-end 3 --rtol 1e-6 --json --plot " +
                             folder.file("map.svg"));
  ASSERT_EQ(call.status, 0) << call.err;
  const auto json = call.json();
  EXPECT_EQ(json["runs"].size(), 3u * 49u);
  for (const auto& run : json["runs"]) {
    EXPECT_EQ(run["outcome"], "returned") << run.dump();
    EXPECT_LE(run["time"].get<double>(), 3.0);
  }
  EXPECT_NE(slurp(folder.file("map.svg")).find("lyapunov"), std::string::npos);
}

}  // namespace
}  // namespace daedalus::tests
