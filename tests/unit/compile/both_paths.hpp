#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "daedalus/compile/interpreter.hpp"
#include "daedalus/compile/tape.hpp"

namespace daedalus::compile {

inline bool equal_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) || (std::isnan(a) && std::isnan(b));
}

/// Where native code and interpreter differ by more than which NaN it is.
struct Difference {
  std::size_t output;
  double native, interpreted;
};

/// Calls a function both ways. `inputs` are all blocks, one after the other. Both calls begin with the same dirt in the
/// working part of their buffers, and what neither may write stays as it was.
inline std::optional<Difference> compare_paths(const Function& function, const std::vector<double>& inputs,
                                               const std::vector<double>* modes) {
  const Function::Tape& tape = function.tape();
  std::vector<const double*> blocks;
  const double* at = inputs.data();
  for (const std::size_t size : function.blocks()) {
    blocks.push_back(size == 0 ? nullptr : at);
    at += size;
  }
  Function::Scratch first = function.make_scratch();
  for (std::size_t i = tape.constants.size(); i < first.size(); ++i) first[i] = std::numeric_limits<double>::quiet_NaN();
  Function::Scratch second = first;
  constexpr double untouched = 0x1.23456789abcdep+77;
  const std::size_t count = function.output_count();
  std::vector<double> native(count + 1, untouched), interpreted(count + 1, untouched);
  const double* frozen = modes == nullptr ? nullptr : modes->data();
  function(blocks.data(), native.data(), first, frozen);
  interpret(tape, blocks.data(), interpreted.data(), second.data(), frozen);
  for (std::size_t i = 0; i <= count; ++i)
    if (!equal_bits(native[i], interpreted[i])) return Difference{i, native[i], interpreted[i]};
  for (std::size_t i = 0; i < tape.constants.size(); ++i)
    if (!equal_bits(first[i], tape.constants[i])) return Difference{count + i, first[i], tape.constants[i]};
  return std::nullopt;
}

}  // namespace daedalus::compile
