#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "daedalus/compile/series_rules.hpp"

// Part of jets; not part of this room's interface.
namespace daedalus::compile::series {

/// Zeros in front of every row: what a sum of four products at a time reads beyond order 0.
constexpr std::size_t lead = 4;

/// A product: the values, and where their rows begin.
struct Pair {
  Id a, b;
  std::uint32_t row_a, row_b;
};
struct Move {
  Id to, a, b;
  std::uint32_t row_to, row_a, row_b;
};
/// Terms of a sum stand one after the other: products, values, and values times steady ones, of each those that are
/// added and those that are subtracted.
struct Sum {
  Id to;
  std::uint32_t begin;
  std::uint32_t count[6];
};
/// Moves, or sums, of one rule that do not need each other.
struct Group {
  Rule rule;
  std::uint32_t begin, end;
};

/// The order in which the rules of higher orders run: first those that others need, and those of one kind together.
/// What depends on late inputs comes last.
struct Plan {
  Plan(const Rules& rules, const std::vector<std::size_t>& late_inputs, std::size_t highest);

  std::vector<Group> groups, late_groups;
  std::vector<Move> moves;
  std::vector<Sum> sums;
  std::vector<Pair> terms;
  std::vector<Id> late;                   ///< inputs by their values
  std::vector<std::uint32_t> late_steps;  ///< which of the steps of order 0 depend on them
  struct Row {
    Id value;
    std::uint32_t at;  ///< of order 0
    bool rate;         ///< one order below
  };
  std::vector<Row> kept;  ///< rows of the values that are convolved
  std::size_t row_room = 0;
};

}  // namespace daedalus::compile::series
