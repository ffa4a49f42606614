"""The woodpecker toy: q = (y, a, b), height, angles of the sleeve and of the bird; small angles, a linear model with three contacts with
friction (beak, lower and upper edge of the sleeve). Model and data: Glocker 1995; Pfeiffer and Glocker, Multibody Dynamics with
Unilateral Contacts, Wiley, 1996.

  M = [m_M + m_S, m_S l_M, m_S l_G;  ., J_M + m_S l_M^2, m_S l_M l_G;  ., ., J_S + m_S l_G^2],  K = c [0 0 0; 0 1 -1; 0 -1 1]
  f = -g [m_M + m_S, m_S l_M, m_S l_G]
  gaps l_M + l_G - l_S - r_O - h_S b,  r_M - r_O + h_M a,  r_M - r_O - h_M a
  sliding y' + l_M a' + (l_G - l_S) b',  y' + r_M a',  y' + r_M a';   mu = 0.3,  e = (1/2, 0, 0)

mechanics_woodpecker.csv: the scheme, theta = 1/2, h = 1e-4, 3000 steps (two periods).
"""
import numpy as np

from theta_scheme import Model, run, write

m_M, m_S, J_M, J_S, c, g = 3e-4, 4.5e-3, 5e-9, 7e-7, 5.6e-3, 9.81
r_O, r_M, h_M, l_M, l_G, h_S, l_S = 2.5e-3, 3.1e-3, 5.8e-3, 1e-2, 1.5e-2, 2e-2, 2.01e-2
MASS = np.array([[m_M + m_S, m_S * l_M, m_S * l_G], [m_S * l_M, J_M + m_S * l_M ** 2, m_S * l_M * l_G],
                 [m_S * l_G, m_S * l_M * l_G, J_S + m_S * l_G ** 2]])
STIFF = c * np.array([[0, 0, 0], [0, 1, -1], [0, -1, 1.0]])
WEIGHT = g * np.array([m_M + m_S, m_S * l_M, m_S * l_G])
ROWS = np.array([[0, 0, -h_S], [1, l_M, l_G - l_S], [0, h_M, 0], [1, r_M, 0], [0, -h_M, 0], [1, r_M, 0]])


class Toy(Model):
    friction = True
    linear = True
    def M(self, q): return MASS
    def F(self, t, q, v): return STIFF @ q + WEIGHT
    def Fq(self, t, q, v): return STIFF
    def gap(self, q): return np.array([l_M + l_G - l_S - r_O - h_S * q[2], r_M - r_O + h_M * q[1], r_M - r_O - h_M * q[1]])
    def G(self, q): return ROWS


toy = Toy()
rows = [(k, t, *q, *v, *r) for k, t, q, v, r in
        run(toy, [0, -0.1036, -0.2788], [-0.3411, 0, -7.4583], 1e-4, 3000, e=(0.5, 0, 0), mu=0.3, every=20)]
write("mechanics_woodpecker", ["k", "t", "y", "a", "b", "vy", "wa", "wb", "n1", "t1", "n2", "t2", "n3", "t3"], rows)
print("   margin %.1e" % toy.margin)
