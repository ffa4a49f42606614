/*
** sparse_chain.c
** The chain for one balanced, connected sparse problem. Every candidate is judged by the same componentwise measure.
*/
#include "solvers/box/sparse_chain.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "solvers/box/active.h"
#include "solvers/box/interior.h"
#include "solvers/map.h"
#include "solvers/box/newton.h"
#include "solvers/box/pgs.h"
#include "solvers/residual.h"

enum {
  REPAIRS = 60,
  POLISH = 8,
  NEWTON = 200,
  INTERIOR = 100,
  SWEEPS = 20000,
  FEW_SWEEPS = 2000,
  CHECK_EVERY = 10,
  REFINEMENTS = 4
};
enum { LARGE = 500, FEW_REPAIRS = 15 }; /* from how many variables, without a guess, only few sets are tried first */

/*
** A component that a refinement leaves with less than this part of its size was rounding alone (a correction that is
** right to 3 digits leaves 1e-3 of an error, and of a true value 1 - 1e-3 at least).
*/
static const double rounding_left = 1e-3;
struct NsSparseChain {
  NsArena arena;
  NsBoxOptions options;
  const NsSparse *M;
  NsSparseMap *sparse;
  NsBoxMap map;
  NsNewton newton;
  NsInterior interior;
  double *rho, *largest; /* step lengths; largest entries of the rows */
  double *diagonal, *d, *e;
  double *y, *v, *size; /* a candidate, its w, and |M| |z| + |q| */
  double *step;
  double *best_z, best; /* the best candidate so far and its backward error */
  signed char *set;
  int n;
  bool positive; /* the diagonal */
};

static void sparse_chain_take(NsSparseChain *s) {
  int n = s->n;
  double **vectors[] = {&s->rho, &s->largest, &s->diagonal, &s->d, &s->e, &s->y, &s->v, &s->size, &s->step, &s->best_z};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = ns_arena_doubles(&s->arena, n);
  s->set = ns_arena_take(&s->arena, (size_t)n, 1);
  if (s->options.method == &ns_box_pgs) return;
  ns_newton_take(&s->newton, &s->arena, n);
  ns_interior_take(&s->interior, &s->arena, n);
}

static void measure_matrix(NsSparseChain *s) {
  const NsSparse *M = s->M;
  for (int j = 0; j < s->n; j++)
    for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++) {
      int i = M->row[k];
      s->largest[i] = ns_larger(s->largest[i], fabs(M->value[k]));
      if (i == j) s->diagonal[i] = M->value[k];
    }
  s->positive = true;
  for (int i = 0; i < s->n; i++) {
    double pivot = s->diagonal[i], most = s->largest[i];
    s->positive &= pivot > 0;
    s->rho[i] = pivot > 0 ? 1 / pivot : most > 0 ? 1 / most : 1;
  }
}

NsStatus ns_sparse_chain_new(NsSparseChain **out, const NsSparse *M, const NsBoxOptions *options) {
  *out = NULL;
  NsSparseChain *s = ns_alloc(1, sizeof *s);
  if (!s) return NS_ENOMEM;
  s->options = *options;
  s->M = M;
  s->n = M->cols;
  sparse_chain_take(s);
  NsStatus status = s->arena.failed ? NS_ENOMEM : NS_OK;
  if (!status && options->method != &ns_box_pgs) status = ns_sparse_map_new(&s->sparse, M);
  if (status) {
    ns_sparse_chain_free(s);
    return status;
  }
  if (s->sparse) ns_sparse_map(&s->map, s->sparse);
  measure_matrix(s);
  *out = s;
  return NS_OK;
}

void ns_sparse_chain_free(NsSparseChain *s) {
  if (!s) return;
  ns_sparse_map_free(s->sparse);
  ns_arena_release(&s->arena);
  ns_free(s);
}

NsBoxOptions *ns_sparse_chain_options(NsSparseChain *s) {
  return &s->options;
}

/* ---- one candidate ---- */

