/*
** event_problem.c
** The problems of impulses and of forces: scaling, the one-step solver, and which forces are only rounding.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/event_driven/event_driven.h"
#include "integrators/triplets.h"

/* A contact is active when its multiplier exceeds this part of the one that would hold it alone. Chosen by experience. */
static const double NO_FORCE = 1e-10;

static void put_dense(const void *context, NsTriplets *t) {
  const NsEventDriven *ed = context;
  int n = ed->nproblem;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      if (ed->W[i + (size_t)j * (size_t)n] != 0) ns_triplets_put(t, i, j, ed->W[i + (size_t)j * (size_t)n]);
}

/* The exponent of the largest number: |x| 2^-exponent <= 1. 0 when all are 0. */
static int largest_exponent(size_t count, const double *x) {
  double most = 0;
  int exponent = 0;
  for (size_t i = 0; i < count; i++) most = fmax(most, fabs(x[i]));
  if (most > 0 && isfinite(most)) (void)frexp(most, &exponent);
  return exponent;
}

static void scale_by_power(size_t count, int exponent, double *x) {
  for (size_t i = 0; i < count && exponent != 0; i++) x[i] = ldexp(x[i], exponent);
}

/* Solves the problem W z + q of n rows. */
static NsStatus event_solve(NsEventDriven *ed, int n, const int *rows, const char *what, NsError *err) {
  NsStepProblem problem = {.n = n,
                           .ngroups = ed->ngroups,
                           .groups = ed->groups,
                           .W = ed->W,
                           .q = ed->q_part,
                           .guess = ed->z,
                           .interaction = ed->interaction};
  const double *lambda = NULL;
  NsStatus status = NS_OK;
  ed->nproblem = n;
  if (n > NS_MIXED_DENSE_ROWS) {
    status = ns_triplets_form(&ed->sparse, n, put_dense, ed);
    problem.W = NULL;
    problem.sparse = ed->sparse;
  }
  memset(ed->z, 0, (size_t)n * sizeof *ed->z);
  for (int k = 0; k < n; k++) ed->interaction[k] = ns_motion_interaction(ed->motion, rows[k]);
  if (status == NS_OK) status = ed->solver.solve(ed->solver.context, &problem, &lambda);
  if (status == NS_OK && n > 0) memcpy(ed->z, lambda, (size_t)n * sizeof *ed->z);
  if (status == NS_OK) ns_ed_polish(ed, n);
  if (status == NS_OK) return status;
  return ns_fail(err, status, "%s: the %s of '%s'%s have no accepted solution: %s", ns_ed_name(ed), what,
                 n > 0 ? ns_ed_row_name(ed, rows[0]) : "?", n > 1 ? " and others" : "", ns_status_message(status));
}

/*
** The bounds of relays scale with z = 2^exponent times the solver's z. W and q are scaled by powers of two, exactly, so the
** solver sees numbers near 1 in any units of mass and time.
*/
static void scale_bounds(NsEventDriven *ed, int exponent) {
  for (int g = 0; g < ed->ngroups; g++) {
    ed->groups[g].lower = ldexp(ed->groups[g].lower, -exponent);
    ed->groups[g].upper = ldexp(ed->groups[g].upper, -exponent);
  }
}

NsStatus ns_ed_solve(NsEventDriven *ed, int count, const int *rows, const char *what, NsError *err) {
  size_t n = (size_t)count;
  int of_W = largest_exponent(n * n, ed->W), of_q = largest_exponent(n, ed->q_part);
  scale_by_power(n * n, -of_W, ed->W);
  scale_by_power(n, -of_q, ed->q_part);
  scale_bounds(ed, of_q - of_W);
  NsStatus status = event_solve(ed, count, rows, what, err);
  scale_by_power(n * n, of_W, ed->W);
  scale_by_power(n, of_q, ed->q_part);
  scale_by_power(n, of_q - of_W, ed->z);
  return status;
}

/* The bounds of a force that is only rounding: NO_FORCE of the pressing acceleration, and the rounding of y'' without forces. */
bool ns_ed_carries(const NsEventDriven *ed, int k, int row, double own, double z) {
  double terms = fabs(ed->now->bias[row]);
  for (int j = 0; j < ed->Nv; j++) terms += fabs(ed->now->H[row + (size_t)j * (size_t)ed->m] * ed->now->a_free[j]);
  return own > 0 && z * own > fmax(NO_FORCE * ed->pressing[k], 64 * DBL_EPSILON * terms);
}
