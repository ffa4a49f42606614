/*
** linear.cpp
** Linear models by Siconos from C++: seconds of a step, with every number of the step stored and without.
*/
#include <SiconosKernel.hpp>

#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>
#include <vector>

typedef std::vector<std::vector<double>> Rows;

struct Model {
  double h;
  int steps;
  double theta;
  std::vector<double> x0;
  Rows A, B, C, D;
  bool relays;
};

static const Rows circuit = {{0, -1e6}, {100, 0}};
static const std::map<std::string, Model> models = {
    {"filippov",
     {1e-3, 1999, 0.5, {3, 3}, {{0, 0}, {0, 0}}, {{2, -52}, {52, 2}}, {{1, 0}, {0, 1}}, {{0, 0}, {0, 0}}, true}},
    {"relay_oscillator",
     {1e-2, 9999, 0.5, {0, 3 * std::sqrt(2.) / (2 * M_PI), 0}, {{0, 1, 0}, {0, 0, 1}, {0, -3, -2}}, {{0}, {0}, {1}},
      {{1, 0, 0}}, {{0}}, true}},
    {"circuit_rlcd", {1e-5, 499, 0.5000000000001, {10, 0}, circuit, {{-1e6}, {0}}, {{-1, 0}}, {{1000}}, false}},
    {"diode_bridge",
     {1e-6, 4999, 0.5, {10, 0}, circuit, {{0, 0, -1e6, 1e6}, {0, 0, 0, 0}}, {{0, 0}, {0, 0}, {-1, 0}, {1, 0}},
      {{1e-3, 1e-3, -1, 0}, {1e-3, 1e-3, 0, -1}, {1, 0, 0, 0}, {0, 1, 0, 0}}, false}}};

static SP::SimpleMatrix matrix(const Rows &rows) {
  SP::SimpleMatrix M(new SimpleMatrix(rows.size(), rows[0].size()));
  for (unsigned i = 0; i < rows.size(); i++)
    for (unsigned j = 0; j < rows[0].size(); j++) M->setValue(i, j, rows[i][j]);
  return M;
}

static double now() {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double run(const Model &model, bool stored, double *x1) {
  unsigned n = model.x0.size(), m = model.C.size();
  SP::SiconosVector x0(new SiconosVector(n));
  for (unsigned i = 0; i < n; i++) x0->setValue(i, model.x0[i]);
  SP::FirstOrderLinearTIDS dyn(new FirstOrderLinearTIDS(x0, matrix(model.A)));
  SP::FirstOrderLinearTIR relation(new FirstOrderLinearTIR(matrix(model.C), matrix(model.B)));
  relation->setDPtr(matrix(model.D));
  SP::NonSmoothLaw law;
  if (model.relays) law.reset(new RelayNSL(m, -1, 1));
  else law.reset(new ComplementarityConditionNSL(m));
  SP::Interaction inter(new Interaction(law, relation));
  SP::NonSmoothDynamicalSystem nsds(new NonSmoothDynamicalSystem(0, (model.steps + 0.5) * model.h));
  nsds->insertDynamicalSystem(dyn);
  nsds->link(inter, dyn);
  SP::TimeDiscretisation grid(new TimeDiscretisation(0, model.h));
  SP::EulerMoreauOSI osi(new EulerMoreauOSI(model.theta));
  SP::OneStepNSProblem problem;
  if (model.relays) problem.reset(new Relay());
  else problem.reset(new LCP());
  SP::TimeStepping simu(new TimeStepping(nsds, grid, osi, problem));
  SP::SiconosVector x = dyn->x(), y = inter->y(0), lambda = inter->lambda(0);
  SimpleMatrix data(model.steps + 3, 1 + n + 2 * m);
  int k = 0;
  double start = now();
  while (simu->hasNextEvent()) {
    simu->computeOneStep();
    k++;
    if (stored) {
      data(k, 0) = simu->nextTime();
      for (unsigned i = 0; i < n; i++) data(k, 1 + i) = (*x)(i);
      for (unsigned i = 0; i < m; i++) {
        data(k, 1 + n + i) = (*y)(i);
        data(k, 1 + n + m + i) = (*lambda)(i);
      }
    }
    simu->nextStep();
  }
  double seconds = (now() - start) / k;
  *x1 = (*x)(0);
  return seconds;
}

int main(int argc, char **argv) {
  auto found = models.find(argc > 1 ? argv[1] : "");
  if (found == models.end()) return 1;
  double x1 = 0, best[2] = {INFINITY, INFINITY}, start = now();
  while (now() - start < 1.5)
    for (int stored = 0; stored < 2; stored++)
      best[stored] = std::fmin(best[stored], run(found->second, stored, &x1));
  std::printf("loop %.9g\nbare %.9g\n", best[1], best[0]);
  std::printf("x1 %.17g\n", x1);
  return 0;
}
