// The map of violations as a picture.
#include "daedalus/report/perturbation.hpp"

#include <gtest/gtest.h>

#include "daedalus/report/plot_font.hpp"

namespace daedalus::report {
namespace {

TEST(PerturbationPicture, NamesWithManyOptionsStayBesideEachOther) {
  solve::PerturbationMap map;
  map.model = "pendulum";
  map.formulations = {"baumgarte", "lyapunov:psi=velocity,path=sequential,delta=0.3,epsilon=1", "ascher-chin-reich:gamma=10"};
  map.sizes = {-1.0, 0.0, 1.0};
  map.t_end = 1.0;
  const Picture picture = perturbation_picture(map);
  std::string all;
  for (const Label& label : picture.labels) {
    all += label.words.front().text;
    for (const Label& other : picture.labels) {
      if (&label == &other || label.upwards || other.upwards || label.anchor != Anchor::start || other.anchor != Anchor::start) continue;
      if (label.at.y != other.at.y || label.at.x > other.at.x) continue;
      EXPECT_LT(label.at.x + width_of(label.words, label.size), other.at.x) << label.words.front().text << " runs into " << other.words.front().text;
    }
    EXPECT_GE(label.at.y, label.size) << label.words.front().text << " leaves the picture";
  }
  for (const char* part : {"baumgarte", "lyapunov:", "path=sequential,", "epsilon=1", "gamma=10"}) EXPECT_NE(all.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace daedalus::report