/* v = M y + q and its size. */
static void sparse_chain_product(NsSparseChain *s, const double *y) {
  const NsSparse *M = s->M;
  for (int i = 0; i < s->n; i++) s->v[i] = s->map.q[i], s->size[i] = fabs(s->map.q[i]);
  for (int j = 0; j < s->n; j++) {
    if (y[j] == 0) continue;
    for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++) {
      double term = M->value[k] * y[j];
      s->v[M->row[k]] += term;
      s->size[M->row[k]] += fabs(term);
    }
  }
}

/* Backward error of y, with v and size its own: each row against its own terms. */
static double backward(const NsSparseChain *s, const double *y) {
  double worst = 0;
  for (int i = 0; i < s->n; i++) {
    double l = s->map.lower[i], u = s->map.upper[i], v = fabs(s->v[i]);
    if (!(y[i] >= l && y[i] <= u && v <= DBL_MAX)) return INFINITY;
    if ((s->v[i] >= 0 && y[i] == l) || (s->v[i] <= 0 && y[i] == u) || s->size[i] < NS_FADED) continue;
    if (v > worst * s->size[i]) worst = v / s->size[i];
  }
  return worst;
}

/* False when the problem is lost in y, v and size its own; see ns_box_lost. */
static bool sparse_chain_consider(NsSparseChain *s, double error) {
  NsBoxProblem p = {s->n, NULL, 0, s->map.q, s->map.lower, s->map.upper, NS_FADED};
  if (ns_box_lost(&p, s->y, s->v, s->size, true)) return false;
  if (!(error < s->best)) return true;
  s->best = error;
  memcpy(s->best_z, s->y, (size_t)s->n * sizeof *s->y);
  return true;
}

static double sparse_chain_exact(const NsSparseChain *s) {
  return ns_smaller(s->options.tolerance, NS_BOX_EXACT);
}

/* Clamps y into the box when it is outside, and judges it. */
static bool sparse_chain_judge(NsSparseChain *s) {
  bool moved = false;
  for (int i = 0; i < s->n; i++) moved |= s->y[i] < s->map.lower[i] || s->y[i] > s->map.upper[i];
  if (!moved) {
    sparse_chain_consider(s, backward(s, s->y));
    return s->best <= sparse_chain_exact(s);
  }
  double *own = s->y;
  for (int i = 0; i < s->n; i++) s->step[i] = ns_box_clamp(own[i], s->map.lower[i], s->map.upper[i]);
  s->y = s->step;
  sparse_chain_product(s, s->y);
  sparse_chain_consider(s, backward(s, s->y));
  s->y = own;
  if (s->best <= sparse_chain_exact(s)) return true;
  sparse_chain_product(s, s->y);
  return false;
}

/* ---- active sets ---- */

/* The components between bounds move by the step; those that it shows to be rounding alone become the exact 0. */
static void sparse_chain_correct(NsSparseChain *s, bool refines) {
  for (int i = 0; i < s->n; i++) {
    if (s->set[i] != NS_BETWEEN) continue;
    double before = s->y[i];
    s->y[i] += s->step[i];
    if (refines && fabs(s->y[i]) < rounding_left * fabs(before)) s->y[i] = 0;
  }
  sparse_chain_product(s, s->y);
}

/* The right side of a refinement; false when every row is right to the rounding of its own terms. */
static bool take_defects(NsSparseChain *s) {
  bool rough = false;
  for (int i = 0; i < s->n; i++) {
    bool between = s->set[i] == NS_BETWEEN;
    s->step[i] = between ? -s->v[i] * s->rho[i] : 0;
    rough |= between && !(fabs(s->v[i]) <= 8 * DBL_EPSILON * s->size[i] + NS_FADED);
  }
  return rough;
}

/* Solves for the set, from y: one step of Newton on equations that are linear, and refinements where rows need them. */
static NsStatus solve_set(NsSparseChain *s) {
  int n = s->n;
  for (int i = 0; i < n; i++) {
    bool between = s->set[i] == NS_BETWEEN;
    s->d[i] = !between;
    s->e[i] = between ? s->rho[i] : 0;
    s->y[i] = between ? 0 : s->set[i] == NS_AT_LOWER ? s->map.lower[i] : s->map.upper[i];
    if (!(fabs(s->y[i]) <= DBL_MAX)) return NS_ENOSOL;
  }
  NsStatus status = s->map.factor(s->map.self, s->d, s->e);
  sparse_chain_product(s, s->y);
  for (int pass = 0; pass < REFINEMENTS && !status; pass++) {
    if (!take_defects(s) && pass > 0) break;
    s->map.solve(s->map.self, s->step);
    sparse_chain_correct(s, pass > 0);
  }
  return status;
}

