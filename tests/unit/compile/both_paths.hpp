#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "daedalus/compile/batch.hpp"
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
  for (std::size_t i = tape.notes + tape.constants.size(); i < first.size(); ++i) first[i] = std::numeric_limits<double>::quiet_NaN();
  Function::Scratch second = first;
  constexpr double untouched = 0x1.23456789abcdep+77;
  const std::size_t count = function.output_count();
  std::vector<double> native(count + 1, untouched), interpreted(count + 1, untouched);
  const double* frozen = modes == nullptr ? nullptr : modes->data();
  function(blocks.data(), native.data(), first, frozen);
  interpret(tape, blocks.data(), interpreted.data(), second.data() + tape.notes, frozen);
  for (std::size_t i = 0; i <= count; ++i)
    if (!equal_bits(native[i], interpreted[i])) return Difference{i, native[i], interpreted[i]};
  for (std::size_t i = 0; i < tape.notes; ++i)
    if (!equal_bits(first[i], second[i])) return Difference{count + i, first[i], second[i]};
  const double* const constants = first.data() + tape.notes;
  for (std::size_t i = 0; i < tape.constants.size(); ++i)
    if (!equal_bits(constants[i], tape.constants[i])) return Difference{count + i, constants[i], tape.constants[i]};
  return std::nullopt;
}

/// Calls a batch at as many points as it has lanes: `points` are the inputs of the function at each of them. Outputs lane by lane.
inline std::vector<double> call_batch(const Batch& batch, Batch::Scratch& scratch, const std::vector<std::vector<double>>& points,
                                      const double* modes) {
  const std::size_t lanes = batch.lanes();
  std::vector<double> together;
  for (std::size_t i = 0; i < points[0].size(); ++i)
    for (std::size_t k = 0; k < lanes; ++k) together.push_back(points[k][i]);
  std::vector<const double*> blocks;
  const double* at = together.data();
  for (const std::size_t size : batch.function().blocks()) {
    blocks.push_back(size == 0 ? nullptr : at);
    at += lanes * size;
  }
  constexpr double untouched = 0x1.23456789abcdep+77;
  const std::size_t count = batch.function().output_count();
  std::vector<double> outputs((count + 1) * lanes, untouched), sorted;
  batch(blocks.data(), outputs.data(), scratch, modes);
  for (std::size_t k = 0; k < lanes; ++k)
    for (std::size_t i = 0; i <= count; ++i) sorted.push_back(outputs[i * lanes + k]);
  return sorted;
}

/// Where a batch with exact functions and the interpreter differ at any of the points.
inline std::optional<Difference> compare_lanes(const Batch& batch, const std::vector<std::vector<double>>& points,
                                               const std::vector<double>* modes) {
  const Function& function = batch.function();
  const Function::Tape& tape = function.tape();
  const double* frozen = modes == nullptr ? nullptr : modes->data();
  const std::size_t lanes = batch.lanes(), count = function.output_count();
  Batch::Scratch scratch = batch.make_scratch();
  const auto numbers = [&](std::size_t from) { return scratch.data() + lanes * from; };
  for (std::size_t i = lanes * (tape.notes + tape.constants.size()); i < scratch.size(); ++i)
    scratch.data()[i] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> together = call_batch(batch, scratch, points, frozen);
  for (std::size_t k = 0; k < lanes; ++k) {
    std::vector<const double*> blocks;
    const double* at = points[k].data();
    for (const std::size_t size : function.blocks()) {
      blocks.push_back(size == 0 ? nullptr : at);
      at += size;
    }
    Function::Scratch alone = function.make_scratch();
    std::vector<double> interpreted(count + 1, 0x1.23456789abcdep+77);
    interpret(tape, blocks.data(), interpreted.data(), alone.data() + tape.notes, frozen);
    for (std::size_t i = 0; i <= count; ++i)
      if (!equal_bits(together[k * (count + 1) + i], interpreted[i])) return Difference{i, together[k * (count + 1) + i], interpreted[i]};
    for (std::size_t i = 0; i < tape.notes; ++i)
      if (!equal_bits(numbers(i)[k], alone[i])) return Difference{count + i, numbers(i)[k], alone[i]};
  }
  for (std::size_t i = 0; i < tape.constants.size(); ++i)
    for (std::size_t k = 0; k < lanes; ++k)
      if (!equal_bits(numbers(tape.notes + i)[k], tape.constants[i])) return Difference{count + i, numbers(tape.notes + i)[k], tape.constants[i]};
  return std::nullopt;
}

}  // namespace daedalus::compile
