#include "daedalus/base/listed.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace daedalus {

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 6;
  std::string text;
  const std::size_t shown = std::min(names.size(), most);
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += i + 1 == shown && names.size() <= most ? " and " : ", ";
    text += names[i];
  }
  return names.size() > most ? text + fmt::format(" and {} more", names.size() - most) : text;
}

}  // namespace daedalus