/* Moves all components of the set that y, v show to be wrong. Returns how many. */
static int sparse_chain_repair(NsSparseChain *s) {
  int wrong = 0;
  for (int i = 0; i < s->n; i++) {
    double l = s->map.lower[i], u = s->map.upper[i], slack = NS_BOX_EXACT * s->size[i] + NS_FADED;
    signed char now = s->set[i], next = now;
    if (l == u) continue;
    if (now == NS_BETWEEN) next = s->y[i] < l ? NS_AT_LOWER : s->y[i] > u ? NS_AT_UPPER : now;
    else if (now == NS_AT_LOWER ? s->v[i] < -slack : s->v[i] > slack) next = NS_BETWEEN;
    wrong += next != now;
    s->set[i] = next;
  }
  return wrong;
}

/* Solves the set and repairs it, at most `limit` times; *tries counts. Ends early when as many stay wrong. */
static NsStatus follow_sets(NsSparseChain *s, int limit, int *tries) {
  int least = s->n + 1, idle = 0;
  for (*tries = 0; *tries < limit; ++*tries) {
    NsStatus status = ns_interrupted() ? NS_EINTR : solve_set(s);
    if (status) return status;
    if (sparse_chain_judge(s)) return NS_OK;
    int wrong = sparse_chain_repair(s);
    if (wrong == 0) return NS_ENOCONV;
    idle = wrong < least ? 0 : idle + 1;
    if (wrong < least) least = wrong;
    if (idle > 6) return NS_ENOCONV;
  }
  return NS_ENOCONV;
}

static void set_of_point(NsSparseChain *s) {
  sparse_chain_product(s, s->y);
  ns_box_map_set(&s->map, s->y, s->v, s->set);
}

/* The iterate in y becomes an answer: its active set, and itself with that set's bounds. */
static NsStatus sparse_chain_finish(NsSparseChain *s, NsStatus status) {
  int tries;
  if (status == NS_EINTR || status == NS_ENAN) return status;
  set_of_point(s);
  for (int i = 0; i < s->n; i++)
    if (s->set[i] != NS_BETWEEN) s->y[i] = s->set[i] == NS_AT_LOWER ? s->map.lower[i] : s->map.upper[i];
  sparse_chain_product(s, s->y);
  if (sparse_chain_judge(s)) return NS_OK;
  NsStatus polished = s->sparse ? follow_sets(s, POLISH, &tries) : NS_ENOCONV;
  if (polished == NS_EINTR) return polished;
  if (s->best <= s->options.tolerance) return NS_OK;
  return status ? status : NS_ENOCONV;
}

/* ---- methods ---- */

typedef struct Outcome {
  NsStatus status;
  int iterations;
  const char *solver;
} Outcome;

static void start_at(NsSparseChain *s, const double *guess) {
  for (int i = 0; i < s->n; i++)
    s->y[i] = ns_box_clamp(guess && fabs(guess[i]) <= DBL_MAX ? guess[i] : 0, s->map.lower[i], s->map.upper[i]);
}

static int limit_or(const NsSparseChain *s, int usual) {
  return s->options.max_iterations > 0 ? s->options.max_iterations : usual;
}

static Outcome active_sets(NsSparseChain *s, const double *guess, int most) {
  Outcome out = {NS_ENOCONV, 0, "active set"};
  start_at(s, guess);
  for (int i = 0; i < s->n; i++)
    s->set[i] = s->y[i] <= s->map.lower[i] ? NS_AT_LOWER : s->y[i] >= s->map.upper[i] ? NS_AT_UPPER : NS_BETWEEN;
  out.status = follow_sets(s, most, &out.iterations);
  return out;
}

