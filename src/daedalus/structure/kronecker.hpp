#pragma once

#include <complex>
#include <cstddef>
#include <optional>
#include <vector>

#include "daedalus/structure/pencil.hpp"
#include "daedalus/structure/staircase.hpp"

namespace daedalus::structure {

/// A finite eigenvalue of a pencil, or a cluster of several that rounding cannot tell apart.
struct FiniteEigenvalue {
  std::complex<double> value;    ///< the mean of a cluster
  std::size_t multiplicity = 1;  ///< algebraic
  double error = 0.0;            ///< how far it may be off because of the noise of the data
  double condition = 1.0;        ///< of the eigenvalue: its change per relative change of E and A, at first order
};

/// The Kronecker structure of A - lambda E, and what the answer rests on.
struct KroneckerStructure {
  std::size_t rows = 0, columns = 0;
  bool regular = false;
  std::vector<std::size_t> column_minimal_indices, row_minimal_indices;  ///< ascending
  std::vector<std::size_t> nilpotent_blocks;                             ///< sizes, descending
  std::vector<FiniteEigenvalue> finite;                                  ///< by real part, then imaginary part
  std::size_t differential_dimension = 0;                                ///< finite eigenvalues with their multiplicity
  std::optional<int> index;  ///< largest nilpotent block, 0 where there is none; of regular pencils only

  bool exact = false;                ///< by rational arithmetic: no rank was in doubt
  bool decided = true;               ///< false: the ranks are not clear, and this is the likeliest answer
  bool noise_alone = false;          ///< not decided because a row, a column or E may be nothing but noise
  std::vector<StaircaseRank> ranks;  ///< of the numerical reduction; E and A scaled to norm 1
  double kept = 1.0;                 ///< the smallest singular value that counts
  double dropped = 0.0;              ///< the largest one that does not: what the data are taken to be good to
  double gap() const;                ///< kept / dropped, at most 1e16
  std::size_t eliminated = 0;        ///< blocks of size 1 that sparse elimination took off before: see sparse_structure
  bool spectrum_known = true;        ///< false: there are too many finite eigenvalues to compute

  /// The finite eigenvalues, each as often as its multiplicity says.
  std::vector<std::complex<double>> spectrum() const;
};

/// Decides the structure by orthogonal staircase reduction and QZ. Every tolerance gives a structure, the same one
/// between the largest singular value dropped and the smallest one kept. The structure with the widest such gap counts,
/// among those that drop nothing above `most_noise` and keep nothing below `least_kept`. It is decided if the gap is at
/// least `least_gap`, twice that for every round beyond three, and `least_lead` times that of any other, and if every
/// value kept is `least_lead` times what the noise may have become by then.
struct KroneckerOptions {
  double least_gap = 1e3, least_lead = 10.0;
  double most_noise = 1e-6;
  double least_kept = 1e-8;
};
KroneckerStructure kronecker_structure(const Pencil& pencil, const KroneckerOptions& options = {});

/// The eigenvalues of a pencil whose E is known to be regular.
std::vector<FiniteEigenvalue> finite_spectrum(const Pencil& pencil);

/// The staircase form behind that answer, of the scaled pencil.
struct Reduction {
  PencilScaling scaling;
  Staircase stairs;
  bool decided = true;
  bool noise_alone = false;  ///< a row, a column or E may be nothing but the noise that the ranks show
};
Reduction reduce(const Pencil& pencil, const KroneckerOptions& options = {});
/// The structure that a reduction shows.
KroneckerStructure kronecker_structure(const Reduction& reduction);

}  // namespace daedalus::structure
