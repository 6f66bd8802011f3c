// The Sigma-method against brute force, and against Pantelides' algorithm, which goes another way.
#include "daedalus/structure/sigma_method.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "daedalus/structure/pantelides.hpp"
#include "unit/structure/patterns.hpp"

namespace daedalus::structure {
namespace {

/// Value of the best transversal over all permutations, -1 where there is none.
int best_value(const Dense& sigma) {
  std::vector<std::size_t> column(sigma.size());
  std::iota(column.begin(), column.end(), 0u);
  int best = -1;
  do {
    int value = 0;
    for (std::size_t i = 0; i < sigma.size() && value >= 0; ++i)
      value = sigma[i][column[i]] < 0 ? -1 : value + sigma[i][column[i]];
    best = std::max(best, value);
  } while (std::next_permutation(column.begin(), column.end()));
  return best;
}

/// Pryce's iteration, sweep by sweep.
Offsets swept(const Dense& sigma, const Matching& transversal) {
  Offsets offsets{std::vector<int>(sigma.size(), 0), std::vector<int>(sigma.size(), 0)};
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t j = 0; j < sigma.size(); ++j) {
      offsets.d[j] = 0;
      for (std::size_t i = 0; i < sigma.size(); ++i)
        if (sigma[i][j] >= 0) offsets.d[j] = std::max(offsets.d[j], sigma[i][j] + offsets.c[i]);
    }
    for (std::size_t i = 0; i < sigma.size(); ++i) {
      const std::size_t j = transversal.column_of[i];
      const int c = offsets.d[j] - sigma[i][j];
      changed = changed || c != offsets.c[i];
      offsets.c[i] = c;
    }
  }
  return offsets;
}

bool feasible(const Dense& sigma, const Offsets& offsets) {
  for (std::size_t i = 0; i < sigma.size(); ++i)
    for (std::size_t j = 0; j < sigma.size(); ++j)
      if (sigma[i][j] >= 0 && offsets.d[j] - offsets.c[i] < sigma[i][j]) return false;
  return true;
}

int value_on(const Dense& sigma, const Matching& transversal) {
  int value = 0;
  for (std::size_t i = 0; i < sigma.size(); ++i) value += sigma[i][transversal.column_of[i]];
  return value;
}

TEST(SigmaMethod, BestTransversalAndSmallestOffsetsOfSmallMatrices) {
  std::mt19937 random(1);
  int regular = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const std::size_t n = 1 + static_cast<std::size_t>(trial % 6);
    const Dense sigma = random_signature(random, n, n, 2.5, trial % 4);
    const int best = best_value(sigma);
    const auto found = sigma_method(signature(sigma));
    ASSERT_EQ(found.has_value(), best >= 0) << "trial " << trial;
    ASSERT_EQ(pantelides(signature(sigma)).has_value(), best >= 0);
    if (!found) continue;
    ++regular;
    EXPECT_EQ(value_on(sigma, found->transversal), best);
    EXPECT_EQ(static_cast<int>(found->offsets.degrees_of_freedom()), best);
    EXPECT_TRUE(feasible(sigma, found->offsets));
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t j = found->transversal.column_of[i];
      EXPECT_EQ(found->offsets.d[j] - found->offsets.c[i], sigma[i][j]);
      EXPECT_EQ(found->transversal.row_of[j], i);
    }
    EXPECT_EQ(found->offsets, swept(sigma, found->transversal));
    EXPECT_EQ(found->offsets, *pantelides(signature(sigma)));
  }
  EXPECT_GT(regular, 500);
}

/// Every choice of offsets from a box, by the definition: none that is feasible and optimal is smaller anywhere.
TEST(SigmaMethod, NoOffsetsAreSmaller) {
  std::mt19937 random(2);
  int regular = 0;
  for (int trial = 0; trial < 120; ++trial) {
    const std::size_t n = 2 + static_cast<std::size_t>(trial % 3);
    const Dense sigma = random_signature(random, n, n, 2.2, 2);
    const auto found = sigma_method(signature(sigma));
    if (!found) continue;
    ++regular;
    const int most = *std::max_element(found->offsets.c.begin(), found->offsets.c.end()) + 1;
    std::vector<int> c(n, 0);
    for (bool more = true; more;) {
      Offsets other{c, std::vector<int>(n)};
      bool valid = true;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t j = found->transversal.column_of[i];
        other.d[j] = c[i] + sigma[i][j];
        valid = valid && other.d[j] >= 0;
      }
      if (valid && feasible(sigma, other))
        for (std::size_t i = 0; i < n; ++i) {
          EXPECT_LE(found->offsets.c[i], other.c[i]);
          EXPECT_LE(found->offsets.d[i], other.d[i]);
        }
      more = false;
      for (std::size_t i = 0; i < n && !more; ++i) {
        more = ++c[i] <= most;
        if (!more) c[i] = 0;
      }
    }
  }
  EXPECT_GT(regular, 40);
}

