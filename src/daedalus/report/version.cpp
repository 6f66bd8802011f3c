#include "daedalus/report/version.hpp"

namespace daedalus::report {

const char* version() { return DAEDALUS_VERSION; }

const char* commit() { return DAEDALUS_COMMIT; }

std::string version_text() {
#ifdef __clang__
  const std::string compiler = "clang " __clang_version__;
#else
  const std::string compiler = "g++ " __VERSION__;
#endif
  return std::string("daedalus ") + version() + "\ncommit   " + commit() + "\nbuilt    with " + compiler +
         ", " DAEDALUS_DEPENDENCIES;
}

}  // namespace daedalus::report
