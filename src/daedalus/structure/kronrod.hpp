#pragma once

#include <cstddef>

namespace daedalus::structure {

// Nodes and weights of Kronrod's rule with 15 points on [-1, 1], ascending half; the odd ones are Gauss' rule with 7.
constexpr double kronrod_nodes[8] = {0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
                                     0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
                                     0.586087235467691130294144691693013, 0.405845151377397166906606412076961,
                                     0.207784955007898467600689403773245, 0.0};
constexpr double kronrod_weights[8] = {0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
                                       0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
                                       0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
                                       0.204432940075298892414161999234649, 0.209482141084727828012999174891714};
constexpr double gauss_weights[4] = {0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
                                     0.381830050505118944950369775488975, 0.417959183673469387755102040816327};
constexpr std::size_t kronrod_points = 15;

/// Node i on [0, 1], ascending.
constexpr double kronrod_node(std::size_t i) { return 0.5 * (1.0 + (i < 8 ? -kronrod_nodes[i] : kronrod_nodes[14 - i])); }
/// Its weight on [0, 1], and that of an odd one in Gauss' rule.
constexpr double kronrod_weight(std::size_t i) { return 0.5 * kronrod_weights[i < 8 ? i : 14 - i]; }
constexpr double gauss_weight(std::size_t i) { return 0.5 * gauss_weights[(i < 8 ? i : 14 - i) / 2]; }

}  // namespace daedalus::structure
