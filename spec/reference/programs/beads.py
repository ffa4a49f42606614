"""Beads on a line, unit masses.

mechanics_cradle_e1.csv, _e0.5.csv: five beads of radius 0.05 with gaps of 0.0103; the first starts at -0.05 with velocity 1, the others at
(i - 1) 0.1103 at rest, no forces (with 0.01 the activations of the scheme are ties: q + h v / 2 would be 0 but for rounding). The scheme, theta = 1/2, h = 1e-3, 200 steps.
mechanics_cradle_exact_e1.csv, _e0.5.csv: the impacts in their order, exactly: t, left bead, both velocities after it
(v_l' = (1 - e) / 2 v_l + (1 + e) / 2 v_r, v_r' = (1 + e) / 2 v_l + (1 - e) / 2 v_r), until t = 0.2 for e = 1, 1/2.
"""
from fractions import Fraction

import numpy as np

from theta_scheme import Model, run, write


class Beads(Model):
    linear = True

    def __init__(self, H, b, weight):
        self.H, self.b, self.weight = H, b, weight

    def M(self, q): return np.eye(len(q))
    def F(self, t, q, v): return np.full(len(q), self.weight)
    def gap(self, q): return self.H @ q + self.b
    def G(self, q): return self.H


def scheme(name, H, b, weight, q, v, h, steps, e, every):
    model, n = Beads(H, b, weight), len(q)
    header = ["k", "t"] + ["q%d" % i for i in range(1, n + 1)] + ["v%d" % i for i in range(1, n + 1)] \
        + ["p%d" % i for i in range(1, len(b) + 1)]
    write(name, header, [(k, t, *q, *v, *r) for k, t, q, v, r in run(model, q, v, h, steps, e=e, every=every)])
    print("   margin %.1e" % model.margin)


def events(e, end):
    q, v, t, gap = [Fraction(-1, 20)] + [Fraction(1103 * i, 10000) for i in range(1, 5)], [Fraction(1)] + [Fraction(0)] * 4, Fraction(0), Fraction(1, 10)
    out = []
    while True:
        soon = [((q[i + 1] - q[i] - gap) / (v[i] - v[i + 1]), i) for i in range(4) if v[i] > v[i + 1]]
        if not soon or t + min(soon)[0] > end:
            return out
        dt, i = min(soon)
        t += dt
        q = [a + dt * b for a, b in zip(q, v)]
        v[i], v[i + 1] = (1 - e) / 2 * v[i] + (1 + e) / 2 * v[i + 1], (1 + e) / 2 * v[i] + (1 - e) / 2 * v[i + 1]
        out.append((float(t), i + 1, float(v[i]), float(v[i + 1])))


line = -np.eye(5)[:4] + np.eye(5)[1:]
for e in (1.0, 0.5):
    scheme("mechanics_cradle_e%g" % e, line, np.full(4, -0.1), 0.0, [-0.05] + [0.1103 * i for i in range(1, 5)],
           [1, 0, 0, 0, 0], 1e-3, 200, e, 1)
    write("mechanics_cradle_exact_e%g" % e, ["t", "left", "v_left", "v_right"], events(Fraction(e), Fraction(1, 5)))