TEST(SigmaMethod, AgreesWithPantelidesOnSparsePatterns) {
  std::mt19937 random(3);
  int regular = 0, highest = 0;
  for (int trial = 0; regular < 300; ++trial) {
    const std::size_t n = 5 + random() % 46;
    Dense sigma = random_signature(random, n, n, 1.0 + 0.1 * static_cast<double>(trial % 30), trial % 5);
    if (trial % 2 == 0) {  // a transversal that is hard to see
      std::vector<std::size_t> column(n);
      std::iota(column.begin(), column.end(), 0u);
      std::shuffle(column.begin(), column.end(), random);
      for (std::size_t i = 0; i < n; ++i) sigma[i][column[i]] = static_cast<int>(random() % 3);
    }
    const auto found = sigma_method(signature(sigma));
    const auto other = pantelides(signature(sigma));
    ASSERT_EQ(found.has_value(), other.has_value());
    if (!found) continue;
    ++regular;
    ASSERT_EQ(found->offsets, *other) << "trial " << trial;
    ASSERT_EQ(found->offsets, swept(sigma, found->transversal));
    highest = std::max(highest, found->offsets.structural_index());
  }
  EXPECT_GT(highest, 5);
}

TEST(SigmaMethod, Pendulum) {
  // x'' + lambda x = 0, y'' + lambda y + g = 0, x^2 + y^2 = l^2
  const auto found = sigma_method(signature({{2, -1, 0}, {-1, 2, 0}, {0, 0, -1}}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->offsets.c, (std::vector<int>{0, 0, 2}));
  EXPECT_EQ(found->offsets.d, (std::vector<int>{2, 2, 0}));
  EXPECT_EQ(found->offsets.structural_index(), 3);
  EXPECT_EQ(found->offsets.degrees_of_freedom(), 2u);
  const JacobianPattern J = jacobian_pattern(signature({{2, -1, 0}, {-1, 2, 0}, {0, 0, -1}}), found->offsets);
  EXPECT_EQ(J.pattern.column, (std::vector<std::size_t>{0, 2, 1, 2, 0, 1}));
  EXPECT_EQ(J.entries, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
}

TEST(SigmaMethod, EmptyAndRectangular) {
  const auto empty = sigma_method(signature({}));
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->offsets.structural_index(), 0);
  EXPECT_EQ(empty->offsets.degrees_of_freedom(), 0u);
  EXPECT_FALSE(sigma_method(signature({{1, 0}}, 2)));
  EXPECT_FALSE(pantelides(signature({{1, 0}}, 2)));
}

/// Families of growing size. Each search is bounded by about sqrt(n) rounds over all entries; on these it is far
/// less. The count of entries looked at must grow like the number of entries, up to the logarithm of the queue's order:
/// from n to 10 n by less than 13.
TEST(SigmaMethod, WorkGrowsInProportionToTheSize) {
  struct Family {
    const char* name;
    Signature (*make)(std::size_t n);
  };
  const auto rows = [](std::size_t n, auto fill) {
    Signature s{{n, n, {0}, {}}, {}, {}};
    for (std::size_t i = 0; i < n; ++i) {
      fill(i, n, s);
      s.pattern.row_start.push_back(s.pattern.column.size());
    }
    return s;
  };
  static const auto make = rows;
  static const auto put = [](Signature& s, std::size_t j, int order) {
    s.pattern.column.push_back(j);
    s.order.push_back(order);
  };
  const std::vector<Family> families = {
      {"chain of integrators",  // x_1 = u, x_i' = x_(i+1): the index is n
       [](std::size_t n) {
         return make(n, [](std::size_t i, std::size_t, Signature& s) {
           if (i > 0) put(s, i - 1, 1);
           put(s, i, 0);
         });
       }},
      {"band",  // heat conduction with implicit fluxes
       [](std::size_t n) {
         return make(n, [](std::size_t i, std::size_t size, Signature& s) {
           if (i > 0) put(s, i - 1, 0);
           put(s, i, static_cast<int>(i % 2));
           if (i + 1 < size) put(s, i + 1, 0);
         });
       }},
      {"shifted",  // greedy matching takes the wrong column of every row, up to the last one
       [](std::size_t n) {
         return make(n, [](std::size_t i, std::size_t size, Signature& s) {
           if (i + 1 < size) {
             put(s, i, 0);
             put(s, i + 1, 0);
           } else {
             put(s, 0, 0);
           }
         });
       }},
  };
  for (const Family& family : families) {
    const auto small = sigma_method(family.make(1000)), large = sigma_method(family.make(10000));
    ASSERT_TRUE(small && large) << family.name;
    EXPECT_LT(static_cast<double>(large->entries_seen), 13.0 * static_cast<double>(small->entries_seen)) << family.name;
    RecordProperty(family.name, static_cast<int>(large->entries_seen));
  }
}

}  // namespace
}  // namespace daedalus::structure
