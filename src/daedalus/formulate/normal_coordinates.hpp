#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daedalus/formulate/lyapunov_flow.hpp"
#include "daedalus/integrate/system.hpp"

namespace daedalus::formulate {

/// The stabilized motion as methods see it that work in normal coordinates z = (xi, eta): (21) of Di Franco, Scarciotti,
/// Astolfi. Keeps the coordinates before the last change, in which the past of a method may be written.
template <class Form>
class NormalCoordinates {
 public:
  using Flow = LyapunovFlow<Form>;
  NormalCoordinates(std::shared_ptr<Flow> flow, Form before)
      : flow_(std::move(flow)), before_(std::move(before)), near_(flow_->form().states()), shifted_(near_.size()) {
    for (auto* vector : {&z_, &moved_}) vector->resize(near_.size());
  }

  integrate::Evaluation choose(double t, const double* x) {
    near(x);
    t_ = t;
    return flow_->begin(t, x);
  }
  std::size_t dimension() const { return near_.size(); }
  integrate::Evaluation ode(double t, const double* z, double* dz) { return flow_->normal_ode(t, z, near_.data(), dz); }
  integrate::Evaluation expand(double t, const double* z, double* x) {
    std::copy(near_.begin(), near_.end(), x);
    return flow_->form().expand(t, z, z + flow_->form().xi_count(), x);
  }
  /// At the time of the last choice.
  void reduce(const double* x, double* z) { flow_->form().reduce(t_, x, z, z + flow_->form().xi_count()); }
  void near(const double* x) { std::copy_n(x, near_.size(), near_.begin()); }
  bool rechart(double t, const double* x) {
    t_ = t;
    near(x);
    before_.choose_as(flow_->form());
    return flow_->rechart(t, x);
  }
  integrate::Evaluation transfer(double t, const double* before, double* z) {
    std::ranges::copy(near_, shifted_.begin());
    if (const auto outcome = before_.expand(t, before, before + before_.xi_count(), shifted_.data());
        outcome != integrate::Evaluation::ok)
      return outcome;
    return flow_->form().reduce(t, shifted_.data(), z, z + flow_->form().xi_count());
  }
  /// A coordinate may be off by the least of what one component of x, off by its bound, changes it.
  void tolerances(double t, const double* x, const double* bound, double* of_z) {
    t_ = t;
    reduce(x, z_.data());
    std::fill_n(of_z, z_.size(), std::numeric_limits<double>::infinity());
    std::copy_n(x, shifted_.size(), shifted_.begin());
    for (std::size_t j = 0; j < shifted_.size(); ++j) {
      shifted_[j] = x[j] + bound[j];
      reduce(shifted_.data(), moved_.data());
      shifted_[j] = x[j];
      for (std::size_t k = 0; k < z_.size(); ++k) {
        const double change = std::abs(moved_[k] - z_[k]);
        if (change > 1e-3 * bound[j] && change < of_z[k]) of_z[k] = change;
      }
    }
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < shifted_.size(); ++j) least = std::min(least, bound[j]);
    for (std::size_t k = 0; k < z_.size(); ++k)
      if (!std::isfinite(of_z[k])) of_z[k] = least;
  }
  void freeze(const double* frozen) { before_.freeze(frozen); }

 private:
  std::shared_ptr<Flow> flow_;
  Form before_;
  double t_ = 0.0;
  std::vector<double> near_, shifted_, z_, moved_;
};

template <class Form>
integrate::LocalCoordinates coordinates_of(const std::shared_ptr<NormalCoordinates<Form>>& normal) {
  integrate::LocalCoordinates local;
  local.choose = [normal](double t, const double* x) { return normal->choose(t, x); };
  local.dimension = [normal] { return normal->dimension(); };
  local.ode = [normal](double t, const double* z, double* dz) { return normal->ode(t, z, dz); };
  local.expand = [normal](double t, const double* z, double* x) { return normal->expand(t, z, x); };
  local.reduce = [normal](const double* x, double* z) { normal->reduce(x, z); };
  local.near = [normal](const double* x) { normal->near(x); };
  local.rechart = [normal](double t, const double* x, double, integrate::LocalCoordinates::Change) {
    return normal->rechart(t, x);
  };
  local.transfer = [normal](double t, const double* before, double* z) { return normal->transfer(t, before, z); };
  local.tolerances = [normal](double t, const double* x, const double* bound, double* of_z) {
    normal->tolerances(t, x, bound, of_z);
  };
  local.component = [](std::size_t k) { return k; };
  local.describe = [] { return std::string(); };  // xi and eta have no short names
  return local;
}

/// The same for methods that know of xi and eta.
template <class Form>
std::shared_ptr<const integrate::NormalForm> normal_form_of(const std::shared_ptr<LyapunovFlow<Form>>& flow) {
  auto form = std::make_shared<integrate::NormalForm>();
  form->xi_count = [flow] { return flow->form().xi_count(); };
  form->eta_count = [flow] { return flow->form().eta_count(); };
  form->reduce = [flow](double t, const double* x, double* xi, double* eta) {
    if (!flow->begun())
      if (const auto outcome = flow->begin(t, x); outcome != integrate::Evaluation::ok) return outcome;
    return flow->form().reduce(t, x, xi, eta);
  };
  form->expand = [flow](double t, const double* xi, const double* eta, double* x) {
    return flow->reach(t, xi, eta, x);
  };
  form->rates = [flow](double t, const double* x, double* q) { return flow->form().rates(t, x, q); };
  form->gains = [flow](double t, const double* xi, const double* eta, const double* x, double* k) {
    return flow->gains_of(t, xi, eta, x, k);
  };
  return form;
}

}  // namespace daedalus::formulate
