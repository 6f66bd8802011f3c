#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daedalus/compile/compile.hpp"
#include "daedalus/integrate/loop.hpp"
#include "daedalus/solve/event_port.hpp"
#include "daedalus/solve/trajectory.hpp"

namespace daedalus::solve {

/// The stretch of time that a run covers.
struct EventSpan {
  double t_start = 0.0, t_end = 0.0;
  double origin = 0.0;     ///< from which sampled events count
  bool continues = false;  ///< an earlier run: what happens at its end has happened
  double rtol = 0.0, atol = 0.0;  ///< what the values of a function may be wrong by, relative to its largest term
};

/// Events, discrete values and modes of one trajectory: owns the frozen values, decides when they change and how, and
/// keeps the record.
class Events {
 public:
  Events(EventSymbols symbols, const EventSpan& span);

  /// Whether anything can change between start and end; otherwise no hooks are needed.
  bool any() const { return !watches_.empty() || !model().events.empty() || !model().discrete.empty(); }
  const std::vector<double>& frozen() const { return frozen_; }
  /// Values of [discrete], in their order.
  const double* discrete() const { return frozen_.data() + 1; }
  /// `dimension` is that of the states.
  void connect(EventPort port, std::size_t dimension);
  const integrate::EventHooks& hooks() const { return hooks_; }

  std::vector<EventRecord> records;
  std::vector<std::string> notes;

 private:
  /// A function whose crossing of a bound is a change of mode, or an event.
  struct Watch {
    compile::Switches::Switch decides;
    std::size_t place = 0;             ///< of the mode among the frozen values; 0 for an event that crosses zero
    std::optional<std::size_t> event;  ///< that crosses zero
    bool motion = false;               ///< the equations of motion depend on the mode
    bool binds = false;                ///< constraints depend on it
    std::string name;                  ///< for messages
    double mode = 0.0;
    double seen = 0.0;         ///< the latest value that was not 0
    bool leaves_zero = false;  ///< at this moment, after it was 0 for a while
    double noise = 0.0;        ///< how far from the bound it may be at the moment of the crossing
    double excursion = 0.0;    ///< largest value since the last change of mode
    int trembles = 0;          ///< changes of mode in a row without a value above the tolerance between them
    bool released = false;     ///< trembles around its bound, where the mode makes no difference: has none
    bool by_time = false;      ///< offset + rate t: it leaves at known times
    double offset = 0.0, rate = 0.0;
  };
  struct Sampled {
    std::size_t event;
    double period;
  };
  struct Rhythm {
    double last = 0.0;
    int quick = 0;  ///< so many followed each other without a pause
    std::size_t count = 0;
  };
  enum class Modes { frozen, free };
  enum class Bound { touched, at_start };

  const model::Model& model() const { return *symbols_.model; }
  void find_known_times();
  void find_binding();
  bool evaluate(double t, const double* x, Modes modes);
  bool probe(double t, const double* x);
  double room_of(const Watch& watch, double value) const;
  double nearest_bound(const Watch& watch, double value) const;
  void evaluate_noise();
  double tolerance_of(std::size_t i) const;
  bool makes_no_difference(std::size_t i, double t, const double* x);
  void release_if_trembling(std::size_t i, double t, const double* x);
  void set_mode(Watch& watch, double mode);
  void exchange_modes();
  void evaluate_conditions(const double* x, std::vector<double>& to);
  double exit_time(const Watch& watch) const;
  double sample_time(const Sampled& sampled, double t) const;

  integrate::Reaction begin(double t, double* x);
  double next_time(double t) const;
  bool notice(const integrate::Happening& happening);
  std::optional<double> overlook(const integrate::Happening& happening, const integrate::Rest& rest);
  bool may_be_overlooked(const integrate::Happening& happening) const;
  bool any_has_left(const std::vector<std::size_t>& functions) const;
  double difference(double t, const double* x, const integrate::Tolerance& tolerance);
  bool follow_closely(double t, const double* x, const integrate::Tolerance& tolerance);
  integrate::Reaction react(double t, double* x);
  bool settle(double t, const double* x, Bound bound, std::string& culprit);
  std::string perform(const std::vector<std::size_t>& fired, double t, double* x);
  bool follows_quickly(double t, const Rhythm& rhythm) const;
  std::optional<integrate::Reaction> complain(double t, Rhythm& rhythm, const std::string& what);
  integrate::Reaction endless(double t, const Rhythm& rhythm, const std::string& what) const;
  bool evaluate_resets(std::size_t e, double t, const double* x);
  std::string change_since(const std::vector<double>& before) const;
  std::optional<integrate::Reaction> leave_table(double t) const;
  integrate::Reaction chain(std::vector<std::size_t> fired, double t, double* x);

  EventSymbols symbols_;
  EventSpan span_;
  EventPort port_;
  integrate::EventHooks hooks_;
  std::vector<double> frozen_, modes_before_;
  std::vector<Watch> watches_;
  std::vector<Sampled> sampled_;
  std::vector<std::size_t> condition_events_;
  std::vector<bool> touched_;                                    ///< functions at their bound at this moment
  std::vector<std::size_t> crossed_;                             ///< functions of events that cross zero at this moment
  double last_time_ = std::numeric_limits<double>::quiet_NaN();  ///< of an event
  std::vector<double> conditions_, conditions_now_;
  std::vector<std::size_t> reset_start_;
  compile::Function watched_, terms_, condition_function_, resets_;
  compile::Function::Scratch watched_scratch_, terms_scratch_, condition_scratch_, resets_scratch_;
  std::vector<std::size_t> term_start_;
  std::vector<double> term_values_, largest_term_, round_off_;
  EventPort::Depth watched_depth_ = EventPort::Depth::state;
  std::vector<const double*> inputs_;
  std::vector<double> values_, first_values_, change_, reset_values_, slope_, slope_ahead_, x_ahead_;
  double time_ = 0.0;
  std::string unable_;
  integrate::Evaluation outcome_ = integrate::Evaluation::ok;
  std::vector<Rhythm> event_rhythm_, watch_rhythm_;
};

}  // namespace daedalus::solve
