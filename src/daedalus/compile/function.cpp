#include "daedalus/compile/function.hpp"

#include <algorithm>

#include "daedalus/compile/interpreter.hpp"
#include "daedalus/compile/operation_count.hpp"

namespace daedalus::compile {

namespace {

thread_local OperationCount* counting = nullptr;

void take_note(std::size_t operations) {
  if (counting != nullptr) [[unlikely]]
    counting->add(operations);
}

std::shared_ptr<const Function::Tape> empty_tape() {
  auto tape = std::make_shared<Function::Tape>();
  tape->code.push_back({Code::end});
  return tape;
}

}  // namespace

OperationCount::OperationCount() { counting = this; }
OperationCount::~OperationCount() { counting = nullptr; }
void OperationCount::count(std::size_t operations) { take_note(operations); }

Function::Function() : tape_(empty_tape()) {}
Function::Function(std::shared_ptr<const Tape> tape) : tape_(std::move(tape)) {}
Function::~Function() = default;
Function::Function(Function&&) noexcept = default;
Function::Function(const Function&) = default;
Function& Function::operator=(Function&&) noexcept = default;
Function& Function::operator=(const Function&) = default;

std::size_t Function::output_count() const { return tape_->outputs - tape_->notes; }
std::size_t Function::operation_count() const { return tape_->code.size() - 1 - tape_->outputs; }
const std::vector<std::size_t>& Function::blocks() const { return tape_->blocks; }

Function::Scratch Function::make_scratch() const {
  tape_->native.make(*tape_);
  const std::size_t notes = tape_->notes;
  Scratch scratch(notes + std::max(tape_->registers, tape_->constants.size() + tape_->native.slots()), 0.0);
  std::copy(tape_->constants.begin(), tape_->constants.end(), scratch.begin() + static_cast<std::ptrdiff_t>(notes));
  return scratch;
}

void Function::operator()(const double* const* inputs, double* outputs, Scratch& scratch, const double* modes) const {
  take_note(operation_count());
  const NativeCode& native = tape_->native;
  if (const NativeCode::Entry entry = native.entry(); entry != nullptr && (modes != nullptr || !native.reads_modes()))
    entry(inputs, outputs, scratch.data() + tape_->notes, modes);
  else
    interpret(*tape_, inputs, outputs, scratch.data() + tape_->notes, modes);
}

}  // namespace daedalus::compile
