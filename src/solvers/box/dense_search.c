/*
** dense_search.c
** Candidates of dense problems: each is measured by its componentwise backward error, the best is kept.
*/
#include "solvers/box/dense_search.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "solvers/residual.h"

/* POLISH_REPAIRS: repairs of a method's last set; rounding spoils few components. STEPS: default limit of smooth methods. */
enum { POLISH_REPAIRS = 5, STEPS = 200 };

/*
** scaled_growth: terms of an active set over its data (active.h) above which the set counts as singular. 1e10: balanced
** entries are about 1, so more than ten of sixteen digits would be lost.
*/
static const double scaled_growth = 1e10;

static double dense_clamped(const NsBoxProblem *p, int i, double x) {
  return ns_box_clamp(x, p->lower[i], p->upper[i]);
}

/* ---- candidates ---- */

bool ns_dense_keep(NsDenseSearch *s, const double *z, const double *w, double backward) {
  const NsBoxProblem *p = s->p;
  if (ns_box_lost(&s->lost, p, NULL, z, w, s->active->size)) return false;
  if (!(backward < s->box.base.least)) return true;
  s->box.base.least = backward;
  memcpy(s->best_z, z, (size_t)p->n * sizeof *z);
  memcpy(s->best_w, w, (size_t)p->n * sizeof *w);
  return true;
}

bool ns_dense_keep_point(NsDenseSearch *s, const double *z) {
  ns_box_product(s->p, z, s->v, s->active->size);
  ns_dense_keep(s, z, s->v, ns_box_backward(s->p, z, s->v, s->active->size));
  return ns_dense_exact(s);
}

void ns_dense_keep_scaled(NsDenseSearch *s, const double *z) {
  const NsBoxProblem *p = s->p;
  if (s->fair != p) {
    ns_box_unscale(&s->scaled, p, z, s->point);
    for (int i = 0; i < p->n; i++) s->point[i] = dense_clamped(p, i, s->point[i]);
    z = s->point;
  }
  ns_dense_keep_point(s, z);
}

const NsBoxProblem *ns_dense_fair(NsDenseSearch *s) {
  if (s->fair) return s->fair;
  if (ns_box_well_scaled(s->p)) return s->fair = s->p;
  ns_box_scale(&s->scaled, s->p);
  return s->fair = &s->scaled.problem;
}

double ns_dense_near(const NsDenseSearch *s, int i) {
  return s->fair == s->p ? s->near[i] : ldexp(s->near[i], -s->scaled.col[i]);
}

static bool polish_set(NsDenseSearch *s, const NsBoxProblem *fair, signed char *set) {
  double backward;
  for (int k = 0; k < POLISH_REPAIRS; k++) {
    NsStatus status = ns_active_try(s->active, fair, set, s->box.base.exact, scaled_growth, s->polished, s->v, &backward);
    if (status == NS_OK) ns_dense_keep_scaled(s, s->polished);
    if (ns_dense_exact(s)) return true;
    if (status != NS_ENOCONV || ns_active_repair(s->active, fair, s->polished, s->v, false, set) == 0) break;
  }
  return false;
}

bool ns_dense_polish(NsDenseSearch *s, const double *vertex, signed char *set) {
  const NsBoxProblem *fair = ns_dense_fair(s);
  for (int i = 0; i < fair->n; i++)
    if (!(fabs(vertex[i]) <= DBL_MAX)) return false;
  if (polish_set(s, fair, set)) return true;
  ns_dense_keep_scaled(s, vertex);
  return ns_dense_exact(s);
}

/* ---- the face for smooth methods ---- */

static NsDenseSearch *dense_of(NsBoxSearch *box) {
  return (NsDenseSearch *)box;
}

static const NsBoxMap *dense_as_map(NsBoxSearch *box) {
  NsDenseSearch *s = dense_of(box);
  const NsBoxProblem *fair = ns_dense_fair(s);
  for (int i = 0; i < fair->n; i++) {
    double pivot = fair->M[i + (size_t)i * (size_t)fair->ldm];
    s->rho[i] = pivot > 0 ? 1 / pivot : 1;
  }
  s->dense = (NsDenseMap){fair->M, fair->n, fair->ldm, s->active->block, s->active->rhs, s->active->lu};
  ns_lu_set_order(s->active->lu, fair->n);
  s->as_map = (NsBoxMap){.n = fair->n, .q = fair->q, .lower = fair->lower, .upper = fair->upper, .rho = s->rho};
  ns_dense_map(&s->as_map, &s->dense);
  return &s->as_map;
}

static void dense_start(NsBoxSearch *box, double *z) {
  NsDenseSearch *s = dense_of(box);
  const NsBoxProblem *fair = ns_dense_fair(s);
  for (int i = 0; i < fair->n; i++) z[i] = dense_clamped(fair, i, ns_dense_near(s, i));
}

/* Polishes the active set at z. */
static NsStatus dense_finish(NsBoxSearch *box, double *z, NsStatus status) {
  NsDenseSearch *s = dense_of(box);
  const NsBoxProblem *fair = s->fair;
  signed char *set = s->set;
  if (status == NS_ENAN) return NS_ENOCONV;
  if (status == NS_EINTR) return status;
  ns_box_product(fair, z, s->v, s->active->size);
  ns_box_map_set(&s->as_map, z, s->v, set);
  for (int i = 0; i < fair->n; i++)
    if (set[i] != NS_BETWEEN) z[i] = set[i] == NS_AT_LOWER ? fair->lower[i] : fair->upper[i];
  if (ns_dense_polish(s, z, set) || s->box.base.least <= s->box.base.tolerance) return NS_OK;
  return status == NS_OK ? NS_ENOCONV : status;
}

/* ---- the search ---- */

NsStatus ns_dense_search_take(NsDenseSearch *s, NsArena *arena, const NsBoxOptions *options, int nmax) {
  NS_ARENA_VECTORS(arena, nmax, &s->best_z, &s->best_w, &s->point, &s->v, &s->polished, &s->rho, &s->ray);
  s->set = ns_arena_take(arena, (size_t)nmax, 1);
  ns_box_scaled_take(&s->scaled, arena, nmax);
  ns_lost_take(&s->lost, arena, nmax);
  s->box = (NsBoxSearch){.options = options, .arena = arena, .nmax = nmax, .limit = STEPS, .interior = STEPS};
  s->box.map = dense_as_map;
  s->box.start = s->box.start_inside = dense_start;
  s->box.finish = dense_finish;
  return arena->failed ? NS_ENOMEM : ns_active_new(&s->active, nmax);
}

void ns_dense_search_release(NsDenseSearch *s) {
  ns_active_free(s->active);
}

void ns_dense_search_begin(NsDenseSearch *s, const NsBoxProblem *p, const double *near) {
  s->box.n = p->n;
  s->box.base.tolerance = s->box.options->tolerance;
  s->box.base.exact = ns_smaller(s->box.options->tolerance, NS_BOX_EXACT);
  s->box.base.least = INFINITY;
  s->p = p;
  s->near = near;
  s->fair = NULL;
}
