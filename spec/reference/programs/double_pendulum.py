"""Two point masses m on massless rods l1, l2, one hung on the other, angles q1, q2 from the vertical, and a wall at x = d on the left:

  M = m [2 l1^2, l1 l2 c; l1 l2 c, l2^2],  c = cos(q1 - q2), s = sin(q1 - q2)
  F = m [l1 l2 s q2'^2 + 2 g l1 sin q1; -l1 l2 s q1'^2 + g l2 sin q2]
  gap = l1 sin q1 + l2 sin q2 - d,  G = [l1 cos q1, l2 cos q2],  m = 1, l1 = 1, g = 9.81, e = 0.8

mechanics_double_pendulum_l0.8.csv: l2 = 0.8, d = -0.4, q = (1.2, 1.8), from rest.
The scheme, Newton's method converged, theta = 1/2, h = 1e-3, 2000 steps. M is taken at the end of a step, which makes the scheme
one of order 1. The motion is chaotic: differences grow, which the tolerance has to allow for.
"""
import numpy as np
from numpy import cos, sin

from theta_scheme import Model, run, write

g = 9.81


class DoublePendulum(Model):
    def __init__(self, l1, l2, d):
        self.l1, self.l2, self.d = l1, l2, d

    def M(self, q):
        x = self.l1 * self.l2 * cos(q[0] - q[1])
        return np.array([[2 * self.l1 ** 2, x], [x, self.l2 ** 2]])

    def F(self, t, q, v):
        a, s = self.l1 * self.l2, sin(q[0] - q[1])
        return np.array([a * s * v[1] ** 2 + 2 * g * self.l1 * sin(q[0]), -a * s * v[0] ** 2 + g * self.l2 * sin(q[1])])

    def Fq(self, t, q, v):
        x = self.l1 * self.l2 * cos(q[0] - q[1])
        return np.array([[x * v[1] ** 2 + 2 * g * self.l1 * cos(q[0]), -x * v[1] ** 2],
                         [-x * v[0] ** 2, x * v[0] ** 2 + g * self.l2 * cos(q[1])]])

    def Fv(self, t, q, v):
        a = self.l1 * self.l2 * sin(q[0] - q[1])
        return np.array([[0, 2 * a * v[1]], [-2 * a * v[0], 0]])

    def gap(self, q):
        return np.array([self.l1 * sin(q[0]) + self.l2 * sin(q[1]) - self.d])

    def G(self, q):
        return np.array([[self.l1 * cos(q[0]), self.l2 * cos(q[1])]])


model = DoublePendulum(1.0, 0.8, -0.4)
rows = [(k, t, *q, *v, *r) for k, t, q, v, r in run(model, [1.2, 1.8], [0, 0], 1e-3, 2000, e=0.8, every=10)]
write("mechanics_double_pendulum_l0.8", ["k", "t", "q1", "q2", "w1", "w2", "p"], rows)
print("   margin %.1e, %d impacts" % (model.margin, model.impacts))
