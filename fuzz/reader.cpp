// Any bytes: the reader returns a model or throws Error with places inside the text, which can be said as JSON too.
// Anything else is a crash.

#include "daedalus/model/reader.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "daedalus/base/error.hpp"
#include "daedalus/report/json.hpp"

namespace {

using namespace daedalus;

/// Whether a place is a line of its text and a column of that line, or the one after its end.
bool lies_inside(const Place& place) {
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    model::read_model_text(text, "model.toml", {}, "no-such-folder");
  } catch (const Error& error) {
    if (error.faults().empty() || report::to_json(error).empty()) std::abort();
    for (const Fault& fault : error.faults()) {
      if (fault.code.empty() || fault.message.empty()) std::abort();
      if (fault.code != "too-many-faults" && !lies_inside(fault.place)) {
        std::fprintf(stderr, "%s: %s at %zu:%zu\n", fault.code.c_str(), fault.message.c_str(), fault.place.line,
                     fault.place.column);
        std::abort();
      }
    }
  }
  return 0;
}
