#
# faults.py
# Models with a fault by Siconos and by SciPy: faults.py siconos|scipy FAULT. Prints how it ends, when it comes to an end.
#
import sys

import numpy as np

peer, fault = sys.argv[1:3]


def spoil(t, value):
    if t > 0.5:
        if fault == "nan":
            return np.full_like(value, np.nan)
        if fault == "exception":
            raise ValueError("raised by the callback")
        if fault == "size":
            return np.zeros(7)
    return value


def siconos():
    import siconos.kernel as sk

    class Relation(sk.FirstOrderNonLinearR):
        def __init__(self):
            sk.FirstOrderNonLinearR.__init__(self)

        def computeh(self, t, x, lam, z, y):
            if fault == "newton":
                y[0] = x[0] ** 2 + 1
            else:
                y[:] = spoil(t, np.array([x[0]]))

        def computeg(self, t, x, lam, z, r):
            r[0] = lam[0]

        def computeJachx(self, t, x, lam, z, C):
            C[0, 0] = 2 * x[0] if fault == "newton" else 1

        def computeJachlambda(self, t, x, lam, z, D):
            D[0, 0] = 0

        def computeJacgx(self, t, x, lam, z, K):
            K[0, 0] = 0

        def computeJacglambda(self, t, x, lam, z, B):
            B[0, 0] = 1

    if fault == "initial":
        dyn = sk.LagrangianLinearTIDS([-0.5], [0.0], [[1.0]])
        dyn.setFExtPtr([-9.81])
        law, relation = sk.NewtonImpactNSL(0.5), sk.LagrangianLinearTIR([[1.0]])
        osi, problem = sk.MoreauJeanOSI(0.5), sk.LCP()
    else:
        dyn = sk.FirstOrderLinearTIDS([1.0], [[0.0 if fault == "singular" else -1.0]])
        if fault == "singular":
            dyn.setMPtr([[0.0]])
        if fault == "dae":  # x2 = x1, with other values at the start
            dyn = sk.FirstOrderLinearTIDS([1.0, 5.0], [[-1.0, 0.0], [-1.0, 1.0]])
            dyn.setMPtr([[1.0, 0.0], [0.0, 0.0]])
        law, relation = sk.RelayNSL(1, -1.0, 1.0), Relation()
        osi, problem = sk.EulerMoreauOSI(1.0), sk.Relay()
        if fault == "newton":
            law, problem = sk.EqualityConditionNSL(1), sk.MLCP()
        if fault in ("unsolvable", "singular", "interrupt"):
            relation = sk.FirstOrderLinearTIR([[0.0 if fault == "unsolvable" else 1.0]], [[1.0]])
        if fault == "dae":
            relation = sk.FirstOrderLinearTIR([[0.0, 0.0]], [[0.0], [0.0]])
            relation.setDPtr([[1.0]])
        if fault == "unsolvable":
            relation.setDPtr([[-1.0]])
            relation.setePtr([-1.0])
            law, problem = sk.ComplementarityConditionNSL(1), sk.LCP()
    nsds = sk.NonSmoothDynamicalSystem(0.0, 1e6 if fault == "interrupt" else 1.0)
    nsds.insertDynamicalSystem(dyn)
    inter = sk.Interaction(law, relation)
    nsds.link(inter, dyn)
    simu = sk.TimeStepping(nsds, sk.TimeDiscretisation(0.0, 0.01), osi, problem)
    if fault == "interrupt":
        simu.run()
    while simu.hasNextEvent():
        simu.computeOneStep()
        simu.nextStep()
    state = dyn.q() if fault == "initial" else dyn.x()
    print("ends at t=%.3g with %.4g, lambda %.4g" % (simu.startingTime(), state[0], inter.lambda_(0 if fault != "initial" else 1)[0]))


def scipy():
    from scipy.integrate import solve_ivp
    from scipy.optimize import fsolve

    if fault == "singular":
        x = fsolve(lambda x: [x[0] + x[1] - 1, x[0] + x[1] - 2], [0.0, 0.0])
        print("fsolve returns %.4g, %.4g" % tuple(x))
    elif fault == "newton":
        print("fsolve returns %.4g" % fsolve(lambda x: x ** 2 + 1, [1.0])[0])
    else:
        end = 1e9 if fault == "interrupt" else 1.0
        result = solve_ivp(lambda t, x: spoil(t, -x), (0, end), [1.0], max_step=0.01)
        print("success %s (%s) at t=%.3g with %.4g" % (result.success, result.message, result.t[-1], result.y[0, -1]))


{"siconos": siconos, "scipy": scipy}[peer]()
