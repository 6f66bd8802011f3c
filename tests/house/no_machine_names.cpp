// What is committed must work on every machine: no path of one machine, no host of a package registry.
#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <vector>

#include "house/repository.hpp"

namespace daedalus::test {
namespace {

/// Whether the line names a folder such as a home or a temporary one from the root on. "../" + name and "x.org/" + name
/// are not absolute paths.
bool names_machine_path(const std::string& line) {
  for (const std::string folder : {"home", "root", "tmp", "work", "farm", "Users", "workspace"}) {
    const std::string needle = "/" + folder + "/";
    for (std::size_t at = line.find(needle); at != std::string::npos; at = line.find(needle, at + 1)) {
      const char before = at == 0 ? ' ' : line[at - 1];
      const char after = at + needle.size() < line.size() ? line[at + needle.size()] : ' ';
      const bool relative = std::isalnum(static_cast<unsigned char>(before)) || before == '.' || before == '_' ||
                            before == '-' || before == '}' || before == '/';
      if (!relative && std::isalnum(static_cast<unsigned char>(after))) return true;
    }
  }
  return false;
}

bool names_registry(const std::string& line) {
  // In two parts, so that this file does not name them.
  static const std::vector<std::pair<std::string, std::string>> hosts = {{"registry.npmjs", "org"},
                                                                         {"pypi", "org"},
                                                                         {"files.pythonhosted", "org"},
                                                                         {"deb.debian", "org"},
                                                                         {"crates", "io"},
                                                                         {"registry-1.docker", "io"},
                                                                         {"ghcr", "io"},
                                                                         {"center.conan", "io"}};
  for (const auto& [name, top] : hosts)
    if (line.find(name + "." + top) != std::string::npos) return true;
  return false;
}

TEST(MachineNames, AreRecognized) {
  const std::string slash = "/";
  EXPECT_TRUE(names_machine_path("cd " + slash + "home/me"));
  EXPECT_TRUE(names_machine_path(slash + "tmp/build"));
  EXPECT_TRUE(names_machine_path("\"" + slash + "root/x\""));
  EXPECT_FALSE(names_machine_path("../work/shared"));
  EXPECT_FALSE(names_machine_path("https://example.org/home/page"));
  EXPECT_FALSE(names_machine_path("a/b/tmp/c"));
  EXPECT_TRUE(names_registry(std::string("https://pypi") + ".org/simple"));
}

TEST(MachineNames, StayOutOfTheProject) {
  const std::vector<std::filesystem::path> files = project_files();
  ASSERT_GT(files.size(), 50u);
  for (const std::filesystem::path& file : files) {
    const std::vector<std::string> lines = lines_of(repository() / file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_FALSE(names_machine_path(lines[i])) << file.string() << ":" << i + 1 << " names a path of one machine";
      EXPECT_FALSE(names_registry(lines[i]))
          << file.string() << ":" << i + 1 << " names the host of a package registry";
    }
  }
}

}  // namespace
}  // namespace daedalus::test
