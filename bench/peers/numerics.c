/*
** numerics.c
** Siconos' solvers of boxes and friction timed on problems from stdin; lines "= name solver info seconds z1 z2 ..."
** on stderr, for the caller to judge. Each solver works in a process of its own, since some of them crash or hang.
*/
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <siconos/numerics/FrictionContactProblem.h>
#include <siconos/numerics/Friction_cst.h>
#include <siconos/numerics/LinearComplementarityProblem.h>
#include <siconos/numerics/NonSmoothDrivers.h>
#include <siconos/numerics/NumericsMatrix.h>
#include <siconos/numerics/RelayProblem.h>
#include <siconos/numerics/SolverOptions.h>
#include <siconos/numerics/lcp_cst.h>
#include <siconos/numerics/relay_cst.h>

enum { LCP, RELAY, FC2D, FC3D, KINDS, MOST = 12, SECONDS = 4 };

typedef struct Solver {
  int id;
  const char *name;
} Solver;

/* The first of each kind is what Siconos takes when nothing is asked for. */
static const Solver solvers[KINDS][MOST] = {
    [LCP] = {{SICONOS_LCP_LEMKE, "LEMKE"},
             {SICONOS_LCP_PGS, "PGS"},
             {SICONOS_LCP_NEWTONMIN, "NEWTONMIN"},
             {SICONOS_LCP_NEWTON_FB_FBLSA, "NEWTON_FB_FBLSA"},
             {SICONOS_LCP_NEWTON_MIN_FBLSA, "NEWTON_MIN_FBLSA"},
             {SICONOS_LCP_PSOR, "PSOR"},
             {SICONOS_LCP_AVI_CAOFERRIS, "AVI_CAOFERRIS"},
             {SICONOS_LCP_PIVOT, "PIVOT"},
             {SICONOS_LCP_BARD, "BARD"},
             {SICONOS_LCP_MURTY, "MURTY"}},
    [RELAY] = {{SICONOS_RELAY_AVI_CAOFERRIS, "AVI_CAOFERRIS"},
               {SICONOS_RELAY_LEMKE, "LEMKE"},
               {SICONOS_RELAY_PGS, "PGS"}},
    [FC2D] = {{SICONOS_FRICTION_2D_NSGS, "NSGS"},
              {SICONOS_FRICTION_2D_CPG, "CPG"},
              {SICONOS_FRICTION_2D_LEMKE, "LEMKE"},
              {SICONOS_FRICTION_2D_ENUM, "ENUM"}},
    [FC3D] = {{SICONOS_FRICTION_3D_NSGS, "NSGS"},
              {SICONOS_FRICTION_3D_NSN_AC, "NSN_AC"},
              {SICONOS_FRICTION_3D_NSN_FB, "NSN_FB"},
              {SICONOS_FRICTION_3D_NSN_NM, "NSN_NM"},
              {SICONOS_FRICTION_3D_NSGSV, "NSGSV"},
              {SICONOS_FRICTION_3D_PROX, "PROX"},
              {SICONOS_FRICTION_3D_TFP, "TFP"},
              {SICONOS_FRICTION_3D_DSFP, "DSFP"},
              {SICONOS_FRICTION_3D_VI_EG, "VI_EG"},
              {SICONOS_FRICTION_3D_ADMM, "ADMM"}},
};

typedef struct Problem {
  char name[64];
  int kind, n;
  double *M, *q, *lower, *upper, *z, *w; /* lower holds the friction coefficients of FC2D, FC3D */
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

static int solve(Problem *p, SolverOptions *options) {
  NumericsMatrix *M = NM_create_from_data(NM_DENSE, p->n, p->n, p->M);
  LinearComplementarityProblem lcp = {.size = p->n, .M = M, .q = p->q};
  RelayProblem relay = {.size = p->n, .M = M, .q = p->q, .lb = p->lower, .ub = p->upper};
  int dim = p->kind == FC2D ? 2 : 3;
  FrictionContactProblem friction = {
      .dimension = dim, .numberOfContacts = p->n / dim, .M = M, .q = p->q, .mu = p->lower};
  switch (p->kind) {
    case LCP: return linearComplementarity_driver(&lcp, p->z, p->w, options);
    case RELAY: return relay_driver(&relay, p->z, p->w, options);
    case FC2D: return fc2d_driver(&friction, p->z, p->w, options);
    default: return fc3d_driver(&friction, p->z, p->w, options);
  }
}

/* The best of many solves; options are made anew for each, outside the clock. */
static void run(Problem *p, Solver solver) {
  double best = INFINITY, begun = now();
  int info = 0;
  for (int k = 0; k < 2000 && (k == 0 || now() - begun < 0.05); k++) {
    SolverOptions *options = solver_options_create(solver.id);
    options->dparam[SICONOS_DPARAM_TOL] = p->kind >= FC2D ? 1e-9 : 1e-10;
    options->iparam[SICONOS_IPARAM_MAX_ITER] = 10000;
    memset(p->z, 0, (size_t)p->n * sizeof *p->z);
    memset(p->w, 0, (size_t)p->n * sizeof *p->w);
    double start = now();
    info = solve(p, options);
    best = fmin(best, now() - start);
    solver_options_delete(options);
  }
  fprintf(stderr, "\n= %s %s %d %.9g", p->name, solver.name, info, best);
  for (int i = 0; i < p->n; i++) fprintf(stderr, " %.17g", p->z[i]);
  fputc('\n', stderr);
}

static void run_apart(Problem *p, Solver solver) {
  pid_t child = fork();
  if (child == 0) {
    close(0); /* exit() in there would move the place in the shared input */
    alarm(SECONDS);
    run(p, solver);
    _exit(0);
  }
  if (child > 0) waitpid(child, NULL, 0);
}

int main(void) {
  Problem p;
  while (scanf("%63s %d %d", p.name, &p.kind, &p.n) == 3 && p.kind >= 0 && p.kind < KINDS) {
    p.M = read_numbers(p.n * p.n);
    p.q = read_numbers(p.n);
    p.lower = read_numbers(p.kind == FC2D ? p.n / 2 : p.kind == FC3D ? p.n / 3 : p.n);
    p.upper = p.kind >= FC2D ? NULL : read_numbers(p.n);
    p.z = calloc((size_t)p.n, sizeof *p.z);
    p.w = calloc((size_t)p.n, sizeof *p.w);
    for (int k = 0; k < MOST && solvers[p.kind][k].name; k++) run_apart(&p, solvers[p.kind][k]);
  }
  return 0;
}
