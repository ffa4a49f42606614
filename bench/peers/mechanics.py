#
# mechanics.py
# Mechanics by Siconos from Python: seconds of a step.  mechanics.py ball | beads N | bar N | pendulum
#
import math
import sys
import time

import numpy as np
import siconos.kernel as sk
import siconos.numerics as sn


def loop(simu, dyn):
    k = 0
    start = time.process_time()
    while simu.hasNextEvent():
        simu.computeOneStep()
        k += 1
        simu.nextStep()
    return (time.process_time() - start) / k


def simulation(nsds, h, osi, problem=None):
    return sk.TimeStepping(nsds, sk.TimeDiscretisation(0.0, h), osi, problem or sk.LCP())


def ball(_):
    h, steps = 5e-3, 2000
    dyn = sk.LagrangianLinearTIDS(np.array([1.0, 0, 0]), np.zeros(3), np.diag([1, 1, 0.004]))
    dyn.setFExtPtr(np.array([-9.81, 0, 0]))
    relation = sk.LagrangianLinearTIR(np.array([[1.0, 0, 0]]))
    nsds = sk.NonSmoothDynamicalSystem(0.0, (steps + 0.5) * h)
    nsds.insertDynamicalSystem(dyn)
    nsds.link(sk.Interaction(sk.NewtonImpactNSL(0.9), relation), dyn)
    return simulation(nsds, h, sk.MoreauJeanOSI(0.5)), dyn


# A column at rest. Beads overlap by 1e-6, so that no contact is a tie. The solver is the fastest one here that says so
# when it's done; with 1000 beads a step takes seconds, with 1e5 the dense matrix alone would need 80 GB.
def beads(n):
    h, steps = 5e-3, 100 if n <= 100 else 20 if n <= 500 else 3
    nsds = sk.NonSmoothDynamicalSystem(0.0, (steps + 0.5) * h)
    below, first = None, None
    for k in range(1, n + 1):
        dyn = sk.LagrangianLinearTIDS(np.array([k * (1 - 1e-6)]), np.zeros(1), np.eye(1))
        dyn.setFExtPtr(np.array([-9.81]))
        nsds.insertDynamicalSystem(dyn)
        if below is None:
            relation = sk.LagrangianLinearTIR(np.array([[1.0]]), np.array([-1.0]))
            nsds.link(sk.Interaction(sk.NewtonImpactNSL(0.5), relation), dyn)
        else:
            relation = sk.LagrangianLinearTIR(np.array([[-1.0, 1.0]]), np.array([-1.0]))
            nsds.link(sk.Interaction(sk.NewtonImpactNSL(0.5), relation), below, dyn)
        below, first = dyn, first or dyn
    problem = sk.LCP(sn.SICONOS_LCP_NEWTON_MIN_FBLSA) if 50 <= n <= 500 else sk.LCP()
    problem.numericsSolverOptions().iparam[0] = 100000
    return simulation(nsds, h, sk.MoreauJeanOSI(0.5), problem), first


def bar(n):
    h, steps = 1e-3, 200 if n <= 200 else 20
    size = 1.0 / n
    mass = np.eye(n + 1) * size
    mass[0, 0] = mass[n, n] = size / 2
    side = np.ones(n) / size
    stiffness = np.diag(np.r_[1, 2 * np.ones(n - 1), 1] / size) - np.diag(side, 1) - np.diag(side, -1)
    dyn = sk.LagrangianLinearTIDS(np.full(n + 1, 0.01), np.full(n + 1, -1.0), mass)
    dyn.setKPtr(stiffness)
    row = np.zeros((1, n + 1))
    row[0, 0] = 1
    nsds = sk.NonSmoothDynamicalSystem(0.0, (steps + 0.5) * h)
    nsds.insertDynamicalSystem(dyn)
    nsds.link(sk.Interaction(sk.NewtonImpactNSL(0.0), sk.LagrangianLinearTIR(row)), dyn)
    return simulation(nsds, h, sk.MoreauJeanOSI(0.5)), dyn


# Methods of a subclass fill the arrays of the system. Siconos calls them for M and forces, but not for the Jacobians
# of forces, so that its matrix of iteration is M alone. Both objects have to be kept alive by the caller.
class Pendulum(sk.LagrangianDS):
    def __init__(self, q, v):
        super().__init__(q, v, np.eye(2))
        self.own = np.zeros(2), np.zeros(2)
        self.setFIntPtr(self.own[0])
        self.setFGyrPtr(self.own[1])

    def computeMass(self, *state):
        q, M = state[0] if state else self.q(), self.mass()
        M[0, 0], M[1, 1] = 2, 1
        M[0, 1] = M[1, 0] = math.cos(q[0] - q[1])

    def computeFInt(self, time, *state):
        q, f = state[0] if state else self.q(), self.fInt()
        f[0], f[1] = 2 * 9.81 * math.sin(q[0]), 9.81 * math.sin(q[1])

    def computeFGyr(self, *state):
        (q, v), f = state or (self.q(), self.velocity()), self.fGyr()
        s = math.sin(q[0] - q[1])
        f[0], f[1] = v[1] ** 2 * s, -v[0] ** 2 * s


# Siconos asks for C() at a contact, and gets nothing and crashes if the method is not here or the row an array of numpy.
class Wall(sk.LagrangianScleronomousR):
    def __init__(self):
        super().__init__()
        self.row = sk.SimpleMatrix(1, 2)
        self.setJachqPtr(self.row)

    def computeh(self, q, z, y):
        y[0] = math.sin(q[0]) + math.sin(q[1]) + 0.3

    def computeJachq(self, q, z):
        self.row.setValue(0, 0, math.cos(q[0]))
        self.row.setValue(0, 1, math.cos(q[1]))

    def computeDotJachq(self, q, z, v):
        pass

    def C(self):
        return self.row


kept = []


def pendulum(_):
    h, steps = 1e-3, 2000
    dyn, wall = Pendulum(np.array([1.5, 1.2]), np.zeros(2)), Wall()
    kept.extend([dyn, wall])
    nsds = sk.NonSmoothDynamicalSystem(0.0, (steps + 0.5) * h)
    nsds.insertDynamicalSystem(dyn)
    nsds.link(sk.Interaction(sk.NewtonImpactNSL(0.8), wall), dyn)
    simu = simulation(nsds, h, sk.MoreauJeanOSI(0.5))
    simu.setNewtonTolerance(1e-9)
    simu.setNewtonMaxIteration(50)
    return simu, dyn


make = {"ball": ball, "beads": beads, "bar": bar, "pendulum": pendulum}[sys.argv[1]]
size = int(sys.argv[2]) if len(sys.argv) > 2 else 0
best = 1e9
for _ in range(3 if size < 1000 else 1):
    simu, dyn = make(size)
    best = min(best, loop(simu, dyn))
print("step", best)
print("q", dyn.q()[0])
