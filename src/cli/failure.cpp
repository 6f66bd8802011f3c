#include <algorithm>

#include "cli/command.hpp"
#include "daedalus/base/error.hpp"

namespace daedalus::cli {

namespace {

/// Where the constraint, equation or event stands that a message names first, in quotes.
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

}  // namespace

void tell_failure(const std::string& code, const std::string& message, const std::string& advice, const model::Model& model) {
  tell(std::string(Error(code, message, advice, place_of_culprit(message, model)).what()) + "\n");
}

}  // namespace daedalus::cli
