// The algorithm of 003 (after Biegler, Nonlinear Programming), for equations F(t, x, w) = 0 with states x and unknowns
// w = (x', z), the highest derivatives and the algebraic unknowns:
//   1. If dF/dw is regular the system is easy: w = w(t, x). Stop.
//   2. Otherwise some rows of dF/dw follow from others. These equations, freed from w with the help of the others, are
//      constraints 0 = g(t, x).
//   3. 0 = g_t + g_x x' takes the place of each. Where another equation gives some x' explicitly, it is put in.
//   4. Go to 1.
// With l_i the number of differentiations in row i, the rows determine x' from max l_i differentiations on, and z' from
// one more of those rows on which z depends: the index is the larger number. What must be combined is decided by numbers
// at a point, what comes out by symbols.

#include "daedalus/structure/substitution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <unordered_map>
#include <unordered_set>

#include "daedalus/base/listed.hpp"
#include "daedalus/base/text.hpp"
#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/linalg/equilibrate.hpp"
#include "daedalus/linalg/lu.hpp"
#include "daedalus/linalg/rank.hpp"
#include "daedalus/structure/elimination.hpp"
#include "daedalus/structure/structural_analysis.hpp"

namespace daedalus::structure {

using expr::Expr;
using expr::NodeId;

namespace {

constexpr std::size_t most_equations = 400;  // beyond it nobody reads the steps, and combinations are not found
constexpr std::size_t most_nodes = 200'000;  // of the differentiated equations
constexpr std::size_t largest_shown = 8;     // matrix
constexpr std::size_t neighbours = 2;
constexpr double spread = 0.05;  // of neighbours, relative to the size of unknowns

/// An equation of the present system.
struct Row {
  std::string name;  ///< the author's, which it is or comes from
  std::size_t level = 0;
  Expr residual;
  std::string shown() const { return model::derivative_name(name, level); }
};

class Substitution {
 public:
  Substitution(const EquationSet& system, double t, const std::vector<std::pair<std::string, double>>& values);
  Derivation run();

 private:
  void set_points(double t, const std::vector<std::pair<std::string, double>>& values);
  void tell_equations();
  bool easy(Derivation::Step& step);
  void prefer_new_rows();
  bool reduce(std::size_t round);
  bool free_of_unknowns(std::size_t k, Derivation::Step& step);
  std::vector<double> constant_factors(std::size_t k) const;
  std::string sum_text(std::size_t dependent, const std::vector<double>& factors) const;
  void differentiate(Derivation::Step& step);
  void put_in_rates(Derivation::Step& step);
  std::size_t index() const;
  Derivation::Equation vanishing(const Row& row) const { return {row.shown(), row.residual, graph_.constant(0.0)}; }
  bool contains_unknowns(Expr e) const {
    return std::ranges::any_of(expr::symbols_of(e), [&](NodeId id) { return is_unknown_.contains(id); });
  }

