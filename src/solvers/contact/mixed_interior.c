/*
** mixed_interior.c
** An interior-point method for rows and contacts in the plane.
*/
/*
** The problem is x >= 0, y >= 0, x_k y_k = 0. For a contact x has r_n, and mu r_n + r_T and mu r_n - r_T of each disc, an
** interval, and y has u_n, u_T+ and u_T- with u_T = u_T+ - u_T-; for a row x are the distances to its finite bounds. Steps are Mehrotra's predictor-corrector steps
** from an infeasible start; each factors W + D with D block diagonal by groups. After short steps a term of at most 1e-3 of
** the contacts' own blocks is added to W.
** Assumptions: contacts in the plane; W sparse. If W is not positive semidefinite, or friction makes the problem not monotone,
** the products may not decrease; the associated problem and the proximal steps are for this case.
** Termination: the mean of x_k y_k is small and the measure is 1e-13, or the mean is zero to rounding. Failure: STALLED short
** steps in a row, or STEPS steps. Mehrotra, SIAM J. Optim. 2, 1992; Wright, Primal-Dual Interior-Point Methods, 1997, chapters
** 8 and 10.
*/
#include "solvers/contact/mixed_interior.h"

#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "solvers/contact/mixed_system.h"
#include "solvers/residual.h"

/* STEPS: limit of steps of one call; 15 to 30 are usual. STALLED: consecutive steps shorter than least_step. */
enum { STEPS = 60, STALLED = 6 };

/*
** Limits of the mean product over the square of the data's size. near: below it the point is measured (1e-14: x and y are
** small to half of their digits). tiny: a proximal step is solved. small: zero to rounding. enough: a measure (not a product)
** at which the method ends.
*/
static const double small = 1e-26, tiny = 1e-22, near = 1e-14, enough = 1e-13;

/*
** fraction: fraction of the step to the boundary that an iterate takes (0.99: Wright 1997, chapter 10). least_step: a shorter
** step counts as stalled. proximal: always added to W, in units of the contacts' own blocks, so that the system with redundant
** contacts is regular. first_extra, most_extra: the least and the largest addition after short steps.
*/
static const double fraction = 0.99, least_step = 1e-3, proximal = 1e-12, first_extra = 1e-4, most_extra = 1e-3;

/*
** Weights of the proximal point method, in units of the contacts' own blocks: of the first round; the least. The weight is
** divided by `lighter` after a round that was solved, multiplied by `heavier` after one that was not.
*/
static const double first_weight = 1e-2, least_weight = 1e-5, lighter = 4, heavier = 8;

/* The most rows of a group whose discs are intervals, its pairs, and the size of its block. */
enum { ROWS = 1 + NS_CONE_DISCS, PAIRS = 1 + 2 * NS_CONE_DISCS, BLOCK = ROWS * ROWS };

struct NsMixedInterior {
  NsArena arena;
  NsMixedSystem system;
  int capacity;
  double *x, *y, *dx, *dy, *c;  /* PAIRS per group: the pairs, their step, the wanted change of their products */
  double *A, *B;                /* BLOCK per group */
  double *z, *w, *step, *shift; /* n; shift: added to q, or the centre of a proximal step */
  bool associated;
  double weight; /* weight of a proximal step; 0: none */
  double extra;  /* current addition to W, in its own units */
};

/*
** The pairs of a group: x_k = c_k + E_k z >= 0, y_k >= 0, x_k y_k = 0, and w = T y. A pair has entries E_k, T_k of the first row
** of the group, and of row[k].
*/
typedef struct Pairs {
  int count, row[PAIRS];
  bool fixed[ROWS]; /* the unknown has a fixed value */
  double E[PAIRS][2], T[PAIRS][2], c[PAIRS];
} Pairs;

static void cone_interior_clear(NsMixedInterior *s) {
  ns_mixed_system_release(&s->system);
  ns_arena_release(&s->arena);
  *s = (NsMixedInterior){0};
}

