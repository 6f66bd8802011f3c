#include "daedalus/model/rules.hpp"

namespace daedalus::model::rules {

const Rules parameter{
    .where = "a parameter", .advice = "a parameter uses numbers and other parameters", .parameters_only = true};
const Rules definition{.where = "a definition", .multipliers = true};
const Rules input{.where = "an input",
                  .advice = "an input is a known signal of time: use t, parameters, tables and other inputs",
                  .signal = true};
const Rules discrete{
    .where = "the start of a discrete value", .advice = "use numbers and parameters", .parameters_only = true};
const Rules start{.where = "a start value", .t_start = true};
const Rules initial{.where = "an initial equation"};
const Rules output{.where = "an output", .multipliers = true};
const Rules event{.where = "an event", .multipliers = true};
const Rules drawing{.where = "the drawing", .multipliers = true};

const Rules kinetic{.where = "the kinetic energy",
                    .advice = "energies use coordinates and velocities",
                    .highest_variable = 1,
                    .highest_auxiliary = 0};
const Rules potential{.where = "the potential energy",
                      .advice = "energies use coordinates and velocities",
                      .highest_variable = 1,
                      .highest_auxiliary = 0};
const Rules lagrangian{.where = "the Lagrangian",
                       .advice = "it uses coordinates and velocities",
                       .highest_variable = 1,
                       .highest_auxiliary = 0};
const Rules dissipation{.where = "the dissipation",
                        .advice = "it uses coordinates and velocities",
                        .highest_variable = 1,
                        .highest_auxiliary = 0};
const Rules force{.where = "a force",
                  .advice = "forces use coordinates, velocities, auxiliary unknowns and time",
                  .highest_variable = 1,
                  .highest_auxiliary = 0};
const Rules mass{.where = "the mass matrix",
                 .advice = "it uses coordinates and time",
                 .highest_variable = 0,
                 .highest_auxiliary = 0};
const Rules constraint{.where = "a constraint",
                       .advice = "constraints use coordinates, velocities and time",
                       .highest_variable = 1,
                       .highest_auxiliary = -1};
const Rules auxiliary_equation{.where = "an equation of auxiliary unknowns",
                               .advice =
                                   "these equations are of first order or algebraic: use coordinates, velocities, "
                                   "auxiliary unknowns and their first derivatives",
                               .highest_variable = 1,
                               .highest_auxiliary = 1};

const Rules equation{.where = "an equation"};
const Rules invariant{.where = "an invariant"};
const Rules matrix{
    .where = "a matrix of a linear model", .advice = "use numbers and parameters", .parameters_only = true};
const Rules linear_force{.where = "f of a linear model", .advice = "f is a known function of time", .signal = true};

}  // namespace daedalus::model::rules
