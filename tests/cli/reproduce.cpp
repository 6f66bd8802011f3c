// `daedalus reproduce` from outside. docs/reproduce.md itself is compared by tests/docs.

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
