#pragma once

#include "daedalus/solve/analysis.hpp"

namespace daedalus::solve {

/// Finds the index of a DAE by its definition, from the ranks of its derivative array at points near the start, and puts it
/// into the analysis with what it rests on. Says where the structure told another one. Models of more than some dozens of
/// unknowns are left alone: their ranks would take minutes.
void judge_index(const structure::DaeFunctions& as_written, const Start& start, Analysis& analysis);

/// The equations, and derivatives of equations, that no point satisfies: "'a' and 'der(b)'".
std::string offending(const structure::DaeFunctions& as_written, const structure::NumericalIndex& found);

}  // namespace daedalus::solve
