// Sums of products are one rule each: their convolutions are added before the four partial sums are. Rules that do not
// need each other's order k and are of one kind run together.
#include "daedalus/compile/series_plan.hpp"

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace daedalus::compile::series {

namespace {

/// What a value is in higher orders: the terms of a sum, or one rule.
struct Terms {
  struct Term {
    Id a, b = none;
  };
  std::vector<Term> of[6];

  std::size_t size() const {
    std::size_t count = 0;
    for (const auto& list : of) count += list.size();
    return count;
  }
};

/// Finds sums: what only one sum uses becomes part of it.
class Summation {
 public:
  explicit Summation(const Rules& rules) : rules_(rules), uses_(rules.steady.size()), step_of_(uses_.size(), nullptr) {
    for (const Step& step : rules.steps) {
      step_of_[step.to] = &step;
      if (step.rule == Rule::steady) continue;
      for (const Id v : {step.a, step.b})
        if (v != none) ++uses_[v];
      if (step.rule == Rule::pick)
        for (const Id v : step.operand)
          if (v != none) ++uses_[v];
    }
    for (const Id v : rules.outputs) ++uses_[v];
  }

  /// Whether another sum has taken the step in.
  bool is_part(const Step& step) const { return uses_[step.to] == 1 && taken_.contains(step.to); }

  /// The terms of a step, of those users that come last first.
  Terms terms(const Step& step) {
    Terms out;
    expand(step, 0, out);
    return out;
  }

 private:
  static bool is_linear(Rule rule) {
    return rule == Rule::add || rule == Rule::subtract || rule == Rule::multiply || rule == Rule::scale;
  }

  void expand(const Step& step, std::size_t negative, Terms& out) {
    if (step.rule == Rule::multiply) return out.of[negative].push_back({step.a, step.b});
    if (step.rule == Rule::scale) return out.of[4 + negative].push_back({step.a, step.b});
    operand(step.a, negative, out);
    operand(step.b, step.rule == Rule::subtract ? 1 - negative : negative, out);
  }

  void operand(Id v, std::size_t negative, Terms& out) {
    if (rules_.steady[v]) return;
    const Step* step = step_of_[v];
    constexpr std::size_t most = 64;
    if (step == nullptr || uses_[v] != 1 || !is_linear(step->rule) || out.size() > most)
      return out.of[2 + negative].push_back({v});
    taken_.insert(v);
    expand(*step, negative, out);
  }

  const Rules& rules_;
  std::vector<std::uint32_t> uses_;
  std::vector<const Step*> step_of_;
  std::unordered_set<Id> taken_;
};

}  // namespace

Plan::Plan(const Rules& rules, const std::vector<std::size_t>& late_inputs, std::size_t highest) {
  const std::vector<Step>& steps = rules.steps;
  const std::size_t count = rules.steady.size();
  std::vector<std::uint32_t> level(count, 0);
  std::vector<bool> waits(count, false), waits_at_0(count, false);
  for (const std::size_t i : late_inputs) {
    const std::size_t value = rules.first_input + i;
    waits[value] = waits_at_0[value] = true;
    late.push_back(static_cast<Id>(value));
  }
  struct Place {
    bool late;
    std::uint32_t level;
    Rule rule;
    std::uint32_t step;
  };
  std::vector<Terms> terms_of(steps.size());
  Summation summation(rules);
  for (std::size_t i = steps.size(); i-- > 0;) {
    const Rule rule = steps[i].rule;
    if ((rule == Rule::add || rule == Rule::subtract || rule == Rule::multiply) && !summation.is_part(steps[i]))
      terms_of[i] = summation.terms(steps[i]);
  }
  std::vector<Place> places;
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    for (const Id v : step.operand)
      if (v != none && waits_at_0[v]) waits_at_0[step.to] = true;
    if (waits_at_0[step.to]) late_steps.push_back(i);
    if (step.rule == Rule::steady || summation.is_part(step)) continue;
    const auto need = [&](Id v) {
      if (v == none) return;
      level[step.to] = std::max(level[step.to], level[v] + 1);
      if (waits[v]) waits[step.to] = true;
    };
    const bool is_sum = terms_of[i].size() > 0;
    if (is_sum) {
      for (const auto& list : terms_of[i].of)
        for (const Terms::Term& term : list) {
          need(term.a);
          need(term.b);
        }
    } else if (step.rule == Rule::pick) {
      for (const Id v : step.operand) need(v);
    } else {
      need(step.a);
      if (step.rule != Rule::chain) need(step.b);  // of the other factor lower orders are enough
    }
    const bool is_product = is_sum && terms_of[i].size() == 1 && terms_of[i].of[0].size() == 1;
    places.push_back({waits[step.to], level[step.to], is_product ? Rule::multiply : is_sum ? Rule::sum : step.rule, i});
  }
  std::ranges::stable_sort(places, {}, [](const Place& p) { return std::tuple(p.late, p.level, p.rule); });
  const std::size_t stride = lead + (highest / 4 + 1) * 4;
  std::vector<bool> is_rate(count, false);
  for (const Step& step : steps)
    if (step.rule == Rule::rate) is_rate[step.to] = true;
  std::vector<std::uint32_t> row_of(count, 0);
  const auto row = [&](Id v) {
    if (row_of[v] == 0) {
      row_of[v] = static_cast<std::uint32_t>(kept.size() * stride + lead);
      kept.push_back({v, row_of[v], is_rate[v]});
    }
    return row_of[v];
  };
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Place& place = places[i];
    const Step& step = steps[place.step];
    std::vector<Group>& into = place.late ? late_groups : groups;
    const auto at = static_cast<std::uint32_t>(place.rule == Rule::sum ? sums.size() : moves.size());
    const bool joins = i > 0 && places[i - 1].late == place.late && places[i - 1].level == place.level &&
                       places[i - 1].rule == place.rule;
    if (!joins) into.push_back({place.rule, at, at});
    ++into.back().end;
    if (place.rule == Rule::sum) {
      Sum sum{step.to, static_cast<std::uint32_t>(terms.size()), {}};
      for (std::size_t kind = 0; kind < 6; ++kind) {
        sum.count[kind] = static_cast<std::uint32_t>(terms_of[place.step].of[kind].size());
        for (const Terms::Term& term : terms_of[place.step].of[kind])
          terms.push_back({term.a, term.b, kind < 2 ? row(term.a) : 0U, kind < 2 ? row(term.b) : 0U});
      }
      sums.push_back(sum);
    } else {
      Move move{step.to, step.a, step.b, 0U, 0U, 0U};
      if (place.rule == Rule::multiply) {
        const Terms::Term& product = terms_of[place.step].of[0].front();
        move = {step.to, product.a, product.b, 0U, row(product.a), row(product.b)};
      }
      if (place.rule == Rule::divide || place.rule == Rule::root) move.row_to = row(step.to);
      if (place.rule == Rule::divide || place.rule == Rule::chain) move.row_b = row(step.b);
      if (place.rule == Rule::chain) move.row_a = row(step.a);
      moves.push_back(move);
    }
  }
  row_room = kept.size() * stride + lead;
}

}  // namespace daedalus::compile::series
