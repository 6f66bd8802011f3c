#include "daedalus/compile/native_functions.hpp"

#include <dlfcn.h>

#include <array>
#include <cmath>
#include <string>

#include "daedalus/base/check.hpp"
#include "daedalus/compile/interpreter.hpp"
#include "daedalus/expr/sine.hpp"

namespace daedalus::compile {

namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);
using Table = const expr::Graph::TableUse*;

template <class F>
std::uint64_t address(F* f) {
  return reinterpret_cast<std::uint64_t>(f);
}

double table_value(Table table, double x, const double* segment) noexcept { return look_up(*table, x, segment); }

template <std::size_t lanes>
void each_unary(Unary f, double* x, const double*) noexcept {
  for (std::size_t lane = 0; lane < lanes; ++lane) x[lane] = f(x[lane]);
}

template <std::size_t lanes>
void each_binary(Binary f, double* x, const double* y) noexcept {
  for (std::size_t lane = 0; lane < lanes; ++lane) x[lane] = f(x[lane], y[lane]);
}

template <std::size_t lanes>
void each_turned(const double* x, double* sine, double* cosine) noexcept {
  static_assert(lanes % 4 == 0);
  for (std::size_t lane = 0; lane < lanes; lane += 4) expr::sine_and_cosine_of_four(x + lane, sine + lane, cosine + lane);
}

template <std::size_t lanes>
void each_looked_up(Table table, const double* segment, double* x) noexcept {
  for (std::size_t lane = 0; lane < lanes; ++lane) x[lane] = look_up(*table, x[lane], segment);
}

/// The functions of libmvec by their codes.
class VectorLibrary {
 public:
  explicit VectorLibrary(std::size_t lanes) {
    void* library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return;
    const std::string kind = lanes == 4 ? "_ZGVdN4" : "_ZGVeN8";
    const auto find = [&](const std::string& name) { return reinterpret_cast<std::uint64_t>(dlsym(library, (kind + name).c_str())); };
    constexpr std::pair<Code, const char*> names[] = {
        {Code::sin, "v_sin"},     {Code::cos, "v_cos"},     {Code::tan, "v_tan"},     {Code::asin, "v_asin"},
        {Code::acos, "v_acos"},   {Code::atan, "v_atan"},   {Code::sinh, "v_sinh"},   {Code::cosh, "v_cosh"},
        {Code::tanh, "v_tanh"},   {Code::asinh, "v_asinh"}, {Code::acosh, "v_acosh"}, {Code::atanh, "v_atanh"},
        {Code::exp, "v_exp"},     {Code::log, "v_log"},     {Code::log10, "v_log10"}, {Code::cbrt, "v_cbrt"},
        {Code::atan2, "vv_atan2"}, {Code::pow, "vv_pow"}};
    for (const auto& [code, name] : names) function_[static_cast<std::size_t>(code)] = find(name);
  }

  static const VectorLibrary& of(std::size_t lanes) {
    static const VectorLibrary four(4), eight(8);
    return lanes == 4 ? four : eight;
  }

  std::uint64_t function(Code code) const { return function_[static_cast<std::size_t>(code)]; }

 private:
  std::array<std::uint64_t, static_cast<std::size_t>(Code::end)> function_ = {};
};

}  // namespace

std::uint64_t NativeFunctions::scalar(Code code) {
  const auto unary = [](Unary f) { return address(f); };
  const auto binary = [](Binary f) { return address(f); };
  switch (code) {
    case Code::sin: return unary(expr::sine);
    case Code::cos: return unary(expr::cosine);
    case Code::tan: return unary(std::tan);
    case Code::asin: return unary(std::asin);
    case Code::acos: return unary(std::acos);
    case Code::atan: return unary(std::atan);
    case Code::sinh: return unary(std::sinh);
    case Code::cosh: return unary(std::cosh);
    case Code::tanh: return unary(std::tanh);
    case Code::asinh: return unary(std::asinh);
    case Code::acosh: return unary(std::acosh);
    case Code::atanh: return unary(std::atanh);
    case Code::exp: return unary(std::exp);
    case Code::log: return unary(std::log);
    case Code::log10: return unary(std::log10);
    case Code::cbrt: return unary(std::cbrt);
    case Code::pow: return binary(expr::power);
    case Code::atan2: return binary(std::atan2);
    default: DAEDALUS_CHECK(false, "no function for instruction {}", static_cast<int>(code));
  }
}

std::uint64_t NativeFunctions::sine_and_cosine() { return address(&expr::sine_and_cosine); }
std::uint64_t NativeFunctions::sine_and_cosine_of_four() { return address(&expr::sine_and_cosine_of_four); }
std::uint64_t NativeFunctions::table() { return address(&table_value); }

std::uint64_t NativeFunctions::each_lane(std::size_t lanes, int arguments) {
  if (arguments == 1) return lanes == 4 ? address(&each_unary<4>) : address(&each_unary<8>);
  return lanes == 4 ? address(&each_binary<4>) : address(&each_binary<8>);
}

std::uint64_t NativeFunctions::each_sine_and_cosine(std::size_t lanes) {
  return lanes == 4 ? address(&each_turned<4>) : address(&each_turned<8>);
}

std::uint64_t NativeFunctions::each_table(std::size_t lanes) {
  return lanes == 4 ? address(&each_looked_up<4>) : address(&each_looked_up<8>);
}

std::uint64_t NativeFunctions::of_lanes(Code code, std::size_t lanes) { return VectorLibrary::of(lanes).function(code); }

}  // namespace daedalus::compile
