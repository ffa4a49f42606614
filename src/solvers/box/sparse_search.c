/*
** sparse_search.c
** Measures and keeps the candidates of a sparse problem.
*/
#include "solvers/box/sparse_search.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "solvers/residual.h"

/*
** POLISH: active sets tried at the last point of a method. REFINEMENTS: of the solution of a set; as long as rows still gain up to
** FAINTEST, which reach terms of 2^-970 beside terms of 1 in steps of 2^-53. IDLE: sets without fewer
** wrong components after which no more are tried. STEPS, INTERIOR: limits of smooth methods; interior point takes 20 to 50
** steps for any size.
*/
enum { POLISH = 8, REFINEMENTS = 4, FAINTEST = 24, IDLE = 6, STEPS = 200, INTERIOR = 100 };

/*
** rounding_left: a component that falls below this fraction of its size in a refinement was only rounding. 1e-3: a correction
** with 3 correct digits leaves 1e-3 of an error, but at least 1 - 1e-3 of a true value.
*/
static const double rounding_left = 1e-3;

/* gain: fraction to which a refinement that helps brings the defect of a row. 0.1: a digit; one of rounding alone stays. */
static const double gain = 0.1;

static void sparse_measure_matrix(NsSparseSearch *s) {
  const NsSparse *M = s->M;
  for (int j = 0; j < s->box.n; j++)
    for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++) {
      int i = M->row[k];
      s->largest[i] = ns_larger(s->largest[i], fabs(M->value[k]));
      if (i == j) s->diagonal[i] = M->value[k];
    }
  s->positive = true;
  for (int i = 0; i < s->box.n; i++) {
    double pivot = s->diagonal[i], most = s->largest[i];
    s->positive &= pivot > 0;
    s->rho[i] = pivot > 0 ? 1 / pivot : most > 0 ? 1 / most : 1;
  }
}

/* ---- one candidate ---- */

void ns_sparse_product(NsSparseSearch *s, const double *z) {
  const NsSparse *M = s->M;
  for (int i = 0; i < s->box.n; i++) s->v[i] = s->as_map.q[i], s->size[i] = fabs(s->as_map.q[i]);
  for (int j = 0; j < s->box.n; j++) {
    if (z[j] == 0) continue;
    for (int k = M->colptr[j]; k < M->colptr[j + 1]; k++) {
      double term = M->value[k] * z[j];
      s->v[M->row[k]] += term;
      s->size[M->row[k]] += fabs(term);
    }
  }
}

double ns_sparse_error(const NsSparseSearch *s, const double *z) {
  double worst = 0;
  for (int i = 0; i < s->box.n; i++) {
    double l = s->as_map.lower[i], u = s->as_map.upper[i], v = fabs(s->v[i]);
    if (!(z[i] >= l && z[i] <= u && v <= DBL_MAX)) return INFINITY;
    if ((s->v[i] >= 0 && z[i] == l) || (s->v[i] <= 0 && z[i] == u) || s->size[i] < NS_FADED) continue;
    if (v > worst * s->size[i]) worst = v / s->size[i];
  }
  return worst;
}

bool ns_sparse_keep(NsSparseSearch *s, const double *z, double error) {
  NsBoxProblem p = {s->box.n, NULL, 0, s->as_map.q, s->as_map.lower, s->as_map.upper, NS_FADED};
  if (ns_box_lost(&s->lost, &p, s->M, z, s->v, s->size)) return false;
  if (!(error < s->box.base.least)) return true;
  s->box.base.least = error;
  memcpy(s->best_z, z, (size_t)s->box.n * sizeof *z);
  return true;
}

/* Whether the best candidate is exact. */
static bool sparse_exact(const NsSparseSearch *s) {
  return s->box.base.least <= s->box.base.exact;
}

/* Takes z, clamped to the box, as a candidate; returns whether the best candidate is exact. s->v remains the product of z. */
static bool sparse_judge(NsSparseSearch *s, const double *z) {
  bool moved = false;
  for (int i = 0; i < s->box.n; i++) moved |= z[i] < s->as_map.lower[i] || z[i] > s->as_map.upper[i];
  if (!moved) return ns_sparse_keep(s, z, ns_sparse_error(s, z)), sparse_exact(s);
  for (int i = 0; i < s->box.n; i++) s->inside[i] = ns_box_clamp(z[i], s->as_map.lower[i], s->as_map.upper[i]);
  ns_sparse_product(s, s->inside);
  ns_sparse_keep(s, s->inside, ns_sparse_error(s, s->inside));
  if (sparse_exact(s)) return true;
  ns_sparse_product(s, z);
  return false;
}

