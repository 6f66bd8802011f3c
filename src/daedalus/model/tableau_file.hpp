#pragma once

#include <optional>
#include <string>
#include <vector>

#include "daedalus/base/error.hpp"

namespace daedalus::model {

/// A number of a tableau with what was written for it and where.
struct TableauNumber {
  double value = 0.0;
  std::string text;
  Place place;
};

/// Coefficients of a Runge-Kutta method as a person wrote them into a file. Rows of A are as long as there are stages.
struct TableauFile {
  std::string name, citation;
  std::optional<TableauNumber> order;  ///< as claimed
  std::vector<std::vector<TableauNumber>> a;
  std::vector<TableauNumber> b;
  std::vector<TableauNumber> c, embedded;  ///< empty where not given
};

/// Reads a tableau: TOML with the keys A (rows), b and optionally name, order, c, embedded, citation. Entries are
/// numbers or expressions such as "1/2 - sqrt(3)/6". Rows of A may leave out the zeros on and behind the diagonal.
/// Throws Error with every fault found.
TableauFile read_tableau(const std::string& path);
/// The same from text; `name` stands for the file in messages.
TableauFile read_tableau_text(const std::string& text, const std::string& name);

}  // namespace daedalus::model
