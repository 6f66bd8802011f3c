#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daedalus/solve/comparison_errors.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::solve {

/// How far a comparison is.
struct ComparisonProgress {
  std::size_t done = 0, failed = 0, planned = 0;
};

/// What is compared: every formulation with every method, at every tolerance and step, on every model.
struct ComparisonPlan {
  /// Each makes one model. They are called once per thread, because a model is at home in one thread.
  std::vector<std::function<model::Model()>> models;
  std::vector<std::string> formulations;  ///< "name" or "name:option=value"; empty: all that fit
  std::vector<std::string> methods;       ///< empty: dop853, radau and bdf where they fit
  std::vector<double> rtol, steps;        ///< both empty: a few tolerances
  RunOptions run;                         ///< what all runs share; formulation, method, rtol and step are not looked at
  std::optional<Samples> reference;       ///< its times are the output times; none: computed by two methods
  std::string reference_name;             ///< of the given one, for messages
  /// Processor time after which a run is given up. None: 300 times what the median of the finished ones took, 1 s at least and
  /// 10 s at most.
  std::optional<double> seconds_per_run;
  unsigned threads = 0;                   ///< 0: as many as there are processors

  // Both are called in the thread that called `compare`, every tenth of a second or so.
  std::function<bool()> interrupt;
  std::function<void(const ComparisonProgress&)> progress;
};

/// What the runs of a model are compared with.
struct Reference {
  std::string origin;  ///< the two runs, or the name that was given
  Samples samples;     ///< no rows: there is none
  bool computed = false;
  ErrorBy agreement;    ///< how far the two runs agree: smaller errors cannot be told from 0
  std::string message;  ///< why there is none
};

/// The largest residuals of the constraints in equal parts of the time, by level.
struct ResidualHistory {
  static constexpr std::size_t parts = 240;
  std::vector<std::vector<double>> levels;  ///< `parts` numbers each; NaN where no step ended
};

struct ComparedRun {
  std::size_t model = 0;            ///< number in Comparison::models
  std::string formulation, method;  ///< with their options
  std::optional<double> rtol, step;
  bool success = false;
  std::string message;       ///< why it failed
  Trajectory trajectory;     ///< without its rows
  ErrorBy error, error_end;  ///< over all output times, and at the last; absent without reference and for failed runs
  ResidualHistory residuals;
};

/// What was asked for and cannot be run.
struct LeftOut {
  std::size_t model = 0;
  std::string formulation, method;  ///< one of them may be empty: none fits the other
  std::string reason;
};

struct ComparedModel {
  std::string name;
  bool mechanical = true;
  double t_start = 0.0, t_end = 0.0;
  Reference reference;
  /// With several models: how far its reference is from that of the first one.
  ErrorBy from_first;
  std::vector<std::string> notes;
};

struct Comparison {
  std::vector<ComparedModel> models;
  std::vector<Quantity> quantities;  ///< whose errors are told
  std::vector<ComparedRun> runs;     ///< by model, formulation, method, from loose to tight
  std::vector<LeftOut> left_out;
  std::size_t planned = 0;  ///< runs, also those that an interruption left undone
  bool interrupted = false;
  double seconds = 0.0;  ///< from begin to end
  unsigned threads = 1;
  std::size_t succeeded() const;
};

/// Runs everything, on all processors. Throws Error where nothing can be run.
Comparison compare(const ComparisonPlan& plan);

}  // namespace daedalus::solve
