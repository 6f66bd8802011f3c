// Pencils of the notes 000 and of models/reference/linear.json, without rounding and with it.
#include "daedalus/structure/exact_pencil.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "daedalus/linalg/elimination.hpp"
#include "daedalus/structure/consistent_manifold.hpp"
#include "daedalus/structure/gauss_like.hpp"
#include "daedalus/structure/jordan_form.hpp"
#include "daedalus/structure/minimal_basis.hpp"
#include "folders.hpp"
#include "unit/structure/random_pencil.hpp"

namespace daedalus::structure {
namespace {

using Sizes = std::vector<std::size_t>;

nlohmann::json reference() {
  return nlohmann::json::parse(std::ifstream(tests::source_folder() + "/models/reference/linear.json"));
}

/// R1 to R7.
nlohmann::json problems() {
  nlohmann::json all = reference()["random_pencils"]["problems"];
  EXPECT_EQ(all.size(), 7u);
  return all;
}

DenseMatrix matrix(const nlohmann::json& rows) {
  DenseMatrix result = DenseMatrix::zero(rows.size(), rows[0].size());
  for (std::size_t i = 0; i < result.rows; ++i)
    for (std::size_t j = 0; j < result.columns; ++j)
      result(i, j) = rows[i][j].is_string() ? std::stod(rows[i][j].get<std::string>()) : rows[i][j].get<double>();
  return result;
}
Pencil pencil(const nlohmann::json& problem) { return {matrix(problem["E"]), matrix(problem["A"])}; }
RationalPencil exact(const Pencil& of) { return short_rational(of).value(); }

/// "-1+-2i", "0+-3i", "1/2"
std::vector<std::complex<double>> spectrum(const nlohmann::json& problem) {
  std::vector<std::complex<double>> values;
  for (const auto& one : problem["finite_spectrum"]) {
    const std::string text = one["lambda"];
    const std::size_t pair = text.find("+-");
    const double real = Rational(text.substr(0, pair)).value();
    const double imaginary = pair == std::string::npos ? 0.0 : std::stod(text.substr(pair + 2));
    for (int k = 0; k < one["jordan"].get<int>(); ++k)
      for (const double sign : imaginary == 0.0 ? std::vector<double>{1.0} : std::vector<double>{-1.0, 1.0})
        values.emplace_back(real, sign * imaginary);
  }
  std::sort(values.begin(), values.end(), [](const auto& a, const auto& b) {
    return a.real() != b.real() ? a.real() < b.real() : a.imag() < b.imag();
  });
  return values;
}

TEST(ExactPencil, StructureOfTheReference) {
  for (const auto& problem : problems()) {
    SCOPED_TRACE(problem["name"].get<std::string>());
    const Pencil given = pencil(problem);
    for (const KroneckerStructure& found : {exact_structure(exact(given)), kronecker_structure(given)}) {
      SCOPED_TRACE(found.exact ? "exact" : "rounded");
      EXPECT_TRUE(found.decided && found.regular);
      EXPECT_EQ(found.index, problem["index"].get<int>());
      EXPECT_EQ(found.nilpotent_blocks, problem["nilpotent_blocks"].get<Sizes>());
      const auto expected = spectrum(problem);
      ASSERT_EQ(found.spectrum().size(), expected.size());
      // Exact: the last digits of double. Rounded: what the structure itself says.
      for (std::size_t k = 0; k < expected.size(); ++k) {
        double least = 1e300, bound = 0.0;
        for (const FiniteEigenvalue& one : found.finite)
          if (const double distance = std::abs(one.value - expected[k]); distance < least)
            least = distance, bound = one.error;
        EXPECT_LE(least, found.exact ? 1e-15 * std::abs(expected[k]) : 2.0 * bound + 1e-14) << expected[k];
      }
    }
  }
}

TEST(ExactPencil, WeierstrassFormsOfTheReferenceHoldExactly) {
  for (const auto& problem : problems()) {
    SCOPED_TRACE(problem["name"].get<std::string>());
    const RationalPencil given = exact(pencil(problem));
    const std::size_t n = given.rows();
    const auto form = exact_weierstrass(given);
    ASSERT_TRUE(form);
    EXPECT_EQ(form->index, problem["index"].get<int>());
    EXPECT_EQ(form->infinite, problem["n1"].get<std::size_t>());
    RationalMatrix e = RationalMatrix::identity(n), a = e;
    e.set_block(form->finite, form->finite, form->N);
    a.set_block(0, 0, form->J);
    EXPECT_EQ(form->L * given.E * form->R, e);
    EXPECT_EQ(form->L * given.A * form->R, a);

    const auto construction = jordan_construction(given);
    ASSERT_TRUE(construction);
    RationalMatrix left = RationalMatrix::identity(n), right = left;
    left.set_block(0, 0, construction->N);
    right.set_block(form->infinite, form->infinite, construction->J);
    EXPECT_EQ(construction->P * given.E * construction->Q, left);
    EXPECT_EQ(construction->P * given.A * construction->Q, right);
    EXPECT_TRUE(construction->nilpotent.canonical() && construction->finite.canonical());
    Sizes blocks;
    for (const auto& block : construction->nilpotent.blocks) blocks.push_back(block.size);
    EXPECT_EQ(blocks, problem["nilpotent_blocks"].get<Sizes>());
    // det(A - lambda E) at a number where it was not made.
    const Rational at(7, 3);
    const auto p = linalg::characteristic_polynomial(given.A - at * given.E);
    EXPECT_EQ(linalg::evaluated(construction->determinant, at), n % 2 == 0 ? p.front() : -p.front());
  }
}

TEST(ExactPencil, EntriesThatWereRoundedAreNoFractions) {
  // Nine digits of a dense pencil: as fractions they are an ODE with eigenvalues of 1e9.
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    testing::KnownPencil known = testing::random_regular_pencil(seed, 0.0);
    if (known.pencil.rows() > most_exact || known.nilpotent_blocks.empty()) continue;
    for (DenseMatrix* m : {&known.pencil.E, &known.pencil.A})
      for (double& entry : m->entries) entry = std::stod(fmt::format("{:.8e}", entry));
    EXPECT_FALSE(short_rational(known.pencil)) << seed;
    const KroneckerStructure found = structure_of(known.pencil);
    EXPECT_TRUE(!found.decided || found.nilpotent_blocks == known.nilpotent_blocks) << seed;
  }
  // The same digits, where the ranks are clear without them.
  EXPECT_TRUE(short_rational(Pencil{{2, 2, {1.23456789, 0, 0, 0}}, {2, 2, {-0.987654321, 1.122334455, 0.1357924681, 1.5}}}));
}

TEST(GaussLike, IndexIsTheNumberOfShifts) {
  for (const auto& problem : problems()) {
    SCOPED_TRACE(problem["name"].get<std::string>());
    const RationalPencil given = exact(pencil(problem));
    const GaussLikeReduction<Rational> reduction = gauss_like_reduction(given);
    EXPECT_TRUE(reduction.regular);
    EXPECT_EQ(reduction.index(), problem["index"].get<int>());
    EXPECT_EQ(reduction.derivatives, problem["index"].get<std::size_t>());
    // Every solution of the DAE solves the ODE at the end: x' = M x + sum_k F_k f^(k). With f = 0 those are the finite
    // part alone, x1' = J x1 and x = R1 x1, so that M R1 = R1 J. With x1 = 0 and f = L^-1 (0, w) t^k/k! for any w, the
    // unknowns are x = -R2 (w t^k/k! + N w t^(k-1)/(k-1)! + ...); at t = 0 x' and x are -R2 N^(k-1) w and -R2 N^k w.
    const auto form = exact_weierstrass(given);
    const std::size_t n = form->n, nf = form->finite, ni = form->infinite;
    const RationalMatrix R1 = form->R.block(0, 0, n, nf), R2 = form->R.block(0, nf, n, ni);
    EXPECT_EQ(reduction.ode * R1, R1 * form->J);
    const RationalMatrix L2 = linalg::inverse(form->L)->block(0, nf, n, ni);
    RationalMatrix power = RationalMatrix::identity(ni);  // N^(k-1)
    for (std::size_t k = 1; k <= reduction.derivatives; ++k, power = power * form->N) {
      RationalMatrix F = RationalMatrix::zero(n, n);
      for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n && k < reduction.ode_forcing[i].rows; ++j)
          F(i, j) = reduction.ode_forcing[i](k, j);
      EXPECT_EQ(Rational(-1) * (R2 * power), Rational(-1) * (reduction.ode * R2 * power * form->N) + F * L2);
    }
  }
}

