#include "cli/parse_fault.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <vector>

namespace daedalus::cli {

namespace {

/// The command that people mean by a word of other programs, or nothing.
std::string_view meant_command(std::string_view word) {
  for (const std::string_view run : {"run", "solve", "integrate", "sim", "start"})
    if (word == run) return "simulate";
  for (const std::string_view check : {"check", "info", "analyse", "index"})
    if (word == check) return "analyze";
  if (word == "equations" || word == "latex") return "derive";
  if (word == "initialize" || word == "initial") return "init";
  return {};
}

Error unknown_command(const std::string& word, const std::vector<std::string>& commands) {
  std::string advice = suggest(word, commands);
  if (const std::string_view meant = meant_command(word); !meant.empty()) advice = fmt::format("did you mean '{}'?", meant);
  if (word == "help") advice = "write daedalus --help";
  if (word == "version") advice = "write daedalus --version";
  if (word == "bench") advice = "the benchmarks come with the sources: ./daedalus bench there";
  for (const std::string_view picture : {"plot", "draw", "figure"})
    if (word == picture) advice = "a figure is an option: daedalus simulate model.toml --plot figure.svg";
  for (const std::string_view page : {"report", "show", "animate", "view"})
    if (word == page) advice = "a page is an option: daedalus simulate model.toml --report page.html";
  if (word.ends_with(".toml"))
    return {"unknown-command", fmt::format("'{}' is a model, not a command", word),
            fmt::format("write daedalus simulate {}", word)};
  return {"unknown-command", fmt::format("there is no command '{}'", word), advice};
}

/// The option that the beginning of CLI11's text names, or null.
const CLI::Option* option_in(const CLI::App& command, const std::string& text) {
  const std::size_t at = text.find("--");
  if (at == std::string::npos) return nullptr;
  const std::size_t end = text.find_first_of(" :=", at);
  return command.get_option_no_throw(text.substr(at, end - at));
}

/// "a number", "a whole number" or "a value".
std::string_view taken_by(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type.starts_with("FLOAT")) return "a number";
  if (type.starts_with("UINT") || type.starts_with("INT")) return "a whole number";
  return "a value";
}

/// The number at the beginning of a text such as 5s or 1e-6x, or nothing.
std::string leading_number(const std::string& value) {
  double number = 0.0;
  const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), number);
  return status == std::errc{} ? std::string(value.data(), end) : std::string{};
}

std::string number_advice(const CLI::Option& option, const std::string& value) {
  const std::string name = option.get_name();
  if (name == "--at") return "write numbers separated by commas: --at 1,2.5,10";
  if (option.get_delimiter() == ',' && name == "--rtol") return "write numbers separated by commas: --rtol 1e-4,1e-6";
  if (option.get_delimiter() == ',') return fmt::format("write numbers separated by commas: {} 0.1,0.01", name);
  if (taken_by(option) == "a whole number") {
    double number = 0.0;
    const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool whole = status == std::errc{} && end == value.data() + value.size() && number >= 0.0 && number < 1e9 &&
                       number == std::floor(number);
    std::string grouped = value;
    std::erase_if(grouped, [](char c) { return c == ',' || c == '_' || c == '\''; });
    if (grouped != value && !grouped.empty() && grouped.size() < 10 && grouped.find_first_not_of("0123456789") == std::string::npos)
      return fmt::format("digits are not grouped: {} {}", name, grouped);
    return fmt::format("write {} {}", name, whole ? static_cast<long>(number) : 100L);
  }
  const std::size_t comma = value.find(',');
  if (comma != std::string::npos && value.find_first_not_of("0123456789,-") == std::string::npos &&
      value.find(',', comma + 1) == std::string::npos)
    return fmt::format("a decimal point is written {}.{}", value.substr(0, comma), value.substr(comma + 1));
  if (comma != std::string::npos) return "give one value";
  if (const std::string number = leading_number(value); !number.empty()) {
    const std::string_view rest = std::string_view(value).substr(number.size());
    if (rest == "%") return fmt::format("1 % is written {} 0.01", name);
    if (rest.find_first_of("*/+-^(") == 0) return "expressions stand in the model; here a number is written out: 6.283";
    return fmt::format("write the number alone, without a unit: {} {}", name, number);
  }
  return fmt::format("write for example {} {}", name, name.find("tol") != std::string::npos ? "1e-6" : "0.5");
}

}  // namespace

