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
  /// To be called where what the functions are has changed: nothing of the steps before says anything about the next.
  void begin_anew() { followed_ = false; }
  std::size_t projections() const { return projections_; }

 private:
  struct Candidate {
    std::size_t function;
    double before, after;  ///< times with and without room
  };
  enum class Points { plain, projected };
  /// Times between which a function loses its room, and the room there.
  struct Bracket {
    double a, b;  ///< with and without room
    double f_a, f_b;
  };

  bool evaluate(const Step& step, double t, Points points);
  bool sample(const Step& step);
  bool surely_room(std::size_t i, double t_middle) const;
  bool dip(const Step& step, std::size_t i, std::size_t last, double& t);
  bool locate(const Step& step, const Candidate& candidate, double& root, bool& at_once);
  bool around_plain_root(const Step& step, std::size_t i, Bracket& bracket);
  bool narrow(const Step& step, std::size_t i, Points points, double width, Bracket& bracket);
  double resolution(const Step& step, double t) const;

  const EventHooks& hooks_;
  const System& system_;
  std::vector<double> x_, room_, root_;
  std::vector<double> times_;
  std::vector<std::vector<double>> samples_;
  bool followed_ = false;    ///< samples_ are those of the step before, which nothing has interrupted
  bool keeps_room_ = false;  ///< of all functions: only the samples at the ends and in the middle were needed
  double evaluated_ = 0.0;   ///< where x_ and room_ are those of a projected point
  double before_ = 0.0;      ///< the middle of the step before
  std::vector<double> samples_before_;
  std::vector<Candidate> candidates_;
  std::vector<std::size_t> left_;
  double t_ = 0.0;
  bool at_once_ = false;
  Evaluation outcome_ = Evaluation::ok;
  std::size_t projections_ = 0;
};

}  // namespace daedalus::integrate
