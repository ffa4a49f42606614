# SciPy's solve_ivp on one problem: NAME METHOD RTOL. Prints its best CPU time, its counts and y[0] at the end.
import sys
import time
from math import cos, sin

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve


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


def oscillator(t, y):
    return [y[1], 5 * (1 - y[0] ** 2) * y[1] - y[0]]


# A link pinned at one end, in one coordinate.
def pinned(t, y):
    l, m = 1.0, 0.1
    bx, by = -l / 2 * sin(y[0]), l / 2 * cos(y[0])
    return [y[1], -by * m * 9.81 / (m * bx ** 2 + m * by ** 2 + m * l ** 2 / 12)]


# The same by embedding: three coordinates out of the constraints by fsolve, B' M B from their Jacobian.
def embedded(t, y):
    l, m = 1.0, 0.1
    end = np.array([-l / 2, 0])

    def turned(a):
        return np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])

    def slope(a):
        return np.array([[-np.sin(a), -np.cos(a)], [np.cos(a), -np.sin(a)]])

    def jacobian(q):
        return np.vstack((np.column_stack((np.eye(2), slope(q[2]) @ end)), [0, 0, 1]))

    q = fsolve(lambda q: np.append(q[:2] + turned(q[2]) @ end, q[2] - y[0]), [l / 2, 0, y[0]], fprime=jacobian)
    J = jacobian(q)[:2]
    B = np.vstack((-np.linalg.solve(J[:, :2], J[:, 2:]), np.eye(1)))
    M = np.diag([m, m, m * l ** 2 / 12])
    return [y[1], np.linalg.solve(B.T @ M @ B, B.T @ np.array([0, -m * 9.81, 0]))[0]]


la, lb, lc, ln = 0.8, 2.0, 1.0, 2.0


# A four-bar linkage by Kane's equation: scripts/four_bar.lua has it in full.
def four_bar(t, x):
    q1, q2, q3, u1 = x
    a, b, c = q1, q1 + q2, q1 + q2 + q3
    beta, gamma = -la * sin(c - a) / (lb * sin(c - b)), -la * sin(b - a) / (lc * sin(b - c))
    wb, wc = beta * u1, gamma * u1
    rate = beta * ((wc - u1) * cos(c - a) / sin(c - a) - (wc - wb) * cos(c - b) / sin(c - b))
    vx, vy = -la * sin(a) - lb * beta * sin(b), la * cos(a) + lb * beta * cos(b)
    dx = -la * u1 * cos(a) - lb * (beta * wb * cos(b) + rate * sin(b))
    dy = -la * u1 * sin(a) - lb * (beta * wb * sin(b) - rate * cos(b))
    mass, rest = la ** 2 + vx ** 2 + vy ** 2, (vx * dx + vy * dy) * u1 + 9.81 * (la * cos(a) + vy)
    return [u1, (beta - 1) * u1, (gamma - beta) * u1, -rest / mass]


# The same as a notebook evaluates it that takes Mk, gk, Md and gd for arrays and solves with them.
def kane(t, x):
    q1, q2, q3, u1 = x
    a, b, c = q1, q1 + q2, q1 + q2 + q3
    sa, sb, sc, ca, cb, cc = np.sin(a), np.sin(b), np.sin(c), np.cos(a), np.cos(b), np.cos(c)
    Mk = np.array([[-1, 0, 0], [-la * sa - lb * sb - lc * sc, -lb * sb - lc * sc, -lc * sc],
                   [la * ca + lb * cb + lc * cc, lb * cb + lc * cc, lc * cc]])
    qd = -np.linalg.solve(Mk, np.array([u1, 0, 0]))
    beta, wb, wc = -la * np.sin(c - a) / (lb * np.sin(c - b)), qd[0] + qd[1], qd[0] + qd[1] + qd[2]
    rate = beta * ((wc - u1) * np.cos(c - a) / np.sin(c - a) - (wc - wb) * np.cos(c - b) / np.sin(c - b))
    vx, vy = -la * sa - lb * beta * sb, la * ca + lb * beta * cb
    dx, dy = -la * u1 * ca - lb * (beta * wb * cb + rate * sb), -la * u1 * sa - lb * (beta * wb * sb - rate * cb)
    Md = np.array([[-la ** 2 - vx ** 2 - vy ** 2]])
    gd = np.array([-(vx * dx + vy * dy) * u1 - 9.81 * (la * ca + vy)])
    return np.concatenate((qd, -np.linalg.solve(Md, gd)))


def closed():
    def loop(r):
        b, c = np.pi / 18 + r[0], np.pi / 18 + r[0] + r[1]
        return [la * cos(np.pi / 18) + lb * cos(b) + lc * cos(c) - ln, la * sin(np.pi / 18) + lb * sin(b) + lc * sin(c)]

    return fsolve(loop, np.radians([20, -150]), xtol=1e-14)


problems = {
    "oscillator": (oscillator, 50, [2, 0]),
    "pinned": (pinned, 4, [0, 0]),
    "embedded": (embedded, 4, [0, 0]),
    "four_bar": (four_bar, 30, [np.pi / 18, *closed(), 0]),
    "kane": (kane, 30, [np.pi / 18, *closed(), 0]),
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
