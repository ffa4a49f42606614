# SciPy's solve_ivp on one problem: NAME METHOD RTOL. Prints its best CPU time, its counts and y[0] at the end.
import sys
import time
from math import cos, sin

import numpy as np
from scipy.integrate import solve_ivp


def lorenz(t, y):
    return [10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]]


def pendulum(t, y):
    d = y[0] - y[1]
    c, s = cos(d), sin(d)
    a, b = -s * y[3] ** 2 - 2 * 9.81 * sin(y[0]), s * y[2] ** 2 - 9.81 * sin(y[1])
    det = 2 - c * c
    return [y[2], y[3], (a - c * b) / det, (2 * b - c * a) / det]


def vdp(t, y):
    return [y[1], 1000 * (1 - y[0] ** 2) * y[1] - y[0]]


def robertson(t, y):
    a, b, c = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return [-a + b, a - b - c, c]


def heat(t, y):
    f = -2 * y
    f[0] += 1
    f[1:] += y[:-1]
    f[:-1] += y[1:]
    return (len(y) + 1) ** 2 * f


problems = {
    "lorenz": (lorenz, 10, [1, 1, 1]),
    "pendulum": (pendulum, 5, [1, 0.5, 0, 0]),
    "vdp": (vdp, 3000, [2, 0]),
    "robertson": (robertson, 1e6, [1, 0, 0]),
    "heat": (heat, 1, np.zeros(50)),
}
f, T, y0 = problems[sys.argv[1]]
rtol = float(sys.argv[3])
best = 1e9
for _ in range(3):
    start = time.process_time()
    sol = solve_ivp(f, (0, T), y0, method=sys.argv[2], rtol=rtol, atol=1e-2 * rtol)
    best = min(best, time.process_time() - start)
print("time", best)
print("nfev", sol.nfev)
print("njev", sol.njev)
print("nlu", sol.nlu)
print("steps", len(sol.t) - 1)
print("y", sol.y[0, -1])
