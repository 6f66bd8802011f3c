#include "peers/ida.hpp"

#ifdef DAEDALUS_HAVE_IDA
#include <fmt/format.h>
#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include <stdexcept>

#include "daedalus/base/processor_time.hpp"
#include "daedalus/formulate/formulation_entry.hpp"
#endif

namespace daedalus::bench {

#ifndef DAEDALUS_HAVE_IDA

std::vector<Contestant> ida_runs(const std::shared_ptr<const solve::Prepared>&, const std::string&,
                                 const std::vector<std::string>&) {
  return {};
}

#else

namespace {

using integrate::Evaluation;

/// A model in an implicit form with everything that IDA asks for.
struct Equations {
  std::shared_ptr<const solve::Prepared> prepared;
  formulate::Formulated formulated;
  std::shared_ptr<const integrate::ImplicitSystem> F;
  std::vector<double> y, dy;  ///< at the start
  std::vector<std::size_t> compared;
  double t_start = 0.0, t_end = 0.0;
  std::vector<double> F_y, F_dy;
  double rtol = 0.0;
  double ends = 0.0;  ///< the processor time at which the run is broken off
  unsigned calls = 0;
  std::vector<double> own_atol, atol;  ///< of the unknown by itself, NaN where it has none; in force
};

std::shared_ptr<Equations> equations_of(const std::shared_ptr<const solve::Prepared>& prepared, const std::string& form,
                                        const std::vector<std::string>& compared) {
  auto equations = std::make_shared<Equations>();
  equations->prepared = prepared;
  equations->t_start = solve::start_time(*prepared->model, {});
  equations->t_end = prepared->model->simulation.t_end.value();
  const solve::Start start = solve::consistent_start(*prepared, equations->t_start, solve::Initialize::project);
  const formulate::FormulationEntry& entry = formulate::formulation(form);
  equations->formulated = entry.make({prepared->functions, prepared->solvable_dae(), {}, start.solvable, prepared->array},
                                     integrate::View::implicit, Options(parse_choice(form), entry.options));
  if (!start.guess.empty()) equations->formulated.guess(start.guess);
  const integrate::System& system = equations->formulated.system;
  equations->F = system.implicit;
  equations->y = start.x;
  equations->y.insert(equations->y.end(), start.algebraic.begin(), start.algebraic.end());
  const bool whole = equations->y.size() == system.dimension;
  equations->y.resize(system.dimension);
  if (!whole) system.complete(equations->t_start, equations->y.data());
  equations->dy.resize(system.dimension);
  if (equations->F->derivative(equations->t_start, equations->y.data(), equations->dy.data()) != Evaluation::ok)
    throw std::runtime_error("no derivatives at the start of " + prepared->model->name);
  for (const std::string& name : compared) {
    const auto found = std::ranges::find(system.names, name);
    if (found == system.names.end()) throw std::runtime_error("no unknown " + name);
    equations->compared.push_back(static_cast<std::size_t>(found - system.names.begin()));
  }
  for (const std::string& name : system.names) {
    double own = not_measured;
    for (const auto* unknowns : {&prepared->model->variables, &prepared->model->auxiliary})
      for (const model::Unknown& unknown : *unknowns)
        if (unknown.name == name && unknown.atol) own = *unknown.atol;
    equations->own_atol.push_back(own);
  }
  equations->atol.resize(system.dimension);
  equations->F_y.resize(equations->F->pattern.nonzeros());
  equations->F_dy.resize(equations->F->pattern.nonzeros());
  return equations;
}

Equations& of(void* user) { return *static_cast<Equations*>(user); }
double* data(N_Vector v) { return N_VGetArrayPointer(v); }

int residual(double t, N_Vector y, N_Vector dy, N_Vector F, void* user) {
  if (++of(user).calls % 256 == 0 && processor_seconds() > of(user).ends) return -1;
  return of(user).F->residual(t, data(y), data(dy), data(F)) == Evaluation::ok ? 0 : 1;
}

int jacobian(double t, double c, N_Vector y, N_Vector dy, N_Vector, SUNMatrix J, void* user, N_Vector, N_Vector, N_Vector) {
  Equations& equations = of(user);
  if (equations.F->jacobian(t, data(y), data(dy), equations.F_y.data(), equations.F_dy.data()) != Evaluation::ok) return 1;
  const linalg::Sparsity& pattern = equations.F->pattern;
  const bool dense = SUNMatGetID(J) == SUNMATRIX_DENSE;
  double* values = dense ? nullptr : SUNSparseMatrix_Data(J);
  if (!dense) {  // IDA clears the matrix before every call
    std::ranges::copy(pattern.row_start, SUNSparseMatrix_IndexPointers(J));
    std::ranges::copy(pattern.column, SUNSparseMatrix_IndexValues(J));
  }
  for (std::size_t i = 0; i < pattern.rows; ++i)
    for (std::size_t k = pattern.row_start[i]; k < pattern.row_start[i + 1]; ++k) {
      const double value = equations.F_y[k] + c * equations.F_dy[k];
      if (dense)
        SM_ELEMENT_D(J, static_cast<sunindextype>(i), static_cast<sunindextype>(pattern.column[k])) = value;
      else
        values[k] = value;
    }
  return 0;
}

/// Multipliers do not count.
int weights(N_Vector y, N_Vector w, void* user) {
  const Equations& equations = of(user);
  for (std::size_t i = 0; i < equations.y.size(); ++i) {
    const bool counts = equations.F->counts(i) && equations.F->index[i] <= 1;
    data(w)[i] = counts ? 1.0 / (equations.rtol * std::abs(data(y)[i]) + equations.atol[i]) : 1e-30;
  }
  return 0;
}

/// What IDA needs, freed together.
class Ida {
 public:
  Ida(Equations& equations, bool sparse, int order) {
    const auto n = static_cast<sunindextype>(equations.y.size());
    SUNContext_Create(nullptr, &context_);
    y_ = N_VNew_Serial(n, context_);
    dy_ = N_VNew_Serial(n, context_);
    std::ranges::copy(equations.y, data(y_));
    std::ranges::copy(equations.dy, data(dy_));
    ida_ = IDACreate(context_);
    IDAInit(ida_, residual, equations.t_start, y_, dy_);
    IDASetUserData(ida_, &equations);
    IDAWFtolerances(ida_, weights);
    matrix_ = sparse ? SUNSparseMatrix(n, n, static_cast<sunindextype>(equations.F->pattern.nonzeros()), CSR_MAT, context_)
                     : SUNDenseMatrix(n, n, context_);
    solver_ = sparse ? SUNLinSol_KLU(y_, matrix_, context_) : SUNLinSol_Dense(y_, matrix_, context_);
    IDASetLinearSolver(ida_, solver_, matrix_);
    IDASetJacFn(ida_, jacobian);
    IDASetMaxNumSteps(ida_, 2'000'000);
    IDASetMaxOrd(ida_, order);
    IDASetStopTime(ida_, equations.t_end);
    IDASetErrHandlerFn(ida_, [](int, const char*, const char*, char*, void*) {}, nullptr);
  }
  Ida(const Ida&) = delete;
  Ida& operator=(const Ida&) = delete;
  ~Ida() {
    IDAFree(&ida_);
    SUNLinSolFree(solver_);
    SUNMatDestroy(matrix_);
    N_VDestroy(y_);
    N_VDestroy(dy_);
    SUNContext_Free(&context_);
  }

