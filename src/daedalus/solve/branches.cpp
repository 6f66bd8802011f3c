// The arrows of constraints by Gram and Schmidt: r_i = G_i - sum_k (G_i r_k) r_k / |r_k|^2 over the rows k before i.
// Where r_i = 0, G_i = sum_k c_k G_k, and g_i - sum_k c_k g_k vanishes with its gradient if branches meet there.
#include "daedalus/solve/branches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "daedalus/base/finite.hpp"
#include "daedalus/base/listed.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/mechanics/solved_motion.hpp"
#include "daedalus/solve/start_level.hpp"

namespace daedalus::solve {
namespace {

using integrate::Evaluation;
using mechanics::Functions;

/// Rows times coordinates: above it the motion itself is found by sparse methods, and arrows would cost more.
constexpr std::size_t most_entries = mechanics::SolvedMotion::most_noted;
/// What is left of a row below this part of it is round-off.
constexpr double round_off = 1e-14;
/// A constraint whose part in a combination is smaller than this has none.
constexpr double no_part = 1e-3;

class Gradients {
 public:
  Gradients(std::shared_ptr<const Functions> functions, std::vector<std::size_t> watched, const double* frozen)
      : functions_(std::move(functions)),
        watched_(std::move(watched)),
        frozen_(frozen),
        geometry_(functions_->geometry.output_count()),
        scratch_(functions_->geometry.make_scratch()),
        support_(watched_.size()),
        largest_(watched_.size()) {}

  Evaluation look(double t, const double* q, double* arrows) {
    const double* inputs[] = {&t, q};
    functions_->geometry(inputs, geometry_.data(), scratch_, frozen_);
    if (!all_finite(geometry_)) return Evaluation::not_finite;
    const std::size_t n = functions_->n;
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      double* arrow = arrows + i * n;
      write_row(i, arrow);
      Support& here = support_[i];
      here = row_support(i);
      const double size = dot(arrow, arrow, here.first, here.last);
      largest_[i] = std::max(largest_[i], size);
      for (std::size_t k = 0; k < i; ++k) {
        const Support& there = support_[k];
        const std::size_t first = std::max(here.first, there.first), last = std::min(here.last, there.last);
        if (first >= last || !(there.square > 0.0)) continue;
        const double* other = arrows + k * n;
        const double product = dot(arrow, other, first, last);
        if (product == 0.0) continue;
        add(-product / there.square, other, arrow, there.first, there.last);
        here.first = std::min(here.first, there.first);
        here.last = std::max(here.last, there.last);
      }
      here.square = dot(arrow, arrow, here.first, here.last);
      if (here.square <= round_off * round_off * size) {
        std::fill_n(arrow, n, 0.0);
        here.square = 0.0;
      }
    }
    return Evaluation::ok;
  }

  integrate::Meeting meeting(double t, const double* q, const std::vector<std::size_t>& vanishing) {
    const std::size_t n = functions_->n;
    std::vector<double> arrows(watched_.size() * n), row(n);
    integrate::Meeting result;
    std::set<std::size_t> dependent;
    look(t, q, arrows.data());
    const double* g = geometry_.data() + functions_->mass.nonzeros() + functions_->jacobian.nonzeros();
    for (const std::size_t i : vanishing) {
      // G_i is taken away by the last rows first, as the arrow of a row is that row and some before it.
      std::vector<double> c(i);
      std::vector<double> rest(n);
      write_row(i, rest.data());
      for (std::size_t k = i; k-- > 0;) {
        if (std::ranges::find(vanishing, k) != vanishing.end()) continue;
        const double* arrow = arrows.data() + k * n;
        if (const double square = dot(arrow, arrow); square > 0.0) c[k] = dot(rest.data(), arrow) / square;
        write_row(k, row.data());
        add(-c[k], row.data(), rest.data());
        if (c[k] * c[k] * dot(row.data(), row.data()) > no_part * no_part * largest_[i]) dependent.insert(k);
      }
      dependent.insert(i);
      double gap = g[position_of(i)];
      for (std::size_t k = 0; k < i; ++k) gap -= c[k] * g[position_of(k)];
      result.gap.push_back(std::abs(gap));
    }
    for (const std::size_t i : dependent)
      result.constraints.push_back(functions_->equations.constraints[watched_[i]].name);
    return result;
  }

 private:
  /// The coordinates between which an arrow is not zero, and the square of its length.
  struct Support {
    std::size_t first = 0, last = 0;
    double square = 0.0;
  };
  Support row_support(std::size_t i) const {
    const linalg::Sparsity& pattern = functions_->jacobian;
    const std::size_t begin = pattern.row_start[watched_[i]], end = pattern.row_start[watched_[i] + 1];
    return begin == end ? Support{} : Support{pattern.column[begin], pattern.column[end - 1] + 1};
  }