static double data_size(const NsSparseChain *s) {
  double size = 0;
  for (int i = 0; i < s->n; i++) size = ns_larger(size, s->rho[i] * fabs(s->map.q[i]));
  return size > 0 ? size : 1;
}

static Outcome sparse_chain_newton(NsSparseChain *s, const double *guess, NsNewtonFunction function, int limit) {
  Outcome out = {NS_ENOCONV, 0, function == NS_NEWTON_MIN ? "newton_min" : "newton_fb"};
  start_at(s, guess);
  out.status = ns_newton_solve(&s->newton, &s->map, function, 1e-12 * data_size(s), limit, s->y, &out.iterations);
  out.status = sparse_chain_finish(s, out.status);
  return out;
}

/* The solution without bounds, moved a tenth of its size away from a bound: a point at the scale of the problem. */
static void start_inside(NsSparseChain *s, const double *guess) {
  double size = 0;
  for (int i = 0; i < s->n; i++) s->d[i] = 0, s->e[i] = s->rho[i], s->step[i] = -s->rho[i] * s->map.q[i];
  start_at(s, guess);
  if (s->map.factor(s->map.self, s->d, s->e) != NS_OK) return;
  s->map.solve(s->map.self, s->step);
  for (int i = 0; i < s->n; i++) size = ns_larger(size, fabs(s->step[i]));
  if (!(size <= DBL_MAX)) return;
  for (int i = 0; i < s->n; i++) {
    double l = s->map.lower[i], u = s->map.upper[i];
    if (l == -INFINITY && u == INFINITY) s->y[i] = s->step[i];
    else if (u == INFINITY) s->y[i] = ns_larger(s->step[i], l + size / 10);
    else if (l == -INFINITY) s->y[i] = ns_smaller(s->step[i], u - size / 10);
  }
}

static Outcome sparse_chain_interior(NsSparseChain *s, const double *guess) {
  Outcome out = {NS_ENOCONV, 0, "interior"};
  start_inside(s, guess);
  out.status = ns_interior_solve(&s->interior, &s->map, 1e-11, limit_or(s, INTERIOR), s->y, &out.iterations);
  out.status = sparse_chain_finish(s, out.status);
  return out;
}

static double sparse_chain_sweep(NsSparseChain *s, double omega) {
  const NsSparse *M = s->M;
  double most = 0;
  for (int i = 0; i < s->n; i++) {
    double now = s->y[i];
    double next = ns_box_clamp(now - omega * s->v[i] / s->diagonal[i], s->map.lower[i], s->map.upper[i]);
    double change = next - now;
    if (change == 0) continue;
    s->y[i] = next;
    for (int k = M->colptr[i]; k < M->colptr[i + 1]; k++) s->v[M->row[k]] += M->value[k] * change;
    most = ns_larger(most, fabs(change) / ns_larger(fabs(next), fabs(change)));
  }
  return most;
}

/* Projected successive over-relaxation, by columns. */
static Outcome sparse_chain_sweeps(NsSparseChain *s, const double *guess, int limit) {
  Outcome out = {NS_EARG, 0, "psor"};
  double tolerance = s->options.tolerance, omega = s->options.omega > 0 ? s->options.omega : 1;
  if (!s->positive) return out;
  start_at(s, guess);
  sparse_chain_product(s, s->y);
  out.status = NS_EMAXITER;
  while (out.iterations < limit) {
    double change = sparse_chain_sweep(s, omega);
    out.iterations++;
    if (change > tolerance && out.iterations % CHECK_EVERY != 0) continue;
    sparse_chain_product(s, s->y);
    double error = backward(s, s->y);
    if (error == INFINITY) return out.status = NS_ENAN, out;
    if (error <= tolerance) out.status = NS_OK;
    else if (ns_interrupted()) return out.status = NS_EINTR, out;
    else continue;
    break;
  }
  if (!sparse_chain_consider(s, backward(s, s->y)) && out.status == NS_OK) out.status = NS_ENOCONV;
  if (s->best > sparse_chain_exact(s)) out.status = sparse_chain_finish(s, out.status);
  return out;
}

