#pragma once

#include "daedalus/model/elaborate.hpp"

namespace daedalus::model {

/// Counts how deep expressions nest, also through functions, and refuses what would exhaust the stack.
class Elaborator::Depth {
 public:
  Depth(Elaborator& elaborator, const SyntaxTree& tree, const Syntax& node) : elaborator_(elaborator) {
    if (++elaborator_.depth_ <= deepest) return;
    --elaborator_.depth_;
    throw Error("too-deep", "functions and definitions are nested too deep here",
                "write fewer functions that call functions", tree.place(node));
  }
  ~Depth() { --elaborator_.depth_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  static constexpr int deepest = 3200;
  Elaborator& elaborator_;
};

/// Levels after which a definition is computed on its own, from an explicit stack, before its user is tried again. So a
/// chain of ten thousand definitions needs no deep recursion.
inline constexpr int defer_after = 600;

}  // namespace daedalus::model
