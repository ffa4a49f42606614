"""Impacts located one by one, for the reference data of this directory: plain Python, no library, no simulation code.

Flight: Gragg's midpoint rule with 2, 4 .. 16 substeps, extrapolated to order 16 in a fixed step; an impact is a root of a gap in the
length of the last step, by bisection to the last bit. Each file is made with two steps, dt and dt / 2; what differs by more than the
bound that is printed is cut off: so much of the motion is known, although it is chaotic.

mechanics_double_pendulum_impacts.csv, _flight.csv: M(q) q'' + N + G = H' lambda with m1 = m2 = l1 = 1, l2 = 0.8, g = 9.81, e = 0.8, from
q = (1.2, 1.8) at rest, gap l1 sin q1 + l2 sin q2 + 0.4 (equations: scripts/double_pendulum.lua). Impacts with the velocities before and
after, and the state each 0.04 s.
mechanics_slider_crank_impacts.csv: the mechanism of scripts/slider_crank.lua from q3 = 0.01, c = 1 mm, e = 0.4, mu = 0.01, until impacts
accumulate; corner, angles, velocities before and after. Impact: u_n+ = -e u_n-; u_t+ = 0 if |r_t| <= mu r_n, else r_t = -+mu r_n.
"""
import os
from math import cos, sin

HERE = os.path.dirname(os.path.abspath(__file__))


def step(f, x, dt):
    """x after dt of x' = f(x)."""
    table = []
    for k in range(1, 9):
        n = 2 * k
        h, old = dt / n, x
        new = [a + h * b for a, b in zip(x, f(x))]
        for _ in range(n - 1):
            old, new = new, [a + 2 * h * b for a, b in zip(old, f(new))]
        row = [[(a + b + h * c) / 2 for a, b, c in zip(new, old, f(new))]]
        for j in range(1, k):
            ratio = (k / (k - j)) ** 2 - 1
            row.append([a + (a - b) / ratio for a, b in zip(row[j - 1], table[-1][j - 1])])
        table.append(row)
    return table[-1][-1]


def run(f, gaps, impact, x, end, dt, shortest=0.0):
    """Lists of (t, x) at multiples of dt, and of (t, contact, x before, x after); ends early after a flight below `shortest`."""
    t, grid, impacts, n = 0.0, [(0.0, x)], [], 0
    while n * dt < end - dt / 2:
        length = (n + 1) * dt - t
        ahead = step(f, x, length)
        hit = [i for i, g in enumerate(gaps(ahead)) if g < 0]
        if not hit:
            n, t, x = n + 1, (n + 1) * dt, ahead
            grid.append((t, x))
            continue
        low, high = 0.0, length
        while low < (low + high) / 2 < high:
            middle = (low + high) / 2
            inside = [i for i, g in enumerate(gaps(step(f, x, middle))) if g < 0]
            low, high, hit = (low, middle, inside) if inside else (middle, high, hit)
        assert len(hit) == 1
        before = step(f, x, low)
        x, t = impact(before, hit[0]), t + low
        if impacts and t - impacts[-1][0] < shortest:
            break
        impacts.append((t, hit[0] + 1, before, x))
    return grid, impacts


def solve2(a, b, c, d, x, y):
    """The solution of [a b; c d] z = (x, y)."""
    det = a * d - b * c
    return (d * x - b * y) / det, (a * y - c * x) / det


# The double pendulum
L2, GRAVITY, WALL, E = 0.8, 9.81, -0.4, 0.8


def pendulum(x):
    q1, q2, w1, w2 = x
    coupling, s = L2 * cos(q1 - q2), L2 * sin(q1 - q2)
    a = solve2(2, coupling, coupling, L2 ** 2, -s * w2 ** 2 - 2 * GRAVITY * sin(q1), s * w1 ** 2 - GRAVITY * L2 * sin(q2))
    return [w1, w2, *a]


def pendulum_impact(x, _):
    q1, q2, w1, w2 = x
    H, coupling = (cos(q1), L2 * cos(q2)), L2 * cos(q1 - q2)
    d = solve2(2, coupling, coupling, L2 ** 2, *H)
    r = -(1 + E) * (H[0] * w1 + H[1] * w2) / (H[0] * d[0] + H[1] * d[1])
    return [q1, q2, w1 + r * d[0], w2 + r * d[1]]


