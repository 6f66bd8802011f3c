#include "daedalus/linalg/lapack.hpp"

#include <algorithm>

#include "daedalus/base/check.hpp"

// Fortran's interface: everything by address, matrices by columns, lengths of texts at the end.
extern "C" {
void dgesvd_(const char* jobu, const char* jobvt, const int* m, const int* n, double* a, const int* lda, double* s,
             double* u, const int* ldu, double* vt, const int* ldvt, double* work, const int* lwork, int* info,
             std::size_t, std::size_t);
void dgges_(const char* jobvsl, const char* jobvsr, const char* sort,
            int (*select)(const double*, const double*, const double*), const int* n, double* a, const int* lda,
            double* b, const int* ldb, int* sdim, double* alphar, double* alphai, double* beta, double* vsl,
            const int* ldvsl, double* vsr, const int* ldvsr, double* work, const int* lwork, int* bwork, int* info,
            std::size_t, std::size_t, std::size_t);
void dggev_(const char* jobvl, const char* jobvr, const int* n, double* a, const int* lda, double* b, const int* ldb,
            double* alphar, double* alphai, double* beta, double* vl, const int* ldvl, double* vr, const int* ldvr,
            double* work, const int* lwork, int* info, std::size_t, std::size_t);
void dtgsyl_(const char* trans, const int* ijob, const int* m, const int* n, const double* a, const int* lda,
             const double* b, const int* ldb, double* c, const int* ldc, const double* d, const int* ldd,
             const double* e, const int* lde, double* f, const int* ldf, double* scale, double* dif, double* work,
             const int* lwork, int* iwork, int* info, std::size_t);
}

