// The catalogue of methods from outside.
#include <gtest/gtest.h>

#include "cli/run.hpp"

namespace daedalus::tests {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Methods, ListIsGroupedAndHasSources) {
  const std::string text = daedalus("methods").out;
  const std::size_t first = text.find("\nexplicit\n"), second = text.find("\nimplicit\n"),
                    third = text.find("\nmultistep\n");
  EXPECT_LT(first, text.find("\n  rk4 "));
  EXPECT_LT(text.find("\n  rk4 "), second);
  EXPECT_LT(second, text.find("\n  radau2a5 "));
  EXPECT_LT(text.find("\n  radau2a5 "), third);
  EXPECT_LT(third, text.find("\n  bdf "));
  EXPECT_TRUE(has(text, "W. Kutta"));
}

TEST(Methods, OneMethodHasItsExactTableauAndOrders) {
  const std::string text = daedalus("methods radau2a5").out;
  for (const char* part : {"11/45 - 7*sqrt(6)/360", "on index 3: 5, 3, 2 (positions, velocities, multipliers)",
                           "L-stable", "step doubling", "E. Hairer", "dae up to index 3"})
    EXPECT_TRUE(has(text, part)) << part << " is not in\n" << text;
  const nlohmann::json json = daedalus("methods radau2a5 --json").json();
  EXPECT_EQ(json["tableau"]["exact"]["b"][2], "1/9");
  EXPECT_EQ(json["tableau"]["b"][2], 1.0 / 9.0);
  EXPECT_EQ(json["index3_orders"], nlohmann::json({5, 3, 2}));
  EXPECT_TRUE(json["stability"]["real_axis"].is_null());
  EXPECT_EQ(json["group"], "implicit");
}

TEST(Methods, StabilityRegionIsDrawn) {
  const Folder folder;
  EXPECT_EQ(daedalus("methods rk4 --plot " + folder.file("region.svg")).status, 0);
  EXPECT_TRUE(has(slurp(folder.file("region.svg")), "stability region of rk4"));
  EXPECT_EQ(daedalus("methods bdf --plot " + folder.file("region.pdf")).status, 0);
  EXPECT_TRUE(slurp(folder.file("region.pdf")).starts_with("%PDF-"));
}

TEST(Methods, EveryMethodTakesATolerance) {
  // A projected pendulum is an ODE for all of them.
  for (const char* method : {"explicit-euler", "heun2", "rk2:alpha=0.75", "rk3-family:alpha=0.3", "rk4", "taylor2",
                             "implicit-midpoint", "gauss4", "lobatto3cs4"}) {
    const Call call =
        daedalus(std::string("simulate models/pendulum.toml --t-end 1 --rtol 1e-4 --json --method ") + method);
    EXPECT_EQ(call.status, 0) << method << call.err;
  }
}

TEST(Methods, TableauOfAFileRuns) {
  const auto run = [](const std::string& method) {
    return daedalus("simulate models/pendulum.toml --t-end 1 --step 0.01 --json --method " + method).json();
  };
  const Folder folder;
  folder.write("mine.toml", "A = [[], [\"1/2\"], [0, \"1/2\"], [0, 0, 1]]\nb = [\"1/6\", \"1/3\", \"1/3\", \"1/6\"]\n");
  // The same coefficients make the same run to the last bit.
  EXPECT_EQ(run(folder.file("mine.toml"))["values"], run("rk4")["values"]);
  EXPECT_TRUE(has(daedalus("methods examples/bogacki_shampine.toml").out, "order     3, 4 stages"));
}

}  // namespace
}  // namespace daedalus::tests