static NsStatus cone_interior_room(NsMixedInterior *s, int n) {
  if (n <= s->capacity) return NS_OK;
  ptrdiff_t wanted = n + n / 2;
  cone_interior_clear(s);
  NS_ARENA_VECTORS(&s->arena, PAIRS * wanted, &s->x, &s->y, &s->dx, &s->dy, &s->c);
  NS_ARENA_VECTORS(&s->arena, BLOCK * wanted, &s->A, &s->B);
  NS_ARENA_VECTORS(&s->arena, wanted, &s->z, &s->w, &s->step, &s->shift);
  if (s->arena.failed) return cone_interior_clear(s), NS_ENOMEM;
  s->capacity = (int)wanted;
  return NS_OK;
}

static void add_pair(Pairs *to, int row, double e0, double e1, double t0, double t1, double c) {
  int k = to->count++;
  to->row[k] = row;
  to->E[k][0] = e0, to->E[k][1] = e1;
  to->T[k][0] = t0, to->T[k][1] = t1;
  to->c[k] = c;
}

static Pairs pairs_of(const NsMixedInterior *s, const NsMixedGroup *group) {
  Pairs p = {0};
  bool rough = false;
  if (!group->cone) {
    p.fixed[0] = group->lower == group->upper;
    if (!p.fixed[0] && group->lower > -INFINITY) add_pair(&p, 0, 1, 0, 1, 0, -group->lower);
    if (!p.fixed[0] && group->upper < INFINITY) add_pair(&p, 0, -1, 0, -1, 0, group->upper);
    return p;
  }
  for (int i = 1; i < group->dim; i++) rough = rough || group->mu[i - 1] > 0;
  if (!rough || !s->associated) add_pair(&p, 0, 1, 0, 1, 0, 0);
  for (int i = 1; i < group->dim; i++) {
    double m = group->mu[i - 1];
    p.fixed[i] = m == 0;
    if (m == 0) continue;
    add_pair(&p, i, m, 1, s->associated ? m : 0, 1, 0);
    add_pair(&p, i, m, -1, s->associated ? m : 0, -1, 0);
  }
  return p;
}

/* The entry of row i in a pair with entries `of`, whose second row is `second`. */
static double pair_entry(const double *of, int second, int i) {
  return i == 0 ? of[0] : i == second ? of[1] : 0;
}

/* ---- the start ---- */

static double cone_interior_scale_of(const NsMixedView *v) {
  double most = 0;
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim)
    for (int i = 0; i < v->p.groups[g].dim; i++) most = ns_larger(most, sqrt(v->rho[g]) * fabs(v->p.q[row + i]));
  return most > 0 ? most : 1;
}

/* Moves z of a group inside its bounds or cone by about `unit`. */
static void cone_interior_enter(const NsMixedGroup *group, double unit, double *z) {
  if (!group->cone) {
    double wide = group->upper - group->lower, away = ns_smaller(unit, 0.1 * wide);
    if (group->lower == group->upper) z[0] = group->lower;
    else z[0] = ns_box_clamp(z[0], group->lower + away, group->upper - away);
    return;
  }
  z[0] = ns_larger(z[0], unit);
  for (int i = 1; i < group->dim; i++) {
    double m = group->mu[i - 1];
    z[i] = m > 0 ? ns_box_clamp(z[i], -0.5 * m * z[0], 0.5 * m * z[0]) : 0;
  }
}

/* w = W z + q, plus the fixed shift of the associated problem or the proximal term. */
static void cone_interior_output(NsMixedInterior *s, const NsMixedView *v) {
  ns_mixed_product(&v->p, s->z, s->w);
  for (int i = 0; s->associated && i < v->p.n; i++) s->w[i] += s->shift[i];
  if (s->weight > 0)
    for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim)
      for (int i = row; i < row + v->p.groups[g].dim; i++) s->w[i] += s->weight / v->rho[g] * (s->z[i] - s->shift[i]);
}

