#include "daedalus/solve/restart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "daedalus/base/error.hpp"
#include "daedalus/base/text.hpp"

namespace daedalus::solve {

namespace {

/// A prepared model that starts elsewhere; nothing is derived or compiled again.
Prepared started_at(const Prepared& prepared, const Moment& moment) {
  Prepared result = prepared;
  result.model = std::make_shared<const model::Model>(continued(*prepared.model, moment));
  auto functions = std::make_shared<mechanics::Functions>(*prepared.functions);
  functions->equations.model = result.model;
  result.functions = std::move(functions);
  return result;
}

/// Repeats the steps of an earlier run from one of its moments on.
class Replay {
 public:
  Replay(const Prepared& prepared, const RunOptions& options, const std::vector<Moment>& moments)
      : prepared_(prepared), options_(options), moments_(moments) {}

  /// The step after the last moment, where the steps from `first` on lead through all moments between.
  std::optional<NextStep> operator()(std::size_t first) {
    if (!(moments_[first + 1].t > moments_[first].t)) return std::nullopt;  // both sides of an event
    RunOptions options = options_;
    options.samples.reset();
    options.every.reset();
    options.at.clear();
    options.rows = Rows::steps;
    options.residuals = options.pictures = options.keep_rows = false;
    options.continues = false;
    options.initialize = "off";
    options.progress = nullptr;
    options.t_start = moments_[first].t;
    options.first_step = moments_[first + 1].t - moments_[first].t;
    options.max_steps = 100;
    options.on_columns = [&](const std::vector<std::string>& columns) { find(columns); };
    next_ = first;
    failed_ = false;
    found_.reset();
    attempts_ = 0;
    options.on_row = [&](double t, std::span<const double> values) { compare(t, values); };
    options.interrupt = [&] {
      ++attempts_;
      return failed_ || found_;
    };
    simulate(started_at(prepared_, moments_[first]), options);
    return failed_ ? std::nullopt : found_;
  }

 private:
  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  /// Where the columns of the run stand in those of the moments.
  void find(const std::vector<std::string>& columns) {
    const auto& given = moments_.front().columns;
    where_.assign(columns.size(), none);
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (const auto found = std::find(given.begin(), given.end(), columns[i]); found != given.end())
        where_[i] = static_cast<std::size_t>(found - given.begin());
  }

  void compare(double t, std::span<const double> values) {
    if (failed_ || found_) return;
    if (next_ == moments_.size()) {
      found_ = NextStep{t - moments_.back().t, attempts_ > 1};
      return;
    }
    // The times were rounded, so that step sizes and all that follows from them are not the same to the last bit. What
    // is no step differs by the tolerance of the run at least, and in size by percents.
    const Moment& moment = moments_[next_];
    const double size = next_ == 0 ? 0.0 : moment.t - moments_[next_ - 1].t;
    failed_ = std::abs(t - moment.t) > 1e-6 * size;
    const std::size_t states = prepared_.functions->dimension() - prepared_.functions->differential.size();
    for (std::size_t i = 0; i < states && !failed_; ++i)
      failed_ =
          where_[i] == none || !(std::abs(values[i] - moment.values[where_[i]]) <= 1e-8 * (1.0 + std::abs(values[i])));
    ++next_;
    attempts_ = 0;
  }

  const Prepared& prepared_;
  const RunOptions& options_;
  const std::vector<Moment>& moments_;
  std::vector<std::size_t> where_;
  std::size_t next_ = 0, attempts_ = 0;
  bool failed_ = false;
  std::optional<NextStep> found_;
};

}  // namespace

std::optional<NextStep> next_step(const Prepared& prepared, const RunOptions& options,
                                  const std::vector<Moment>& moments) {
  if (prepared.dae || options.step || options.first_step || moments.size() < 2) return std::nullopt;
  Replay replay(prepared, options, moments);
  // The first repeated step may have followed a refused one, which nobody knows; then the sizes after it differ, and an
  // earlier moment is tried. A single step says nothing about its own past and is the last resort.
  for (std::size_t back = 2; back < moments.size(); ++back)
    if (const auto found = replay(moments.size() - 1 - back)) return found;
  return replay(moments.size() - 2);
}

model::Model continued(model::Model model, const Moment& moment) {
  std::unordered_map<std::string, double> values;
  for (std::size_t i = 0; i < moment.columns.size(); ++i) values.emplace(moment.columns[i], moment.values[i]);
  std::vector<std::string> missing;
  const auto take = [&](model::Unknown& unknown, std::size_t times) {
    if (unknown.start.size() <= times) unknown.start.resize(times + 1);
    model::Start& start = unknown.start[times];
    const std::string name = model::derivative_name(unknown.name, times);
    const auto found = values.find(name);
    if (found == values.end()) {
      missing.push_back("'" + name + "'");
      return;
    }
    if (!std::isfinite(found->second))
      throw Error("restart-not-finite",
                  fmt::format("'{}' cannot be continued at t = {}: '{}' is not a finite number there", moment.source,
                              shortest(moment.t), name),
                  "continue from an earlier row with --restart FILE@T");
    start.value = found->second;
    start.given = true;
  };
  const bool mechanical = model.kind == model::Kind::lagrangian || model.kind == model::Kind::mechanical;
  for (model::Unknown& unknown : model.variables) {
    take(unknown, 0);
    if (mechanical) {
      take(unknown, 1);
      continue;
    }
    // The state of a DAE has all derivatives but the highest, which is only a guess and absent for algebraic unknowns.
    const std::size_t highest = unknown.rates.size();
    for (std::size_t times = 1; times <= highest; ++times)
      if (times < highest || values.contains(model::derivative_name(unknown.name, times))) take(unknown, times);
  }
  for (model::Unknown& unknown : model.auxiliary) take(unknown, 0);
  for (model::Parameter& discrete : model.discrete) {
    const auto found = values.find(discrete.name);
    if (found == values.end())
      missing.push_back("'" + discrete.name + "'");
    else
      discrete.value = found->second;
  }
  if (!missing.empty()) {
    constexpr std::size_t most = 8;
    const std::size_t all = missing.size();
    if (all > most) {
      missing.resize(most);
      missing.push_back(fmt::format("... and {} more", all - most));
    }
    const bool other = !moment.model.empty() && moment.model != model.name;
    throw Error("restart-column",
                fmt::format("'{}' has no {} {}, which the model '{}' needs{}", moment.source,
                            all == 1 ? "column" : "columns", fmt::join(missing, ", "), model.name,
                            other ? fmt::format("; it is a result of the model '{}'", moment.model) : ""),
                "continue from a result of the same model");
  }
  if (!moment.model.empty() && moment.model != model.name)
    throw Error(
        "restart-other-model",
        fmt::format("'{}' is a result of the model '{}', not of '{}'", moment.source, moment.model, model.name),
        "continue from a result of the same model; a .csv file, which names no model, joins two that belong together");
  for (auto* unknowns : {&model.variables, &model.auxiliary})
    for (model::Unknown& unknown : *unknowns)
      for (model::Start& start : unknown.start) start.fixed = false;
  model.initial.clear();
  return model;
}

}  // namespace daedalus::solve
