/*
** interior.c
** Newton on the perturbed complementarity conditions, reduced to z.
*/
#include "solvers/box/methods.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "solvers/box/box_search.h"
#include "solvers/residual.h"

/* Vectors for problems of up to nmax variables. */
typedef struct BoxInterior {
  double *a, *b;        /* multipliers of the lower and the upper bounds, w = a - b */
  double *da, *db, *dz; /* their steps */
  double *residual, *barrier, *ones, *ca, *cb;
  double *z, *end; /* the iterate; the point that its active set gives */
} BoxInterior;

/* SHORT_STEPS: consecutive steps shorter than 1e-6 after which the method gives up. */
enum { SHORT_STEPS = 8 };

/*
** accuracy: sizes of mu and of the residual, relative to the data, at which the active set is looked at. Where that is wrong, mu goes further
** down, LATER times by `further`: at a free boundary on a fine grid z and w are far smaller than the data.
*/
enum { LATER = 6 };
static const double accuracy = 1e-12, further = 1e-2;

static bool box_interior_fixed(const NsBoxMap *map, int i) {
  return map->lower[i] == map->upper[i];
}

static bool box_interior_below(const NsBoxMap *map, int i) {
  return map->lower[i] > -INFINITY && !box_interior_fixed(map, i);
}

static bool box_interior_above(const NsBoxMap *map, int i) {
  return map->upper[i] < INFINITY && !box_interior_fixed(map, i);
}

/* Moves z inside the bounds and sets all multipliers to the size of the data. */
static void box_interior_start(BoxInterior *s, const NsBoxMap *map, double *z) {
  double size = 0;
  for (int i = 0; i < map->n; i++) size = ns_larger(size, fabs(map->q[i]));
  if (size == 0) size = 1;
  for (int i = 0; i < map->n; i++) {
    double l = map->lower[i], u = map->upper[i];
    if (box_interior_fixed(map, i)) z[i] = l;
    else if (box_interior_below(map, i) && box_interior_above(map, i))
      z[i] = ns_box_clamp(z[i], l + (u - l) / 10, u - (u - l) / 10);
    else if (box_interior_below(map, i)) z[i] = ns_larger(z[i], l + 1);
    else if (box_interior_above(map, i)) z[i] = ns_smaller(z[i], u - 1);
    s->a[i] = box_interior_below(map, i) ? size : 0;
    s->b[i] = box_interior_above(map, i) ? size : 0;
  }
}

/* residual = M z + q - a + b, 0 for fixed variables; returns its largest entry. *mu: the mean product. */
static double box_interior_measure(BoxInterior *s, const NsBoxMap *map, const double *z, double *mu) {
  double worst = 0, sum = 0;
  int pairs = 0;
  map->product(map->self, z, s->residual);
  for (int i = 0; i < map->n; i++) {
    s->residual[i] = box_interior_fixed(map, i) ? 0 : s->residual[i] + map->q[i] - s->a[i] + s->b[i];
    worst = ns_larger(worst, fabs(s->residual[i]));
    if (box_interior_below(map, i)) sum += s->a[i] * (z[i] - map->lower[i]), pairs++;
    if (box_interior_above(map, i)) sum += s->b[i] * (map->upper[i] - z[i]), pairs++;
  }
  *mu = pairs ? sum / pairs : 0;
  return worst;
}

static NsStatus box_interior_factor(BoxInterior *s, const NsBoxMap *map, const double *z) {
  for (int i = 0; i < map->n; i++) {
    s->ones[i] = box_interior_fixed(map, i) ? 0 : 1;
    s->barrier[i] = box_interior_fixed(map, i) ? 1 : 0;
    if (box_interior_below(map, i)) s->barrier[i] += s->a[i] / (z[i] - map->lower[i]);
    if (box_interior_above(map, i)) s->barrier[i] += s->b[i] / (map->upper[i] - z[i]);
  }
  return map->factor(map->self, s->barrier, s->ones);
}

/* The step towards products equal to `target`, minus the second-order terms in ca, cb. */
static void solve_step(BoxInterior *s, const NsBoxMap *map, const double *z, double target) {
  for (int i = 0; i < map->n; i++) {
    s->dz[i] = -s->residual[i];
    if (box_interior_below(map, i)) s->dz[i] += (target - s->ca[i]) / (z[i] - map->lower[i]) - s->a[i];
    if (box_interior_above(map, i)) s->dz[i] -= (target - s->cb[i]) / (map->upper[i] - z[i]) - s->b[i];
  }
  map->solve(map->self, s->dz);
  for (int i = 0; i < map->n; i++) {
    double low = z[i] - map->lower[i], high = map->upper[i] - z[i];
    s->da[i] = box_interior_below(map, i) ? (target - s->ca[i] - s->a[i] * s->dz[i]) / low - s->a[i] : 0;
    s->db[i] = box_interior_above(map, i) ? (target - s->cb[i] + s->b[i] * s->dz[i]) / high - s->b[i] : 0;
  }
}

static double box_interior_room(double x, double dx, double length) {
  return dx < 0 && -x / dx < length ? -x / dx : length;
}

/* The largest step, at most 1, that keeps all slacks and multipliers positive. */
static double box_interior_longest(const BoxInterior *s, const NsBoxMap *map, const double *z, double length) {
  for (int i = 0; i < map->n; i++) {
    if (box_interior_below(map, i))
      length = box_interior_room(s->a[i], s->da[i], box_interior_room(z[i] - map->lower[i], s->dz[i], length));
    if (box_interior_above(map, i))
      length = box_interior_room(s->b[i], s->db[i], box_interior_room(map->upper[i] - z[i], -s->dz[i], length));
  }
  return length;
}

