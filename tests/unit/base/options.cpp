#include "daedalus/base/options.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "daedalus/base/check.hpp"
#include "daedalus/base/text.hpp"

namespace daedalus {
namespace {

const std::vector<OptionSpec> specs{
    {.name = "omega", .summary = "frequency", .standard = 2.0, .least = 0.0},
    {.name = "xi", .summary = "damping", .standard = 1.0, .least = 0.0, .most = 10.0},
    {.name = "limit", .summary = "no default", .standard = std::nullopt},
    {.name = "variant", .summary = "word", .standard = std::nullopt, .words = {"plain", "weighted"}},
};

Fault only_fault(const std::string& text) {
  try {
    Options(parse_choice(text), specs);
  } catch (const Error& error) {
    EXPECT_EQ(error.faults().size(), 1u) << error.what();
    return error.faults().front();
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

TEST(ParseChoice, SplitsNameAndOptions) {
  const Choice choice = parse_choice(" baumgarte : omega = 2, xi=0.8");
  EXPECT_EQ(choice.name, "baumgarte");
  ASSERT_EQ(choice.options.size(), 2u);
  EXPECT_EQ(choice.options[0], std::pair(std::string("omega"), std::string("2")));
  EXPECT_EQ(choice.options[1], std::pair(std::string("xi"), std::string("0.8")));
  EXPECT_EQ(choice.text(), "baumgarte:omega=2,xi=0.8");
  EXPECT_EQ(parse_choice("dop853").text(), "dop853");
  EXPECT_EQ(parse_choice(choice.text()).options, choice.options);
}

TEST(ParseChoice, RefusesMalformedText) {
  for (const char* text : {"", "  ", ":a=1", "name:", "name:a", "name:a=", "name:=1", "name:a=1,", "name:a=1,,b=2",
                           "a=1", "name:a=1,a=2"}) {
    try {
      parse_choice(text);
      ADD_FAILURE() << "accepted: '" << text << "'";
    } catch (const Error& error) {
      ASSERT_EQ(error.faults().size(), 1u);
      EXPECT_EQ(error.faults()[0].code, "bad-choice");
      EXPECT_NE(error.faults()[0].message.find(fmt::format("'{}'", text)), std::string::npos) << error.what();
      EXPECT_FALSE(error.faults()[0].advice.empty());
    }
  }
}

TEST(OptionsTest, GivenValuesAndDefaults) {
  const Options options(parse_choice("baumgarte:xi=+0.5,variant=weighted"), specs);
  EXPECT_EQ(options.number("omega"), 2.0);
  EXPECT_EQ(options.number("xi"), 0.5);
  EXPECT_EQ(options.word("variant"), "weighted");
  EXPECT_TRUE(options.given("xi"));
  EXPECT_FALSE(options.given("omega"));
  EXPECT_FALSE(options.given("limit"));
  const std::vector<std::pair<std::string, std::string>> expected{
      {"omega", "2"}, {"xi", "0.5"}, {"variant", "weighted"}};
  EXPECT_EQ(options.in_force(), expected);
  EXPECT_EQ(Options(parse_choice("baumgarte"), specs).word("variant"), "plain");
  EXPECT_THROW(options.number("limit"), InternalError);
  EXPECT_THROW(options.number("variant"), InternalError);
  EXPECT_THROW(options.word("xi"), InternalError);
  EXPECT_THROW(options.given("nonsense"), InternalError);
}

TEST(OptionsTest, UnknownOptionNamesTheNearest) {
  const Fault fault = only_fault("baumgarte:omgea=3");
  EXPECT_EQ(fault.code, "unknown-option");
  EXPECT_NE(fault.message.find("'omgea'"), std::string::npos);
  EXPECT_NE(fault.message.find("'baumgarte'"), std::string::npos);
  EXPECT_NE(fault.advice.find("'omega'"), std::string::npos);
}

TEST(OptionsTest, EntryWithoutOptionsSaysSo) {
  try {
    Options(parse_choice("rk4:alpha=1"), {});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.faults()[0].code, "unknown-option");
    EXPECT_EQ(error.faults()[0].advice, "'rk4' takes no options");
  }
}

TEST(OptionsTest, BadValueNamesOptionValueAndBound) {
  for (const char* value : {"11", "-0.1", "fast", "1x", "nan", "inf", "+-1"}) {
    const Fault fault = only_fault(fmt::format("baumgarte:xi={}", value));
    EXPECT_EQ(fault.code, "bad-option-value");
    EXPECT_EQ(fault.message, fmt::format("option 'xi' of 'baumgarte' is '{}', expected a number from 0 to 10", value));
  }
  EXPECT_NE(only_fault("baumgarte:omega=-1").message.find("at least 0"), std::string::npos);
  EXPECT_EQ(Options(parse_choice("baumgarte:xi=10"), specs).number("xi"), 10.0);
  EXPECT_EQ(Options(parse_choice("baumgarte:xi=2/3"), specs).number("xi"), 2.0 / 3.0);
  const Fault word = only_fault("baumgarte:variant=weigthed");
  EXPECT_EQ(word.code, "bad-option-value");
  EXPECT_NE(word.message.find("plain, weighted"), std::string::npos);
  EXPECT_NE(word.advice.find("'weighted'"), std::string::npos);
}

TEST(OptionsTest, ReportsAllFaultsTogether) {
  try {
    Options(parse_choice("baumgarte:omga=1,xi=20,variant=none"), specs);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.faults().size(), 3u);
  }
}

TEST(Text, ShortestReadsBackTheSame) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(2.5e-7), "2.5e-07");
  EXPECT_EQ(shortest(3.0), "3");
  EXPECT_EQ(shortest(-0.0), "-0");
  for (const double value : {1.0 / 3.0, -std::numeric_limits<double>::min(), std::numeric_limits<double>::max(),
                             123456789.123456789, 5e-324}) {
    EXPECT_EQ(std::strtod(shortest(value).c_str(), nullptr), value);
  }
}

TEST(Text, BriefAndCount) {
  EXPECT_EQ(brief(2.0), "2");
  EXPECT_EQ(brief(1.0 / 3.0), "0.333333");
  EXPECT_EQ(brief(1.0 / 3.0, 3), "0.333");
  EXPECT_EQ(brief(1.5e-9), "1.5e-09");
  EXPECT_EQ(count(1, "constraint"), "1 constraint");
  EXPECT_EQ(count(3, "constraint"), "3 constraints");
  EXPECT_EQ(count(0, "step"), "0 steps");
}

}  // namespace
}  // namespace daedalus
