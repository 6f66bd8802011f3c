#pragma once

namespace daedalus::integrate {

/// Notices when stability rather than accuracy bounds the step: |h lambda| leaves the stability region in 15 steps that are
/// not interrupted by 6 others (E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, section IV.2).
class StiffnessDetector {
 public:
  explicit StiffnessDetector(double radius) : radius_(radius) {}

  /// True once: at the step with which the problem begins to look stiff.
  bool looks_stiff(double stiffness) {
    if (radius_ <= 0.0 || noted_) return false;
    if (stiffness > radius_) {
      calm_ = 0;
      noted_ = ++stiff_ == 15;
      return noted_;
    }
    if (++calm_ == 6) stiff_ = 0;
    return false;
  }

 private:
  double radius_;
  int stiff_ = 0, calm_ = 0;
  bool noted_ = false;
};

}  // namespace daedalus::integrate
