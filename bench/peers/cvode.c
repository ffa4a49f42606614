/*
** cvode.c
** Initial value problems by CVODE, right-hand sides by hand; checks and stores nothing. Jacobians are by hand, that of
** the linkage by CVODE's differences.
** NAME bdf|adams RTOL: seconds of a run (the best of many), steps, evaluations, and y<k>_<i>, unknown i at sample k.
*/
#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <time.h>

enum { MOST = 4, SAMPLES = 10 };
#define J(i, j) SM_ELEMENT_D(jac, i, j)

static int vdp(double t, N_Vector vy, N_Vector vf, void *context) {
  const double *y = NV_DATA_S(vy);
  double *f = NV_DATA_S(vf);
  (void)t, (void)context;
  f[0] = y[1];
  f[1] = 1000 * (1 - y[0] * y[0]) * y[1] - y[0];
  return 0;
}

static int vdp_jacobian(double t, N_Vector vy, N_Vector vf, SUNMatrix jac, void *context, N_Vector a, N_Vector b,
                        N_Vector c) {
  const double *y = NV_DATA_S(vy);
  (void)t, (void)vf, (void)context, (void)a, (void)b, (void)c;
  J(0, 0) = 0, J(0, 1) = 1;
  J(1, 0) = -2000 * y[0] * y[1] - 1, J(1, 1) = 1000 * (1 - y[0] * y[0]);
  return 0;
}

static int pinned(double t, N_Vector vy, N_Vector vf, void *context) {
  const double *y = NV_DATA_S(vy);
  double *f = NV_DATA_S(vf), l = 1, m = 0.1, bx = -l / 2 * sin(y[0]), by = l / 2 * cos(y[0]);
  (void)t, (void)context;
  f[0] = y[1];
  f[1] = -by * m * 9.81 / (m * bx * bx + m * by * by + m * l * l / 12);
  return 0;
}

static int pinned_jacobian(double t, N_Vector vy, N_Vector vf, SUNMatrix jac, void *context, N_Vector a, N_Vector b,
                           N_Vector c) {
  (void)t, (void)vf, (void)context, (void)a, (void)b, (void)c;
  J(0, 0) = 0, J(0, 1) = 1; /* bx^2 + by^2 is constant */
  J(1, 0) = 1.5 * 9.81 * sin(NV_DATA_S(vy)[0]), J(1, 1) = 0;
  return 0;
}

static int four_bar(double t, N_Vector vy, N_Vector vf, void *context) {
  const double *x = NV_DATA_S(vy), la = 0.8, lb = 2, lc = 1;
  double *f = NV_DATA_S(vf), a = x[0], b = a + x[1], c = b + x[2], u = x[3];
  (void)t, (void)context;
  double beta = -la * sin(c - a) / (lb * sin(c - b)), gamma = -la * sin(b - a) / (lc * sin(b - c));
  double wb = beta * u, wc = gamma * u;
  double rate = beta * ((wc - u) * cos(c - a) / sin(c - a) - (wc - wb) * cos(c - b) / sin(c - b));
  double vx = -la * sin(a) - lb * beta * sin(b), vy2 = la * cos(a) + lb * beta * cos(b);
  double dx = -la * u * cos(a) - lb * (beta * wb * cos(b) + rate * sin(b));
  double dy = -la * u * sin(a) - lb * (beta * wb * sin(b) - rate * cos(b));
  f[0] = u, f[1] = (beta - 1) * u, f[2] = (gamma - beta) * u;
  f[3] = -((vx * dx + vy2 * dy) * u + 9.81 * (la * cos(a) + vy2)) / (la * la + vx * vx + vy2 * vy2);
  return 0;
}

static const struct Problem {
  const char *name;
  CVRhsFn f;
  CVLsJacFn jacobian; /* NULL: differences */
  int n;
  double T, y0[MOST];
} problems[] = {
    {"vdp", vdp, vdp_jacobian, 2, 2000, {2, 0}},
    {"pinned", pinned, pinned_jacobian, 2, 4, {0, 0}},
    {"four_bar", four_bar, NULL, 4, 10, {0.1745329251994329576, 0.1147600367903035488, -2.642142839876820962, 0}}};

static double out[SAMPLES][MOST];

static void run(const struct Problem *p, int bdf, double rtol, long *steps, long *evaluations) {
  SUNContext context;
  SUNContext_Create(NULL, &context);
  N_Vector y = N_VNew_Serial(p->n, context);
  memcpy(NV_DATA_S(y), p->y0, sizeof(double) * (size_t)p->n);
  void *cvode = CVodeCreate(bdf ? CV_BDF : CV_ADAMS, context);
  SUNMatrix matrix = bdf ? SUNDenseMatrix(p->n, p->n, context) : NULL;
  SUNLinearSolver solver = bdf ? SUNLinSol_Dense(y, matrix, context) : NULL;
  SUNNonlinearSolver loop = bdf ? NULL : SUNNonlinSol_FixedPoint(y, 0, context);
  CVodeInit(cvode, p->f, 0, y);
  CVodeSStolerances(cvode, rtol, 1e-2 * rtol);
  if (bdf) CVodeSetLinearSolver(cvode, solver, matrix);
  if (bdf && p->jacobian) CVodeSetJacFn(cvode, p->jacobian);
  if (loop) CVodeSetNonlinearSolver(cvode, loop);
  CVodeSetMaxNumSteps(cvode, 10000000);
  for (int k = 0; k < SAMPLES; k++) {
    double t;
    if (CVode(cvode, p->T * (k + 1) / SAMPLES, y, &t, CV_NORMAL) < 0) exit(1);
    memcpy(out[k], NV_DATA_S(y), sizeof(double) * (size_t)p->n);
  }
  CVodeGetNumSteps(cvode, steps);
  CVodeGetNumRhsEvals(cvode, evaluations);
  CVodeFree(&cvode);
  if (loop) SUNNonlinSolFree(loop);
  if (solver) SUNLinSolFree(solver);
  if (matrix) SUNMatDestroy(matrix);
  N_VDestroy(y);
  SUNContext_Free(&context);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int count, char **words) {
  for (size_t i = 0; count > 3 && i < sizeof problems / sizeof *problems; i++) {
    const struct Problem *p = &problems[i];
    if (strcmp(p->name, words[1]) != 0) continue;
    double best = INFINITY;
    long steps = 0, evaluations = 0;
    for (int k = 0; k < 15; k++) {
      double start = now();
      run(p, strcmp(words[2], "bdf") == 0, atof(words[3]), &steps, &evaluations);
      best = fmin(best, now() - start);
    }
    printf("time %.9g\nsteps %ld\nnfev %ld\n", best, steps, evaluations);
    for (int k = 0; k < SAMPLES; k++)
      for (int j = 0; j < p->n; j++) printf("y%d_%d %.17g\n", k + 1, j + 1, out[k][j]);
    return 0;
  }
  return 1;
}
