// Any words on the command line, any choice of a method: parsed or answered with Error, and what was accepted as a
// choice is read again from its own text. The first byte chooses; words are separated by line breaks.

#include "daedalus/base/options.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/integrate/integrator_entry.hpp"

namespace {

using namespace daedalus;

void choose(const std::string& text) {
  const Choice choice = parse_choice(text);
  const Choice again = parse_choice(choice.text());
  if (again.name != choice.name || again.options != choice.options) std::abort();
  const auto check = [&](const std::vector<OptionSpec>& specs) {
    try {
      const Options options(choice, specs);
      for (const OptionSpec& spec : specs) {
        if (!spec.words.empty()) {
          if (options.word(spec.name).empty()) std::abort();
        } else if (spec.standard || options.given(spec.name)) {
          const double value = options.number(spec.name);
          if (!(value >= spec.least && value <= spec.most)) std::abort();
        }
      }
    } catch (const Error&) {
    }
  };
  for (const auto& entry : integrate::integrators()) check(entry.options);
  for (const auto& entry : formulate::formulations()) check(entry.options);
  check({{.name = "omega", .summary = "", .standard = 1.0, .least = 0.0},
         {.name = "xi", .summary = "", .standard = {}},
         {.name = "share", .summary = "", .standard = 0.5, .least = 0.0, .most = 1.0},
         {.name = "law", .summary = "", .standard = {}, .words = {"a", "bb", "ccc"}}});
}

void parse(const std::string& text) {
  std::vector<std::string> words{"daedalus"};
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find('\n', from), text.size());
    words.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  cli::Command command;
  cli::parse(static_cast<int>(pointers.size()), pointers.data(), command);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] % 2 == 0)
      choose(text);
    else
      parse(text);
  } catch (const daedalus::Error& error) {
    if (error.faults().empty() || error.faults()[0].code.empty()) std::abort();
  }
  return 0;
}
