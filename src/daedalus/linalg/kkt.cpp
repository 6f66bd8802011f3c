#include "daedalus/linalg/kkt.hpp"

#include <utility>
#include <variant>

#include "daedalus/base/check.hpp"
#include "daedalus/linalg/kkt_blocks.hpp"
#include "daedalus/linalg/kkt_dense.hpp"
#include "daedalus/linalg/kkt_penalty.hpp"
#include "daedalus/linalg/kkt_pseudoinverse.hpp"
#include "daedalus/linalg/kkt_schur.hpp"
#include "daedalus/linalg/kkt_sparse.hpp"

namespace daedalus::linalg {

namespace {
// Up to here the dense solver wins whatever the patterns.
constexpr std::size_t always_dense = 60;
// From here on its matrices would not fit.
constexpr std::size_t always_sparse = 12000;
// Blocks are taken where they are expected to cost less than this part of the sparse elimination, which loses fewer digits.
constexpr double clearly = 0.5;
}  // namespace

struct KktSolver::Implementation {
  Sparsity mass, jacobian;
  Backend backend;
  std::variant<std::unique_ptr<DenseKkt>, std::unique_ptr<SparseKkt>, std::unique_ptr<BlockKkt>,
               std::unique_ptr<SchurKkt>, std::unique_ptr<PseudoinverseKkt>, std::unique_ptr<PenaltyKkt>>
      solver;

  Implementation(Sparsity mass_pattern, Sparsity jacobian_pattern, Backend wanted, double penalty)
      : mass(std::move(mass_pattern)), jacobian(std::move(jacobian_pattern)), backend(wanted) {
    if (jacobian.rows == 0) jacobian.columns = mass.rows;
    DAEDALUS_CHECK(mass.rows == mass.columns, "M is {} by {}", mass.rows, mass.columns);
    DAEDALUS_CHECK(jacobian.columns == mass.rows, "G has {} columns, M {}", jacobian.columns, mass.rows);
    if (mass.rows == 0) backend = Backend::dense;
    switch (backend) {
      case Backend::blocks:
        solver = std::make_unique<BlockKkt>(mass, jacobian);
        break;
      case Backend::schur:
        solver = std::make_unique<SchurKkt>(mass, jacobian);
        break;
      case Backend::pseudoinverse:
        solver = std::make_unique<PseudoinverseKkt>(mass, jacobian);
        break;
      case Backend::penalty:
        solver = std::make_unique<PenaltyKkt>(mass, jacobian, penalty);
        break;
      default:
        choose_faster();
    }
  }

  void choose_faster() {
    const std::size_t size = mass.rows + jacobian.rows;
    if (backend == Backend::automatic && size <= always_dense) backend = Backend::dense;
    if (backend != Backend::dense) {
      auto sparse = std::make_unique<SparseKkt>(mass, jacobian);
      if (backend == Backend::automatic) {
        const bool dense_is_cheaper =
            size < always_sparse && DenseKkt::estimate_operations(mass, jacobian) < sparse->estimate_cost();
        backend = dense_is_cheaper ? Backend::dense : Backend::sparse;
        if (!dense_is_cheaper && BlockKkt::fits(mass)) {
          auto blocks = std::make_unique<BlockKkt>(mass, jacobian);
          if (blocks->estimate_cost() < clearly * sparse->estimate_cost()) {
            backend = Backend::blocks;
            solver = std::move(blocks);
            return;
          }
        }
      }
      solver = std::move(sparse);
    }
    if (backend == Backend::dense) solver = std::make_unique<DenseKkt>(mass, jacobian);
  }

  template <class Call>
  decltype(auto) with(Call call) {
    return std::visit([&](auto& chosen) -> decltype(auto) { return call(*chosen); }, solver);
  }
};

KktSolver::KktSolver(Sparsity mass, Sparsity jacobian, Backend backend, double penalty)
    : self_(std::make_unique<Implementation>(std::move(mass), std::move(jacobian), backend, penalty)) {}
KktSolver::~KktSolver() = default;
KktSolver::KktSolver(KktSolver&&) noexcept = default;
KktSolver& KktSolver::operator=(KktSolver&&) noexcept = default;

const Sparsity& KktSolver::mass() const { return self_->mass; }
const Sparsity& KktSolver::jacobian() const { return self_->jacobian; }
KktSolver::Backend KktSolver::backend() const { return self_->backend; }

KktOutcome KktSolver::factor(const double* M, const double* G) {
  return self_->with([&](auto& solver) { return solver.factor(M, G); });
}

void KktSolver::solve(const double* f, const double* gamma, double* a, double* lambda) {
  self_->with([&](auto& solver) { solver.solve(f, gamma, a, lambda); });
}

void KktSolver::limit_rank(std::size_t most) {
  if (auto* chosen = std::get_if<std::unique_ptr<PseudoinverseKkt>>(&self_->solver)) (*chosen)->limit_rank(most);
}

double KktSolver::inconsistency() const {
  return self_->with([](auto& solver) { return solver.inconsistency(); });
}

std::size_t KktSolver::rank() const {
  return self_->with([](auto& solver) { return solver.rank(); });
}

const std::vector<std::size_t>& KktSolver::dependent_rows() const {
  return self_->with([](auto& solver) -> const std::vector<std::size_t>& { return solver.dependent_rows(); });
}

}  // namespace daedalus::linalg
