/*
** event_problem.c
** The problems of impulses and of forces: scaling, the one-step solver, and which forces are only rounding.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/motion/event_problem.h"
#include "integrators/triplets.h"

/* A contact is active when its multiplier exceeds this part of the one that would hold it alone. Chosen by experience. */
static const double NO_FORCE = 1e-10;

void ns_motion_problem_make(NsMotionProblem *problem, NsArena *arena, int m) {
  NsMotionPolish *polish = &problem->polish;
  NS_ARENA_VECTORS(arena, m, &problem->q, &problem->z, &polish->step, &polish->rhs, &polish->before);
  problem->W = ns_arena_matrix(arena, m, m);
  problem->groups = ns_arena_take(arena, (size_t)m, sizeof *problem->groups);
  problem->interaction = ns_arena_ints(arena, m);
  polish->matrix = ns_arena_matrix(arena, m, m);
  polish->unknown = ns_arena_ints(arena, m);
  polish->sets = ns_arena_take(arena, (size_t)m, sizeof *polish->sets);
}

const char *ns_motion_row_name(const NsMotion *motion, int row) {
  return ns_motion_nsds(motion)->interactions[ns_motion_interaction(motion, row)]->name;
}

static void put_dense(const void *context, NsTriplets *t) {
  const NsMotionProblem *p = context;
  int n = p->n;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++)
      if (p->W[i + (size_t)j * (size_t)n] != 0) ns_triplets_put(t, i, j, p->W[i + (size_t)j * (size_t)n]);
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

static NsStatus event_solve(NsMotionProblem *p, const NsMotion *motion, const int *rows, const char *what, NsError *err) {
  int n = p->n;
  NsStepProblem problem = {
      .n = n, .ngroups = p->ngroups, .groups = p->groups, .W = p->W, .q = p->q, .guess = p->z, .interaction = p->interaction};
  const double *lambda = NULL;
  NsStatus status = NS_OK;
  if (n > NS_MIXED_DENSE_ROWS) {
    status = ns_triplets_form(&p->sparse, n, put_dense, p);
    problem.W = NULL;
    problem.sparse = p->sparse;
  }
  memset(p->z, 0, (size_t)n * sizeof *p->z);
  for (int k = 0; k < n; k++) p->interaction[k] = ns_motion_interaction(motion, rows[k]);
  if (status == NS_OK) status = p->solver.solve(p->solver.context, &problem, &lambda);
  if (status == NS_OK && n > 0) memcpy(p->z, lambda, (size_t)n * sizeof *p->z);
  if (status == NS_OK) ns_motion_problem_polish(p);
  if (status == NS_OK) return status;
  return ns_fail(err, status, "%s: the %s of '%s'%s have no accepted solution: %s", p->who, what,
                 n > 0 ? ns_motion_row_name(motion, rows[0]) : "?", n > 1 ? " and others" : "", ns_status_message(status));
}

/*
** The bounds of relays scale with z = 2^exponent times the solver's z, and slips with w = 2^speed times its w. W and q are scaled by powers of two, exactly, so the
** solver sees numbers near 1 in any units of mass and time.
*/
static void scale_bounds(NsMotionProblem *p, int exponent, int speed) {
  for (int g = 0; g < p->ngroups; g++) {
    if (p->groups[g].cone) p->groups[g].slip.unit = ldexp(p->groups[g].slip.unit, speed);
    if (p->groups[g].cone) continue;
    p->groups[g].lower = ldexp(p->groups[g].lower, -exponent);
    p->groups[g].upper = ldexp(p->groups[g].upper, -exponent);
  }
}

NsStatus ns_motion_problem_solve(NsMotionProblem *p, const NsMotion *motion, int count, const int *rows, const char *what,
                                 NsError *err) {
  size_t n = (size_t)count;
  int of_W = largest_exponent(n * n, p->W), of_q = largest_exponent(n, p->q);
  p->n = count;
  scale_by_power(n * n, -of_W, p->W);
  scale_by_power(n, -of_q, p->q);
  scale_bounds(p, of_q - of_W, of_q);
  NsStatus status = event_solve(p, motion, rows, what, err);
  scale_by_power(n * n, of_W, p->W);
  scale_by_power(n, of_q, p->q);
  scale_by_power(n, of_q - of_W, p->z);
  return status;
}

void ns_motion_group_disc(NsMixedGroup *group, int width, double mu) {
  int discs = group->cone ? group->cone->discs : 0;
  double all[NS_CONE_DISCS];
  for (int k = 0; k < discs; k++) all[k] = group->mu[k];
  all[discs] = mu;
  *group = ns_mixed_contact(ns_cone_find(group->dim + width, discs + 1), all);
}

/* The bounds of a force that is only rounding: NO_FORCE of the pressing acceleration, and the rounding of y'' without forces. */
bool ns_motion_carries(const NsMotionView *now, int row, double pressing, double own, double z) {
  double terms = fabs(now->bias[row]);
  for (int j = 0; j < now->Nv; j++) terms += fabs(now->H[row + (size_t)j * (size_t)now->m] * now->a_free[j]);
  return own > 0 && z * own > fmax(NO_FORCE * pressing, 64 * DBL_EPSILON * terms);
}
