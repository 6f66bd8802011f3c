#include "peers/problems.hpp"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "daedalus/base/processor_time.hpp"
#include "daedalus/model/reader.hpp"
#include "daedalus/solve/pipeline.hpp"
#include "peers/hand.hpp"
#include "peers/ida.hpp"

namespace daedalus::bench {
namespace {

using Json = nlohmann::json;

/// What is written down about a problem.
struct Entry {
  std::string name, title, model;
  std::vector<std::string> compared;
  bool relative = true;
  double most_digits = 12.0;  ///< that the reference is good for
  AtDigits best_dae_code{not_measured, not_measured, not_measured};
  AtDigits reduced_by_hand{not_measured, not_measured, not_measured};
  std::function<HandRun(double)> hand = {};
  std::vector<std::string> explicit_choice = {"projection", "dop853"};  ///< empty: none
  std::vector<std::string> ida_forms = {};
  std::size_t links = 0;  ///< of a chain
};

std::vector<std::string> numbered(const std::string& stem, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= count; ++i) names.push_back(stem + std::to_string(i));
  return names;
}

Entry chain(std::size_t links, double most_digits, AtDigits best_dae_code, AtDigits reduced_by_hand) {
  Entry entry{fmt::format("chain_{}", links), fmt::format("chain, N = {}", links), "chain", {}, false, most_digits,
              best_dae_code, reduced_by_hand};
  for (std::size_t i = 1; i <= links; ++i)
    for (const char* axis : {"x", "y"}) entry.compared.push_back(fmt::format("{}[{}]", axis, i));
  entry.hand = [links](double tolerance) { return hand_chain(links, 1.0, tolerance); };
  entry.ida_forms = links > 100 ? std::vector<std::string>{"index1", "ggl"}
                                : std::vector<std::string>{"index1", "index2", "ggl"};
  entry.links = links;
  return entry;
}

/// The figures are those of the best DAE code and of DOP853 on equations reduced by hand, in milliseconds, all compiled
/// from source for one machine: RADAU5, RADAU, MEBDFI, BIMD, GAMD, PSIDE, RODAS, DASKR, HEM5 and IDA in all index forms.
const std::vector<Entry>& entries() {
  constexpr double none = not_measured;
  static const std::vector<Entry> all = [] {
    std::vector<std::string> points;
    for (int i = 1; i <= 20; ++i)
      for (const char* axis : {"x", "y", "z"}) points.push_back(fmt::format("{}[{}]", axis, i));
    const std::vector<std::string> levels{"index1", "index2", "ggl"};
    std::vector<Entry> list;
    list.push_back({"pendulum", "pendulum, 50 s", "pendulum", {"x", "y"}, true, 12.0, {1.15, 1.55, 2.10}, {0.165, 0.283, 0.924},
                    hand_pendulum, {"projection", "dop853"}, levels});
    list.push_back({"andrews", "seven-body mechanism", "andrews",
                    {"beta", "theta", "gamma", "phi", "delta", "omega", "epsilon"}, true, 12.0, {0.717, 1.14, 2.33},
                    {0.451, 0.843, 1.30}, hand_andrews, {"projection", "dop853"}, levels});
    list.push_back({"car_axis", "car axis", "car_axis", {"xl", "yl", "xr", "yr"}, true, 12.0, {0.419, 0.839, 1.31},
                    {0.303, 0.467, 0.771}, hand_car_axis, {"projection", "dop853"}, levels});
    list.push_back(chain(10, 12.5, {0.389, 0.729, 1.03}, {0.0307, 0.040, 0.0726}));
    list.push_back(chain(100, 12.0, {7.46, 31.0, none}, {3.01, 3.11, 3.27}));
    list.push_back(chain(1000, 11.0, {138.0, none, none}, {347.0, 365.0, 414.0}));
    list.push_back({"transistor_amplifier", "transistor amplifier", "transistor_amplifier", numbered("y", 8), true, 11.5,
                    {1.51, 2.24, 3.55}, {none, none, none}, {}, {}, {"direct"}});
    list.push_back({"chemical_akzo_nobel", "chemical Akzo Nobel", "chemical_akzo_nobel", numbered("y", 6), true, 13.0,
                    {0.0218, 0.0494, 0.0849}, {none, none, none}, {}, {}, {"direct"}});
    // its published y1 and y2, of order 1e-8 and 1e-14, are known to 12 digits of 1 + |y|, and round-off moves them by 1e-9
    list.push_back({"robertson", "Robertson", "robertson", numbered("y", 3), true, 9.0, {0.068, 0.106, 0.170},
                    {none, none, none}, {}, {}, {"direct"}});
    list.push_back({"fekete", "Fekete's points", "fekete", points, true, 9.0, {7.8, 11.7, 22.6}, {none, none, none}, {},
                    {"projection", "dop853"}, {"ggl"}});
    list.push_back({"flexible_slider_crank", "flexible slider-crank", "flexible_slider_crank",
                    {"phi1", "phi2", "x3", "q1", "q2", "q3", "q4"}, true, 10.0, {11.0, 16.4, none}, {none, none, none}, {},
                    {"projection", "dop853"}, {"index2", "ggl"}});
    list.push_back({"wheelset", "wheelset", "wheelset",
                    {"x", "y", "z", "theta", "phi", "der(x)", "der(y)", "der(z)", "der(theta)", "der(phi)", "beta"}, true, 7.0,
                    {53.0, none, none}, {none, none, none}, {}, {}, {"direct"}});
    list.push_back({"two_bit_adder", "two-bit adder", "two_bit_adder", {"x[49]", "x[130]", "x[148]"}, true, 5.0,
                    {1120.0, none, none}, {none, none, none}, {}, {}, {"direct"}});
    return list;
  }();
  return all;
}

double number(const Json& value) { return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>(); }

std::vector<double> exact_values(const Entry& entry, const std::string& models) {
  const std::string path = fmt::format("{}/reference/{}.json", models, entry.links ? entry.name : entry.model);
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  const Json reference = Json::parse(file);
  // the published ends of these two have fewer digits than the values computed for the documents
  const char* series = entry.name == "pendulum" ? "reference_consistent" : entry.name == "andrews" ? "values" : nullptr;
  const double t_end = entry.name == "pendulum" ? 50.0 : 0.03;
  std::vector<double> values;
  if (series) {
    for (const Json& row : reference.at(series))
      if (number(row.at("t")) == t_end)
        for (std::size_t k = 0; k < entry.compared.size(); ++k) values.push_back(number(row.at("q").at(k)));
  } else {
    const Json& y = reference.at("y");
    const Json all = reference.value("components_1based", Json::array());
    for (std::size_t k = 0; k < entry.compared.size(); ++k)
      values.push_back(number(y.at(all.size() == entry.compared.size() ? all.at(k).get<std::size_t>() - 1 : k)));
  }
  if (values.empty()) throw std::runtime_error("no values at the end in " + path);
  return values;
}

/// Daedalus itself, with a formulation and a method or, where these are empty, as it chooses.
Contestant daedalus_run(std::string name, std::shared_ptr<const solve::Prepared> prepared, const Entry& entry,
                        std::string formulation, std::string method) {
  return {std::move(name), [=, compared = entry.compared](double tolerance, double patience) {
            solve::RunOptions options;
            options.rtol = options.atol = tolerance;
            options.rows = solve::Rows::ends;
            options.max_steps = 5'000'000;
            if (!formulation.empty()) options.formulation = formulation;
            if (!method.empty()) options.method = method;
            const double begin = processor_seconds();
            // a look at the clock costs as much as a step of the pendulum
            options.interrupt = [=, asked = 0U]() mutable { return ++asked % 256 == 0 && processor_seconds() - begin > patience; };
            options.watch = false;  // as the others: what counts is the end
            const solve::Trajectory run = solve::simulate(*prepared, options);
            Outcome outcome{run.status == integrate::Status::done, run.processor_seconds, {}, run.stats.steps, run.stats.rhs,
                            run.message};
            if (outcome.good)
              for (const std::string& column : compared) outcome.values.push_back(run.last(column));
            return outcome;
          }};
}

Contestant hand_run(const Entry& entry) {
  return {"by hand", [hand = entry.hand, count = entry.compared.size()](double tolerance, double) {
            const double begin = processor_seconds();
            const HandRun run = hand(tolerance);
            const double seconds = processor_seconds() - begin;
            return Outcome{run.good, seconds, {run.x.begin(), run.x.begin() + static_cast<std::ptrdiff_t>(count)}, run.steps,
                           run.evaluations, run.good ? "" : "step size too small"};
          }};
}

}  // namespace

