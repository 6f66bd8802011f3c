#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "folders.hpp"

namespace daedalus::tests {

/// What a call of the command left behind.
struct Call {
  int status = -1;
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out); }
};

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A folder of its own for one test, removed at its end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "daedalus-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return file(name);
  }

 private:
  std::filesystem::path path_;
};

/// Runs `daedalus ARGS` through the shell, in the root of the project.
inline Call daedalus(const std::string& args) {
  const Folder folder;
  const std::string command = "cd '" + tests::source_folder() + "' && '" + tests::build_folder() + "/daedalus' " + args + " >'" +
                              folder.file("out") + "' 2>'" + folder.file("err") + "'";
  Call call;
  const int raw = std::system(command.c_str());
  call.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  call.out = slurp(folder.file("out"));
  call.err = slurp(folder.file("err"));
  return call;
}

}  // namespace daedalus::tests