# The slider-crank mechanism
l1, l2, A, B, C = 0.153, 0.306, 0.05, 0.025, 0.001
m1, m2, m3, J1, J2, J3 = 0.038, 0.038, 0.076, 7.4e-5, 5.9e-4, 2.7e-6
S, M11, M22 = (m2 / 2 + m3) * l1 * l2, J1 + (m1 / 4 + m2 + m3) * l1 ** 2, J2 + (m2 / 4 + m3) * l2 ** 2
CORNERS = [(-1, 1), (1, 1), (-1, -1), (1, -1)]


def crank(x):
    q1, q2, _, w1, w2, w3 = x
    coupling, s = S * cos(q1 - q2), S * sin(q1 - q2)
    a = solve2(M11, coupling, coupling, M22, -s * w2 ** 2 - (m1 / 2 + m2 + m3) * GRAVITY * l1 * cos(q1),
               s * w1 ** 2 - (m2 / 2 + m3) * GRAVITY * l2 * cos(q2))
    return [w1, w2, w3, *a, 0.0]


def crank_gaps(x):
    y = l1 * sin(x[0]) + l2 * sin(x[1])
    return [B + C - sy * (y + sx * A * sin(x[2]) + sy * B * cos(x[2])) for sx, sy in CORNERS]


def crank_impact(x, i, e=0.4, mu=0.01):
    q, v, (sx, sy) = x[:3], x[3:], CORNERS[i]
    n = [-sy * l1 * cos(q[0]), -sy * l2 * cos(q[1]), -sy * sx * A * cos(q[2]) + B * sin(q[2])]
    t = [-l1 * sin(q[0]), -l2 * sin(q[1]), -sx * A * sin(q[2]) - sy * B * cos(q[2])]
    coupling = S * cos(q[0] - q[1])
    dn, dt = ([*solve2(M11, coupling, coupling, M22, *g[:2]), g[2] / J3] for g in (n, t))
    dot = lambda a, b: sum(p * r for p, r in zip(a, b))
    un, ut = dot(n, v), dot(t, v)
    rn, rt = solve2(dot(n, dn), dot(n, dt), dot(t, dn), dot(t, dt), -(1 + e) * un, -ut)
    if not (rn >= 0 and abs(rt) <= mu * rn):
        fits = []
        for sign in (1, -1):                      # u_t+ has this sign
            r = -(1 + e) * un / (dot(n, dn) - sign * mu * dot(n, dt))
            if r >= 0 and sign * (ut + r * (dot(t, dn) - sign * mu * dot(t, dt))) >= 0:
                fits.append((r, -sign * mu * r))
        (rn, rt), = fits
    return q + [a + rn * b + rt * c for a, b, c in zip(v, dn, dt)]


def agree(coarse, fine, bound):
    """The rows of `fine` up to the first that differs by more than the bound, and the largest difference kept."""
    kept, worst = [], 0.0
    for one, two in zip(coarse, fine):
        change = max(abs(p - q) / (1 + abs(q)) for p, q in zip(one, two))
        if change > bound:
            break
        kept, worst = kept + [two], max(worst, change)
    return kept, worst


def write(name, header, rows, worst):
    with open(os.path.join(HERE, "..", name + ".csv"), "w") as f:
        f.write(",".join(header) + "\n")
        for row in rows:
            f.write(",".join("%d" % x if isinstance(x, int) else "%.15g" % x for x in row) + "\n")
    print("%-42s %4d rows, to t = %.6g, known to %.1e" % (name + ".csv", len(rows), rows[-1][0], worst))


if __name__ == "__main__":
    grids, hits = [], []
    for n in (1, 2):
        grid, impacts = run(pendulum, lambda x: [sin(x[0]) + L2 * sin(x[1]) - WALL], pendulum_impact, [1.2, 1.8, 0.0, 0.0], 12, 0.01 / n)
        grids.append([(t, *x) for t, x in grid[::4 * n]])
        hits.append([(t, *x, *y[2:]) for t, _, x, y in impacts])
    write("mechanics_double_pendulum_flight", ["t", "q1", "q2", "w1", "w2"], *agree(*grids, 1e-7))
    write("mechanics_double_pendulum_impacts", ["t", "q1", "q2", "w1", "w2", "w1_after", "w2_after"], *agree(*hits, 1e-7))
    hits = []
    for n in (1, 2):
        _, impacts = run(crank, crank_gaps, crank_impact, [0.0, 0.0, 0.01, 150.0, -75.0, 0.0], 0.02, 1e-4 / n, 5e-7)
        hits.append([(t, i, *x, *y[3:]) for t, i, x, y in impacts])
    write("mechanics_slider_crank_impacts", ["t", "corner", "q1", "q2", "q3", "w1", "w2", "w3", "w1_after", "w2_after", "w3_after"],
          *agree(*hits, 1e-9))
