#pragma once

namespace daedalus::report {

/// Version of the program, as in CMakeLists.txt.
const char* version();

}  // namespace daedalus::report
