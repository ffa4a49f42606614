/*
** friction_first_order.c
** First-order methods for contacts of one cone.
*/
/*
** With the shift s_i = sum mu_D |u_D,i| fixed, Nesterov steps on min r' W r / 2 + (q + s e_n)' r over the cones. Each contact has
** its own step rho_i; backtracking finds the common factor; momentum is dropped when it points uphill. s is updated when r
** moves twenty times slower than at the start. If this makes no progress (W far from symmetric): the extragradient method on
** the same map with adaptive steps.
** Assumptions: no system is solved, so W may be singular and large. The inner problem is convex if W is symmetric and positive
** semidefinite; the fixed point iteration on s converges for small mu.
** Termination: the measure is within tolerance, or the limit is reached. The result is the best iterate.
** Acary, Cadoux, Lemarechal and Malick, ZAMM 91, 2011; Mazhar, Heyn, Negrut and Tasora, ACM Trans. Graphics 34,
** 2015; O'Donoghue and Candes, Found. Comput. Math. 15, 2015; Khobotov, USSR Comput. Math. 27, 1987.
*/
#include "solvers/contact/friction_search.h"

#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "solvers/contact/friction_residual.h"
#include "solvers/residual.h"

/*
** ARRAYS: vectors of the workspace. MEASURE_EVERY, INNER_MOST: least and largest number of steps with one shift. STALLED:
** shifts without progress before the method changes. BACKTRACKS: halvings of a step.
*/
enum { ARRAYS = 6, MEASURE_EVERY = 10, INNER_MOST = 60, STALLED = 40, BACKTRACKS = 40 };

/*
** STEPS: default limit of a call, and the largest share of a round. FRESH: steps of a run from zero. LONG_RUN: a run of at
** least so many steps that does not halve the measure counts as stalled.
*/
enum { STEPS = 20000, FRESH = 40000, LONG_RUN = 10000 };

/*
** The work of a step in sweeps: a sweep has one product with W and exact local solutions, a step two products and projections.
*/
static const double step_cost = 1.6;

/* The vectors, of length dim nc (shift: nc), and the state of the iteration. */
typedef struct First {
  const NsFriction *p;
  double *y, *gradient, *next, *next_gradient, *best, *shift;
  double step, momentum, least;
  NsSolverInfo info;
} First;

/* shift_i = sum mu_D |u_D,i| */
static void renew_shift(First *f, const double *u) {
  int d = f->p->dim;
  for (int i = 0; i < f->p->nc; i++) f->shift[i] = ns_cone_slip(f->p->cone, ns_friction_mu(f->p, i), u + (ptrdiff_t)i * d);
}

/* g = W x + q + shift e_n */
static void shifted(const First *f, const double *x, double *g) {
  ns_block_product(f->p->W, x, f->p->q, g);
  for (int i = 0; i < f->p->nc; i++) g[i * f->p->dim] += f->shift[i];
}

/* to = P(from - step rho g) */
static void project_step(const First *f, const double *from, const double *g, double step, double *to) {
  int d = f->p->dim;
  for (int i = 0; i < f->p->nc; i++) {
    for (int k = i * d; k < (i + 1) * d; k++) to[k] = from[k] - step * f->p->rho[i] * g[k];
    f->p->cone->project(f->p->cone, ns_friction_mu(f->p, i), to + (size_t)i * (size_t)d);
  }
}

/* sum (a - b) (c - e), and in *square the sum of (a - b)^2 / rho */
static double inner(const First *f, const double *a, const double *b, const double *c, const double *e, double *square) {
  double sum = 0;
  *square = 0;
  for (int k = 0; k < f->p->dim * f->p->nc; k++) {
    double x = a[k] - b[k];
    sum += x * (c[k] - e[k]);
    *square += x * x / f->p->rho[k / f->p->dim];
  }
  return sum;
}

/* Measures r and keeps the best iterate; true if it is good enough. */
static bool projections_measure(First *f, const double *r, double *u, double tolerance) {
  NsSolverInfo now = f->info;
  double value = ns_friction_measure(f->p, r, u, &now);
  if (value < f->least) {
    f->least = value;
    f->info = now;
    memcpy(f->best, r, (size_t)(f->p->dim * f->p->nc) * sizeof *r);
  }
  return f->least <= tolerance;
}

