// Runs what the pages tell their readers to run. In every page
//   ```toml  is a model (it has a line `kind = ...`), written to the file that its first line names (`# mine.toml`), or
//   a
//            part of one; then an HTML comment before the block has the rest, with a line `...` where the block goes;
//   ```sh    is run line by line in a folder that has ./daedalus and models/; a line that must fail ends in
//            `# exit status N`;
//   ```text  after it is what the block before it prints;
//   ```cpp and ```cmake are taken from examples/ or tests/package/consumer.
// A page that its own commands write again must be the same afterwards.
// With DAEDALUS_DOCS_REFRESH=1 outputs in the pages and docs/pictures are replaced by what was found.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <regex>
#include <set>

#include "cli/run.hpp"
#include "docs/page.hpp"
#include "folders.hpp"
#include "house/repository.hpp"

namespace daedalus::test {
namespace {

namespace fs = std::filesystem;
using tests::Folder;
using tests::slurp;

constexpr std::uintmax_t largest_picture = 150'000;

bool refreshing() { return std::getenv("DAEDALUS_DOCS_REFRESH") != nullptr; }

/// Installing, building and what needs a person; ./check and tests/package do these.
bool is_left_out(const std::string& line) {
  static const std::regex words(R"(^(git|cd|cmake|cpack|sudo|xdg-open|man|\./check|\./daedalus bench)\b.*)");
  return std::regex_match(line, words);
}

/// Lines without those that are continued by a backslash.
std::vector<std::string> commands_of(const std::string& text) {
  std::vector<std::string> commands;
  std::istringstream rest(text);
  bool continued = false;
  for (std::string line; std::getline(rest, line);) {
    const bool more = line.ends_with('\\');
    if (more) line.pop_back();
    if (continued)
      commands.back() += line;
    else if (line.find_first_not_of(' ') != std::string::npos && !line.starts_with('#'))
      commands.push_back(line);
    continued = more;
  }
  return commands;
}

int status_promised(const std::string& command) {
  static const std::regex pattern(R"(# exit status ([0-9]+))");
  std::smatch match;
  return std::regex_search(command, match, pattern) ? std::stoi(match[1]) : 0;
}

std::string trimmed_lines(const std::string& text) {
  std::string result;
  std::istringstream rest(text);
  for (std::string line; std::getline(rest, line);) {
    const std::size_t first = line.find_first_not_of(" \t");
    if (first != std::string::npos) result += line.substr(first) + "\n";
  }
  return result;
}

/// What a figure says about itself: model, formulation, method, tolerances and interval.
std::string origin_of(const fs::path& picture) {
  const std::string text = slurp(picture);
  return text.substr(0, text.find("</desc>")).substr(std::min(text.size(), text.find("<title>")));
}

/// The model a block stands for; empty where it is only a part and nothing says of what.
std::string model_of(const Block& block) {
  static const std::regex kind("(^|\n)kind *=");
  if (std::regex_search(block.text, kind)) return block.text;
  const std::size_t gap = block.comment.find("\n...\n");
  if (gap == std::string::npos) return {};
  const std::size_t begin = block.comment.find('\n') + 1;  // the line of the opening mark is a remark
  return block.comment.substr(begin, gap + 1 - begin) + block.text + block.comment.substr(gap + 5);
}

class RunPages : public testing::TestWithParam<fs::path> {
 protected:
  RunPages() {
    fs::create_symlink(tests::build_folder() + "/daedalus", folder_.file("daedalus"));
    for (const char* name : {"models", "examples"}) fs::create_symlink(repository() / name, folder_.file(name));
    fs::create_directories(folder_.file("docs/pictures"));
  }

  std::pair<int, std::string> shell(const std::string& command) const {
    folder_.write("command.sh", command + "\n");
    const std::string line = fmt::format("cd '{}' && timeout 60 bash command.sh >printed 2>&1", folder_.file(""));
    const int raw = std::system(line.c_str());
    return {WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw), slurp(folder_.file("printed"))};
  }

  /// Runs a block and returns all it prints.
  std::string run(const Block& block) const {
    std::string printed;
    for (const std::string& command : commands_of(block.text)) {
      if (is_left_out(command)) continue;
      const auto [status, output] = shell(command);
      EXPECT_EQ(status, status_promised(command)) << command << "\n" << output;
      printed += output;
    }
    return printed;
  }

  void check_model(const Block& block) const {
    const std::string text = model_of(block);
    ASSERT_NE(text, "") << "a part of a model needs the rest in a comment before it, with a line `...` for the part";
    static const std::regex named(R"(^# ([a-z_0-9]+\.toml)\n)");
    std::smatch match;
    const bool has_name = std::regex_search(block.text, match, named);
    const std::string file = has_name ? match[1].str() : fmt::format("line_{}.toml", block.line);
    folder_.write(file, text);
    const auto [status, output] = shell("./daedalus analyze " + file);
    EXPECT_EQ(status, 0) << output;
  }

  void check_source(const Block& block) const {
    const std::string wanted = trimmed_lines(block.text);
    for (const fs::path& file : project_files())
      if (file.string().starts_with("examples/") || file.string().starts_with("tests/package/consumer/"))
        if (trimmed_lines(slurp(repository() / file)).find(wanted) != std::string::npos) return;
    ADD_FAILURE() << "no file of examples/ or tests/package/consumer/ contains this block";
  }

