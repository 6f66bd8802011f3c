// Any bytes: the reader returns a model or throws Error with places inside the text. Anything else is a crash.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "daedalus/base/error.hpp"
#include "daedalus/model/reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace daedalus;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    model::read_model_text(text, "model.toml", {}, "no-such-folder");
  } catch (const Error& error) {
    if (error.faults().empty()) std::abort();
    for (const Fault& fault : error.faults())
      if (fault.code.empty() || fault.message.empty() || fault.place.line == 0 || fault.place.column == 0) std::abort();
  }
  return 0;
}
