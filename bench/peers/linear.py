#
# linear.py
# Linear models by Siconos from Python: seconds of a step, with every number of the step stored and without.
#
import math
import sys
import time

import numpy as np
import siconos.kernel as sk

circuit = [[0, -1e6], [100, 0]]
models = {
    # h, steps, theta, x0, A, B, C, D, relays
    "filippov": (1e-3, 1999, 0.5, [3, 3], np.zeros((2, 2)), [[2, -52], [52, 2]], np.eye(2), np.zeros((2, 2)), True),
    "relay_oscillator": (1e-2, 9999, 0.5, [0, 3 * math.sqrt(2) / (2 * math.pi), 0],
                         [[0, 1, 0], [0, 0, 1], [0, -3, -2]], [[0], [0], [1]], [[1, 0, 0]], [[0]], True),
    "circuit_rlcd": (1e-5, 499, 0.5000000000001, [10, 0], circuit, [[-1e6], [0]], [[-1, 0]], [[1000]], False),
    "diode_bridge": (1e-6, 4999, 0.5, [10, 0], circuit, [[0, 0, -1e6, 1e6], [0, 0, 0, 0]],
                     [[0, 0], [0, 0], [-1, 0], [1, 0]],
                     [[1e-3, 1e-3, -1, 0], [1e-3, 1e-3, 0, -1], [1, 0, 0, 0], [0, 1, 0, 0]], False),
}
h, steps, theta, x0, A, B, C, D, relays = models[sys.argv[1]]
A, B, C, D = (np.array(m, dtype=float) for m in (A, B, C, D))
m = C.shape[0]


def run(stored):
    dyn = sk.FirstOrderLinearTIDS(np.array(x0, dtype=float), A)
    relation = sk.FirstOrderLinearTIR(C, B)
    relation.setDPtr(D)
    law = sk.RelayNSL(m, -1.0, 1.0) if relays else sk.ComplementarityConditionNSL(m)
    inter = sk.Interaction(law, relation)
    nsds = sk.NonSmoothDynamicalSystem(0.0, (steps + 0.5) * h)
    nsds.insertDynamicalSystem(dyn)
    nsds.link(inter, dyn)
    grid = sk.TimeDiscretisation(0.0, h)
    simu = sk.TimeStepping(nsds, grid, sk.EulerMoreauOSI(theta), sk.Relay() if relays else sk.LCP())
    x, y, lam = dyn.x(), inter.y(0), inter.lambda_(0)
    n = len(x)
    data = np.zeros((steps + 3, 1 + n + 2 * m))
    k = 0
    start = time.process_time()
    if stored:
        while simu.hasNextEvent():
            simu.computeOneStep()
            k += 1
            data[k, 0] = simu.nextTime()
            data[k, 1:1 + n] = x
            data[k, 1 + n:1 + n + m] = y
            data[k, 1 + n + m:] = lam
            simu.nextStep()
    else:
        while simu.hasNextEvent():
            simu.computeOneStep()
            k += 1
            simu.nextStep()
    seconds = (time.process_time() - start) / k
    return seconds, x[0]


best = [math.inf, math.inf]
x1 = math.nan
start = time.process_time()
while time.process_time() - start < 1.5:
    for stored in (False, True):
        seconds, x1 = run(stored)
        best[stored] = min(best[stored], seconds)
print("loop", best[True])
print("bare", best[False])
print("x1", x1)
