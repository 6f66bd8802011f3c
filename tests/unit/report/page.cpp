// The page as text: complete, loading nothing, with the numbers of the run in it. tests/browser uses it as a person
// would.

#include "daedalus/report/page.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "daedalus/model/reader.hpp"
#include "unit/report/page_tools.hpp"

namespace daedalus::report {
namespace {

struct Made {
  solve::Trajectory run;
  std::string page;
};

Made make(const std::string& text, solve::RunOptions options = {}) {
  const solve::Prepared prepared = solve::prepare(model::read_model_text(text, "test"));
  solve::RunOptions recorded = options;
  picture_options(prepared, recorded);
  Made made{solve::simulate(prepared, recorded), {}};
  made.page = to_page(prepared, made.run, options);
  return made;
}

std::string pendulum(const std::string& more = "") {
  return "name = \"pendulum\"\nkind = \"lagrangian\"\n[variables]\nx = 1.0\ny = 0.0\n"
         "[lagrangian]\nkinetic = \"(der(x)^2 + der(y)^2)/2\"\npotential = \"9.81*y\"\n"
         "[constraints]\nrod = \"x^2 + y^2 = 1\"\n[simulation]\nt_end = 1.0\n" +
         more;
}

TEST(Page, HoldsTheNumbersOfTheRun) {
  const Made made = make(pendulum());
  const nlohmann::json description = nlohmann::json::parse(block(made.page, "run"));
  const std::vector<double> numbers = decoded<double>(block(made.page, "numbers"));
  const std::size_t rows = made.run.t.size();
  ASSERT_EQ(description["rows"], rows);
  ASSERT_EQ(numbers.size(), rows * description["series"].get<std::size_t>());
  ASSERT_EQ(description["columns"].size(), made.run.columns.size() + 1);
  for (std::size_t row = 0; row < rows; ++row) {
    ASSERT_EQ(numbers[row], made.run.t[row]);
    for (std::size_t j = 0; j < made.run.columns.size(); ++j)
      ASSERT_EQ(numbers[(j + 1) * rows + row], made.run.value(row, j));
  }
}

TEST(Page, TellsEventsUnitsAndEquationsAsTheyWereWritten) {
  const Made ball = make(
      "kind = \"lagrangian\"\n[parameters]\ng = { value = 9.81, unit = \"m/s^2\" }\n[variables]\ny = 1.0\n[lagrangian]\n"
      "kinetic = \"der(y)^2/2\"\npotential = \"g*y\"\n[events]\n"
      "bounce = { when = \"y\", direction = \"down\", reset = { \"der(y)\" = \"-der(y)/2\" } }\n"
      "late = { when = \"t > 0.8\", stop = true }\n[simulation]\nt_end = 5\n");
  for (const char* text : {"m/s²", "crosses zero downwards", "<mo>≔</mo>", "becomes true", "the run ends",
                           "<tr><th>bounce</th><td class=\"n\">1</td>"})
    EXPECT_NE(ball.page.find(text), std::string::npos) << text;
  const Made decay = make(
      "kind = \"dae\"\n[variables]\nx = 1\nz = 0\n[equations]\nslow = \"der(x) = -z\"\nlaw = \"z = 2*x\"\n"
      "[simulation]\nt_end = 1\n");
  EXPECT_NE(decay.page.find("<th>slow</th>"), std::string::npos);
  EXPECT_EQ(decay.page.find("the hidden ones too"), std::string::npos) << "index 1 hides nothing";
}

TEST(Page, TellsConstraintsThatNoEquationShows) {
  // Every equation has a derivative, but the difference of the first two has none.
  const std::string text =
      "kind = \"linear\"\n[linear]\nE = [[1, 1, 0], [1, 1, 0], [0, 0, 1]]\nA = [[1, 0, 0], [0, 1, 1], [0, 0, -1]]\n[simulation]\nt_end = 1\n";
  const Made formula = make(text);
  EXPECT_NE(formula.page.find("Combinations of the equations and their derivatives bind 1 of the 3 unknowns."), std::string::npos);
  EXPECT_NE(formula.page.find("index 1, 3 unknowns, 2 initial values free."), std::string::npos);
  EXPECT_NE(formula.page.find("The formula gives their values: nothing can drift."), std::string::npos);
  solve::RunOptions radau;
  radau.method = "radau";
  EXPECT_NE(make(text, radau).page.find("no residual is measured"), std::string::npos);
}

TEST(Page, GetsEveryStepAndRowsBetweenInOrder) {
  const Made made = make(pendulum());
  EXPECT_GT(made.run.t.size(), made.run.stats.steps + 1000);
  for (std::size_t row = 1; row < made.run.t.size(); ++row) ASSERT_LT(made.run.t[row - 1], made.run.t[row]);
  EXPECT_EQ(made.run.t.back(), 1.0);
}

TEST(Page, LoadsNothing) {
  const std::string page = make(pendulum()).page;
  const std::string before_scripts = page.substr(0, page.find("<script>"));
  EXPECT_FALSE(std::regex_search(before_scripts, std::regex(R"re((src|href)="(?!data:))re")));
  EXPECT_EQ(before_scripts.find("url("), std::string::npos);
  EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

TEST(Page, CarriesTheScriptForSpaceOnlyWhereItIsNeeded) {
  const std::string flat = make(pendulum()).page;
  EXPECT_LT(flat.size(), 1'000'000U);
  const std::string space = make(pendulum("[drawing.points]\nbob = [\"x\", \"y\", \"0\"]\n")).page;
  EXPECT_GT(space.size(), flat.size() + 300'000U);
}

TEST(Page, GuessesPointsWithoutADrawing) {
  const nlohmann::json guessed = nlohmann::json::parse(block(make(pendulum()).page, "run"));
  EXPECT_EQ(guessed["drawing"]["dimension"], 2);
  EXPECT_EQ(guessed["drawing"]["names"], nlohmann::json::array({"(x, y)"}));
  const nlohmann::json none =
      nlohmann::json::parse(block(make("kind = \"lagrangian\"\n[variables]\nangle = 1.0\n[lagrangian]\nkinetic = "
                                       "\"der(angle)^2/2\"\npotential = \"angle^2\"\n[simulation]\nt_end = 1.0\n")
                                      .page,
                                  "run"));
  EXPECT_TRUE(none["drawing"].is_null());
}

TEST(Page, NamesCannotBreakOut) {
  std::string text = pendulum();
  text.replace(text.find("\"pendulum\""), 10, "\"</script><script>alert(1)</script>&\"");
  const std::string page = make(text).page;
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(block(page, "run"))["model"], "</script><script>alert(1)</script>&");
}

TEST(Page, SaysWhoChose) {
  const std::string chosen = make(pendulum()).page;
  EXPECT_NE(chosen.find("chosen by the program"), std::string::npos);
  EXPECT_NE(chosen.find("projection keeps every constraint"), std::string::npos);
  solve::RunOptions options;
  options.formulation = "index1";
  const std::string asked = make(pendulum(), options).page;
  EXPECT_NE(asked.find("asked for on the command line"), std::string::npos);
  EXPECT_EQ(asked.find("the default, because it keeps positions"), std::string::npos);
}

TEST(Page, ShowsAFailedRun) {
  solve::RunOptions options;
  options.max_steps = 2;
  const Made made = make(pendulum(), options);
  ASSERT_FALSE(made.run.success());
  EXPECT_NE(made.page.find("stopped at t ="), std::string::npos);
}

}  // namespace
}  // namespace daedalus::report
