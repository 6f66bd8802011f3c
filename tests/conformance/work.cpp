// The work of three small runs, counted: it does not depend on the machine, and may not grow unnoticed. Where it has
// fallen by much, write the new numbers.
#include <gtest/gtest.h>

#include "daedalus/compile/operation_count.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "folders.hpp"

namespace daedalus::tests {
namespace {

struct Work {
  const char *model, *formulation, *method;
  double rtol;
  std::size_t evaluations, factorizations, operations;
};

const Work runs[] = {
    {"pendulum", "projection", "dop853", 1e-8, 4896, 5281, 279221},  // with sums of slopes and what a step is judged by
    {"andrews", "projection", "dop853", 1e-6, 647, 688, 289352},
    {"transistor_amplifier", "auto", "radau", 1e-6, 10686, 427, 696050},
};

TEST(Work, DoesNotGrow) {
  for (const Work& work : runs) {
    SCOPED_TRACE(work.model);
    const solve::Prepared model =
        solve::prepare(model::read_model(source_folder() + "/models/" + work.model + ".toml"));
    solve::RunOptions options;
    options.formulation = work.formulation;
    options.method = work.method;
    options.rtol = options.atol = work.rtol;
    options.rows = solve::Rows::ends;
    compile::OperationCount count;
    const solve::Trajectory run = solve::simulate(model, options);
    ASSERT_TRUE(run.success()) << run.message;
    std::printf("%s: %zu evaluations, %zu factorizations, %zu operations in %zu calls\n", work.model, run.stats.rhs,
                run.stats.factorizations, count.operations(), count.calls());
    const auto expect_no_more = [](std::size_t found, std::size_t expected, const char* what) {
      EXPECT_LE(static_cast<double>(found), 1.05 * static_cast<double>(expected))
          << what << " have grown by more than 5 percent";
    };
    expect_no_more(run.stats.rhs, work.evaluations, "evaluations");
    expect_no_more(run.stats.factorizations, work.factorizations, "factorizations");
    expect_no_more(count.operations(), work.operations, "operations");
  }
}

}  // namespace
}  // namespace daedalus::tests
