#pragma once

#include <memory>
#include <string>
#include <vector>

#include "daedalus/solve/comparison_jobs.hpp"

namespace daedalus::solve {

/// Takes the rows out of a trajectory.
Samples taken_samples(Trajectory& run);

/// What runs are compared with: the given rows, or for each model the run that another method confirms best.
class References {
 public:
  /// Throws Error where a given reference does not fit the models.
  References(const ComparisonPlan& plan, const std::vector<Prepared>& models,
             const std::vector<ComparedColumn>& columns);

  /// What all runs of the comparison share, with the output times.
  const RunOptions& run_options() const { return options_; }
  /// Jobs to be done before the others.
  std::vector<Job*> first_jobs();
  /// Does what else is needed until two methods agree, and writes the references into the comparison.
  void finish(Workshop& workshop, Comparison& comparison);

 private:
  struct Candidate {
    std::string formulation, method;
    Job job;
    Samples samples;
  };
  struct Search {
    std::vector<std::unique_ptr<Candidate>> candidates;
    std::size_t begun = 0;
  };
  struct Pair {
    const Candidate *one = nullptr, *other = nullptr;
    ErrorBy agreement;
  };

  void take_given(const std::vector<Prepared>& models);
  Search candidates(const Prepared& prepared, std::size_t number) const;
  Job* next(Search& search);
  Pair best_pair(Search& search) const;
  bool needs_more(Search& search) const;
  Reference settled(Search& search) const;

  const ComparisonPlan& plan_;
  std::vector<ComparedColumn> columns_;
  RunOptions options_;
  std::vector<Search> searches_;  ///< by model; none where the reference is given
};

}  // namespace daedalus::solve
