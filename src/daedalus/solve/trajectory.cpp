#include "daedalus/solve/trajectory.hpp"

#include <algorithm>

#include "daedalus/base/error.hpp"

namespace daedalus::solve {

std::string name_of(integrate::Status status) {
  switch (status) {
    case integrate::Status::done: return "done";
    case integrate::Status::interrupted: return "interrupted";
    case integrate::Status::stopped: return "stopped";
    case integrate::Status::step_too_small: return "step-too-small";
    case integrate::Status::too_many_steps: return "too-many-steps";
    case integrate::Status::not_finite: return "not-finite";
    case integrate::Status::singular: return "singular";
    case integrate::Status::no_convergence: return "no-convergence";
    case integrate::Status::event_failed: return "event-failed";
    case integrate::Status::too_many_events: return "too-many-events";
  }
  return "unknown";
}

std::size_t Trajectory::column(const std::string& name) const {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end())
    throw Error("unknown-column", "the trajectory has no column '" + name + "'", suggest(name, columns));
  return static_cast<std::size_t>(found - columns.begin());
}

double Trajectory::last(const std::string& name) const { return value(t.size() - 1, column(name)); }

}  // namespace daedalus::solve
