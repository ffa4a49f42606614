/*
** proximal.c
** Steps of the proximal point method, each solved by active sets, else by principal pivots.
*/
#include "solvers/box/methods.h"

#include <string.h>

#include "base/interrupt.h"
#include "solvers/box/dense_search.h"
#include "solvers/box/principal.h"
#include "solvers/residual.h"

/* STEPS: limit (the shift is least after 5). REPAIRS: of an active set in a step. MOST_EACH n: limit of pivots in a step. */
enum { STEPS = 60, REPAIRS = 12, MOST_EACH = 20 };

/* First shift, its factor per step, least shift, for entries of M of about 1. 1e-7: a singular M keeps half of the digits. */
static const double first_shift = 1e-2, shift_falls = 0.1, least_shift = 1e-7;

/*
** scaled_growth: terms of an active set over its data (active.h) above which the set counts as singular; as in dense_search.c.
*/
static const double scaled_growth = 1e10;

/* Backward error of the solution of a step. 1e-12: ten times the error of an exact answer (NS_BOX_EXACT); later steps refine it. */
static const double step_accuracy = 1e-12;

typedef struct Proximal {
  NsPrincipal principal;
  double *M, *q; /* of the current step */
  double *at;    /* start of the current step */
  double *z, *w;
  signed char *set;
} Proximal;

static NsStatus proximal_reserve(void **work, NsSearch *search) {
  NsBoxSearch *s = (NsBoxSearch *)search;
  Proximal *m = *work = ns_arena_take(s->arena, 1, sizeof *m);
  if (!m) return NS_ENOMEM;
  NS_ARENA_VECTORS(s->arena, s->nmax, &m->q, &m->at, &m->z, &m->w);
  m->M = ns_arena_matrix(s->arena, s->nmax, s->nmax);
  m->set = ns_arena_take(s->arena, (size_t)s->nmax, 1);
  ns_principal_take(&m->principal, s->arena, s->nmax);
  return NS_OK;
}

/* Solves p into m->z from the active set m->set, with repairs. */
static bool proximal_repaired(Proximal *m, NsActive *active, const NsBoxProblem *p) {
  double backward;
  for (int k = 0; k <= REPAIRS; k++) {
    NsStatus status = ns_active_try(active, p, m->set, step_accuracy, scaled_growth, m->z, m->w, &backward);
    if (status != NS_ENOCONV) return status == NS_OK;
    if (ns_active_repair(active, p, m->z, m->w, false, m->set) == 0) return false;
  }
  return false;
}

/* Moves m->at to the solution of the problem with M + shift I and q - shift z. */
static NsStatus proximal_step(Proximal *m, NsActive *active, const NsBoxProblem *fair, double shift) {
  NsBoxProblem near = {fair->n, m->M, fair->n, m->q, fair->lower, fair->upper, fair->faded};
  int n = fair->n, pivots;
  for (int i = 0; i < n; i++) {
    m->M[i + (size_t)i * (size_t)n] = fair->M[i + (size_t)i * (size_t)fair->ldm] + shift;
    m->q[i] = fair->q[i] - shift * m->at[i];
  }
  ns_active_of_point(&near, m->at, m->set);
  if (!proximal_repaired(m, active, &near)) {
    NsStatus status = ns_principal_solve(&m->principal, &near, NS_PRINCIPAL_MIXED, MOST_EACH * n, active->block, m->z, m->set,
                                         &pivots);
    if (status) return status;
    if (!proximal_repaired(m, active, &near)) return NS_ENOCONV;
  }
  memcpy(m->at, m->z, (size_t)n * sizeof *m->at);
  return ns_interrupted() ? NS_EINTR : NS_OK;
}

static NsOutcome proximal_run(void *work, NsSearch *search, int mode) {
  Proximal *m = work;
  NsDenseSearch *s = (NsDenseSearch *)search;
  const NsBoxProblem *fair = ns_dense_fair(s);
  NsOutcome out = {NS_ENOCONV, false, 0, "proximal"};
  size_t n = (size_t)fair->n;
  double shift = first_shift;
  (void)mode;
  s->box.start(&s->box, m->at);
  for (size_t i = 0; i < n; i++) memcpy(m->M + i * n, fair->M + i * (size_t)fair->ldm, n * sizeof *fair->M);
  for (; out.iterations < STEPS && !ns_dense_exact(s); shift = ns_larger(shift_falls * shift, least_shift)) {
    NsStatus status = proximal_step(m, s->active, fair, shift);
    if (status == NS_EINTR) return out.status = status, out;
    if (status) break;
    out.iterations++;
    ns_dense_keep_scaled(s, m->at);
  }
  if (search->least <= search->tolerance) out.status = NS_OK;
  return out;
}

/*
** Each step solves the scaled problem with M + shift I and q - shift z. This matrix is regular where M is singular, and
** positive definite where M is monotone; there the method converges. The shift decreases from step to step. Every point is a
** candidate. Ends after 60 steps, or when a step has no solution. Rockafellar, Monotone operators and the proximal point
** algorithm, SIAM J. Control Optim. 14, 1976.
*/
const NsMethod ns_box_proximal = {.takes = NS_TAKES_DENSE, .reserve = proximal_reserve, .run = proximal_run};