TEST(GaussLike, TheRankNeedNotGrow) {
  const Pencil given{{2, 2, {1, 0, 0, 0}}, {2, 2, {0, 1, 1, 0}}};
  const GaussLikeReduction<Rational> reduction = gauss_like_reduction(exact(given));
  EXPECT_TRUE(reduction.regular);
  ASSERT_EQ(reduction.steps.size(), 3u);
  EXPECT_EQ(reduction.steps[0].rank, 1u);
  EXPECT_EQ(reduction.steps[1].rank, 1u);
  EXPECT_EQ(reduction.steps[2].rank, 2u);
  EXPECT_EQ(gauss_like_reduction(given, 1e-12).index(), 2);
}

TEST(GaussLike, Example5AsPrinted) {
  const RationalMatrix M = *linalg::short_rational(DenseMatrix{3, 4, {0, 0, 1, 0, 0, 2, 0, 0, 0, 4, 2, 0}});
  const Diagonalization<Rational> d = diagonalized(M);
  EXPECT_EQ(d.rank, 2u);
  EXPECT_EQ(d.L * M * d.U, d.form);
  EXPECT_EQ(linalg::rounded(d.form), (DenseMatrix{3, 4, {2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}}));
}

TEST(GaussLike, SingularPencilsEndWithTheirCondition) {
  const Pencil example1{{2, 2, {1, 0, 0, 0}}, {2, 2, {0, 1, 0, 0}}};
  const GaussLikeReduction<Rational> first = gauss_like_reduction(exact(example1));
  EXPECT_FALSE(first.regular);
  ASSERT_EQ(first.conditions.size(), 1u);  // 0 = f2
  EXPECT_EQ(first.conditions[0](0, 1), Rational(1));
  const Pencil example2 = pencil(reference()["example2"]);
  EXPECT_FALSE(gauss_like_reduction(exact(example2)).regular);
}

