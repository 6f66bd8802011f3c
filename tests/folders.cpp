#include "folders.hpp"

namespace daedalus::tests {

std::string source_folder() { return DAEDALUS_SOURCE_DIR; }
std::string build_folder() { return DAEDALUS_BINARY_DIR; }

}  // namespace daedalus::tests