/* ---- active sets ---- */

/* Adds the step to the components between bounds; components that it shows to be rounding alone become exactly 0. */
static void sparse_correct(NsSparseSearch *s, double *z, bool refines) {
  for (int i = 0; i < s->box.n; i++) {
    if (s->set[i] != NS_BETWEEN) continue;
    double before = z[i];
    z[i] += s->step[i];
    if (refines && fabs(z[i]) < rounding_left * fabs(before)) z[i] = 0;
  }
  ns_sparse_product(s, z);
}

/*
** Computes the right-hand side of a refinement; returns the number of rows that are not right to the rounding of their terms, or -1
** when none of them has gained since the last one. `rough_alone`: rows that are right get 0, since their rounding would disturb the
** unknowns of rows whose terms are far smaller. s->inside keeps |v| of rough rows.
*/
static int sparse_take_defects(NsSparseSearch *s, bool rough_alone) {
  int count = 0;
  bool gained = false;
  for (int i = 0; i < s->box.n; i++) {
    double v = fabs(s->v[i]);
    bool between = s->set[i] == NS_BETWEEN, rough = !(v <= 8 * DBL_EPSILON * s->size[i] + NS_FADED);
    s->step[i] = between && (rough || !rough_alone) ? -s->v[i] * s->rho[i] : 0;
    gained |= between && v < gain * s->inside[i];
    count += between && rough;
    s->inside[i] = rough ? v : 0;
  }
  return count > 0 && !gained ? -1 : count;
}

/* Solves the equations of the set from z: one Newton step, and refinements if rows need them. */
static NsStatus sparse_solve_set(NsSparseSearch *s, double *z) {
  int n = s->box.n;
  for (int i = 0; i < n; i++) {
    bool between = s->set[i] == NS_BETWEEN;
    s->d[i] = !between;
    s->e[i] = between ? s->rho[i] : 0;
    z[i] = between ? 0 : s->set[i] == NS_AT_LOWER ? s->as_map.lower[i] : s->as_map.upper[i];
    if (!(fabs(z[i]) <= DBL_MAX)) return NS_ENOSOL;
  }
  NsStatus status = s->as_map.factor(s->as_map.self, s->d, s->e);
  ns_sparse_product(s, z);
  for (int pass = 0; pass < FAINTEST && !status; pass++) {
    int rough = sparse_take_defects(s, pass > 1);
    if ((pass > 0 && rough == 0) || (pass >= REFINEMENTS && rough < 0)) break;
    s->as_map.solve(s->as_map.self, s->step);
    sparse_correct(s, z, pass > 0);
  }
  return status;
}

/* Moves all components of the set that z, v show to be wrong. Returns their number. */
static int sparse_repair(NsSparseSearch *s, const double *z) {
  int wrong = 0;
  for (int i = 0; i < s->box.n; i++) {
    double l = s->as_map.lower[i], u = s->as_map.upper[i], slack = NS_BOX_EXACT * s->size[i] + NS_FADED;
    signed char now = s->set[i], next = now;
    if (l == u) continue;
    if (now == NS_BETWEEN) next = z[i] < l ? NS_AT_LOWER : z[i] > u ? NS_AT_UPPER : now;
    else if (now == NS_AT_LOWER ? s->v[i] < -slack : s->v[i] > slack) next = NS_BETWEEN;
    wrong += next != now;
    s->set[i] = next;
  }
  return wrong;
}

NsStatus ns_sparse_follow_sets(NsSparseSearch *s, double *z, int limit, int *tries) {
  int least = s->box.n + 1, idle = 0;
  for (*tries = 0; *tries < limit; ++*tries) {
    NsStatus status = ns_interrupted() ? NS_EINTR : sparse_solve_set(s, z);
    if (status) return status;
    if (sparse_judge(s, z)) return NS_OK;
    int wrong = sparse_repair(s, z);
    if (wrong == 0) return NS_ENOCONV;
    idle = wrong < least ? 0 : idle + 1;
    if (wrong < least) least = wrong;
    if (idle > IDLE) return NS_ENOCONV;
  }
  return NS_ENOCONV;
}

/* ---- the face for smooth methods ---- */

static NsSparseSearch *sparse_of(NsBoxSearch *box) {
  return (NsSparseSearch *)box;
}

static const NsBoxMap *sparse_as_map(NsBoxSearch *box) {
  return &sparse_of(box)->as_map;
}

