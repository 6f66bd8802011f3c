#pragma once

#include "daedalus/compile/tape.hpp"

namespace daedalus::compile {

/// Runs a tape instruction by instruction: the portable path, and what native code equals to the last bit. `scratch` is
/// that of a Function with this tape.
void interpret(const Function::Tape& tape, const double* const* inputs, double* outputs, double* scratch,
               const double* modes);

/// The same for 4 or 8 points: numbers of the same place stand side by side, in inputs, outputs and scratch.
void interpret_lanes(std::size_t lanes, const Function::Tape& tape, const double* const* inputs, double* outputs,
                     double* scratch, const double* modes);

/// The value of a table, in the segment that a mode names unless that is not a number or absent.
double look_up(const expr::Graph::TableUse& table, double x, const double* segment);

}  // namespace daedalus::compile