  const EquationSet& system_;
  expr::Graph& graph_;
  std::vector<Row> rows_;
  std::vector<Expr> unknowns_;  ///< w, one per unknown of the system
  std::vector<bool> algebraic_;
  std::unordered_set<NodeId> is_unknown_, is_state_;
  std::vector<std::string> unknown_names_, state_names_;
  expr::Direction by_time_;
  std::vector<SymbolValues> points_;
  std::vector<SymbolValues> varied_;  ///< points near the first with other parameters
  expr::SparseExpr matrix_;  ///< dF/dw
  linalg::Sparsity pattern_;
  std::vector<double> row_factors_, scaled_;  ///< of its values at the point, equilibrated
  linalg::RankDecision decision_;
  Derivation result_;
};

Substitution::Substitution(const EquationSet& system, double t, const std::vector<std::pair<std::string, double>>& values)
    : system_(system), graph_(*system.graph) {
  const Signature signature = signature_of(system);
  std::vector<std::size_t> order(system.unknowns.size(), 0);
  for (std::size_t k = 0; k < signature.order.size(); ++k) {
    std::size_t& highest = order[signature.pattern.column[k]];
    highest = std::max(highest, static_cast<std::size_t>(signature.order[k]));
  }
  by_time_.emplace(system.time.id(), graph_.constant(1.0));
  std::unordered_map<NodeId, Expr> absent;
  for (std::size_t j = 0; j < system.unknowns.size(); ++j) {
    const std::vector<Expr>& derivatives = system.unknowns[j].derivatives;
    for (std::size_t k = 0; k < order[j]; ++k) {
      is_state_.insert(derivatives[k].id());
      state_names_.push_back(derivatives[k].name());
      by_time_.emplace(derivatives[k].id(), derivatives[k + 1]);
    }
    unknowns_.push_back(derivatives[order[j]]);
    algebraic_.push_back(order[j] == 0);
    is_unknown_.insert(unknowns_.back().id());
    unknown_names_.push_back(unknowns_.back().name());
    for (std::size_t k = order[j] + 1; k < derivatives.size(); ++k) absent.emplace(derivatives[k].id(), graph_.constant(0.0));
  }
  for (const EquationSet::Equation& equation : system.equations)
    rows_.push_back({equation.name, 0, expr::substitute(equation.residual, absent)});
  set_points(t, values);
}

void Substitution::set_points(double t, const std::vector<std::pair<std::string, double>>& values) {
  const std::unordered_map<std::string, double> known(values.begin(), values.end());
  SymbolValues numbers = system_.parameters;
  numbers.insert(system_.discrete.begin(), system_.discrete.end());
  numbers[system_.time.id()] = t;
  std::mt19937_64 random(1);
  for (std::size_t p = 0; p <= neighbours; ++p) {
    points_.push_back(numbers);
    for (const EquationSet::Unknown& unknown : system_.unknowns)
      for (std::size_t k = 0; k < unknown.derivatives.size(); ++k) {
        const auto found = known.find(model::derivative_name(unknown.name, k));
        double value = found != known.end() ? found->second : k < unknown.guess.size() ? unknown.guess[k] : 0.0;
        const double size = std::max(std::abs(value), unknown.nominal);
        const double part = static_cast<double>(random() >> 11) * 0x1p-52 - 1.0;
        if (p > 0) value += spread * size * part;
        points_.back()[unknown.derivatives[k].id()] = value;
      }
    if (p == 0) continue;
    varied_.push_back(points_.back());
    for (const auto& [symbol, value] : system_.parameters)
      varied_.back()[symbol] = value * (1.0 + spread * (static_cast<double>(random() >> 11) * 0x1p-52 - 1.0));
  }
}

void Substitution::tell_equations() {
  Derivation::Part part{fmt::format("Wanted are {}{}.", listed(unknown_names_),
                                    state_names_.empty() ? "" : "; given are the states " + listed(state_names_))};
  for (const Row& row : rows_) part.equations.push_back(vanishing(row));
  result_.steps.push_back({"the equations as written", {part}});
}

/// Calls that row of a combination dependent which was differentiated most often: the others were independent before.
void Substitution::prefer_new_rows() {
  auto& combinations = decision_.combinations;
  for (std::size_t k = 0; k < combinations.size(); ++k) {
    std::size_t& dependent = decision_.dependent_rows[k];
    for (std::size_t i = 0; i < rows_.size(); ++i)
      if (combinations[k][i] != 0.0 && rows_[i].level > rows_[dependent].level) dependent = i;
    const double own = combinations[k][dependent];
    for (double& c : combinations[k]) c /= own;
    for (std::size_t other = 0; other < combinations.size(); ++other)
      if (const double c = combinations[other][dependent]; other != k && c != 0.0) {
        for (std::size_t i = 0; i < rows_.size(); ++i) combinations[other][i] -= c * combinations[k][i];
        combinations[other][dependent] = 0.0;
      }
  }
}

bool Substitution::easy(Derivation::Step& step) {
  std::vector<Expr> residuals;
  for (const Row& row : rows_) residuals.push_back(row.residual);
  matrix_ = expr::jacobian(residuals, unknowns_);
  pattern_ = {matrix_.rows, matrix_.columns, matrix_.row_start, matrix_.column};
  scaled_.clear();
  for (const Expr& entry : matrix_.value) scaled_.push_back(expr::evaluate(entry, points_[0]));
  row_factors_ = linalg::equilibrate(pattern_, scaled_);
  decision_ = linalg::row_rank(pattern_, scaled_.data());
  prefer_new_rows();
  const std::size_t n = rows_.size();
  const bool regular = decision_.rank == n;
  Derivation::Part part{fmt::format("The matrix of their derivatives by {} has rank {} of {}: {}.", listed(unknown_names_),
                                    decision_.rank, n, regular ? "easy" : "not easy")};
  if (n <= largest_shown) part.matrices.push_back({"[dF/dx', dF/dz]", matrix_});
  step.parts.push_back(part);
  return regular;
}

/// The factors with which all rows add up to the k-th dependent one freed from w, where they do not depend on anything,
/// not even on parameters; otherwise empty.
std::vector<double> Substitution::constant_factors(std::size_t k) const {
  constexpr double fractions = 2520.0;  // halves, thirds, ... tenths
  const std::size_t dependent = decision_.dependent_rows[k];
  std::vector<double> factors = decision_.combinations[k];
  for (std::size_t i = 0; i < factors.size(); ++i) {
    factors[i] *= row_factors_[i] / row_factors_[dependent];
    const double near = std::round(factors[i] * fractions) / fractions;
    if (std::abs(near - factors[i]) <= 1e-12 * std::abs(near)) factors[i] = near;
  }
  for (const SymbolValues& point : varied_) {
    std::vector<double> sum(unknowns_.size(), 0.0), size(unknowns_.size(), 0.0);
    for (std::size_t i = 0; i < factors.size(); ++i)
      for (std::size_t e = matrix_.row_start[i]; factors[i] != 0.0 && e < matrix_.row_start[i + 1]; ++e) {
        const double part = factors[i] * expr::evaluate(matrix_.value[e], point);
        sum[matrix_.column[e]] += part;
        size[matrix_.column[e]] += std::abs(part);
      }
    for (std::size_t j = 0; j < sum.size(); ++j)
      if (!(std::abs(sum[j]) <= 1e-10 * size[j])) return {};
  }
  return factors;
}

/// "second - 2*first".
std::string Substitution::sum_text(std::size_t dependent, const std::vector<double>& factors) const {
  constexpr std::size_t most_terms = 8;
  std::string text = rows_[dependent].shown();
  std::size_t terms = 1;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (factors[i] == 0.0 || i == dependent) continue;
    if (++terms > most_terms) continue;
    const std::string size = brief(std::abs(factors[i]));
    text += (factors[i] < 0.0 ? " - " : " + ") + (size == "1" ? "" : size + "*") + rows_[i].shown();
  }
  return terms > most_terms ? text + fmt::format(" and {}", count(terms - most_terms, "further term")) : text;
}

/// Frees the k-th dependent row of w. False where that cannot be done.
bool Substitution::free_of_unknowns(std::size_t k, Derivation::Step& step) {
  const std::size_t dependent = decision_.dependent_rows[k];
  Row& row = rows_[dependent];
  row.residual = neat(row.residual);
  if (!contains_unknowns(row.residual)) return true;
  std::vector<Expr> helpers;
  std::vector<double> factors;
  std::vector<std::string> names;
  const std::vector<double> constant = constant_factors(k);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (i != dependent && decision_.combinations[k][i] != 0.0) {
      helpers.push_back(rows_[i].residual);
      names.push_back(rows_[i].shown());
      if (!constant.empty()) factors.push_back(constant[i]);
    }
  Derivation::Part part{fmt::format("What {} says about {} follows from {}", row.shown(), listed(unknown_names_), listed(names))};
  Elimination elimination;
  if (!constant.empty()) elimination = combine(row.residual, helpers, factors, is_unknown_, points_);
  if (elimination.complete) {
    part.text += fmt::format(": take {} for it.", sum_text(dependent, constant));
  } else {
    elimination = eliminate(row.residual, helpers, is_unknown_, points_);
    part.text += elimination.steps.empty() ? "." : ". Put in:";
    for (const Elimination::Step& one : elimination.steps) part.equations.push_back({names[one.row], one.unknown, one.value});
  }
  step.parts.push_back(part);
  row.residual = elimination.residual;
  if (elimination.complete) return true;
  if (!elimination.steps.empty()) step.parts.push_back({fmt::format("which leaves of {}", row.shown()), {vanishing(row)}});
  step.parts.push_back({fmt::format("{} cannot be freed of them in symbols: {}.", row.shown(), elimination.obstacle)});
  return false;
}

void Substitution::differentiate(Derivation::Step& step) {
  Derivation::Part part{"Differentiated by time:"};
  for (const std::size_t i : decision_.dependent_rows) {
    Row& row = rows_[i];
    row.residual = neat(expr::derivative_along(row.residual, by_time_));
    ++row.level;
    part.equations.push_back(vanishing(row));
  }
  step.parts.push_back(part);
}

/// Puts derivatives that another equation gives explicitly into the equations that were just differentiated.
void Substitution::put_in_rates(Derivation::Step& step) {
  std::vector<bool> is_new(rows_.size(), false);
  std::unordered_set<NodeId> wanted, rates;
  for (std::size_t j = 0; j < unknowns_.size(); ++j)
    if (!algebraic_[j]) rates.insert(unknowns_[j].id());
  for (const std::size_t i : decision_.dependent_rows) {
    is_new[i] = true;
    for (const NodeId id : expr::symbols_of(rows_[i].residual))
      if (rates.contains(id)) wanted.insert(id);
  }
  Derivation::Part part{"Put in:"};
  std::unordered_map<NodeId, Expr> values;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (is_new[i]) continue;
    Expr rate;
    std::size_t count = 0;
    for (const NodeId id : expr::symbols_of(rows_[i].residual))
      if (rates.contains(id)) rate = Expr(&graph_, id), ++count;
    if (count != 1 || !wanted.contains(rate.id()) || values.contains(rate.id())) continue;
    if (contains_unknowns(expr::partial(rows_[i].residual, rate))) continue;
    const Expr value = solved_for(rows_[i].residual, rate, points_[0]);
    if (!value.valid()) continue;
    values.emplace(rate.id(), value);
    part.equations.push_back({rows_[i].shown(), rate, value});
  }
  if (values.empty()) return;
  Derivation::Part gives{"which gives"};
  for (const std::size_t i : decision_.dependent_rows) {
    const Expr before = rows_[i].residual;
    rows_[i].residual = neat(expr::substitute(before, values));
    if (!(before == rows_[i].residual)) gives.equations.push_back(vanishing(rows_[i]));
  }
  step.parts.push_back(part);
  step.parts.push_back(gives);
}

