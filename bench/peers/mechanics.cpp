/*
** mechanics.cpp
** Mechanics by Siconos from C++: seconds of a step.  mechanics ball | bar N | beads N | pendulum
*/
#include <SiconosKernel.hpp>
#include <SolverOptions.h>
#include <lcp_cst.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

static double now() {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef std::vector<SP::LagrangianDS> Systems;

struct Contact {
  SP::Relation relation;
  SP::LagrangianDS one, two;
};

struct Model {
  Systems systems;
  std::vector<Contact> contacts;
  double h, e;
  int steps, solver;
};

static Model ball() {
  SP::SiconosVector q(new SiconosVector(3)), v(new SiconosVector(3)), f(new SiconosVector(3));
  SP::SiconosMatrix mass(new SimpleMatrix(3, 3));
  SP::SimpleMatrix row(new SimpleMatrix(1, 3));
  (*q)(0) = 1;
  (*f)(0) = -9.81;
  mass->setValue(0, 0, 1), mass->setValue(1, 1, 1), mass->setValue(2, 2, 0.004);
  row->setValue(0, 0, 1);
  SP::LagrangianLinearTIDS dyn(new LagrangianLinearTIDS(q, v, mass));
  dyn->setFExtPtr(f);
  return {{dyn}, {{SP::Relation(new LagrangianLinearTIR(row)), dyn}}, 5e-3, 0.9, 2000, SICONOS_LCP_LEMKE};
}

static Model bar(unsigned n) {
  double size = 1.0 / n;
  SP::SiconosVector q(new SiconosVector(n + 1, 0.01)), v(new SiconosVector(n + 1, -1.0));
  SP::SiconosMatrix mass(new SimpleMatrix(n + 1, n + 1)), stiffness(new SimpleMatrix(n + 1, n + 1));
  SP::SimpleMatrix row(new SimpleMatrix(1, n + 1));
  for (unsigned i = 0; i <= n; i++) {
    bool end = i == 0 || i == n;
    mass->setValue(i, i, end ? size / 2 : size);
    stiffness->setValue(i, i, (end ? 1 : 2) / size);
    if (i > 0) stiffness->setValue(i, i - 1, -1 / size), stiffness->setValue(i - 1, i, -1 / size);
  }
  row->setValue(0, 0, 1);
  SP::LagrangianLinearTIDS dyn(new LagrangianLinearTIDS(q, v, mass));
  dyn->setKPtr(stiffness);
  return {{dyn}, {{SP::Relation(new LagrangianLinearTIR(row)), dyn}}, 1e-3, 0, n <= 200 ? 200 : 20, SICONOS_LCP_LEMKE};
}

/* As in mechanics.py. */
static Model beads(unsigned n) {
  Model m = {{}, {}, 5e-3, 0.5, n <= 100 ? 100 : n <= 500 ? 20 : 3,
             n >= 50 && n <= 500 ? SICONOS_LCP_NEWTON_MIN_FBLSA : SICONOS_LCP_LEMKE};
  for (unsigned k = 0; k < n; k++) {
    SP::SiconosVector q(new SiconosVector(1, (k + 1) * (1 - 1e-6))), v(new SiconosVector(1)), f(new SiconosVector(1, -9.81));
    SP::SiconosMatrix mass(new SimpleMatrix(1, 1));
    mass->setValue(0, 0, 1);
    SP::LagrangianLinearTIDS bead(new LagrangianLinearTIDS(q, v, mass));
    bead->setFExtPtr(f);
    unsigned columns = k ? 2 : 1;
    SP::SimpleMatrix row(new SimpleMatrix(1, columns));
    row->setValue(0, columns - 1, 1);
    if (k) row->setValue(0, 0, -1);
    SP::Relation relation(new LagrangianLinearTIR(row, SP::SiconosVector(new SiconosVector(1, -1.0))));
    if (k) m.contacts.push_back({relation, m.systems.back(), bead});
    else m.contacts.push_back({relation, bead});
    m.systems.push_back(bead);
  }
  return m;
}

/* The functions of a plug-in, matrices by columns. */
static void mass(unsigned, double *q, double *M, unsigned, double *) {
  M[0] = 2, M[3] = 1, M[1] = M[2] = std::cos(q[0] - q[1]);
}

static void inner(double, unsigned, double *q, double *, double *f, unsigned, double *) {
  f[0] = 2 * 9.81 * std::sin(q[0]), f[1] = 9.81 * std::sin(q[1]);
}

static void inner_q(double, unsigned, double *q, double *, double *J, unsigned, double *) {
  J[0] = 2 * 9.81 * std::cos(q[0]), J[1] = J[2] = 0, J[3] = 9.81 * std::cos(q[1]);
}

static void inner_v(double, unsigned, double *, double *, double *J, unsigned, double *) {
  J[0] = J[1] = J[2] = J[3] = 0;
}

static void gyr(unsigned, double *q, double *v, double *f, unsigned, double *) {
  double s = std::sin(q[0] - q[1]);
  f[0] = v[1] * v[1] * s, f[1] = -v[0] * v[0] * s;
}

static void gyr_q(unsigned, double *q, double *v, double *J, unsigned, double *) {
  double c = std::cos(q[0] - q[1]), a = v[1] * v[1] * c, b = v[0] * v[0] * c;
  J[0] = a, J[1] = -b, J[2] = -a, J[3] = b;
}

static void gyr_v(unsigned, double *q, double *v, double *J, unsigned, double *) {
  double s = std::sin(q[0] - q[1]);
  J[0] = J[3] = 0, J[1] = -2 * v[0] * s, J[2] = 2 * v[1] * s;
}

class Wall : public LagrangianScleronomousR {
 public:
  Wall() { _jachq.reset(new SimpleMatrix(1, 2)); }
  void computeh(const BlockVector &q, BlockVector &, SiconosVector &y) override {
    y(0) = std::sin(q(0)) + std::sin(q(1)) + 0.3;
  }
  void computeJachq(const BlockVector &q, BlockVector &) override {
    _jachq->setValue(0, 0, std::cos(q(0)));
    _jachq->setValue(0, 1, std::cos(q(1)));
  }
};

static Model pendulum() {
  SP::SiconosVector q(new SiconosVector(2)), v(new SiconosVector(2));
  SP::SiconosMatrix M(new SimpleMatrix(2, 2));
  (*q)(0) = 1.5, (*q)(1) = 1.2;
  SP::LagrangianDS dyn(new LagrangianDS(q, v, M));
  dyn->setComputeMassFunction(mass);
  dyn->setComputeFIntFunction(inner);
  dyn->setComputeJacobianFIntqFunction(inner_q);
  dyn->setComputeJacobianFIntqDotFunction(inner_v);
  dyn->setComputeFGyrFunction(gyr);
  dyn->setComputeJacobianFGyrqFunction(gyr_q);
  dyn->setComputeJacobianFGyrqDotFunction(gyr_v);
  return {{dyn}, {{SP::Relation(new Wall), dyn}}, 1e-3, 0.8, 2000, SICONOS_LCP_LEMKE};
}

static double run(const Model &m) {
  SP::NonSmoothDynamicalSystem nsds(new NonSmoothDynamicalSystem(0, (m.steps + 0.5) * m.h));
  for (auto &dyn : m.systems) nsds->insertDynamicalSystem(dyn);
  for (auto &c : m.contacts)
    nsds->link(SP::Interaction(new Interaction(SP::NonSmoothLaw(new NewtonImpactNSL(m.e)), c.relation)), c.one, c.two);
  SP::TimeDiscretisation grid(new TimeDiscretisation(0, m.h));
  SP::OneStepIntegrator osi(new MoreauJeanOSI(0.5));
  SP::LCP problem(new LCP(m.solver));
  problem->numericsSolverOptions()->iparam[SICONOS_IPARAM_MAX_ITER] = 100000;
  SP::TimeStepping simu(new TimeStepping(nsds, grid, osi, problem));
  simu->setNewtonTolerance(1e-9);
  simu->setNewtonMaxIteration(50);
  int k = 0;
  double start = now();
  for (; simu->hasNextEvent(); k++) {
    simu->computeOneStep();
    simu->nextStep();
  }
  return (now() - start) / k;
}

int main(int argc, char **argv) {
  double best = 1e9, q = 0;
  std::string name = argc > 1 ? argv[1] : "";
  unsigned n = argc > 2 ? std::atoi(argv[2]) : 10;
  for (int i = 0; i < (n < 1000 ? 3 : 1); i++) {
    Model m = name == "ball" ? ball() : name == "beads" ? beads(n) : name == "pendulum" ? pendulum() : bar(n);
    best = std::min(best, run(m));
    q = m.systems[0]->q()->getValue(0);
  }
  std::printf("step %.9g\nq %.17g\n", best, q);
}
