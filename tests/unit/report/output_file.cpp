// Files come into being whole, and an older one stays until then.

#include "daedalus/report/output_file.hpp"

#include <gtest/gtest.h>

#include "unit/report/tools.hpp"

namespace daedalus::tests {
namespace {

using report::OutputFile;

TEST(OutputFile, CheckingChangesNothing) {
  const Folder folder;
  report::check_writable(folder.file("new.csv"));
  EXPECT_EQ(folder.size(), 0);
  folder.write("old.csv", "old");
  report::check_writable(folder.file("old.csv"));
  EXPECT_EQ(slurp(folder.file("old.csv")), "old");
  EXPECT_EQ(folder.size(), 1);
}

TEST(OutputFile, KeepsTheOldFileUntilCommitted) {
  const Folder folder;
  const std::string path = folder.write("a.csv", "old");
  {
    OutputFile file(path);
    EXPECT_EQ(file.write("new"), 3U);
    EXPECT_EQ(slurp(path), "old");
  }
  EXPECT_EQ(slurp(path), "old");
  EXPECT_EQ(folder.size(), 1);
  {
    OutputFile file(path);
    file.write("new");
    EXPECT_TRUE(file.commit());
    EXPECT_EQ(slurp(path), "new");
    file.write(" and more");
  }
  EXPECT_EQ(slurp(path), "new and more");
  EXPECT_EQ(folder.size(), 1);
}

TEST(OutputFile, FollowsLinksAndKeepsPermissions) {
  const Folder folder;
  const std::string path = folder.write("a.csv", "old");
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink(path, folder.file("link.csv"));
  report::write_file(folder.file("link.csv"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link.csv")));
  EXPECT_EQ(slurp(path), "new");
  EXPECT_EQ(std::filesystem::status(path).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink(folder.file("later.csv"), folder.file("dangling.csv"));
  report::write_file(folder.file("dangling.csv"), "there");
  EXPECT_EQ(slurp(folder.file("later.csv")), "there");
}

TEST(OutputFile, RefusesBeforeAnythingIsWritten) {
  const Folder folder;
  EXPECT_EQ(code_of([&] { OutputFile(folder.file("none/a.csv")); }), "cannot-write");
  EXPECT_EQ(code_of([&] { OutputFile(folder.file("")); }), "cannot-write");
  if (geteuid() == 0) return;  // root may write everywhere
  std::filesystem::permissions(folder.file(""),
                               std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_EQ(code_of([&] { OutputFile(folder.file("a.csv")); }), "cannot-write");
  std::filesystem::permissions(folder.file(""), std::filesystem::perms::owner_all);
}

TEST(OutputFile, ReportsAFullDevice) {
  const Folder folder;
  std::filesystem::create_symlink("/dev/full", folder.file("full.csv"));
  OutputFile file(folder.file("full.csv"));
  EXPECT_EQ(file.write("text"), 0U);
  EXPECT_EQ(file.reason(), "No space left on device");
  EXPECT_EQ(code_of([&] { report::write_file(folder.file("full.csv"), "text"); }), "cannot-write");
}

TEST(OutputFile, ContinuesAfterWhatIsKept) {
  const Folder folder;
  const std::string path = folder.write("a.csv", "t\n1\n2\n3");
  OutputFile file(path, 4);
  EXPECT_EQ(slurp(path), "t\n1\n2\n3");
  file.write("5\n");
  EXPECT_EQ(slurp(path), "t\n1\n5\n");
}

}  // namespace
}  // namespace daedalus::tests
