#pragma once

#include <array>

#include "daedalus/report/plot_picture.hpp"

namespace daedalus::report {

// Okabe and Ito's colours, which people with any kind of colour blindness tell apart; grey in place of their yellow,
// which is too light for a thin line on white.
inline constexpr std::array<Color, 8> palette{{{0, 114, 178},
                                               {213, 94, 0},
                                               {0, 158, 115},
                                               {204, 121, 167},
                                               {230, 159, 0},
                                               {86, 180, 233},
                                               {0, 0, 0},
                                               {128, 128, 128}}};

}  // namespace daedalus::report
