/*
** mechanics.cpp
** Mechanics by Siconos from C++: seconds of a step.  mechanics ball | bar N
*/
#include <SiconosKernel.hpp>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

static double now() {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct Model {
  SP::LagrangianLinearTIDS dyn;
  SP::SimpleMatrix row;
  double h, e;
  int steps;
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
  return {dyn, row, 5e-3, 0.9, 2000};
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
  return {dyn, row, 1e-3, 0.0, 200};
}

static double run(const Model &m) {
  SP::Interaction inter(new Interaction(SP::NonSmoothLaw(new NewtonImpactNSL(m.e)),
                                        SP::Relation(new LagrangianLinearTIR(m.row))));
  SP::NonSmoothDynamicalSystem nsds(new NonSmoothDynamicalSystem(0, (m.steps + 0.5) * m.h));
  nsds->insertDynamicalSystem(m.dyn);
  nsds->link(inter, m.dyn);
  SP::TimeDiscretisation grid(new TimeDiscretisation(0, m.h));
  SP::OneStepIntegrator osi(new MoreauJeanOSI(0.5));
  SP::OneStepNSProblem problem(new LCP());
  SP::TimeStepping simu(new TimeStepping(nsds, grid, osi, problem));
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
  for (int i = 0; i < 3; i++) {
    Model m = std::string(argv[1]) == "ball" ? ball() : bar(argc > 2 ? std::atoi(argv[2]) : 10);
    best = std::min(best, run(m));
    q = m.dyn->q()->getValue(0);
  }
  std::printf("step %.9g\nq %.17g\n", best, q);
}
