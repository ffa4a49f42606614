/*
** friction_nsgs.c
** Nonsmooth Gauss-Seidel for friction problems.
*/
#include "solvers/contact/friction_nsgs.h"

#include <float.h>
#include <math.h>

#include "base/interrupt.h"
#include "solvers/contact/friction_residual.h"
#include "solvers/residual.h"

enum { MEASURE_AT_LEAST = 25 };

void ns_nsgs_prepare(const NsFriction *p, NsContact *contact) {
  size_t size = (size_t)(p->dim * p->dim);
  for (int i = 0; i < p->nc; i++)
    ns_contact_set(&contact[i], p->dim, p->W->value + (size_t)p->W->diag[i] * size, p->mu[i], p->rho[i]);
}

/* Solves contact i and returns the largest change of its force; *size grows to the largest component. */
static double nsgs_update(const NsFriction *p, const NsContact *contact, int i, double *r, double *size) {
  int d = p->dim;
  double b[3], old[3], *ri = r + (size_t)i * (size_t)d, change = 0;
  for (int k = 0; k < d; k++) {
    b[k] = p->q[i * d + k];
    old[k] = ri[k];
  }
  ns_block_row_outside(p->W, i, r, b);
  if (d == 2) ns_contact_solve2(&contact[i], b, ri);
  else ns_contact_solve3(&contact[i], b, ri);
  for (int k = 0; k < d; k++) {
    double difference = fabs(ri[k] - old[k]), now = fabs(ri[k]);
    if (!(now <= DBL_MAX)) return NAN;
    change = ns_larger(change, difference);
    *size = ns_larger(*size, now);
  }
  return change;
}

double ns_nsgs_sweep(const NsFriction *p, const NsContact *contact, bool backwards, double *r) {
  double change = 0, size = DBL_MIN;
  for (int k = 0; k < p->nc; k++) {
    double own = nsgs_update(p, contact, backwards ? p->nc - 1 - k : k, r, &size);
    if (!(own <= DBL_MAX)) return NAN;
    change = ns_larger(change, own);
  }
  return change / size;
}

NsStatus ns_nsgs_solve(const NsFriction *p, const NsContact *contact, double tolerance, int sweeps, double *r, double *u,
                       NsSolverInfo *info, int *done) {
  NsStatus status = NS_EMAXITER;
  int taken = 0, unmeasured = 0;
  while (status == NS_EMAXITER && taken < sweeps) {
    double change = ns_nsgs_sweep(p, contact, taken % 2 != 0, r);
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
