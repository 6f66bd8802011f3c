// What is hidden in a model file: index, degrees of freedom, hidden constraints, a consistent start.

#include <fmt/core.h>

#include <daedalus/daedalus.hpp>
#include <string>

using namespace daedalus;

int main(int argc, char** argv) {
  const Prepared pendulum = prepare(read_model((argc > 1 ? std::string(argv[1]) : "models") + "/pendulum.toml"));
  const solve::Analysis analysis = analyze(pendulum.functions, 0.0);
  fmt::print("{}: index {}, {} degree(s) of freedom\n", analysis.model, analysis.index.value_or(-1), analysis.degrees_of_freedom);
  for (const solve::HiddenConstraint& hidden : analysis.hidden)
    fmt::print("hidden constraint of {}: {}\n", hidden.of, hidden.equation);
  const solve::Start start = consistent_start(pendulum.functions, 0.0, Initialize::project);
  for (const solve::Moved& moved : start.moved) fmt::print("{} moved by {:.6f}\n", moved.name, moved.by);
  fmt::print("{}", report::equations_text(pendulum.functions->equations));
}
