#include "daedalus/report/structure_plot.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "daedalus/model/reader.hpp"
#include "daedalus/solve/analysis.hpp"

namespace daedalus::report {
namespace {

Picture picture_of(const std::string& text) {
  const auto model = std::make_shared<const model::Model>(model::read_model_text(text, "test"));
  return structure_picture(solve::analyze(model, 0.0).structure, model->name);
}

std::size_t boxes(const Picture& picture) {
  std::size_t count = 0;
  for (const Area& area : picture.areas) count += area.rings.size();
  return count;
}

std::size_t labels(const Picture& picture, const std::string& text) {
  return static_cast<std::size_t>(std::count_if(picture.labels.begin(), picture.labels.end(), [&](const Label& label) {
    return label.words.size() == 1 && label.words[0].text == text;
  }));
}

// a and b in a loop, then c: five entries, drawn twice; two blocks and two frames are outlined.
constexpr const char* small = R"toml(
kind = "dae"
[variables]
a = 0
b = 0
c = 0
[equations]
rate = "c' = a + b"
sum = "a + b^3 = t"
difference = "a - b = 1"
)toml";

TEST(StructurePlot, HasEveryEntryTwiceAndItsBlocks) {
  const Picture picture = picture_of(small);
  EXPECT_EQ(boxes(picture), 14u);
  EXPECT_EQ(picture.paths.size(), 4u);
  for (const char* name : {"a", "b", "c", "rate", "sum", "difference"}) EXPECT_EQ(labels(picture, name), 2u) << name;
  EXPECT_EQ(labels(picture, "1"), 2u);  // c'
  EXPECT_EQ(labels(picture, "0"), 12u);
  for (const Path& path : picture.paths)
    for (const Spot& spot : path.spots) {
      EXPECT_GE(spot.x, 0.0);
      EXPECT_LE(spot.x, picture.width);
      EXPECT_GE(spot.y, 0.0);
      EXPECT_LE(spot.y, picture.height);
    }
}

TEST(StructurePlot, OfALargeSystemHasMarksThatCanBeSeen) {
  const Picture picture = picture_of(R"toml(
kind = "dae"
[variables]
"x[i]" = { for = "i in 1..3000" }
"y[i]" = { for = "i in 1..3000" }
[equations]
"rate[i]" = { for = "i in 1..3000", equation = "x[i]' = y[i]^2 - x[i]" }
"sum[i]" = { for = "i in 1..3000", equation = "y[i]^3 + y[i] = x[i]" }
)toml");
  // Twenty columns to a mark: four diagonals of half the width as written, and one that all share.
  EXPECT_EQ(boxes(picture), 900u);
  for (const Area& area : picture.areas)
    for (const auto& ring : area.rings) EXPECT_GE(ring[1].x - ring[0].x, 0.5);
}

TEST(StructurePlot, OutlinesThePartsOfASingularSystem) {
  const Picture picture = picture_of(R"toml(
kind = "dae"
[variables]
x = 0
y = 0
z = 0
[equations]
one = "x = 1"
two = "x' = t"
three = "y + z = 0"
)toml");
  EXPECT_EQ(picture.paths.size(), 4u);  // two frames, under- and overdetermined; no equation is well determined
  EXPECT_EQ(boxes(picture), 8u);
}

TEST(StructurePlot, LargeMatricesHaveNoNames) {
  const Picture picture = picture_of(R"toml(
kind = "dae"
[variables]
"x[i]" = { for = "i in 1..300" }
[equations]
"e[i]" = { for = "i in 1..300", equation = "x[i]' = -x[i]" }
)toml");
  EXPECT_EQ(picture.labels.size(), 2u);  // the titles
  EXPECT_EQ(boxes(picture), 600u);
  EXPECT_LT(picture.width, 600.0);
  EXPECT_LT(picture.height, 300.0);
}

}  // namespace
}  // namespace daedalus::report
