// QR in stages: ranks of groups of columns outside the groups before them, and solving with the pivots.
#include "daedalus/linalg/staged_qr.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace daedalus::linalg {
namespace {

// Columns: [a, a + b, b], [a - b, c], [c, d, e] in six dimensions: ranks 2, 1, 2, one row left.
TEST(StagedQr, FindsRanksOutsideTheGroupsBefore) {
  const double v[5][6] = {{1.0, 1.0, 0.0, 0.0, 0.0, 1.0},
                          {0.0, 1.0, -1.0, 0.0, 1.0, 0.0},
                          {0.0, 0.0, 1.0, 1.0, 0.0, -1.0},
                          {1.0, 0.0, 0.0, 0.0, 1.0, -1.0},
                          {0.0, 0.0, 0.0, 1.0, -1.0, 1.0}};
  StagedQr qr(6, {3, 2, 3});
  for (std::size_t i = 0; i < 6; ++i) {
    const double columns[] = {v[0][i],       v[0][i] + v[1][i], v[1][i],        v[0][i] - v[1][i],
                              1e8 * v[2][i], v[2][i],           1e-8 * v[3][i], v[4][i]};
    for (std::size_t j = 0; j < 8; ++j) qr.column(j)[i] = (i == 2 ? 1e6 : 1.0) * columns[j];
  }
  qr.balance(1e12);
  qr.factor(3, 1e-10);
  EXPECT_EQ(qr.stage(0).rank, 2u);
  EXPECT_EQ(qr.stage(1).rank, 1u);
  EXPECT_EQ(qr.stage(2).rank, 2u);
  for (std::size_t g = 0; g < 3; ++g) {
    EXPECT_GT(qr.stage(g).kept, 1e-3);
    EXPECT_LT(qr.stage(g).dropped, 1e-14);  // round-off of columns of length 1
  }
  EXPECT_EQ(qr.rank(), 5u);
}

TEST(StagedQr, DoesNotRaiseRoundOff) {
  StagedQr qr(2, {2});
  qr.column(0)[0] = 1.0;
  qr.column(1)[1] = 1e-17;  // what is left of 0.1 + 0.2 - 0.3
  qr.column(1)[0] = 0.0;
  qr.column(0)[1] = 1.0;
  qr.balance(1e6);
  qr.factor(1, 1e-9);
  EXPECT_EQ(qr.rank(), 1u);
}

TEST(StagedQr, SolvesWithItsPivots) {
  // [2 1; 0 3; 4 0] x = (5, 6, 6): x = (1.5, 2)
  StagedQr qr(3, {1, 1});
  const double a[2][3] = {{2.0, 0.0, 4.0}, {1.0, 3.0, 0.0}};
  for (std::size_t j = 0; j < 2; ++j)
    for (std::size_t i = 0; i < 3; ++i) qr.column(j)[i] = a[j][i];
  qr.balance(1e6);
  qr.factor(std::vector<std::size_t>{1, 1});
  double x[] = {5.0, 6.0, 6.0};
  qr.reduce(x);
  EXPECT_NEAR(x[2], 0.0, 1e-14);  // the equations agree
  qr.solve(x, 2);
  for (std::size_t k = 0; k < 2; ++k) x[k] *= qr.column_scales()[qr.order()[k]];
  EXPECT_NEAR(x[qr.order()[0] == 0 ? 0 : 1], 1.5, 1e-14);
  EXPECT_NEAR(x[qr.order()[0] == 0 ? 1 : 0], 2.0, 1e-14);
}

}  // namespace
}  // namespace daedalus::linalg
