"""A pendulum and a wall: q'' + 10 sin q = cos(q) lambda, 0 <= sin q _|_ lambda >= 0, restitution e = 0.9 of x' = cos(q) q', q(0) = 1 at rest.

mechanics_pendulum_h5e-4.csv: the scheme with Newton's method converged, theta = 1/2, h = 5e-4, 10000 steps.
mechanics_pendulum_exact.csv: the impacts, exactly. With k = sin(q0 / 2) the first is at K(k) / sqrt(10), with q' = -2 k sqrt(10); each leaves
e times the speed, k_{n+1} = e k_n, and the next one comes 2 K(k_{n+1}) / sqrt(10) later. K(k) = pi / (2 agm(1, sqrt(1 - k^2))).
"""
import math

import numpy as np

from theta_scheme import Model, run, write


def K(k):
    a, b = 1.0, math.sqrt(1 - k * k)
    while abs(a - b) > 1e-15:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return math.pi / (a + b)


class Pendulum(Model):
    def M(self, q): return np.eye(1)
    def F(self, t, q, v): return 10 * np.sin(q)
    def Fq(self, t, q, v): return np.array([[10 * np.cos(q[0])]])
    def gap(self, q): return np.sin(q)
    def G(self, q): return np.array([[np.cos(q[0])]])


pendulum = Pendulum()
rows = [(k, t, q[0], v[0], r[0]) for k, t, q, v, r in run(pendulum, [1.0], [0.0], 5e-4, 10000, e=0.9, every=50)]
write("mechanics_pendulum_h5e-4", ["k", "t", "q", "w", "p"], rows)
print("   margin %.1e, %d impacts" % (pendulum.margin, pendulum.impacts))
t, k, rows = 0.0, math.sin(0.5), []
t = K(k) / math.sqrt(10)
while t < 20:
    rows.append((len(rows) + 1, t, -2 * k * math.sqrt(10), 0.9 * 2 * k * math.sqrt(10)))
    k *= 0.9
    t += 2 * K(k) / math.sqrt(10)
write("mechanics_pendulum_exact", ["impact", "t", "w_before", "w_after"], rows)
