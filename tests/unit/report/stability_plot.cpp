#include "daedalus/report/stability_plot.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "daedalus/base/error.hpp"

namespace daedalus::report {
namespace {

/// The range of the spots of an area.
std::pair<Spot, Spot> bounds_of(const Area& area) {
  Spot low{1e9, 1e9}, high{-1e9, -1e9};
  for (const auto& ring : area.rings)
    for (const Spot& spot : ring) {
      low = {std::min(low.x, spot.x), std::min(low.y, spot.y)};
      high = {std::max(high.x, spot.x), std::max(high.y, spot.y)};
    }
  return {low, high};
}

// Euler's region is the disk of radius 1 around -1: the area has one ring, which is a circle.
TEST(StabilityPlot, EulersRegionIsADisk) {
  const Picture picture = stability_picture(integrate::integrator("explicit-euler"));
  ASSERT_EQ(picture.areas.size(), 1u);
  ASSERT_EQ(picture.areas[0].rings.size(), 1u);
  const auto [low, high] = bounds_of(picture.areas[0]);
  const Spot centre{(low.x + high.x) / 2, (low.y + high.y) / 2};
  const double radius = (high.x - low.x) / 2;
  EXPECT_GT(radius, 50.0);
  // A cell of the grid is below 1 point; between its sides the line is straight.
  for (const Spot& spot : picture.areas[0].rings[0])
    EXPECT_NEAR(std::hypot(spot.x - centre.x, spot.y - centre.y), radius, 0.1);
}

// For the implicit one the disk is what is left out, and the border of the picture closes the area.
TEST(StabilityPlot, AreaWithAHoleReachesTheBorder) {
  const Picture picture = stability_picture(integrate::integrator("implicit-euler"));
  ASSERT_EQ(picture.areas.size(), 1u);
  EXPECT_EQ(picture.areas[0].rings.size(), 2u);
  // The border is filled up to but not drawn as an edge: only the circle and the axes are lines.
  const auto thick =
      std::count_if(picture.paths.begin(), picture.paths.end(), [](const Path& path) { return path.width == 1.0; });
  EXPECT_EQ(thick, 1);
}

TEST(StabilityPlot, FilesHaveTheArea) {
  const Picture picture = stability_picture(integrate::integrator("rk4"));
  EXPECT_NE(picture_svg(picture).find("fill-rule=\"evenodd\""), std::string::npos);
  EXPECT_NE(picture_pdf(picture).find("\nf*\n"), std::string::npos);
}

TEST(StabilityPlot, MultistepMethodsHaveALineForEveryOrder) {
  const Picture picture = stability_picture(integrate::integrator("bdf"));
  EXPECT_TRUE(picture.areas.empty());
  const auto orders = std::count_if(picture.labels.begin(), picture.labels.end(), [](const Label& label) {
    return label.words.size() == 1 && label.words[0].text.starts_with("order ");
  });
  EXPECT_EQ(orders, 5);
}

TEST(StabilityPlot, MethodWithoutRegionIsRefused) {
  EXPECT_THROW(stability_picture(integrate::integrator("taylor2")), Error);
}

}  // namespace
}  // namespace daedalus::report
