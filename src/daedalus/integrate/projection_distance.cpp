#include "daedalus/integrate/projection_distance.hpp"

#include <cmath>

#include "daedalus/base/few.hpp"
#include "daedalus/base/fours.hpp"
#include "daedalus/integrate/error_norm.hpp"

namespace daedalus::integrate {
namespace {

struct NearProjection {
  [[gnu::always_inline]] static inline void run(const double* to, const double* from, double rtol, const double* atol,
                                                std::size_t n, bool& near) {
    FourMasks good = {-1, -1, -1, -1};
    Four size, moved;
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
      const Four there = *four(to + i), way = there - *four(from + i);
      magnitude(there, size);
      magnitude(way, moved);
      good &= moved < farthest_projection * (*four(atol + i) + rtol * size);
    }
    near = (good[0] & good[1] & good[2] & good[3]) != 0;
    for (; i < n; ++i) near = near && std::abs(to[i] - from[i]) < farthest_projection * (atol[i] + rtol * std::abs(to[i]));
  }
};

}  // namespace

bool moved_little(const double* to, const double* from, const Tolerance& tolerance, std::size_t n) {
  bool near = true;
  if (n <= few) {
    for (std::size_t i = 0; i < n; ++i)
      near &= std::abs(to[i] - from[i]) < farthest_projection * (tolerance.atol[i] + tolerance.rtol * std::abs(to[i]));
    return near;
  }
  in_fours<NearProjection>(to, from, tolerance.rtol, tolerance.atol.data(), n, near);
  return near;
}

std::optional<std::size_t> moved_too_far(const double* to, const double* from, const Tolerance& tolerance, std::size_t n) {
  double sum = 0.0, most = 0.0;
  std::size_t worst = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double moved = std::abs(to[i] - from[i]) / error_weight(tolerance, i, from[i], to[i]);
    sum += moved * moved;
    if (moved > most) {
      most = moved;
      worst = i;
    }
  }
  if (sum <= farthest_projection * farthest_projection * static_cast<double>(n)) return std::nullopt;
  return worst;
}

}  // namespace daedalus::integrate