TEST(GaussLike, PencilsThatAreNotSquare) {
  // Example 5 of the notes with A = 0: the first elimination is the printed one, and a row with nothing but f remains.
  const Pencil example5{{3, 4, {0, 0, 1, 0, 0, 2, 0, 0, 0, 4, 2, 0}}, DenseMatrix::zero(3, 4)};
  const GaussLikeReduction<Rational> tall = gauss_like_reduction(exact(example5));
  EXPECT_FALSE(tall.regular);
  ASSERT_EQ(tall.steps.size(), 1u);
  EXPECT_EQ(linalg::rounded(tall.steps[0].after.E), (DenseMatrix{3, 4, {2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}}));
  ASSERT_EQ(tall.conditions.size(), 1u);  // 2 f1 + 2 f2 - f3 = 0
  const Rational scale = tall.conditions[0](0, 0) / Rational(2);
  EXPECT_EQ(tall.conditions[0](0, 1), scale * Rational(2));
  EXPECT_EQ(tall.conditions[0](0, 2), -scale);
  // x1' = x2, 0 = x1 + f2 for three unknowns: after a shift every row has a derivative, and x3 is free.
  const Pencil wide{{2, 3, {1, 0, 0, 0, 0, 0}}, {2, 3, {0, 1, 0, 1, 0, 0}}};
  const GaussLikeReduction<Rational> few = gauss_like_reduction(exact(wide));
  EXPECT_FALSE(few.regular);
  EXPECT_TRUE(few.conditions.empty());
  EXPECT_EQ(few.steps.back().rank, 2u);
}

TEST(Manifold, Example6IsOnePoint) {
  const RationalPencil given = exact(pencil(reference()["example6"]));
  const auto form = exact_weierstrass(given);
  ASSERT_TRUE(form);
  EXPECT_EQ(form->finite, 0u);
  const auto equations = consistent_manifold(*form);
  ASSERT_EQ(equations.size(), 3u);
  // x1 = -cos t - t/2 + sin(t)/2 - t^3/2 with f = (t, t^3, sin t): x1 + f1/2 + f2/2 - f3/2 + f3' = 0.
  EXPECT_EQ(equations[0].pivot, 0u);
  const auto text = [&](std::size_t i) {
    std::string all;
    for (const Rational& c : equations[i].forcing.entries) all += c.text() + " ";
    return all;
  };
  EXPECT_EQ(text(0), "1/2 1/2 -1/2 0 0 1 ");
  EXPECT_EQ(text(1), "-1/2 1/2 1/2 0 0 0 ");
  EXPECT_EQ(text(2), "0 -1 1 0 0 -1 ");
}

