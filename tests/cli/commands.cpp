// The commands as a person or a script calls them: JSON fields of the contract, exit statuses, files.

#include <cmath>
#include <csignal>
#include <map>

#include "cli/run.hpp"
#include "folders.hpp"

namespace daedalus::tests {
namespace {

TEST(Simulate, GivesTheJsonOfTheContract) {
  const Call call = daedalus("simulate models/pendulum.toml --rtol 1e-8 --json");
  ASSERT_EQ(call.status, 0) << call.err;
  const auto json = call.json();
  EXPECT_EQ(json["model"], "pendulum");
  EXPECT_EQ(json["formulation"], "projection");
  EXPECT_EQ(json["method"], "dop853");
  EXPECT_EQ(json["rtol"], 1e-8);
  EXPECT_EQ(json["atol"], 1e-10);
  EXPECT_EQ(json["success"], true);
  EXPECT_EQ(json["message"], "");
  EXPECT_EQ(json["t"], nlohmann::json({0.0, 50.0}));
  for (const char* name : {"x", "y", "der(x)", "der(y)", "lambda.rod", "angle"})
    EXPECT_EQ(json["values"].at(name).size(), 2U) << name;
  EXPECT_LE(json["constraints_relative"]["position"], 1e-12);
  EXPECT_LE(json["constraints_relative"]["velocity"], 1e-12);
  EXPECT_EQ(json["constraints"]["levels"].size(), 3U);
  EXPECT_GT(json["invariants"]["energy"], 0.0);
  for (const char* name : {"steps", "rejected", "rhs", "jacobians", "factorizations", "newton_iterations", "projections", "seconds", "prepare_seconds"})
    EXPECT_TRUE(json["stats"].contains(name)) << name;
  EXPECT_TRUE(json.contains("version"));
  EXPECT_TRUE(json["options"].contains("rtol"));
  EXPECT_TRUE(json["events"].is_array());
}

TEST(Simulate, WritesEveryAcceptedStepToCsv) {
  const Folder folder;
  const Call call = daedalus("simulate models/pendulum.toml --output " + folder.file("p.csv"));
  ASSERT_EQ(call.status, 0) << call.err;
  std::istringstream csv(slurp(folder.file("p.csv")));
  std::string header, line;
  std::getline(csv, header);
  EXPECT_EQ(header, "t,x,y,der(x),der(y),lambda.rod,angle,tension");
  std::size_t rows = 0;
  while (std::getline(csv, line)) {
    ++rows;
    std::istringstream cells(line);
    std::string t, x, y;
    std::getline(cells, t, ',');
    std::getline(cells, x, ',');
    std::getline(cells, y, ',');
    EXPECT_NEAR(std::hypot(std::stod(x), std::stod(y)), 2.5, 1e-14);
  }
  EXPECT_GT(rows, 200U);
}

TEST(Simulate, DeliversOutputTimesWithoutChangingTheSteps) {
  const auto ends = daedalus("simulate models/pendulum.toml --json").json();
  const auto samples = daedalus("simulate models/pendulum.toml --samples 11 --json").json();
  const auto every = daedalus("simulate models/pendulum.toml --every 12.5 --json").json();
  const auto at = daedalus("simulate models/pendulum.toml --at 1,2.5,50 --json").json();
  EXPECT_EQ(samples["t"].size(), 11U);
  EXPECT_EQ(every["t"], nlohmann::json({0.0, 12.5, 25.0, 37.5, 50.0}));
  EXPECT_EQ(at["t"], nlohmann::json({1.0, 2.5, 50.0}));
  EXPECT_EQ(samples["stats"]["steps"], ends["stats"]["steps"]);
  EXPECT_EQ(samples["values"]["x"].back(), ends["values"]["x"].back());
  EXPECT_EQ(at["values"]["x"].back(), ends["values"]["x"].back());
}

TEST(Simulate, AddsResidualsAndEnergyAsColumns) {
  const auto json = daedalus("simulate models/pendulum.toml --formulation index1 --residuals --json").json();
  for (const char* name : {"residual.rod", "der(residual.rod)", "energy"}) EXPECT_TRUE(json["values"].contains(name)) << name;
  EXPECT_GT(std::abs(json["values"]["residual.rod"][1].get<double>()), 1e-9);
}

TEST(Simulate, TakesOverridesFromTheCommandLine) {
  const auto json = daedalus("simulate models/pendulum.toml --set l=1 --set 'm=2*l' --fix x=0.6 --t-end 0 --json").json();
  EXPECT_NEAR(json["values"]["y"][0], 0.8, 1e-15);
}

TEST(Simulate, RunsTheSameTwiceToTheLastBit) {
  const Folder folder;
  daedalus("simulate models/andrews.toml --output " + folder.file("a.csv"));
  daedalus("simulate models/andrews.toml --output " + folder.file("b.csv"));
  EXPECT_FALSE(slurp(folder.file("a.csv")).empty());
  EXPECT_EQ(slurp(folder.file("a.csv")), slurp(folder.file("b.csv")));
}

TEST(Simulate, KeepsWhatItHadWhenTheNumericsFail) {
  const Folder folder;
  const std::string model = folder.write("fall.toml", R"(
kind = "lagrangian"
[variables]
x = 1.0
[lagrangian]
kinetic = "der(x)^2/2"
potential = "-1/(2*(1.5 - t)^2)*x"
[simulation]
t_end = 2.0
)");
  const Call call = daedalus("simulate " + model + " --output " + folder.file("r.csv") + " --json");
  EXPECT_EQ(call.status, 3) << call.out << call.err;
  EXPECT_EQ(call.json()["success"], false);
  EXPECT_FALSE(call.json()["error"]["message"].get<std::string>().empty());
  const std::string csv = slurp(folder.file("r.csv"));
  EXPECT_GT(std::count(csv.begin(), csv.end(), '\n'), 10);
  EXPECT_EQ(csv.find("nan"), std::string::npos);
  EXPECT_EQ(csv.find("inf"), std::string::npos);
}

TEST(Simulate, LeavesAReadableFileWhenInterrupted) {
  const Folder folder;
  const std::string file = folder.file("long.csv");
  const Call call = daedalus("simulate models/double_pendulum.toml --t-end 1e9 --every 1e3 --rtol 1e-9 --output " + file +
                             " --quiet & pid=$!; sleep 1; kill -INT $pid; wait $pid");
  EXPECT_EQ(call.status, 130) << call.err;
  EXPECT_NE(slurp(file).find("\n"), std::string::npos);
}

TEST(Analyze, GivesTheJsonOfTheContract) {
  const auto json = daedalus("analyze models/pendulum.toml --json").json();
  EXPECT_EQ(json["unknowns"], 3);
  EXPECT_EQ(json["equations"], 3);
  EXPECT_EQ(json["degrees_of_freedom"], 1);
  EXPECT_EQ(json["free_initial_values"], 2);
  EXPECT_EQ(json["index"], 3);
  EXPECT_EQ(json["structural_index"], 3);
  EXPECT_EQ(json["hidden_constraints"][0]["of"], "rod");
  EXPECT_EQ(json["hidden_constraints"][0]["level"], 1);
  EXPECT_EQ(json["hidden_constraints"][0]["equation"], "2*x*der(x) + 2*y*der(y) = 0");
  EXPECT_EQ(json["redundant_constraints"], nlohmann::json::array());
  EXPECT_EQ(json["consistent"], false);
  EXPECT_NEAR(json["violations"][0]["value"], 0.0121, 1e-12);
}

TEST(Analyze, NamesWhatIsRedundantAndWhatIsNotUnique) {
  const nlohmann::json open{"lambda.left", "lambda.right", "lambda.middle"};
  for (const std::string command : {"analyze", "init"}) {
    const auto json = daedalus(command + " models/parallelogram.toml --json").json();
    EXPECT_EQ(json["redundant_constraints"][0]["constraint"], "middle") << command;
    EXPECT_EQ(json["multipliers_not_unique"], open) << command;
  }
  EXPECT_EQ(daedalus("analyze models/pendulum.toml --json").json()["multipliers_not_unique"], nlohmann::json::array());
}

TEST(Simulate, TellsTheSingularPositionsThatItPassed) {
  const auto json = daedalus("simulate models/slider_crank_position.toml --t-end 4 --json").json();
  ASSERT_EQ(json["singular_positions"].size(), 2U);
  EXPECT_EQ(json["singular_positions"][1]["constraints"], nlohmann::json{"slide"});
  EXPECT_NEAR(json["singular_positions"][1]["t"], 3.09222, 1e-4);  // three quarters of the period
  EXPECT_EQ(daedalus("simulate models/pendulum.toml --t-end 1 --json").json()["singular_positions"], nlohmann::json::array());
}

TEST(Analyze, TellsTheStructureOfADae) {
  const Folder folder;
  const std::string model = folder.write("bob.toml", R"(kind = "dae"
[variables]
x = 0.6
y = -0.8
lam = 0
[equations]
fx = "x'' = -lam*x"
fy = "y'' = -lam*y - 9.81"
rod = "x^2 + y^2 = 1"
)");
  const Call call = daedalus("analyze " + model + " --json --plot " + folder.file("bob.svg"));
  EXPECT_EQ(call.status, 0);
  const auto json = call.json();
  EXPECT_EQ(json["structural_index"], 3);
  EXPECT_EQ(json["free_initial_values"], 2);
  const auto& structure = json["structure"];
  EXPECT_EQ(structure["regular"], true);
  EXPECT_EQ(structure["jacobian"], "regular");
  EXPECT_EQ(structure["equations"][2]["name"], "rod");
  EXPECT_EQ(structure["equations"][2]["offset"], 2);
  EXPECT_EQ(structure["unknowns"][0]["offset"], 2);
  EXPECT_EQ(structure["unknowns"][2]["offset"], 0);
  EXPECT_EQ(structure["blocks"].size(), 1u);
  EXPECT_NE(slurp(folder.file("bob.svg")).find("</svg>"), std::string::npos);
}

TEST(Analyze, GivesAVerdictOnSingularEquations) {
  const Folder folder;
  const std::string model = folder.write("wrong.toml", R"(kind = "dae"
[variables]
x = 1
y = 0
z = 0
[equations]
a = "x' = -x"
b = "x = 2^t"
c = "y + z = x"
)");
  const Call call = daedalus("analyze " + model + " --json");
  EXPECT_EQ(call.status, 0);
  const auto json = call.json();
  EXPECT_TRUE(json["index"].is_null());
  EXPECT_TRUE(json["structural_index"].is_null());
  EXPECT_EQ(json["structure"]["regular"], false);
  EXPECT_EQ(json["structure"]["overdetermined"]["equations"], (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(json["structure"]["underdetermined"]["unknowns"], (std::vector<std::string>{"y", "z"}));
  const Call text = daedalus("analyze " + model);
  EXPECT_NE(text.out.find("too many  2 equations (a and b) for 1 unknown (x)\n"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("too few   1 equation (c) for 2 unknowns (y and z)\n"), std::string::npos) << text.out;
}

TEST(Init, SaysWhatMoved) {
  const auto json = daedalus("init models/pendulum.toml --json").json();
  EXPECT_EQ(json["consistent"], true);
  EXPECT_NEAR(json["values"]["y"], 2.34742412017939357, 1e-15);
  EXPECT_EQ(json["values"]["x"], 0.86);
  EXPECT_NEAR(json["values"]["lambda.rod"], -3.68451689903357615, 1e-13);
  EXPECT_NEAR(json["moved"]["y"], 2.34742412017939357 - 2.35, 1e-15);
  EXPECT_LE(json["residual"], 1e-15);
  // x is fixed: the bob is above or below.
  ASSERT_EQ(json["branches"].size(), 2u);
  EXPECT_EQ(json["branches"][0]["taken"], true);
  EXPECT_NEAR(json["branches"][1]["values"]["y"], -2.34742412017939357, 1e-12);
  EXPECT_EQ(json["branch_search"], (nlohmann::json{{"starts", 64}, {"seed", 1}}));
  EXPECT_EQ(json["free_values"]["count"], 2);
  EXPECT_EQ(json["free_values"]["fixed"], nlohmann::json::array({"x"}));
  EXPECT_EQ(json["free_values"]["sets"],
            nlohmann::json::parse(R"json([["x", "der(x)"], ["x", "der(y)"], ["y", "der(x)"], ["y", "der(y)"]])json"));
}

TEST(Init, RefusesAnInconsistentStartWhenAsked) {
  const Call call = daedalus("init models/pendulum.toml --initialize check");
  EXPECT_EQ(call.status, 2);
  EXPECT_NE(call.err.find("error[inconsistent-start]: the start does not satisfy 'rod' on position level: the residual is 0.0121"),
            std::string::npos)
      << call.err;
}

TEST(Derive, PrintsTextLatexAndJson) {
  EXPECT_NE(daedalus("derive models/pendulum.toml").out.find("[ 2*x  2*y ]"), std::string::npos);
  EXPECT_NE(daedalus("derive models/pendulum.toml --format latex").out.find("\\ddot{x}"), std::string::npos);
  EXPECT_EQ(daedalus("derive models/pendulum.toml --format json").json()["M"][0][0], "m");
  EXPECT_NE(daedalus("derive models/circle_dae.toml --steps").out.find("index 2"), std::string::npos);
  EXPECT_NE(daedalus("derive models/linear/example6.toml --steps --format latex").out.find("T_1^{-1} T_0^{-1} E T_1 ="),
            std::string::npos);
  EXPECT_NE(daedalus("derive models/circle_dae.toml --steps --format latex").out.find("\\dot{x}"), std::string::npos);
  const auto steps = daedalus("derive models/circle_dae.toml --steps --format json").json();
  EXPECT_EQ(steps["index"], 2);
  EXPECT_EQ(steps["consistency_conditions"][0]["equation"], "(x1^2 + x2^2 - 1)/2 = 0");
  EXPECT_EQ(steps["reduced_system"][2]["name"], "der(circle)");
}

TEST(Catalogues, ListEveryEntryWithItsFields) {
  const auto methods = daedalus("methods --json").json();
  ASSERT_GE(methods.size(), 4U);
  for (const auto& entry : methods)
    for (const char* name : {"name", "summary", "citation", "options", "order", "adaptive", "implicit", "accepts", "highest_index"})
      EXPECT_TRUE(entry.contains(name)) << name;
  const auto formulations = daedalus("formulations --json").json();
  ASSERT_GE(formulations.size(), 3U);
  for (const auto& entry : formulations)
    for (const char* name : {"name", "summary", "citation", "options", "kinds", "index"}) EXPECT_TRUE(entry.contains(name)) << name;
  EXPECT_NE(daedalus("methods").out.find("dop853"), std::string::npos);
  EXPECT_NE(daedalus("formulations baumgarte").out.find("omega"), std::string::npos);
}

/// Exit status 2 and a message that names the trouble and the cure.
TEST(Mistakes, AreAnsweredWithTheNearestName) {
  const std::vector<std::pair<std::string, std::string>> calls{
      {"simulat models/pendulum.toml", "did you mean 'simulate'?"},
      {"simulate models/pendulum.toml --rtoll 1e-3", "did you mean '--rtol'"},
      {"simulate models/pendulum.toml --method dop583", "did you mean 'dop853'"},
      {"simulate models/pendulum.toml --formulation projektion", "did you mean 'projection'?"},
      {"simulate models/pendulum.toml --formulation baumgarte:omgea=2", "did you mean 'omega'?"},
      {"simulate models/pendulum.toml --rtol -1", "a relative tolerance is at least 1e-15 and less than 1"},
      {"simulate models/pendulum.toml --rtol abc", "--rtol"},
      {"simulate models/pendulum.toml --set lenght=2", "known names: m, l, g, x, y"},
      {"simulate models/pendulum.toml --set l", "is not of the form NAME=VALUE"},
      {"simulate models/pendulum.toml --t-end -3", "is before the start, t_start = 0"},
      {"simulate models/pendulum.toml --at 60", "is outside of the run, which goes from 0 to 50"},
      {"simulate models/pendulum.toml --samples 3 --every 1", "exclude each other"},
      {"simulate models/pendulum.toml --output x.xyz", "end the name in .csv, .json or .h5"},
      {"simulate models/pendulum.toml --output /nowhere/x.csv", "cannot be written"},
      {"simulate models/pendulum.toml --initialize maybe", "is no way to initialize"},
      {"simulate models/pendulum.toml --fix y=2", "contradict"},
      {"simulate models/nothing.toml", "models/nothing.toml"},
      {"simulate", "needs a model"},
      {"linearize models/pendulum.toml --input nothing", "has no input or parameter 'nothing'"},
      {"compare models/pendulum.toml --perturb -1", "it must be positive"},
      {"simulate models/kepler.toml --perturb 1e-3", "has no start with every constraint violated"},
      {"methods no-such-method", "there is no"},
  };
  for (const auto& [args, text] : calls) {
    const Call call = daedalus(args);
    EXPECT_EQ(call.status, 2) << args;
    EXPECT_NE(call.err.find(text), std::string::npos) << args << "\n" << call.err;
    EXPECT_TRUE(call.out.empty()) << args;
    const Call json = daedalus(args + " --json");
    EXPECT_EQ(json.json()["success"], false) << args;
    EXPECT_TRUE(json.json()["error"]["message"].is_string()) << args;
  }
}

TEST(Linearize, RedundantConstraintsLeaveTheMatrices) {
  const Call call = daedalus("linearize models/parallelogram.toml --json");
  ASSERT_EQ(call.status, 0) << call.err;
  EXPECT_EQ(call.json()["E"].size(), call.json()["states"].size());
  EXPECT_FALSE(call.json().contains("modes"));
  ASSERT_EQ(call.json()["notes"].size(), 1u);
  EXPECT_NE(call.json()["notes"][0].get<std::string>().find("the pencil is singular"), std::string::npos);
}

TEST(Linearize, TheTrajectoryIsFollowedAsAsked) {
  const auto point = [](const std::string& options) {
    const Call call = daedalus("linearize models/kepler.toml --at 3 --json " + options);
    EXPECT_EQ(call.status, 0) << options << call.err;
    return call.json()["point"][0].get<double>();
  };
  const double exact = point("--rtol 1e-13"), tight = point("--rtol 1e-10 --method dop853"), loose = point("--rtol 1e-3 --atol 1e-3 --method bdf");
  EXPECT_NEAR(tight, exact, 1e-7);
  EXPECT_GT(std::abs(loose - exact), 1e-6);
}

TEST(Help, AndVersionEndWell) {
  EXPECT_EQ(daedalus("--help").status, 0);
  EXPECT_NE(daedalus("simulate --help").out.find("--formulation"), std::string::npos);
  EXPECT_EQ(daedalus("--version").status, 0);
  EXPECT_EQ(daedalus("").status, 2);
}

/// z^3 - 3 z = t has no solution near z = -1 beyond t = 2.
TEST(Simulate, TellsWhereAFailureStandsInJson) {
  const Folder folder;
  const std::string model = folder.write("fold.toml", R"(kind = "dae"
[variables]
x = { start = 0, fixed = true }
z = -1.7
[equations]
clock = "der(x) = 1"
fold = "z^3 - 3*z = x"
[simulation]
t_end = 5
)");
  const Call call = daedalus("simulate " + model + " --json");
  EXPECT_EQ(call.status, 3);
  const auto error = call.json()["error"];
  EXPECT_EQ(error["code"], "singular");
  EXPECT_EQ(error["file"], model);
  EXPECT_EQ(error["line"], 7);
  EXPECT_EQ(error["column"], 1);
  const auto point = call.json()["singular_points"].back();
  EXPECT_NEAR(point["t"].get<double>(), 2.0, 1e-8);
  EXPECT_EQ(point["equations"][0], "fold");
  EXPECT_EQ(point["unknowns"][0], "z");
}

/// z = sin(x)/x goes on through x = 0, where x z = sin x does not say what it is.
TEST(Simulate, GoesOnBehindASingularPointThatIsRemovable) {
  const Folder folder;
  const std::string model = folder.write("sinc.toml", R"toml(kind = "dae"
[variables]
x = { start = -1, fixed = true }
z = 1
[equations]
clock = "der(x) = 1"
sinc = "x*z = sin(x)"
[simulation]
t_end = 3
)toml");
  for (const char* method : {"auto", "radau", "bdf"}) {
    const Call call = daedalus("simulate " + model + " --json --method " + method);
    ASSERT_EQ(call.status, 0) << method << call.err;
    EXPECT_NEAR(call.json()["values"]["z"].back().get<double>(), std::sin(2.0) / 2.0, 1e-8) << method;
    ASSERT_EQ(call.json()["singular_points"].size(), 1U) << method;
    EXPECT_NEAR(call.json()["singular_points"][0]["t"].get<double>(), 1.0, 1e-6) << method;
  }
}

/// A chain of 24 integrators whose first is a sine: linear equations have a formula for any index, others an end.
TEST(Simulate, TakesLinearEquationsOfAnyIndex) {
  const Folder folder;
  const auto chain = [&](const std::string& name, const std::string& more) {
    return "simulate " + folder.write(name, R"toml(kind = "dae"
[variables]
"x[i]" = { for = "i in 1..24" }
[equations]
"link[i]" = { for = "i in 1..23", equation = "der(x[i]) = x[i+1])toml" + more + R"toml(" }
path = "x[1] = sin(t)"
[simulation]
t_end = 1
)toml") + " --json";
  };
  const Call linear = daedalus(chain("linear.toml", ""));
  ASSERT_EQ(linear.status, 0) << linear.err;
  EXPECT_NEAR(linear.json()["values"]["x[24]"].back().get<double>(), -std::cos(1.0), 1e-12);
  const Call other = daedalus(chain("other.toml", " + x[i]^3"));
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.err.find("must be differentiated 23 times, and 16 times is the most"), std::string::npos) << other.err;
}

/// A stop that grips at x = 0.5 makes the force a multiplier: index 1 becomes 3 at t = -10 log(0.95).
TEST(Simulate, TellsAnIndexThatChangesWithACondition) {
  const Folder folder;
  const std::string model = folder.write("grip.toml", R"(kind = "dae"
[variables]
x = { start = 0, fixed = true }
v = { start = 1, fixed = true }
f = 0
[equations]
way = "der(x) = v"
push = "der(v) = f - 0.1*v"
grip = "if(x < 0.5, f, x - 0.5) = 0"
[simulation]
t_end = 2
rtol = 1e-10
)");
  const Call call = daedalus("simulate " + model + " --json");
  EXPECT_EQ(call.status, 3);
  EXPECT_NEAR(call.json()["t"].back().get<double>(), -10.0 * std::log(0.95), 1e-8);
  EXPECT_NEAR(call.json()["values"]["x"].back().get<double>(), 0.5, 1e-8);
  EXPECT_EQ(call.json()["error"]["line"], 9);
  EXPECT_NE(call.err.find("the equation 'grip' does not determine 'der(v)' and 'f'; the equations change there with 'x - 0.5'"),
            std::string::npos)
      << call.err;
}

TEST(Simulate, TellsCornersOfConstraints) {
  const Folder folder;
  const Call call = daedalus("simulate " + folder.write("roof.toml", R"toml(kind = "dae"
[variables]
x = { start = -1, fixed = true }
"der(x)" = { start = 1, fixed = true }
y = 1
n = 0
[equations]
along = "der(x,2) = 0"
up = "der(y,2) = n - 9.81"
roof = "y = abs(x)"
[simulation]
t_end = 3
)toml"));
  EXPECT_EQ(call.status, 3);
  EXPECT_NE(call.err.find("a constraint has a corner at t = 1, where"), std::string::npos) << call.err;
  EXPECT_NE(call.err.find("'der(y)' would have to leap"), std::string::npos) << call.err;
}

/// Every model that comes with the program runs as it is, without drift; those that take many seconds, for a part of their
/// time (tests/physics runs them to the end).
TEST(Models, AllRun) {
  const std::map<std::string, std::string> part{{"two_bit_adder", " --t-end 12"}, {"wheelset", " --t-end 0.5"}};
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(tests::source_folder() + "/models")) {
    if (entry.path().extension() != ".toml") continue;
    ++found;
    const auto shortened = part.find(entry.path().stem().string());
    const Call call = daedalus("simulate " + entry.path().string() + " --json" +
                               (shortened == part.end() ? "" : shortened->second));
    ASSERT_EQ(call.status, 0) << entry.path() << call.err;
    const auto json = call.json();
    for (const char* level : {"position", "velocity"}) {
      if (!json["constraints_relative"].contains(level)) continue;
      EXPECT_LE(json["constraints_relative"][level], 1e-12) << entry.path();
    }
    EXPECT_EQ(daedalus("derive " + entry.path().string()).status, 0);
    EXPECT_EQ(daedalus("analyze " + entry.path().string()).status, 0);
  }
  EXPECT_GE(found, 14U);
}

}  // namespace
}  // namespace daedalus::tests
