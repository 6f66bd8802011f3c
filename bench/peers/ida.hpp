#pragma once

#include "daedalus/solve/pipeline.hpp"
#include "peers/contest.hpp"

namespace daedalus::bench {

/// IDA of SUNDIALS on the implicit equations that a formulation makes of a model: index1, index2, index3, ggl or, for plain
/// DAEs, direct. It is given Daedalus' compiled residuals and exact Jacobians, start values and derivatives; unknowns that
/// are multipliers are left out of its error test. One contestant with a dense or sparse matrix, as is better for the size,
/// and for long chains one more with order 2 at most. None where SUNDIALS was not there to compile with.
std::vector<Contestant> ida_runs(const std::shared_ptr<const solve::Prepared>& prepared, const std::string& formulation,
                                 const std::vector<std::string>& compared);

}  // namespace daedalus::bench
