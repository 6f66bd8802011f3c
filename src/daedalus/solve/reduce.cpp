// Whether a DAE has an index above 1 can be seen only at a point that satisfies all of its equations, the hidden ones too.
// Its structure says which these are (offsets c_i > 0); the differentiated equations then give the point, and there both
// are asked: the equations as written, whether they determine the derivatives after all (the structural index may be too
// high), and the differentiated ones, whether they do.

#include "daedalus/solve/reduce.hpp"

#include <algorithm>

#include "daedalus/solve/start.hpp"
#include "daedalus/structure/dae_evaluator.hpp"

namespace daedalus::solve {

using structure::DaeFunctions;

namespace {

/// More differentiations than any index that people meet; expressions would grow without sense.
constexpr int most_differentiations = 16;

/// Values of (y, y') of one form of the equations, taken from those of another by the names of the derivatives.
std::vector<double> translated(const std::vector<double>& u, const DaeFunctions& from, const DaeFunctions& to) {
  std::unordered_map<std::string, double> known;
  const std::size_t n = from.dimension();
  for (std::size_t i = 0; i < n; ++i) {
    known.emplace(model::derivative_name(from.unknowns[i].of->name, from.unknowns[i].times), u[i]);
    if (i < from.differential) known.emplace(model::derivative_name(from.unknowns[i].of->name, from.unknowns[i].times + 1), u[n + i]);
  }
  std::vector<double> result(2 * to.dimension(), 0.0);
  for (std::size_t i = 0; i < to.dimension(); ++i)
    for (const std::size_t rate : {0u, 1u}) {
      const auto found = known.find(model::derivative_name(to.unknowns[i].of->name, to.unknowns[i].times + rate));
      if (found != known.end()) result[i + rate * to.dimension()] = found->second;
    }
  return result;
}

/// The start values of the equations as they are, or consistent ones where they are found.
Start start_of(const std::shared_ptr<const DaeFunctions>& functions) {
  const double t = functions->model->simulation.t_start.value_or(0.0);
  try {
    Start start = consistent_start(functions, t, Initialize::project);
    if (start.found) return start;
  } catch (const Error&) {  // told when the model is run
  }
  return consistent_start(functions, t, Initialize::off);
}

}  // namespace

std::shared_ptr<const DaeFunctions> reduced(const std::shared_ptr<const DaeFunctions>& as_written) {
  const structure::EquationSet system = structure::equations_of(*as_written->model);
  const auto sigma = structure::sigma_method(structure::signature_of(system));
  if (!sigma) return nullptr;
  const std::vector<int>& c = sigma->offsets.c;
  if (const int most = *std::ranges::max_element(c); most == 0 || most > most_differentiations) return nullptr;
  auto differentiated = structure::compile_dae(as_written->model, sigma->offsets);
  const Start start = start_of(differentiated);
  const auto at = [&](const std::shared_ptr<const DaeFunctions>& form, auto question) {
    structure::DaeEvaluator evaluator(form);
    std::vector<double> discrete;
    for (const model::Parameter& value : form->model->discrete) discrete.push_back(value.value);
    const std::vector<double> frozen = form->switches.free_modes(discrete);
    evaluator.freeze(frozen.data());
    const std::vector<double> u = translated(start.guess, *differentiated, *form);
    return (evaluator.*question)(start.t, u.data(), u.data() + form->dimension());
  };
  if (at(as_written, &structure::DaeEvaluator::index_at_most_one)) return nullptr;
  return at(differentiated, &structure::DaeEvaluator::easy) ? differentiated : nullptr;
}

}  // namespace daedalus::solve