TEST(Manifold, HoldsAtTheStartsOfTheReference) {
  for (const auto& problem : problems()) {
    SCOPED_TRACE(problem["name"].get<std::string>());
    const RationalPencil given = exact(pencil(problem));
    const auto form = exact_weierstrass(given);
    const auto equations = consistent_manifold(*form);
    EXPECT_EQ(given.rows() - equations.size(), problem["consistent_manifold_dimension"].get<std::size_t>());
    // Derivatives at 0 of 1, t, t^2, t^3, sin t, cos t, exp(-t).
    const std::vector<std::vector<long>> basis{{1, 0, 0, 0},  {0, 1, 0, 0},  {0, 0, 2, 0},  {0, 0, 0, 6},
                                               {0, 1, 0, -1}, {1, 0, -1, 0}, {1, -1, 1, -1}};
    for (const auto& equation : equations) {
      Rational sum;
      for (std::size_t j = 0; j < given.columns(); ++j)
        sum += equation.unknowns[j] * Rational(problem["x0"][j].get<std::string>());
      for (std::size_t k = 0; k < equation.forcing.rows; ++k)
        for (std::size_t i = 0; i < given.rows(); ++i)
          for (std::size_t b = 0; b < basis.size(); ++b)
            sum += equation.forcing(k, i) * Rational(basis[b][k]) *
                   *linalg::short_rational(std::stod(problem["f_coefficients"][i][b].get<std::string>()));
      EXPECT_EQ(sum, Rational());
    }
  }
}

TEST(MinimalBasis, ExamplesOfTheNotes) {
  const RationalPencil one = exact(pencil(reference()["example1"])), two = exact(pencil(reference()["example2"]));
  const KroneckerStructure first = exact_structure(one), second = exact_structure(two);
  EXPECT_FALSE(first.regular);
  EXPECT_EQ(first.column_minimal_indices, (Sizes{1}));
  EXPECT_EQ(first.row_minimal_indices, (Sizes{0}));
  EXPECT_FALSE(second.regular);
  EXPECT_EQ(second.column_minimal_indices, (Sizes{0}));
  EXPECT_EQ(second.row_minimal_indices, (Sizes{2}));
  const auto free = right_minimal_basis(one, {1});
  ASSERT_EQ(free.size(), 1u);  // (1, lambda)
  EXPECT_EQ(linalg::rounded(free[0]), (DenseMatrix{2, 2, {1, 0, 0, 1}}));
  // (4 lambda^2, -2 lambda (1 - lambda), 1 - lambda), up to a factor
  const auto condition = left_minimal_basis(two, {2});
  ASSERT_EQ(condition.size(), 1u);
  const Rational factor = Rational(1) / condition[0](0, 2);
  EXPECT_EQ(linalg::rounded(factor * condition[0]), (DenseMatrix{3, 3, {0, 0, 1, 0, -2, -1, 4, 2, 0}}));
}

TEST(JordanForm, ChainsPairsAndWhatHasNone) {
  // Jordan blocks 2 and 1 of 3, a pair 1 +- 2i, and the companion matrix of x^2 - 2, behind a change of basis.
  RationalMatrix J = RationalMatrix::zero(7, 7);
  for (std::size_t i = 0; i < 3; ++i) J(i, i) = 3;
  J(0, 1) = 1;
  J(3, 3) = J(4, 4) = 1;
  J(3, 4) = -2;
  J(4, 3) = 2;
  J(5, 6) = 2;
  J(6, 5) = 1;
  RationalMatrix T = RationalMatrix::identity(7);
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t j = 0; j < i; ++j) T(i, j) = Rational(static_cast<long>((3 * i + 5 * j) % 4) - 1);
  const RationalMatrix M = T * J * *linalg::inverse(T);
  const JordanForm form = jordan_form(M);
  EXPECT_EQ(M * form.T, form.T * form.J);
  EXPECT_FALSE(form.canonical());
  ASSERT_EQ(form.blocks.size(), 4u);
  EXPECT_EQ(form.blocks[0].size, 2u);
  EXPECT_EQ(form.blocks[1].size, 1u);
  EXPECT_EQ(form.J(0, 1), Rational(1));
  EXPECT_EQ(form.J(0, 0), Rational(3));
}

}  // namespace
}  // namespace daedalus::structure