std::vector<std::string> problem_names() {
  std::vector<std::string> names;
  for (const Entry& entry : entries()) names.push_back(entry.name);
  return names;
}

Problem make_problem(const std::string& name, const std::string& models) {
  const auto found = std::ranges::find(entries(), name, &Entry::name);
  if (found == entries().end()) throw std::runtime_error("there is no problem '" + name + "'");
  const Entry& entry = *found;
  Problem problem;
  problem.name = entry.name;
  problem.title = entry.title;
  problem.exact = exact_values(entry, models);
  problem.relative = entry.relative;
  problem.most_digits = entry.most_digits;
  problem.best_dae_code = entry.best_dae_code;
  problem.reduced_by_hand = entry.reduced_by_hand;

  model::Overrides overrides;
  if (entry.links) overrides.set.emplace_back("N", std::to_string(entry.links));
  const double begin = processor_seconds();
  const auto prepared = std::make_shared<const solve::Prepared>(
      solve::prepare(model::read_model(fmt::format("{}/{}.toml", models, entry.model), overrides)));
  problem.prepare_seconds = processor_seconds() - begin;

  problem.contestants.push_back(daedalus_run("daedalus", prepared, entry, "", ""));
  if (!entry.explicit_choice.empty())
    problem.contestants.push_back(
        daedalus_run("explicit", prepared, entry, entry.explicit_choice[0], entry.explicit_choice[1]));
  if (!entry.explicit_choice.empty())
    problem.contestants.push_back(daedalus_run("taylor", prepared, entry, entry.explicit_choice[0], "taylor"));
  if (entry.hand) problem.contestants.push_back(hand_run(entry));
  for (const std::string& form : entry.ida_forms)
    for (Contestant& one : ida_runs(prepared, form, entry.compared)) problem.contestants.push_back(std::move(one));
  return problem;
}

}  // namespace daedalus::bench
