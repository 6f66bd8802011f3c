// The seven-body mechanism after E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, section VII.7:
// M(q) q'' + G^T lambda = f(q, q'), and g(q) = 0 differentiated twice, G q'' = gamma. Every term of g is a sine or cosine of an
// angle, whose second derivative is minus itself times the square of the rate.
#include "peers/hand.hpp"

namespace daedalus::bench {

HandRun hand_andrews(double tolerance) {
  auto rhs = [](double, const double* s, double* ds) {
    constexpr double m1 = 0.04325, m2 = 0.00365, m3 = 0.02373, m4 = 0.00706, m5 = 0.07050, m6 = 0.00706, m7 = 0.05498;
    constexpr double I1 = 2.194e-6, I2 = 4.410e-7, I3 = 5.255e-6, I4 = 5.667e-7, I5 = 1.169e-5, I6 = 5.667e-7, I7 = 1.912e-5;
    constexpr double xb = -0.03635, yb = 0.03273, xc = 0.014, yc = 0.072;
    constexpr double d = 28e-3, da = 115e-4, e = 2e-2, ea = 1421e-5, rr = 7e-3, ra = 92e-5, ss = 35e-3, sa = 1874e-5;
    constexpr double sb = 1043e-5, sc = 18e-3, sd = 2e-2, ta = 2308e-5, tb = 916e-5, u = 4e-2, ua = 1228e-5, ub = 449e-5;
    constexpr double zf = 2e-2, zt = 4e-2, fa = 1421e-5, c0 = 4530, l0 = 7785e-5, mom = 33e-3;
    constexpr double e4 = e - ea, e6 = zf - fa;
    const double beta = s[0], theta = s[1], gamma = s[2], phi = s[3], delta = s[4], omega = s[5], epsilon = s[6];
    const double vb = s[7], vt = s[8], vg = s[9], vp = s[10], vd = s[11], vo = s[12], ve = s[13];
    const double sin_b = std::sin(beta), cos_b = std::cos(beta), sin_t = std::sin(theta), cos_t = std::cos(theta);
    const double sin_g = std::sin(gamma), cos_g = std::cos(gamma), sin_p = std::sin(phi), cos_p = std::cos(phi);
    const double sin_d = std::sin(delta), cos_d = std::cos(delta), sin_o = std::sin(omega), cos_o = std::cos(omega);
    const double sin_e = std::sin(epsilon), cos_e = std::cos(epsilon);
    const double sin_bt = std::sin(beta + theta), cos_bt = std::cos(beta + theta);
    const double sin_pd = std::sin(phi + delta), cos_pd = std::cos(phi + delta);
    const double sin_oe = std::sin(omega + epsilon), cos_oe = std::cos(omega + epsilon);

    const double xd = sd * cos_g + sc * sin_g + xb, yd = sd * sin_g - sc * cos_g + yb;
    const double length = std::sqrt((xd - xc) * (xd - xc) + (yd - yc) * (yd - yc));
    const double pull = -c0 * (length - l0) / length, Fx = pull * (xd - xc), Fy = pull * (yd - yc);

    double A[13][13] = {}, b[13];
    A[0][0] = m1 * ra * ra + m2 * (rr * rr - 2 * da * rr * cos_t + da * da) + I1 + I2;
    A[0][1] = A[1][0] = m2 * (da * da - da * rr * cos_t) + I2;
    A[1][1] = m2 * da * da + I2;
    A[2][2] = m3 * (sa * sa + sb * sb) + I3;
    A[3][3] = m4 * e4 * e4 + I4;
    A[3][4] = A[4][3] = m4 * (e4 * e4 + zt * e4 * sin_p) + I4;
    A[4][4] = m4 * (zt * zt + 2 * zt * e4 * sin_p + e4 * e4) + m5 * (ta * ta + tb * tb) + I4 + I5;
    A[5][5] = m6 * e6 * e6 + I6;
    A[5][6] = A[6][5] = m6 * (e6 * e6 - u * e6 * sin_o) + I6;
    A[6][6] = m6 * (e6 * e6 - 2 * u * e6 * sin_o + u * u) + m7 * (ua * ua + ub * ub) + I6 + I7;

    b[0] = mom - m2 * da * rr * vt * (vt + 2 * vb) * sin_t;
    b[1] = m2 * da * rr * vb * vb * sin_t;
    b[2] = Fx * (sc * cos_g - sd * sin_g) + Fy * (sd * cos_g + sc * sin_g);
    b[3] = m4 * zt * e4 * vd * vd * cos_p;
    b[4] = -m4 * zt * e4 * vp * (vp + 2 * vd) * cos_p;
    b[5] = -m6 * u * e6 * ve * ve * cos_o;
    b[6] = m6 * u * e6 * vo * (vo + 2 * ve) * cos_o;

    const auto entry = [&](std::size_t constraint, std::size_t coordinate, double value) {
      A[7 + constraint][coordinate] = A[coordinate][7 + constraint] = value;
    };
    const double cosine_b = -rr * sin_b + d * sin_bt, sine_b = rr * cos_b - d * cos_bt;
    for (std::size_t pair = 0; pair < 3; ++pair) {
      entry(2 * pair, 0, cosine_b);
      entry(2 * pair, 1, d * sin_bt);
      entry(2 * pair + 1, 0, sine_b);
      entry(2 * pair + 1, 1, -d * cos_bt);
    }
    entry(0, 2, -ss * cos_g);
    entry(1, 2, -ss * sin_g);
    entry(2, 3, -e * cos_pd);
    entry(2, 4, -e * cos_pd + zt * sin_d);
    entry(3, 3, -e * sin_pd);
    entry(3, 4, -e * sin_pd - zt * cos_d);
    entry(4, 5, zf * sin_oe);
    entry(4, 6, zf * sin_oe - u * cos_e);
    entry(5, 5, -zf * cos_oe);
    entry(5, 6, -zf * cos_oe - u * sin_e);

    const double vbt = (vb + vt) * (vb + vt), vpd = (vp + vd) * (vp + vd), voe = (vo + ve) * (vo + ve);
    const double along_x = rr * cos_b * vb * vb - d * cos_bt * vbt, along_y = rr * sin_b * vb * vb - d * sin_bt * vbt;
    b[7] = along_x - ss * sin_g * vg * vg;
    b[8] = along_y + ss * cos_g * vg * vg;
    b[9] = along_x - e * sin_pd * vpd - zt * cos_d * vd * vd;
    b[10] = along_y + e * cos_pd * vpd - zt * sin_d * vd * vd;
    b[11] = along_x - zf * cos_oe * voe - u * sin_e * ve * ve;
    b[12] = along_y - zf * sin_oe * voe + u * cos_e * ve * ve;
    hand_solve(A, b);
    for (std::size_t i = 0; i < 7; ++i) {
      ds[i] = s[7 + i];
      ds[7 + i] = b[i];
    }
  };
  // consistent to the last digit; theta = 0 at rest
  const std::vector<double> start{-0.0617138900142764496358948458001, 0.0,
                                  0.455279819163070380255912382449,  0.222668390165885884674473185609,
                                  0.487364979543842550225598953530, -0.222668390165885884674473185609,
                                  1.23054744454982119249735015568,   0, 0, 0, 0, 0, 0, 0};
  return hand_dop853(rhs, start, 0.03, tolerance, tolerance);
}

}  // namespace daedalus::bench
