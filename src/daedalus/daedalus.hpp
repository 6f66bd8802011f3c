#pragma once

// Everything a program needs to build or read a model, to analyse it and to run it.

#include "daedalus/base/error.hpp"
#include "daedalus/expr/graph.hpp"
#include "daedalus/expr/print.hpp"
#include "daedalus/formulate/formulation_entry.hpp"
#include "daedalus/integrate/integrator_entry.hpp"
#include "daedalus/mechanics/derive.hpp"
#include "daedalus/model/builder.hpp"
#include "daedalus/model/model.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/report/csv.hpp"
#include "daedalus/report/equations.hpp"
#include "daedalus/report/json.hpp"
#include "daedalus/report/text.hpp"
#include "daedalus/solve/analysis.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "daedalus/solve/start.hpp"
#include "daedalus/solve/trajectory.hpp"

namespace daedalus {

using expr::Expr;
using model::Builder;
using model::Model;
using model::Overrides;
using model::read_model;
using model::read_model_text;
using solve::analyze;
using solve::consistent_start;
using solve::Initialize;
using solve::prepare;
using solve::Prepared;
using solve::RunOptions;
using solve::simulate;
using solve::Trajectory;

}  // namespace daedalus