Error parse_fault(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv) {
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  std::vector<std::string> commands, options;
  const CLI::App* chosen = &app;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    commands.push_back(command->get_name());
    if (command->parsed()) chosen = command;
  }
  for (const std::string& word : words)
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
      if (chosen == &app && command->get_name() == word) chosen = command;
  for (const CLI::Option* option : chosen->get_options())
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);

  const bool command_first = !words.empty() && std::find(commands.begin(), commands.end(), words[0]) != commands.end();
  if (!command_first && !words.empty() && !words[0].starts_with('-')) {
    if (chosen != &app && words[0].ends_with(".toml"))
      return {"bad-command-line", "the command comes first, then the model",
              fmt::format("write daedalus {} {}", chosen->get_name(), words[0])};
    return unknown_command(words[0], commands);
  }
  const std::string name = chosen == &app ? "daedalus" : chosen->get_name();
  for (const std::string& word : words) {
    if (!word.starts_with("--") || word == "--") continue;
    const std::string given = word.substr(0, word.find('='));
    if (std::find(options.begin(), options.end(), given) != options.end()) continue;
    std::string advice = suggest(given, options);
    if (given == "--output" && name == "derive") advice = "it prints: `daedalus derive model.toml --format latex > equations.tex`";
    for (const CLI::App* other : app.get_subcommands([](const CLI::App*) { return true; }))
      if (chosen != &app && advice.starts_with("known names") && other->get_option_no_throw(given) != nullptr)
        advice = fmt::format("it is an option of '{}'; {}", other->get_name(), advice);
    return {"unknown-option", fmt::format("'{}' has no option {}", name, given), advice};
  }

  for (const std::string& word : words)
    for (const std::string_view dash : {"\u2013", "\u2014", "\u2212"})
      if (word.starts_with(dash))
        return {"unknown-option", fmt::format("'{}' begins with a dash that is not plain", word),
                "options begin with two plain dashes: --t-end"};

  const std::string text = error.what();
  const CLI::Option* option = option_in(*chosen, text);
  const std::string help = chosen == &app ? "`daedalus --help` lists the commands"
                                          : fmt::format("`daedalus {} --help` shows the options", name);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    for (const std::string& word : words) {
      if (word.size() < 2 || word[0] != '-' || word[1] == '-' || word.find_first_of("0123456789.") == 1) continue;
      const std::string with_two = "-" + word.substr(0, word.find('='));
      if (std::find(options.begin(), options.end(), with_two) != options.end())
        return {"unknown-option", fmt::format("'{}' has no option {}", name, word),
                fmt::format("options begin with two dashes: -{}", word)};
      const std::string letter = word.substr(1, 1);
      for (const std::string& known : options)
        if (word.size() == 2 && known.starts_with("--" + letter))
          return {"unknown-option", fmt::format("'{}' has no option {}", name, word),
                  fmt::format("options are written out: {}", known)};
      return {"unknown-option", fmt::format("'{}' has no option {}", name, word), help};
    }
    const std::string extra = text.substr(text.find(':') + 2);
    if (extra.ends_with("=") || extra.starts_with("="))
      return {"bad-command-line", "found '=' between blanks", "write NAME=VALUE without blanks, or in quotes: --set 'm = 2'"};
    return {"bad-command-line", fmt::format("'{}' takes one {}; found also: {}", name,
                                            name == "methods" || name == "formulations" ? "name" : "model", extra),
            help};
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
    if (chosen == &app && !words.empty() && (words[0] == "-v" || words[0] == "-V"))
      return {"unknown-option", fmt::format("'{}' has no option {}", name, words[0]), "options are written out: --version"};
    if (chosen == &app) return {"bad-command-line", "the command is missing", help};
    return {"bad-command-line", fmt::format("'{}' needs a model", name), fmt::format("write daedalus {} model.toml", name)};
  }
  if (option != nullptr && dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
    const std::size_t equals = text.find(" = ");
    const std::string value = equals == std::string::npos ? "" : text.substr(equals + 3);
    return {"bad-option-value",
            fmt::format("{} takes {}; found '{}'", option->get_name(), taken_by(*option), value), number_advice(*option, value)};
  }
  if (option != nullptr && dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    if (text.find("received") != std::string::npos)
      return {"bad-command-line", fmt::format("{} is given more than once", option->get_name()), "give it once"};
    return {"bad-command-line", fmt::format("{} needs {} after it", option->get_name(), taken_by(*option)), help};
  }
  if (option != nullptr && dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) {
    const std::size_t brace = text.find('{'), end = text.find('}');
    std::string value = option->results().empty() ? "" : option->results().back();
    if (brace != std::string::npos && end != std::string::npos) {
      std::string choices = text.substr(brace + 1, end - brace - 1);
      for (std::size_t at = choices.find(','); at != std::string::npos; at = choices.find(',', at + 2))
        choices.replace(at, 1, ", ");
      return {"bad-option-value", fmt::format("{} takes one of: {}; found '{}'", option->get_name(), choices, value),
              fmt::format("write for example {} {}", option->get_name(),
                          value == "tex" || value == "LaTeX" ? "latex" : choices.substr(0, choices.find(',')))};
    }
    return {"bad-option-value", fmt::format("{} takes {}; found '{}'", option->get_name(), taken_by(*option), value),
            number_advice(*option, value)};
  }
  return {"bad-command-line", text, help};
}

}  // namespace daedalus::cli
