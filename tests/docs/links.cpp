// Links between pages lead somewhere, and formulas are written so that Markdown leaves them alone.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

#include "docs/page.hpp"
#include "house/repository.hpp"

namespace daedalus::test {
namespace {

namespace fs = std::filesystem;

/// The name a heading gets in a link: small letters, digits, `_` and `-` for spaces.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : heading.substr(std::min(heading.size(), heading.find_first_not_of("# "))))
    if (c == ' ')
      anchor += '-';
    else if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_')
      anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return anchor;
}

std::set<std::string> anchors_of(const fs::path& file) {
  std::set<std::string> anchors;
  for (const ProseLine& line : read_page(file).prose)
    if (line.text.starts_with("#")) anchors.insert(anchor_of(line.text));
  return anchors;
}

/// The paragraphs of a page: links and formulas may run over several lines.
std::vector<ProseLine> paragraphs_of(const Page& page) {
  std::vector<ProseLine> result;
  std::size_t last = 0;
  for (const ProseLine& line : page.prose) {
    if (line.text.empty()) continue;
    if (!result.empty() && last + 1 == line.line)
      result.back().text += "\n" + line.text;
    else
      result.push_back(line);
    last = line.line;
  }
  return result;
}

/// Replaces code between backticks by spaces.
std::string without_code(std::string text) {
  static const std::regex code("`[^`]*`");
  for (std::smatch match; std::regex_search(text, match, code);)
    text.replace(static_cast<std::size_t>(match.position()), static_cast<std::size_t>(match.length()), " ");
  return text;
}

std::vector<fs::path> pages_with_links() {
  std::vector<fs::path> files = page_files();
  files.push_back("models/reference/README.md");
  return files;
}

TEST(Links, LeadSomewhere) {
  static const std::regex link(R"(\]\(([^)\s]+)\))");
  std::size_t count = 0;
  for (const fs::path& file : pages_with_links())
    for (const ProseLine& paragraph : paragraphs_of(read_page(file))) {
      const std::string text = without_code(paragraph.text);
      for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it) {
        const std::string target = (*it)[1].str();
        if (target.find("://") != std::string::npos) continue;
        ++count;
        const std::size_t hash = target.find('#');
        const fs::path path = (file.parent_path() / target.substr(0, hash)).lexically_normal();
        const fs::path place = hash == 0 ? file : path;
        EXPECT_TRUE(fs::exists(repository() / place))
            << fmt::format("{}:{}: {}", file.string(), paragraph.line, target);
        if (hash == std::string::npos || place.extension() != ".md") continue;
        EXPECT_TRUE(anchors_of(place).contains(target.substr(hash + 1)))
            << fmt::format("{}:{}: no heading for {}", file.string(), paragraph.line, target);
      }
    }
  EXPECT_GT(count, 50U) << "the links were not found";
}

TEST(Links, TheMapNamesEveryPage) {
  std::set<fs::path> named{"README.md", "docs/index.md"};
  static const std::regex link(R"(\]\(([^)\s#]+)[^)]*\))");
  for (const ProseLine& line : read_page("docs/index.md").prose)
    for (std::sregex_iterator it(line.text.begin(), line.text.end(), link), end; it != end; ++it)
      named.insert((fs::path("docs") / (*it)[1].str()).lexically_normal());
  for (const fs::path& file : page_files()) EXPECT_TRUE(named.contains(file)) << file << " is not in docs/index.md";
}

// GitHub reads Markdown before mathematics: `\,` becomes `,`, `\\` becomes `\`, and `_a_` may turn italic. Blocks of
// ```math and formulas in $`...`$ are handed on as they are.
TEST(Links, FormulasSurviveMarkdown) {
  static const std::regex formula(R"(\$([^$]+)\$)"), touched(R"(\n|\\[^A-Za-z]|[^A-Za-z0-9]_|\*|<|\]\()");
  for (const fs::path& file : page_files())
    for (const ProseLine& paragraph : paragraphs_of(read_page(file))) {
      SCOPED_TRACE(fmt::format("{}:{}", file.string(), paragraph.line));
      std::string text = paragraph.text;
      EXPECT_EQ(text.find("$$"), std::string::npos) << "write displayed formulas in a block of ```math";
      static const std::regex safe(R"(\$`[^`]*`\$)");
      for (std::sregex_iterator it(text.begin(), text.end(), safe), end; it != end; ++it)
        EXPECT_EQ(it->str().find('\n'), std::string::npos) << "a formula on two lines: " << it->str();
      text = without_code(std::regex_replace(text, safe, " "));
      EXPECT_EQ(std::count(text.begin(), text.end(), '$') % 2, 0) << text;
      for (std::sregex_iterator it(text.begin(), text.end(), formula), end; it != end; ++it)
        EXPECT_FALSE(std::regex_search((*it)[1].str(), touched)) << "write $`...`$: " << it->str();
    }
}

}  // namespace
}  // namespace daedalus::test
