// HDF5 through its C interface. Files are made in memory (the "core" driver) and written by us: a full disk is then
// reported like that of any other file, and no half file is left.

#include "daedalus/report/hdf5.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <cstdint>
#include <optional>

#include "daedalus/base/check.hpp"
#include "daedalus/base/error.hpp"
#include "daedalus/report/version.hpp"

namespace daedalus::report {

namespace {

/// A handle of HDF5, closed at the end of its block.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }  // NOLINT: it stands for the id everywhere

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

template <class Number>
Number required(Number value, const char* what) {
  DAEDALUS_CHECK(value >= 0, "HDF5: {} failed with {}", what, value);
  return value;
}

/// HDF5 prints its errors unless told not to; the library never prints.
void be_silent() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name) text += c == '/' ? "%2F" : c == '%' ? "%25" : std::string(1, c);
  // "." alone means the group itself.
  return text == "." ? "%2E" : text;
}

std::string unescaped(const std::string& name) {
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const std::string code = name.substr(i, 3);
    const char c = code == "%2F" ? '/' : code == "%25" ? '%' : code == "%2E" ? '.' : '\0';
    text += c == '\0' ? name[i] : c;
    if (c != '\0') i += 2;
  }
  return text;
}

void write_series(hid_t group, const std::string& name, const std::vector<double>& values) {
  const hsize_t size = values.size();
  const Handle space(required(H5Screate_simple(1, &size, nullptr), "a dataspace"), H5Sclose);
  const Handle set(
      required(H5Dcreate2(group, name.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
               "a dataset"),
      H5Dclose);
  if (size > 0)
    required(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "writing a dataset");
}

void write_attribute(hid_t object, const std::string& name, hid_t file_type, hid_t memory_type, const void* value) {
  const Handle space(required(H5Screate(H5S_SCALAR), "a dataspace"), H5Sclose);
  const Handle attribute(
      required(H5Acreate2(object, name.c_str(), file_type, space, H5P_DEFAULT, H5P_DEFAULT), "an attribute"), H5Aclose);
  required(H5Awrite(attribute, memory_type, value), "writing an attribute");
}

void write_attribute(hid_t object, const std::string& name, double value) {
  write_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

void write_attribute(hid_t object, const std::string& name, std::int64_t value) {
  write_attribute(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}

void write_attribute(hid_t object, const std::string& name, const std::string& value) {
  const Handle type(required(H5Tcopy(H5T_C_S1), "a type"), H5Tclose);
  // The limit of an attribute is 64 kB.
  const std::string text = value.substr(0, 60000);
  H5Tset_size(type, text.size() + 1);
  H5Tset_cset(type, H5T_CSET_UTF8);
  write_attribute(object, name, type, type, text.c_str());
}

void write_attributes(hid_t root, const solve::Trajectory& run) {
  write_attribute(root, "version", std::string(version()));
  write_attribute(root, "model", run.model);
  write_attribute(root, "formulation", run.formulation);
  write_attribute(root, "method", run.method);
  write_attribute(root, "rtol", run.rtol);
  write_attribute(root, "atol", run.atol);
  if (run.step) write_attribute(root, "step", *run.step);
  for (const auto& [name, value] : run.options) write_attribute(root, "option." + name, value);
  write_attribute(root, "success", std::int64_t{run.success()});
  write_attribute(root, "status", solve::name_of(run.status));
  write_attribute(root, "message", run.message);
  std::string notes;
  for (const std::string& note : run.notes) notes += note + "\n";
  write_attribute(root, "notes", notes);
  static constexpr const char* levels[] = {"position", "velocity", "acceleration"};
  for (std::size_t level = 0; level < run.constraints.size(); ++level)
    if (run.constraints.present[level]) {
      const std::string name = run.constraints.mechanical ? levels[level] : std::to_string(level);
      write_attribute(root, "constraints." + name, run.constraints.absolute[level]);
      write_attribute(root, "constraints_relative." + name, run.constraints.relative[level]);
    }
  if (run.energy) write_attribute(root, "invariants.energy", *run.energy);
  for (const solve::InvariantResidual& one : run.invariants)
    if (one.name != "energy" || !run.energy) write_attribute(root, "invariants." + one.name, one.relative);
  const std::pair<const char*, std::size_t> counters[] = {{"steps", run.stats.steps},
                                                          {"rejected", run.stats.rejected},
                                                          {"rhs", run.stats.rhs},
                                                          {"jacobians", run.stats.jacobians},
                                                          {"factorizations", run.stats.factorizations},
                                                          {"newton_iterations", run.stats.newton_iterations},
                                                          {"projections", run.stats.projections}};
  for (const auto& [name, value] : counters)
    write_attribute(root, std::string("stats.") + name, static_cast<std::int64_t>(value));
  write_attribute(root, "stats.seconds", run.seconds);
  write_attribute(root, "stats.prepare_seconds", run.prepare_seconds);
}

/// Reads all numbers of a one-dimensional dataset; nothing where it is something else.
std::optional<std::vector<double>> read_series(hid_t group, const std::string& name) {
  const Handle set(H5Dopen2(group, name.c_str(), H5P_DEFAULT), H5Dclose);
  if (set < 0) return std::nullopt;
  const Handle space(H5Dget_space(set), H5Sclose), type(H5Dget_type(set), H5Tclose);
  if (H5Sget_simple_extent_ndims(space) != 1) return std::nullopt;
  if (H5Tget_class(type) != H5T_FLOAT && H5Tget_class(type) != H5T_INTEGER) return std::nullopt;
  std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  if (!values.empty() && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    return std::nullopt;
  return values;
}

std::string read_text_attribute(hid_t object, const char* name) {
  if (H5Aexists(object, name) <= 0) return {};
  const Handle attribute(H5Aopen(object, name, H5P_DEFAULT), H5Aclose);
  const Handle type(H5Aget_type(attribute), H5Tclose);
  if (H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) > 0) return {};
  std::string text(H5Tget_size(type), '\0');
  if (H5Aread(attribute, type, text.data()) < 0) return {};
  return text.substr(0, text.find('\0'));
}

herr_t add_name(hid_t, const char* name, const H5L_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

}  // namespace

std::string to_hdf5(const solve::Trajectory& run) {
  be_silent();
  const Handle access(required(H5Pcreate(H5P_FILE_ACCESS), "a property list"), H5Pclose);
  required(H5Pset_fapl_core(access, std::size_t{1} << 20, false), "the core driver");
  const Handle file(required(H5Fcreate("daedalus.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access), "a file"), H5Fclose);
  {
    const Handle root(required(H5Gopen2(file, "/", H5P_DEFAULT), "the root"), H5Gclose);
    write_attributes(root, run);
    write_series(root, "t", run.t);
    // Readers see the columns in this order instead of the alphabet's.
    const Handle ordered(required(H5Pcreate(H5P_GROUP_CREATE), "a property list"), H5Pclose);
    required(H5Pset_link_creation_order(ordered, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED),
             "the order of columns");
    const Handle group(required(H5Gcreate2(file, "values", H5P_DEFAULT, ordered, H5P_DEFAULT), "a group"), H5Gclose);
    std::vector<double> series(run.t.size());
    for (std::size_t column = 0; column < run.columns.size(); ++column) {
      for (std::size_t row = 0; row < series.size(); ++row) series[row] = run.value(row, column);
      write_series(group, escaped(run.columns[column]), series);
    }
  }
  required(H5Fflush(file, H5F_SCOPE_GLOBAL), "flushing");
  const auto size = static_cast<std::size_t>(required(H5Fget_file_image(file, nullptr, 0), "the size of the file"));
  std::string bytes(size, '\0');
  required(H5Fget_file_image(file, bytes.data(), size), "the bytes of the file");
  return bytes;
}

Hdf5Table read_hdf5(const std::string& path) {
  be_silent();
  const auto bad = [&](const std::string& what) -> Error {
    return {"bad-result-file", fmt::format("'{}' is no result to continue from: {}", path, what),
            "give a .csv, .json or .h5 file that `daedalus simulate --output` wrote"};
  };
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (file < 0) throw bad("it is not HDF5");
  Hdf5Table table;
  {
    const Handle root(H5Gopen2(file, "/", H5P_DEFAULT), H5Gclose);
    table.model = read_text_attribute(root, "model");
  }
  auto t = read_series(file, "t");
  if (!t) throw bad("it has no dataset 't' of numbers");
  table.t = std::move(*t);
  const Handle group(H5Gopen2(file, "values", H5P_DEFAULT), H5Gclose);
  if (group < 0) throw bad("it has no group 'values'");
  std::vector<std::string> names;
  hsize_t position = 0;
  if (H5Literate(group, H5_INDEX_CRT_ORDER, H5_ITER_INC, &position, add_name, &names) < 0) {
    names.clear();
    position = 0;
    H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, &position, add_name, &names);
  }
  for (const std::string& name : names) {
    auto series = read_series(group, name);
    if (!series) throw bad(fmt::format("'{}' is not a dataset of numbers", name));
    table.columns.push_back(unescaped(name));
    table.values.push_back(std::move(*series));
  }
  return table;
}

}  // namespace daedalus::report
