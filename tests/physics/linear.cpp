// Linear DAEs with constant coefficients: the formula for the solution beside references, exact solutions and other methods.

#include <fmt/format.h>

#include <numbers>
#include <random>

#include "daedalus/base/error.hpp"
#include "daedalus/base/processor_time.hpp"
#include "daedalus/solve/analysis.hpp"
#include "daedalus/structure/linear_solution.hpp"
#include "physics/reference.hpp"

namespace daedalus::tests {
namespace {

solve::Trajectory run(const solve::Prepared& prepared, std::vector<double> at, const std::string& method = "auto", double rtol = 1e-6) {
  solve::RunOptions options;
  options.t_end = at.back();
  options.at = std::move(at);
  options.method = method;
  options.rtol = rtol;
  return solve::simulate(prepared, options);
}

double error_beside(const solve::Trajectory& run, std::size_t row, const Json& x) {
  double worst = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = number(x[i]);
    worst = std::max(worst, std::abs(run.value(row, run.column(fmt::format("x{}", i + 1))) - exact) / (1.0 + std::abs(exact)));
  }
  return worst;
}

std::string bound_of(const solve::Trajectory& run) {
  for (const std::string& note : run.notes)
    if (note.starts_with("error bound ")) return note.substr(12, note.find(' ', 12) - 12);
  return {};
}

// The references carry 25 digits and the inputs are exact doubles, so that what is left is the rounding of the result.
TEST(Linear, PencilsOfTheReference) {
  for (const Json& problem : reference("linear")["random_pencils"]["problems"]) {
    std::string name = problem["name"];
    name[0] = 'r';
    const solve::Trajectory found = run(prepared("linear/" + name), {1.0, 2.0});
    ASSERT_TRUE(found.success()) << name << found.message;
    EXPECT_EQ(found.method, "exact");
    EXPECT_LT(error_beside(found, 0, problem["x(1)"]), 1e-15) << name;
    EXPECT_LT(error_beside(found, 1, problem["x(2)"]), 1e-15) << name;
    EXPECT_TRUE(found.moved.empty()) << name;
    const std::string bound = bound_of(found);
    ASSERT_FALSE(bound.empty()) << name;
    EXPECT_LT(std::stod(bound), 1e-11) << name;
  }
}

TEST(Linear, Example6HasOneConsistentPointAtEveryTime) {
  const Json example = reference("linear")["example6"];
  std::vector<double> at;
  for (const Json& row : example["values"]) at.push_back(number(row["t"]));
  const solve::Trajectory found = run(prepared("linear/example6"), at);
  for (std::size_t k = 0; k < at.size(); ++k) EXPECT_LT(error_beside(found, k, example["values"][k]["x"]), 1e-15);
  // Another start is moved to the only one there is.
  model::Overrides overrides;
  overrides.set = {{"x1", "5"}};
  const solve::Prepared moved = prepared("linear/example6", overrides);
  const solve::Start start = solve::consistent_start(moved, 0.0, solve::Initialize::project);
  ASSERT_EQ(start.moved.size(), 1u);
  EXPECT_NEAR(start.moved[0].by, -6.0, 1e-14);
}

TEST(Linear, Example3IsMadeOfFAndItsDerivatives) {
  // N x' = x + f from the last row up: x3 = -exp(-t), x2 = 2 x3' - sin t, x1 = x2' + 3 x3' - t^2.
  const std::vector<double> at{0.0, 0.3, 1.0, 7.5};
  const solve::Trajectory found = run(prepared("linear/example3"), at);
  ASSERT_TRUE(found.success()) << found.message;
  EXPECT_EQ(found.method, "exact");
  for (std::size_t k = 0; k < at.size(); ++k) {
    const double t = at[k], decay = std::exp(-t);
    EXPECT_NEAR(found.value(k, found.column("x1")), decay - std::cos(t) - t * t, 4e-15 * (1.0 + t * t));
    EXPECT_NEAR(found.value(k, found.column("x2")), 2.0 * decay - std::sin(t), 1e-15);
    EXPECT_NEAR(found.value(k, found.column("x3")), -decay, 1e-15);
  }
}

TEST(Linear, OtherMethodsSolveTheSame) {
  for (const std::string name : {"r1", "r2", "r5", "example6"}) {
    const solve::Prepared model = prepared("linear/" + name);
    const solve::Trajectory exact = run(model, {1.0, 2.0});
    for (const std::string method : {"dop853", "radau"}) {
      const solve::Trajectory other = run(model, {1.0, 2.0}, method, 1e-9);
      ASSERT_TRUE(other.success()) << name << " " << method << other.message;
      for (std::size_t row = 0; row < 2; ++row)
        for (std::size_t i = 0; i < exact.columns.size(); ++i) {
          if (exact.columns[i].starts_with("der")) continue;
          // Derivative arrays lose as many digits as the pencil's condition, 1e6 at most here.
          EXPECT_NEAR(other.value(row, other.column(exact.columns[i])), exact.value(row, i), 1e-6 * (1.0 + std::abs(exact.value(row, i))))
              << name << " " << method << " " << exact.columns[i];
        }
    }
  }
}

TEST(Linear, OtherMethodsStartWhereTheFormulaDoes) {
  // The repaired equations of r6, combinations with coefficients from 1e-7 to 1e3, are not met by any start to their tolerance;
  // the formula's is the start all the same.
  const solve::Prepared model = prepared("linear/r6");
  const solve::Trajectory exact = run(model, {0.0, 1.0});
  for (const std::string method : {"dop853", "radau", "bdf"}) {
    const solve::Trajectory other = run(model, {0.0, 1.0}, method, 1e-8);
    ASSERT_TRUE(other.success()) << method << other.message;
    for (std::size_t i = 1; i <= 7; ++i) {
      const std::string name = fmt::format("x{}", i);
      EXPECT_EQ(other.value(0, other.column(name)), exact.value(0, exact.column(name))) << method << " " << name;
      // Conditions of 1e5 on either side of round-off.
      EXPECT_NEAR(other.value(1, other.column(name)), exact.value(1, exact.column(name)),
                  1e-5 * (1.0 + std::abs(exact.value(1, exact.column(name)))))
          << method << " " << name;
    }
  }
}

/// A random pencil of known structure: P E Q = diag(I, N), P A Q = diag(J, I) with unimodular whole-number transformations, so
/// that the entries are exact, and its solution for f = P^-1 (g1, g2) with g of sines by an independent series.
struct RandomPencil {
  std::string text;
  std::vector<double> x_end;
  double t_end = 1.0;
};

RandomPencil random_pencil(unsigned seed) {
  std::mt19937 random(seed);
  const auto whole = [&](int low, int high) { return std::uniform_int_distribution<int>(low, high)(random); };
  const int n1 = whole(0, 4), n2 = whole(1, 4), n = n1 + n2;
  using Rows = std::vector<std::vector<double>>;
  Rows E(n, std::vector<double>(n, 0.0)), A = E;
  for (int i = 0; i < n1; ++i) {
    E[i][i] = 1.0;
    for (int j = 0; j < n1; ++j) A[i][j] = whole(-2, 2);
  }
  for (int i = n1; i < n; ++i) {
    A[i][i] = 1.0;
    if (i + 1 < n) E[i][i + 1] = whole(0, 1);
  }
  // g = a sin t + b t^2 in every row.
  std::vector<double> a(n), b(n), start(n1);
  for (int i = 0; i < n; ++i) {
    a[i] = whole(-3, 3);
    b[i] = whole(-3, 3);
  }
  for (double& value : start) value = whole(-3, 3);
  // x2 = -sum N^k g2^(k); x1 by a Taylor series with many small steps in long double.
  const auto g = [&](int i, int k, long double t) {
    const long double wave[] = {std::sin(t), std::cos(t), -std::sin(t), -std::cos(t)};
    const long double power = k == 0 ? t * t : k == 1 ? 2 * t : k == 2 ? 2.0L : 0.0L;
    return a[i] * wave[k % 4] + b[i] * power;
  };
  const auto x2_at = [&](long double t) {
    std::vector<long double> x2(n, 0.0L);
    for (int k = n2 - 1; k >= 0; --k) {
      std::vector<long double> next(n, 0.0L);
      for (int i = n1; i < n; ++i) {
        for (int j = n1; j < n; ++j) next[i] += E[i][j] * x2[j];
        next[i] -= g(i, k, t);
      }
      x2 = next;
    }
    return x2;
  };
  std::vector<long double> x1(start.begin(), start.end());
  const int steps = 64;
  const long double h = 1.0L / steps;
  for (int step = 0; step < steps; ++step) {
    std::vector<std::vector<long double>> derivative(18, std::vector<long double>(n1, 0.0L));
    derivative[0] = x1;
    for (int k = 0; k + 1 < 18; ++k)
      for (int i = 0; i < n1; ++i) {
        derivative[k + 1][i] = g(i, k, step * h);
        for (int j = 0; j < n1; ++j) derivative[k + 1][i] += A[i][j] * derivative[k][j];
      }
    long double factor = 1.0L;
    std::fill(x1.begin(), x1.end(), 0.0L);
    for (int k = 0; k < 18; ++k) {
      for (int i = 0; i < n1; ++i) x1[i] += factor * derivative[k][i];
      factor *= h / (k + 1);
    }
  }
  std::vector<long double> z0 = x2_at(0.0L), z1 = x2_at(1.0L);
  for (int i = 0; i < n1; ++i) {
    z0[i] = start[i];
    z1[i] = x1[i];
  }
  // Rows are added to rows (P^-1), columns to columns (Q^-1); x = Q z undoes the columns.
  std::vector<double> fa = a, fb = b;
  std::vector<std::vector<double>> Q(n, std::vector<double>(n, 0.0));
  for (int i = 0; i < n; ++i) Q[i][i] = 1.0;
  for (int k = 0; k < 3 * n; ++k) {
    const int i = whole(0, n - 1), j = whole(0, n - 1), c = whole(-1, 1);
    if (i == j || c == 0) continue;
    for (int l = 0; l < n; ++l) {
      E[i][l] += c * E[j][l];
      A[i][l] += c * A[j][l];
    }
    fa[i] += c * fa[j];
    fb[i] += c * fb[j];
    const int p = whole(0, n - 1), q = whole(0, n - 1);
    if (p == q) continue;
    // z = T x' with column q of the matrices += c column p: then z_p = x'_p + c x'_q, so x'_p = z_p - c z_q.
    for (int l = 0; l < n; ++l) {
      E[l][q] += c * E[l][p];
      A[l][q] += c * A[l][p];
      Q[p][l] -= c * Q[q][l];
    }
  }
  const auto list = [](const std::vector<double>& values) { return fmt::format("[{}]", fmt::join(values, ", ")); };
  RandomPencil out;
  std::vector<std::string> rows_E, rows_A, f;
  for (int i = 0; i < n; ++i) {
    rows_E.push_back(list(E[i]));
    rows_A.push_back(list(A[i]));
    f.push_back(fmt::format("\"{}*sin(t) + {}*t^2\"", fa[i], fb[i]));
  }
  out.text = fmt::format("kind = \"linear\"\n[linear]\nE = [{}]\nA = [{}]\nf = [{}]\n[variables]\n", fmt::join(rows_E, ", "),
                         fmt::join(rows_A, ", "), fmt::join(f, ", "));
  for (int i = 0; i < n; ++i) {
    long double from = 0.0L, to = 0.0L;
    for (int j = 0; j < n; ++j) {
      from += Q[i][j] * z0[j];
      to += Q[i][j] * z1[j];
    }
    out.text += fmt::format("x{} = {:.17g}\n", i + 1, static_cast<double>(from));
    out.x_end.push_back(static_cast<double>(to));
  }
  return out;
}

TEST(Linear, RandomPencilsBesideTheirSeries) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    const RandomPencil pencil = random_pencil(seed);
    const solve::Prepared model = solve::prepare(model::read_model_text(pencil.text, fmt::format("seed{}.toml", seed)));
    ASSERT_TRUE(model.linear) << seed << "\n" << pencil.text;
    const solve::Trajectory found = run(model, {1.0});
    ASSERT_TRUE(found.success()) << seed;
    double size = 1.0;
    for (const double value : pencil.x_end) size = std::max(size, std::abs(value));
    for (std::size_t i = 0; i < pencil.x_end.size(); ++i)
      // Starts are whole numbers; the series ends at 1e-17 of solutions that grow by e^8 at most.
      EXPECT_NEAR(found.value(0, i), pencil.x_end[i], 1e-13 * size) << "seed " << seed << " x" << i + 1 << "\n" << pencil.text;
  }
}

