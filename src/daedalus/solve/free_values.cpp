#include "daedalus/solve/free_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "daedalus/base/text.hpp"
#include "daedalus/linalg/free_columns.hpp"

namespace daedalus::solve {

namespace {

constexpr std::size_t most_columns = 500;     // of a dense elimination
constexpr std::size_t most_candidates = 500;  // sets of one group that are tried
constexpr std::size_t most_sets = 100;        // of the whole model that are told

/// n over k, no further than `most` + 1.
std::size_t binomial(std::size_t n, std::size_t k, std::size_t most) {
  k = std::min(k, n - k);
  std::size_t result = 1;
  for (std::size_t i = 1; i <= k; ++i) {
    result = result * (n - k + i) / i;
    if (result > most) return most + 1;
  }
  return result;
}

/// Goes to the next set of so many among n, in the order of a dictionary; false after the last.
bool next_set(std::vector<std::size_t>& set, std::size_t n) {
  for (std::size_t k = set.size(); k-- > 0;) {
    if (set[k] + (set.size() - k) >= n) continue;
    ++set[k];
    for (std::size_t l = k + 1; l < set.size(); ++l) set[l] = set[l - 1] + 1;
    return true;
  }
  return false;
}

std::size_t root(std::vector<std::size_t>& parent, std::size_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

FreeValues::Group group_of(const FreeValuesQuestion& question, const linalg::FreeColumns& columns,
                           const std::vector<std::size_t>& members) {
  FreeValues::Group group;
  std::vector<bool> elsewhere(question.names.size(), false), free(question.names.size(), false);
  for (const std::size_t j : columns.free) elsewhere[j] = free[j] = true;
  std::vector<std::string> one;
  for (const std::size_t j : members) {
    group.of.push_back(question.names[j]);
    if (free[j]) one.push_back(question.names[j]);
    elsewhere[j] = false;
  }
  group.choose = one.size();
  if (binomial(members.size(), group.choose, most_candidates) > most_candidates) {
    group.any = group.listed = false;
    group.sets = {one};
    return group;
  }
  std::vector<std::size_t> set(group.choose);
  std::iota(set.begin(), set.end(), std::size_t{0});
  do {
    std::vector<bool> in_set = elsewhere;
    std::vector<std::string> names;
    for (const std::size_t k : set) {
      in_set[members[k]] = true;
      names.push_back(group.of[k]);
    }
    if (linalg::may_be_free(columns, in_set))
      group.sets.push_back(std::move(names));
    else
      group.any = false;
  } while (next_set(set, members.size()));
  return group;
}

}  // namespace

FreeValues free_values(const FreeValuesQuestion& question) {
  FreeValues result;
  const std::size_t n = question.names.size();
  std::vector<bool> fixed(n, false);
  for (std::size_t j = 0; j < n; ++j) {
    // A derivative may be a state, and the rate of another one: fixed is the state.
    fixed[j] = question.fixed[j] && std::ranges::find(result.fixed, question.names[j]) == result.fixed.end();
    if (fixed[j]) result.fixed.push_back(question.names[j]);
  }
  const bool bound = question.pattern.rows > 0;
  if (bound && n > most_columns) return result;
  std::vector<int> turn(n);
  for (std::size_t j = 0; j < n; ++j) turn[j] = question.state[j] ? 1 : 0;
  const linalg::FreeColumns columns =
      linalg::free_columns(question.pattern, question.values.data(), question.sizes, turn);
  result.known = true;

  // Groups: determined and free states that depend on each other, directly or through others.
  std::vector<std::size_t> parent(n);
  std::iota(parent.begin(), parent.end(), std::size_t{0});
  for (std::size_t p = 0; p < columns.determined.size(); ++p) {
    const std::size_t j = columns.determined[p];
    bool depends = false, open = false;
    for (std::size_t q = 0; q < columns.free.size(); ++q) {
      if (columns.entry(p, q) == 0.0) continue;
      depends = true;
      open = open || !question.state[columns.free[q]];
      if (question.state[j]) parent[root(parent, j)] = root(parent, columns.free[q]);
    }
    if (question.state[j] && !depends) result.determined.push_back(question.names[j]);
    // A derivative that these equations leave open decides nothing: derivatives of others determine it.
    if (!question.state[j] && depends && !open) result.instead.push_back(question.names[j]);
  }
  std::vector<std::vector<std::size_t>> members(n);
  std::vector<bool> free(n, false);
  for (const std::size_t j : columns.free) free[j] = true;
  for (std::size_t j = 0; j < n; ++j)
    if (question.state[j]) members[root(parent, j)].push_back(j);
  for (std::size_t j = 0; j < n; ++j)
    if (question.state[j] && free[j]) ++result.count;
  std::vector<std::size_t> heads;
  for (std::size_t j = 0; j < n; ++j)
    if (question.state[j] && members[root(parent, j)].front() == j) heads.push_back(root(parent, j));
  FreeValues::Group all;  // every value that depends on nothing
  for (const std::size_t head : heads) {
    if (members[head].size() == 1) {
      if (free[members[head].front()]) all.of.push_back(question.names[members[head].front()]);
      continue;
    }
    result.groups.push_back(group_of(question, columns, members[head]));
  }
  if (!all.of.empty()) {
    all.choose = all.of.size();
    all.sets = {all.of};
    result.groups.insert(result.groups.begin(), std::move(all));
  }

  if (!result.fixed.empty() && bound) {
    for (std::size_t j = 0; j < n; ++j) turn[j] = fixed[j] ? 2 : turn[j];
    const linalg::FreeColumns kept = linalg::free_columns(question.pattern, question.values.data(), question.sizes, turn);
    std::vector<bool> follows(n, false);
    for (const std::size_t j : kept.determined) follows[j] = fixed[j];
    for (std::size_t j = 0; j < n; ++j)
      if (follows[j]) result.surplus.push_back(question.names[j]);
  }
  return result;
}

void append(FreeValues& to, FreeValues&& more) {
  to.known = to.known && more.known;
  to.count += more.count;
  const auto add = [](auto& list, auto& others) { list.insert(list.end(), others.begin(), others.end()); };
  add(to.groups, more.groups);
  add(to.determined, more.determined);
  add(to.instead, more.instead);
  add(to.fixed, more.fixed);
  add(to.surplus, more.surplus);
}

std::vector<std::vector<std::string>> FreeValues::sets(bool& all) const {
  all = true;
  std::size_t combined = 1;
  for (const Group& group : groups) {
    all = all && group.listed;
    combined *= std::max<std::size_t>(group.sets.size(), 1);
    if (combined > most_sets) all = false;
    if (!all) break;
  }
  std::vector<std::vector<std::string>> result{{}};
  for (const Group& group : groups) {
    std::vector<std::vector<std::string>> longer;
    for (const auto& set : result)
      for (std::size_t k = 0; k < (all ? group.sets.size() : std::min<std::size_t>(1, group.sets.size())); ++k) {
        longer.push_back(set);
        longer.back().insert(longer.back().end(), group.sets[k].begin(), group.sets[k].end());
      }
    result = std::move(longer);
  }
  return result;
}

namespace {

/// "x, y, z"; of many names the first ones and how many there are.
std::string names_of(const std::vector<std::string>& names) {
  constexpr std::size_t most = 10;
  if (names.size() <= most) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, ... ({} in all)", fmt::join(names.begin(), names.begin() + most, ", "), names.size());
}

/// "x + y", "x + y or x + z".
std::string texts_of(const std::vector<std::vector<std::string>>& sets) {
  std::vector<std::string> texts;
  for (const auto& set : sets) texts.push_back(fmt::format("{}", fmt::join(set, " + ")));
  return fmt::format("{}", fmt::join(texts, " or "));
}

/// The sets of a group that will not do.
std::vector<std::vector<std::string>> other_sets(const FreeValues::Group& group) {
  std::vector<std::vector<std::string>> result;
  std::vector<std::size_t> set(group.choose);
  std::iota(set.begin(), set.end(), std::size_t{0});
  do {
    std::vector<std::string> names;
    for (const std::size_t k : set) names.push_back(group.of[k]);
    if (std::ranges::find(group.sets, names) == group.sets.end()) result.push_back(std::move(names));
  } while (next_set(set, group.of.size()));
  return result;
}

}  // namespace

std::vector<std::string> group_texts(const FreeValues& free) {
  constexpr std::size_t few = 4;
  std::vector<std::string> texts;
  for (const FreeValues::Group& group : free.groups) {
    const std::string any = fmt::format("any {} of {}", group.choose, names_of(group.of));
    if (group.choose == group.of.size()) {
      texts.push_back((group.of.size() > 1 ? "all of " : "") + names_of(group.of));
    } else if (group.any) {
      texts.push_back(any);
    } else if (const auto others = group.listed ? other_sets(group) : std::vector<std::vector<std::string>>();
               group.listed && others.size() <= few) {
      texts.push_back(any + " but " + texts_of(others));
    } else if (group.listed && group.sets.size() <= few) {
      texts.push_back(texts_of(group.sets));
    } else {
      texts.push_back(fmt::format("{} of {}, such as {}", group.choose, names_of(group.of), texts_of({group.sets.front()})));
    }
  }
  return texts;
}

std::string choice_text(const FreeValues& free, const std::string& where) {
  if (!free.known) return {};
  if (free.count == 0) return fmt::format("no value can be chosen {}: the equations determine all of them", where);
  constexpr std::size_t few = 3;
  std::vector<std::string> groups = group_texts(free);
  const bool more = groups.size() > few;
  if (more) groups.resize(few);
  return fmt::format("{} can be chosen {}: {}{}", ::daedalus::count(free.count, "value"), where, fmt::join(groups, "; "),
                     more ? " and so on" : "");
}

}  // namespace daedalus::solve
