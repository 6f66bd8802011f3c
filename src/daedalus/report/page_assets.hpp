#pragma once

#include <string_view>

namespace daedalus::report {

/// The page's style sheet and scripts, made from web/ when the program is built. The second script draws in space.
std::string_view page_style();
std::string_view page_script();
std::string_view page_script_3d();

}  // namespace daedalus::report
