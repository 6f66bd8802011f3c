#include "cli/output_kinds.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "daedalus/base/error.hpp"

namespace daedalus::cli {

void refuse_folder(const std::string& path, const std::string& example) {
  std::error_code ignored;
  if (path.empty() || (!path.ends_with('/') && !std::filesystem::is_directory(path, ignored))) return;
  const std::filesystem::path inside = std::filesystem::path(path) / example;
  throw Error("cannot-write", fmt::format("'{}' is a folder, not a file", path),
              fmt::format("give the name of a file in it, such as {}", inside.string()));
}

PlotKind plot_kind_of(const std::string& path) {
  if (path.empty()) return PlotKind::none;
  if (path.ends_with(".svg")) return PlotKind::svg;
  if (path.ends_with(".pdf")) return PlotKind::pdf;
  throw Error("unknown-file-type", fmt::format("the ending of '{}' does not say what to draw", path),
              "end the name in .svg or .pdf");
}

bool page_asked(const std::string& path) {
  if (path.empty() || path.ends_with(".html")) return !path.empty();
  throw Error("unknown-file-type", fmt::format("the ending of '{}' does not say that it is a page", path),
              "end the name in .html");
}

}  // namespace daedalus::cli
