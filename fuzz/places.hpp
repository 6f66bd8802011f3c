#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "daedalus/base/error.hpp"

namespace daedalus::fuzz {

/// Whether a place is a line of its text and a column of that line, or the one after its end.
inline bool lies_inside(const Place& place) {
  if (!place.source || place.line == 0 || place.column == 0) return false;
  const std::string& text = place.source->text;
  std::size_t from = 0;
  for (std::size_t line = 1; line < place.line; ++line) {
    from = text.find('\n', from);
    if (from == std::string::npos) return false;
    ++from;
  }
  const std::size_t to = std::min(text.find('\n', from), text.size());
  return place.column <= to - from + 1;
}

/// Aborts where an error about a text lacks a code, a message or a place inside it.
inline void check_faults(const Error& error) {
  if (error.faults().empty()) std::abort();
  for (const Fault& fault : error.faults()) {
    if (fault.code.empty() || fault.message.empty()) std::abort();
    if (fault.code != "too-many-faults" && !lies_inside(fault.place)) {
      std::fprintf(stderr, "%s: %s at %zu:%zu\n", fault.code.c_str(), fault.message.c_str(), fault.place.line,
                   fault.place.column);
      std::abort();
    }
  }
}

}  // namespace daedalus::fuzz
