// G. Tan, N. Nedialkov, J. Pryce: Conversion methods for improving structural analysis of differential-algebraic
// equation systems, BIT 57 (2017). Where the system Jacobian J is singular everywhere, some block of it has
//     u^T J = 0:  the combination  sum_i u_i f_i^(c_i - c_l)  of its equations, with c_l the least of their offsets,
//     takes
//                 the place of f_l, and contains no unknown of the block as often differentiated as before; or
//     J v = 0:    with  x_j = w_j + v_j x_l^(d_l - d_j),  v_l = 1 and d_l the largest of their offsets, w_j is an
//     unknown
//                 in place of x_j, and x_l^(d_l) occurs no more.
// Either way the value of the best transversal, the number of free initial values that the structure sees, becomes
// smaller; so it ends. Here u and v are constant: such conversions are the same equations everywhere, and bring no
// points at which the new ones say less. That derivatives drop out is a fact, found with numbers; what round-off leaves
// of them in the sums is removed by giving them a value.

#include "daedalus/structure/conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "daedalus/expr/derivative.hpp"
#include "daedalus/expr/substitute.hpp"
#include "daedalus/linalg/rank.hpp"
#include "daedalus/linalg/shifted_lu.hpp"
#include "daedalus/structure/combination_recipe.hpp"
#include "daedalus/structure/null_vectors.hpp"
#include "daedalus/structure/prolongation.hpp"
#include "daedalus/structure/sampled_equations.hpp"

namespace daedalus::structure {

namespace {

using expr::Expr;
using expr::NodeId;

constexpr int most_rounds = 40;
constexpr int most_differentiations = 16;
// Larger blocks are first tried with a sparse factorization.
constexpr std::size_t small_block = 60;

class Repair {
 public:
  Repair(const std::shared_ptr<const model::Model>& author, double t,
         const std::unordered_map<std::string, double>& start)
      : author_(author),
        system_(equations_of(*author)),
        samples_(system_, t, std::max(author->simulation.t_end.value_or(t + 1.0) - t, 1e-9)) {
    for (const model::Unknown& unknown : author->variables) own_.push_back(unknown.rates.size());
    for (EquationSet::Unknown& unknown : system_.unknowns)
      for (std::size_t k = 0; k < unknown.guess.size(); ++k)
        if (const auto found = start.find(model::derivative_name(unknown.name, k)); found != start.end())
          unknown.guess[k] = found->second;
    for (std::size_t i = 0; i < system_.equations.size(); ++i) {
      equation_names_.push_back(system_.equations[i].name);
      equation_recipes_.push_back({{{i, 0}, 1.0}});
    }
    for (std::size_t j = 0; j < system_.unknowns.size(); ++j) {
      unknown_names_.push_back(system_.unknowns[j].name);
      unknown_recipes_.push_back({{{j, 0}, 1.0}});
    }
  }

  std::optional<Converted> operator()() {
    for (int round = 0; round < most_rounds; ++round) {
      const StructuralAnalysis analysis = structural_analysis(system_);
      if (!analysis.regular()) return std::nullopt;
      if (*std::ranges::max_element(analysis.sigma->offsets.c) > most_differentiations) return std::nullopt;
      std::vector<Expr> entries;
      for (const std::size_t k : analysis.jacobian.entries) entries.push_back(analysis.signature.derivative[k]);
      const Values J = samples_(entries);
      if (J.size() < SampledEquations::enough) return std::nullopt;
      std::vector<const Part*> singular;
      for (const Part& block : analysis.blocks)
        if (!regular_somewhere(block_of(analysis.jacobian.pattern, block), J)) singular.push_back(&block);
      if (singular.empty()) return round == 0 ? std::nullopt : std::optional(result(analysis));
      bool changed = false;
      for (const Part* block : singular) changed = combine_equations(analysis, *block, J) || changed;
      // New unknowns change all equations: one block at a time.
      for (std::size_t b = 0; b < singular.size() && !changed; ++b)
        changed = combine_unknowns(analysis, *singular[b], J);
      if (!changed) return std::nullopt;
    }
    return std::nullopt;
  }

