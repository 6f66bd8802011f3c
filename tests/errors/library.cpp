// The exact texts of errors that no model file alone can cause: C++ programs, data files, files that are no text.

#include <gtest/gtest.h>

#include "cli/run.hpp"
#include "daedalus/base/error.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/mechanics/derive.hpp"
#include "daedalus/model/builder.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/solve/trajectory.hpp"

namespace daedalus {
namespace {

template <class Work>
std::string text_of_error(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(LibraryErrors, ExpressionsOfTwoModelsAreMixed) {
  expr::Graph one, other;
  EXPECT_EQ(text_of_error([&] { one.symbol("x") + other.symbol("y"); }),
            "error[mixed-graphs]: expressions of two models are mixed\n"
            "  -> use only symbols of the model that is being built");
}

TEST(LibraryErrors, ASymbolHasNoValue) {
  expr::Graph graph;
  EXPECT_EQ(text_of_error([&] { expr::evaluate(graph.symbol("x") + 1.0, {}); }),
            "error[unbound-symbol]: 'x' has no value here");
}

TEST(LibraryErrors, ATableHasNoData) {
  expr::Graph graph;
  EXPECT_EQ(text_of_error([&] { expr::evaluate(graph.lookup("path", graph.constant(1.0)), {}); }),
            "error[unknown-table]: the table 'path' has no data\n"
            "  -> give it with define_table");
}

TEST(LibraryErrors, ATrajectoryHasNoSuchColumn) {
  solve::Trajectory run;
  run.columns = {"x", "der(x)"};
  EXPECT_EQ(text_of_error([&] { run.column("der(y)"); }),
            "error[unknown-column]: the trajectory has no column 'der(y)'\n"
            "  -> did you mean 'der(x)'?");
}

TEST(LibraryErrors, AMassMatrixOfAProgramDependsOnVelocities) {
  auto model = std::make_shared<model::Model>(model::read_model_text(
      "kind = \"mechanical\"\n[variables]\nx = 0\n[mechanical]\nmass = [[1]]\nforce = [0]\n", "model.toml"));
  model->mass.entries[0].value = 1.0 + model->variables[0].rates[0];
  EXPECT_EQ(text_of_error([&] { mechanics::derive(model); }),
            "model.toml:5:8: error[mass-depends-on-velocity]: row 1 of the mass matrix (x) depends on velocities\n"
            "     5 | mass = [[1]]\n"
            "       |        ^~~~~\n"
            "  -> move what depends on velocities into [mechanical] force");
}

TEST(LibraryErrors, DataOfATableAreNoNumbers) {
  const tests::Folder folder;
  folder.write("log.csv", "time,q1\n0,1\n1,\"2,5\"\n");
  const std::string path = folder.write("model.toml",
                                        "kind = \"dae\"\n[tables]\npath = { file = \"log.csv\", x = \"time\", y = \"q1\" }\n"
                                        "[variables]\nx = 0\n[equations]\ne = \"x = path(t)\"\n");
  const std::string text = text_of_error([&] { model::read_model(path); });
  EXPECT_TRUE(text.starts_with(path + ":3:")) << text;
  EXPECT_NE(text.find("error[bad-table]: line 3 of 'log.csv' has '2,5' where a number is expected"), std::string::npos)
      << text;
}

TEST(LibraryErrors, AFileIsNoText) {
  const tests::Folder folder;
  const std::string path = folder.write("model.toml", "kind = \"dae\"\nname = \"caf\xE9\"\n");
  const std::string place = path + ":2:12: ";
  EXPECT_TRUE(text_of_error([&] { model::read_model(path); })
                  .starts_with(place + "error[not-text]: the file is not UTF-8 text\n"));
}

TEST(LibraryErrors, MoreFaultsThanAnyoneReadsAreCutShort) {
  std::string text = "kind = \"dae\"\n[variables]\nx = 0\n[equations]\n";
  for (int i = 0; i < 1000; ++i) text += "e" + std::to_string(i) + " = \"x = y" + std::to_string(i) + "\"\n";
  try {
    model::read_model_text(text, "model.toml");
    FAIL() << "the model was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.faults().size(), 101U);
    EXPECT_TRUE(std::string(error.what())
                    .ends_with("error[too-many-faults]: there are more mistakes; these are the first 100\n"
                               "  -> correct these and try again"))
        << error.what();
  }
}

TEST(LibraryErrors, EndlessNamesAreCutInMessages) {
  const std::string name(100'000, 'q');
  const std::string text = text_of_error([&] {
    model::read_model_text("kind = \"dae\"\n[variables]\nx = 0\n[equations]\ne = \"x = " + name + "\"\n", "model.toml");
  });
  EXPECT_LT(text.size(), 2000U);
  EXPECT_NE(text.find("error[unknown-name]: there is no 'qqq"), std::string::npos);
  EXPECT_NE(text.find(" ... "), std::string::npos);
}

}  // namespace
}  // namespace daedalus
