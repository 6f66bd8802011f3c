#pragma once

// Coefficients of HEM5, a half-explicit Runge-Kutta method of order 5 for index 2 with eight stages: V. Brasey,
// Half-explicit methods for semi-explicit differential-algebraic equations of index 2, thesis, Universite de Geneve
// (1994); V. Brasey, E. Hairer, Half-explicit Runge-Kutta methods for differential-algebraic systems of index 2, SIAM
// J. Numer. Anal. 30 (1993) 538-552.

#include <array>
#include <cstddef>

namespace daedalus::integrate::hem5 {

inline constexpr std::size_t stages = 8;

inline constexpr std::array<double, stages + 1> node{0.0, 0.1, 0.15, 0.3614787346573635, 0.08535584335486351, 0.5,
                                                     0.8, 1.0, 1.0};

/// Row i gives stage i + 1 from the slopes of the stages before it; the last row is the result.
inline constexpr std::array<std::array<double, stages>, stages + 1> a{{
    {},
    {0.1},
    {0.0375, 0.1125},
    {0.3222169236216038, -1.188883322987607, 1.228145134023366},
    {-0.03501123898129943, 0.3725420601086163, -0.2721053535582034, 0.01993037578575077},
    {-0.5576547055042005, 1.367307289645883, -1.732236360460725, 0.4587772007467548, 0.9638065755722880},
    {0.08654517193566155, -0.08810082847945416, 0.1981275547329404, -0.4645422679331083, 0.1615170091109488,
     0.9064533606330119},
    {0.0, 0.0, 0.0, 3.624477248753816, -0.4617724189181256, -3.198024628164272, 1.035319798328740},
    {0.0, 0.0, 0.0, 0.2467760667636791, 0.2106594087489728, 0.1769218149125021, 0.3064446444147922,
     0.05919806516005373},
}};

/// A second estimate, of order 2, from the last two stages.
inline constexpr std::array<double, stages> rough{0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.5, -1.5};

}  // namespace daedalus::integrate::hem5