static void sparse_start(NsBoxSearch *box, double *z) {
  NsSparseSearch *s = sparse_of(box);
  for (int i = 0; i < s->box.n; i++)
    z[i] = ns_box_clamp(s->guess && fabs(s->guess[i]) <= DBL_MAX ? s->guess[i] : 0, s->as_map.lower[i], s->as_map.upper[i]);
}

/* The solution without bounds, moved away from the bounds by a tenth of its size, as a point of the scale of the problem. */
static void sparse_start_inside(NsBoxSearch *box, double *z) {
  NsSparseSearch *s = sparse_of(box);
  double size = 0;
  for (int i = 0; i < s->box.n; i++) s->d[i] = 0, s->e[i] = s->rho[i], s->step[i] = -s->rho[i] * s->as_map.q[i];
  sparse_start(box, z);
  if (s->as_map.factor(s->as_map.self, s->d, s->e) != NS_OK) return;
  s->as_map.solve(s->as_map.self, s->step);
  for (int i = 0; i < s->box.n; i++) size = ns_larger(size, fabs(s->step[i]));
  if (!(size <= DBL_MAX)) return;
  for (int i = 0; i < s->box.n; i++) {
    double l = s->as_map.lower[i], u = s->as_map.upper[i];
    if (l == -INFINITY && u == INFINITY) z[i] = s->step[i];
    else if (u == INFINITY) z[i] = ns_larger(s->step[i], l + size / 10);
    else if (l == -INFINITY) z[i] = ns_smaller(s->step[i], u - size / 10);
  }
}

/* Finds the active set at z, moves z to its bounds, and polishes the set. */
static NsStatus sparse_search_finish(NsBoxSearch *box, double *z, NsStatus status) {
  NsSparseSearch *s = sparse_of(box);
  int tries;
  if (status == NS_EINTR || status == NS_ENAN) return status;
  ns_sparse_product(s, z);
  ns_box_map_set(&s->as_map, z, s->v, s->set);
  for (int i = 0; i < s->box.n; i++)
    if (s->set[i] != NS_BETWEEN) z[i] = s->set[i] == NS_AT_LOWER ? s->as_map.lower[i] : s->as_map.upper[i];
  ns_sparse_product(s, z);
  if (sparse_judge(s, z)) return NS_OK;
  NsStatus polished = s->factors ? ns_sparse_follow_sets(s, z, POLISH, &tries) : NS_ENOCONV;
  if (polished == NS_EINTR) return polished;
  if (s->box.base.least <= s->box.base.tolerance) return NS_OK;
  return status ? status : NS_ENOCONV;
}

/* ---- the search ---- */

NsStatus ns_sparse_search_take(NsSparseSearch *s, NsArena *arena, const NsSparse *M, const NsBoxOptions *options,
                               bool factors) {
  int n = M->cols;
  NS_ARENA_VECTORS(arena, n, &s->rho, &s->largest, &s->diagonal, &s->d, &s->e, &s->v, &s->size, &s->step, &s->inside,
                   &s->best_z);
  s->set = ns_arena_take(arena, (size_t)n, 1);
  ns_lost_take(&s->lost, arena, n);
  s->M = M;
  s->box = (NsBoxSearch){.options = options, .n = n, .arena = arena, .nmax = n, .limit = STEPS, .interior = INTERIOR};
  s->box.map = sparse_as_map;
  s->box.start = sparse_start;
  s->box.start_inside = sparse_start_inside;
  s->box.finish = sparse_search_finish;
  if (arena->failed) return NS_ENOMEM;
  sparse_measure_matrix(s);
  NsStatus status = factors ? ns_sparse_map_new(&s->factors, M) : NS_OK;
  if (s->factors) ns_sparse_map(&s->as_map, s->factors);
  return status;
}

void ns_sparse_search_release(NsSparseSearch *s) {
  ns_sparse_map_free(s->factors);
}

void ns_sparse_search_begin(NsSparseSearch *s, const double *q, const double *lower, const double *upper, const double *guess) {
  s->as_map.n = s->box.n;
  s->as_map.q = q, s->as_map.lower = lower, s->as_map.upper = upper, s->as_map.rho = s->rho;
  s->guess = guess;
  s->box.cold = !guess;
  s->box.base.tolerance = s->box.options->tolerance;
  s->box.base.exact = ns_smaller(s->box.options->tolerance, NS_BOX_EXACT);
  s->box.base.least = INFINITY;
  if (s->factors) ns_sparse_map_restart(s->factors);
}
