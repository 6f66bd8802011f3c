#include "daedalus/solve/comparison_jobs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <new>
#include <set>
#include <thread>

#include "daedalus/base/processor_time.hpp"
#include "daedalus/base/text.hpp"

namespace daedalus::solve {

namespace {

constexpr double short_run = 0.05;  ///< seconds; such runs are repeated
constexpr int most_repetitions = 12;
constexpr unsigned steps_between_looks = 16;  ///< at the clock
/// What takes so many times as long as others is hopeless: an explicit method on a stiff formulation, above all. Implicit
/// methods at tight tolerances take up to a hundred times as long as the median.
constexpr double hopeless = 300.0, least_limit = 1.0, most_limit = 10.0;

/// Gathers residuals by parts of the time.
class Gatherer {
 public:
  Gatherer(const model::Model& model, const RunOptions& options)
      : t_start_(start_time(model, options)),
        length_(options.t_end.value_or(model.simulation.t_end.value_or(t_start_)) - t_start_) {}

  void operator()(double now, std::span<const double> levels) {
    t = now;
    constexpr std::size_t parts = ResidualHistory::parts;
    if (history.levels.empty())
      history.levels.assign(levels.size(), std::vector<double>(parts, std::numeric_limits<double>::quiet_NaN()));
    const double place = length_ > 0.0 ? (t - t_start_) / length_ * static_cast<double>(parts) : 0.0;
    const auto part = static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(parts - 1)));
    for (std::size_t k = 0; k < levels.size(); ++k)
      history.levels[k][part] = std::fmax(history.levels[k][part], levels[k]);
  }
  ResidualHistory history;
  double t = 0.0;  ///< the latest

 private:
  double t_start_, length_;
};

/// Runs once, for `limit` seconds of processor time at most.
void run_once(Job& job, const Prepared& prepared, double limit, const std::atomic<bool>& stop) {
  RunOptions options = job.options;
  unsigned looks = 0;
  std::optional<double> begin;
  bool exceeded = false;
  options.interrupt = [&] {
    if (stop.load(std::memory_order_relaxed)) return true;
    if (looks++ % steps_between_looks != 0) return false;
    const double now = processor_seconds();
    if (!begin) begin = now;
    exceeded = now - *begin > limit;
    return exceeded;
  };
  Gatherer gatherer(*prepared.model, options);
  options.on_residuals = std::ref(gatherer);
  job.trajectory = simulate(prepared, options);
  job.residuals = std::move(gatherer.history);
  job.begun = true;
  job.given_up = exceeded;
  if (exceeded)
    job.trajectory.message = fmt::format("given up at t = {} after {} s of processor time, the limit for one run",
                                         brief(gatherer.t), brief(limit, 2));
}

/// Runs a copy of the job, so that others can look at the job itself.
Job performed(const Job& given, const Prepared& prepared, double limit, const std::atomic<bool>& stop) {
  Job job = given;
  const double begin = processor_seconds();
  run_once(job, prepared, limit, stop);
  if (job.timing == Job::Timing::once) return job;
  for (int i = 1; i < most_repetitions && processor_seconds() - begin < short_run; ++i) {
    Job again = given;
    run_once(again, prepared, limit, stop);
    if (again.trajectory.status != job.trajectory.status) break;
    job.trajectory.processor_seconds = std::min(job.trajectory.processor_seconds, again.trajectory.processor_seconds);
  }
  return job;
}

}  // namespace

Workshop::Workshop(const ComparisonPlan& plan, std::vector<Prepared> first) : plan_(plan) {
  const unsigned threads = plan.threads > 0 ? plan.threads : std::max(1U, std::thread::hardware_concurrency());
  prepared_.resize(threads);
  for (auto& models : prepared_) models.resize(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) prepared_.front()[i] = std::move(first[i]);
}

double Workshop::limit_of_run() const {
  if (plan_.seconds_per_run) return *plan_.seconds_per_run;
  if (seconds_.empty()) return most_limit;
  return std::clamp(hopeless * seconds_[seconds_.size() / 2], least_limit, most_limit);
}

bool Workshop::run(const std::vector<Job*>& jobs) {
  std::atomic<bool> stop{false};
  std::mutex mutex;  // of everything below, of `progress`, `seconds_` and of the jobs
  std::condition_variable changed;
  std::vector<Job*> waiting = jobs;
  std::set<const Job*> unfinished(jobs.begin(), jobs.end());
  const std::size_t count = std::min(prepared_.size(), jobs.size());
  std::size_t working = count;

  // The first job whose looser neighbour is finished, as that may say that it is hopeless; else simply the first.
  const auto take = [&]() -> Job* {
    const std::lock_guard lock(mutex);
    if (waiting.empty() || stop) return nullptr;
    auto chosen = std::ranges::find_if(waiting, [&](const Job* job) { return !unfinished.contains(job->looser); });
    if (chosen == waiting.end()) chosen = waiting.begin();
    Job* const job = *chosen;
    waiting.erase(chosen);
    for (const Job* looser = job->looser; looser != nullptr && !job->given_up; looser = looser->looser)
      job->given_up = looser->given_up;
    if (job->given_up) job->failure = "not tried: at a looser tolerance it was given up already";
    return job;
  };
  const auto limit = [&] {
    const std::lock_guard lock(mutex);
    return limit_of_run();
  };
  const auto work = [&](std::vector<std::optional<Prepared>>& models) {
    while (Job* const job = take()) {
      Job copy = *job;
      try {
        if (!copy.given_up) {
          if (!models[copy.model]) models[copy.model] = prepare(plan_.models[copy.model]());
          copy = performed(copy, *models[copy.model], limit(), stop);
        }
      } catch (const Error& error) {
        copy.fault = error;
      } catch (const std::bad_alloc&) {
        copy.failure = "the memory of this machine does not suffice";
      } catch (const std::exception& error) {
        copy.failure = std::string("a fault of Daedalus, not of the model: ") + error.what();
      }
      const std::lock_guard lock(mutex);
      ++progress.done;
      progress.failed += !copy.success();
      if (copy.success()) seconds_.insert(std::ranges::upper_bound(seconds_, copy.trajectory.processor_seconds), copy.trajectory.processor_seconds);
      *job = std::move(copy);
      unfinished.erase(job);
    }
    const std::lock_guard lock(mutex);
    --working;
    changed.notify_all();
  };
  std::vector<std::jthread> threads;
  for (std::size_t k = 0; k < count; ++k) threads.emplace_back([&, k] { work(prepared_[k]); });
  std::unique_lock lock(mutex);
  while (working > 0) {
    changed.wait_for(lock, std::chrono::milliseconds(100), [&] { return working == 0; });
    const ComparisonProgress now = progress;
    lock.unlock();
    if (plan_.progress) plan_.progress(now);
    if (plan_.interrupt && plan_.interrupt()) stop = true;
    lock.lock();
  }
  return !stop;
}

}  // namespace daedalus::solve
