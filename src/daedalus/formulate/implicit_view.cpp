#include "daedalus/formulate/implicit_view.hpp"

#include <algorithm>

#include "daedalus/base/finite.hpp"

namespace daedalus::formulate {

using integrate::Evaluation;

namespace {

/// One compiled function with its own workspace.
struct Call {
  std::shared_ptr<const compile::ImplicitFunction> owner;
  const compile::Function* function;
  std::shared_ptr<const double*> frozen;
  compile::Function::Scratch scratch;

  Evaluation operator()(double t, const double* y, const double* dy, double* out) {
    const double* inputs[] = {&t, y, dy};
    (*function)(inputs, out, scratch, *frozen);
    return all_finite(out, function->output_count()) ? Evaluation::ok : Evaluation::not_finite;
  }
};

}  // namespace

integrate::ImplicitSystem implicit_view(std::shared_ptr<const compile::ImplicitFunction> function,
                                        std::shared_ptr<const double*> frozen) {
  const auto call_of = [&](const compile::Function& member) {
    return Call{function, &member, frozen, member.make_scratch()};
  };
  integrate::ImplicitSystem view;
  view.pattern = function->pattern;
  view.differential = function->differential;
  view.constant_leading = function->constant_leading;
  view.index.assign(function->differential.size(), 1);
  view.residual = call_of(function->residual);
  view.jacobian = [call = call_of(function->jacobian), both = std::vector<double>(2 * view.pattern.nonzeros())](
                      double t, const double* y, const double* dy, double* F_y, double* F_dy) mutable {
    const Evaluation outcome = call(t, y, dy, both.data());
    const std::size_t count = both.size() / 2;
    std::copy_n(both.begin(), count, F_y);
    std::copy_n(both.begin() + static_cast<std::ptrdiff_t>(count), count, F_dy);
    return outcome;
  };
  if (!function->autonomous) view.time_derivative = call_of(function->time_derivative);
  return view;
}

}  // namespace daedalus::formulate
