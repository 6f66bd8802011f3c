#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "daedalus/linalg/sparsity.hpp"

namespace daedalus::solve {

/// Which values of a start can be given freely: how many, and in which sets.
struct FreeValues {
  bool known = false;  ///< false: too large, or no consistent point
  std::size_t count = 0;

  /// Values that are chosen together, independently of those of other groups.
  struct Group {
    std::size_t choose = 0;       ///< so many
    std::vector<std::string> of;  ///< of these
    bool any = true;              ///< any so many will do
    bool listed = true;           ///< `sets` has all that will do; otherwise one
    std::vector<std::vector<std::string>> sets;
  };
  std::vector<Group> groups;
  std::vector<std::string> determined;  ///< states that follow from the equations alone
  std::vector<std::string> instead;     ///< other unknowns, and derivatives, that can be fixed in place of some of these

  std::vector<std::string> fixed;    ///< as the author has it
  std::vector<std::string> surplus;  ///< those among them that follow from the others

  /// All sets that may be fixed together, or, where they are more than a few, one of them.
  std::vector<std::vector<std::string>> sets(bool& all) const;
};

/// What the derivative C of the constraints at a consistent point says. Columns are states, whose sets are asked for, or
/// other unknowns.
struct FreeValuesQuestion {
  linalg::Sparsity pattern;
  std::vector<double> values;
  std::vector<std::string> names;  ///< of columns
  std::vector<double> sizes;
  std::vector<bool> state, fixed;
};
FreeValues free_values(const FreeValuesQuestion& question);

/// Puts the answers for independent parts (positions, velocities) together.
void append(FreeValues& to, FreeValues&& more);

/// "any 1 of x, y", "all of x, der(x)": one text per group.
std::vector<std::string> group_texts(const FreeValues& free);

/// "1 value can be chosen on position level: any 1 of x, y".
std::string choice_text(const FreeValues& free, const std::string& where);

}  // namespace daedalus::solve