TEST(Linear, DecimalsAreTakenAsTheyAreWritten) {
  // Index 6 beside the eigenvalues -100 and 1/10, hidden by whole-number transformations; f was made for a polynomial. As
  // doubles the multiples of 1/10 make another pencil, with finite eigenvalues of 1e3 and more in place of the block.
  const std::string text = R"model(
kind = "linear"
[linear]
E = [
  [0, 0, 1, 0, 0, 0, 0, 0],
  [1, -1, 1, -3, -3, 4, -4, 2],
  [-2, 0, -2, 1, 2, -1, 2, 0],
  [-1, 1, -1, 1, 1, -1, 1, 0],
  [0, 0, 1, 0, 0, 0, 0, 0],
  [-2, 0, -2, 2, 2, -3, 2, 0],
  [-2, 1, -2, 2, 2, -2, 2, 0],
  [6, 0, 7, -6, -7, 8, -7, 1]]
A = [
  [-1, 1, -1, 1, 1, -1, 1, 0],
  [295.1, -1, 294.1, 1.9, -97.1, -1.8, 2.9, -199],
  [3, 0, 4, -1, -2, 1, -1, -1],
  [-2, 1, -2, 1, 3, -1, 2, 0],
  [1, 1, 1, 0, -1, 0, -1, 0],
  [-0.1, 1, -0.1, 0.1, 0.1, -0.2, 0.1, 0],
  [-4, 2, -4, 2, 5, -2, 4, 0],
  [296.2, -2, 296.2, 0.8, -97.2, -0.6, 1.8, -199]]
f = ["(-2)*1 + (3)*t + (8)*t^2 + (-9)*t^3 + (-9)*t^4",
  "(1514/5)*1 + (-1009)*t + (-6601/10)*t^2 + (-12497/10)*t^3 + (18601/10)*t^4",
  "(-9)*1 + (-51)*t + (-32)*t^2 + (53)*t^3 + (26)*t^4",
  "(-8)*1 + (1)*t + (8)*t^2 + (40)*t^3 + (-17)*t^4",
  "(5)*1 + (-14)*t + (-8)*t^2 + (-15)*t^3 + (7)*t^4",
  "(-84/5)*1 + (-44)*t + (-339/10)*t^2 + (837/10)*t^3 + (-1/10)*t^4",
  "(-21)*1 + (-5)*t + (10)*t^2 + (85)*t^3 + (-32)*t^4",
  "(1748/5)*1 + (-940)*t + (-2981/5)*t^2 + (-7232/5)*t^3 + (9356/5)*t^4"]
[variables]
x1 = -3.0
x2 = -2.0
x3 = 0.0
x4 = 3.0
x5 = -2.0
x6 = -2.0
x7 = 0.0
x8 = -2.0
[simulation]
t_end = 2
)model";
  const solve::Prepared model = solve::prepare(model::read_model_text(text, "tenths.toml"));
  ASSERT_TRUE(model.linear);
  EXPECT_EQ(model.linear->parts.nilpotent_blocks, (std::vector<std::size_t>{6}));
  const solve::Trajectory found = run(model, {1.0, 2.0});
  ASSERT_TRUE(found.success()) << found.message;
  EXPECT_TRUE(found.moved.empty());
  const std::vector<std::vector<double>> exact{{1, 3, -2, 7, -5, 3, -6, -3}, {-3, 4, -48, 53, 20, 14, -32, -6}};
  for (std::size_t row = 0; row < exact.size(); ++row)
    for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(found.value(row, i), exact[row][i], 1e-13) << row << " x" << i + 1;
}

