/*
** friction_lcp.c
** Plane friction by its linear complementarity problem.
*/
#include "solvers/contact/friction_lcp.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solvers/box/box_solver.h"
#include "solvers/contact/friction_residual.h"
#include "solvers/residual.h"

struct NsFrictionLcp {
  NsArena arena;
  NsBox *box;
  int nc;
  double *M, *q, *lower, *upper, *guess, *z, *w;
};

NsStatus ns_friction_lcp_new(NsFrictionLcp **out, int nc) {
  *out = NULL;
  if (nc > INT_MAX / 3) return NS_ETOOLARGE;
  NsFrictionLcp *l = ns_alloc(1, sizeof *l);
  if (!l) return NS_ENOMEM;
  int n = 3 * nc;
  l->nc = nc;
  l->M = ns_arena_matrix(&l->arena, n, n);
  double **arrays[] = {&l->q, &l->lower, &l->upper, &l->guess, &l->z, &l->w};
  for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) *arrays[k] = ns_arena_doubles(&l->arena, n);
  NsStatus status = l->arena.failed ? NS_ENOMEM : ns_box_new(&l->box, n);
  for (int k = 0; k < n && !status; k++) l->upper[k] = INFINITY;
  if (status) ns_friction_lcp_free(l);
  else *out = l;
  return status;
}

void ns_friction_lcp_free(NsFrictionLcp *l) {
  if (!l) return;
  ns_box_free(l->box);
  ns_arena_release(&l->arena);
  ns_free(l);
}

/* Matrix and vector of the LCP: variables r_n at i, f at nc + i, b at 2 nc + i. */
static void assemble(NsFrictionLcp *l, const NsFriction *p) {
  int nc = p->nc, n = 3 * nc;
  memset(l->M, 0, (size_t)n * (size_t)n * sizeof *l->M);
  for (int i = 0; i < nc; i++) {
    for (int b = p->W->rowptr[i]; b < p->W->rowptr[i + 1]; b++) {
      const double *W = p->W->value + 4 * (size_t)b;
      int j = p->W->col[b];
      double *normal = l->M + (size_t)j * (size_t)n, *force = l->M + (size_t)(nc + j) * (size_t)n, mu = p->mu[j];
      normal[i] = W[0] - mu * W[2];
      normal[nc + i] = W[1] - mu * W[3];
      force[i] = W[2];
      force[nc + i] = W[3];
    }
    double *own = l->M + (size_t)i * (size_t)n, *force = l->M + (size_t)(nc + i) * (size_t)n;
    own[2 * nc + i] = 2 * p->mu[i];
    force[2 * nc + i] = -1;
    l->M[(size_t)(2 * nc + i) * (size_t)n + (size_t)(nc + i)] = 1;
    l->q[i] = p->q[2 * i];
    l->q[nc + i] = p->q[2 * i + 1];
    l->q[2 * nc + i] = 0;
  }
}

static void guess_from(NsFrictionLcp *l, const NsFriction *p, const double *r, const double *u) {
  for (int i = 0; i < p->nc; i++) {
    l->guess[i] = ns_larger(r[2 * i], 0);
    l->guess[p->nc + i] = ns_larger(r[2 * i + 1] + p->mu[i] * r[2 * i], 0);
    l->guess[2 * p->nc + i] = ns_larger(-u[2 * i + 1], 0);
  }
}

NsStatus ns_friction_lcp_solve(NsFrictionLcp *l, const NsFriction *p, const double *rho, double tolerance, double *r, double *u,
                               NsSolverInfo *info) {
  int nc = p->nc, n = 3 * nc;
  assemble(l, p);
  ns_block_product(p->W, r, p->q, u);
  guess_from(l, p, r, u);
  NsBoxProblem box = {n, l->M, n > 0 ? n : 1, l->q, l->lower, l->upper, 0};
  NsStatus status = ns_box_solve(l->box, &box, l->guess, l->z, l->w, info);
  for (int i = 0; i < nc; i++) {
    double normal = l->z[i], bound = p->mu[i] * normal;
    r[2 * i] = normal;
    r[2 * i + 1] = ns_box_clamp(l->z[nc + i] - bound, -bound, bound);
  }
  double measure = ns_friction_measure(p, rho, r, u, info);
  if (status == NS_OK && !(measure <= tolerance)) status = NS_ENOCONV;
  info->status = status;
  info->solver = "lcp";
  return status;
}