/* One accelerated step from y with a fixed shift. Returns how far r moved, in the metric of rho. */
static double accelerated_step(First *f, double *r) {
  int n = f->p->dim * f->p->nc;
  double square, moved;
  shifted(f, f->y, f->gradient);
  for (int k = 0; k < BACKTRACKS; k++) {
    project_step(f, f->y, f->gradient, f->step, f->next);
    shifted(f, f->next, f->next_gradient);
    double curvature = inner(f, f->next, f->y, f->next_gradient, f->gradient, &square);
    if (curvature <= square / f->step) break;
    f->step /= 2;
  }
  double uphill = 0;
  for (int k = 0; k < n; k++) uphill += f->gradient[k] * (f->next[k] - r[k]);
  if (uphill > 0) f->momentum = 1;
  double following = (1 + sqrt(1 + 4 * f->momentum * f->momentum)) / 2, weight = (f->momentum - 1) / following;
  inner(f, f->next, r, f->next, r, &moved);
  for (int k = 0; k < n; k++) {
    f->y[k] = f->next[k] + weight * (f->next[k] - r[k]);
    r[k] = f->next[k];
  }
  f->momentum = following;
  f->step *= 1.02;
  return sqrt(moved);
}

/* Fixed point iteration on the shift, with accelerated steps inside. Returns the number of steps. */
static int accelerate(First *f, double tolerance, int iterations, double *r, double *u) {
  int taken = 0, since = 0;
  double reference = f->least;
  memcpy(f->y, r, (size_t)(f->p->dim * f->p->nc) * sizeof *r);
  while (taken < iterations) {
    double first = 0;
    ns_block_product(f->p->W, r, f->p->q, u);
    renew_shift(f, u);
    for (int k = 0; k < INNER_MOST && taken < iterations; k++, taken++) {
      double moved = accelerated_step(f, r);
      if (k == 0) first = moved;
      if (k >= MEASURE_EVERY && moved < 0.05 * first) break;
    }
    if (projections_measure(f, r, u, tolerance) || ns_interrupted() || !(f->least < INFINITY)) break;
    if (f->least < 0.7 * reference) reference = f->least, since = 0;
    else if (++since > STALLED) break;
  }
  return taken;
}

/* u + sum mu_D |u_D| e_n at x */
static void map_at(First *f, const double *x, double *g) {
  ns_block_product(f->p->W, x, f->p->q, g);
  renew_shift(f, g);
  for (int i = 0; i < f->p->nc; i++) g[i * f->p->dim] += f->shift[i];
}

/* Extragradient steps, with Khobotov's rule for the step length. */
static int extragradient(First *f, double tolerance, int iterations, double *r, double *u) {
  int n = f->p->dim * f->p->nc, taken = 0;
  double step = f->step;
  while (taken < iterations) {
    double change, gap = 0, ratio = 0;
    map_at(f, r, f->gradient);
    for (int k = 0; k < BACKTRACKS; k++) {
      project_step(f, r, f->gradient, step, f->next);
      map_at(f, f->next, f->next_gradient);
      inner(f, f->next, r, f->next, r, &change);
      gap = 0;
      for (int i = 0; i < n; i++) {
        double g = f->next_gradient[i] - f->gradient[i];
        gap += g * g * f->p->rho[i / f->p->dim];
      }
      ratio = change > 0 ? step * sqrt(gap / change) : 0;
      if (ratio <= 0.9) break;
      step *= 2.0 / 3 * ns_smaller(1, 1 / ratio);
    }
    project_step(f, r, f->next_gradient, step, r);
    if (ratio < 0.3) step *= 1.5;
    taken++;
    if (taken % MEASURE_EVERY == 0 && (projections_measure(f, r, u, tolerance) || ns_interrupted())) break;
  }
  return taken;
}