const std::string circuit = R"model(
kind = "dae"
[variables]
v = { start = 1, fixed = true }
i = 0
u = 0
[equations]
source = "u = if(t < 1, 0, 2)"
capacitor = "der(v) = i"
resistor = "u = v + 3*i"
)model";

TEST(Linear, JumpsOfTheInputAreMetExactly) {
  // v' = (u - v)/3 with u = 0 before t = 1, 2 after it.
  const solve::Trajectory found = run(solve::prepare(model::read_model_text(circuit, "circuit.toml")), {0.5, 1.5, 4.0}, "exact");
  ASSERT_TRUE(found.success()) << found.message;
  const double at_one = std::exp(-1.0 / 3.0);
  EXPECT_NEAR(found.value(0, 0), std::exp(-0.5 / 3.0), 1e-15);
  EXPECT_NEAR(found.value(1, 0), 2.0 + (at_one - 2.0) * std::exp(-0.5 / 3.0), 1e-14);
  EXPECT_NEAR(found.value(2, 0), 2.0 + (at_one - 2.0) * std::exp(-1.0), 1e-14);
  bool told = false;
  for (const std::string& note : found.notes) told = told || note.find("u jumps from 0 to 2 at t = 1") != std::string::npos;
  EXPECT_TRUE(told) << fmt::format("{}", fmt::join(found.notes, "\n"));
}