static int cone_interior_begin(NsMixedInterior *s, const NsMixedView *v, double scale, const double *z) {
  int count = 0;
  memcpy(s->z, z, (size_t)v->p.n * sizeof *z);
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim)
    cone_interior_enter(&v->p.groups[g], scale * sqrt(v->rho[g]), s->z + row);
  cone_interior_output(s, v);
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    Pairs p = pairs_of(s, &v->p.groups[g]);
    double unit = scale / sqrt(v->rho[g]);
    for (int k = 0; k < p.count; k++) {
      double w = p.T[k][0] * s->w[row] + (p.T[k][1] != 0 ? p.T[k][1] * s->w[row + p.row[k]] : 0);
      s->x[PAIRS * g + k] = p.c[k] + p.E[k][0] * s->z[row] + (p.E[k][1] != 0 ? p.E[k][1] * s->z[row + p.row[k]] : 0);
      s->y[PAIRS * g + k] = ns_larger(w, 0) + unit;
    }
    count += p.count;
  }
  return count;
}

/* ---- one step ---- */

/* Factors J = A W + B, B = T diag(y / x) E + `extra`; `extra` makes the system with redundant contacts regular. */
static NsStatus cone_interior_factor(NsMixedInterior *s, const NsMixedView *v, double extra) {
  for (int g = 0; g < v->p.ngroups; g++) {
    const Pairs p = pairs_of(s, &v->p.groups[g]);
    int dim = v->p.groups[g].dim;
    double *A = s->A + BLOCK * (size_t)g, *B = s->B + BLOCK * (size_t)g;
    for (int j = 0; j < dim; j++)
      for (int i = 0; i < dim; i++) {
        double sum = i == j ? (p.fixed[i] ? 1 : (extra + s->weight) / v->rho[g]) : 0;
        for (int k = 0; k < p.count; k++)
          sum += pair_entry(p.T[k], p.row[k], i) * s->y[PAIRS * g + k] / s->x[PAIRS * g + k] * pair_entry(p.E[k], p.row[k], j);
        A[i + j * dim] = i == j && !p.fixed[i];
        B[i + j * dim] = sum;
      }
  }
  return ns_mixed_system_factor(&s->system, &v->p, BLOCK, s->A, s->B);
}

/* The step after which the products are x y + s->c to first order. Errors of ns_mixed_system_solve. */
static NsStatus cone_interior_direction(NsMixedInterior *s, const NsMixedView *v) {
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    Pairs p = pairs_of(s, &v->p.groups[g]);
    for (int i = 0; i < v->p.groups[g].dim; i++) {
      double sum = -s->w[row + i];
      for (int k = 0; k < p.count; k++)
        sum += pair_entry(p.T[k], p.row[k], i) * (s->y[PAIRS * g + k] + s->c[PAIRS * g + k] / s->x[PAIRS * g + k]);
      s->step[row + i] = p.fixed[i] ? 0 : sum;
    }
  }
  NsStatus status = ns_mixed_system_solve(&s->system, v->p.n, s->step);
  if (status) return status;
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim) {
    Pairs p = pairs_of(s, &v->p.groups[g]);
    for (int k = 0; k < p.count; k++) {
      int at = PAIRS * g + k;
      s->dx[at] = p.E[k][0] * s->step[row] + (p.E[k][1] != 0 ? p.E[k][1] * s->step[row + p.row[k]] : 0);
      s->dy[at] = (s->c[at] - s->y[at] * s->dx[at]) / s->x[at];
    }
  }
  return NS_OK;
}

/* The largest step in [0, 1] that goes at most the fraction `keep` of the way to the boundary. */
static double cone_interior_longest(const NsMixedInterior *s, const NsMixedView *v, double keep) {
  double length = 1;
  for (int g = 0; g < v->p.ngroups; g++)
    for (int k = 0, count = pairs_of(s, &v->p.groups[g]).count; k < count; k++) {
      int at = PAIRS * g + k;
      if (length * s->dx[at] < -keep * s->x[at]) length = -keep * s->x[at] / s->dx[at];
      if (length * s->dy[at] < -keep * s->y[at]) length = -keep * s->y[at] / s->dy[at];
    }
  return length;
}

/* The mean product after a step of this length. */
static double mean(const NsMixedInterior *s, const NsMixedView *v, int pairs, double length) {
  double sum = 0;
  for (int g = 0; g < v->p.ngroups; g++)
    for (int k = 0, count = pairs_of(s, &v->p.groups[g]).count; k < count; k++) {
      int at = PAIRS * g + k;
      sum += (s->x[at] + length * s->dx[at]) * (s->y[at] + length * s->dy[at]);
    }
  return sum / (pairs > 0 ? pairs : 1);
}

