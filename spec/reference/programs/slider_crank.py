"""A slider-crank mechanism whose slider has clearance in its guide: Flores, Leine, Glocker, Multibody System Dynamics 23 (2010) 165-190.

q = (q1, q2, q3), angles of crank, rod and slider; the slider's centre is (l1 cos q1 + l2 cos q2, l1 sin q1 + l2 sin q2).
  l1 = 0.153, l2 = 0.306, slider 2 a x 2 b = 0.1 x 0.05, guide |y| <= b + c, c = 0.001
  m = (0.038, 0.038, 0.076), J = (7.4e-5, 5.9e-4, 2.7e-6), g = 9.81 in -y; e = 0.4, mu = 0.01 at all four corners
  M11 = J1 + (m1 / 4 + m2 + m3) l1^2, M12 = (m2 / 2 + m3) l1 l2 cos(q1 - q2), M22 = J2 + (m2 / 4 + m3) l2^2, M33 = J3
  F1 = (m2 / 2 + m3) l1 l2 sin(q1 - q2) q2'^2 + (m1 / 2 + m2 + m3) g l1 cos q1
  F2 = -(m2 / 2 + m3) l1 l2 sin(q1 - q2) q1'^2 + (m2 / 2 + m3) g l2 cos q2,  F3 = 0
Corner (sx a, sy b) of the slider, (sx, sy) = (-1, 1), (1, 1), (-1, -1), (1, -1):
  X = l1 cos q1 + l2 cos q2 + sx a cos q3 - sy b sin q3,  Y = l1 sin q1 + l2 sin q2 + sx a sin q3 + sy b cos q3
  gap = b + c - sy Y,  sliding velocity X'
mechanics_slider_crank.csv: q(0) = 0, q'(0) = (150, -75, 0); the scheme, Newton's method converged, theta = 1/2, h = 1e-5, 1500 steps. Both upper
corners touch at once and q3 remains 0 but for rounding: leave q3 and w3 out.  _tilted.csv: the same with q3(0) = 0.01.
"""
import numpy as np
from numpy import cos, sin

from theta_scheme import Model, run, write

l1, l2, a, b, c, g = 0.153, 0.306, 0.05, 0.025, 0.001, 9.81
m1, m2, m3, J1, J2, J3 = 0.038, 0.038, 0.076, 7.4e-5, 5.9e-4, 2.7e-6
X = (m2 / 2 + m3) * l1 * l2
CORNERS = [(-1, 1), (1, 1), (-1, -1), (1, -1)]


class SliderCrank(Model):
    friction = True

    def M(self, q):
        x = X * cos(q[0] - q[1])
        return np.array([[J1 + (m1 / 4 + m2 + m3) * l1 ** 2, x, 0], [x, J2 + (m2 / 4 + m3) * l2 ** 2, 0], [0, 0, J3]])

    def F(self, t, q, v):
        s = X * sin(q[0] - q[1])
        return np.array([s * v[1] ** 2 + (m1 / 2 + m2 + m3) * g * l1 * cos(q[0]),
                         -s * v[0] ** 2 + (m2 / 2 + m3) * g * l2 * cos(q[1]), 0])

    def Fq(self, t, q, v):
        x = X * cos(q[0] - q[1])
        return np.array([[x * v[1] ** 2 - (m1 / 2 + m2 + m3) * g * l1 * sin(q[0]), -x * v[1] ** 2, 0],
                         [-x * v[0] ** 2, x * v[0] ** 2 - (m2 / 2 + m3) * g * l2 * sin(q[1]), 0], [0, 0, 0]])

    def Fv(self, t, q, v):
        s = X * sin(q[0] - q[1])
        return np.array([[0, 2 * s * v[1], 0], [-2 * s * v[0], 0, 0], [0, 0, 0]])

    def gap(self, q):
        Y = [l1 * sin(q[0]) + l2 * sin(q[1]) + sx * a * sin(q[2]) + sy * b * cos(q[2]) for sx, sy in CORNERS]
        return np.array([b + c - sy * y for (sx, sy), y in zip(CORNERS, Y)])

    def G(self, q):
        rows = []
        for sx, sy in CORNERS:
            rows.append([-sy * l1 * cos(q[0]), -sy * l2 * cos(q[1]), -sy * (sx * a * cos(q[2]) - sy * b * sin(q[2]))])
            rows.append([-l1 * sin(q[0]), -l2 * sin(q[1]), -sx * a * sin(q[2]) - sy * b * cos(q[2])])
        return np.array(rows)


header = ["k", "t", "q1", "q2", "q3", "w1", "w2", "w3"] + ["%s%d" % (x, i) for i in range(1, 5) for x in "nt"]
for name, tilt in (("mechanics_slider_crank", 0.0), ("mechanics_slider_crank_tilted", 0.01)):
    model = SliderCrank()
    steps = run(model, [0, 0, tilt], [150, -75, 0], 1e-5, 1500, e=0.4, mu=0.01, every=10, tolerance=1e-11)
    write(name, header, [(k, t, *q, *v, *r) for k, t, q, v, r in steps])
    print("   margin %.1e, %d steps with contact" % (model.margin, model.impacts))
