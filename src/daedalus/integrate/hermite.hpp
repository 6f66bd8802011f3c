#pragma once

#include <array>
#include <cstddef>

namespace daedalus::integrate {

/// The polynomial with given values and slopes at up to four times, in Newton's form with repeated nodes.
class Hermite {
 public:
  void add(double t, double value, double slope) {
    for (const bool repeated : {false, true}) {
      // The differences that end with this node, from the value to the one over all nodes.
      std::array<double, most> row{value};
      node_[size_] = t;
      for (std::size_t k = 1; k <= size_; ++k)
        row[k] = repeated && k == 1 ? slope : (row[k - 1] - last_[k - 1]) / (t - node_[size_ - k]);
      coefficient_[size_] = row[size_];
      ++size_;
      last_ = row;
    }
  }

  struct Value {
    double f = 0.0, slope = 0.0;
  };
  Value at(double t) const {
    Value value;
    for (std::size_t k = size_; k-- > 0;) {
      value.slope = value.slope * (t - node_[k]) + value.f;
      value.f = value.f * (t - node_[k]) + coefficient_[k];
    }
    return value;
  }

 private:
  static constexpr std::size_t most = 8;
  std::size_t size_ = 0;
  std::array<double, most> node_{}, coefficient_{}, last_{};
};

}  // namespace daedalus::integrate
