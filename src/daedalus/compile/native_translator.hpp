#pragma once

#include <cstddef>

#include "daedalus/compile/native_machine.hpp"
#include "daedalus/compile/tape.hpp"

// Part of native code; not part of this room's interface.
namespace daedalus::compile {

struct NativeTranslation {
  bool reads_modes = false;
  std::size_t slots = 0;  ///< places in the caller's buffer behind the constants
};

/// Writes the code of a tape.
NativeTranslation translate(const Function::Tape& tape, Elementary elementary, NativeMachine& machine);

}  // namespace daedalus::compile
