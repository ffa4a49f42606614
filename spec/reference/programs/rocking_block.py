"""A block falls on two corners; the system of trajectory_rocking_block.csv, but with Newton's method converged in each step.

  q = (x, y, a), M = diag(1, 1, (1.5^2 + 1) / 12), weight 9.81, Lb = 0.2, Hb = 0.1, e = 1/2, no friction
  gap_1,2 = y -+ (Lb / 2) sin a - (Hb / 2) cos a;   q(0) = (0, 1, 0.2) at rest, theta = 0.50001, h = 1e-2, 199 steps
"""
import numpy as np
from numpy import cos, sin

from theta_scheme import Model, run, write

A, B = 0.1, 0.05


class Block(Model):
    def M(self, q): return np.diag([1, 1, (1.5 ** 2 + 1) / 12])
    def F(self, t, q, v): return np.array([0, 9.81, 0])
    def gap(self, q): return np.array([q[1] - A * sin(q[2]) - B * cos(q[2]), q[1] + A * sin(q[2]) - B * cos(q[2])])
    def G(self, q): return np.array([[0, 1, -A * cos(q[2]) + B * sin(q[2])], [0, 1, A * cos(q[2]) + B * sin(q[2])]])


block = Block()
rows = [(k, t, *q, *v, *r) for k, t, q, v, r in run(block, [0, 1, 0.2], [0, 0, 0], 1e-2, 199, theta=0.50001, e=0.5)]
write("mechanics_rocking_block", ["k", "t", "x", "y", "a", "vx", "vy", "w", "p1", "p2"], rows)
print("   margin %.1e" % block.margin)
