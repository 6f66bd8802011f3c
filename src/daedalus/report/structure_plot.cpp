#include "daedalus/report/structure_plot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "daedalus/report/plot_font.hpp"

namespace daedalus::report {
namespace {

using structure::Part;
using structure::StructuralAnalysis;
using structure::unmatched;

constexpr double longest = 240.0, largest_cell = 15.0, margin = 8.0, gap = 24.0, text_size = 7.5, title_size = 8.5;
constexpr double least_mark = 0.8;  // what is smaller nobody sees
constexpr std::size_t most_named = 40;
constexpr Color ink{38, 38, 38}, paper{255, 255, 255}, pale{205, 226, 241}, dark{0, 114, 178}, outline{213, 94, 0},
    grid{190, 190, 190};

/// A way to write down rows and columns, with parts to be outlined that follow each other down the diagonal.
struct Order {
  std::vector<std::size_t> rows, columns;
  struct Outline {
    std::size_t rows, columns;
  };
  std::vector<Outline> outlines;
};

Order as_written(const StructuralAnalysis& structure) {
  Order order;
  for (std::size_t i = 0; i < structure.equations.size(); ++i) order.rows.push_back(i);
  for (std::size_t j = 0; j < structure.unknowns.size(); ++j) order.columns.push_back(j);
  return order;
}

/// Rows with their partners on a diagonal, then what has none.
void append(Order& order, const Part& part, const structure::Matching& matching) {
  for (const std::size_t i : part.rows)
    if (matching.column_of[i] != unmatched) {
      order.rows.push_back(i);
      order.columns.push_back(matching.column_of[i]);
    }
  for (const std::size_t i : part.rows)
    if (matching.column_of[i] == unmatched) order.rows.push_back(i);
  for (const std::size_t j : part.columns)
    if (matching.row_of[j] == unmatched) order.columns.push_back(j);
  if (!part.rows.empty() || !part.columns.empty()) order.outlines.push_back({part.rows.size(), part.columns.size()});
}

Order by_blocks(const StructuralAnalysis& structure) {
  Order order;
  if (structure.regular()) {
    for (const Part& block : structure.blocks) append(order, block, structure.sigma->transversal);
    return order;
  }
  const structure::Matching matching = structure::maximum_matching(structure.signature.pattern);
  for (const Part* part : {&structure.parts.under, &structure.parts.well, &structure.parts.over})
    append(order, *part, matching);
  return order;
}

class Drawing {
 public:
  explicit Drawing(const StructuralAnalysis& structure) : structure_(structure) {
    const std::size_t most = std::max({structure.equations.size(), structure.unknowns.size(), std::size_t{1}});
    cell_ = std::min(largest_cell, longest / static_cast<double>(most));
    named_ = most <= most_named;
    if (named_) {
      for (const std::string& name : structure.equations) left_ = std::max(left_, width_of({{name}}, text_size) + 4.0);
      for (const std::string& name : structure.unknowns) top_ = std::max(top_, width_of({{name}}, text_size) + 4.0);
    }
    top_ += margin + title_size + 6.0;
    const double width = cell_ * static_cast<double>(structure.unknowns.size());
    title_ = structure.regular() ? "in the order of solution" : "underdetermined first, overdetermined last";
    // Browsers without Helvetica set the title in wider letters.
    picture_.width = 2.0 * (margin + std::max(left_ + width, 1.2 * width_of({{title_}}, title_size))) + gap;
    picture_.height = top_ + cell_ * static_cast<double>(structure.equations.size()) + margin;
  }

  Picture draw(const std::string& model) {
    picture_.title = "structure of " + model;
    picture_.description = "which derivatives of which unknowns (columns) stand in which equations (rows)";
    draw_matrix(as_written(structure_), margin, "as written");
    draw_matrix(by_blocks(structure_), (picture_.width + gap) / 2, title_);
    return std::move(picture_);
  }

