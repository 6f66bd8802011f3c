#include "daedalus/solve/culprit.hpp"

namespace daedalus::solve {

Place place_of_culprit(const std::string& message, const model::Model& model) {
  Place place;
  std::size_t first = std::string::npos;
  const auto look = [&](const auto& entries) {
    for (const auto& entry : entries) {
      const std::size_t at = message.find("'" + entry.name + "'");
      if (at >= first) continue;
      first = at;
      place = entry.place;
    }
  };
  look(model.constraints);
  look(model.equations);
  look(model.initial);
  look(model.events);
  return place;
}

}  // namespace daedalus::solve
