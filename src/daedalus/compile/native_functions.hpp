#pragma once

#include <cstddef>
#include <cstdint>

#include "daedalus/compile/tape.hpp"

// Part of native code; not part of this room's interface.
namespace daedalus::compile {

/// Addresses of what machine code calls: first that of one number, of the C library, then what works on several lanes.
struct NativeFunctions {
  static std::uint64_t scalar(Code code);    ///< double (double) or double (double, double)
  static std::uint64_t sine_and_cosine();    ///< void (double, double* sine, double* cosine)
  static std::uint64_t sine_and_cosine_of_four();  ///< void (const double*, double* sine, double* cosine)
  static std::uint64_t table();              ///< double (const TableUse*, double, const double* segment)

  /// The same function lane after lane.
  static std::uint64_t each_lane(std::size_t lanes, int arguments);  ///< void (scalar, double* x or result, const double* y)
  static std::uint64_t each_sine_and_cosine(std::size_t lanes);      ///< void (const double*, double* sine, double* cosine)
  static std::uint64_t each_table(std::size_t lanes);  ///< void (const TableUse*, const double* segment, double* x or result)

  /// Of glibc's libmvec, on lanes in registers; 0 where this system has none.
  static std::uint64_t of_lanes(Code code, std::size_t lanes);
};

}  // namespace daedalus::compile