 private:
  void draw_matrix(const Order& order, double left, const std::string& title) {
    const double x0 = left + left_, width = cell_ * static_cast<double>(order.columns.size()),
                 height = cell_ * static_cast<double>(order.rows.size());
    label({left, margin + 0.72 * title_size}, title, title_size, Anchor::start);
    std::vector<std::size_t> place(order.columns.size());
    for (std::size_t k = 0; k < order.columns.size(); ++k) place[order.columns[k]] = k;
    const structure::Signature& sigma = structure_.signature;
    Area lower{{}, pale}, leading{{}, dark};
    // Entries of large matrices share a mark, which is dark where one of them is.
    const double mark = std::max(cell_, least_mark);
    enum Seen : char { none, below, counted };
    const auto marks = [&](std::size_t cells) { return static_cast<std::size_t>(cell_ * static_cast<double>(cells) / mark) + 1; };
    const std::size_t across = marks(order.columns.size());
    std::vector<Seen> seen(marks(order.rows.size()) * across, none);
    const auto mark_at = [&](std::size_t cell) { return static_cast<std::size_t>((static_cast<double>(cell) + 0.5) * cell_ / mark); };
    for (std::size_t r = 0; r < order.rows.size(); ++r) {
      const std::size_t i = order.rows[r];
      for (std::size_t k = sigma.pattern.row_start[i]; k < sigma.pattern.row_start[i + 1]; ++k) {
        const std::size_t j = sigma.pattern.column[k];
        const bool counts =
            !structure_.regular() || structure_.sigma->offsets.d[j] - structure_.sigma->offsets.c[i] == sigma.order[k];
        Seen& here = seen[mark_at(r) * across + mark_at(place[j])];
        here = std::max(here, counts ? counted : below);
        if (named_)
          label({x0 + cell_ * (static_cast<double>(place[j]) + 0.5), top_ + cell_ * (static_cast<double>(r) + 0.5) + 0.36 * text_size},
                std::to_string(sigma.order[k]), text_size, Anchor::middle, counts ? paper : ink);
      }
      if (named_)
        label({x0 - 3.0, top_ + cell_ * (static_cast<double>(r) + 0.5) + 0.36 * text_size}, structure_.equations[i],
              text_size, Anchor::end);
    }
    for (std::size_t k = 0; k < seen.size(); ++k)
      if (seen[k] != none)
        (seen[k] == counted ? leading : lower)
            .rings.push_back(box({x0 + mark * static_cast<double>(k % across), top_ + mark * static_cast<double>(k / across)}, mark, mark));
    for (Area* area : {&lower, &leading})
      if (!area->rings.empty()) picture_.areas.push_back(std::move(*area));
    for (std::size_t k = 0; k < order.columns.size() && named_; ++k) {
      picture_.labels.push_back({{x0 + cell_ * (static_cast<double>(k) + 0.5) + 0.36 * text_size, top_ - 3.0},
                                 {{structure_.unknowns[order.columns[k]]}},
                                 text_size,
                                 Anchor::start,
                                 ink,
                                 true});
    }
    outline_box({x0, top_}, width, height, grid, 0.5);
    Spot corner{x0, top_};
    for (const Order::Outline& part : order.outlines) {
      const double w = cell_ * static_cast<double>(part.columns), h = cell_ * static_cast<double>(part.rows);
      if (cell_ >= least_mark || std::max(w, h) > 2.0 * mark) outline_box(corner, w, h, outline, std::clamp(cell_ / 4, 0.3, 1.0));
      corner = {corner.x + w, corner.y + h};
    }
  }

  static std::vector<Spot> box(Spot corner, double w, double h) {
    return {corner, {corner.x + w, corner.y}, {corner.x + w, corner.y + h}, {corner.x, corner.y + h}};
  }
  void outline_box(Spot corner, double w, double h, Color color, double width) {
    std::vector<Spot> spots = box(corner, w, h);
    spots.push_back(corner);
    picture_.paths.push_back({std::move(spots), color, width});
  }
  void label(Spot spot, const std::string& text, double size, Anchor anchor, Color color = ink) {
    picture_.labels.push_back({spot, {{text}}, size, anchor, color, false});
  }

  const StructuralAnalysis& structure_;
  double cell_ = 0.0, left_ = 0.0, top_ = 0.0;
  bool named_ = false;
  std::string title_;  ///< of the second matrix
  Picture picture_;
};

}  // namespace

Picture structure_picture(const StructuralAnalysis& structure, const std::string& model) {
  return Drawing(structure).draw(model);
}

}  // namespace daedalus::report
