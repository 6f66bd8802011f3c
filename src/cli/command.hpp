#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daedalus/model/reader.hpp"
#include "daedalus/solve/run_options.hpp"

namespace daedalus::cli {

/// Exit statuses, as in docs/command-line.md.
enum Exit { done = 0, wrong_input = 2, numerics_failed = 3, our_fault = 70, interrupted = 130 };

/// What a person asked for, with the options of every command together.
struct Command {
  std::string name;   ///< analyze, derive, init, simulate, compare, linearize, bode, reproduce, methods, formulations
  std::string model;  ///< path of the model file, or NAME for the catalogues
  std::vector<std::string> set, fix;
  std::vector<std::string> curves;  ///< what a figure shows; all if empty
  solve::RunOptions run;
  std::string output, plot, page, restart;

  std::vector<std::string> models;  ///< several of them; of reproduce the names of experiments
  bool list = false;                ///< reproduce: names only

  // compare
  std::vector<std::string> formulations, methods;
  std::vector<double> tolerances, steps;
  std::string reference;
  std::optional<double> time_limit;
  std::optional<unsigned> threads;

  bool derivation = false;  ///< derive: step by step
  bool zero_dynamics = false;     ///< analyze
  std::optional<double> perturb;  ///< largest violation of an inconsistent start
  // linearize, bode
  std::optional<double> at;
  std::vector<std::string> inputs, targets;
  std::vector<double> range;
  std::optional<std::size_t> points;

  std::string format = "text";
  bool json = false, quiet = false;
};

/// Reads the command line. Returns an exit status where nothing is left to do (help, version). Throws Error.
std::optional<int> parse(int argc, const char* const* argv, Command& command);

/// What the command line says about the model.
model::Overrides overrides_of(const Command& command);
/// Reads the model with the overrides of the command line.
model::Model read(const Command& command);

// One file each; all return an exit status.
int analyze(const Command& command);
int derive(const Command& command);
int init(const Command& command);
int simulate(const Command& command);
int compare(const Command& command);
int reproduce(const Command& command);
int linearize(const Command& command);
int bode(const Command& command);
int methods(const Command& command);
int formulations(const Command& command);

/// Writes to standard output.
void print(const std::string& text);
/// Writes to standard error.
void tell(const std::string& text);
/// Writes a failure of the numerics to standard error, with the place of what it names in the model.
void tell_failure(const std::string& code, const std::string& message, const std::string& advice, const model::Model& model);

}  // namespace daedalus::cli
