"""A ball falls from H = 1 at rest on a floor with restitution e = 1/2, m = 1, g = 9.81.

mechanics_bouncing_ball_exact.csv: exact. Impact n = 0, 1, ... at T_n = s (1 + 2 e (1 - e^n) / (1 - e)), s = sqrt(2 H / g); it leaves with
e^(n+1) g s; all is over at s (1 + e) / (1 - e). mechanics_bouncing_ball_h5e-3.csv: the scheme, theta = 1/2, h = 5e-3.
"""
import math

import numpy as np

from theta_scheme import Model, run, write

H, e, g = 1.0, 0.5, 9.81
s = math.sqrt(2 * H / g)


def exact(t):
    if t >= s * (1 + e) / (1 - e):
        return 0.0, 0.0
    if t < s:
        return H - g * t * t / 2, -g * t
    n = 0
    while t >= s * (1 + 2 * e * (1 - e ** (n + 1)) / (1 - e)):
        n += 1
    t -= s * (1 + 2 * e * (1 - e ** n) / (1 - e))
    v = e ** (n + 1) * g * s
    return v * t - g * t * t / 2, v - g * t


class Ball(Model):
    linear = True
    def M(self, q): return np.eye(1)
    def F(self, t, q, v): return np.array([g])
    def gap(self, q): return q.copy()
    def G(self, q): return np.eye(1)


write("mechanics_bouncing_ball_exact", ["t", "q", "v"], [(k / 100, *exact(k / 100)) for k in range(201)])
ball = Ball()
rows = [(k, t, q[0], v[0], r[0]) for k, t, q, v, r in run(ball, [H], [0], 5e-3, 400, e=e, every=2)]
write("mechanics_bouncing_ball_h5e-3", ["k", "t", "q", "v", "p"], rows)
print("   margin %.1e" % ball.margin)