TEST(Linear, SquareWavesAreMetAtEveryEdge) {
  // x' = -x + sign(cos(4 pi t + 0.1)): whole periods fit into the run and into parts of it, where cos says the same
  // again.
  const std::string text =
      "kind = \"linear\"\n[linear]\nE = [[1]]\nA = [[-1]]\nf = [\"sign(cos(4*pi*t + 0.1))\"]\n[variables]\nx1 = 1\n";
  double x = 1.0, t = 0.0;
  for (int edge = 0; t < 10.0; ++edge) {
    const double next = std::min(10.0, ((edge + 0.5) * std::numbers::pi - 0.1) / (4.0 * std::numbers::pi)),
                 level = edge % 2 == 0 ? 1.0 : -1.0;
    x = level + (x - level) * std::exp(t - next);
    t = next;
  }
  const solve::Trajectory found = run(solve::prepare(model::read_model_text(text, "square.toml")), {10.0});
  ASSERT_TRUE(found.success()) << found.message;
  EXPECT_EQ(found.method, "exact");
  EXPECT_NEAR(found.value(0, 0), x, 1e-14);
  // The same condition hidden in steps of a staircase.
  const std::string stairs =
      "kind = \"linear\"\n[linear]\nE = [[1]]\nA = [[0]]\nf = [\"floor(0.5 + cos(4*pi*t + 0.1))\"]\n[variables]\nx1 = "
      "0\n";
  // -1 where cos < -1/2, 1 where cos > 1/2, each a third of the time, and 0 between: nothing is left of whole periods.
  EXPECT_NEAR(run(solve::prepare(model::read_model_text(stairs, "stairs.toml")), {10.0}).value(0, 0), 0.0, 1e-14);
}

TEST(Linear, OutputTimesAreMetToTheLastDigit) {
  // x = 1e8 t: a time that is off by its last digit shows, between the steps of a picture and on a grid.
  const solve::Prepared model = solve::prepare(
      model::read_model_text("kind = \"linear\"\n[linear]\nE = [[1]]\nA = [[0]]\nf = [\"1e8\"]\n", "line.toml"));
  for (const bool grid : {false, true}) {
    solve::RunOptions options;
    options.t_end = 5.0;
    if (grid) options.step = 0.1;
    for (int k = 1; k <= 50; ++k) options.at.push_back(0.1 * k);
    const solve::Trajectory found = solve::simulate(model, options);
    ASSERT_TRUE(found.success()) << found.message;
    ASSERT_EQ(found.method, "exact");
    for (std::size_t row = 0; row < options.at.size(); ++row)
      EXPECT_EQ(found.value(row, 0), 1e8 * options.at[row]) << grid;
  }
}

TEST(Linear, UnitsOfAnySizeKeepAllDigits) {
  // x1' = -2 x1 - 1e-50 and x2 = -1 - 1e50 x1 in rows of 1e200 and 1e-200; an oscillation at 1e6 whose rate is another
  // unknown.
  const std::string small =
      "kind = \"linear\"\n[linear]\nE = [[1e200, 0], [0, 0]]\nA = [[-1e200, 1e150], [1e-200, 1e-250]]\nf = [\"0\", "
      "\"1e-250\"]\n";
  const std::string fast =
      "kind = \"linear\"\n[linear]\nE = [[1, 0], [0, 1]]\nA = [[0, 1], [-1e12, 0]]\n[variables]\nx1 = 1\nx2 = 0\n";
  const solve::Trajectory a = run(solve::prepare(model::read_model_text(small, "small.toml")), {2.0});
  ASSERT_TRUE(a.success()) << a.message;
  const double x1 = 0.5e-50 * std::expm1(-4.0);
  EXPECT_NEAR(a.last("x1"), x1, 1e-15 * std::abs(x1));
  EXPECT_NEAR(a.last("x2"), -1.0 - 1e50 * x1, 1e-15);
  EXPECT_LT(std::stod(bound_of(a)), 1e-25);
  const double t = 0x1p-10;
  const solve::Trajectory b = run(solve::prepare(model::read_model_text(fast, "fast.toml")), {t});
  ASSERT_TRUE(b.success()) << b.message;
  EXPECT_NEAR(b.last("x1"), std::cos(1e6 * t), 2e-16);
  EXPECT_NEAR(b.last("x2"), -1e6 * std::sin(1e6 * t), 1e-10);
  EXPECT_LT(std::stod(bound_of(b)), 1e-18);  // of x2, which is a million times larger than x1
}

