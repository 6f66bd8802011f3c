#include "daedalus/report/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "daedalus/base/error.hpp"

namespace daedalus::report {

namespace fs = std::filesystem;

namespace {

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

/// Creates a file with a name that nobody uses. Returns -1 and leaves errno where that fails.
int create_beside(const std::string& path, std::string& name) {
  for (int number = 0;; ++number) {
    name = fmt::format("{}/.daedalus-{}-{}.part", folder_of(path), getpid(), number);
    const int descriptor = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0 || errno != EEXIST) return descriptor;
  }
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) { check(); }

OutputFile::OutputFile(std::string path, std::uintmax_t keep) : path_(std::move(path)), keep_(keep), continues_(true) {
  check();
  in_place_ = true;
  offset_ = keep;
}

OutputFile::~OutputFile() { take_back(); }

void OutputFile::check() {
  const auto refuse = [&] {
    throw Error("cannot-write", fmt::format("'{}' cannot be written: {}", path_, reason()), advice());
  };
  struct stat status {};
  const bool exists = stat(path_.c_str(), &status) == 0;
  real_ = path_;
  if (exists) {
    if (S_ISDIR(status.st_mode)) {
      error_ = EISDIR;
      refuse();
    }
    seekable_ = S_ISREG(status.st_mode);
    std::error_code ignored;
    if (const fs::path real = fs::canonical(path_, ignored); !ignored) real_ = real.string();
    // Opening a pipe would wait for its reader.
    const int descriptor = seekable_ ? ::open(real_.c_str(), O_WRONLY | O_CLOEXEC) : -1;
    if (seekable_ ? descriptor < 0 : access(real_.c_str(), W_OK) != 0) {
      error_ = errno;
      refuse();
    }
    if (descriptor >= 0) ::close(descriptor);
    in_place_ = !seekable_;
  }
  std::error_code ignored;
  const bool dangling = !exists && fs::is_symlink(path_, ignored);
  if (in_place_) return;
  std::string name;
  const int descriptor = create_beside(real_, name);
  if (descriptor >= 0) {
    ::close(descriptor);
    unlink(name.c_str());
    in_place_ = dangling;
  } else if (exists) {
    in_place_ = true;
  } else {
    error_ = errno;
    refuse();
  }
}

bool OutputFile::fault(int code) {
  error_ = code;
  return false;
}

bool OutputFile::open() {
  if (descriptor_ >= 0) return true;
  if (!in_place_) {
    descriptor_ = create_beside(real_, temporary_);
    if (descriptor_ < 0) return fault(errno);
    struct stat status {};
    if (stat(real_.c_str(), &status) == 0) fchmod(descriptor_, status.st_mode & 07777U);
    return true;
  }
  descriptor_ = ::open(real_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) return fault(errno);
  committed_ = true;
  // Cut before writing: a crash in between leaves whole rows, the other order would leave a mixture.
  if (seekable_ && ftruncate(descriptor_, static_cast<off_t>(offset_)) != 0) return fault(errno);
  return true;
}

std::size_t OutputFile::write(std::string_view text) {
  if (!open()) return 0;
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t taken = seekable_
                              ? pwrite(descriptor_, text.data() + done, text.size() - done, static_cast<off_t>(offset_))
                              : ::write(descriptor_, text.data() + done, text.size() - done);
    if (taken < 0 && errno == EINTR) continue;
    if (taken <= 0) {
      fault(taken < 0 ? errno : ENOSPC);
      break;
    }
    done += static_cast<std::size_t>(taken);
    offset_ += static_cast<std::uintmax_t>(taken);
  }
  return done;
}

void OutputFile::cut(std::size_t bytes) {
  if (!seekable_ || descriptor_ < 0) return;
  offset_ -= bytes;
  // Where even this fails, the next write starts at the offset and covers the rest.
  if (ftruncate(descriptor_, static_cast<off_t>(offset_)) != 0) fault(errno);
}

bool OutputFile::commit() {
  if (!open()) return false;
  if (committed_) return true;
  if (std::rename(temporary_.c_str(), real_.c_str()) != 0) return fault(errno);
  temporary_.clear();
  committed_ = true;
  return true;
}

bool OutputFile::sync() {
  if (!open()) return false;
  // What cannot be synchronized (a pipe, a device) says EINVAL.
  if (fsync(descriptor_) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP) return true;
  return fault(errno);
}

void OutputFile::take_back() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty()) unlink(temporary_.c_str());
  temporary_.clear();
  if (!committed_) offset_ = keep_;
}

std::string OutputFile::reason() const { return std::strerror(error_ == 0 ? EIO : error_); }

std::string OutputFile::advice() const {
  switch (error_) {
    case ENOENT: {
      std::error_code ignored;
      if (fs::exists(folder_of(path_), ignored)) return "choose a folder that takes files";
      return fmt::format("create the folder '{}' or choose another", folder_of(path_));
    }
    case ENOSPC:
    case EDQUOT:
      return "make room on the disk or write to another one";
    case EFBIG:
      return "raise the limit on the size of files (ulimit -f), or write fewer rows with --every";
    case EISDIR:
      return "it is a folder: give the name of a file in it";
    default:
      return "choose a folder that exists and may be written to";
  }
}

void check_writable(const std::string& path) { const OutputFile file(path); }

void write_file(const std::string& path, const std::string& text) {
  OutputFile file(path);
  if (file.write(text) < text.size() || !file.sync() || !file.commit())
    throw Error("cannot-write", fmt::format("'{}' cannot be written: {}", path, file.reason()), file.advice());
}

}  // namespace daedalus::report
