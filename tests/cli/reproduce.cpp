// `daedalus reproduce` from outside. docs/reproduce.md itself is compared by tests/docs.

#include <map>
#include <set>

#include "cli/run.hpp"

namespace daedalus::tests {
namespace {

TEST(Reproduce, ListsWhatItCanDo) {
  const Call call = daedalus("reproduce --list");
  ASSERT_EQ(call.status, 0) << call.err;
  EXPECT_NE(call.out.find("\n001-table1 "), std::string::npos) << call.out;
  const auto json = daedalus("reproduce --list --json").json();
  bool found = false;
  for (const auto& one : json["experiments"]) {
    EXPECT_FALSE(one["title"].get<std::string>().empty());
    EXPECT_FALSE(one["source"].get<std::string>().empty());
    found = found || one["name"] == "001-table1";
  }
  EXPECT_TRUE(found) << json;
}

TEST(Reproduce, PrintsTablesBesideThePrintedOnes) {
  const Call call = daedalus("reproduce 001-table1");
  ASSERT_EQ(call.status, 0) << call.err;
  EXPECT_EQ(call.err, "");
  for (const char* printed : {"9.6e-6", "4.4e-3", "253", "284", "3718"})
    EXPECT_NE(call.out.find(printed), std::string::npos) << printed << "\n" << call.out;
  EXPECT_EQ(daedalus("reproduce 001-table1 --quiet").out, "");
  const auto json = daedalus("reproduce 001-table1 --json").json();
  ASSERT_EQ(json["experiments"].size(), 1U);
  const auto& rows = json["experiments"][0]["tables"][0]["rows"];
  ASSERT_GE(rows.size(), 4U);
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size()) << row;
}

// Values that another program computed with 50 digits (models/reference/pendulum_slides.json), and what 000 and 001
// print.
TEST(Reproduce, EveryExperimentShowsWhatItIsComparedWith) {
  const std::map<std::string, std::vector<std::string>> printed{
      {"000-figures", {"3.69"}},
      {"001-table1", {"253", "284", "3718", "201"}},
      {"001-tables23", {"1.71e-5", "1.54e-2", "2.95e-1", "382", "1058", "30"}},
      {"002-figure2", {}},
      {"002-figure3", {}},
      {"002-figure4", {}},
      {"002-figure5", {}},
      {"003-drift", {}},
      {"003-poles", {}},
      {"004-drift", {"1.84150", "0.31052", "2.07436"}}};
  const auto all = daedalus("reproduce --json").json()["experiments"];
  ASSERT_EQ(all.size(), printed.size());
  for (const auto& one : all) {
    const std::string name = one["name"];
    ASSERT_TRUE(printed.contains(name)) << name;
    EXPECT_FALSE(one["setting"].get<std::string>().empty()) << name;
    EXPECT_FALSE(one["verdict"].get<std::string>().empty()) << name;
    std::set<std::string> cells;
    for (const auto& table : one["tables"])
      for (const auto& row : table["rows"])
        for (const auto& cell : row) cells.insert(cell.get<std::string>());
    EXPECT_GT(cells.size(), 5U) << name;
    for (const std::string& cell : printed.at(name)) EXPECT_TRUE(cells.contains(cell)) << name << ": " << cell;
  }
}

// The drift of 004 is that of the other program to every digit shown.
TEST(Reproduce, DriftOf004IsThatOfAnIndependentComputation) {
  const auto rows = daedalus("reproduce 004-drift --json").json()["experiments"][0]["tables"][0]["rows"];
  ASSERT_EQ(rows.size(), 5U);
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i][2], rows[i][3]);
    EXPECT_EQ(rows[i][4], rows[i][5]);
  }
}

// Anywhere: the program brings its models along, and makes the folder of the pictures.
TEST(Reproduce, WritesAPageWithItsPicture) {
  const Folder folder;
  const Call call = daedalus("reproduce 001-table1 --output " + folder.file("page.md"));
  ASSERT_EQ(call.status, 0) << call.err;
  EXPECT_EQ(call.out, "wrote     " + folder.file("page.md") + " (1 experiment, 1 picture)\n");
  const std::string page = slurp(folder.file("page.md"));
  EXPECT_NE(page.find("\n## Example 2.1 in three forms\n"), std::string::npos) << page;
  EXPECT_NE(page.find("(pictures/reproduce_001_table1.svg)"), std::string::npos) << page;
  EXPECT_NE(slurp(folder.file("pictures/reproduce_001_table1.svg")).find("</svg>"), std::string::npos);
}

TEST(Reproduce, SaysThatPicturesCannotBeWritten) {
  const Folder folder;
  folder.write("pictures", "a file, where a folder should be");
  const Call call = daedalus("reproduce 001-table1 --output " + folder.file("page.md"));
  EXPECT_EQ(call.status, 2);
  EXPECT_NE(call.err.find("error[cannot-write]"), std::string::npos) << call.err;
  EXPECT_FALSE(std::filesystem::exists(folder.file("page.md")));
}

}  // namespace
}  // namespace daedalus::tests
