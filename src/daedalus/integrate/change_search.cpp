#include "daedalus/integrate/change_search.hpp"

#include <algorithm>
#include <cmath>

namespace daedalus::integrate {

bool ChangeSearch::passes(const System& system, const Step& step, const Aim& aim) {
  const double size = std::abs(step.t_new - step.t_old), room = system.room(step.t_new, step.x_new);
  if (!begun_) {
    if (room > 0.0 || !std::isfinite(room)) return false;
    const double room_here = system.room(step.t_old, step.x_old);
    if (!(room_here > 0.0)) return false;
    begun_ = true;
    last_was_before_ = false;
    first_ = behind_ = size;
    before_ = 0.0;
    room_before_ = room_here;
    room_behind_ = room;
  } else if (room > 0.0) {
    if (last_was_before_) room_behind_ *= 0.5;
    before_ = size;
    room_before_ = room;
    last_was_before_ = true;
  } else {
    if (!last_was_before_) room_before_ *= 0.5;
    behind_ = size;
    room_behind_ = room;
    last_was_before_ = false;
  }
  const bool told = behind_ - before_ <= std::max(aim.close * first_, aim.shortest);
  if (room <= 0.0 ? room >= -aim.close || told : size >= behind_) return false;  // nothing between is left to try
  const double wanted = -0.5 * aim.close;  // a little behind it
  const double way = (room_before_ - wanted) / (room_before_ - std::min(room_behind_, 2.0 * wanted));
  instead_ = told ? behind_ : std::max(before_ + way * (behind_ - before_), aim.shortest);
  return true;
}

}  // namespace daedalus::integrate
