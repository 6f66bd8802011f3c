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

/// A model with a table from a file of this name and content is answered with this message and advice.
void expect_bad_file(const std::string& name, const std::string& content, const std::string& message,
                     const std::string& advice) {
  const tests::Folder folder;
  if (!content.empty()) folder.write("log.csv", content);
  const std::string path =
      folder.write("model.toml", "kind = \"dae\"\n[tables]\npath = { file = '" + name +
                                     "', x = \"time\", y = \"q1\" }\n[variables]\nx = 0\n[equations]\ne = \"x = path(t)\"\n");
  EXPECT_EQ(text_of_error([&] { model::read_model(path); }),
            path + ":3:17: " + message + "\n     3 | path = { file = '" + name +
                "', x = \"time\", y = \"q1\" }\n       |                 ^" + std::string(name.size() + 1, '~') + "\n  -> " +
                advice);
}

TEST(LibraryErrors, FilesOfTablesAreNotWhatTheyShouldBe) {
  const auto bad = [](const std::string& content, const std::string& message, const std::string& advice) {
    expect_bad_file("log.csv", content, message, advice);
  };
  bad("time,q1\n0,1\n1,\"2,5\"\n", "error[bad-table]: line 3 of 'log.csv' has '2,5' where a number is expected",
      "write a decimal point");
  bad("time,q1\n0,1\n1,\n", "error[bad-table]: line 3 of 'log.csv' has nothing where a number is expected",
      "remove the line, or fill the gap");
  bad("time,q1\n0,1\n1,NaN\n", "error[bad-table]: line 3 of 'log.csv' has 'NaN' where a number is expected",
      "correct the file");
  bad("0,1\n1,2\n", "error[unknown-name]: the file 'log.csv' has no column 'time'",
      "its first line has numbers; it must name the columns: time,q1");
  bad("time;q1\n0;1\n", "error[unknown-name]: the file 'log.csv' has no column 'time'", "separate the columns by commas");
  bad("time,q7\n0,1\n", "error[unknown-name]: the file 'log.csv' has no column 'q1'", "did you mean 'q7'?");
  bad(std::string("PK\3\4\0\0", 6), "error[bad-table]: the file 'log.csv' is not text",
      "give a CSV file: names of columns, then numbers");
  expect_bad_file("data\\log.csv", "", "error[file-not-found]: the file 'data\\log.csv' of the table 'path' cannot be opened",
                  "folders are separated by '/', not by '\\'");
  expect_bad_file("log.csv", "", "error[file-not-found]: the file 'log.csv' of the table 'path' cannot be opened",
                  "a file is found relative to the folder of the model");
  expect_bad_file(".", "", "error[file-not-found]: '.' of the table 'path' is a folder, not a file", "name the .csv file in it");
}

TEST(LibraryErrors, AFileIsNoText) {
  const tests::Folder folder;
  const std::string path = folder.write("model.toml", "kind = \"dae\"\nname = \"caf\xE9\"\n");
  EXPECT_EQ(text_of_error([&] { model::read_model(path); }), path + ":2:12: error[not-text]: the file is not UTF-8 text\n"
                                                                    "     2 | name = \"caf?\"\n"
                                                                    "       |            ^\n"
                                                                    "  -> save it as UTF-8");
}

TEST(LibraryErrors, MoreFaultsThanAnyoneReadsAreCutShort) {
  std::string text = "kind = \"dae\"\n[variables]\nx = 0\n[equations]\n";
  for (int i = 0; i < 1000; ++i) text += "e" + std::to_string(i) + " = \"x = y" + std::to_string(i) + "\"\n";
  try {
    model::read_model_text(text, "model.toml");
    FAIL() << "the model was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.faults().size(), 101U);
    const std::string last = Error(std::vector{error.faults().back()}).what();
    EXPECT_EQ(last,
              "error[too-many-faults]: there are more mistakes; these are the first 100\n"
              "  -> correct these and try again");
    EXPECT_TRUE(std::string(error.what()).ends_with(last)) << error.what();
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
