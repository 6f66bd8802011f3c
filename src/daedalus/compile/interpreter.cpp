// The interpreter: computed goto, one instruction at a time over a register file.

#include "daedalus/compile/interpreter.hpp"

#include <cmath>
#include <cstring>

#include "daedalus/expr/hypotenuse.hpp"
#include "daedalus/expr/sine.hpp"

namespace daedalus::compile {

namespace {

double sign_of(double a) { return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a; }

template <std::size_t lanes>
void run(const Function::Tape& tape, const double* const* inputs, double* outputs, double* scratch, const double* modes) {
  struct Place {
    double lane[lanes];
  };
  auto* const r = reinterpret_cast<Place*>(scratch);
  auto* const results = reinterpret_cast<Place*>(outputs);
  const std::size_t told = tape.outputs - tape.notes;
  Place* to = r + tape.constants.size();
  for (std::size_t block = 0; block < tape.blocks.size(); ++block) {
    if (tape.blocks[block] != 0) std::memcpy(to, inputs[block], tape.blocks[block] * sizeof(Place));
    to += tape.blocks[block];
  }

  const Instruction* at = tape.code.data();
  // The order of the labels is the order of Code.
  __extension__ static const void* const labels[] = {
      &&do_add,  &&do_sub,   &&do_mul,   &&do_div,        &&do_neg,   &&do_pow,       &&do_square, &&do_inverse,
      &&do_sin,  &&do_cos,   &&do_tan,   &&do_asin,       &&do_acos,  &&do_atan,      &&do_sinh,   &&do_cosh,
      &&do_tanh, &&do_asinh, &&do_acosh, &&do_atanh,      &&do_exp,   &&do_log,       &&do_log10,  &&do_sqrt,
      &&do_cbrt, &&do_atan2, &&do_hypot, &&do_and,        &&do_or,    &&do_not,       &&do_abs,    &&do_sign,
      &&do_floor, &&do_min,  &&do_max,   &&do_less,       &&do_less_equal, &&do_equal, &&do_not_equal,
      &&do_table, &&do_held, &&do_choose, &&do_multiply_add,
      &&do_multiply_sub, &&do_sub_product, &&do_store, &&do_end};
  static_assert(sizeof(labels) / sizeof(labels[0]) == static_cast<std::size_t>(Code::end) + 1);
#define DAEDALUS_NEXT __extension__({ goto* labels[static_cast<std::size_t>(at->code)]; })
#define DAEDALUS_OP(label, expression)                                                      \
  label:                                                                                    \
  for (std::size_t lane = 0; lane < lanes; ++lane) r[at->to].lane[lane] = (expression);     \
  ++at;                                                                                     \
  DAEDALUS_NEXT
#define A r[at->a].lane[lane]
#define B r[at->b].lane[lane]
#define C r[at->c].lane[lane]
#define MODE modes[at->c]
#define FROZEN (modes != nullptr && !std::isnan(MODE))
  DAEDALUS_NEXT;
  DAEDALUS_OP(do_add, A + B);
  DAEDALUS_OP(do_sub, A - B);
  DAEDALUS_OP(do_mul, A * B);
  DAEDALUS_OP(do_div, A / B);
  DAEDALUS_OP(do_neg, -A);
  DAEDALUS_OP(do_pow, expr::power(A, B));
  DAEDALUS_OP(do_square, A * A);
  DAEDALUS_OP(do_inverse, 1.0 / A);
  DAEDALUS_OP(do_sin, expr::sine(A));
  DAEDALUS_OP(do_cos, expr::cosine(A));
  DAEDALUS_OP(do_tan, std::tan(A));
  DAEDALUS_OP(do_asin, std::asin(A));
  DAEDALUS_OP(do_acos, std::acos(A));
  DAEDALUS_OP(do_atan, std::atan(A));
  DAEDALUS_OP(do_sinh, std::sinh(A));
  DAEDALUS_OP(do_cosh, std::cosh(A));
  DAEDALUS_OP(do_tanh, std::tanh(A));
  DAEDALUS_OP(do_asinh, std::asinh(A));
  DAEDALUS_OP(do_acosh, std::acosh(A));
  DAEDALUS_OP(do_atanh, std::atanh(A));
  DAEDALUS_OP(do_exp, std::exp(A));
  DAEDALUS_OP(do_log, std::log(A));
  DAEDALUS_OP(do_log10, std::log10(A));
  DAEDALUS_OP(do_sqrt, std::sqrt(A));
  DAEDALUS_OP(do_cbrt, std::cbrt(A));
  DAEDALUS_OP(do_atan2, std::atan2(A, B));
  DAEDALUS_OP(do_hypot, expr::hypotenuse(A, B));
  DAEDALUS_OP(do_and, A != 0.0 && B != 0.0 ? 1.0 : 0.0);
  DAEDALUS_OP(do_or, A != 0.0 || B != 0.0 ? 1.0 : 0.0);
  DAEDALUS_OP(do_not, A == 0.0 ? 1.0 : 0.0);
  DAEDALUS_OP(do_abs, FROZEN ? (MODE < 0.0 ? -A : A) : std::abs(A));
  DAEDALUS_OP(do_sign, FROZEN ? MODE : sign_of(A));
  DAEDALUS_OP(do_floor, FROZEN ? MODE : std::floor(A));
  DAEDALUS_OP(do_min, (FROZEN ? MODE < 0.0 : B < A) ? B : A);
  DAEDALUS_OP(do_max, (FROZEN ? MODE < 0.0 : A < B) ? B : A);
  DAEDALUS_OP(do_less, (FROZEN ? MODE < 0.0 : A < B) ? 1.0 : 0.0);
  DAEDALUS_OP(do_less_equal, (FROZEN ? MODE <= 0.0 : A <= B) ? 1.0 : 0.0);
  DAEDALUS_OP(do_equal, (FROZEN ? MODE == 0.0 : A == B) ? 1.0 : 0.0);
  DAEDALUS_OP(do_not_equal, (FROZEN ? MODE != 0.0 : A != B) ? 1.0 : 0.0);
  DAEDALUS_OP(do_table, look_up(tape.tables[at->b], A, modes != nullptr ? &MODE : nullptr));
  DAEDALUS_OP(do_held, modes != nullptr ? MODE : A);
  DAEDALUS_OP(do_choose, A != 0.0 ? B : C);
  DAEDALUS_OP(do_multiply_add, std::fma(A, B, C));
  DAEDALUS_OP(do_multiply_sub, std::fma(A, B, -C));
  DAEDALUS_OP(do_sub_product, std::fma(-A, B, C));
do_store:
  (at->to < told ? results[at->to] : (r - tape.outputs)[at->to]) = r[at->a];
  ++at;
  DAEDALUS_NEXT;
do_end:;
#undef DAEDALUS_NEXT
#undef DAEDALUS_OP
#undef A
#undef B
#undef C
#undef MODE
#undef FROZEN
}

}  // namespace

double look_up(const expr::Graph::TableUse& table, double x, const double* segment) {
  const bool frozen = segment != nullptr && !std::isnan(*segment);
  return table.data->value(frozen ? *segment : table.data->segment(x), x, table.times);
}

void interpret(const Function::Tape& tape, const double* const* inputs, double* outputs, double* scratch,
               const double* modes) {
  run<1>(tape, inputs, outputs, scratch, modes);
}

void interpret_lanes(std::size_t lanes, const Function::Tape& tape, const double* const* inputs, double* outputs,
                     double* scratch, const double* modes) {
  (lanes == 4 ? run<4> : run<8>)(tape, inputs, outputs, scratch, modes);
}

}  // namespace daedalus::compile