TEST(Linear, StiffEquationsWithAnUnusualInputHaveTheFormula) {
  // x follows 1/(2 - t) at a distance: x = u - u'/a + u''/a^2 - ... with a = 1e8. Quadrature would need a panel for every 1e-8
  // of time.
  const std::string text = "kind = \"linear\"\n[linear]\nE = [[1]]\nA = [[-1e8]]\nf = [\"1e8/(2 - t)\"]\n[variables]\nx1 = 0.5\n";
  const solve::Trajectory found = run(solve::prepare(model::read_model_text(text, "stiff.toml")), {0.5, 1.0});
  ASSERT_TRUE(found.success()) << found.message;
  EXPECT_EQ(found.method, "exact");
  for (std::size_t row = 0; row < 2; ++row) {
    const double u = 1.0 / (2.0 - found.t[row]);
    // f and the times it is taken at are rounded.
    EXPECT_NEAR(found.value(row, 0), u - 1e-8 * u * u + 2e-16 * u * u * u, 2e-15 * u);
  }
  EXPECT_LT(std::stod(bound_of(found)), 1e-12);
  // Where exponentials of large matrices would be many, a method for stiff equations takes over.
  std::string rows_E, rows_A, f;
  constexpr int n = 21;
  for (int i = 0; i < n; ++i) {
    std::vector<double> E(n, 0.0), A(n, 0.0);
    E[i] = 1.0;
    A[i] = -1e8 / (i + 1);
    rows_E += fmt::format("[{}],", fmt::join(E, ","));
    rows_A += fmt::format("[{}],", fmt::join(A, ","));
    f += "\"1e8/(2 - t)\",";
  }
  const std::string large = fmt::format("kind = \"linear\"\n[linear]\nE = [{}]\nA = [{}]\nf = [{}]\n", rows_E, rows_A, f);
  const solve::Trajectory many = run(solve::prepare(model::read_model_text(large, "many.toml")), {1.0});
  ASSERT_TRUE(many.success()) << many.message;
  EXPECT_NE(many.method, "exact");
  EXPECT_NEAR(many.value(0, 0), 1.0, 1e-5);  // ten tolerances; the solution follows 1/(2 - t) within 1e-8
}

TEST(Linear, SwitchedSourcesOfStiffCircuitsHaveTheFormula) {
  // A capacitor of 1 nF behind 1 kOhm: 10,000 time constants, and a source that is switched at the 1,000th.
  const std::string text = R"toml(kind = "linear"
[linear]
E = [[1e-9, 0], [0, 0]]
A = [[0, 1], [1, 1000]]
f = ["0", "if(t < 0x, 0, -5)"]
[variables]
v = 1
i = -0.001
)toml";
  std::string with_time = text;
  with_time.replace(with_time.find("0x"), 2, "0.0009765625");  // a double, so that no time is rounded
  const double switched = 0x1p-10, after = 0x1p-20;
  const solve::Trajectory found =
      run(solve::prepare(model::read_model_text(with_time, "switched.toml")), {0x1p-20, switched + after, 0.01});
  ASSERT_TRUE(found.success()) << found.message;
  EXPECT_EQ(found.method, "exact");
  EXPECT_NEAR(found.value(0, found.column("v")), std::exp(-1e6 * after), 4e-16);
  // The switch is met to the last digit of time, which is 1e-19 there.
  EXPECT_NEAR(found.value(1, found.column("v")), -5.0 * std::expm1(-1e6 * after), 1e-12);
  EXPECT_NEAR(found.value(2, found.column("v")), 5.0, 1e-14);
  EXPECT_LT(std::stod(bound_of(found)), 1e-11);
}

TEST(Linear, LongTimesNeedNoStepsBetweenOutputs) {
  // A million periods, seen at two times: a picture would need seven million steps.
  const std::string text =
      "kind = \"linear\"\n[linear]\nE = [[1, 0], [0, 1]]\nA = [[0, 1], [-1, 0]]\nf = [\"0\", \"exp(-t)\"]\n[variables]\nx1 = 1\nx2 = 0\n";
  const solve::Trajectory found = run(solve::prepare(model::read_model_text(text, "long.toml")), {1.0, 6283185.25});
  ASSERT_TRUE(found.success()) << found.message;
  EXPECT_EQ(found.method, "exact");
  EXPECT_LT(found.stats.steps, 100u);
  for (std::size_t row = 0; row < 2; ++row) {
    const double t = found.t[row];
    EXPECT_NEAR(found.value(row, 0), 0.5 * std::cos(t) + 0.5 * std::sin(t) + 0.5 * std::exp(-t), 4e-16) << t;
  }
  EXPECT_LT(std::stod(bound_of(found)), 1e-20);
}

TEST(Linear, BoundsGrowAsTheSolutionDoes) {
  // Errors that are made on the way grow from then on, not from the start: x = (4 exp(3 t) - 1)/3 keeps its digits.
  const solve::Trajectory growing = run(
      solve::prepare(model::read_model_text("kind = \"linear\"\n[linear]\nE = [[1]]\nA = [[3]]\nf = [\"1\"]\n[variables]\nx1 = 1\n", "up.toml")), {100.0});
  ASSERT_TRUE(growing.success()) << growing.message;
  EXPECT_NEAR(growing.value(0, 0) / (4.0 / 3.0 * std::exp(300.0)), 1.0, 1e-15);
  EXPECT_LT(std::stod(bound_of(growing)), 1e-25 * growing.value(0, 0));
  // Modes of which only one acts on the other have no unit in common that would make them alike.
  const std::string one_way = R"toml(kind = "linear"
[linear]
E = [[0, 0, 1, 1], [0, 2, -2, 0], [0, 1, -2, -2], [0, 2, -2, 0]]
A = [[-1, -2, "1/2", "1/2"], [3, 12, -1, -1], [1, -1, -1, -4], ["5/2", 11, -1, -1]]
f = ["log(2+t)", "exp(-t^2)", "log(2+t)", "atan(t)"]
)toml";
  const solve::Trajectory found = run(solve::prepare(model::read_model_text(one_way, "one_way.toml")), {2.5});
  ASSERT_TRUE(found.success()) << found.message;
  EXPECT_LT(std::stod(bound_of(found)), 1e-10);  // 1e-8 in units a million times apart
}

