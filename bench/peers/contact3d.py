# contact3d.py
# A scene of bodies in space by Siconos with Bullet: contact3d.py SCENE, with a scene of bench_contact3d.lua. Prints what contact3d.c prints.
import sys
import time
import numpy as np
import siconos.kernel as sk
import siconos.numerics as sn
from siconos.mechanics.collision import RigidBodyDS, SiconosBox, SiconosContactor, SiconosContactorSet, SiconosPlane, SiconosSphere
from siconos.mechanics.collision.bullet import SiconosBulletCollisionManager, SiconosBulletOptions

lines = [line.split() for line in open(sys.argv[1])]
h, steps, mu, e = float(lines[0][1]), int(lines[0][3]), float(lines[0][5]), float(lines[0][7])
model = sk.NonSmoothDynamicalSystem(0, h * steps)
options = SiconosBulletOptions()
options.perturbationIterations = options.minimumPointsPerturbationThreshold = 0  # faster and more exact than the defaults
manager = SiconosBulletCollisionManager(options)
manager.insertNonSmoothLaw(sk.NewtonImpactFrictionNSL(e, 0, mu, 3), 0, 0)
bodies, kept = [], []


def rotation(n):  # the quaternion that turns z into n
    axis, c = np.cross([0, 0, 1], n), n[2]
    q = np.array([1 + c, *axis]) if c > -1 else np.array([0, 1, 0, 0])
    return list(q / np.linalg.norm(q))


for words in lines[1:]:
    number = [float(x) for x in words[2 if words[0] == "body" else 1:]]
    contactors = SiconosContactorSet()
    if words[0] == "plane":
        shape = SiconosPlane()
        contactors.append(SiconosContactor(shape))
        manager.insertStaticContactorSet(contactors, number[:3] + rotation(np.array(number[3:])))
    else:
        size, x, mass, inertia, force = number[:3], number[3:6], number[6], number[7], number[8]
        shape = SiconosSphere(size[0]) if words[1] == "sphere" else SiconosBox(*[2 * s for s in size])
        contactors.append(SiconosContactor(shape))
        body = RigidBodyDS(x + [1, 0, 0, 0], [0] * 6, mass, np.diag([inertia] * 3))
        body.setContactors(contactors)
        body.setFExtPtr(np.array([force, 0, -9.81 * mass]))
        model.insertDynamicalSystem(body)
        bodies.append(body)
    kept += [shape, contactors]

solver = sk.FrictionContact(3, sn.SICONOS_FRICTION_3D_NSGS)
solver.numericsSolverOptions().iparam[0] = 10000
solver.numericsSolverOptions().dparam[0] = 1e-8
solver.setMaxSize(30000)
solver.setMStorageType(1)
solver.setNumericsVerboseMode(False)
simulation = sk.TimeStepping(model, sk.TimeDiscretisation(0, h))
simulation.insertIntegrator(sk.MoreauJeanOSI(0.5))
simulation.insertNonSmoothProblem(solver)
simulation.insertInteractionManager(manager)
simulation.setNewtonOptions(sk.SICONOS_TS_LINEAR)
simulation.initialize()

total, slowest = 0, 0
for k in range(steps):
    start = time.process_time()
    simulation.computeOneStep()
    simulation.nextStep()
    spent = time.process_time() - start
    total, slowest = total + spent, max(slowest, spent)
contacts = sk.interactions(model.topology().indexSet(0))
print(f"step {total / steps:.9g}\nslowest {slowest:.9g}\ncontacts {len(contacts)}")
for b, body in enumerate(bodies):
    for i in range(3):
        print(f"q{b + 1}_{i + 1} {body.q()[i]:.17g}\nv{b + 1}_{i + 1} {body.twist()[i]:.17g}")