 private:
  using Values = SampledEquations::Values;
  using Jet = SampledEquations::Jet;

  /// A block of a matrix: its pattern, and where its entries stand.
  struct Block {
    linalg::Sparsity pattern;
    std::vector<std::size_t> entries;
    Values values(const Values& all) const {
      Values result(all.size(), std::vector<double>(entries.size()));
      for (std::size_t p = 0; p < all.size(); ++p)
        for (std::size_t k = 0; k < entries.size(); ++k) result[p][k] = all[p][entries[k]];
      return result;
    }
    Block transposed() const {
      Block result{{pattern.columns, pattern.rows, {0}, {}}, {}};
      std::vector<std::vector<std::pair<std::size_t, std::size_t>>> columns(pattern.columns);
      for (std::size_t i = 0; i < pattern.rows; ++i)
        for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k)
          columns[pattern.column[k]].emplace_back(i, entries[k]);
      for (const auto& column : columns) {
        for (const auto& [row, entry] : column) {
          result.pattern.column.push_back(row);
          result.entries.push_back(entry);
        }
        result.pattern.row_start.push_back(result.pattern.column.size());
      }
      return result;
    }
  };

  Block block_of(const linalg::Sparsity& pattern, const Part& part) {
    place_.resize(pattern.columns, unmatched);
    for (std::size_t k = 0; k < part.columns.size(); ++k) place_[part.columns[k]] = k;
    Block block{{part.rows.size(), part.columns.size(), {0}, {}}, {}};
    for (const std::size_t i : part.rows) {
      for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
        if (place_[pattern.column[k]] == unmatched) continue;
        block.pattern.column.push_back(place_[pattern.column[k]]);
        block.entries.push_back(k);
      }
      block.pattern.row_start.push_back(block.pattern.column.size());
    }
    for (const std::size_t j : part.columns) place_[j] = unmatched;
    return block;
  }

  bool regular_somewhere(const Block& block, const Values& J) const {
    const Values all = block.values(J);
    if (block.pattern.rows > small_block) {
      linalg::ShiftedLu lu(block.pattern, linalg::ShiftedLu::Numbers::real);
      for (const std::vector<double>& values : all)
        if (lu.factor(values.data(), values.data(), 0.0)) return true;
    }
    return std::ranges::any_of(all, [&](const std::vector<double>& values) {
      return linalg::row_rank(block.pattern, values.data()).dependent_rows.empty();
    });
  }

  void extend_derivatives(std::size_t unknown, std::size_t count) {
    EquationSet::Unknown& one = system_.unknowns[unknown];
    for (std::size_t k = one.derivatives.size(); k <= count; ++k) one.derivatives.push_back(derivative_symbol(one, k));
    one.guess.resize(one.derivatives.size(), 0.0);
  }