TEST(Linear, TheSpeedOfTheModesCountsNotTheNormOfTheirMatrix) {
  // The eigenvalues are 5i and -5i, and the basis of their space is skew: entries of J are above 1e4.
  const std::string text = R"toml(kind = "linear"
[linear]
E = [["-999/5000", "-1/10", "1/10", 0], ["1999/10", 100, -100, 0], ["3999/1000", 2, -2, 0], ["1999/500", 2, -2, 0]]
A = [["-4001/2000", "-99/100", "991/1000", "1/100"], ["2001/2", 490, -490, -10],
     ["1001/100", "49/10", "-122/25", "-1/10"], ["2001/100", "49/5", "-979/100", "-1/5"]]
f = ["1/(1 + t)", 0, 0, 0]
)toml";
  const solve::Trajectory found = run(solve::prepare(model::read_model_text(text, "skew.toml")), {2.0});
  ASSERT_TRUE(found.success());
  EXPECT_EQ(found.method, "exact");
}

TEST(Linear, ImpulsesAreDescribedNotSmoothed) {
  // A capacitor across a source that leaps: its current is an impulse.
  const std::string text = R"model(
kind = "dae"
[variables]
v = 0
i = 0
[equations]
source = "v = if(t < 1, 0, 5)"
capacitor = "0.2*der(v) = i"
)model";
  const solve::Trajectory found = run(solve::prepare(model::read_model_text(text, "impulse.toml")), {2.0}, "exact");
  ASSERT_TRUE(found.success()) << found.message;
  EXPECT_EQ(found.value(0, 0), 5.0);
  EXPECT_NEAR(found.value(0, 1), 0.0, 1e-15);
  bool told = false;
  for (const std::string& note : found.notes) told = told || note.find("i gets a Dirac impulse of 1 at t = 1") != std::string::npos;
  EXPECT_TRUE(told) << fmt::format("{}", fmt::join(found.notes, "\n"));
}

TEST(Linear, JumpsAtTheVeryStartAreDescribed) {
  // 0 = v + f, i = 0.2 v': f leaps from 0 to -5 as soon as time goes on, by each way to write that.
  for (const std::string f : {"if(t <= 0, 0, -5)", "-5*sign(t)", "-5*sign(sin(pi*t))"}) {
    const std::string text = "kind = \"linear\"\n[linear]\nE = [[0, 0], [0.2, 0]]\nA = [[1, 0], [0, 1]]\nf = [\"" + f +
                             "\", 0]\n[variables]\nv = 0\ni = 0\n[simulation]\nt_end = 0.5\n";
    const solve::Trajectory found = run(solve::prepare(model::read_model_text(text, "start.toml")), {0.0, 0.5}, "exact");
    ASSERT_TRUE(found.success()) << f << found.message;
    EXPECT_TRUE(found.moved.empty()) << f;
    EXPECT_EQ(found.value(0, found.column("v")), 5.0) << f;
    EXPECT_EQ(found.value(1, found.column("v")), 5.0) << f;
    std::string notes;
    for (const std::string& note : found.notes) notes += note + "\n";
    EXPECT_NE(notes.find("v jumps from 0 to 5 at t = 0"), std::string::npos) << f << notes;
    EXPECT_NE(notes.find("i gets a Dirac impulse of 1 at t = 0"), std::string::npos) << f << notes;
    EXPECT_EQ(found.constraints.absolute[0], 0.0) << f;
  }
}

TEST(Linear, OtherMethodsLeapWithTheInput) {
  // x1' = -x1 + x2 and x2 + x3 = step, x2' = x4, x3 = 2 x1: x1 moves by itself, x2 leaps and x4 gets an impulse. A way back to the
  // constraints by the least change would move x1 as well. With y = (x1 + x2, ...) all unknowns are mixed.
  const std::string plain = R"toml(kind = "linear"
[linear]
E = [[1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
A = [[-1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 0, 1], [2, 0, -1, 0]]
f = [0, "if(t < 0.5, 0, -3)", 0, 0]
[variables]
x1 = 1
x2 = -2
x3 = 2
x4 = 0
[simulation]
t_end = 1
)toml";
  const std::string mixed = R"toml(kind = "dae"
[variables]
y1 = -1
y2 = -1
[equations]
a = "der(y1) + 2*der(y2) = -y2 + y1"
b = "2*der(y1) + 4*der(y2) + y1 = y2 + if(t < 0.5, 0, 4)"
[simulation]
t_end = 1
)toml";
  for (const std::string& text : {plain, mixed}) {
    const solve::Prepared model = solve::prepare(model::read_model_text(text, "leap.toml"));
    const solve::Trajectory exact = run(model, {0.4, 0.5, 0.7, 1.0}, "exact");
    ASSERT_TRUE(exact.success()) << exact.message;
    std::vector<std::string> leaps;
    for (const std::string& note : exact.notes)
      if (note.find("at t = 0.5") != std::string::npos) leaps.push_back(note);
    EXPECT_FALSE(leaps.empty());
    for (const std::string method : {"radau", "bdf", "rodas5p"}) {
      const solve::Trajectory other = run(model, {0.4, 0.5, 0.7, 1.0}, method, 1e-10);
      ASSERT_TRUE(other.success()) << method << other.message;
      for (std::size_t row = 0; row < 4; ++row)
        for (std::size_t i = 0; i < exact.columns.size(); ++i) {
          if (exact.columns[i].starts_with("der")) continue;
          EXPECT_NEAR(other.value(row, other.column(exact.columns[i])), exact.value(row, i), 1e-7) << method << " " << exact.columns[i];
        }
      for (const std::string& one : leaps) EXPECT_NE(std::ranges::find(other.notes, one), other.notes.end()) << method << " " << one;
    }
  }
}

