#pragma once

#include <cstdint>
#include <vector>

#include "daedalus/compile/native_program.hpp"

// Part of native code; not part of this room's interface.
namespace daedalus::compile {

/// A block of steps that follows itself: step i + period does what step i does, and each number of an operand or an output
/// differs from the one a period before by an amount that is the same all along.
struct NativeRun {
  std::uint32_t first = 0, period = 0, count = 0;  ///< steps from first to first + period * count
};

/// The long runs of a program, in order: what a chain or a net of equal members makes of its equations.
std::vector<NativeRun> runs_of(const NativeProgram& program, const Function::Tape& tape);

}  // namespace daedalus::compile
