#pragma once

#include <cstddef>
#include <string>

#include "daedalus/solve/pipeline.hpp"

namespace daedalus::report {

/// One HTML page with everything in it: summary, equations, plots, animation, numbers. Needs no network. `run` should
/// come with `picture_options`; `options` says what was asked for, so that the page can tell it from what was chosen.
std::string to_page(const solve::Prepared& prepared, const solve::Trajectory& run, const solve::RunOptions& options);

/// What a page gets between long steps. A file that is written in the same run must get the steps alone.
enum class Between { nothing, dense_output };

/// Makes a run record what a page shows: residuals, pictures and, unless output times are given, so many rows of dense
/// output between long steps that curves look smooth.
void picture_options(const solve::Prepared& prepared, solve::RunOptions& options, Between between = Between::dense_output);

}  // namespace daedalus::report
