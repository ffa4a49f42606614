#
# clutch.py
# The switching clutch by Siconos from Python: seconds of a step, storing t, x and lambda as the notebook does.
#
import sys
import time

import numpy as np
import siconos.kernel as sk

mode = sys.argv[1]
s = -1.0 if mode == "engaging" else 1.0


class Clutch(sk.FirstOrderNonLinearR):
    def __init__(self):
        sk.FirstOrderNonLinearR.__init__(self)

    def computeh(self, t, x, lam, z, y):
        y[:] = np.zeros(1)
        y[0] = s * x[0]

    def computeg(self, t, x, lam, z, r):
        r[:] = np.zeros(4)
        r[3] = lam[0] * (x[3] - x[1] + x[2])

    def computeJachx(self, t, x, lam, z, C):
        C[:] = np.zeros((1, 4))
        C[0, 0] = s

    def computeJachlambda(self, t, x, lam, z, D):
        D[:] = np.zeros((1, 1))

    def computeJacgx(self, t, x, lam, z, K):
        K[:] = np.zeros((4, 4))
        K[3, 1] = -lam[0]
        K[3, 2] = lam[0]
        K[3, 3] = lam[0]

    def computeJacglambda(self, t, x, lam, z, B):
        B[:] = np.zeros((4, 1))
        B[3, 0] = x[3] - x[1] + x[2]


def run():
    A = np.zeros((4, 4))
    A[1, 3], A[2, 3], A[3, 1], A[3, 2] = 1.0, -4.0, 1.0, -1.0
    E = np.diag([1.0, 1.0, 1.0, 0.0])
    dyn = sk.FirstOrderLinearTIDS([5.0, 10.0, 5.0, 0.5], A)
    dyn.setbPtr([-1.0, 10.0, -40.0, 0.0])
    dyn.setMPtr(E)
    nsds = sk.NonSmoothDynamicalSystem(0.0, 20.0)
    nsds.insertDynamicalSystem(dyn)
    relation = Clutch()
    inter = sk.Interaction(sk.RelayNSL(1, 0.0, 1.0), relation)
    nsds.link(inter, dyn)
    grid = sk.TimeDiscretisation(0.0, 0.05)
    simu = sk.TimeStepping(nsds, grid, sk.EulerMoreauOSI(1.0, 1.0), sk.Relay())
    simu.setComputeResiduY(True)
    simu.setComputeResiduR(True)
    simu.setNewtonMaxIteration(100)
    simu.setNewtonTolerance(1e-10)
    x = dyn.x()
    lam = inter.lambda_(0)
    data = np.zeros((402, 6))
    k = 1
    start = time.process_time()
    while simu.hasNextEvent():
        simu.computeOneStep()
        data[k, 0] = simu.nextTime()
        data[k, 1] = x[0]
        data[k, 2] = x[1]
        data[k, 3] = x[2]
        data[k, 4] = x[3]
        data[k, 5] = lam[0]
        k += 1
        simu.nextStep()
    seconds = time.process_time() - start
    return seconds / (k - 1), simu.getNewtonCumulativeNbIterations() / (k - 1)


runs = [run() for _ in range(5 if mode == "engaging" else 3)]
print("loop", min(seconds for seconds, _ in runs))
print("newton", runs[0][1])
