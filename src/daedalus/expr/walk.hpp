#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "daedalus/expr/graph.hpp"

namespace daedalus::expr {

/// Visits what expressions use, operands before users, without recursion. One Walk serves many calls: each costs only
/// what it visits.
class Walk {
 public:
  /// The nodes reachable from `roots`. The list lives until the next call.
  const std::vector<NodeId>& from(const Graph& graph, std::span<const NodeId> roots) {
    if (++stamp_ == 0) {
      std::fill(stamp_of_.begin(), stamp_of_.end(), 0U);
      stamp_ = 1;
    }
    if (stamp_of_.size() < graph.size()) {
      stamp_of_.resize(graph.size(), 0);
      position_.resize(graph.size(), 0);
    }
    order_.clear();
    for (const NodeId root : roots) {
      if (stamp_of_[root] == stamp_) continue;
      stack_.push_back({root, 0});
      while (!stack_.empty()) {
        auto& [id, next] = stack_.back();
        const Node& node = graph.node(id);
        const int operands = arity(node.op);
        if (stamp_of_[id] == stamp_ || next == operands) {
          if (stamp_of_[id] != stamp_) {
            stamp_of_[id] = stamp_;
            position_[id] = static_cast<std::uint32_t>(order_.size());
            order_.push_back(id);
          }
          stack_.pop_back();
          continue;
        }
        const NodeId operand = next == 0 ? node.a : next == 1 ? node.b : node.c;
        ++next;
        if (stamp_of_[operand] != stamp_) stack_.push_back({operand, 0});
      }
    }
    return order_;
  }

  /// Where a node stands in the last list; the node must be in it.
  std::size_t position(NodeId id) const { return position_[id]; }
  bool visited(NodeId id) const { return id < stamp_of_.size() && stamp_of_[id] == stamp_; }

 private:
  struct Frame {
    NodeId id;
    int next;
  };
  std::uint32_t stamp_ = 0;
  std::vector<std::uint32_t> stamp_of_, position_;
  std::vector<NodeId> order_;
  std::vector<Frame> stack_;
};

}  // namespace daedalus::expr
