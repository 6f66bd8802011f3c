// DAEs of many kinds, as people write them: circuits with ideal amplifiers, reactors, prescribed paths, equations in implicit
// forms. Each has an output that is the difference from its exact solution.

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>

#include "daedalus/model/reader.hpp"
#include "daedalus/solve/analysis.hpp"
#include "daedalus/solve/pipeline.hpp"

namespace daedalus::tests {
namespace {

struct Known {
  const char* name;
  int index;
  std::size_t free;  ///< initial values
  const char* text;
};
std::ostream& operator<<(std::ostream& out, const Known& one) { return out << one.name; }

const Known collection[] = {
    // A capacitor and an ideal operational amplifier: its output is -R C e1'.
    {"opamp_differentiator", 2, 0, R"toml(
kind = "dae"
[parameters]
R=1e4
C=1e-7
w=300
[variables]
e1=0
e2=0
e3=0
iv=0
iop=0
[equations]
source="e1 = sin(w*t)"
n1="iv + C*(der(e1)-der(e2)) = 0"
n2="C*(der(e2)-der(e1)) + (e2-e3)/R = 0"
n3="(e3-e2)/R + iop = 0"
nullator="e2 = 0"
[outputs]
err1="(e3 + R*C*w*cos(w*t))/(R*C*w)"
[simulation]
t_end=0.05
)toml"},
    // Each differentiator raises the index by one.
    {"three_differentiators", 4, 0, R"toml(
kind = "dae"
[variables]
u0=0
u1=0
u2=0
u3=0
i1=0
i2=0
i3=0
[equations]
s="u0 = sin(2*t)"
a="i1 = der(u0)"
a2="u1 = -i1"
b="i2 = der(u1)"
b2="u2 = -i2"
c="i3 = der(u2)"
c2="u3 = -i3"
[outputs]
err3="u3 - 8*cos(2*t)"
[simulation]
t_end=5
)toml"},
    // Two coils and a source of current meet at a node.
    {"li_cutset", 2, 1, R"toml(
kind = "dae"
[parameters]
L1=0.1
L2=0.2
R=10
[variables]
e1=0
e2=0
e3=0
i1=0
i2=0
[equations]
n1="-sin(50*t) + i1 + i2 = 0"
n2="-i1 + e2/R = 0"
n3="-i2 + e3/R = 0"
c1="L1*der(i1) = e1 - e2"
c2="L2*der(i2) = e1 - e3"
[simulation]
t_end=0.5
[outputs]
kcl="i1+i2-sin(50*t)"
errx="i1+i2-sin(50*t)"
)toml"},
    // A reaction that is always in equilibrium: its rate keeps a linear relation, and mass is conserved.
    {"equilibrium_reaction", 2, 2, R"toml(
kind = "dae"
[variables]
a=1
b=0.5
c=0
r=0
[equations]
A="der(a) = -r"
B="der(b) = r - 0.4*b"
Cc="der(c) = 0.4*b"
eq="b = 0.5*a"
[outputs]
err1="a + b + c - (1.5)"
[simulation]
t_end=5
)toml"},
    // Inverse dynamics of two links whose tip is led on a circle.
    {"two_link_prescribed", 3, 0, R"toml(
kind = "dae"
[parameters]
m=1
[variables]
q1=0.5
q2=1.0
u1=0
u2=0
[equations]
d1="(3+2*cos(q2))*q1'' + (1+cos(q2))*q2'' - sin(q2)*(2*q1'*q2'+q2'^2) = u1"
d2="(1+cos(q2))*q1'' + q2'' + sin(q2)*q1'^2 = u2"
tipx="cos(q1)+cos(q1+q2) = 0.9+0.2*cos(t)"
tipy="sin(q1)+sin(q1+q2) = 1.4+0.2*sin(t)"
[outputs]
err1="cos(q1)+cos(q1+q2) - 0.9-0.2*cos(t)"
[simulation]
t_end=6
)toml"},
    // The link of a flexible joint is prescribed: the torque of its motor needs four derivatives of the path.
    {"flexible_joint", 5, 0, R"toml(
kind = "dae"
[variables]
q=0
th=0
u=0
[equations]
link="der(q,2) + 5*sin(q) + 10*(q - th) = 0"
motor="0.5*der(th,2) - 10*(q - th) = u"
path="q = 0.3*sin(t)"
[outputs]
err="q + (-0.3*sin(t) + 5*sin(0.3*sin(t)))/10 - th"
[simulation]
t_end=6
)toml"},
    // The robot arm with flexible joint of S. Campbell and E. Griepentrog (SIAM J. Sci. Comput. 16, 1995), whose structural index is 3; the
// exact motion is x1 = 1 - exp(t), x3 = exp(t) - t.
    {"robot_arm_campbell", 5, 0, R"toml(
kind = "dae"
[definitions]
p1="cos(exp(t)-1)+cos(t-1)"
p2="sin(1-exp(t))+sin(1-t)"
a="2/(2-cos(x3)^2)"
b="cos(x3)/(2-cos(x3)^2)"
c="sin(x3)/(2-cos(x3)^2)"
d="sin(x3)*cos(x3)/(2-cos(x3)^2)"
[variables]
x1=-1
x2=1
x3=1
u1=0
u2=0
"der(x1)"=1
"der(x2)"=0
"der(x3)"=0
[equations]
e1="der(x1,2) = 2*c*(x1'+x3')^2 + x1'^2*d + (2*x3-x2)*(a+2*b) + a*(u1-u2)"
e2="der(x2,2) = -2*c*(x1'+x3')^2 - x1'^2*d + (2*x3-x2)*(1-3*a-2*b) - a*u1 + (a+1)*u2"
e3="der(x3,2) = -2*c*(x1'+x3')^2 - x1'^2*d + (2*x3-x2)*(a-9*b) - 2*x1'^2*c - d*(x1'+x3')^2 - (a+b)*(u1-u2)"
path1="cos(x1)+cos(x1+x3) = p1"
path2="sin(x1)+sin(x1+x3) = p2"
[outputs]
err1="x1 - (1 - exp(t))"
err3="x3 - (exp(t) - t)"
[simulation]
t_end=0.9
)toml"},
    // A third derivative, prescribed.
    {"third_derivative", 4, 0, R"toml(
kind = "dae"
[variables]
x=0
u=0
[equations]
jerk="der(x,3) + 2*der(x,2)*x = u"
path="x = sin(t)"
[outputs]
err="u - (-cos(t) - 2*sin(t)^2)"
[simulation]
t_end=6
)toml"},
    // 003: derivatives inside products.
    {"implicit_rates_index1", 1, 1, R"toml(
kind = "dae"
[variables]
x=0
z=-1.5
[equations]
a="x - der(x) + 1 = 0"
b="der(x)*z + 2 = 0"
[outputs]
err1="x - (exp(t)-1)"
err2="z + 2*exp(-t)"
[simulation]
t_end=2
)toml"},
    // C. Gear and L. Petzold (SIAM J. Numer. Anal. 21, 1984): coefficients that depend on time, structural index 1.
    {"gear_petzold", 2, 0, R"toml(
kind = "dae"
[variables]
x=0
y=0
[equations]
a="x + 2*t*y = exp(-t)"
b="der(x) + 2*t*der(y) + 3*y = sin(t)"
[outputs]
err2="y - (sin(t) + exp(-t))/(3-2)"
[simulation]
t_end=2
)toml"},
    // A skate as plain equations: velocities are constrained.
    {"sleigh_dae", 2, 5, R"toml(
kind = "dae"
[variables]
x=0
y=0
th=0
lam=0
"der(x)"=1
"der(th)"=1
[equations]
ex="der(x,2) = lam*sin(th)"
ey="der(y,2) = -lam*cos(th)"
et="der(th,2) = 0"
skate="der(x)*sin(th) - der(y)*cos(th) = 0"
[outputs]
err="x - sin(t)"
[simulation]
t_end=5
)toml"},
    // An input whose derivatives are the solution.
    {"input_derivatives", 3, 0, R"toml(
kind = "dae"
[inputs]
ref="tanh(3*sin(t))"
[variables]
x=0
v=0
a=0
[equations]
p="x = ref"
q="der(x)=v"
r="der(v)=a"
[outputs]
err="v - 3*cos(t)*(1-tanh(3*sin(t))^2)"
[simulation]
t_end=6
)toml"},
    // Everything stays where it is: residuals of hidden constraints are zeros beside zeros.
    {"catalyst_mixing_index", 2, 1, R"toml(
kind = "dae"
[variables]
x=1
y=0
u=0.5
w=0
[equations]
a="der(x) = u*(10*y - x)"
b="der(y) = u*(x - 10*y) - (1-u)*y"
c="x + 2*y + w = 1"
d="w = y - y^2"
[outputs]
err1="x - 1"
err2="y"
[simulation]
t_end=0.5
)toml"},
};

class DaeCollection : public testing::TestWithParam<Known> {};

/// With the default options; errors of a thousand tolerances are far from a wrong solution and allow for growth of errors.
TEST_P(DaeCollection, IsUnderstoodAndSolved) {
  const Known& one = GetParam();
  const solve::Prepared model = solve::prepare(model::read_model_text(one.text, one.name));
  const solve::Analysis analysis = solve::analyze(model, 0.0);
  EXPECT_EQ(analysis.index, one.index);
  EXPECT_EQ(analysis.free_initial_values, one.free);
  solve::RunOptions options;
  options.samples = 51;
  options.rtol = 1e-7;
  const solve::Trajectory run = solve::simulate(model, options);
  ASSERT_TRUE(run.success()) << run.message;
  for (const model::Named& output : model.model->outputs) {
    if (!output.name.starts_with("err")) continue;
    for (std::size_t row = 0; row < run.t.size(); ++row)
      ASSERT_LE(std::abs(run.value(row, run.column(output.name))), 1e-4) << output.name << " at " << run.t[row];
  }
  if (one.index > 1) {
    for (const double residual : run.constraints.relative) EXPECT_LE(residual, 1e-11);
  }
}

INSTANTIATE_TEST_SUITE_P(All, DaeCollection, testing::ValuesIn(collection), [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace daedalus::tests
