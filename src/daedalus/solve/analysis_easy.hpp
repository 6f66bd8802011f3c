#pragma once

#include "daedalus/solve/analysis.hpp"

namespace daedalus::solve {

/// Adds the easy test of a DAE as written and the relative degrees of its constraints, at a start of any form of it.
void judge_easiness(const structure::DaeFunctions& as_written, const Start& start, Analysis& analysis);

/// The same for mechanics, whose equations M a + G^T lambda = f determine all but what the constraints must: a holonomic
/// constraint shows lambda in its second derivative, a nonholonomic one in its first. Where M is singular, lambda may
/// follow from the motion without the second derivatives, and the index is 2.
void judge_easiness(const mechanics::Functions& functions, const Start& start, Analysis& analysis);

}  // namespace daedalus::solve
