#pragma once

#include <optional>

#include "daedalus/compile/native_program.hpp"

// Part of native code; not part of this room's interface.
namespace daedalus::compile {

/// The same program with like steps taken together, up to four as one: what equal members of a system make of their equations.
/// Every value is computed by the same operation from the same operands, so that results are the same; only the order of steps
/// that do not wait for each other changes. None where too little would be gained.
std::optional<NativeProgram> packed(const NativeProgram& program, const Function::Tape& tape);

}  // namespace daedalus::compile
