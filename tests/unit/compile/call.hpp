#pragma once

#include <vector>

#include "daedalus/compile/compile.hpp"

namespace daedalus::compile {

/// Calls a function with one block of inputs.
inline std::vector<double> call(const Function& function, const std::vector<double>& at,
                                const std::vector<double>* modes = nullptr) {
  auto scratch = function.make_scratch();
  std::vector<double> outputs(function.output_count());
  const double* inputs[] = {at.data()};
  function(inputs, outputs.data(), scratch, modes == nullptr ? nullptr : modes->data());
  return outputs;
}

/// The frozen values at a point: all switches as they are there. Switching functions may hold further switches, which is
/// why the list is walked until it ends.
inline std::vector<double> modes_at(Switches& switches, const std::vector<expr::Expr>& symbols,
                                    const std::vector<double>& at, const std::vector<double>& held = {}) {
  std::vector<double> modes;
  for (std::size_t i = 0; i < switches.size(); ++i) {
    const Switches::Switch one = switches[i];
    const Function function = compile({{symbols}, {one.function}}, switches);
    modes.push_back(one.mode(call(function, at)[0]));
  }
  std::vector<double> frozen = switches.free_modes(held);
  for (std::size_t i = 0; i < modes.size(); ++i) frozen[switches.place(i)] = modes[i];
  return frozen;
}

}  // namespace daedalus::compile