  double dot(const double* a, const double* b, std::size_t first, std::size_t last) const {
    double sum = 0.0;
    for (std::size_t j = first; j < last; ++j) sum += a[j] * b[j];
    return sum;
  }
  double dot(const double* a, const double* b) const { return dot(a, b, 0, functions_->n); }
  void add(double factor, const double* from, double* to, std::size_t first, std::size_t last) const {
    for (std::size_t j = first; j < last; ++j) to[j] += factor * from[j];
  }
  void add(double factor, const double* from, double* to) const { add(factor, from, to, 0, functions_->n); }
  void write_row(std::size_t i, double* row) const {
    const linalg::Sparsity& pattern = functions_->jacobian;
    const double* G = geometry_.data() + functions_->mass.nonzeros();
    std::fill_n(row, functions_->n, 0.0);
    const std::size_t at = watched_[i];
    for (std::size_t k = pattern.row_start[at]; k < pattern.row_start[at + 1]; ++k) row[pattern.column[k]] = G[k];
  }
  /// Of a watched constraint among the holonomic ones.
  std::size_t position_of(std::size_t i) const {
    const auto& rows = functions_->holonomic_rows;
    return static_cast<std::size_t>(std::ranges::lower_bound(rows, watched_[i]) - rows.begin());
  }

  std::shared_ptr<const Functions> functions_;
  std::vector<std::size_t> watched_;
  const double* frozen_;
  std::vector<double> geometry_;
  compile::Function::Scratch scratch_;
  std::vector<Support> support_;
  std::vector<double> largest_;  ///< squares of the greatest lengths of the rows so far
};

}  // namespace

integrate::BranchHooks branches_of(const std::shared_ptr<const Functions>& functions,
                                   const std::vector<std::size_t>& redundant, const double* frozen) {
  integrate::BranchHooks hooks;
  std::vector<std::size_t> watched;
  for (const std::size_t row : functions->holonomic_rows)
    if (std::ranges::find(redundant, row) == redundant.end()) watched.push_back(row);
  if (watched.empty() || watched.size() * functions->n > most_entries) return hooks;
  hooks.coordinates = functions->n;
  hooks.arrows = watched.size();
  auto gradients = std::make_shared<Gradients>(functions, std::move(watched), frozen);
  hooks.look = [gradients](double t, const double* q, double* arrows) { return gradients->look(t, q, arrows); };
  hooks.meeting = [gradients](double t, const double* q, const std::vector<std::size_t>& vanishing) {
    return gradients->meeting(t, q, vanishing);
  };
  return hooks;
}

void let_stages_be_projected(integrate::System& system, integrate::BranchHooks& hooks) {
  if (hooks.arrows == 0 || !system.ode || !system.project) return;
  auto stages = std::make_shared<integrate::Stages>(integrate::Stages::as_they_are);
  hooks.evaluate = [stages](integrate::Stages wanted) { *stages = wanted; };
  system.ode = [stages, ode = system.ode, project = system.project, state = std::vector<double>(system.dimension)](
                   double t, const double* x, double* dx) mutable {
    if (*stages == integrate::Stages::as_they_are) return ode(t, x, dx);
    std::copy_n(x, state.size(), state.begin());
    const Evaluation outcome = project(t, state.data());
    return outcome == Evaluation::ok ? ode(t, state.data(), dx) : outcome;
  };
  if (system.stages_in_line)
    system.stages_in_line = [stages, make = system.stages_in_line](const integrate::ExplicitStages& wanted) {
      integrate::StagesInLine line = make(wanted);
      if (!line) return line;
      return integrate::StagesInLine([stages, line](double t, double h, const double* x, const double* slope, double* results) {
        return *stages == integrate::Stages::as_they_are && line(t, h, x, slope, results);
      });
    };
}

std::string passed_text(const std::vector<integrate::SingularPosition>& passed) {
  std::set<std::string> seen;
  std::vector<std::string> names;
  for (const integrate::SingularPosition& position : passed)
    for (const std::string& name : position.constraints)
      if (seen.insert(name).second) names.push_back(quoted(name));
  const std::string where = passed.size() == 1
                                ? fmt::format("a singular position at t = {}", brief(passed.front().t))
                                : fmt::format("{} singular positions, the first at t = {}, the last at t = {}",
                                              passed.size(), brief(passed.front().t), brief(passed.back().t));
  return fmt::format("passed {}: {} {} there, and branches cross; the motion stayed on the one it came on", where,
                     listed(names), names.size() == 1 ? "binds nothing" : "depend on each other");
}

}  // namespace daedalus::solve
