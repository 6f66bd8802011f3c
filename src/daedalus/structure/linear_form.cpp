// F(t, y, y') is linear with constant coefficients where its partial derivatives contain parameters alone; then
// E = F_y', A = -F_y and f = -F(t, 0, 0).

#include "daedalus/structure/linear_form.hpp"

#include <algorithm>
#include <unordered_set>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"

namespace daedalus::structure {

using expr::Expr;
using expr::NodeId;

std::optional<LinearForm> linear_form(const DaeFunctions& functions) {
  const compile::ImplicitEquations& eq = functions.equations;
  const std::size_t n = eq.y.size();
  std::unordered_set<NodeId> moving{eq.t.id()};
  std::unordered_map<NodeId, Expr> nothing;
  std::vector<Expr> unknowns = eq.y;
  for (const Expr& rate : eq.dy)
    if (rate.valid()) unknowns.push_back(rate);
  for (const Expr& symbol : unknowns) {
    moving.insert(symbol.id());
    nothing.emplace(symbol.id(), eq.t.graph().constant(0.0));
  }
  // With numbers for parameters x^n is linear where n = 1, and a condition on them is decided.
  std::unordered_map<NodeId, Expr> numbers;
  for (const auto& [symbol, value] : functions.model->numbers()) numbers.emplace(symbol, eq.t.graph().constant(value));
  for (const model::Parameter& value : functions.model->discrete) {
    moving.insert(value.symbol.id());
    numbers.erase(value.symbol.id());
  }
  const std::vector<bool> varies =
      expr::dependence(expr::jacobian(expr::substitute(eq.F, numbers), unknowns).value, moving);
  if (std::ranges::find(varies, true) != varies.end()) return std::nullopt;

  LinearForm form;
  form.pattern = functions.function.pattern;
  const double t = 0.0;
  const std::vector<double> zero(n, 0.0);
  std::vector<double> jacobian(functions.function.jacobian.output_count());
  auto scratch = functions.function.jacobian.make_scratch();
  const double* inputs[] = {&t, zero.data(), zero.data()};
  functions.function.jacobian(inputs, jacobian.data(), scratch);
  const auto middle = jacobian.begin() + static_cast<std::ptrdiff_t>(form.pattern.nonzeros());
  form.A.assign(jacobian.begin(), middle);
  for (double& value : form.A) value = -value;
  form.E.assign(middle, jacobian.end());
  form.f = expr::substitute(eq.F, nothing);
  for (Expr& f : form.f) f = -f;
  return form;
}

}  // namespace daedalus::structure
