#
# sweep.py
# The ball of sweep_ball.lua over its restitution, by Siconos and multiprocessing: sweep.py WORKERS TASKS
#
import multiprocessing
import sys
import time

import numpy as np
import siconos.kernel as sk

H, STEPS = 5e-3, 2000


def run(e):
    dyn = sk.LagrangianLinearTIDS(np.array([1.0, 0, 0]), np.zeros(3), np.diag([1, 1, 0.004]))
    dyn.setFExtPtr(np.array([-9.81, 0, 0]))
    relation = sk.LagrangianLinearTIR(np.array([[1.0, 0, 0]]))
    nsds = sk.NonSmoothDynamicalSystem(0.0, STEPS * H)
    nsds.insertDynamicalSystem(dyn)
    nsds.link(sk.Interaction(sk.NewtonImpactNSL(e), relation), dyn)
    simu = sk.TimeStepping(nsds, sk.TimeDiscretisation(0.0, H), sk.MoreauJeanOSI(0.5), sk.LCP())
    while simu.hasNextEvent():
        simu.computeOneStep()
        simu.nextStep()
    return dyn.q()[0]


if __name__ == "__main__":
    workers, tasks = int(sys.argv[1]), int(sys.argv[2])
    start = time.monotonic()
    with multiprocessing.Pool(workers) as pool:
        ends = pool.map(run, np.linspace(0.5, 0.9, tasks), chunksize=1)
    print("seconds", time.monotonic() - start)
    print("sum", sum(ends))