TEST(Linear, TablesThatLeapGiveImpulses) {
  // x2 = path(t), x1 = x2': a step of 1 at t = 1 and of 3 at t = 2. With straight lines it is x1' that leaps and x0 = x1' that is
  // an impulse.
  const auto text = [](const std::string& kind, int n) {
    std::string E, A, f;
    for (int i = 0; i < n; ++i) {
      std::string e, a;
      for (int j = 0; j < n; ++j) {
        e += j == i + 1 ? "1," : "0,";
        a += j == i ? "1," : "0,";
      }
      E += "[" + e + "],";
      A += "[" + a + "],";
      f += i + 1 < n ? "0," : "\"-path(t)\"";
    }
    return "kind = \"linear\"\n[tables]\npath = { x = [0, 1, 2, 3], y = [0, 1, 4, 9], interpolation = \"" + kind + "\" }\n[linear]\nE = [" + E +
           "]\nA = [" + A + "]\nf = [" + f + "]\n[simulation]\nt_end = 2.5\n";
  };
  for (const auto& [kind, n, impulses] :
       {std::tuple{"step", 2, std::vector<std::string>{"x1 gets a Dirac impulse of 1 at t = 1", "x1 gets a Dirac impulse of 3 at t = 2"}},
        {"linear", 3, {"x1 gets a Dirac impulse of 2 at t = 1", "x1 gets a Dirac impulse of 2 at t = 2"}},
        {"step", 3, {"x1 gets a Dirac impulse, once differentiated, of 1 at t = 1"}}}) {
    const solve::Prepared model = solve::prepare(model::read_model_text(text(kind, n), "table.toml"));
    const solve::Trajectory found = run(model, {2.5});
    ASSERT_TRUE(found.success()) << kind << found.message;
    EXPECT_EQ(found.method, "exact");
    EXPECT_EQ(found.value(0, found.column("x1")), 0.0);
    EXPECT_NEAR(found.value(0, found.column("x" + std::to_string(n))), std::string(kind) == "step" ? 4.0 : 6.5, 1e-15);
    for (const std::string& one : impulses) EXPECT_NE(std::ranges::find(found.notes, one), found.notes.end()) << kind << " " << one;
    // Nothing else can follow what has no derivative.
    EXPECT_THROW(run(model, {2.5}, "radau"), Error);
  }
}

TEST(Linear, AnInconsistentStartKeptOnPurposeIsDescribed) {
  const std::string text = "kind = \"linear\"\n[linear]\nE = [[1, 0], [0, 0]]\nA = [[0, 1], [1, 0]]\nf = [\"0\", \"-t\"]\n[variables]\nx1 = 3\nx2 = 1\n";
  solve::RunOptions options;
  options.t_end = 1.0;
  options.initialize = "off";
  const solve::Trajectory found = solve::simulate(solve::prepare(model::read_model_text(text, "off.toml")), options);
  ASSERT_TRUE(found.success()) << found.message;
  EXPECT_EQ(found.value(0, 0), 3.0);  // the start as it was given
  EXPECT_EQ(found.last("x1"), 1.0);
  EXPECT_EQ(found.last("x2"), 1.0);
  const std::string notes = fmt::format("{}", fmt::join(found.notes, "\n"));
  EXPECT_NE(notes.find("x1 jumps from 3 to 0 at t = 0"), std::string::npos) << notes;
  EXPECT_NE(notes.find("x2 gets a Dirac impulse of -3 at t = 0"), std::string::npos) << notes;
  // check refuses it, project moves it.
  options.initialize = "check";
  EXPECT_THROW(solve::simulate(solve::prepare(model::read_model_text(text, "check.toml")), options), Error);
  options.initialize = "project";
  const solve::Trajectory moved = solve::simulate(solve::prepare(model::read_model_text(text, "project.toml")), options);
  ASSERT_FALSE(moved.moved.empty());
  EXPECT_EQ(moved.moved[0].name, "x1");
  EXPECT_NEAR(moved.moved[0].by, -3.0, 1e-15);
}

