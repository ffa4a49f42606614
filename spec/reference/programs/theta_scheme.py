"""The scheme of Moreau and Jean, written out in numpy for the reference data of this directory. No simulation code is used.

One step from t_k to t_{k+1} = t_k + h of  M(q) v' + F(t, q, v) = G(q)^T r (measures),  gaps g(q), G = dg/dq:

  M(q) (v - v_k) + h theta F(t_{k+1}, q, v) + h (1 - theta) F(t_k, q_k, v_k) = G(q)^T r      at v = v_{k+1}, q = q_{k+1},
  q_{k+1} = q_k + h (theta v_{k+1} + (1 - theta) v_k),
  contact i is active when  g_i(q_k) + gamma h u_i^k <= 0, else r_i = 0;  u = G(q) v, u^k = G(q_k) v_k, gamma = 1/2,
  0 <= u_n + e u_n^k  _|_  r_n >= 0,   and with friction  r_t in -mu r_n Sign(u_t)   (r: impulses).

Newton's method from v_k, q_k + h v_k, with W = M + h theta F_v + h^2 theta^2 F_q, until the change of v and r is rounding; then
the equations above are tested at the result. Linear models need one iteration. Contacts are solved by trying the states
(open, stick, slip + or -) of each, the last ones first.
"""
import itertools
import os

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def solve_contacts(W, b, rows, mu, guess):
    """r and the states for u + e u^k = W r + b. rows: (normal, tangential or None) of each contact."""
    def attempt(state):
        n, free, fixed = len(b), [], {}
        E = np.zeros((n, n))               # r = E s, s the unknowns that are left
        for (i, t), s in zip(rows, state):
            if s == "open":
                continue
            E[i, i] = 1
            free.append(i)
            if t is not None and s == "stick":
                E[t, t] = 1
                free.append(t)
            elif t is not None:
                E[t, i] = -mu[i] if s == "slip+" else mu[i]
        r = np.zeros(n)
        if free:
            A = (W @ E)[np.ix_(free, free)]
            try:
                s = np.linalg.solve(A, -b[free])
            except np.linalg.LinAlgError:
                s = np.linalg.lstsq(A, -b[free], rcond=None)[0]
            r = E[:, free] @ s
        u = W @ r + b
        scale_r, scale_u = 1e-12 * (1e-300 + abs(r).max()), 1e-12 * (abs(b).max() + 1e-300)
        for (i, t), s in zip(rows, state):
            if s == "open":
                if u[i] < -scale_u:
                    return None
            elif r[i] < -scale_r or abs(u[i]) > 1e3 * scale_u:
                return None
            elif t is not None and s == "stick" and (abs(r[t]) > mu[i] * r[i] + scale_r or abs(u[t]) > 1e3 * scale_u):
                return None
            elif t is not None and s == "slip+" and u[t] < -scale_u:
                return None
            elif t is not None and s == "slip-" and u[t] > scale_u:
                return None
        return r

    choices = [["open", "touch"] if t is None else ["open", "stick", "slip+", "slip-"] for _, t in rows]
    for state in itertools.chain([guess] if len(guess) == len(rows) else [], itertools.product(*choices)):
        r = attempt(state)
        if r is not None:
            return r, tuple(state)
    raise RuntimeError("no state of the contacts fits")


def murty(W, b, guess):
    """Frictionless contacts, W positive definite: 0 <= u = W r + b _|_ r >= 0 by changing the least wrong index."""
    n = len(b)
    on = np.array([s == "touch" for s in guess]) if len(guess) == n else np.zeros(n, bool)
    for _ in range(1 << min(n + 4, 20)):
        r = np.zeros(n)
        if on.any():
            r[on] = np.linalg.solve(W[np.ix_(on, on)], -b[on])
        u = W @ r + b
        u[on] = 0
        wrong = np.where((r < 0) | (u < -1e-14 * abs(b).max()))[0]
        if not len(wrong):
            return r, tuple("touch" if x else "open" for x in on)
        on[wrong[0]] = not on[wrong[0]]
    raise RuntimeError("no state of the contacts fits")


class Model:
    """M(q), F(t, q, v), Fq, Fv, gap(q), G(q): all rows, of each contact the normal one and then the tangential one."""
    friction = False
    linear = False

    def Fq(self, t, q, v):
        return np.zeros((len(q), len(q)))

    def Fv(self, t, q, v):
        return np.zeros((len(q), len(q)))