/* The mean product after a step of length t. */
static double box_interior_predict(const BoxInterior *s, const NsBoxMap *map, const double *z, double t) {
  double sum = 0;
  int pairs = 0;
  for (int i = 0; i < map->n; i++) {
    double x = z[i] + t * s->dz[i];
    if (box_interior_below(map, i)) sum += (s->a[i] + t * s->da[i]) * (x - map->lower[i]), pairs++;
    if (box_interior_above(map, i)) sum += (s->b[i] + t * s->db[i]) * (map->upper[i] - x), pairs++;
  }
  return pairs ? sum / pairs : 0;
}

/* Takes a predictor-corrector step. Returns its length. */
static double box_interior_step(BoxInterior *s, const NsBoxMap *map, double mu, double *z) {
  for (int i = 0; i < map->n; i++) s->ca[i] = s->cb[i] = 0;
  solve_step(s, map, z, 0);
  double t = box_interior_longest(s, map, z, 1), ratio = mu > 0 ? box_interior_predict(s, map, z, t) / mu : 0;
  for (int i = 0; i < map->n; i++) {
    s->ca[i] = s->da[i] * s->dz[i];
    s->cb[i] = -s->db[i] * s->dz[i];
  }
  solve_step(s, map, z, ratio * ratio * ratio * mu);
  t = ns_smaller(1, 0.99 * box_interior_longest(s, map, z, 2));
  for (int i = 0; i < map->n; i++) {
    z[i] += t * s->dz[i];
    s->a[i] += t * s->da[i];
    s->b[i] += t * s->db[i];
  }
  return t;
}

/*
** An infeasible path-following method with Mehrotra's predictor and corrector: w = a - b, a_i (z_i - l_i) = b_i (u_i - z_i) =
** mu, mu -> 0. z (n) is inside the bounds on entry, after box_interior_start or a former call, and ends near the solution. Fixed
** variables (l = u) stay fixed. NS_OK: the residual is below `accuracy` times its size, and mu below `least` times; NS_EMAXITER;
** NS_ESINGULAR; NS_ENOCONV: the steps became too short (M is not monotone, or there is no solution); NS_EINTR. Wright, Primal-Dual
** Interior-Point Methods, 1997, chapters 8 and 10; Mehrotra, SIAM J. Optim. 2, 1992.
*/
static NsStatus interior_solve(BoxInterior *s, const NsBoxMap *map, double least, int max_iterations, double *z,
                               int *iterations) {
  double mu, size = 0;
  int too_short = 0;
  for (int i = 0; i < map->n; i++) size = ns_larger(size, fabs(map->q[i]));
  if (size == 0) size = 1;
  for (;; ++*iterations) {
    double residual = box_interior_measure(s, map, z, &mu), large = size;
    if (!(residual <= DBL_MAX && mu <= DBL_MAX)) return NS_ENOCONV;
    for (int i = 0; i < map->n; i++) large = ns_larger(large, fabs(z[i]));
    if (residual <= accuracy * large && mu <= least * large * size) return NS_OK;
    if (*iterations >= max_iterations) return NS_EMAXITER;
    if (ns_interrupted()) return NS_EINTR;
    NsStatus status = box_interior_factor(s, map, z);
    if (status) return status;
    too_short = box_interior_step(s, map, mu, z) < 1e-6 ? too_short + 1 : 0;
    if (too_short >= SHORT_STEPS) return NS_ENOCONV;
  }
}

/* ---- the method ---- */

static NsStatus interior_reserve(void **work, NsSearch *search) {
  NsBoxSearch *s = (NsBoxSearch *)search;
  BoxInterior *m = *work = ns_arena_take(s->arena, 1, sizeof *m);
  if (!m) return NS_ENOMEM;
  NS_ARENA_VECTORS(s->arena, s->nmax, &m->a, &m->b, &m->da, &m->db, &m->dz, &m->ca, &m->residual, &m->barrier, &m->ones, &m->cb,
                   &m->z, &m->end);
  return NS_OK;
}

static NsOutcome interior_run(void *work, NsSearch *search, int mode) {
  BoxInterior *m = work;
  NsBoxSearch *s = (NsBoxSearch *)search;
  NsOutcome out = {NS_ENOCONV, false, 0, ns_box_interior.name};
  const NsBoxMap *map = s->map(s);
  double least = accuracy;
  (void)mode;
  s->start_inside(s, m->z);
  box_interior_start(m, map, m->z);
  for (int round = 0; round <= LATER; round++, least *= further) {
    NsStatus status = interior_solve(m, map, least, ns_box_limit(s, s->interior), m->z, &out.iterations);
    memcpy(m->end, m->z, (size_t)map->n * sizeof *m->end);
    out.status = s->finish(s, m->end, status);
    if (status != NS_OK || out.status == NS_EINTR || search->least <= search->exact) break;
  }
  return out;
}

/* Interior point from the guess, then the active set at its end; dense and sparse M.  */
const NsMethod ns_box_interior = {
    .name = "interior", .takes = NS_TAKES_DENSE | NS_TAKES_SPARSE, .reserve = interior_reserve, .run = interior_run};
