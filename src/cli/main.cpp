// The command `daedalus`. Every error is translated to text or JSON and an exit status here, once.

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <new>
#include <string_view>

#include "cli/command.hpp"
#include "daedalus/base/check.hpp"
#include "daedalus/base/error.hpp"
#include "daedalus/report/json.hpp"

namespace daedalus::cli {

namespace {

/// The first fault of standard output, 0 for none.
int print_fault = 0;

}  // namespace

void print(const std::string& text) {
  errno = 0;
  const bool good = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (good || print_fault != 0) return;
  print_fault = errno == 0 ? EIO : errno;
  tell(std::string("error[cannot-write]: standard output cannot be written: ") + std::strerror(print_fault) + "\n");
}

void tell(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

namespace {

/// Answers one name that gets two values.
void refuse_repeated(const model::Overrides& overrides) {
  std::map<std::string, std::string> seen;
  const auto check = [&](const auto& pairs, const std::string& option) {
    for (const auto& [name, value] : pairs) {
      std::string key = name;
      std::erase(key, ' ');
      const std::string text = option + " " + name + "=" + value;
      const auto [earlier, fresh] = seen.emplace(key, text);
      if (!fresh)
        throw Error("bad-option-value", "'" + key + "' gets two values: " + earlier->second + " and " + text,
                    "give one of them");
    }
  };
  check(overrides.set, "--set");
  check(overrides.fix, "--fix");
}

}  // namespace

model::Overrides overrides_of(const Command& command) {
  model::Overrides overrides;
  overrides.t_start = command.run.t_start;
  const auto split = [](const std::vector<std::string>& given, const std::string& option) {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const std::string& text : given) {
      const std::size_t equals = text.find('=');
      if (equals == std::string::npos || equals == 0)
        throw Error("bad-option-value", option + " " + text + " is not of the form NAME=VALUE",
                    "write for example " + option + (option == "--fix" ? " x=0.5" : " m=2.5"));
      pairs.emplace_back(text.substr(0, equals), text.substr(equals + 1));
    }
    return pairs;
  };
  overrides.set = split(command.set, "--set");
  overrides.fix = split(command.fix, "--fix");
  refuse_repeated(overrides);
  return overrides;
}

model::Model read(const Command& command) { return model::read_model(command.model, overrides_of(command)); }

namespace {

int run(const Command& command) {
  if (command.name == "analyze") return analyze(command);
  if (command.name == "derive") return derive(command);
  if (command.name == "init") return init(command);
  if (command.name == "simulate") return simulate(command);
  if (command.name == "compare") return compare(command);
  if (command.name == "reproduce") return reproduce(command);
  if (command.name == "linearize") return linearize(command);
  if (command.name == "bode") return bode(command);
  if (command.name == "methods") return methods(command);
  return formulations(command);
}

}  // namespace
}  // namespace daedalus::cli

int main(int argc, char** argv) {
  using namespace daedalus;
  cli::Command command;
  for (int i = 1; i < argc; ++i) command.json = command.json || std::string_view(argv[i]) == "--json";
  const auto fail = [&](const std::string& code, const std::string& message) {
    if (command.json) cli::print(report::failure_json(code, message));
    cli::tell("error[" + code + "]: " + message + "\n");
    return static_cast<int>(cli::our_fault);
  };
  try {
    if (const auto status = cli::parse(argc, argv, command)) return *status;
    const int status = cli::run(command);
    return status == cli::done && cli::print_fault != 0 ? cli::numerics_failed : status;
  } catch (const Error& error) {
    if (command.json) cli::print(report::to_json(error));
    cli::tell(std::string(error.what()) + "\n");
    return cli::wrong_input;
  } catch (const InternalError& error) {
    return fail("internal", std::string("a fault of Daedalus, not of the model: ") + error.what());
  } catch (const std::bad_alloc&) {
    return fail("out-of-memory", "the memory of this machine does not suffice");
  } catch (const std::exception& error) {
    return fail("internal", std::string("a fault of Daedalus, not of the model: ") + error.what());
  }
}
