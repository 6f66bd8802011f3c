#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace daedalus::test {

/// A fenced block of a page.
struct Block {
  std::string language, text;
  std::string comment;       ///< the HTML comment that ends right before the block, without its marks
  std::size_t line = 0;      ///< of the opening fence, counted from 1
  std::size_t end = 0;       ///< of the closing fence
  bool after_block = false;  ///< no heading stands between it and the block before
};

/// A line outside of the blocks.
struct ProseLine {
  std::string text;
  std::size_t line = 0;
};

struct Page {
  std::filesystem::path file;  ///< relative to the root of the project
  std::vector<Block> blocks;
  std::vector<ProseLine> prose;
};

/// Reads README.md and every page below docs, relative to the root of the project.
std::vector<std::filesystem::path> page_files();

Page read_page(const std::filesystem::path& file);

/// Says in which respect an output differs from what a page shows; empty if it does not. A line `...` of the page
/// stands for any lines. Numbers may differ by one unit in the last place shown or by 1e-9 of their size, which is more
/// than another mathematical library makes of them; numbers below 1e-12 are round-off and equal; times that a computer
/// needed and sizes of files in MB are not compared.
std::string difference(const std::string& shown, const std::string& printed);

}  // namespace daedalus::test
