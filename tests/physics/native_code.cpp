// The functions of every model that is shipped, as machine code, for one point and for several at once, and interpreted: the same
// to the last bit.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "daedalus/compile/native.hpp"
#include "daedalus/mechanics/functions.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/structure/dae_functions.hpp"
#include "folders.hpp"
#include "unit/compile/both_paths.hpp"

namespace daedalus::tests {
namespace {

using compile::Function;
using compile::Switches;

class NativeModels : public testing::Test {
 protected:
  void SetUp() override {
    if (!compile::makes_native_code()) GTEST_SKIP() << "this process makes no native code";
  }

  void compare(const Function& function, const Switches& switches, const std::string& what) {
    std::size_t count = 0;
    for (const std::size_t size : function.blocks()) count += size;
    const compile::Batch batches[] = {compile::Batch(function, compile::Elementary::exact, 4),
                                      compile::Batch(function, compile::Elementary::exact, 8)};
    for (int point = 0; point < 4; ++point) {
      std::vector<double> inputs(count), modes = switches.free_modes(std::vector<double>(switches.held_count(), 0.5));
      for (double& x : inputs) x = std::uniform_real_distribution<double>(-1.5, 2.0)(random_);
      for (std::size_t i = 0; i < switches.size(); ++i)
        modes[switches.place(i)] = std::uniform_int_distribution<int>(-1, 1)(random_);
      for (const auto* frozen : {static_cast<std::vector<double>*>(nullptr), &modes}) {
        const auto difference = compile::compare_paths(function, inputs, frozen);
        ASSERT_FALSE(difference) << what << ", output " << difference->output << ": " << difference->native
                                 << " and interpreted " << difference->interpreted;
        std::vector<std::vector<double>> points(8, inputs);
        for (std::vector<double>& there : points)
          for (double& x : there) x += std::uniform_real_distribution<double>(-0.1, 0.1)(random_);
        for (const compile::Batch& batch : batches) {
          const auto of_lanes = compile::compare_lanes(batch, points, frozen);
          ASSERT_FALSE(of_lanes) << what << " on " << batch.lanes() << " lanes, output " << of_lanes->output << ": "
                                 << of_lanes->native << " and interpreted " << of_lanes->interpreted;
        }
      }
    }
    native_ += compile::is_native(function);
  }

  void compare(const compile::ImplicitFunction& function, const Switches& switches, const std::string& what) {
    compare(function.residual, switches, what + ", residual");
    compare(function.jacobian, switches, what + ", Jacobian");
    compare(function.time_derivative, switches, what + ", time derivative");
  }

  std::mt19937_64 random_{7};
  std::size_t native_ = 0;  ///< functions that ran as machine code
};

TEST_F(NativeModels, RunAsInterpreted) {
  std::size_t models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() + "/models")) {
    if (entry.path().extension() != ".toml") continue;
    ++models;
    const std::string name = entry.path().filename();
    const auto model = std::make_shared<const model::Model>(model::read_model(entry.path()));
    if (model->kind == model::Kind::lagrangian || model->kind == model::Kind::mechanical) {
      const auto fn = mechanics::compile_functions(mechanics::derive(model));
      compare(fn->motion, fn->switches, name + ", motion");
      compare(fn->geometry, fn->switches, name + ", geometry");
      compare(fn->velocity, fn->switches, name + ", velocity");
      compare(fn->auxiliary, fn->switches, name + ", auxiliary");
      compare(fn->kept.jacobian, fn->switches, name + ", kept");
    } else {
      const auto fn = structure::compile_dae(model);
      compare(fn->function, fn->switches, name);
      compare(fn->initial, fn->switches, name + ", initial");
    }
  }
  EXPECT_GT(models, 30U);
  EXPECT_GT(native_, 3 * models);
}

}  // namespace
}  // namespace daedalus::tests
