#include "daedalus/report/version.hpp"

namespace daedalus::report {

const char* version() { return DAEDALUS_VERSION; }

}  // namespace daedalus::report
