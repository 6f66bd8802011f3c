#pragma once

#include <string>
#include <vector>

#include "daedalus/solve/trajectory.hpp"

namespace daedalus::report {

/// The trajectory as the bytes of an HDF5 file: the dataset /t, one dataset of the same length per column in /values in
/// the order of the columns, and everything else as attributes of the root. In names / is written %2F and % is %25,
/// because / separates groups.
std::string to_hdf5(const solve::Trajectory& trajectory);

/// What a result file needs for a continued run.
struct Hdf5Table {
  std::string model;
  std::vector<std::string> columns;
  std::vector<double> t;
  std::vector<std::vector<double>> values;  ///< by column
};

/// Reads what to_hdf5 wrote. Throws Error("bad-result-file").
Hdf5Table read_hdf5(const std::string& path);

}  // namespace daedalus::report
