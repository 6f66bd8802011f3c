#pragma once

#include <vector>

#include "daedalus/integrate/loop.hpp"

namespace daedalus::integrate {

/// Finds the first moment inside an accepted step at which a watched function has no room, on the dense output, to
/// round-off in time.
class EventSearch {
 public:
  EventSearch(const EventHooks& hooks, const System& system);

  /// An accepted step from t_old to t_new, of which the part from `from` on is searched.
  struct Step {
    Stepper& stepper;
    double t_old, t_new, from;
  };

  /// Looks for the first moment. Where there is one, `found` is true and the answers below belong to it.
  Evaluation search(const Step& step, bool& found);

  double time() const { return t_; }
  double* state() { return x_.data(); }
  /// Whether the room was left at `from` already.
  bool at_once() const { return at_once_; }
  Happening happening() const { return {t_, x_.data(), &left_}; }
  std::size_t projections() const { return projections_; }

 private:
  struct Candidate {
    std::size_t function;
    double before, after;  ///< times with and without room
  };
  enum class Points { plain, projected };

  bool evaluate(const Step& step, double t, Points points);
  bool dip(const Step& step, std::size_t i, std::size_t last, double& t);
  bool locate(const Step& step, const Candidate& candidate, double& root, bool& at_once);
  double resolution(const Step& step, double t) const;

  const EventHooks& hooks_;
  const System& system_;
  std::vector<double> x_, room_, root_;
  std::vector<double> times_;
  std::vector<std::vector<double>> samples_;
  std::vector<Candidate> candidates_;
  std::vector<std::size_t> left_;
  double t_ = 0.0;
  bool at_once_ = false;
  Evaluation outcome_ = Evaluation::ok;
  std::size_t projections_ = 0;
};

}  // namespace daedalus::integrate