/* s->c = the change of the products to `target`; with `second` minus the second-order term of the previous step. */
static void aim(NsMixedInterior *s, const NsMixedView *v, double target, bool second) {
  for (int at = 0; at < PAIRS * v->p.ngroups; at++)
    s->c[at] = target - s->x[at] * s->y[at] - (second ? s->dx[at] * s->dy[at] : 0);
}

static void cone_interior_move(NsMixedInterior *s, const NsMixedView *v, double length) {
  for (int i = 0; i < v->p.n; i++) s->z[i] += length * s->step[i];
  for (int at = 0; at < PAIRS * v->p.ngroups; at++) {
    s->x[at] += length * s->dx[at];
    s->y[at] += length * s->dy[at];
  }
  cone_interior_output(s, v);
}

/* Factors with the least addition, from the present one on, that makes J regular. NS_ENOMEM, or the failure with the largest addition. */
static NsStatus cone_interior_regularise(NsMixedInterior *s, const NsMixedView *v) {
  double extra = ns_larger(proximal, s->extra);
  NsStatus status = cone_interior_factor(s, v, extra);
  while (status && status != NS_ENOMEM && (extra *= 100) <= 1) status = cone_interior_factor(s, v, extra);
  return status;
}

/* Takes a predictor-corrector step of *length; 0: it goes nowhere. Errors of the linear system. */
static NsStatus cone_interior_advance(NsMixedInterior *s, const NsMixedView *v, int pairs, double *gap, double *length) {
  *length = 0;
  NsStatus status = cone_interior_regularise(s, v);
  if (status) return status;
  aim(s, v, 0, false);
  status = cone_interior_direction(s, v);
  if (status) return status;
  double reached = mean(s, v, pairs, cone_interior_longest(s, v, 1)) / *gap, centre = reached * reached * reached;
  aim(s, v, ns_larger(ns_smaller(centre, 0.8), 1e-6) * *gap, true);
  status = cone_interior_direction(s, v);
  double now = status ? 1 : cone_interior_longest(s, v, fraction);
  if (now < 0.1) {
    aim(s, v, 0.5 * *gap, false);
    status = cone_interior_direction(s, v);
    if (!status) now = cone_interior_longest(s, v, fraction);
  }
  if (status || !(now > 0)) return status;
  *length = now;
  cone_interior_move(s, v, now);
  *gap = mean(s, v, pairs, 0);
  return NS_OK;
}

/* Increases the addition to W after a short step and decreases it after a long one. */
static void adapt(NsMixedInterior *s, double length) {
  if (length < 0.2) s->extra = ns_smaller(ns_larger(10 * s->extra, first_extra), most_extra);
  else if (length > 0.6) s->extra = s->extra > first_extra ? s->extra / 10 : 0;
}

/* Whether the point is good enough, if the caller chose the tolerance. */
static bool within_tolerance(NsMixedInterior *s, const NsMixedView *v, double gap, double scale) {
  if (!v->early || s->associated || s->weight > 0 || gap > v->tolerance * scale * scale) return false;
  return ns_mixed_measure(v, s->z, s->step) <= v->tolerance;
}

/* Steps from s->z until the products are small. */
static NsStatus cone_interior_iterate(NsMixedInterior *s, const NsMixedView *v, const double *z, int *done) {
  double scale = cone_interior_scale_of(v);
  int pairs = cone_interior_begin(s, v, scale, z), stalled = 0;
  double gap = mean(s, v, pairs, 0);
  s->extra = 0;
  for (*done = 0; *done < STEPS; ++*done) {
    if (ns_interrupted()) return NS_EINTR;
    double length;
    if (cone_interior_advance(s, v, pairs, &gap, &length) == NS_ENOMEM) return NS_ENOMEM;
    adapt(s, length);
    stalled = length > least_step ? 0 : stalled + 1;
    bool stuck = !(length > 0) || !(gap > 0 && gap < INFINITY) || stalled >= STALLED;
    if (stuck) return s->weight > 0 && gap <= near * scale * scale ? NS_OK : NS_ENOCONV;
    if (within_tolerance(s, v, gap, scale)) return NS_OK;
    if (gap > near * scale * scale) continue;
    if (s->associated || gap <= (s->weight > 0 ? tiny : small) * scale * scale) return NS_OK;
    if (s->weight > 0) continue;
    if (ns_mixed_measure(v, s->z, s->step) <= enough) return NS_OK;
  }
  return NS_EMAXITER;
}