  bool combine_equations(const StructuralAnalysis& analysis, const Part& part, const Values& J) {
    const Offsets& offsets = analysis.sigma->offsets;
    const Block block = block_of(analysis.jacobian.pattern, part);
    Values basis = common_null_vectors(block.pattern, block.values(J));
    if (basis.empty()) return false;
    std::vector<int> cost;
    for (const std::size_t i : part.rows) cost.push_back(offsets.c[i]);
    const std::vector<std::size_t> pivots = reduce_to_pivots(basis, cost);

    std::vector<int> times(system_.equations.size(), 0);
    int most = 0;
    for (std::size_t b = 0; b < basis.size(); ++b)
      for (std::size_t i = 0; i < cost.size(); ++i)
        if (basis[b][i] != 0.0) {
          int& own = times[part.rows[i]];
          own = std::max(own, cost[i] - cost[pivots[b]]);
          most = std::max(most, own);
        }
    const auto levels = prolong(system_, times);
    for (std::size_t j = 0; j < system_.unknowns.size(); ++j)
      extend_derivatives(j, system_.unknowns[j].derivatives.size() - 1 + static_cast<std::size_t>(most));

    std::vector<EquationSet::Equation> combined;
    std::vector<Recipe> recipes(basis.size());
    for (std::size_t b = 0; b < basis.size(); ++b) {
      std::vector<Expr> terms;
      std::vector<double> factors;
      Expr sum = system_.graph->constant(0.0);
      // Of both signs the one that reads better.
      const auto first = std::ranges::find_if(basis[b], [](double value) { return value != 0.0; });
      if (*first < 0.0)
        for (double& value : basis[b]) value = -value;
      for (std::size_t i = 0; i < cost.size(); ++i) {
        if (basis[b][i] == 0.0) continue;
        const auto level = static_cast<std::size_t>(cost[i] - cost[pivots[b]]);
        terms.push_back(levels[part.rows[i]][level]);
        factors.push_back(basis[b][i]);
        add(recipes[b], basis[b][i], equation_recipes_[part.rows[i]], level);
        sum = sum + basis[b][i] * terms.back();
      }
      const auto gone = samples_.independent_of(terms, factors);
      if (!gone || !samples_.remove(sum, *gone)) return false;
      combined.push_back({"", sum, system_.equations[part.rows[pivots[b]]].place});
    }
    for (std::size_t b = 0; b < basis.size(); ++b) {
      const std::size_t row = part.rows[pivots[b]];
      equation_recipes_[row] = recipes[b];
      combined[b].name = unused(text_of(recipes[b], equation_names_));
      system_.equations[row] = combined[b];
    }
    return true;
  }