/// Steps 2 and 3. False where the derivation cannot go on.
bool Substitution::reduce(std::size_t round) {
  Derivation::Step& step = result_.steps.emplace_back();
  step.title = fmt::format("differentiation {}", round);
  if (decision_.combinations.size() != decision_.dependent_rows.size()) {
    step.parts.push_back({"The derivatives of the equations have no finite values at the start."});
    return false;
  }
  for (std::size_t k = 0; k < decision_.dependent_rows.size(); ++k)
    if (!free_of_unknowns(k, step)) return false;
  Derivation::Part part{fmt::format("Without {}:", listed(unknown_names_))};
  for (const std::size_t i : decision_.dependent_rows) {
    const Row& row = rows_[i];
    const std::vector<NodeId> symbols = expr::symbols_of(row.residual);
    if (std::ranges::none_of(symbols, [&](NodeId id) { return is_state_.contains(id); })) {
      step.parts.push_back({fmt::format("{} contains no unknown any more: {}.", row.shown(),
                                        row.residual.is_constant(0.0)
                                            ? "it follows from the others, which do not determine all unknowns"
                                            : "it contradicts the others, or asks something of the time alone"),
                            {vanishing(row)}});
      return false;
    }
    part.equations.push_back(vanishing(row));
    result_.conditions.push_back(vanishing(row));
  }
  step.parts.push_back(part);
  differentiate(step);
  std::vector<Expr> residuals;
  for (const std::size_t i : decision_.dependent_rows) residuals.push_back(rows_[i].residual);
  if (expr::reachable(residuals).size() > most_nodes) {
    step.parts.push_back({"The equations outgrow all measure."});
    return false;
  }
  put_in_rates(step);
  return true;
}