TEST(Linear, ValuesThatNobodyGaveMayBeAnything) {
  // x1 = 2 t - 1 and x2 = (1 - 3 t)/2 without a start: nothing moves; with one, that is what moves.
  const std::string text =
      "kind = \"linear\"\n[linear]\nE = [[0, 0], [0, 0]]\nA = [[1, 2], [3, 4]]\nf = [\"t\", \"1\"]\n";
  const auto start = [&](const std::string& variables, solve::Initialize mode) {
    return solve::consistent_start(solve::prepare(model::read_model_text(text + variables, "algebraic.toml")), 0.0,
                                   mode);
  };
  const solve::Start free = start("", solve::Initialize::check);
  EXPECT_TRUE(free.consistent_as_given && free.moved.empty());
  EXPECT_EQ(free.values[0].second, -1.0);
  EXPECT_EQ(free.values[1].second, 0.5);
  const solve::Start given = start("[variables]\nx1 = -1\nx2 = 0\n", solve::Initialize::project);
  EXPECT_FALSE(given.consistent_as_given);
  ASSERT_EQ(given.moved.size(), 1u);
  EXPECT_EQ(given.moved[0].name, "x2");
  EXPECT_THROW(start("[variables]\nx1 = -1\nx2 = 0\n", solve::Initialize::check), Error);
}

TEST(Linear, TheLeastChangeKeepsFixedValues) {
  // One condition, x1 + 2 x2 + 2 x3 = 9, and two equations of motion: the nearest point of the plane, and with x1 fixed the
  // nearest one with that value.
  const auto text = [](const std::string& x1) {
    return "kind = \"dae\"\n[variables]\nx1 = " + x1 + "\nx2 = 0.0\nx3 = 0.0\n[equations]\na = \"der(x1) - der(x2) = -x1\"\n" +
           "b = \"der(x2) - der(x3) = -x2\"\nc = \"x1 + 2*x2 + 2*x3 = 9\"\n";
  };
  const auto start = [&](const std::string& x1) {
    return solve::consistent_start(solve::prepare(model::read_model_text(text(x1), "plane.toml")), 0.0, solve::Initialize::project).values;
  };
  const auto free = start("0.0"), bound = start("{ start = 1, fixed = true }");
  EXPECT_NEAR(free[0].second, 1.0, 1e-14);
  EXPECT_NEAR(free[1].second, 2.0, 1e-14);
  EXPECT_NEAR(free[2].second, 2.0, 1e-14);
  EXPECT_EQ(bound[0].second, 1.0);
  EXPECT_NEAR(bound[1].second, 2.0, 1e-14);
}

/// A ladder of N resistors and capacitors, both ends grounded through a resistor: v = sin(k pi / (N + 1)) decays as
/// exp(-4 sin^2(pi / (2 N + 2)) t) for R = C = 1. Voltages and currents are unknowns, 2 N of them.
TEST(Linear, LaddersOfTwoThousandUnknowns) {
  constexpr int N = 1000;
  const std::string as_equations = R"model(
kind = "dae"
[parameters]
N = 1000
[variables]
"v[k]" = { for = "k in 1..N", start = "sin(pi*k/(N + 1))", fixed = true }
"i[k]" = { for = "k in 1..N", start = 0 }
[equations]
"resistor[1]" = "i[1] = -v[1]"
"resistor[k]" = { for = "k in 2..N", equation = "i[k] = v[k-1] - v[k]" }
"node[k]" = { for = "k in 1..N-1", equation = "der(v[k]) = i[k] - i[k+1]" }
"node[N]" = "der(v[N]) = i[N] - v[N]"
)model";
  // The same as matrices: rows 1..N are the nodes, rows N+1..2N the resistors.
  std::string E, A, starts;
  for (int k = 1; k <= N; ++k) {
    E += fmt::format("[{}, {}, 1], ", k, k);
    A += fmt::format("[{}, {}, 1], ", k, N + k);
    A += k < N ? fmt::format("[{}, {}, -1], ", k, N + k + 1) : fmt::format("[{}, {}, -1], ", k, k);
    A += fmt::format("[{}, {}, 1], [{}, {}, 1], ", N + k, N + k, N + k, k);
    if (k > 1) A += fmt::format("[{}, {}, -1], ", N + k, k - 1);
    starts += fmt::format("v{} = {:.17g}\n", k, std::sin(std::numbers::pi * k / (N + 1)));
  }
  for (int k = 1; k <= N; ++k) starts += fmt::format("i{} = 0\n", k);
  const std::string as_matrices = fmt::format(
      "kind = \"linear\"\n[linear]\nE = {{ rows = {}, columns = {}, entries = [{}] }}\nA = {{ rows = {}, columns = {}, entries = [{}] }}\n[variables]\n{}",
      2 * N, 2 * N, E, 2 * N, 2 * N, A, starts);
  const double rate = 4.0 * std::pow(std::sin(std::numbers::pi / (2.0 * N + 2.0)), 2), t_end = 0.1 / rate;
  for (const std::string& text : {as_equations, as_matrices}) {
    const double begin = processor_seconds();
    const model::Model model = model::read_model_text(text, "ladder.toml");
    const solve::Analysis analysis = solve::analyze(std::make_shared<const model::Model>(model), 0.0);
    EXPECT_EQ(analysis.index, 1);
    solve::RunOptions options;
    options.t_end = t_end;
    options.rows = solve::Rows::ends;
    options.rtol = 1e-8;
    const solve::Trajectory found = solve::simulate(solve::prepare(model), options);
    ASSERT_TRUE(found.success()) << found.message;
    double worst = 0.0;
    for (int k = 1; k <= N; ++k)
      worst = std::max(worst, std::abs(found.value(1, static_cast<std::size_t>(k - 1)) - std::sin(std::numbers::pi * k / (N + 1)) * std::exp(-0.1)));
    EXPECT_LT(worst, 1e-6);  // a hundred tolerances
    EXPECT_LT(processor_seconds() - begin, 10.0);
  }
}

}  // namespace
}  // namespace daedalus::tests
