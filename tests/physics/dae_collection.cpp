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
    // U. Ascher and L. Petzold (SIAM J. Sci. Comput. 12, 1991): x1 = x2 = exp(t), of index 2 in Hessenberg form, with a parameter
// that makes direct methods unstable.
    {"ascher_petzold", 2, 1, R"toml(
kind="dae"
[parameters]
a=50
[variables]
x1=1
x2=1
z=0
[equations]
d1="der(x1) = (a - 1/(2-t))*x1 + (2-t)*a*z + (3-t)/(2-t)*exp(t)"
d2="der(x2) = (1-a)/(t-2)*x1 - x2 + (a-1)*z + 2*exp(t)"
c="(t+2)*x1 + (t^2-4)*x2 = (t^2+t-2)*exp(t)"
[outputs]
err1="(x1-exp(t))/exp(t)"
err2="(x2-exp(t))/exp(t)"
err3="(z + exp(t)/(2-t))"
[simulation]
t_end=1
)toml"},
    // An overhead crane whose load is led along a path: the angle of its rope follows from the acceleration of the load.
    {"crane", 5, 0, R"toml(
kind="dae"
[parameters]
M1=1
M2=1
J=0.1
g=1
[variables]
X=1
Z=1
d=1
r=1
th=0
tau=1
u1=0
u2=0
[equations]
e1="M2*X'' = -tau*sin(th)"
e2="M2*Z'' = -tau*cos(th) + M2*g"
e3="M1*d'' = u1 + tau*sin(th)"
e4="J*r'' = u2 + tau"
g1="X = r*sin(th) + d"
g2="Z = r*cos(th)"
px="X = 1+ 0.2*sin(t)"
pz="Z = 1+ 0.1*cos(t)-0.1"
[outputs]
T="-0.2*sin(t)"
err1="tan(th) - (0.2*sin(t))/(g+0.1*cos(t))"
err2="d - (1+0.2*sin(t) - Z*(0.2*sin(t))/(g+0.1*cos(t)))"
[simulation]
t_end=4
)toml"},
    // Three capacitors and a source of voltage.
    {"capacitors_at_a_source", 2, 1, R"toml(
kind="dae"
[parameters]
C1=1e-6
C2=2e-6
C3=3e-6
R=1000
[inputs]
vs="5*sin(300*t)"
[variables]
e1=0
e2=0
iV=0
[equations]
n1="iV + C1*der(e1) + C2*(der(e1)-der(e2)) = 0"
n2="C2*(der(e2)-der(e1)) + C3*der(e2) + e2/R = 0"
V="e1 = vs"
[outputs]
tau="R*(C2+C3)"
A="R*C2*1500"
err="e2 - A/(1+(300*tau)^2)*(cos(300*t)+300*tau*sin(300*t)-exp(-t/tau))"
[simulation]
t_end=0.05
)toml"},
    // A Sallen-Key filter with a nullor, critically damped; the structure says index 2.
    {"sallen_key", 1, 2, R"toml(
kind="dae"
[parameters]
R=1e4
C=1e-8
[inputs]
vin="1"
[variables]
v1=0
v2=0
vp=0
vo=0
iin=0
iop=0
[equations]
src="v1 = vin"
n1="iin + (v1-v2)/R = 0"
n2="(v2-v1)/R + (v2-vp)/R + C*(v2'-vo')=0"
np="(vp-v2)/R + C*vp' = 0"
nullor="vp = vo"
no="iop + C*(vo'-v2')=0"
[outputs]
s="t/(R*C)"
err="vo - (1-(1+s)*exp(-s))"
[simulation]
t_end=1e-3
)toml"},
    // A stirred tank whose cooling keeps its concentration on a path.
    {"reactor_control", 3, 0, R"toml(
kind="dae"
[parameters]
K0=10
E=2
[variables]
c=0.9
T=1
Tc=0.5
R=0
[equations]
mole="der(c) = 0.5*(1-c) - R"
heat="der(T) = 0.5*(1-T) + 2*R - (T-Tc)"
rate="R = K0*exp(-E/T)*c"
spec="c = 0.8 + 0.05*cos(t)"
[outputs]
Rr="0.5*(0.2-0.05*cos(t)) + 0.05*sin(t)"
errT="T + E/log(Rr/(K0*(0.8+0.05*cos(t))))"
[simulation]
t_end=3
)toml"},
    // Sums of the equations of a pendulum, in which every row has a part of the rod.
    {"mixed_pendulum", 3, 2, R"toml(
kind="dae"
[variables]
x=1
y=0
lam=0
[equations]
A="x'' + lam*x + (y'' + lam*y + 9.81) = 0"
B="x'' + lam*x - 2*(y'' + lam*y + 9.81) + x^2+y^2-1 = 0"
C="x'' + lam*x + 3*(x^2+y^2-1)=0"
[outputs]
err="x^2+y^2-1"
en="(x'^2+y'^2)/2+9.81*y"
errE="en/9.81"
[simulation]
t_end=3
)toml"},
    // Sums with coefficients that depend on the state: nothing constant repairs the structure.
    {"state_mixed", 2, 1, R"toml(
kind="dae"
[variables]
x=1
y=0
z=0
[definitions]
f1="der(x) + y - z*x"
f2="der(y) - x - z*y"
f3="x^2+y^2-1"
[equations]
e1="2*f1 + 0.3*x*f2 + 0.5*f3 = 0"
e2="0.3*y*f1 + 2*f2 - 0.5*f3 = 0"
e3="0.5*x*f1 + 0.5*f2 + 2*f3 = 0"
[outputs]
err="x-cos(t)"
erry="y-sin(t)"
[simulation]
t_end=3
)toml"},
    // A chain of integrators in coordinates that turn.
    {"rotated_chain", 3, 0, R"toml(
kind="dae"
[definitions]
c="cos(t)"
s="sin(t)"
w1="c*x + s*y"
w2="-s*x + c*y"
w3="z + x"
[variables]
x=0
y=0
z=0
[equations]
a="der(w1) - w2 + (w1 - sin(2*t))*s = 0"
b="der(w2) - w3 + c*(w1 - sin(2*t)) = 0"
d="(w1 - sin(2*t))*(2+s) + c*(der(w1)-w2) = 0"
[outputs]
err1="w1-sin(2*t)"
err2="w2-2*cos(2*t)"
err3="w3+4*sin(2*t)"
[simulation]
t_end=3
)toml"},
    // S. Campbell: the pencil is singular at every time, and the equations have one solution.
    {"singular_pencil_one_solution", 2, 0, R"toml(
kind="dae"
[variables]
x=1
y=0
[equations]
a="-x + t*y = sin(t)"
b="der(x) - t*der(y) = cos(t)"
[outputs]
err="y-2*cos(t)"
errx="x-(2*t*cos(t)-sin(t))"
[simulation]
t_end=2
)toml"},
    // An output that is prescribed leaves zero dynamics, which are free.
    {"zero_dynamics", 3, 1, R"toml(
kind="dae"
[variables]
x1=0
x2=0
x3=1
u=0
[equations]
a="der(x1) = x2"
b="der(x2) = -x1 + x3 + u"
c="der(x3) = -x3 + x1^2"
o="x1 = sin(t)"
[outputs]
err="x3 - (0.5 - 0.1*cos(2*t) - 0.2*sin(2*t) + 0.6*exp(-t))"
erru="u - (-sin(t)+sin(t) - x3)"
[simulation]
t_end=5
)toml"},
    // A pendulum in space: energy and angular momentum stay.
    {"pendulum_in_space", 3, 4, R"toml(
kind="dae"
[variables]
x=0.6
y=0
z=-0.8
lam=0
"der(y)"=1
[equations]
ex="x'' = -2*lam*x"
ey="y'' = -2*lam*y"
ez="z'' = -2*lam*z - 9.81"
rod="x^2+y^2+z^2=1"
[outputs]
err="(x'^2+y'^2+z'^2)/2 + 9.81*z - (0.5-9.81*0.8)"
errl="x*y'-y*x' - 0.6"
[simulation]
t_end=5
)toml"},
    // A pendulum of changing length, in Cartesian and polar coordinates at once.
    {"two_sets_of_coordinates", 3, 2, R"toml(
kind="dae"
[inputs]
l="1+0.1*sin(2*t)"
[variables]
x=0.6
y=-0.8
th=0.6
T=1
[equations]
fx="x'' = -T*x"
fy="y'' = -T*y - 9.81"
px="x = l*sin(th)"
py="y = -l*cos(th)"
[outputs]
err="x^2+y^2-l^2"
[simulation]
t_end=3
)toml"},
    // Hessenberg form of index 5, not linear.
    {"hessenberg5", 5, 0, R"toml(
kind="dae"
[variables]
x1=0
x2=0
x3=0
x4=0
z=1
[equations]
e1="der(x1) = x2 + sin(x1)"
e2="der(x2) = x3*(1+x1^2)"
e3="der(x3) = x4 + x2*x1"
e4="der(x4) = z*(1+x3^2)"
c="x1 = 0.5*sin(t)"
[outputs]
s="0.5*sin(t)"
err2="x2 - (0.5*cos(t) - sin(s))"
err3="x3 - (-0.5*sin(t) - cos(s)*0.5*cos(t))/(1+s^2)"
[simulation]
t_end=5
)toml"},
    // A characteristic from a table is prescribed. It passes through zero where one piece of it ends and the next begins:
    // what is left of its sums there is round-off of much larger terms.
    {"table_through_zero", 2, 0, R"toml(
kind="dae"
[tables]
map={x=[-3,-1,0,1,3],y=[-5,-1,0,1,4],interpolation="monotone"}
[variables]
x=0
z=0
[equations]
a="der(x) = z - x"
c="map(x) = 0.9*sin(t)"
[outputs]
err="map(x) - 0.9*sin(t)"
errz="z - x - der(x)"
[simulation]
t_end=4
)toml"},
    // Capacitors whose charges are no lines, beside a source of voltage.
    {"charges", 2, 1, R"toml(
kind="dae"
[variables]
q1=0
q2=0
e1=0
e2=0
i=0
[equations]
v="e1 = 2 + sin(3*t)"
n1="der(q1) + i = 0"
n2="der(q2) - der(q1) + e2/5 = 0"
c1="q1 = (e1-e2)^3 + (e1-e2)"
c2="q2 = e2^3 + 2*e2"
[outputs]
errc="q1-((e1-e2)^3+(e1-e2))"
[simulation]
t_end=3
)toml"},
    // Pressures of 1e5 and flows of 1e-4.
    {"two_tanks", 2, 1, R"toml(
kind="dae"
[variables]
p={start=1e5,nominal=1e5}
q={start=1e5,nominal=1e5}
m={start=1e-4,nominal=1e-4}
[equations]
a="der(p)*1e-9 = m - 1e-9*p"
b="der(q)*1e-9 = -m + 2e-9*(3e5-q)"
c="p - q = 1e3*sin(10*t)"
[outputs]
errc="(p-q-1e3*sin(10*t))/1e5"
[simulation]
t_end=1
)toml"},
    // The pendulum with its equations mixed by matrices that depend on the position: no combination with constant
    // coefficients repairs the structure.
    {"mixed_by_the_state", 3, 2, R"toml(
kind="dae"
[variables]
x=1
y=0
u=0
v=0
T=0
[equations]
a="cos(y)*(der(x)-u) + sin(y)*(x^2+y^2-1) = 0"
b="-sin(y)*(der(x)-u) + cos(y)*(x^2+y^2-1) = 0"
c="der(y)-v + x*(der(u)+T*x) = 0"
d="der(u)+T*x + 0.3*(der(v)+T*y+9.81) = 0"
e="der(v)+T*y+9.81 + 0.5*(der(y)-v)= 0"
[outputs]
err1="x^2 + y^2 - 1"
err2="(u^2 + v^2)/20 + 0.981*y"
err3="(T - u^2 - v^2 + 9.81*y)/30"
[simulation]
t_end=2
)toml"},
    // The same with events that look at derivatives.
    {"mixed_by_the_state_with_events", 3, 2, R"toml(
kind="dae"
[variables]
x=1
y=0
u=0
v=0
T=0
[discrete]
passed=0
[equations]
a="cos(y)*(der(x)-u) + sin(y)*(x^2+y^2-1) = 0"
b="-sin(y)*(der(x)-u) + cos(y)*(x^2+y^2-1) = 0"
c="der(y)-v + x*(der(u)+T*x) = 0"
d="der(u)+T*x + 0.3*(der(v)+T*y+9.81) = 0"
e="der(v)+T*y+9.81 + 0.5*(der(y)-v)= 0"
[events.bottom]
when="x"
reset={passed="passed + 1"}
[events.fast]
when="der(v) - 15"
reset={passed="passed + 10"}
[outputs]
err1="x^2 + y^2 - 1"
err2="(u^2 + v^2)/20 + 0.981*y"
err3="(T - u^2 - v^2 + 9.81*y)/30"
[simulation]
t_end=5
)toml"},
    // At the start, where y = 0, the derivatives have a smaller rank than beside it, and the index would be 1.
    {"smaller_rank_at_the_start", 2, 2, R"toml(
kind="dae"
[variables]
x=1
y=0
w=0
T=0
[equations]
a="der(x*y) = w"
b="der(x + w) = -T"
c="x^2 + y = 1 + sin(t)/2"
d="T = x + der(y)"
[outputs]
err1="x^2 + y - 1 - sin(t)/2"
err2="T - x - cos(t)/2 + 2*x*der(x)"
[simulation]
t_end=0.5
)toml"},
    // Both: every unknown is a sum, one of them of a force whose derivative nobody needs, and the coefficients of the sums of
    // equations depend on all unknowns. Combined unknowns repair the structure beside the solutions, and not on them.
    {"mixed_by_all_unknowns", 3, 2, R"toml(
kind="dae"
[definitions]
x="p + w"
y="q - w"
u="r + w/2"
v="s - w/2"
T="w - p/4 + r/2"
f1="der(x) - u"
f2="der(y) - v"
f3="der(u) + T*x"
f4="der(v) + T*y"
f5="x^2 + y^2 - 1"
[variables]
p=-0.25
q=1.25
r=-0.625
s=1.625
w=1.25
[equations]
e1="3*f1 + 0.5*sin(q)*f2 + 0.5*cos(p)*f3 + 0.5*sin(r)*f4 + 0.5*cos(s)*f5 = 0"
e2="0.5*sin(w)*f1 + 3*f2 + 0.5*sin(s)*f3 + 0.5*cos(p)*f4 + 0.5*sin(q)*f5 = 0"
e3="0.5*cos(r)*f1 + 0.5*sin(p)*f2 + 3*f3 + 0.5*cos(w)*f4 + 0.5*sin(s)*f5 = 0"
e4="0.5*sin(r)*f1 + 0.5*cos(q)*f2 + 0.5*sin(w)*f3 + 3*f4 + 0.5*cos(r)*f5 = 0"
e5="0.5*cos(s)*f1 + 0.5*sin(w)*f2 + 0.5*cos(q)*f3 + 0.5*sin(p)*f4 + 3*f5 = 0"
[outputs]
errx="x-cos(t)"
erry="y-sin(t)"
errT="T-1"
[simulation]
t_end=2
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

/// Every way that takes a model leads to the same solution; one that does not says why.
TEST_P(DaeCollection, IsSolvedInEveryWay) {
  const Known& one = GetParam();
  const solve::Prepared model = solve::prepare(model::read_model_text(one.text, one.name));
  std::size_t ways = 0;
  for (const std::string formulation : {"direct", "projection", "index1", "baumgarte", "dummy-derivatives", "overdetermined"}) {
    SCOPED_TRACE(formulation);
    solve::RunOptions options;
    options.formulation = formulation;
    options.samples = 21;
    options.rtol = 1e-7;
    solve::Trajectory run;
    try {
      run = solve::simulate(model, options);
    } catch (const Error& error) {
      EXPECT_TRUE(error.faults()[0].code == "formulation-does-not-fit" || error.faults()[0].code == "method-does-not-fit") << error.what();
      continue;
    }
    ++ways;
    ASSERT_TRUE(run.success()) << run.message;
    for (const model::Named& output : model.model->outputs) {
      if (!output.name.starts_with("err")) continue;
      for (std::size_t row = 0; row < run.t.size(); ++row)
        ASSERT_LE(std::abs(run.value(row, run.column(output.name))), 1e-4) << output.name << " at " << run.t[row];
    }
  }
  EXPECT_GE(ways, one.index == 1 || model.array ? 1u : 5u);
}

INSTANTIATE_TEST_SUITE_P(All, DaeCollection, testing::ValuesIn(collection), [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace daedalus::tests
