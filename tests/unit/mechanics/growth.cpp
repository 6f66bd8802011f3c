// A chain of N links costs O(N): nodes of the graph and operations of the compiled functions, counted, not timed.

#include "folders.hpp"
#include "unit/mechanics/tools.hpp"

namespace daedalus::tests {
namespace {

struct Size {
  double nodes, motion, geometry, entries;
};

Size chain(const std::string& links) {
  model::Overrides overrides;
  overrides.set = {{"N", links}};
  auto model = std::make_shared<const model::Model>(
      model::read_model(tests::source_folder() + "/models/chain.toml", overrides));
  const auto functions = mechanics::compile_functions(mechanics::derive(model));
  return {static_cast<double>(model->graph->size()), static_cast<double>(functions->motion.operation_count()),
          static_cast<double>(functions->geometry.operation_count()),
          static_cast<double>(functions->mass.nonzeros() + functions->jacobian.nonzeros())};
}

/// Ten times the links: ten times everything, but for what the first link has apart (at most one link's worth in a
/// hundred).
TEST(Growth, ChainIsLinearInItsLinks) {
  const Size hundred = chain("100"), thousand = chain("1000");
  for (const auto part : {&Size::nodes, &Size::motion, &Size::geometry, &Size::entries}) {
    EXPECT_GT(hundred.*part, 100.0);
    EXPECT_LE(thousand.*part, 10.2 * hundred.*part);
  }
}

}  // namespace
}  // namespace daedalus::tests
