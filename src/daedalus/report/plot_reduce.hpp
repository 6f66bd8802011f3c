#pragma once

#include <vector>

#include "daedalus/report/plot_picture.hpp"

namespace daedalus::report {

/// Thins a line with ascending x to the lowest and the highest point of every column of `width`: looks the same, and
/// has at most two points per column.
std::vector<Spot> thin_by_columns(const std::vector<Spot>& line, double width);

/// Thins a line with ascending x to the topmost point (smallest y) of every column: the largest values of a residual,
/// without the hair below them.
std::vector<Spot> thin_to_upper(const std::vector<Spot>& line, double width);

/// Thins any line to corners from which it deviates by less than about `distance`; doubles the distance until at most
/// `most` points are left.
std::vector<Spot> thin_by_distance(const std::vector<Spot>& line, double distance, std::size_t most);

enum class TimeScale { linear, logarithmic };

/// Times between those of a run, so that curves through few long steps look as smooth as they are: every interval is
/// divided into parts no longer, on the scale of the axis, than the whole divided by `parts`.
std::vector<double> refined_times(const std::vector<double>& t, std::size_t parts, TimeScale scale = TimeScale::linear);

/// Values at refined times by cubic Hermite interpolation, with the given slopes or, where `slopes` is empty, those of
/// the parabola through three neighbours. Two rows at one time are a jump, which stays one.
std::vector<double> refined_values(const std::vector<double>& t, const std::vector<double>& y,
                                   const std::vector<double>& slopes, std::size_t parts,
                                   TimeScale scale = TimeScale::linear);

}  // namespace daedalus::report
