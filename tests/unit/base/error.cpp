#include "daedalus/base/error.hpp"

#include <gtest/gtest.h>

namespace daedalus {
namespace {

Place place_in(std::string text, std::size_t line, std::size_t column, std::size_t length = 1) {
  return {std::make_shared<SourceText>(SourceText{"pendulum.toml", std::move(text)}), line, column, length};
}

std::string rendered(Place place, std::string advice = {}) {
  return render({"unknown-name", "unknown name 'lenght'", std::move(advice), std::move(place)});
}

TEST(Render, QuotesTheLineWithACaret) {
  EXPECT_EQ(rendered(place_in("m = 1\nrod = \"x - lenght\"\n", 2, 12, 6), "did you mean 'length'?"),
            "pendulum.toml:2:12: error[unknown-name]: unknown name 'lenght'\n"
            "     2 | rod = \"x - lenght\"\n"
            "       |            ^~~~~~\n"
            "  -> did you mean 'length'?\n");
}

TEST(Render, WithoutAPlace) {
  EXPECT_EQ(rendered({}), "error[unknown-name]: unknown name 'lenght'\n");
  EXPECT_EQ(rendered(place_in("text", 0, 0)), "pendulum.toml: error[unknown-name]: unknown name 'lenght'\n");
}

TEST(Render, TabsKeepTheCaretBelowItsText) {
  EXPECT_EQ(rendered(place_in("\tx\t= y", 1, 4, 3)),
            "pendulum.toml:1:4: error[unknown-name]: unknown name 'lenght'\n"
            "     1 | \tx\t= y\n"
            "       | \t \t^~~\n");
}

TEST(Render, CharactersOfSeveralBytesTakeOneColumn) {
  // 'ä' and 'ö' have two bytes each: byte column 8 is the sixth character
  EXPECT_EQ(rendered(place_in("\xC3\xA4 = \xC3\xB6y", 1, 8)),
            "pendulum.toml:1:6: error[unknown-name]: unknown name 'lenght'\n"
            "     1 | \xC3\xA4 = \xC3\xB6y\n"
            "       |      ^\n");
  EXPECT_EQ(rendered(place_in("a\xC3\xA4\xC3\xB6 b", 1, 2, 4)),
            "pendulum.toml:1:2: error[unknown-name]: unknown name 'lenght'\n"
            "     1 | a\xC3\xA4\xC3\xB6 b\n"
            "       |  ^~\n");
}

TEST(Render, OddPlacesAreTamed) {
  const std::string head = "error[unknown-name]: unknown name 'lenght'\n";
  EXPECT_EQ(rendered(place_in("ab", 1, 99, 5)), "pendulum.toml:1:99: " + head + "     1 | ab\n       |   ^\n");
  EXPECT_EQ(rendered(place_in("ab", 7, 1)), "pendulum.toml:7:1: " + head + "     7 | \n       | ^\n");
  EXPECT_EQ(rendered(place_in("", 1, 1, 0)), "pendulum.toml:1:1: " + head + "     1 | \n       | ^\n");
  EXPECT_EQ(rendered(place_in("ab\r\ncd\r\n", 1, 2, 9)), "pendulum.toml:1:2: " + head + "     1 | ab\n       |  ^\n");
  EXPECT_EQ(rendered(place_in("a\x1B[31mb", 1, 1)), "pendulum.toml:1:1: " + head + "     1 | a?[31mb\n       | ^\n");
}

/// The quoted text and the marks below it.
std::pair<std::string, std::string> quoted(const std::string& text) {
  const std::size_t first = text.find('\n') + 1 + 9, end = text.find('\n', first), second = end + 1 + 9;
  return {text.substr(first, end - first), text.substr(second, text.find('\n', second) - second)};
}

bool is_whole_utf8(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 0;
    if (length == 0 || i + length > text.size()) return false;
    for (std::size_t k = 1; k < length; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return false;
    i += length;
  }
  return true;
}

TEST(Render, LongLinesAreCutAroundTheCaret) {
  for (const std::size_t at : {0UL, 40UL, 79UL, 80UL, 81UL, 5000UL, 9840UL, 9950UL, 9999UL}) {
    std::string line(10000, '.');
    line[at] = 'X';
    const auto [text, marks] = quoted(rendered(place_in(line, 1, at + 1, 3)));
    EXPECT_LE(text.size(), 160U);
    ASSERT_LE(marks.size(), text.size());
    const std::size_t caret = marks.find('^');
    EXPECT_EQ(marks.find_first_not_of(' '), caret);
    EXPECT_EQ(text[caret], 'X') << at;
  }
}

TEST(Render, LongLinesAreCutBetweenCharacters) {
  for (std::size_t offset = 0; offset < 4; ++offset) {
    std::string line(offset, 'a');
    for (int i = 0; i < 2000; ++i) line += "\xE2\x82\xAC";  // three bytes each
    for (const std::size_t column : {1UL, 301UL, 3000UL, 3001UL, 3002UL}) {
      const auto [text, marks] = quoted(rendered(place_in(line, 1, column)));
      EXPECT_TRUE(is_whole_utf8(text)) << offset << " " << column;
    }
  }
}

TEST(Error, SaysAllFaults) {
  const Error error("bad", "first", "do this");
  EXPECT_STREQ(error.what(), "error[bad]: first\n  -> do this");
  ASSERT_EQ(error.faults().size(), 1U);
  EXPECT_EQ(error.faults()[0].code, "bad");
  const Error two(std::vector<Fault>{{"a", "one", "", {}}, {"b", "two", "", {}}});
  EXPECT_STREQ(two.what(), "error[a]: one\nerror[b]: two");
}

TEST(Faults, AreOrderedByPlace) {
  Faults faults;
  EXPECT_TRUE(faults.empty());
  EXPECT_NO_THROW(faults.throw_if_any());
  const std::string text = "one\ntwo\nthree\n";
  faults.add("c", "later", "", place_in(text, 3, 1));
  faults.add("b", "second", "", place_in(text, 2, 3));
  faults.add(Error("a", "first", "", place_in(text, 2, 1)));
  faults.add("d", "second again", "", place_in(text, 2, 3));
  faults.add("z", "no place");
  EXPECT_EQ(faults.size(), 5U);
  try {
    faults.throw_if_any();
    FAIL() << "no error";
  } catch (const Error& error) {
    std::string codes;
    for (const Fault& fault : error.faults()) codes += fault.code;
    EXPECT_EQ(codes, "zabdc");  // faults of one place stay in the order in which they were found
  }
}

using Names = std::vector<std::string>;

TEST(NearestNames, FindsMisspellings) {
  const Names known{"length", "mass", "gravity", "theta_1", "theta_2", "x"};
  EXPECT_EQ(nearest_names("lenght", known), Names{"length"});
  EXPECT_EQ(nearest_names("Mass", known), Names{"mass"});
  EXPECT_EQ(nearest_names("theta1", known), (Names{"theta_1", "theta_2"}));
  EXPECT_EQ(nearest_names("gravitiy", known), Names{"gravity"});
  EXPECT_EQ(nearest_names("q", known), Names{});  // another letter is another name
  EXPECT_EQ(nearest_names("X", known), Names{"x"});
  EXPECT_EQ(nearest_names("entirely", known), Names{});
  EXPECT_EQ(nearest_names("", known), Names{});
  EXPECT_EQ(nearest_names("abcd1", {"abcd2", "abcd3", "abcd4", "abcd5"}), (Names{"abcd2", "abcd3", "abcd4"}));
  EXPECT_EQ(nearest_names("abcd1", {"abcd2", "abcd2"}), Names{"abcd2"});
}

TEST(Suggest, AsksOrLists) {
  EXPECT_EQ(suggest("lenght", {"length", "mass"}), "did you mean 'length'?");
  EXPECT_EQ(suggest("theta", {"theta1", "theta2"}), "did you mean 'theta1' or 'theta2'?");
  EXPECT_EQ(suggest("abcd1", {"abcd2", "abcd3", "abcd4"}), "did you mean 'abcd2', 'abcd3' or 'abcd4'?");
  EXPECT_EQ(suggest("zzzzzz", {"length", "mass"}), "known names: length, mass");
  EXPECT_EQ(suggest("zzzzzz", {}), "");
  Names many;
  for (int i = 0; i < 20; ++i) many.push_back("n" + std::to_string(i));
  EXPECT_EQ(suggest("zzzzzz", many), "known names: n0, n1, n2, n3, n4, n5, n6, n7, n8, n9, n10, n11, ... (20 in all)");
}

}  // namespace
}  // namespace daedalus
