#include "unit/model/helpers.hpp"

namespace daedalus::model {
namespace {

/// Line and column of the only fault of a text.
std::pair<std::size_t, std::size_t> place_of(const std::string& model_text) {
  try {
    read(model_text);
  } catch (const Error& error) {
    EXPECT_EQ(error.faults().size(), 1U) << error.what();
    return {error.faults()[0].place.line, error.faults()[0].place.column};
  }
  ADD_FAILURE() << "no fault";
  return {};
}

const std::string head = "kind = \"dae\"\n[variables]\nx = 1\n[equations]\n";

TEST(Place, PointsIntoEveryKindOfText) {
  using At = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(place_of(head + "e = \"x = q\"\n"), At(5, 10));
  EXPECT_EQ(place_of(head + "e = 'x = q'\n"), At(5, 10));
  EXPECT_EQ(place_of(head + "  e   =   \"x = q\"\n"), At(5, 16));
  EXPECT_EQ(place_of(head + "e = \"\"\"x = q\"\"\"\n"), At(5, 12));
  EXPECT_EQ(place_of(head + "e = \"\"\"\nx =\n  q\"\"\"\n"), At(7, 3));
  EXPECT_EQ(place_of(head + "e = \"\"\"\r\nx =\r\n  q\"\"\"\r\n"), At(7, 3));
  EXPECT_EQ(place_of(head + "e = '''\nx =\n  q'''\n"), At(7, 3));
  EXPECT_EQ(place_of(head + "e = \"\"\"\nx = \\\n    q\"\"\"\n"), At(7, 5));
  EXPECT_EQ(place_of(head + "e = \"x =\\t q\"\n"), At(5, 12));
  EXPECT_EQ(place_of(head + "e = \"x =\\u0020q\"\n"), At(5, 15));
  EXPECT_EQ(place_of(head + "e = { equation = \"x = q\" }\n"), At(5, 23));
}

TEST(Place, CountsBytesAfterOtherLetters) {
  // The column is the offset in the line, as compilers count; the caret is drawn below the character.
  const std::string text = "kind = \"dae\"\n[variables]\nx = 1\n[equations]\n\"\u03B1\" = \"x = q\"\n";
  EXPECT_EQ(place_of(text), (std::pair<std::size_t, std::size_t>(5, 13)));
  try {
    read(text);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("     5 | \"\u03B1\" = \"x = q\"\n       |            ^\n"),
              std::string::npos)
        << error.what();
  }
}

TEST(Place, ModelKeepsWhereThingsStand) {
  const Model model = read(
      "kind = \"dae\"\n[variables]\nx = 1\n  y = { start = 2 }\n[equations]\ne = \"x = 1\"\n\"f g\" = \"y = 1\"\n");
  EXPECT_EQ(model.variables[1].place.line, 4U);
  EXPECT_EQ(model.variables[1].place.column, 3U);
  EXPECT_EQ(model.variables[1].start[0].place.column, 17U);
  EXPECT_EQ(model.equations[1].name, "f g");
  EXPECT_EQ(model.equations[1].place.line, 7U);
  EXPECT_EQ(model.source->name, "model.toml");
}

}  // namespace
}  // namespace daedalus::model
