#include "daedalus/report/linear_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daedalus/base/listed.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/report/modes.hpp"
#include "daedalus/report/text_parts.hpp"

namespace daedalus::report {

namespace {

constexpr std::size_t most_lines = 12, most_eigenvalues = 16, most_projected = 8, most_characters = 400;

/// "3-fold -1 +- 2i (to 1e-13)"; conjugates are written once, with the one of positive imaginary part.
std::string eigenvalue_text(const structure::FiniteEigenvalue& one, bool exact) {
  const double scale = std::abs(one.value);
  const auto shown = [&](double part) {
    return brief(std::abs(part) < std::max(one.error, 1e-14 * scale) ? 0.0 : part, 10);
  };
  std::string text = shown(one.value.real());
  if (one.value.imag() > 0.0) {
    const std::string imaginary = shown(one.value.imag());
    text = (text == "0" ? "+-" : text + " +- ") + (imaginary == "1" ? "" : imaginary) + "i";
  }
  if (one.multiplicity > 1) text = fmt::format("{} ({}-fold)", text, one.multiplicity);
  if (!exact && one.error > 1e-9 * std::max(scale, 1.0)) text += fmt::format(" to {}", brief(one.error, 1));
  return text;
}

std::string spectrum_text(const structure::KroneckerStructure& s) {
  if (!s.spectrum_known) return count(s.differential_dimension, "finite eigenvalue") + ", too many to compute";
  if (s.finite.empty()) return "no finite eigenvalue";
  std::vector<std::string> texts;
  for (const structure::FiniteEigenvalue& one : s.finite)
    if (one.value.imag() >= 0.0) texts.push_back(eigenvalue_text(one, s.exact));
  const std::size_t all = texts.size();
  if (all > most_eigenvalues) texts.resize(most_eigenvalues);
  return joined(texts) +
         (all > most_eigenvalues ? fmt::format(", ... and {} more (--json lists all)", all - most_eigenvalues) : "");
}

std::string sizes(const std::vector<std::size_t>& numbers) {
  std::vector<std::string> texts;
  for (std::size_t k = 0; k < numbers.size();) {
    std::size_t end = k;
    while (end < numbers.size() && numbers[end] == numbers[k]) ++end;
    if (numbers.size() <= most_lines)
      texts.insert(texts.end(), end - k, std::to_string(numbers[k]));
    else
      texts.push_back(fmt::format("{} ({})", numbers[k], end - k == 1 ? "once" : fmt::format("{} times", end - k)));
    k = end;
  }
  return joined(texts);
}

std::string ground(const structure::KroneckerStructure& s) {
  if (s.exact) return "by exact arithmetic";
  if (s.eliminated > 0 && s.decided) {
    const bool by_ranks = s.spectrum_known || s.nilpotent_blocks.size() > s.eliminated;
    return fmt::format("by solving {} for as many unknowns{}", count(s.eliminated, "algebraic equation"),
                       by_ranks ? fmt::format(", and by the ranks of the rest: singular values down to {} count, those up to {} do not",
                                              brief(s.kept, 2), brief(s.dropped, 2))
                                : "; E is regular in the rest");
  }
  return fmt::format("{}: singular values down to {} count, those up to {} do not",
                     s.decided ? "by its ranks" : "NOT DECIDED", brief(s.kept, 2), brief(s.dropped, 2));
}

/// The matrix row by row, where it is small and says something.
std::string projector_lines(const solve::LinearFindings& findings) {
  const auto& rows = findings.projector_text;
  if (rows.size() > most_projected || findings.manifold.empty() || findings.structure.differential_dimension == 0) return {};
  std::vector<std::size_t> width(rows.size(), 1);
  for (const auto& row : rows)
    for (std::size_t j = 0; j < row.size(); ++j) width[j] = std::max(width[j], row[j].size());
  std::string text;
  for (const auto& row : rows) {
    std::string cells;
    for (std::size_t j = 0; j < row.size(); ++j) cells += fmt::format(" {:<{}} ", row[j], width[j]);
    text += line(text.empty() ? "projector" : "", "[" + cells + "]");
  }
  return text;
}

/// The vectors that span the two right deflating subspaces, where they are few and say more than that one is all there is.
std::string subspace_lines(const solve::LinearFindings& findings) {
  const auto& [finite, infinite] = findings.spaces;
  const std::size_t n = findings.unknowns.size();
  if (n > most_projected || finite.right.columns == 0 || infinite.right.columns == 0) return {};
  const auto vectors = [&](const structure::DenseMatrix& basis) {
    std::vector<std::string> all;
    for (std::size_t j = 0; j < basis.columns; ++j) {
      std::vector<std::string> entries;
      for (std::size_t i = 0; i < basis.rows; ++i) entries.push_back(brief(basis(i, j), findings.structure.exact ? 15 : 6));
      all.push_back("(" + joined(entries) + ")");
    }
    return joined(all);
  };
  return line("subspaces", "finite   spanned by " + vectors(finite.right)) + line("", "infinite spanned by " + vectors(infinite.right));
}

/// What the least change of the given values is, where there must be one.
std::string nearest_line(const solve::LinearFindings& findings) {
  if (!findings.nearest) return {};
  std::vector<std::string> parts;
  const auto& [given, values, distance] = *findings.nearest;
  double size = 1.0;
  for (const double value : given) size = std::max(size, std::abs(value));
  if (distance < 1e-10 * size) return {};
  for (std::size_t j = 0; j < values.size() && parts.size() <= most_lines; ++j)
    if (std::abs(values[j] - given[j]) > 1e-12 * std::max(1.0, std::abs(given[j])))
      parts.push_back(parts.size() < most_lines ? fmt::format("{} = {}", findings.unknowns[j], brief(values[j], 10)) : "...");
  return line("nearest", fmt::format("{} (all consistent values are at least {} from the given ones)", joined(parts), brief(distance)));
}

}  // namespace

std::string linear_lines(const solve::LinearFindings& findings) {
  const structure::KroneckerStructure& s = findings.structure;
  std::string text = line("pencil", fmt::format("{}, {}", s.regular ? "regular" : "singular", ground(s)));
  if (!s.column_minimal_indices.empty()) text += line("", "column minimal indices " + sizes(s.column_minimal_indices));
  if (!s.row_minimal_indices.empty()) text += line("", "row minimal indices " + sizes(s.row_minimal_indices));
  if (!s.nilpotent_blocks.empty()) text += line("", "nilpotent blocks " + sizes(s.nilpotent_blocks));
  text += line("spectrum", spectrum_text(s));
  for (const solve::LinearFindings::Freedom& one : findings.free) {
    if (one.unknowns.size() > most_lines) {
      text += line("free", fmt::format("nothing determines {}", listed(one.unknowns)));
      continue;
    }
    std::vector<std::string> additions;
    for (std::size_t k = 0; k < one.unknowns.size(); ++k)
      additions.push_back(fmt::format("{} to {}", one.additions[k], one.unknowns[k]));
    text += line("free", fmt::format("nothing determines {}: with any function phi, {} may be added",
                                     joined(one.unknowns), joined(additions)));
  }
  for (const solve::LinearFindings::Dependence& one : findings.dependences) {
    const auto readable = [](const std::string& sum) { return sum.size() <= most_characters; };
    text += line("dependent", fmt::format("{}: {} contains no unknown", one.equations.size() > most_lines ? listed(one.equations) : joined(one.equations),
                                          readable(one.combination) ? one.combination : "a combination of them and of their derivatives"));
    text += line("condition",
                 fmt::format("{} is needed, {}", readable(one.condition) ? one.condition : "the same combination of their f = 0",
                             one.holds            ? "and holds"
                             : readable(one.left) ? fmt::format("but with this f the left side is {}: no solution", one.left)
                                                  : "but with this f it does not hold: no solution"));
  }
  if (!s.regular) return text;
  text +=
      line("manifold", s.differential_dimension == s.columns
                           ? "every start is consistent"
                           : fmt::format("consistent values have dimension {}, bound by {}{}", s.differential_dimension,
                                         count(s.columns - s.differential_dimension, "equation"), findings.manifold.empty() ? "" : ":"));
  for (std::size_t i = 0; i < findings.manifold.size() && i < most_lines; ++i)
    text += line("", findings.manifold[i].equation);
  if (findings.manifold.size() > most_lines)
    text += line("", fmt::format("... and {} further ones (--json lists all)", findings.manifold.size() - most_lines));
  text += projector_lines(findings) + subspace_lines(findings) + nearest_line(findings);
  return findings.modes ? text + mode_lines(*findings.modes, false) : text;
}

}  // namespace daedalus::report
