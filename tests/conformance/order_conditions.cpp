// What the entries say about their tableaux, in exact arithmetic: with D a common denominator of all coefficients, the
// numbers D a_ij, D b_i, D c_i are whole, or p + q sqrt(d) with whole p and q, and every condition is an equation
// between such numbers.
#include "daedalus/integrate/order_conditions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <numeric>
#include <optional>
#include <regex>
#include <sstream>

#include "conformance/exact_numbers.hpp"
#include "daedalus/base/options.hpp"
#include "daedalus/integrate/stability.hpp"
#include "daedalus/integrate/surd.hpp"
#include "folders.hpp"

namespace daedalus::integrate {
namespace {

using test::Whole;
using test::WithRoot;

/// A tableau times a common denominator.
struct Scaled {
  long long denominator = 1;
  std::vector<std::vector<WithRoot>> a;
  std::vector<WithRoot> b, c, embedded;

  std::size_t stages() const { return b.size(); }
  WithRoot power(int exponent) const {
    WithRoot result(1);
    for (int k = 0; k < exponent; ++k) result = result * WithRoot(denominator);
    return result;
  }
};

Scaled scaled(const TableauText& text) {
  Scaled result;
  std::vector<std::vector<std::string>> all = text.a;
  all.insert(all.end(), {text.b, text.c, text.embedded});
  int root = 1;
  for (const auto& row : all)
    for (const std::string& entry : row) {
      const Surd surd = parse_surd(entry);
      result.denominator = std::lcm(result.denominator, surd.r);
      EXPECT_TRUE(root == 1 || surd.d == 1 || surd.d == root) << entry;
      root = std::max(root, surd.d);
    }
  const auto row_of = [&](const std::vector<std::string>& row) {
    std::vector<WithRoot> numbers;
    for (const std::string& entry : row) {
      const Surd surd = parse_surd(entry);
      const Whole factor(result.denominator / surd.r);
      numbers.emplace_back(factor * Whole(surd.p), factor * Whole(surd.q), surd.d);
    }
    return numbers;
  };
  for (const auto& row : text.a) {
    result.a.push_back(row_of(row));
    result.a.back().resize(text.b.size(), WithRoot(0));
  }
  result.b = row_of(text.b);
  result.c = row_of(text.c);
  result.embedded = row_of(text.embedded);
  return result;
}

/// The largest order whose conditions hold, all of them looked at up to `most`.
int exact_order(const Scaled& method, const std::vector<WithRoot>& weights, int most) {
  const std::vector<RootedTree> trees = rooted_trees(most);
  const std::vector<WithRoot> values = elementary_weights(trees, method.a, weights);
  for (std::size_t k = 0; k < trees.size(); ++k) {
    if (!(WithRoot(trees[k].density) * values[k] == method.power(trees[k].order))) return trees[k].order - 1;
  }
  return most;
}

/// c_i^k
WithRoot node_power(const Scaled& method, std::size_t i, int k) {
  WithRoot result(1);
  for (int j = 0; j < k; ++j) result = result * method.c[i];
  return result;
}

// The simplifying assumptions of J. C. Butcher: the largest p, q, r for which B(p), C(q), D(r) hold.

int largest_b(const Scaled& method) {
  for (int k = 1;; ++k) {
    WithRoot sum(0);
    for (std::size_t i = 0; i < method.stages(); ++i) sum = sum + method.b[i] * node_power(method, i, k - 1);
    if (!(WithRoot(k) * sum == method.power(k))) return k - 1;
  }
}

int largest_c(const Scaled& method) {
  for (int k = 1;; ++k)
    for (std::size_t i = 0; i < method.stages(); ++i) {
      WithRoot sum(0);
      for (std::size_t j = 0; j < method.stages(); ++j) sum = sum + method.a[i][j] * node_power(method, j, k - 1);
      if (!(WithRoot(k) * sum == node_power(method, i, k))) return k - 1;
    }
}

int largest_d(const Scaled& method) {
  for (int k = 1;; ++k)
    for (std::size_t j = 0; j < method.stages(); ++j) {
      WithRoot sum(0);
      for (std::size_t i = 0; i < method.stages(); ++i)
        sum = sum + method.b[i] * node_power(method, i, k - 1) * method.a[i][j];
      if (!(WithRoot(k) * sum == method.b[j] * (method.power(k) - node_power(method, j, k)))) return k - 1;
    }
}

/// b_i a_ij + b_j a_ji = b_i b_j for all i and j: quadratic invariants are kept.
bool is_symplectic(const Scaled& m) {
  for (std::size_t i = 0; i < m.stages(); ++i)
    for (std::size_t j = 0; j < m.stages(); ++j)
      if (!(m.b[i] * m.a[i][j] + m.b[j] * m.a[j][i] == m.b[i] * m.b[j])) return false;
  return true;
}

/// a_ij + a_(s+1-i)(s+1-j) = b_j for all i and j.
bool is_symmetric(const Scaled& m) {
  const std::size_t last = m.stages() - 1;
  for (std::size_t i = 0; i <= last; ++i)
    for (std::size_t j = 0; j <= last; ++j)
      if (!(m.a[i][j] + m.a[last - i][last - j] == m.b[j])) return false;
  return true;
}

bool is_stiffly_accurate(const Scaled& m) { return m.a.back() == m.b; }

class Tableaux : public testing::TestWithParam<std::string> {
 protected:
  const IntegratorEntry& method() const { return integrator(GetParam()); }
  const Tableau& tableau() const { return *method().tableau; }
  bool exact() const { return !tableau().text.b.empty(); }
};

TEST_P(Tableaux, OrderIsExactlyTheDeclaredOne) {
  if (!exact()) GTEST_SKIP() << "decimal coefficients: see DecimalCoefficients";
  const Scaled method_ = scaled(tableau().text);
  EXPECT_EQ(exact_order(method_, method_.b, method().order + 1), method().order);
  if (!tableau().embedded.empty()) {
    const int embedded = exact_order(method_, method_.embedded, method().order + 1);
    EXPECT_GE(embedded, 1);
    EXPECT_LT(embedded, method().order);
    if (!method().implicit) {
      EXPECT_EQ(embedded + 1, method().estimate_order);
    }
  }
}

TEST_P(Tableaux, NodesAreRowSums) {
  if (exact()) {
    const Scaled method_ = scaled(tableau().text);
    for (std::size_t i = 0; i < method_.stages(); ++i) {
      WithRoot sum(0);
      for (const WithRoot& entry : method_.a[i]) sum = sum + entry;
      EXPECT_EQ(sum, method_.c[i]) << "row " << i;
    }
  }
  for (std::size_t i = 0; i < tableau().b.size(); ++i) {
    double sum = 0.0, size = 1.0;
    for (const double entry : tableau().a[i]) {
      sum += entry;
      size += std::abs(entry);
    }
    // Each term and each partial sum is rounded once.
    EXPECT_NEAR(sum, tableau().c[i], 16.0 * 1.1e-16 * size) << "row " << i;
  }
}

TEST_P(Tableaux, NumbersAreTheExactOnesRounded) {
  if (!exact()) GTEST_SKIP() << "decimal coefficients";
  const Tableau again = exact_tableau(tableau().text);
  EXPECT_EQ(tableau().a, again.a);
  EXPECT_EQ(tableau().b, again.b);
  EXPECT_EQ(tableau().c, again.c);
  EXPECT_EQ(tableau().embedded, again.embedded);
}

TEST_P(Tableaux, StructureIsAsDeclared) {
  if (!exact()) GTEST_SKIP() << "decimal coefficients";
  const Scaled method_ = scaled(tableau().text);
  EXPECT_EQ(is_symplectic(method_), has_property(method(), "symplectic"));
  EXPECT_EQ(is_symmetric(method_), has_property(method(), "symmetric"));
  if (method().implicit) {
    EXPECT_EQ(is_stiffly_accurate(method_), has_property(method(), "stiffly accurate"));
  }
}

// A-stable: |R| <= 1 on the imaginary axis and no pole on the left of it; then |R| <= 1 in the whole left half plane by
// the maximum principle. L-stable: R tends to 0 as well.
TEST_P(Tableaux, StabilityIsAsDeclared) {
  bool bounded = stability_at_infinity(tableau()) <= 1.0 + 1e-6;
  for (double y = 1e-3; y < 1e7 && bounded; y *= 1.01) {
    // Symplectic and symmetric methods have |R| = 1 on the axis, computed with a condition that grows with the
    // coefficients only: round-off of some hundred operations.
    bounded = std::abs(stability_function(tableau(), {0.0, y})) <= 1.0 + 1e-12;
  }
  for (double r = 1e-2; r < 1e4 && bounded; r *= 1.05)
    for (double angle = 1.5708; angle <= 3.1416 && bounded; angle += 0.02)
      bounded = std::abs(stability_function(tableau(), std::polar(r, angle))) <= 1.0 + 1e-12;
  EXPECT_EQ(bounded, has_property(method(), "A-stable"));
  EXPECT_EQ(bounded && stability_at_infinity(tableau()) < 1e-6, has_property(method(), "L-stable"));
}

TEST_P(Tableaux, RadiusOfTheStiffnessDetectorIsNearTheEdgeOfTheRegion) {
  if (method().implicit || method().stability_radius == 0.0) GTEST_SKIP() << "no detector";
  const double edge = stability_interval(tableau(), -1.0);
  EXPECT_NEAR(method().stability_radius, edge, 0.05 * edge);
}

// R(z) = exp(z) + O(z^(p+1)): the stability function agrees with the order, from an independent computation.
TEST_P(Tableaux, StabilityFunctionIsNearTheExponential) {
  const double z = 0.05;
  const double error = std::abs(stability_function(tableau(), -z) - std::exp(-z));
  // The error constant of a method with positive coefficients is at most that of the Taylor polynomial, times a modest
  // factor.
  EXPECT_LT(error, 2.0 * std::pow(z, method().order + 1) / std::tgamma(method().order + 2) + 1e-15);
}

std::vector<std::string> names() {
  std::vector<std::string> result;
  for (const IntegratorEntry& entry : integrators())
    if (entry.tableau) result.push_back(entry.name);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Table, Tableaux, testing::ValuesIn(names()), [](const auto& instance) {
  std::string name = instance.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(RootedTrees, AreAsManyAsCayleyCounted) {
  std::vector<int> count(10, 0);
  for (const RootedTree& tree : rooted_trees(9)) ++count[static_cast<std::size_t>(tree.order)];
  EXPECT_EQ(count, (std::vector<int>{0, 1, 1, 2, 4, 9, 20, 48, 115, 286}));
}

// n!/gamma(t) counts labellings that ascend from the root and is whole; the tall tree has the density n!, the bush n.
TEST(RootedTrees, DensitiesOfTallTreesAndBushes) {
  long long factorial = 1;
  const std::vector<RootedTree> trees = rooted_trees(8);
  for (int order = 1; order <= 8; ++order) {
    factorial *= order;
    long long largest = 0, least = factorial;
    for (const RootedTree& tree : trees) {
      if (tree.order != order) continue;
      largest = std::max(largest, tree.density);
      least = std::min(least, tree.density);
      EXPECT_EQ(factorial % tree.density, 0);
    }
    EXPECT_EQ(largest, factorial);
    EXPECT_EQ(least, order);
  }
}

struct Family {
  std::string name;
  int b, c, d;
};

// The families by their simplifying assumptions: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd
// ed., table IV.5.13; Lobatto IIIC*: L. Jay, BIT 38 (1998).
TEST(Collocation, SimplifyingAssumptionsHoldExactlySoFar) {
  const std::vector<Family> families{{"implicit-midpoint", 2, 1, 1}, {"gauss4", 4, 2, 2},     {"gauss6", 6, 3, 3},
                                     {"implicit-euler", 1, 1, 0},    {"radau2a5", 5, 3, 2},   {"radau1a5", 5, 2, 3},
                                     {"crank-nicolson", 2, 2, 0},    {"lobatto3a4", 4, 3, 1}, {"lobatto3b4", 4, 1, 3},
                                     {"lobatto3c4", 4, 2, 2},        {"lobatto3cs4", 4, 2, 2}};
  for (const Family& family : families) {
    SCOPED_TRACE(family.name);
    if (std::ranges::find(integrators(), family.name, &IntegratorEntry::name) == integrators().end()) {
      ADD_FAILURE() << "not in the table";
      continue;
    }
    const Scaled method = scaled(integrator(family.name).tableau->text);
    EXPECT_EQ(largest_b(method), family.b);
    EXPECT_EQ(largest_c(method), family.c);
    EXPECT_EQ(largest_d(method), family.d);
  }
}

// The printed tableaux that are wrong are wrong: with c3 = 1/3 Heun's third row does not sum up, and with b3 divided by
// alpha the weights of (1.32) do not add up to 1.
TEST(Misprints, PrintedHeunAndPrintedFamilyFail) {
  Scaled heun = scaled({.a = {{}, {"1/3"}, {"0", "2/3"}}, .b = {"1/4", "0", "3/4"}, .c = {"0", "1/3", "1/3"}});
  WithRoot sum(0);  // sum b c must be 1/2
  for (std::size_t i = 0; i < 3; ++i) sum = sum + heun.b[i] * heun.c[i];
  EXPECT_FALSE(WithRoot(2) * sum == heun.power(2));
  const Scaled family =
      scaled({.a = {{}, {"1/4"}, {"-7/5", "12/5"}}, .b = {"-1/6", "8/9", "10/9"}, .c = {"0", "1/4", "1"}});
  EXPECT_EQ(exact_order(family, family.b, 3), 0);
}

// The families with options, at values of the option that are fractions of two powers: all products are exact in the
// sense of round-off 1e-15.
TEST(Options, FamiliesKeepTheirOrderForEveryAlpha) {
  for (const auto& [name, order] : {std::pair{"rk2", 2}, std::pair{"rk3-family", 3}}) {
    for (const double alpha : {-1.5, -0.25, 0.25, 0.4, 0.75, 1.5, 3.0}) {
      const IntegratorEntry& entry = integrator(name);
      // One step of x' = x^2 + t from (0, 1) shows all trees of order 3 and the nodes.
      const auto step = [&](double h) {
        System system;
        system.dimension = 1;
        system.ode = [](double t, const double* x, double* dx) {
          dx[0] = x[0] * x[0] + t;
          return Evaluation::ok;
        };
        const auto stepper =
            entry.make(system, daedalus::Options(Choice{name, {{"alpha", std::to_string(alpha)}}}, entry.options));
        const double start = 1.0;
        stepper->start(0.0, &start);
        stepper->attempt(h, nullptr);
        return stepper->candidate()[0];
      };
      // Taylor: x' = 1, x'' = 2 x x' + 1 = 3, x''' = 2 x'^2 + 2 x x'' = 8, x'''' = 6 x' x'' + 2 x x''' = 34 at the
      // start.
      const auto exact = [&](double h) { return 1.0 + h + 1.5 * h * h + (order == 3 ? 8.0 / 6.0 * h * h * h : 0.0); };
      // The difference is O(h^(order+1)): halving h divides it by about 2^(order+1), up to a tenth for h = 1e-2.
      const double h = 1e-2, coarse = step(h) - exact(h), fine = step(h / 2) - exact(h / 2);
      if (order == 2 && std::abs(coarse) < 1e-12) continue;
      EXPECT_GT(std::abs(coarse / fine), std::pow(2.0, order + 1) * 0.75) << name << " alpha " << alpha;
    }
  }
}

TEST(Options, ExcludedValuesAreRefused) {
  System system;
  system.dimension = 1;
  system.ode = [](double, const double*, double* dx) {
    dx[0] = 0.0;
    return Evaluation::ok;
  };
  const auto refused = [&](const std::string& name, const std::string& alpha) {
    const IntegratorEntry& entry = integrator(name);
    try {
      entry.make(system, daedalus::Options(Choice{name, {{"alpha", alpha}}}, entry.options));
      return false;
    } catch (const Error& error) {
      return error.faults()[0].code == "bad-option-value" &&
             error.faults()[0].message.find("'alpha'") != std::string::npos;
    }
  };
  EXPECT_TRUE(refused("rk2", "0"));
  EXPECT_TRUE(refused("rk3-family", "0"));
  EXPECT_TRUE(refused("rk3-family", "1"));
  EXPECT_TRUE(refused("rk3-family", "0.6666666666666666"));
  EXPECT_FALSE(refused("rk3-family", "0.6"));
}

// The decimal coefficients of DOP853, as written in the source with 30 digits, in arithmetic of 34 digits.
using Quadruple = __float128;

Quadruple parse_quadruple(const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string::npos)
    return parse_quadruple(text.substr(0, slash)) / parse_quadruple(text.substr(slash + 1));
  Quadruple mantissa = 0;
  int exponent = 0;
  bool fraction = false, negative = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '-') negative = true;
    if (c == '.') fraction = true;
    if (c == 'e') {
      exponent += std::stoi(text.substr(i + 1));
      break;
    }
    if (c < '0' || c > '9') continue;
    mantissa = mantissa * 10 + (c - '0');
    if (fraction) --exponent;
  }
  Quadruple scale = 1;
  for (int k = 0; k < std::abs(exponent); ++k) scale *= 10;
  const Quadruple size = exponent < 0 ? mantissa / scale : mantissa * scale;
  return negative ? -size : size;
}

TEST(DecimalCoefficients, Dop853SatisfiesOrder8To30Digits) {
  std::ifstream file(tests::source_folder() + "/src/daedalus/integrate/methods/dop853_coefficients.hpp");
  std::stringstream stream;
  stream << file.rdbuf();
  const std::string source = std::regex_replace(stream.str(), std::regex(R"(\s+)"), "");
  const auto terms = [&](const std::string& name) {
    const std::size_t begin = source.find("array" + name + "{"), end = source.find("};", begin);
    EXPECT_NE(begin, std::string::npos) << name;
    const std::string row = source.substr(begin, end - begin);
    std::vector<Quadruple> weights(12, 0);
    static const std::regex term(R"(Term\{(\d+),([-0-9.e/]+)\})");
    std::size_t count = 0;
    for (std::sregex_iterator it(row.begin(), row.end(), term), last; it != last; ++it, ++count)
      weights[static_cast<std::size_t>(std::stoi((*it)[1])) - 1] = parse_quadruple((*it)[2]);
    EXPECT_GT(count, 0U) << name;
    return weights;
  };
  const Tableau& tableau = *integrator("dop853").tableau;
  std::vector<std::vector<Quadruple>> a(12), sizes_a(12);
  std::vector<Quadruple> b = terms("weights"), sizes_b;
  const auto modulus = [](Quadruple x) { return x < 0 ? -x : x; };
  for (std::size_t i = 1; i < 12; ++i) {
    a[i] = terms("stage" + std::to_string(i + 1));
    a[i].resize(i);
    for (std::size_t j = 0; j < i; ++j) ASSERT_EQ(static_cast<double>(a[i][j]), tableau.a[i][j]) << i << ' ' << j;
    for (const Quadruple entry : a[i]) sizes_a[i].push_back(modulus(entry));
  }
  for (std::size_t i = 0; i < 12; ++i) {
    ASSERT_EQ(static_cast<double>(b[i]), tableau.b[i]);
    sizes_b.push_back(modulus(b[i]));
  }
  const std::vector<RootedTree> trees = rooted_trees(9);
  const std::vector<Quadruple> weights = elementary_weights(trees, a, b),
                               sizes = elementary_weights(trees, sizes_a, sizes_b);
  Quadruple worst = 0;
  bool order_9_fails = false;
  for (std::size_t k = 0; k < trees.size(); ++k) {
    const Quadruple residual = modulus(weights[k] - Quadruple(1) / Quadruple(trees[k].density));
    if (trees[k].order > 8) {
      order_9_fails = order_9_fails || residual > Quadruple(1e-6);
      continue;
    }
    // Each of the `order` factors of a term is off by half a unit of its 30th digit, at most 5e-30 of itself.
    EXPECT_LE(static_cast<double>(residual / sizes[k]), 5e-30 * trees[k].order) << k;
    worst = std::max(worst, residual);
  }
  RecordProperty("largest_residual", std::to_string(static_cast<double>(worst)));
  EXPECT_TRUE(order_9_fails);
}

}  // namespace
}  // namespace daedalus::integrate