  /// A page that one of its own commands writes is what this command writes.
  void check_page(const Page& page) const {
    const fs::path written = folder_.file(page.file.string());
    if (!fs::exists(written)) return;
    if (refreshing()) fs::copy_file(written, repository() / page.file, fs::copy_options::overwrite_existing);
    EXPECT_EQ(difference(slurp(repository() / page.file), slurp(written)), "") << "`ninja docs_refresh` writes it anew";
  }

  void check_pictures(const Page& page) const {
    static const std::regex image(R"(!\[([^\]]*)\]\(([^)]+)\))");
    for (const ProseLine& line : page.prose)
      for (std::sregex_iterator it(line.text.begin(), line.text.end(), image), end; it != end; ++it) {
        SCOPED_TRACE(fmt::format("{}:{}", page.file.string(), line.line));
        EXPECT_NE((*it)[1].str(), "") << "a picture needs a description";
        const fs::path picture = (page.file.parent_path() / (*it)[2].str()).lexically_normal();
        ASSERT_TRUE(picture.string().starts_with("docs/pictures/")) << picture;
        const fs::path made = folder_.file(picture.string());
        ASSERT_TRUE(fs::exists(made)) << picture << ": no command of this page makes it";
        EXPECT_LE(fs::file_size(made), largest_picture) << picture;
        if (refreshing()) fs::copy_file(made, repository() / picture, fs::copy_options::overwrite_existing);
        ASSERT_TRUE(fs::exists(repository() / picture)) << picture << ": make it with `ninja docs_refresh`";
        EXPECT_EQ(origin_of(repository() / picture), origin_of(made))
            << picture << ": the command has changed, `ninja docs_refresh` draws it again";
      }
  }

  Folder folder_;
};

/// Puts other text between the fences of a block.
void replace(const Page& page, const Block& block, const std::string& text) {
  std::string result;
  std::size_t number = 0;
  for (const std::string& line : lines_of(repository() / page.file)) {
    ++number;
    if (number == block.end) result += text + (text.ends_with('\n') ? "" : "\n");
    if (number <= block.line || number >= block.end) result += line + "\n";
  }
  std::ofstream(repository() / page.file) << result;
}

TEST_P(RunPages, DoesWhatItSays) {
  const Page page = read_page(GetParam());
  std::string printed;
  bool has_printed = false;
  std::vector<std::pair<Block, std::string>> changed;
  for (const Block& block : page.blocks) {
    SCOPED_TRACE(fmt::format("{}:{}", page.file.string(), block.line));
    EXPECT_NE(block.end, 0U) << "the block does not end";
    const bool follows = has_printed && block.after_block;
    has_printed = false;
    if (block.language == "sh") {
      printed = run(block);
      has_printed = true;
    } else if (block.language == "text") {
      if (!follows) continue;
      const std::string fault = difference(block.text, printed);
      const bool abridged = ("\n" + block.text).find("\n...\n") != std::string::npos;
      if (!fault.empty() && refreshing() && !abridged) {
        changed.emplace_back(block, printed);
      } else {
        EXPECT_TRUE(fault.empty()) << fault;
      }
    } else if (block.language == "toml") {
      check_model(block);
    } else if (block.language == "cpp" || block.language == "cmake") {
      check_source(block);
    } else if (block.language.empty()) {
      EXPECT_FALSE(
          std::regex_search(block.text, std::regex("(^|\n)(\\./daedalus |daedalus (analyze|derive|init|simulate) )")))
          << "a block of commands begins with ```sh";
      EXPECT_FALSE(std::regex_search(block.text, std::regex("(^|\n)kind *= *\"")))
          << "a block with a model begins with ```toml";
    } else {
      EXPECT_TRUE(block.language == "math" || block.language == "json" || block.language == "ini")
          << "nobody checks blocks of " << block.language;
    }
  }
  check_pictures(page);
  check_page(page);
  for (auto it = changed.rbegin(); it != changed.rend(); ++it) replace(page, it->first, it->second);
}

INSTANTIATE_TEST_SUITE_P(Docs, RunPages, testing::ValuesIn(page_files()), [](const auto& parameter) {
  std::string name = parameter.param.string();
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
});

TEST(Docs, EveryPictureBelongsToAPage) {
  std::string all;
  for (const fs::path& file : page_files()) all += slurp(repository() / file);
  for (const auto& entry : fs::directory_iterator(repository() / "docs/pictures"))
    EXPECT_NE(all.find("pictures/" + entry.path().filename().string()), std::string::npos) << entry.path();
}

TEST(Docs, ComparisonOfOutputsCanFail) {
  EXPECT_EQ(difference("cost  3 steps, 0.1 s\n", "cost  3 steps, 0.22 s\n"), "");
  EXPECT_NE(difference("cost  3 steps, 0.1 s\n", "cost  4 steps, 0.1 s\n"), "");
  EXPECT_EQ(difference("drift 2.8e-16\n", "drift 1.0e-15\n"), "");
  EXPECT_NE(difference("drift 2.8e-10\n", "drift 1.0e-15\n"), "");
  EXPECT_EQ(difference("x = 1.25\n", "x = 1.26\n"), "");
  EXPECT_NE(difference("x = 1.25\n", "x = 1.27\n"), "");
  EXPECT_NE(difference("x = -1.25\n", "x = 1.25\n"), "");
  EXPECT_EQ(difference("a\n...\nc\n", "a\nb\nb\nc\n"), "");
  EXPECT_NE(difference("a\n...\nd\n", "a\nb\nc\n"), "");
  EXPECT_NE(difference("a\n", "a\nb\n"), "");
  EXPECT_NE(difference("a\nb\n", "a\n"), "");
}

}  // namespace
}  // namespace daedalus::test
