#include "daedalus/compile/batch.hpp"

#include <algorithm>

#include "daedalus/base/check.hpp"
#include "daedalus/compile/interpreter.hpp"
#include "daedalus/compile/operation_count.hpp"
#include "daedalus/compile/tape.hpp"

namespace daedalus::compile {

std::size_t Batch::widest() { return makes_native_code(8) ? 8 : 4; }

Batch::Batch(Function function, Elementary elementary, std::size_t lanes)
    : function_(std::move(function)), elementary_(elementary), lanes_(lanes), native_(std::make_shared<NativeCode>()) {
  DAEDALUS_CHECK(lanes == 4 || lanes == 8, "{} lanes", lanes);
}

Batch::Scratch Batch::make_scratch() const {
  const Function::Tape& tape = function_.tape();
  native_->make(tape, lanes_, elementary_);
  const std::size_t places = tape.notes + std::max(tape.registers, tape.constants.size() + native_->slots());
  Scratch scratch(places * lanes_);
  double* to = scratch.data() + tape.notes * lanes_;
  for (const double constant : tape.constants) to = std::fill_n(to, lanes_, constant);
  return scratch;
}

void Batch::operator()(const double* const* inputs, double* outputs, Scratch& scratch, const double* modes) const {
  const Function::Tape& tape = function_.tape();
  OperationCount::count(function_.operation_count());
  double* const buffer = scratch.data() + tape.notes * lanes_;
  if (const NativeCode::Entry entry = native_->entry(); entry != nullptr && (modes != nullptr || !native_->reads_modes()))
    entry(inputs, outputs, buffer, modes);
  else
    interpret_lanes(lanes_, tape, inputs, outputs, buffer, modes);
}

}  // namespace daedalus::compile
