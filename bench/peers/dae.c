/*
** dae.c
** Differential-algebraic equations by IDA, residual and Jacobian by hand; checks and stores nothing.
** NAME RTOL: seconds of a run (the best of many), steps, and y<k>_<i>, unknown i at sample k.
*/
#include <ida/ida.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <time.h>

enum { MOST = 5, SAMPLES = 10 };
#define J(i, j) SM_ELEMENT_D(jac, i, j)

static int robertson(double t, N_Vector vy, N_Vector vd, N_Vector vr, void *context) {
  const double *y = NV_DATA_S(vy), *d = NV_DATA_S(vd);
  double *r = NV_DATA_S(vr);
  (void)t, (void)context;
  r[0] = d[0] + 0.04 * y[0] - 1e4 * y[1] * y[2];
  r[1] = d[1] - 0.04 * y[0] + 1e4 * y[1] * y[2] + 3e7 * y[1] * y[1];
  r[2] = y[0] + y[1] + y[2] - 1;
  return 0;
}

static int robertson_jacobian(double t, double c, N_Vector vy, N_Vector vd, N_Vector vr, SUNMatrix jac, void *context,
                              N_Vector a, N_Vector b, N_Vector e) {
  const double *y = NV_DATA_S(vy);
  (void)t, (void)vd, (void)vr, (void)context, (void)a, (void)b, (void)e;
  J(0, 0) = c + 0.04, J(0, 1) = -1e4 * y[2], J(0, 2) = -1e4 * y[1];
  J(1, 0) = -0.04, J(1, 1) = c + 1e4 * y[2] + 6e7 * y[1], J(1, 2) = 1e4 * y[1];
  J(2, 0) = J(2, 1) = J(2, 2) = 1;
  return 0;
}

static int pendulum(double t, N_Vector vy, N_Vector vd, N_Vector vr, void *context) {
  const double *y = NV_DATA_S(vy), *d = NV_DATA_S(vd);
  double *r = NV_DATA_S(vr);
  (void)t, (void)context;
  r[0] = d[0] - y[2];
  r[1] = d[1] - y[3];
  r[2] = d[2] + y[4] * y[0];
  r[3] = d[3] + y[4] * y[1] + 9.81;
  r[4] = y[2] * y[2] + y[3] * y[3] - y[4] * (y[0] * y[0] + y[1] * y[1]) - 9.81 * y[1];
  return 0;
}

static int pendulum_jacobian(double t, double c, N_Vector vy, N_Vector vd, N_Vector vr, SUNMatrix jac, void *context,
                             N_Vector a, N_Vector b, N_Vector e) {
  const double *y = NV_DATA_S(vy);
  (void)t, (void)vd, (void)vr, (void)context, (void)a, (void)b, (void)e;
  J(0, 0) = J(1, 1) = J(2, 2) = J(3, 3) = c;
  J(0, 2) = J(1, 3) = -1;
  J(2, 0) = J(3, 1) = y[4];
  J(2, 4) = y[0], J(3, 4) = y[1];
  J(4, 0) = -2 * y[4] * y[0], J(4, 1) = -2 * y[4] * y[1] - 9.81;
  J(4, 2) = 2 * y[2], J(4, 3) = 2 * y[3], J(4, 4) = -(y[0] * y[0] + y[1] * y[1]);
  return 0;
}

static const struct Problem {
  const char *name;
  IDAResFn residual;
  IDALsJacFn jacobian;
  int n, samples;
  double y0[MOST], d0[MOST], first, ratio; /* sample k: first * ratio^k, or first * (k + 1) where ratio is 0 */
} problems[] = {{"robertson", robertson, robertson_jacobian, 3, 7, {1, 0, 0}, {-0.04, 0.04, 0}, 0.4, 10},
                {"pendulum", pendulum, pendulum_jacobian, 5, 10, {1, 0, 0, 0, 0}, {0, 0, 0, -9.81, 0}, 0.5, 0}};

static double out[SAMPLES][MOST];

static long run(const struct Problem *p, double rtol) {
  SUNContext context;
  SUNContext_Create(NULL, &context);
  N_Vector y = N_VNew_Serial(p->n, context), d = N_VNew_Serial(p->n, context);
  memcpy(NV_DATA_S(y), p->y0, sizeof(double) * (size_t)p->n);
  memcpy(NV_DATA_S(d), p->d0, sizeof(double) * (size_t)p->n);
  SUNMatrix matrix = SUNDenseMatrix(p->n, p->n, context);
  SUNLinearSolver solver = SUNLinSol_Dense(y, matrix, context);
  void *ida = IDACreate(context);
  IDAInit(ida, p->residual, 0, y, d);
  IDASStolerances(ida, rtol, fmax((p->n == 3 ? 1e-6 : 1e-2) * rtol, 1e-14));
  IDASetLinearSolver(ida, solver, matrix);
  IDASetJacFn(ida, p->jacobian);
  IDASetMaxNumSteps(ida, 1000000);
  long steps = 0;
  double t, at = p->first;
  for (int k = 0; k < p->samples; k++) {
    if (IDASolve(ida, at, &t, y, d, IDA_NORMAL) < 0) exit(1);
    memcpy(out[k], NV_DATA_S(y), sizeof(double) * (size_t)p->n);
    at = p->ratio > 0 ? at * p->ratio : at + p->first;
  }
  IDAGetNumSteps(ida, &steps);
  IDAFree(&ida);
  SUNLinSolFree(solver);
  SUNMatDestroy(matrix);
  N_VDestroy(y);
  N_VDestroy(d);
  SUNContext_Free(&context);
  return steps;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int count, char **words) {
  for (size_t i = 0; count > 2 && i < sizeof problems / sizeof *problems; i++) {
    const struct Problem *p = &problems[i];
    if (strcmp(p->name, words[1]) != 0) continue;
    double best = INFINITY;
    long steps = 0;
    for (int k = 0; k < 15; k++) {
      double start = now();
      steps = run(p, atof(words[2]));
      best = fmin(best, now() - start);
    }
    printf("time %.9g\nsteps %ld\n", best, steps);
    for (int k = 0; k < p->samples; k++)
      for (int j = 0; j < p->n; j++) printf("y%d_%d %.17g\n", k + 1, j + 1, out[k][j]);
    return 0;
  }
  return 1;
}
