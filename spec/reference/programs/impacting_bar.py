"""An elastic bar, L = E = rho = S = 1, flies with -v0 = -0.1 at a rigid wall that is 0.05 away: w_tt = w_xx, 0 <= 0.05 + w(0, t) _|_ lambda >= 0.

mechanics_bar_N20.csv: twenty linear elements, lumped mass l = 1/20 (l / 2 at the ends), K = 1/l tridiag(-1, 2, -1) with 1/l at the ends' diagonal,
restitution 0 at the node of the wall; the scheme, theta = 1/2, h = 1e-3, 4000 steps. p: the impulse of the step.
"""
import numpy as np

from theta_scheme import Model, run, write

v0, gap, N = 0.1, 0.05, 20
l = 1 / N


class Bar(Model):
    linear = True
    mass = l * np.diag(np.r_[0.5, np.ones(N - 1), 0.5])
    K = 1 / l * (np.diag(np.r_[1, 2 * np.ones(N - 1), 1]) - np.diag(np.ones(N), 1) - np.diag(np.ones(N), -1))
    row = np.eye(N + 1)[:1]
    def M(self, q): return self.mass
    def F(self, t, q, v): return self.K @ q
    def Fq(self, t, q, v): return self.K
    def gap(self, q): return q[:1] + gap
    def G(self, q): return self.row


bar = Bar()
rows = [(k, t, q[0], q[N // 2], q[N], v[0], v[N // 2], v[N], r[0]) for k, t, q, v, r in
        run(bar, np.zeros(N + 1), np.full(N + 1, -v0), 1e-3, 4000, e=0, every=20)]
write("mechanics_bar_N20", ["k", "t", "w_wall", "w_middle", "w_free", "v_wall", "v_middle", "v_free", "p"], rows)
print("   margin %.1e" % bar.margin)
