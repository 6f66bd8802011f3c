#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "daedalus/compile/function.hpp"

namespace daedalus::compile {

/// Taylor coefficients of a function along a curve: with inputs u(s) = sum_k u_k s^k given by their coefficients, order after
/// order, those of every output follow. Order k costs O(k) per operation.
///
/// Conditions are frozen as in a call of the function; where they are free, the values at s = 0 decide for the whole curve.
/// A table is the polynomial of the segment in which the curve begins.
///
/// One jet serves one trajectory. Allocates nothing after construction.
class Jet {
 public:
  /// Inputs are numbered over all blocks. Coefficient k of the `late` ones becomes known only after advance(k) has run with
  /// a guess in its place; correct(k) then sets right what depends on it.
  Jet(const Function& function, std::size_t highest, const std::vector<std::size_t>& late = {});
  ~Jet();
  Jet(Jet&&) noexcept;
  Jet& operator=(Jet&&) noexcept;

  std::size_t highest() const { return highest_; }
  /// Coefficient of an input, of the order that comes next or is in work.
  double& input(std::size_t i) { return inputs_[i]; }
  /// Coefficient k of an output after advance(k).
  double output(std::size_t i, std::size_t k) const { return values_[k == 0 ? 0 : 1][outputs_[i]]; }

  /// Computes coefficient k of everything from those of lower orders, which were computed one after the other, and those of the
  /// inputs, which must all be set.
  void advance(std::size_t k, const double* modes = nullptr);
  void correct(std::size_t k, const double* modes = nullptr);
  /// Forgets everything: to be called where coefficients were not finite.
  void clear();

  struct Program;

 private:
  std::unique_ptr<Program> program_;
  std::size_t highest_;
  double* inputs_;
  const double* values_[2];  ///< of order 0, and of the order in work
  std::vector<std::size_t> outputs_;
};

}  // namespace daedalus::compile
