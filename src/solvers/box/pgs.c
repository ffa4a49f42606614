/*
** pgs.c
** Projected successive over-relaxation with w updated by columns.
*/
#include "solvers/box/methods.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/interrupt.h"
#include "linalg/dense.h"
#include "solvers/box/dense_search.h"
#include "solvers/residual.h"

/*
** CHECK_EVERY: sweeps between two tests; a test costs a product. SWEEPS: default limit. PREDICT: number of variables from
** which a few sweeps first are cheaper than another factorisation.
*/
enum { CHECK_EVERY = 10, SWEEPS = 20000, PREDICT = 48 };

/* raw_growth: terms of an active set over its data (active.h) above which it is singular. 1e8: half of the digits. */
static const double raw_growth = 1e8;

static bool positive_diagonal(const NsBoxProblem *p) {
  for (int i = 0; i < p->n; i++)
    if (!(p->M[i + (size_t)i * (size_t)p->ldm] > 0)) return false;
  return true;
}

/* One sweep. Returns the largest change of a component relative to the size of its new value. */
static double pgs_sweep(const NsBoxProblem *p, double omega, double *z, double *w) {
  double largest = 0;
  for (int i = 0; i < p->n; i++) {
    const double *column = p->M + (size_t)i * (size_t)p->ldm;
    double next = ns_box_clamp(z[i] - omega * w[i] / column[i], p->lower[i], p->upper[i]), change = next - z[i];
    if (change == 0) continue;
    z[i] = next;
    ns_dense_axpy(p->n, change, column, w);
    largest = ns_larger(largest, fabs(change) / ns_larger(fabs(next), fabs(change)));
  }
  return largest;
}

/* `count` Gauss-Seidel sweeps from z in the box, w = M z + q. Checks nothing; the diagonal must be positive. */
static void pgs_sweeps(const NsBoxProblem *p, int count, double *z, double *w) {
  for (int k = 0; k < count; k++) pgs_sweep(p, 1, z, w);
}

/*
** Sweeps z_i <- proj(z_i - omega w_i / M_ii) in the order of the index, 0 < omega < 2 (1: Gauss-Seidel). z (n) is the start,
** projected first; w (n) is updated column by column. On return z, w are the last iterate; size (n) is workspace. NS_OK:
** backward error (ns_box_backward) <= tolerance; NS_EMAXITER after max_sweeps; NS_ENAN: the iterates diverge; NS_EARG: a
** diagonal entry is not positive; NS_EINTR. Converges for symmetric positive definite M: Cryer, SIAM J. Control 9, 1971.
*/
static NsStatus pgs_solve(const NsBoxProblem *p, double omega, double tolerance, int max_sweeps, double *z, double *w,
                          double *size, int *sweeps) {
  *sweeps = 0;
  if (!positive_diagonal(p) || !(omega > 0 && omega < 2)) return NS_EARG;
  for (int i = 0; i < p->n; i++) z[i] = ns_box_clamp(z[i], p->lower[i], p->upper[i]);
  ns_box_product(p, z, w, size);
  if (ns_box_backward(p, z, w, size) <= tolerance) return NS_OK;
  while (*sweeps < max_sweeps) {
    double change = pgs_sweep(p, omega, z, w);
    ++*sweeps;
    if (change > tolerance && *sweeps % CHECK_EVERY != 0) continue;
    ns_box_product(p, z, w, size);
    double backward = ns_box_backward(p, z, w, size);
    if (backward <= tolerance) return NS_OK;
    if (backward == INFINITY) return NS_ENAN;
    if (ns_interrupted()) return NS_EINTR;
  }
  return NS_EMAXITER;
}

/* ---- the methods ---- */

/* Solves the active set m->set. Returns whether that is an answer. */
static bool pgs_finish_set(const NsBoxPoint *m, NsDenseSearch *s) {
  double backward;
  return ns_active_try(s->active, s->p, m->set, s->box.base.exact, raw_growth, m->z, m->w, &backward) == NS_OK &&
         ns_dense_keep(s, m->z, m->w, backward);
}

static NsOutcome pgs_run(void *work, NsSearch *search, int mode) {
  NsBoxPoint *m = work;
  NsDenseSearch *s = (NsDenseSearch *)search;
  NsOutcome out = {NS_ENOCONV, false, 0, "pgs"};
  double omega = s->box.options->omega > 0 ? s->box.options->omega : 1, *terms = s->active->size;
  (void)mode;
  memcpy(m->z, s->near, (size_t)s->p->n * sizeof *m->z);
  out.status = pgs_solve(s->p, omega, search->tolerance, ns_box_limit(&s->box, SWEEPS), m->z, m->w, terms, &out.iterations);
  if (out.status == NS_EARG || out.status == NS_ENAN) return out;
  if (out.status == NS_OK)
    search->least = INFINITY; /* the sweeps give the answer, even if an earlier candidate is more exact */
  ns_box_product(s->p, m->z, m->w, terms);
  bool met = ns_dense_keep(s, m->z, m->w, ns_box_backward(s->p, m->z, m->w, terms));
  if (!met && out.status == NS_OK) out.status = NS_ENOCONV;
  ns_active_of_point(s->p, m->z, m->set);
  if (pgs_finish_set(m, s)) out.status = NS_OK;
  return out;
}

/* Sweeps, then the active set at their end. NS_EARG: a diagonal entry is not positive. */
const NsMethod ns_box_pgs = {.name = "psor",
                             .aliases = (const char *const[]){"pgs", NULL},
                             .takes = NS_TAKES_DENSE,
                             .needs = "a positive diagonal",
                             .reserve = ns_box_point_reserve,
                             .run = pgs_run};

static bool pgs_symmetric(const NsBoxProblem *p) {
  size_t ld = (size_t)p->ldm;
  for (int j = 0; j < p->n; j++) {
    const double *column = p->M + (size_t)j * ld;
    if (!(column[j] > 0)) return false;
    for (int i = 0; i < j; i++)
      if (column[i] != p->M[(size_t)j + (size_t)i * ld]) return false;
  }
  return true;
}

static NsOutcome predict_run(void *work, NsSearch *search, int mode) {
  NsBoxPoint *m = work;
  NsDenseSearch *s = (NsDenseSearch *)search;
  const NsBoxProblem *p = s->p;
  NsOutcome out = {NS_ENOCONV, false, 0, "pgs, active set"};
  (void)mode;
  if (p->n < PREDICT || !pgs_symmetric(p)) return out;
  for (int i = 0; i < p->n; i++) m->z[i] = ns_box_clamp(s->near[i], p->lower[i], p->upper[i]);
  ns_box_product(p, m->z, m->w, s->active->size);
  pgs_sweeps(p, 4, m->z, m->w);
  for (out.iterations = 6; out.iterations <= 14; out.iterations += 2) {
    ns_active_of_point(p, m->z, m->before);
    pgs_sweeps(p, 2, m->z, m->w);
    ns_active_of_point(p, m->z, m->set);
    if (memcmp(m->before, m->set, (size_t)p->n) != 0) continue;
    if (pgs_finish_set(m, s)) out.status = NS_OK;
    break;
  }
  return out;
}

/* For large symmetric M with a positive diagonal: the active set after 6 to 14 sweeps, once it stops changing. */
const NsMethod ns_box_predict = {.takes = NS_TAKES_DENSE, .reserve = ns_box_point_reserve, .run = predict_run};