/* Prepares the mode: the fixed shift of the associated problem at z, or the proximal term around z. */
static void begin_problem(NsMixedInterior *s, const NsMixedView *v, int mode, double weight, const double *z) {
  s->associated = mode == NS_INTERIOR_ASSOCIATED;
  s->weight = mode == NS_INTERIOR_PROXIMAL ? weight : 0;
  memcpy(s->shift, z, (size_t)v->p.n * sizeof *z);
  if (!s->associated) return;
  ns_mixed_product(&v->p, z, s->w);
  memset(s->shift, 0, (size_t)v->p.n * sizeof *s->shift);
  for (int g = 0, row = 0; g < v->p.ngroups; row += v->p.groups[g++].dim)
    if (v->p.groups[g].cone) s->shift[row] = ns_cone_slip(v->p.groups[g].cone, v->p.groups[g].mu, s->w + row);
}

NsStatus ns_mixed_interior_solve(NsMixedInterior *s, const NsMixedView *v, int mode, double weight, double *z,
                                 NsSolverInfo *info) {
  if (!(v->kinds.takes & NS_TAKES_PLANE) || !v->p.sparse) return info->status = NS_ESIZE;
  double sum = 0;
  NsStatus status = cone_interior_room(s, v->p.n);
  if (!status) status = ns_mixed_system_begin(&s->system, &v->p);
  if (status) return status;
  begin_problem(s, v, mode, weight, z);
  for (int k = 0; k < PAIRS * v->p.ngroups; k++) s->x[k] = s->y[k] = s->dx[k] = s->dy[k] = 1;
  status = cone_interior_iterate(s, v, z, &info->iterations);
  for (int i = 0; i < v->p.n; i++) sum += s->z[i] * 0;
  if (sum == 0) memcpy(z, s->z, (size_t)v->p.n * sizeof *z);
  info->solver = "interior_point";
  return info->status = status;
}

/* ---- the method ---- */

static NsStatus cone_interior_reserve(void **work, NsSearch *search) {
  (void)search;
  return (*work = ns_alloc(1, sizeof(NsMixedInterior))) ? NS_OK : NS_ENOMEM;
}

static void cone_interior_release(void *work) {
  if (work) cone_interior_clear(work);
  ns_free(work);
}

/*
** Starts from the last point of the rounds. If the mode's problem is solved, its solution becomes that point and a candidate.
*/
static NsOutcome cone_interior_run(void *work, NsSearch *search, int mode) {
  NsMixedSearch *s = (NsMixedSearch *)search;
  NsSolverInfo info = {.solver = "interior_point"};
  if (mode == NS_INTERIOR_ASSOCIATED) s->rounds = 0, s->weight = first_weight;
  ns_mixed_copy(s, s->z, s->standing);
  NsStatus status = ns_mixed_interior_solve(work, &s->v, mode, s->weight, s->z, &info);
  if (mode == 0) return ns_mixed_candidate(s, status, &info);
  if (mode == NS_INTERIOR_PROXIMAL) s->weight = status ? fmin(heavier * s->weight, 1) : fmax(s->weight / lighter, least_weight);
  s->rounds++;
  s->measured = INFINITY;
  if (status) return ns_mixed_outcome(s, status, &info);
  ns_mixed_copy(s, s->standing, s->z);
  return ns_mixed_candidate(s, status, &info);
}

const NsMethod ns_mixed_interior = {.takes = NS_TAKES_SPARSE | NS_TAKES_PLANE,
                                    .needs = "contacts in the plane and a sparse matrix",
                                    .reserve = cone_interior_reserve,
                                    .release = cone_interior_release,
                                    .run = cone_interior_run};
