#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "daedalus/base/error.hpp"

namespace daedalus::tests {

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
    std::ofstream(path_ / name, std::ios::binary) << text;
    return file(name);
  }
  /// How many files it holds, hidden ones too.
  std::ptrdiff_t size() const { return std::distance(std::filesystem::directory_iterator(path_), {}); }

 private:
  std::filesystem::path path_;
};

inline std::string slurp(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The code of the Error that a call throws; empty where it throws none.
template <class Call>
std::string code_of(Call&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.faults().front().code;
  }
  return {};
}

}  // namespace daedalus::tests
