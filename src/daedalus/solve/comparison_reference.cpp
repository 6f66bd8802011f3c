#include "daedalus/solve/comparison_reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "daedalus/base/text.hpp"
#include "daedalus/solve/choose.hpp"

namespace daedalus::solve {

namespace {

constexpr std::size_t most_given_times = 201;
constexpr std::size_t usual_times = 101, fewest_times = 11;
constexpr std::size_t most_numbers = 200'000;  ///< in the rows of one run

/// Two runs that differ less than this confirm each other; else further methods are asked.
constexpr double good_agreement = 1e-6;
/// Two runs that differ more are no reference.
constexpr double poor_agreement = 1e-2;
constexpr std::size_t most_witnesses = 4;

std::string described(const std::string& formulation, const std::string& method, double rtol) {
  return fmt::format("{} + {} (rtol {})", formulation, method, brief(rtol));
}

std::size_t width_of(const Prepared& prepared) {
  return prepared.dae ? 2 * prepared.dae->dimension() : prepared.functions->dimension() + prepared.functions->m;
}

}  // namespace

Samples taken_samples(Trajectory& run) {
  Samples samples{run.columns, std::move(run.t), std::move(run.values)};
  run.t.clear();
  run.values.clear();
  run.pictures.clear();
  return samples;
}

References::References(const ComparisonPlan& plan, const std::vector<Prepared>& models,
                       const std::vector<ComparedColumn>& columns)
    : plan_(plan), columns_(columns), options_(plan.run) {
  options_.residuals = options_.pictures = false;
  options_.keep_rows = true;
  options_.on_columns = nullptr;
  options_.on_row = nullptr;
  options_.progress = nullptr;
  if (plan.reference) {
    take_given(models);
    return;
  }
  std::size_t width = 1;
  for (const Prepared& prepared : models) width = std::max(width, width_of(prepared));
  if (!options_.samples && !options_.every && options_.at.empty())
    options_.samples = std::clamp(most_numbers / width, fewest_times, usual_times);
  for (std::size_t i = 0; i < models.size(); ++i) searches_.push_back(candidates(models[i], i));
}

/// Checks the given rows and makes their times the output times, or evenly chosen ones of them.
void References::take_given(const std::vector<Prepared>& models) {
  const Samples& given = *plan_.reference;
  const auto refuse = [&](const std::string& what, const std::string& advice) {
    throw Error("reference-does-not-fit", fmt::format("the reference '{}' {}", plan_.reference_name, what), advice);
  };
  if (options_.samples || options_.every || !options_.at.empty())
    throw Error("bad-option-value", "--samples, --every and --at contradict --reference: its rows are the output times",
                "leave one of the two out");
  if (std::ranges::none_of(columns_, [&](const ComparedColumn& column) {
        return std::ranges::find(given.columns, column.name) != given.columns.end();
      }))
    refuse(fmt::format("has no column for any unknown of the model '{}'", models.front().model->name),
           fmt::format("name its columns as the model does: {}, ...", columns_.front().name));
  const double t_start = start_time(*models.front().model, plan_.run);
  const std::optional<double> t_end = plan_.run.t_end ? plan_.run.t_end : models.front().model->simulation.t_end;
  if (!t_end) return;  // a run says so
  std::vector<double> times;
  for (const double t : given.t)
    if (t >= t_start && t <= *t_end && (times.empty() || t > times.back())) times.push_back(t);
  if (times.empty() || (times.size() == 1 && times.front() == t_start && *t_end > t_start))
    refuse(fmt::format("has no row between t = {} and t = {}", brief(t_start), brief(*t_end)),
           "its column t must have times of the run");
  const double reached = given.t.back(), spacing = 1e-12 * std::max(std::abs(t_start), std::abs(*t_end));
  if (reached < *t_end - spacing)
    refuse(fmt::format("ends at t = {}, and the runs go to t = {}", shortest(reached), shortest(*t_end)),
           fmt::format("give --t-end {}, or a longer reference", shortest(times.back())));
  const std::size_t count = std::min(times.size(), most_given_times);
  for (std::size_t k = 0; k < count; ++k)
    options_.at.push_back(times[count == 1 ? 0 : k * (times.size() - 1) / (count - 1)]);
}

/// Methods of different families, from tight to less tight tolerances, the most promising first.
References::Search References::candidates(const Prepared& prepared, std::size_t number) const {
  const model::Model& model = *prepared.model;
  const bool mechanical = model.kind == model::Kind::lagrangian || model.kind == model::Kind::mechanical;
  const std::vector<std::string> methods = mechanical ? std::vector<std::string>{"dop853", "radau", "rodas5p", "mebdf"}
                                                      : std::vector<std::string>{"radau", "rodas5p", "mebdf", "dop853"};
  Search search;
  // Where there is a formula for the solution, no witness is needed.
  const bool formula = has_formula(prepared);
  for (const double tight : {1e-13, 1e-11, 1e-9})
    for (const std::string& method : formula ? std::vector<std::string>{"exact"} : methods) {
      if (formula && !search.candidates.empty()) break;
      const bool high_order = method == "dop853" || method == "radau";
      Candidate candidate;
      candidate.job.model = number;
      candidate.job.timing = Job::Timing::once;
      candidate.job.options = options_;
      RunOptions& options = candidate.job.options;
      // The witness should differ in its formulation too: index 2 against the projected index 1.
      options.formulation = mechanical && method == "radau" && tight == 1e-13 ? "index2" : "auto";
      options.method = method;
      options.rtol = high_order ? tight : 10.0 * tight;
      options.atol = std::nullopt;
      options.step = options.first_step = std::nullopt;
      try {
        const Chosen chosen = choose(prepared, options);
        candidate.formulation = chosen.formulation.text();
        candidate.method = method;
        search.candidates.push_back(std::make_unique<Candidate>(std::move(candidate)));
      } catch (const Error&) {
        // does not fit: no witness
      }
    }
  return search;
}

Job* References::next(Search& search) { return &search.candidates[search.begun++]->job; }

std::vector<Job*> References::first_jobs() {
  std::vector<Job*> jobs;
  for (Search& search : searches_)
    while (search.begun < std::min<std::size_t>(2, search.candidates.size())) jobs.push_back(next(search));
  return jobs;
}

/// The two runs of different methods that agree best.
References::Pair References::best_pair(Search& search) const {
  for (std::size_t i = 0; i < search.begun; ++i) {
    Candidate& candidate = *search.candidates[i];
    if (candidate.job.success() && candidate.samples.t.empty())
      candidate.samples = taken_samples(candidate.job.trajectory);
  }
  Pair best;
  for (std::size_t i = 0; i < search.begun; ++i)
    for (std::size_t k = i + 1; k < search.begun; ++k) {
      const Candidate &one = *search.candidates[i], &other = *search.candidates[k];
      if (!one.job.success() || !other.job.success() || one.method == other.method) continue;
      const Errors errors = errors_against(one.samples, other.samples, columns_);
      if (!best.one || of_motion(errors.over_time) < of_motion(best.agreement)) best = {&one, &other, errors.over_time};
    }
  return best;
}

bool References::needs_more(Search& search) const {
  if (search.begun == search.candidates.size()) return false;
  if (search.candidates.front()->method == "exact") return false;
  const auto done = search.candidates.begin() + static_cast<std::ptrdiff_t>(search.begun);
  const auto witnesses =
      std::count_if(search.candidates.begin(), done, [](const auto& one) { return one->job.success(); });
  if (static_cast<std::size_t>(witnesses) >= most_witnesses) return false;
  const Pair pair = best_pair(search);
  return !pair.one || of_motion(pair.agreement).value_or(0.0) > good_agreement;
}

Reference References::settled(Search& search) const {
  Reference reference;
  reference.computed = true;
  const Pair pair = best_pair(search);
  if (!search.candidates.empty() && search.candidates.front()->method == "exact" && search.candidates.front()->job.success()) {
    reference.computed = false;
    reference.origin = "exact, the formula for the solution";
    reference.samples = search.candidates.front()->samples;
    return reference;
  }
  if (!pair.one) {
    reference.message = "there is none: no two methods reached the end at a tight tolerance";
    for (std::size_t i = search.begun; i-- > 0;) {
      const Job& job = search.candidates[i]->job;
      if (job.begun && !job.success())
        reference.message += fmt::format(
            "; {}: {}", described(search.candidates[i]->formulation, search.candidates[i]->method, *job.options.rtol),
            job.failure.empty() ? job.trajectory.message : job.failure);
      if (job.begun && !job.success()) break;
    }
    return reference;
  }
  reference.origin = described(pair.one->formulation, pair.one->method, *pair.one->job.options.rtol) + " and " +
                     described(pair.other->formulation, pair.other->method, *pair.other->job.options.rtol);
  reference.agreement = pair.agreement;
  if (of_motion(pair.agreement).value_or(0.0) > poor_agreement) {
    reference.message =
        fmt::format("there is none: {} differ by {}", reference.origin, brief(*of_motion(pair.agreement), 2));
    return reference;
  }
  reference.samples = pair.one->samples;
  return reference;
}

void References::finish(Workshop& workshop, Comparison& comparison) {
  if (plan_.reference) {
    for (ComparedModel& model : comparison.models) {
      model.reference.origin = plan_.reference_name;
      model.reference.samples = *plan_.reference;
    }
    return;
  }
  while (!comparison.interrupted) {
    std::vector<Job*> jobs;
    for (Search& search : searches_)
      if (needs_more(search)) jobs.push_back(next(search));
    if (jobs.empty()) break;
    workshop.progress.planned += jobs.size();
    comparison.interrupted = !workshop.run(jobs);
  }
  for (std::size_t i = 0; i < searches_.size(); ++i) comparison.models[i].reference = settled(searches_[i]);
  for (ComparedModel& model : comparison.models)
    model.from_first =
        errors_against(comparison.models.front().reference.samples, model.reference.samples, columns_).over_time;
}

}  // namespace daedalus::solve
