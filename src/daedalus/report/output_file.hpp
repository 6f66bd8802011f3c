#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace daedalus::report {

/// A file that comes into being whole: it is written under another name in the same folder and gets its own name by
/// `commit`. Until then an older file of that name stays as it is. Devices, pipes and files in folders that do not take
/// new ones are written in place.
class OutputFile {
 public:
  /// Checks that the file can be written, without changing anything. Throws Error("cannot-write").
  explicit OutputFile(std::string path);
  /// Continues a file after its first `keep` bytes; what follows them is cut off with the first write.
  OutputFile(std::string path, std::uintmax_t keep);
  /// Takes the file back if it was not committed.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Appends and returns how many bytes were taken; fewer than given mean a fault, which `reason` explains.
  std::size_t write(std::string_view text);
  /// Takes the last bytes off again, where the file is no device.
  void cut(std::size_t bytes);
  /// Gives the file its name. False for a fault.
  bool commit();
  /// Waits until the disk has everything; network disks report faults only then. False for a fault.
  bool sync();
  /// Closes without committing and forgets what was written; the next write starts anew.
  void take_back();

  const std::string& path() const { return path_; }
  bool committed() const { return committed_; }
  /// Why the last call failed, in the words of the system: "No space left on device".
  std::string reason() const;
  /// What a person can do about it.
  std::string advice() const;

 private:
  bool open();
  void check();
  bool fault(int code);

  std::string path_, real_, temporary_;
  bool in_place_ = false, seekable_ = true, committed_ = false;
  std::uintmax_t keep_ = 0, offset_ = 0;
  bool continues_ = false;
  int descriptor_ = -1, error_ = 0;
};

/// Throws Error("cannot-write") unless a file of this name can be written; changes nothing.
void check_writable(const std::string& path);

/// Writes a file whole or not at all. Throws Error("cannot-write") that says why.
void write_file(const std::string& path, const std::string& text);

}  // namespace daedalus::report
