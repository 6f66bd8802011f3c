#include "house/repository.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>

namespace daedalus::test {
namespace fs = std::filesystem;

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (text.find('\0') != std::string::npos) return {};
  std::istringstream rest(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(rest, line);) lines.push_back(line);
  return lines;
}

namespace {

std::vector<fs::path> listed_by_git() {
  const std::string command =
      "git -C '" + repository().string() + "' ls-files --cached --others --exclude-standard 2>/dev/null";
  std::vector<fs::path> files;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return files;
  std::string output;
  std::array<char, 4096> buffer;
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), count);
  if (pclose(pipe) != 0) return files;
  std::istringstream rest(output);
  for (std::string line; std::getline(rest, line);)
    if (fs::is_regular_file(repository() / line)) files.emplace_back(line);
  return files;
}

std::vector<fs::path> found_in_folders() {
  std::vector<fs::path> files;
  for (auto entry = fs::recursive_directory_iterator(repository()); entry != fs::recursive_directory_iterator();
       ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory() && (name == ".git" || name.starts_with("build"))) entry.disable_recursion_pending();
    if (entry->is_regular_file()) files.push_back(fs::relative(entry->path(), repository()));
  }
  return files;
}

}  // namespace

std::vector<fs::path> project_files() {
  const std::vector<fs::path> files = listed_by_git();
  return files.empty() ? found_in_folders() : files;
}

}  // namespace daedalus::test
