#pragma once

#include <string_view>

namespace daedalus::integrate {

/// The exact number (p + q sqrt(d)) / r with r > 0, d without square factors, d = 1 where q = 0, in lowest terms.
struct Surd {
  long long p = 0, q = 0, r = 1;
  int d = 1;
};

/// Reads "1/2", "-3/4", "(4 - sqrt(6))/10", "357/256*sqrt(5) - 2889/1024": whole numbers, sqrt of whole numbers, + - *
/// / and brackets. Fails as our fault on anything else, on two different roots and on overflow: coefficients of methods
/// are written by us.
Surd parse_surd(std::string_view text);

/// The nearest double, up to a few thousandths of a unit in the last place.
double value_of(const Surd& surd);

}  // namespace daedalus::integrate