def run(model, q, v, h, steps, theta=0.5, gamma=0.5, e=(0.0,), mu=None, every=1, tolerance=1e-12):
    """Yields k, t, q, v, r for k = 0, every, 2 every ...; model.margin: the least |g + gamma h u| of a contact that pushes,
    or would: by more than that rounding must not change it."""
    q, v = np.array(q, float), np.array(v, float)
    dim = 2 if model.friction else 1
    contacts = len(model.gap(q))
    e = np.broadcast_to(np.array(e, float), contacts)
    mu = None if mu is None else np.broadcast_to(np.array(mu, float), contacts)
    r, model.margin, model.impacts, last = np.zeros(dim * contacts), np.inf, 0, {}
    yield 0, 0.0, q.copy(), v.copy(), r.copy()
    for k in range(steps):
        t0, t1 = k * h, (k + 1) * h
        Gk, F0 = model.G(q), model.F(t0, q, v)
        uk = Gk @ v
        forecast = model.gap(q) + gamma * h * uk[::dim]
        active = [i for i in range(contacts) if forecast[i] <= 0]
        pick = [dim * i + d for i in active for d in range(dim)]
        rows = [(dim * j, dim * j + 1 if dim == 2 else None) for j in range(len(active))]
        shift = np.zeros(len(pick))
        shift[::dim] = [e[i] * uk[dim * i] for i in active]
        local_mu = None if mu is None else {dim * j: mu[i] for j, i in enumerate(active)}
        va, qa, ra = v.copy(), q + h * v, np.zeros(len(pick))
        guess = tuple(last.get(i, "open") for i in active)
        for iteration in range(60):
            M = model.M(qa)
            W = M + h * theta * model.Fv(t1, qa, va) + (h * theta) ** 2 * model.Fq(t1, qa, va)
            free = va - np.linalg.solve(W, M @ (va - v) + h * theta * model.F(t1, qa, va) + h * (1 - theta) * F0)
            vb, rb = free, np.zeros(len(pick))
            if pick:
                G = model.G(qa)[pick]
                X = np.linalg.solve(W, G.T)
                solver = murty if dim == 1 and len(active) > 6 else None
                if solver:
                    rb, guess = murty(G @ X, G @ free + shift, guess)
                else:
                    rb, guess = solve_contacts(G @ X, G @ free + shift, rows, local_mu, guess)
                vb = free + X @ rb
            change = abs(vb - va).max() / (1e-300 + abs(vb).max()) + (abs(rb - ra).max() / (1e-300 + abs(rb).max()) if pick else 0)
            va, ra = vb, rb
            qa = q + h * (theta * va + (1 - theta) * v)
            if model.linear or change < 1e-15 or (iteration > 5 and change < 1e-13):
                break
        else:
            raise RuntimeError("Newton's method did not converge at step %d: %g" % (k, change))
        G = model.G(qa)
        r = np.zeros(dim * contacts)
        r[pick] = ra
        residual = model.M(qa) @ (va - v) + h * theta * model.F(t1, qa, va) + h * (1 - theta) * F0 - G.T @ r
        scale = abs(model.M(qa) @ va).max() + abs(model.M(qa) @ v).max() + abs(h * F0).max() + abs(G.T @ r).max()
        assert abs(residual).max() <= tolerance * scale, (k, residual, scale)
        if pick:
            un, rn = (G @ va)[pick][::dim] + shift[::dim], ra[::dim]
            speed = abs(va).max() + abs(v).max() + abs(free).max()
            assert abs(np.minimum(un / speed, rn / (abs(ra).max() + 1e-300))).max() <= 1e3 * tolerance, (k, un, rn)
        pushes = (r[::dim] > 0) | ((G @ va + np.repeat(e, dim) * uk)[::dim] < -1e-12 * abs(v).max())
        model.margin = min([model.margin] + list(abs(forecast[pushes])))
        last = dict(zip(active, guess))
        model.impacts += bool(ra.any()) if pick else 0
        q, v = qa, va
        if (k + 1) % every == 0:
            yield k + 1, t1, q.copy(), v.copy(), r.copy()


def write(name, header, rows):
    path = os.path.join(HERE, "..", name + ".csv")
    with open(path, "w") as f:
        f.write(",".join(header) + "\n")
        for row in rows:
            f.write(",".join("%d" % x if isinstance(x, int) else x if isinstance(x, str) else "%.17g" % x for x in row) + "\n")
    print("%-44s %4d rows" % (name + ".csv", len(rows)))
