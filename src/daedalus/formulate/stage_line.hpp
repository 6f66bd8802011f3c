#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "daedalus/integrate/system.hpp"
#include "daedalus/mechanics/solved_motion.hpp"

namespace daedalus::formulate {

/// The stages of an explicit step of x = (q, v), q' = v, v' = a(t, q, v) in one call. Where they are short they are one
/// straight line, in which arguments, accelerations and sums pass from one to the next in registers, and which goes on to the
/// landing on the constraints: a processor computes that beside the estimate of the error. Else they are a loop over
/// the stages with nothing between them, whose sums are computed four at a time.
class StageLine {
 public:
  static std::unique_ptr<StageLine> of(const std::shared_ptr<const mechanics::SolvedMotion>& motion,
                                       const integrate::ExplicitStages& stages);

  /// How large pivots of constraints have been, and how many times smaller one may become before it is noticed.
  struct Pivots {
    std::span<const double> largest;
    double much_smaller;
  };
  /// As integrate::StagesInLine. False where pivots or results are not to be trusted.
  bool operator()(double t, double h, const double* x, const double* slope, const double* frozen, const Pivots& pivots,
                  double* results);
  /// Whether a pivot of a constraint was much smaller in some stage of the last call.
  bool is_near() const { return near_; }

  /// The end of the last call and, as SolvedMotion::landing gives them, the outputs and notes of the landing from there. What
  /// tells about it: the largest of the positions, of their way from the end and of the last correction, and 0 where all outputs
  /// are finite.
  struct Landing {
    const double *end, *outputs, *notes, *sizes;
  };
  /// None where the line ends with the step.
  std::optional<Landing> landing() const;

  std::size_t stages() const { return shared_->stages.rows.size(); }
  /// In which tenths of the step, from 0 to 10, there are stages: bit by bit.
  unsigned tenths() const { return shared_->tenths; }

 private:
  /// What the lines of all trajectories share.
  struct Shared {
    integrate::ExplicitStages stages;
    /// No function where it would be too long. Notes of constraints: for each the largest inverse pivot of all stages.
    mechanics::SolvedMotion::Part line;
    unsigned tenths = 0;
    std::size_t landing = 0;  ///< where notes of the landing begin: end, outputs, notes, sizes; 0: there is none
    struct Row {
      std::vector<double> weights;
      std::vector<std::size_t> stages;
    };
    std::vector<Row> rows;  ///< of stages and sums, with what is not zero
  };
  static std::shared_ptr<const Shared> made(const mechanics::SolvedMotion& motion,
                                            const integrate::ExplicitStages& stages);

  struct Loop;

  std::shared_ptr<const mechanics::SolvedMotion> motion_;
  std::shared_ptr<const Shared> shared_;
  std::vector<double> argument_;
  std::vector<const double*> slopes_;
  bool near_ = false;
  compile::Function::Scratch scratch_;
};

}  // namespace daedalus::formulate