  bool combine_unknowns(const StructuralAnalysis& analysis, const Part& part, const Values& J) {
    const Offsets& offsets = analysis.sigma->offsets;
    const Block block = block_of(analysis.jacobian.pattern, part).transposed();
    Values basis = common_null_vectors(block.pattern, block.values(J));
    if (basis.empty()) return false;
    std::vector<int> cost;
    for (const std::size_t j : part.columns) cost.push_back(-offsets.d[j]);
    const std::vector<std::size_t> pivots = reduce_to_pivots(basis, cost);

    // x_j = w_j + sum of factor * x_l^(shift)
    struct Share {
      std::size_t l;
      int shift;
      double factor;
    };
    std::unordered_map<NodeId, Expr> replacement;
    std::vector<std::pair<std::size_t, std::vector<Share>>> shares;
    int most = 0;
    for (std::size_t j = 0; j < cost.size(); ++j) {
      if (std::ranges::find(pivots, j) != pivots.end()) continue;
      std::vector<Share> own;
      for (std::size_t b = 0; b < basis.size(); ++b)
        if (basis[b][j] != 0.0) own.push_back({part.columns[pivots[b]], cost[j] - cost[pivots[b]], basis[b][j]});
      for (const Share& share : own) most = std::max(most, share.shift);
      if (!own.empty()) shares.emplace_back(part.columns[j], std::move(own));
    }
    for (const std::size_t pivot : pivots) {
      const std::size_t l = part.columns[pivot];
      std::size_t longest = 0;
      for (const auto& [j, own] : shares) longest = std::max(longest, system_.unknowns[j].derivatives.size());
      extend_derivatives(l, std::max(system_.unknowns[l].derivatives.size(), longest) + static_cast<std::size_t>(most));
    }
    std::vector<EquationSet::Unknown> added;
    std::vector<Recipe> recipes;
    std::vector<EquationSet::Equation> definitions;
    for (const auto& [j, own] : shares) {
      const EquationSet::Unknown& x = system_.unknowns[j];
      EquationSet::Unknown w{"", {}, {}, x.nominal};
      Recipe recipe = unknown_recipes_[j];
      for (const Share& share : own)
        add(recipe, -share.factor, unknown_recipes_[share.l], static_cast<std::size_t>(share.shift));
      w.name = unused(text_of(recipe, unknown_names_));
      recipes.push_back(std::move(recipe));
      for (std::size_t k = 0; k < x.derivatives.size(); ++k) {
        const Expr symbol = system_.graph->symbol(model::derivative_name(w.name, k));
        Expr old = symbol;
        double guess = x.guess[k];
        for (const Share& share : own) {
          const std::size_t times = k + static_cast<std::size_t>(share.shift);
          old = old + share.factor * system_.unknowns[share.l].derivatives[times];
          guess -= share.factor * system_.unknowns[share.l].guess[times];
        }
        replacement.emplace(x.derivatives[k].id(), old);
        w.derivatives.push_back(symbol);
        w.guess.push_back(guess);
      }
      definitions.push_back({std::string(definition_of) + w.name,
                             x.derivatives[0] - replacement.at(x.derivatives[0].id()),
                             {author_->source}});
      added.push_back(std::move(w));
    }

    std::vector<Expr> residuals;
    for (const EquationSet::Equation& equation : system_.equations) residuals.push_back(equation.residual);
    std::vector<Expr> replaced = expr::substitute(residuals, replacement);
    // The unknowns are there from now on; undone where it fails.
    const EquationSet before = system_;
    for (EquationSet::Unknown& unknown : added) system_.unknowns.push_back(std::move(unknown));
    // With x_j in all equations replaced, an equation contains x_l^(k) as  df/dx_l^(k) + sum v_j df/dx_j^(k - shift).
    for (std::size_t i = 0; i < residuals.size(); ++i) {
      if (replaced[i] == residuals[i]) continue;
      const auto gone = [&]() -> std::optional<std::vector<Jet>> {
        std::vector<Jet> pivot_jets;
        std::vector<Expr> symbols;
        std::vector<SampledEquations::Sum> sums;  // of derivatives by the symbols
        for (const std::size_t pivot : pivots) {
          const std::size_t l = part.columns[pivot];
          for (std::size_t k = 0; k < system_.unknowns[l].derivatives.size(); ++k) {
            pivot_jets.emplace_back(system_.unknowns[l].derivatives[k], system_.unknowns[l].guess[k]);
            sums.push_back({{symbols.size(), 1.0}});
            symbols.push_back(pivot_jets.back().first);
            for (const auto& [j, own] : shares)
              for (const Share& share : own) {
                const int times = static_cast<int>(k) - share.shift;
                if (share.l != l || times < 0 ||
                    static_cast<std::size_t>(times) >= system_.unknowns[j].derivatives.size())
                  continue;
                sums.back().emplace_back(symbols.size(), share.factor);
                symbols.push_back(system_.unknowns[j].derivatives[static_cast<std::size_t>(times)]);
              }
          }
        }
        return samples_.vanishing(pivot_jets, expr::gradient(residuals[i], symbols), sums);
      }();
      if (gone && samples_.remove(replaced[i], *gone)) continue;
      system_ = before;
      return false;
    }
    for (std::size_t i = 0; i < residuals.size(); ++i) system_.equations[i].residual = replaced[i];
    for (std::size_t k = 0; k < definitions.size(); ++k) {
      system_.equations.push_back(std::move(definitions[k]));
      unknown_recipes_.push_back(std::move(recipes[k]));
      equation_recipes_.emplace_back();
    }
    return true;
  }

  /// A name that nothing has yet.
  std::string unused(std::string name) const {
    const std::string given = name;
    const auto taken = [&] {
      return system_.graph->has_symbol(name) ||
             std::ranges::find(system_.equations, name, &EquationSet::Equation::name) != system_.equations.end();
    };
    for (int number = 2; taken(); ++number) name = fmt::format("{} #{}", given, number);
    return name;
  }