namespace daedalus::linalg {

namespace {

int length(std::size_t n) { return static_cast<int>(std::max<std::size_t>(n, 1)); }

/// Entries by columns, never empty.
std::vector<double> by_columns(const DenseMatrix& a) {
  std::vector<double> result = transposed(a).entries;
  if (result.empty()) result.push_back(0.0);
  return result;
}

DenseMatrix from_columns(std::vector<double> entries, std::size_t rows, std::size_t columns) {
  entries.resize(rows * columns);
  return transposed(DenseMatrix{columns, rows, std::move(entries)});
}

/// Calls `routine(work, lwork)` first for the size of its workspace, then to work.
template <class Routine>
void with_workspace(Routine&& routine) {
  double best = 0.0;
  routine(&best, -1);
  std::vector<double> work(static_cast<std::size_t>(std::max(best, 1.0)));
  routine(work.data(), static_cast<int>(work.size()));
}

}  // namespace

Svd svd(const DenseMatrix& a) {
  const std::size_t rank = std::min(a.rows, a.columns);
  Svd result{DenseMatrix::identity(a.rows), DenseMatrix::identity(a.columns), std::vector<double>(rank)};
  if (rank == 0) return result;
  const int m = length(a.rows), n = length(a.columns);
  std::vector<double> entries = by_columns(a), u(a.rows * a.rows), vt(a.columns * a.columns);
  int info = 0;
  with_workspace([&](double* work, int size) {
    dgesvd_("A", "A", &m, &n, entries.data(), &m, result.values.data(), u.data(), &m, vt.data(), &n, work, &size, &info,
            1, 1);
  });
  DAEDALUS_CHECK(info >= 0, "dgesvd");
  result.U = from_columns(std::move(u), a.rows, a.rows);
  result.V = transposed(from_columns(std::move(vt), a.columns, a.columns));
  return result;
}

std::vector<double> singular_values(const DenseMatrix& a) {
  std::vector<double> values(std::min(a.rows, a.columns));
  if (values.empty()) return values;
  const int m = length(a.rows), n = length(a.columns), one = 1;
  std::vector<double> entries = by_columns(a);
  double none = 0.0;
  int info = 0;
  with_workspace([&](double* work, int size) {
    dgesvd_("N", "N", &m, &n, entries.data(), &m, values.data(), &none, &one, &none, &one, work, &size, &info, 1, 1);
  });
  DAEDALUS_CHECK(info >= 0, "dgesvd");
  return values;
}

GeneralizedSchur generalized_schur(const DenseMatrix& a, const DenseMatrix& b) {
  const std::size_t size = a.rows;
  if (size == 0) return {};
  const int n = length(size);
  std::vector<double> s = by_columns(a), t = by_columns(b), q(size * size), z(size * size), re(size), im(size),
                      beta(size);
  int sorted = 0, info = 0, none = 0;
  with_workspace([&](double* work, int lwork) {
    dgges_("V", "V", "N", nullptr, &n, s.data(), &n, t.data(), &n, &sorted, re.data(), im.data(), beta.data(), q.data(),
           &n, z.data(), &n, work, &lwork, &none, &info, 1, 1, 1);
  });
  return {from_columns(std::move(q), size, size), from_columns(std::move(z), size, size),
          from_columns(std::move(s), size, size), from_columns(std::move(t), size, size), info == 0};
}

GeneralizedEigen generalized_eigen(const DenseMatrix& a, const DenseMatrix& b) {
  const std::size_t size = a.rows;
  GeneralizedEigen result;
  if (size == 0) return result;
  const int n = length(size);
  std::vector<double> s = by_columns(a), t = by_columns(b), left(size * size), right(size * size), re(size), im(size),
                      beta(size);
  int info = 0;
  with_workspace([&](double* work, int lwork) {
    dggev_("V", "V", &n, s.data(), &n, t.data(), &n, re.data(), im.data(), beta.data(), left.data(), &n, right.data(),
           &n, work, &lwork, &info, 1, 1);
  });
  result.converged = info == 0;
  const auto vector = [&](const std::vector<double>& from, std::size_t j) {
    // A complex pair has its real parts in the first column, its imaginary parts in the second.
    std::vector<std::complex<double>> v(size);
    const bool second = im[j] < 0.0 && j > 0;
    double sum = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
      const double real = from[(second ? j - 1 : j) * size + i];
      const double imaginary = im[j] == 0.0 ? 0.0 : second ? -from[j * size + i] : from[(j + 1) * size + i];
      v[i] = {real, imaginary};
      sum += std::norm(v[i]);
    }
    if (sum > 0.0)
      for (std::complex<double>& entry : v) entry /= std::sqrt(sum);
    return v;
  };
  for (std::size_t j = 0; j < size; ++j)
    result.pairs.push_back({{re[j], im[j]}, beta[j], vector(left, j), vector(right, j)});
  return result;
}

SylvesterPair generalized_sylvester(const DenseMatrix& a, const DenseMatrix& b, const DenseMatrix& c,
                                    const DenseMatrix& d, const DenseMatrix& e, const DenseMatrix& f) {
  if (c.entries.empty()) return {c, f, true};
  const int m = length(a.rows), n = length(b.rows), job = 0;
  std::vector<double> x = by_columns(c), y = by_columns(f);
  const std::vector<double> a_columns = by_columns(a), b_columns = by_columns(b), d_columns = by_columns(d),
                            e_columns = by_columns(e);
  std::vector<int> integers(a.rows + b.rows + 6);
  double scale = 1.0, separation = 0.0;
  int info = 0;
  with_workspace([&](double* work, int lwork) {
    dtgsyl_("N", &job, &m, &n, a_columns.data(), &m, b_columns.data(), &n, x.data(), &m, d_columns.data(), &m,
            e_columns.data(), &n, y.data(), &m, &scale, &separation, work, &lwork, integers.data(), &info, 1);
  });
  SylvesterPair result{from_columns(std::move(x), a.rows, b.rows), from_columns(std::move(y), a.rows, b.rows),
                       info == 0 && scale > 0.0};
  for (double& entry : result.X.entries) entry /= scale;
  for (double& entry : result.Y.entries) entry /= scale;
  return result;
}

}  // namespace daedalus::linalg
