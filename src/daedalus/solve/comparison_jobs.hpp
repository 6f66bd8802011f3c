#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "daedalus/solve/comparison.hpp"

namespace daedalus::solve {

/// One run of a comparison.
struct Job {
  std::size_t model = 0;
  RunOptions options;
  /// Short runs are repeated, and the fastest counts.
  enum class Timing { once, repeated } timing = Timing::repeated;
  const Job* looser = nullptr;  ///< the same at a looser tolerance: if that took too long, this is not tried

  // What came of it
  bool begun = false;
  bool given_up = false;  ///< it took too long
  Trajectory trajectory;
  ResidualHistory residuals;
  std::optional<Error> fault;  ///< the run was refused
  std::string failure;         ///< there is no trajectory, and why
  /// An interruption ended it, or came before it.
  bool undone() const {
    return !fault && failure.empty() && (!begun || (trajectory.status == integrate::Status::interrupted && !given_up));
  }
  bool success() const { return begun && failure.empty() && trajectory.success(); }
};

/// Does jobs on several threads, each with its own models: deriving and formulating grow a model's expressions.
class Workshop {
 public:
  /// `first` are the models, prepared, of the first thread.
  Workshop(const ComparisonPlan& plan, std::vector<Prepared> first);

  unsigned threads() const { return static_cast<unsigned>(prepared_.size()); }
  /// Does the jobs in their order. False where an interruption left some undone.
  bool run(const std::vector<Job*>& jobs);

  ComparisonProgress progress;

 private:
  double limit_of_run() const;

  const ComparisonPlan& plan_;
  std::vector<std::vector<std::optional<Prepared>>> prepared_;  ///< by thread and model
  std::vector<double> seconds_;                                 ///< of the finished runs, in order of size
};

}  // namespace daedalus::solve