/* At most `iterations` steps from r, which becomes the best iterate, and u its output. NS_OK, NS_EMAXITER, NS_EINTR. */
static void projections_solve(const NsFriction *p, double tolerance, int iterations, double *work, double *r, double *u,
                              NsSolverInfo *info) {
  size_t n = (size_t)p->dim * (size_t)p->nc;
  First f = {.p = p,
             .y = work,
             .gradient = work + n,
             .next = work + 2 * n,
             .next_gradient = work + 3 * n,
             .best = work + 4 * n,
             .shift = work + 5 * n,
             .step = 1,
             .momentum = 1,
             .least = INFINITY,
             .info = {.solver = "first order"}};
  for (int i = 0; i < p->nc; i++) p->cone->project(p->cone, ns_friction_mu(p, i), r + (size_t)i * (size_t)p->dim);
  memcpy(f.best, r, n * sizeof *r);
  int taken = 0;
  if (!projections_measure(&f, r, u, tolerance)) {
    taken = accelerate(&f, tolerance, iterations / 2, r, u);
    if (f.least > tolerance && !ns_interrupted()) {
      memcpy(r, f.best, n * sizeof *r);
      taken += extragradient(&f, tolerance, iterations - taken, r, u);
    }
  }
  memcpy(r, f.best, n * sizeof *r);
  ns_block_product(p->W, r, p->q, u);
  *info = f.info;
  info->iterations = taken;
  info->status = f.least <= tolerance ? NS_OK : ns_interrupted() ? NS_EINTR : NS_EMAXITER;
}

/* ---- the method ---- */

static NsStatus projections_reserve(void **work, NsSearch *search) {
  NsFrictionSearch *f = (NsFrictionSearch *)search;
  *work = ns_alloc((size_t)f->mixed.v.p.n, ARRAYS * sizeof(double));
  return *work ? NS_OK : NS_ENOMEM;
}

static NsOutcome projections_keep(void *work, NsFrictionSearch *f, int steps) {
  NsMixedSearch *s = &f->mixed;
  NsSolverInfo info = {0};
  projections_solve(s->blocks, s->base.tolerance, steps, work, s->z, s->w, &info);
  return ns_friction_keep(f, &info);
}

/* The method with more progress per work, first-order steps or this round's sweeps, gets more work in the next round. */
static void divide_work(NsFrictionSearch *f, int steps, double between) {
  double least = f->mixed.base.least;
  double swept = log(f->before / between) / f->taken, climbed = log(between / least) / (step_cost * steps);
  bool even = climbed < 2 * swept && swept < 2 * climbed;
  f->spent += f->taken + step_cost * steps;
  f->sweeps *= even ? 3 : swept > climbed ? 6 : 1;
  f->steps *= even ? 3 : swept > climbed ? 1 : 6;
  f->sweeps = ns_smaller(f->sweeps, 2 * f->spent);
  f->steps = ns_smaller(f->steps, 2 * f->spent / step_cost);
  f->stalls = steps >= LONG_RUN && least > 0.5 * between ? f->stalls + 1 : 0;
  if (f->stalls > 0) f->sweeps = ns_larger(f->sweeps, step_cost * steps);
}

/*
** Runs the share of a round. A point with a small measure may still be a dead end. So after a long run without progress the
** sweeps get as much work, from their own last point, and the next first-order run is longer and starts at zero.
*/
static NsOutcome projections_share(void *work, NsFrictionSearch *f) {
  double between = f->mixed.base.least;
  bool fresh = f->stalls > 0;
  int steps = fresh ? FRESH : (int)ns_smaller(f->steps, STEPS);
  f->climbed += steps;
  ns_friction_restart(f);
  if (fresh) memset(f->mixed.z, 0, (size_t)f->mixed.v.p.n * sizeof *f->mixed.z);
  NsOutcome out = projections_keep(work, f, steps);
  if (out.status != NS_OK) divide_work(f, steps, between);
  return out;
}

static NsOutcome projections_run(void *work, NsSearch *search, int mode) {
  NsFrictionSearch *f = (NsFrictionSearch *)search;
  int limit = f->mixed.v.max_iterations;
  if (mode == NS_FIRST_ORDER_SHARE) return projections_share(work, f);
  ns_friction_restart(f);
  return projections_keep(work, f, mode == 0 && limit > 0 ? limit : STEPS);
}

/*
** Modes. 0: max_iterations steps (0: 20000) from the guess. SHARE: the steps of one round from the best candidate; after a run
** without progress, a long run from zero. LONG: a long run from the best candidate.
*/
const NsMethod ns_friction_first_order = {.name = "first_order",
                                          .takes = NS_TAKES_DENSE | NS_TAKES_SPARSE | NS_TAKES_PLANE | NS_TAKES_SPACE,
                                          .reserve = projections_reserve,
                                          .release = ns_free,
                                          .run = projections_run};
