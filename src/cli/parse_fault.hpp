#pragma once

#include "daedalus/base/error.hpp"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace daedalus::cli {

/// The answer to a command line that CLI11 refuses, in the words of everything else here.
Error parse_fault(const CLI::App& app, const CLI::ParseError& error, int argc, const char* const* argv);

}  // namespace daedalus::cli
