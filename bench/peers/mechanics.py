#
# mechanics.py
# Mechanics by Siconos from Python: seconds of a step.  mechanics.py ball | beads N | bar N
#
import sys
import time

import numpy as np
import siconos.kernel as sk


def loop(simu, dyn):
    k = 0
    start = time.process_time()
    while simu.hasNextEvent():
        simu.computeOneStep()
        k += 1
        simu.nextStep()
    return (time.process_time() - start) / k


def simulation(nsds, h, osi):
    return sk.TimeStepping(nsds, sk.TimeDiscretisation(0.0, h), osi, sk.LCP())


def ball(_):
    h, steps = 5e-3, 2000
    dyn = sk.LagrangianLinearTIDS(np.array([1.0, 0, 0]), np.zeros(3), np.diag([1, 1, 0.004]))
    dyn.setFExtPtr(np.array([-9.81, 0, 0]))
    relation = sk.LagrangianLinearTIR(np.array([[1.0, 0, 0]]))
    nsds = sk.NonSmoothDynamicalSystem(0.0, (steps + 0.5) * h)
    nsds.insertDynamicalSystem(dyn)
    nsds.link(sk.Interaction(sk.NewtonImpactNSL(0.9), relation), dyn)
    return simulation(nsds, h, sk.MoreauJeanOSI(0.5)), dyn


def beads(n):
    h, steps = 5e-3, 100 if n <= 100 else 20
    nsds = sk.NonSmoothDynamicalSystem(0.0, (steps + 0.5) * h)
    below, first = None, None
    for k in range(1, n + 1):
        dyn = sk.LagrangianLinearTIDS(np.array([k + 0.0]), np.zeros(1), np.eye(1))
        dyn.setFExtPtr(np.array([-9.81]))
        nsds.insertDynamicalSystem(dyn)
        if below is None:
            relation = sk.LagrangianLinearTIR(np.array([[1.0]]), np.array([-1.0]))
            nsds.link(sk.Interaction(sk.NewtonImpactNSL(0.5), relation), dyn)
        else:
            relation = sk.LagrangianLinearTIR(np.array([[-1.0, 1.0]]), np.array([-1.0]))
            nsds.link(sk.Interaction(sk.NewtonImpactNSL(0.5), relation), below, dyn)
        below, first = dyn, first or dyn
    return simulation(nsds, h, sk.MoreauJeanOSI(0.5)), first


def bar(n):
    h, steps = 1e-3, 200
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


make = {"ball": ball, "beads": beads, "bar": bar}[sys.argv[1]]
size = int(sys.argv[2]) if len(sys.argv) > 2 else 0
best = 1e9
for _ in range(3):
    simu, dyn = make(size)
    best = min(best, loop(simu, dyn))
print("step", best)
print("q", dyn.q()[0])
