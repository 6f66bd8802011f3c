#pragma once

#include <algorithm>
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
    directions_.resize(near_.size() * near_.size());
  }

  integrate::Evaluation choose(double t, const double* x) {
    near(t, x);
    return flow_->begin(t, x);
  }
  std::size_t dimension() const { return near_.size(); }
  integrate::Evaluation ode(double t, const double* z, double* dz) {
    std::ranges::copy(near_, shifted_.begin());
    if (const auto outcome = flow_->wait(t_, t, shifted_.data()); outcome != integrate::Evaluation::ok) return outcome;
    return flow_->normal_ode(t, z, shifted_.data(), dz);
  }
  integrate::Evaluation expand(double t, const double* z, double* x) {
    Form& form = flow_->form();
    std::ranges::copy(near_, x);
    if (const auto outcome = flow_->wait(t_, t, x); outcome != integrate::Evaluation::ok) return outcome;
    std::copy_n(x, shifted_.size(), shifted_.begin());
    if (const auto outcome = form.expand(t, z, z + form.xi_count(), x); outcome == integrate::Evaluation::ok) return outcome;
    std::ranges::copy(shifted_, x);  // Newton's method does not contract over the whole way
    return flow_->reach(t, z, z + form.xi_count(), x);
  }
  /// At the time of `near`.
  void reduce(const double* x, double* z) { flow_->form().reduce(t_, x, z, z + flow_->form().xi_count()); }
  void near(double t, const double* x) {
    t_ = t;
    std::copy_n(x, near_.size(), near_.begin());
  }
  bool rechart(double t, const double* x) {
    near(t, x);
    before_.choose_as(flow_->form());
    return flow_->rechart(t, x);
  }
  integrate::Evaluation transfer(double t, const double* before, double* z) {
    std::ranges::copy(near_, shifted_.begin());
    if (const auto outcome = flow_->wait(t_, t, shifted_.data()); outcome != integrate::Evaluation::ok) return outcome;
    if (const auto outcome = before_.expand(t, before, before + before_.xi_count(), shifted_.data());
        outcome != integrate::Evaluation::ok)
      return outcome;
    return flow_->form().reduce(t, shifted_.data(), z, z + flow_->form().xi_count());
  }
  /// A coordinate may be off by what moves the first component of x by its bound.
  void tolerances(double t, const double* x, const double* bound, double* of_z) {
    const std::size_t n = near_.size();
    Form& form = flow_->form();
    const bool known = form.crossings(t, x, directions_.data()) == integrate::Evaluation::ok &&
                       form.tangents(t, x, directions_.data() + form.xi_count() * n) == integrate::Evaluation::ok;
    const double least = *std::min_element(bound, bound + n);
    for (std::size_t k = 0; k < n; ++k) {
      of_z[k] = known ? std::numeric_limits<double>::infinity() : least;
      for (std::size_t j = 0; known && j < n; ++j)
        if (const double move = std::abs(directions_[k * n + j]); bound[j] > 0.0 && move > 0.0)
          of_z[k] = std::min(of_z[k], bound[j] / move);
      if (!std::isfinite(of_z[k])) of_z[k] = least;
    }
  }
  void freeze(const double* frozen) { before_.freeze(frozen); }

 private:
  std::shared_ptr<Flow> flow_;
  Form before_;
  double t_ = 0.0;  ///< of near_
  std::vector<double> near_, shifted_;
  std::vector<double> directions_;  ///< the derivatives of x by every z, one after the other
};

template <class Form>
integrate::LocalCoordinates coordinates_of(const std::shared_ptr<NormalCoordinates<Form>>& normal) {
  integrate::LocalCoordinates local;
  local.choose = [normal](double t, const double* x) { return normal->choose(t, x); };
  local.dimension = [normal] { return normal->dimension(); };
  local.ode = [normal](double t, const double* z, double* dz) { return normal->ode(t, z, dz); };
  local.expand = [normal](double t, const double* z, double* x) { return normal->expand(t, z, x); };
  local.reduce = [normal](const double* x, double* z) { normal->reduce(x, z); };
  local.near = [normal](double t, const double* x) { normal->near(t, x); };
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
  form->wait = [flow](double from, double to, double* x) { return flow->wait(from, to, x); };
  form->exchange = [flow](double t, const double* x) { return flow->exchange(t, x); };
  form->gains = [flow](double t, const double* xi, const double* eta, const double* x, double* k) {
    return flow->gains_of(t, xi, eta, x, k);
  };
  return form;
}

}  // namespace daedalus::formulate
