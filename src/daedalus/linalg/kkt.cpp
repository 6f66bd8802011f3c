#include "daedalus/linalg/kkt.hpp"

#include <utility>

#include "daedalus/base/check.hpp"
#include "daedalus/linalg/kkt_dense.hpp"
#include "daedalus/linalg/kkt_sparse.hpp"

namespace daedalus::linalg {

namespace {
// Up to here the dense solver wins whatever the patterns.
constexpr std::size_t always_dense = 60;
// From here on its matrices would not fit.
constexpr std::size_t always_sparse = 12000;
}  // namespace

struct KktSolver::Implementation {
  Sparsity mass, jacobian;
  Backend backend;
  std::unique_ptr<DenseKkt> dense;
  std::unique_ptr<SparseKkt> sparse;

  Implementation(Sparsity mass_pattern, Sparsity jacobian_pattern, Backend wanted)
      : mass(std::move(mass_pattern)), jacobian(std::move(jacobian_pattern)), backend(wanted) {
    if (jacobian.rows == 0) jacobian.columns = mass.rows;
    DAEDALUS_CHECK(mass.rows == mass.columns, "M is {} by {}", mass.rows, mass.columns);
    DAEDALUS_CHECK(jacobian.columns == mass.rows, "G has {} columns, M {}", jacobian.columns, mass.rows);
    const std::size_t size = mass.rows + jacobian.rows;
    if (mass.rows == 0) backend = Backend::dense;
    if (backend == Backend::automatic && size <= always_dense) backend = Backend::dense;
    if (backend != Backend::dense) sparse = std::make_unique<SparseKkt>(mass, jacobian);
    if (backend == Backend::automatic) {
      const bool dense_is_cheaper =
          size < always_sparse && DenseKkt::estimate_operations(mass, jacobian) < sparse->estimate_cost();
      backend = dense_is_cheaper ? Backend::dense : Backend::sparse;
    }
    if (backend == Backend::dense) {
      sparse.reset();
      dense = std::make_unique<DenseKkt>(mass, jacobian);
    }
  }
};

KktSolver::KktSolver(Sparsity mass, Sparsity jacobian, Backend backend)
    : self_(std::make_unique<Implementation>(std::move(mass), std::move(jacobian), backend)) {}
KktSolver::~KktSolver() = default;
KktSolver::KktSolver(KktSolver&&) noexcept = default;
KktSolver& KktSolver::operator=(KktSolver&&) noexcept = default;

const Sparsity& KktSolver::mass() const { return self_->mass; }
const Sparsity& KktSolver::jacobian() const { return self_->jacobian; }
KktSolver::Backend KktSolver::backend() const { return self_->backend; }

KktOutcome KktSolver::factor(const double* M, const double* G) {
  return self_->dense ? self_->dense->factor(M, G) : self_->sparse->factor(M, G);
}

void KktSolver::solve(const double* f, const double* gamma, double* a, double* lambda) {
  if (self_->dense) {
    self_->dense->solve(f, gamma, a, lambda);
  } else {
    self_->sparse->solve(f, gamma, a, lambda);
  }
}

double KktSolver::inconsistency() const {
  return self_->dense ? self_->dense->inconsistency() : self_->sparse->inconsistency();
}

std::size_t KktSolver::rank() const { return self_->dense ? self_->dense->rank() : self_->sparse->rank(); }

const std::vector<std::size_t>& KktSolver::dependent_rows() const {
  return self_->dense ? self_->dense->dependent_rows() : self_->sparse->dependent_rows();
}

}  // namespace daedalus::linalg
