/*
** numerics.c
** Siconos' LCP and relay solvers timed on problems from stdin; a line "name solver info seconds residual" each.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <siconos/numerics/LinearComplementarityProblem.h>
#include <siconos/numerics/NonSmoothDrivers.h>
#include <siconos/numerics/NumericsMatrix.h>
#include <siconos/numerics/RelayProblem.h>
#include <siconos/numerics/SolverOptions.h>
#include <siconos/numerics/lcp_cst.h>
#include <siconos/numerics/relay_cst.h>

typedef struct Solver {
  int id;
  const char *name;
} Solver;

static const Solver lcp_solvers[] = {
    {SICONOS_LCP_LEMKE, "LEMKE"},
    {SICONOS_LCP_PGS, "PGS"},
    {SICONOS_LCP_NEWTONMIN, "NEWTONMIN"},
    {SICONOS_LCP_NEWTON_FB_FBLSA, "NEWTON_FB_FBLSA"},
    {SICONOS_LCP_NEWTON_MIN_FBLSA, "NEWTON_MIN_FBLSA"},
    {SICONOS_LCP_PSOR, "PSOR"},
    {SICONOS_LCP_AVI_CAOFERRIS, "AVI_CAOFERRIS"},
    {SICONOS_LCP_PIVOT, "PIVOT"},
    {SICONOS_LCP_BARD, "BARD"},
    {SICONOS_LCP_MURTY, "MURTY"},
};
static const Solver relay_solvers[] = {
    {SICONOS_RELAY_PGS, "PGS"}, {SICONOS_RELAY_LEMKE, "LEMKE"}, {SICONOS_RELAY_AVI_CAOFERRIS, "AVI_CAOFERRIS"}};

typedef struct Problem {
  char name[64];
  int relay, n;
  double *M, *q, *lower, *upper, *z, *w;
} Problem;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double *read_numbers(int n) {
  double *x = calloc((size_t)n, sizeof *x);
  for (int i = 0; i < n; i++)
    if (scanf("%lf", &x[i]) != 1) exit(1);
  return x;
}

static double residual(const Problem *p) {
  double worst = 0;
  for (int i = 0; i < p->n; i++) {
    double w = p->q[i];
    for (int j = 0; j < p->n; j++) w += p->M[i + j * p->n] * p->z[j];
    double r = fabs(p->z[i] - fmin(fmax(p->z[i] - w, p->lower[i]), p->upper[i]));
    if (!(r <= worst)) worst = r;
  }
  return worst;
}

static void run(Problem *p, Solver solver) {
  NumericsMatrix *M = NM_create_from_data(NM_DENSE, p->n, p->n, p->M);
  LinearComplementarityProblem lcp = {.size = p->n, .M = M, .q = p->q};
  RelayProblem relay = {.size = p->n, .M = M, .q = p->q, .lb = p->lower, .ub = p->upper};
  double best = INFINITY, begun = now();
  int info = 0;
  for (int k = 0; k < 2000 && (k == 0 || now() - begun < 0.05); k++) {
    SolverOptions *options = solver_options_create(solver.id);
    options->dparam[SICONOS_DPARAM_TOL] = 1e-10;
    options->iparam[SICONOS_IPARAM_MAX_ITER] = 10000;
    memset(p->z, 0, (size_t)p->n * sizeof *p->z);
    memset(p->w, 0, (size_t)p->n * sizeof *p->w);
    double start = now();
    info = p->relay ? relay_driver(&relay, p->z, p->w, options)
                    : linearComplementarity_driver(&lcp, p->z, p->w, options);
    best = fmin(best, now() - start);
    solver_options_delete(options);
  }
  fprintf(stderr, "%s %s %d %.9g %.9g\n", p->name, solver.name, info, best, residual(p));
}

int main(void) {
  Problem p;
  while (scanf("%63s %d %d", p.name, &p.relay, &p.n) == 3) {
    p.M = read_numbers(p.n * p.n);
    p.q = read_numbers(p.n);
    p.lower = read_numbers(p.n);
    p.upper = read_numbers(p.n);
    p.z = calloc((size_t)p.n, sizeof *p.z);
    p.w = calloc((size_t)p.n, sizeof *p.w);
    const Solver *solvers = p.relay ? relay_solvers : lcp_solvers;
    size_t count = p.relay ? sizeof relay_solvers / sizeof *relay_solvers : sizeof lcp_solvers / sizeof *lcp_solvers;
    for (size_t k = 0; k < count; k++) run(&p, solvers[k]);
  }
  return 0;
}