/// max l_i, and one more where a row with that many differentiations is needed for an algebraic unknown.
std::size_t Substitution::index() const {
  const std::size_t n = rows_.size();
  std::size_t most = 0;
  for (const Row& row : rows_) most = std::max(most, row.level);
  std::vector<double> dense(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = pattern_.row_start[i]; k < pattern_.row_start[i + 1]; ++k) dense[i * n + pattern_.column[k]] = scaled_[k];
  linalg::DenseLu lu(n);
  if (!lu.factor(dense.data())) return most + (std::ranges::find(algebraic_, true) != algebraic_.end() ? 1 : 0);
  for (std::size_t i = 0; i < n; ++i) {
    if (rows_[i].level < most) continue;
    std::vector<double> column(n, 0.0);  // of the inverse
    column[i] = 1.0;
    lu.solve(column.data());
    double largest = 0.0;
    for (const double value : column) largest = std::max(largest, std::abs(value));
    for (std::size_t j = 0; j < n; ++j)
      if (algebraic_[j] && std::abs(column[j]) > 1e-10 * largest) return most + 1;
  }
  return most;
}

Derivation Substitution::run() {
  result_.method = "equations that do not determine the highest derivatives are differentiated, until all together do";
  tell_equations();
  if (rows_.size() > most_equations) {
    result_.steps.back().parts = {
        {fmt::format("{}: too many to be told step by step, which ends at {}.", count(rows_.size(), "equation"), most_equations)}};
    return result_;
  }
  std::size_t round = 0;
  while (!easy(result_.steps.back())) {
    if (round > is_state_.size()) {
      result_.steps.back().parts.push_back({"More differentiations than states: they do not come to an end."});
      return result_;
    }
    if (!reduce(++round)) return result_;
  }
  result_.complete = true;
  result_.index = index();
  std::vector<std::string> algebraic;
  for (std::size_t j = 0; j < unknowns_.size(); ++j)
    if (algebraic_[j]) algebraic.push_back(unknown_names_[j]);
  const std::string easy_after = round == 0 ? "The equations as written are easy" : "The system is easy after " + count(round, "differentiation");
  result_.steps.push_back(
      {"the index",
       {{*result_.index > round ? fmt::format("{}; one more gives the derivatives of {}: index {}.", easy_after, listed(algebraic), *result_.index)
                                : fmt::format("{}, which gives the derivatives of all unknowns: index {}.", easy_after, *result_.index)}}});
  for (const Row& row : rows_) result_.reduced.push_back(vanishing(row));
  return result_;
}

}  // namespace

Derivation substitution(const EquationSet& system, double t, const std::vector<std::pair<std::string, double>>& values) {
  return Substitution(system, t, values).run();
}

}  // namespace daedalus::structure