static bool sparse_chain_zero_solves(const NsSparseChain *s) {
  for (int i = 0; i < s->n; i++) {
    double l = s->map.lower[i], u = s->map.upper[i], q = s->map.q[i];
    if (l > 0 || u < 0 || (q > 0 && l < 0) || (q < 0 && u > 0)) return false;
  }
  return true;
}

static bool settled(Outcome out) {
  return out.status == NS_OK || out.status == NS_EINTR;
}

static Outcome sparse_chain_run_default(NsSparseChain *s, const double *guess) {
  if (!guess && sparse_chain_zero_solves(s)) {
    start_at(s, NULL);
    sparse_chain_product(s, s->y);
    sparse_chain_consider(s, 0);
    return (Outcome){NS_OK, 0, "closed form"};
  }
  bool large = s->n >= LARGE;
  int limit = limit_or(s, NEWTON);
  Outcome out = active_sets(s, guess, limit_or(s, large && !guess ? FEW_REPAIRS : REPAIRS));
  if (!settled(out) && large) out = sparse_chain_interior(s, guess);
  if (!settled(out)) out = sparse_chain_newton(s, guess, NS_NEWTON_MIN, limit);
  if (!settled(out)) out = sparse_chain_newton(s, guess, NS_NEWTON_FB, limit);
  if (settled(out)) return out;
  Outcome other = large ? out : sparse_chain_interior(s, guess);
  if (!settled(other) && s->positive) other = sparse_chain_sweeps(s, guess, FEW_SWEEPS);
  return settled(other) ? other : out;
}

static Outcome sparse_chain_run(NsSparseChain *s, const double *guess) {
  if (s->options.method == &ns_box_pgs) return sparse_chain_sweeps(s, guess, limit_or(s, SWEEPS));
  if (s->options.method == &ns_box_newton_min) return sparse_chain_newton(s, guess, NS_NEWTON_MIN, limit_or(s, NEWTON));
  if (s->options.method == &ns_box_newton_fb) return sparse_chain_newton(s, guess, NS_NEWTON_FB, limit_or(s, NEWTON));
  if (s->options.method == &ns_box_interior) return sparse_chain_interior(s, guess);
  return sparse_chain_run_default(s, guess);
}

/* ---- the answer ---- */

static void sparse_chain_report(const NsSparseChain *s, Outcome out, const double *z, double *w, NsSolverInfo *info) {
  double residual = 0, scale = DBL_MIN;
  for (int i = 0; i < s->n; i++) {
    double l = s->map.lower[i], u = s->map.upper[i];
    double r = fabs(z[i] - ns_box_clamp(z[i] - s->rho[i] * s->v[i], l, u));
    residual = r <= DBL_MAX ? ns_larger(residual, r) : INFINITY;
    scale = ns_larger(scale, ns_larger(fabs(z[i]), s->rho[i] * fabs(s->map.q[i])));
    w[i] = s->v[i];
    if (out.status == NS_OK && !((w[i] > 0 && z[i] == l) || (w[i] < 0 && z[i] == u))) w[i] = 0;
  }
  *info = (NsSolverInfo){
      out.status, out.iterations, residual, residual / scale, s->best, out.status == NS_OK && out.iterations == 0, out.solver};
}

NsStatus ns_sparse_chain_solve(NsSparseChain *s, const double *q, const double *lower, const double *upper, const double *guess,
                               double *z, double *w, NsSolverInfo *info) {
  s->map.n = s->n;
  s->map.q = q, s->map.lower = lower, s->map.upper = upper, s->map.rho = s->rho;
  s->best = INFINITY;
  if (s->sparse) ns_sparse_map_restart(s->sparse);
  Outcome out = sparse_chain_run(s, guess);
  if (s->best == INFINITY) start_at(s, guess), memcpy(s->best_z, s->y, (size_t)s->n * sizeof *z);
  memcpy(z, s->best_z, (size_t)s->n * sizeof *z);
  sparse_chain_product(s, z);
  sparse_chain_report(s, out, z, w, info);
  return out.status;
}