  /// The smallest offsets with at least the derivatives that the author's text contains.
  Offsets with_own_derivatives(const StructuralAnalysis& analysis) const {
    Offsets offsets = analysis.sigma->offsets;
    for (std::size_t j = 0; j < own_.size(); ++j) offsets.d[j] = std::max(offsets.d[j], static_cast<int>(own_[j]));
    const Signature& sigma = analysis.signature;
    for (bool raised = true; raised;) {
      raised = false;
      for (std::size_t i = 0; i < offsets.c.size(); ++i) {
        const std::size_t partner = analysis.sigma->transversal.column_of[i];
        for (std::size_t k = sigma.pattern.row_start[i]; k < sigma.pattern.row_start[i + 1]; ++k)
          if (sigma.pattern.column[k] == partner)
            offsets.c[i] = std::max(offsets.c[i], offsets.d[partner] - sigma.order[k]);
        for (std::size_t k = sigma.pattern.row_start[i]; k < sigma.pattern.row_start[i + 1]; ++k) {
          int& d = offsets.d[sigma.pattern.column[k]];
          if (d >= sigma.order[k] + offsets.c[i]) continue;
          d = sigma.order[k] + offsets.c[i];
          raised = true;
        }
      }
    }
    return offsets;
  }

  /// How often the author's equations are differentiated at most, as Offsets::structural_index() counts.
  int index(const Offsets& offsets) const {
    int most = 0;
    for (std::size_t i = 0; i < equation_recipes_.size(); ++i)
      for (const auto& [what, factor] : equation_recipes_[i])
        most = std::max(most, offsets.c[i] + static_cast<int>(what.second));
    return most + (std::ranges::find(offsets.d, 0) == offsets.d.end() ? 0 : 1);
  }

  Converted result(const StructuralAnalysis& analysis) {
    auto model = std::make_shared<model::Model>(*author_);
    model->kind = model::Kind::dae;
    model->equations.clear();
    for (const EquationSet::Equation& equation : system_.equations)
      model->equations.push_back(
          {equation.name, equation.residual, system_.graph->constant(0.0), equation.residual, equation.place});
    for (std::size_t j = 0; j < system_.unknowns.size(); ++j) {
      const EquationSet::Unknown& unknown = system_.unknowns[j];
      if (j >= model->variables.size()) {
        model::Unknown added;
        added.name = unknown.name;
        added.symbol = unknown.derivatives[0];
        for (const double guess : unknown.guess) {
          added.start.emplace_back();
          added.start.back().value = guess;
        }
        added.nominal = unknown.nominal;
        added.place = {author_->source};
        model->variables.push_back(std::move(added));
      }
      model->variables[j].rates.assign(unknown.derivatives.begin() + 1, unknown.derivatives.end());
    }
    Converted converted{author_, model, index(analysis.sigma->offsets), with_own_derivatives(analysis), {}, {}, {}};
    for (std::size_t i = 0; i < equation_recipes_.size(); ++i)
      if (!equation_recipes_[i].empty() && system_.equations[i].name != equation_names_[i])
        converted.equations.push_back(system_.equations[i].name);
    for (std::size_t j = unknown_names_.size(); j < system_.unknowns.size(); ++j) {
      converted.unknowns.push_back(system_.unknowns[j].name);
      for (std::size_t k = 0; k <= static_cast<std::size_t>(converted.offsets.d[j]); ++k) {
        Expr sum = system_.graph->constant(0.0);
        for (const auto& [what, factor] : unknown_recipes_[j])
          sum = sum + factor * derivative_symbol(system_.unknowns[what.first], what.second + k);
        converted.meaning.emplace(derivative_symbol(system_.unknowns[j], k).id(), sum);
      }
    }
    return converted;
  }

  std::shared_ptr<const model::Model> author_;
  EquationSet system_;
  SampledEquations samples_;
  std::vector<std::size_t> own_;  ///< how often the author differentiates each of his unknowns
  std::vector<std::size_t> place_;
  std::vector<std::string> equation_names_, unknown_names_;  ///< the author's
  std::vector<Recipe> equation_recipes_, unknown_recipes_;   ///< empty for definitions of unknowns
};

}  // namespace

std::optional<Converted> repair_structure(const std::shared_ptr<const model::Model>& author, double t,
                                          const std::unordered_map<std::string, double>& start) {
  return Repair(author, t, start)();
}

}  // namespace daedalus::structure