  int solve(double t_end) {
    double t = 0.0;
    return IDASolve(ida_, t_end, &t, y_, dy_, IDA_NORMAL);
  }
  std::size_t steps() const { return count(IDAGetNumSteps); }
  std::size_t evaluations() const { return count(IDAGetNumResEvals); }
  const double* state() const { return data(y_); }

 private:
  std::size_t count(int (*get)(void*, long*)) const {
    long number = 0;
    get(ida_, &number);
    return static_cast<std::size_t>(number);
  }
  SUNContext context_ = nullptr;
  N_Vector y_ = nullptr, dy_ = nullptr;
  SUNMatrix matrix_ = nullptr;
  SUNLinearSolver solver_ = nullptr;
  void* ida_ = nullptr;
};

Outcome run(Equations& equations, bool sparse, int order, double tolerance, double patience) {
  equations.rtol = tolerance;
  for (std::size_t i = 0; i < equations.y.size(); ++i)
    equations.atol[i] = std::isnan(equations.own_atol[i]) ? tolerance : equations.own_atol[i];
  Ida ida(equations, sparse, order);
  const double begin = processor_seconds();
  equations.ends = begin + patience;
  const int status = ida.solve(equations.t_end);
  Outcome outcome{status >= 0, processor_seconds() - begin, {}, ida.steps(), ida.evaluations(), ""};
  if (!outcome.good) outcome.message = fmt::format("IDA ended with {}", status);
  for (const std::size_t i : equations.compared) outcome.values.push_back(ida.state()[i]);
  return outcome;
}

}  // namespace

std::vector<Contestant> ida_runs(const std::shared_ptr<const solve::Prepared>& prepared, const std::string& formulation,
                                 const std::vector<std::string>& compared) {
  const auto equations = equations_of(prepared, formulation, compared);
  const std::size_t n = equations->y.size();
  // measured: KLU is faster from some twenty unknowns on where the matrix is sparse
  const bool sparse = n > 20 && equations->F->pattern.nonzeros() < n * n / 4;
  std::vector<Contestant> runs;
  runs.push_back({"ida " + formulation,
                  [=](double tolerance, double patience) { return run(*equations, sparse, 5, tolerance, patience); }});
  if (n > 200)
    runs.push_back({"ida " + formulation + ", order 2",
                    [=](double tolerance, double patience) { return run(*equations, sparse, 2, tolerance, patience); }});
  return runs;
}

#endif

}  // namespace daedalus::bench
