/*
** friction_nsgs.c
** Nonsmooth Gauss-Seidel for contacts of one cone.
*/
/*
** Assumptions: if its cone (cone.h) finds no solution for a contact, the contact makes a projected step. Sweeps converge in
** practice for a symmetric positive semidefinite W and small mu; no convergence proof for others.
** Termination: the measure is within tolerance (tested when a sweep changes little, and every MEASURE_AT_LEAST sweeps); or a
** force is NaN; or the limit is reached. Sweeps alternate between forwards and backwards. Jourdan, Alart and Jean, Comput.
** Methods Appl. Mech. Engrg. 155, 1998; Acary, Bremond and Huber 2018 (friction.h).
*/
#include "solvers/contact/friction_nsgs.h"

#include <float.h>
#include <math.h>

#include "base/interrupt.h"
#include "solvers/contact/friction_residual.h"
#include "solvers/residual.h"

/* MEASURE_AT_LEAST: largest number of sweeps between two measures. SWEEPS: default limit when asked for by name. */
enum { MEASURE_AT_LEAST = 25, SWEEPS = 20000 };

void ns_nsgs_prepare(const NsFriction *p, NsConeContact *contact) {
  size_t size = (size_t)(p->dim * p->dim);
  for (int i = 0; i < p->nc; i++)
    ns_cone_contact_set(&contact[i], p->cone, p->W->value + (size_t)p->W->diag[i] * size, ns_friction_mu(p, i), p->rho[i]);
}

/* Solves contact i. Returns the largest change of its force; *size = the larger of *size and its largest component. */
static double nsgs_update(const NsFriction *p, const NsConeContact *contact, int i, double *r, double *size) {
  int d = p->dim;
  double b[NS_CONE_MOST], old[NS_CONE_MOST], *ri = r + (size_t)i * (size_t)d, change = 0;
  for (int k = 0; k < d; k++) {
    b[k] = p->q[i * d + k];
    old[k] = ri[k];
  }
  ns_block_row_outside(p->W, i, r, b);
  p->cone->solve(&contact[i], b, ri);
  for (int k = 0; k < d; k++) {
    double difference = fabs(ri[k] - old[k]), now = fabs(ri[k]);
    if (!(now <= DBL_MAX)) return NAN;
    change = ns_larger(change, difference);
    *size = ns_larger(*size, now);
  }
  return change;
}

/* One sweep. Returns the largest change of a component of r over the largest component; NAN if r has a NaN. */
static double nsgs_sweep(const NsFriction *p, const NsConeContact *contact, bool backwards, double *r) {
  double change = 0, size = DBL_MIN;
  for (int k = 0; k < p->nc; k++) {
    double own = nsgs_update(p, contact, backwards ? p->nc - 1 - k : k, r, &size);
    if (!(own <= DBL_MAX)) return NAN;
    change = ns_larger(change, own);
  }
  return change / size;
}

NsStatus ns_nsgs_solve(const NsFriction *p, const NsConeContact *contact, double tolerance, int sweeps, double *r, double *u,
                       NsSolverInfo *info, int *done) {
  NsStatus status = NS_EMAXITER;
  int taken = 0, unmeasured = 0;
  while (status == NS_EMAXITER && taken < sweeps) {
    double change = nsgs_sweep(p, contact, taken % 2 != 0, r);
    taken++;
    if (!(change <= DBL_MAX)) status = NS_ENAN;
    else if (ns_interrupted()) status = NS_EINTR;
    else if (change <= tolerance || ++unmeasured >= MEASURE_AT_LEAST) {
      unmeasured = 0;
      if (ns_friction_measure(p, r, u, info) <= tolerance) status = NS_OK;
    }
  }
  if (status != NS_OK) ns_friction_measure(p, r, u, info);
  if (done) *done = taken;
  info->status = status;
  info->iterations = taken;
  info->solver = "nsgs";
  return status;
}

/* ---- the method ---- */

/*
** Continues the sweeps from their last point. With `jump` they go on from the best candidate if its measure is ten times
** smaller; without it they don't, since a small measure does not mean that a point is near a solution for the sweeps.
*/
static NsOutcome nsgs_go_on(NsFrictionSearch *f, int count, bool jump) {
  NsMixedSearch *s = &f->mixed;
  NsSolverInfo info = {0};
  int done = 0;
  ns_mixed_copy(s, s->z, jump && s->base.least < 0.1 * f->standing ? s->best : s->standing);
  ns_nsgs_solve(s->blocks, f->contact, s->base.tolerance, count, s->z, s->w, &info, &done);
  ns_mixed_copy(s, s->standing, s->z);
  f->standing = ns_larger(info.relative, info.backward);
  f->swept += done;
  info.iterations = f->swept;
  return ns_friction_keep(f, &info);
}

static NsOutcome nsgs_run(void *work, NsSearch *search, int mode) {
  NsFrictionSearch *f = (NsFrictionSearch *)search;
  int limit = f->mixed.v.max_iterations;
  (void)work;
  if (mode == 0) return nsgs_go_on(f, limit > 0 ? limit : SWEEPS, true);
  if (mode == NS_NSGS_OWED) {
    memset(f->mixed.standing, 0, (size_t)f->mixed.v.p.n * sizeof *f->mixed.standing);
    return nsgs_go_on(f, f->limit - f->swept, false);
  }
  f->round++;
  f->before = search->least;
  f->taken = (int)ns_smaller(f->sweeps, f->limit - f->swept);
  NsOutcome out = nsgs_go_on(f, f->taken, f->stalls == 0);
  if (!ns_friction_small(f)) return out;
  f->spent += f->taken;
  f->sweeps *= 3;
  return out;
}

const NsMethod ns_friction_nsgs = {
    .name = "nsgs", .takes = NS_TAKES_DENSE | NS_TAKES_SPARSE | NS_TAKES_PLANE | NS_TAKES_SPACE, .run = nsgs_run};
