// Any bytes: the reader returns a model or throws Error with places inside the text, which can be said as JSON too.
// Anything else is a crash.

#include "daedalus/model/reader.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

#include "daedalus/report/json.hpp"
#include "places.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace daedalus;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    model::read_model_text(text, "model.toml", {}, "no-such-folder");
  } catch (const Error& error) {
    if (report::to_json(error).empty()) std::abort();
    fuzz::check_faults(error);
  }
  return 0;
}
