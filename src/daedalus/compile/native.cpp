#include "daedalus/compile/native.hpp"

#include "daedalus/compile/tape.hpp"

#if defined(DAEDALUS_ASMJIT)
#include "daedalus/compile/native_translator.hpp"
#endif

namespace daedalus::compile {

#if defined(DAEDALUS_ASMJIT)

bool makes_native_code(std::size_t lanes) { return NativeMachine::has(lanes); }

void NativeCode::make(const Function::Tape& tape, std::size_t lanes, Elementary elementary) const {
  std::call_once(once_, [&] {
    if (!makes_native_code(lanes) || tape.outputs == 0) return;
    NativeMachine machine(lanes);
    const NativeTranslation translation = translate(tape, elementary, machine);
    slots_ = translation.slots;
    reads_modes_ = translation.reads_modes;
    entry_.store(reinterpret_cast<Entry>(machine.finish(pages_)), std::memory_order_release);
  });
}

#else

bool makes_native_code(std::size_t) { return false; }
void NativeCode::make(const Function::Tape&, std::size_t, Elementary) const {}

#endif

void NativeCode::leave() const {
  std::call_once(once_, [] {});
}

bool is_native(const Function& function) { return function.tape().native.entry() != nullptr; }

Function called_seldom(Function function) {
  function.tape().native.leave();
  return function;
}

}  // namespace daedalus::compile
