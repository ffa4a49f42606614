/*
** box_solver.c
** The chain of methods behind ns_box_solve.
*/
#include "solvers/box/box_solver.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "solvers/box/active.h"
#include "solvers/balance.h"
#include "solvers/components.h"
#include "solvers/box/enumerate.h"
#include "solvers/box/game.h"
#include "solvers/box/interior.h"
#include "solvers/map.h"
#include "solvers/box/newton.h"
#include "solvers/box/one_variable.h"
#include "solvers/box/pgs.h"
#include "solvers/box/pivot.h"
#include "solvers/box/principal.h"
#include "solvers/residual.h"
#include "solvers/scale.h"

enum { REPAIRS = 12, POLISH_REPAIRS = 5, ENUMERATE_FIRST = 7, ENUMERATE_LAST = 12, PREDICT = 48, STEPS = 200 };
enum { PROXIMAL_STEPS = 60, GAME_PATHS = 8, SMALL_COLD = 12 };
enum { PGS_SWEEPS = 20000, PIVOTS = 1000, PIVOTS_PER_VARIABLE = 20 };

static const double raw_growth = 1e8, scaled_growth = 1e10, default_tolerance = 1e-11;

struct NsBox {
  NsArena arena;
  NsBoxOptions options;
  int nmax;
  NsActive *active;
  NsPivot *pivot;
  NsPrincipal principal;
  NsGame game;
  NsNewton newton;
  NsInterior interior;
  double *rho; /* step lengths of the natural map */
  NsBoxScaled scaled;
  NsBoxProblem reduced; /* the connected component in hand, without fixed variables and in balanced units */
  NsComponents parts;
  NsBalance balance;
  int *unit_w, *unit_z; /* of that component: z' = 2^unit_z z, w' = 2^unit_w w */
  int *most;            /* 2 n: the largest exponent of the data of a tree of the balance */
  bool *bare;           /* 2 n: q and the bounds of the tree are all 0 */
  double *shifted;      /* M of a proximal step or of a game with a shift */
  double *level;        /* q of that game */
  double *M, *q, *lower, *upper, *z, *w, *near;
  int *keep;                /* the variables that are not settled by themselves, component after component */
  const int *listed;        /* those of the last enumeration, b->kept of them */
  const NsBoxProblem *fair; /* the problem in hand, scaled when it needs it; NULL: not made yet */
  double *point, *y, *v;    /* the guess projected, and the candidate of a method */
  double *best_z, *best_w, *enumeration;
  signed char *set, *trial, *settled, *known; /* the last two of all variables: not in a component; w is known */
  double best;                                /* backward error of best_z; INFINITY: there is none */
  bool cold;                                  /* no guess was given */
  int solutions, kept, order;
  double *ray, *whole_ray; /* of a component; of the problem */
  bool has_ray;
};

/* The outcome of a stage. NS_ENOCONV: it has no answer. */
typedef struct Outcome {
  NsStatus status;
  int iterations;
  const char *solver;
  bool warm;
} Outcome;

static void box_take_vectors(NsBox *b, int n) {
  double **vectors[] = {&b->q,     &b->lower, &b->upper, &b->z,      &b->w,      &b->near,
                        &b->point, &b->y,     &b->v,     &b->best_z, &b->best_w, &b->level};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = ns_arena_doubles(&b->arena, n);
  b->M = ns_arena_matrix(&b->arena, n, n);
  b->shifted = ns_arena_matrix(&b->arena, n, n);
  b->keep = ns_arena_ints(&b->arena, n);
  b->set = ns_arena_take(&b->arena, (size_t)n, 1);
  b->trial = ns_arena_take(&b->arena, (size_t)n, 1);
  b->settled = ns_arena_take(&b->arena, (size_t)n, 1);
  b->known = ns_arena_take(&b->arena, (size_t)n, 1);
  b->enumeration = ns_arena_matrix(&b->arena, NS_ENUMERATE_STORE + 2, n < NS_ENUMERATE_MAX ? n : NS_ENUMERATE_MAX);
  ns_box_scaled_take(&b->scaled, &b->arena, n);
  ns_principal_take(&b->principal, &b->arena, n);
  ns_game_take(&b->game, &b->arena, n);
  ns_newton_take(&b->newton, &b->arena, n);
  ns_interior_take(&b->interior, &b->arena, n);
  b->rho = ns_arena_doubles(&b->arena, n);
  b->ray = ns_arena_doubles(&b->arena, n);
  b->whole_ray = ns_arena_doubles(&b->arena, n);
  b->unit_w = ns_arena_ints(&b->arena, n);
  b->unit_z = ns_arena_ints(&b->arena, n);
  b->most = ns_arena_ints(&b->arena, 2 * (ptrdiff_t)n);
  b->bare = ns_arena_take(&b->arena, 2 * (size_t)n, sizeof *b->bare);
  ns_components_take(&b->parts, &b->arena, n);
  ns_balance_take(&b->balance, &b->arena, n);
}

NsStatus ns_box_new(NsBox **out, int nmax) {
  *out = NULL;
  if (nmax < 0) return NS_EARG;
  NsBox *b = ns_alloc(1, sizeof *b);
  if (!b) return NS_ENOMEM;
  b->nmax = nmax;
  b->options = (NsBoxOptions){default_tolerance, 0, NS_BOX_DEFAULT, 0};
  box_take_vectors(b, nmax);
  NsStatus status = b->arena.failed ? NS_ENOMEM : ns_active_new(&b->active, nmax);
  if (!status) status = ns_pivot_new(&b->pivot, nmax, b->active->lu);
  if (status) {
    ns_box_free(b);
    return status;
  }
  *out = b;
  return NS_OK;
}

void ns_box_free(NsBox *b) {
  if (!b) return;
  ns_pivot_free(b->pivot);
  ns_active_free(b->active);
  ns_arena_release(&b->arena);
  ns_free(b);
}

void ns_box_solution(const NsBox *b, int k, double *z) {
  for (int i = 0; i < b->kept; i++) z[b->listed[i]] = b->enumeration[(size_t)(k + 2) * (size_t)b->kept + (size_t)i];
}

bool ns_box_ray(const NsBox *b, double *ray) {
  if (!b->has_ray) return false;
  memcpy(ray, b->whole_ray, (size_t)b->order * sizeof *ray);
  return true;
}

NsBoxOptions *ns_box_options(NsBox *b) {
  return &b->options;
}

int ns_box_solutions(const NsBox *b) {
  return b->solutions;
}

/* Component i of the guess; 0 when there is none or it is not finite. */
static double guessed(const double *guess, int i) {
  return guess && fabs(guess[i]) <= DBL_MAX ? guess[i] : 0;
}

static double exact_tolerance(const NsBox *b) {
  return ns_smaller(b->options.tolerance, NS_BOX_EXACT);
}

/* 0 when all n numbers are finite, else NaN; in four sums, so that additions overlap. */
static double zero_if_finite(const double *x, int n) {
  double a = 0, b = 0, c = 0, d = 0;
  int i = 0;
  for (; i + 4 <= n; i += 4) a += x[i] * 0, b += x[i + 1] * 0, c += x[i + 2] * 0, d += x[i + 3] * 0;
  for (; i < n; i++) a += x[i] * 0;
  return a + b + c + d;
}

static NsStatus check_data(const NsBoxProblem *p) {
  double sum = 0;
  bool crossed = false;
  for (int j = 0; j < p->n; j++) {
    const double *column = p->M + (size_t)j * (size_t)p->ldm;
    double l = p->lower[j], u = p->upper[j];
    sum += zero_if_finite(column, p->n);
    sum += p->q[j] * 0;
    if (l != l || u != u) sum = NAN;
    if (!(l <= u && l < INFINITY && u > -INFINITY)) crossed = true;
  }
  return sum != 0 ? NS_ENAN : crossed ? NS_EARG : NS_OK;
}

/*
** Keeps z, w (of p, with w = M z + q, of terms b->active->size) as the best candidate when its backward error is the smallest so far.
** False when it is none at all: the problem is lost in it.
*/
static bool box_consider(NsBox *b, const NsBoxProblem *p, const double *z, const double *w, double backward) {
  if (ns_box_lost(p, z, w, b->active->size, p == &b->reduced)) return false;
  if (!(backward < b->best)) return true;
  b->best = backward;
  memcpy(b->best_z, z, (size_t)p->n * sizeof *z);
  memcpy(b->best_w, w, (size_t)p->n * sizeof *w);
  return true;
}

/* The same for a point of the scaled problem; returns its backward error as a candidate for p. */
static double consider_scaled(NsBox *b, const NsBoxProblem *p, const double *scaled) {
  const double *z = scaled;
  if (b->fair != p) {
    ns_box_unscale(&b->scaled, p, scaled, b->point);
    for (int i = 0; i < p->n; i++) b->point[i] = ns_box_clamp(b->point[i], p->lower[i], p->upper[i]);
    z = b->point;
  }
  ns_box_product(p, z, b->v, b->active->size);
  double backward = ns_box_backward(p, z, b->v, b->active->size);
  return box_consider(b, p, z, b->v, backward) ? backward : INFINITY;
}

static const NsBoxProblem *fair_problem(NsBox *b, const NsBoxProblem *p) {
  if (b->fair) return b->fair;
  if (ns_box_well_scaled(p)) return b->fair = p;
  ns_box_scale(&b->scaled, p);
  return b->fair = &b->scaled.problem;
}

static bool good_enough(const NsBox *b) {
  return b->best <= exact_tolerance(b);
}

/* Whether 0 solves the problem, and nothing need be known of M. */
static bool box_zero_solves(const NsBoxProblem *p) {
  for (int i = 0; i < p->n; i++) {
    double l = p->lower[i], u = p->upper[i], q = p->q[i];
    if (l > 0 || u < 0 || (q > 0 && l < 0) || (q < 0 && u > 0)) return false;
  }
  return true;
}

/*
** Principal pivoting from the set of the guess: the first try is the warm start. In the units given: every step commutes
** with a scaling by powers of two.
*/
static Outcome start_from_guess(NsBox *b, const NsBoxProblem *p) {
  Outcome out = {NS_ENOCONV, 0, "active set", false};
  double backward;
  int before = p->n + 1, rises = 0;
  ns_active_of_point(p, b->near, b->set);
  for (; out.iterations <= REPAIRS; out.iterations++) {
    NsStatus status = ns_active_try_in_order(b->active, p, b->set, exact_tolerance(b), b->y, b->v, &backward);
    if (status != NS_ENOCONV) {
      if (status == NS_OK && box_consider(b, p, b->y, b->v, backward)) {
        out.status = NS_OK;
        out.warm = out.iterations == 0;
      }
      return out;
    }
    int wrong = ns_active_repair(b->active, p, b->y, b->v, rises > 1, b->set);
    if (wrong == 0) return out;
    if (wrong >= before) rises++;
    else before = wrong;
    if (rises > 3) return out;
  }
  return out;
}

/* The projected guess as an answer: what is left of a solution that is not unique. */
static bool guess_solves(NsBox *b, const NsBoxProblem *p) {
  for (int i = 0; i < p->n; i++) b->y[i] = ns_box_clamp(b->near[i], p->lower[i], p->upper[i]);
  ns_box_product(p, b->y, b->v, b->active->size);
  double backward = ns_box_backward(p, b->y, b->v, b->active->size);
  if (!(backward <= ns_smaller(16 * DBL_EPSILON, exact_tolerance(b)))) return false;
  return box_consider(b, p, b->y, b->v, backward);
}

/* Polishes the active set in b->trial on fair data, with a few repairs. */
static bool polish_set(NsBox *b, const NsBoxProblem *p, const NsBoxProblem *fair) {
  double backward, *polished = b->w;
  for (int k = 0; k < POLISH_REPAIRS; k++) {
    NsStatus status = ns_active_try(b->active, fair, b->trial, exact_tolerance(b), scaled_growth, polished, b->v, &backward);
    if (status == NS_OK) consider_scaled(b, p, polished);
    if (good_enough(b)) return true;
    if (status != NS_ENOCONV || ns_active_repair(b->active, fair, polished, b->v, false, b->trial) == 0) break;
  }
  return false;
}

/* The same; falls back on the vertex in b->y. */
static bool box_polish(NsBox *b, const NsBoxProblem *p, const NsBoxProblem *fair) {
  for (int i = 0; i < p->n; i++)
    if (!(fabs(b->y[i]) <= DBL_MAX)) return false;
  if (polish_set(b, p, fair)) return true;
  consider_scaled(b, p, b->y);
  return good_enough(b);
}

static const NsPivotStart starts[] = {
    {false, false, 0},  {true, false, 0},    {false, true, 0},  {true, true, 0},   {false, false, 1e3},
    {true, false, 1e3}, {false, false, 1e7}, {true, true, 1e5}, {false, true, 10},
};

/* Starts that differ from earlier ones only where the problem has nothing of the kind are left out. */
static bool start_matters(const NsBoxProblem *p, const NsPivotStart *start) {
  bool any_infinite = false, any_finite = false;
  for (int i = 0; i < p->n; i++) {
    bool low = p->lower[i] > -INFINITY, high = p->upper[i] < INFINITY;
    any_infinite |= !low || !high;
    any_finite |= low && high;
  }
  if (start->compact > 0) return any_infinite;
  return !start->upper || any_finite;
}

enum { STARTS = sizeof starts / sizeof *starts };

/* The paths from starts `first` to `last` - 1. */
static Outcome pivot_paths(NsBox *b, const NsBoxProblem *p, int first, int last) {
  const NsBoxProblem *fair = fair_problem(b, p);
  Outcome out = {NS_ENOCONV, 0, "pivot", false};
  int limit = b->options.max_iterations > 0 ? b->options.max_iterations : PIVOTS + PIVOTS_PER_VARIABLE * p->n;
  for (int k = first; k < last; k++) {
    int pivots;
    if (k > 0 && !start_matters(p, &starts[k])) continue;
    NsStatus status = ns_pivot_path(b->pivot, fair, &starts[k], limit, b->y, b->trial, &pivots);
    if (k == 0) out.iterations = pivots;
    if (status == NS_OK && box_polish(b, p, fair)) {
      out.status = NS_OK;
      out.iterations = pivots;
      return out;
    }
    if (k == 0 && status != NS_OK) out.status = status;
    if (k == 0 && status == NS_ERAY) {
      b->has_ray = true;
      for (int i = 0; i < p->n; i++) b->ray[i] = ldexp(ns_pivot_ray(b->pivot)[i], fair == p ? 0 : b->scaled.col[i]);
    }
    if (status == NS_EINTR) return out.status = status, out;
  }
  return out;
}

/* Problems of two sides: paths without a label, from a few labels. */
static Outcome game_paths(NsBox *b, const NsBoxProblem *p) {
  Outcome out = {NS_ENOCONV, 0, "lemke-howson", false};
  if (!ns_game_find(&b->game, p)) return out;
  const NsBoxProblem *fair = fair_problem(b, p);
  double shift;
  bool shifted = ns_game_shift(&b->game, fair, b->shifted, b->level, &shift);
  NsBoxProblem game = {fair->n, b->shifted, fair->n, b->level, fair->lower, fair->upper, fair->faded};
  int limit = b->options.max_iterations > 0 ? b->options.max_iterations : PIVOTS + PIVOTS_PER_VARIABLE * p->n;
  for (int k = 0; k < GAME_PATHS; k++) {
    NsGameStart start = {(int)((long long)k * p->n / GAME_PATHS), k % 2 == 0};
    out.status = ns_pivot_game(b->pivot, shifted ? &game : fair, &b->game, &start, limit, b->y, b->trial, &out.iterations);
    if (out.status != NS_OK) return out;
    if (shifted && !ns_game_unshift(&b->game, p->n, shift, b->y)) continue;
    if (box_polish(b, p, fair)) return out;
  }
  return out.status = NS_ENOCONV, out;
}

/* The set that principal pivoting ended with: its own point, or the set polished on the data given or scaled. */
static bool accept_principal(NsBox *b, const NsBoxProblem *p) {
  double backward;
  bool whole = true;
  for (int i = 0; i < p->n; i++) whole &= fabs(b->y[i]) <= DBL_MAX;
  if (whole) {
    ns_box_product(p, b->y, b->v, b->active->size);
    box_consider(b, p, b->y, b->v, ns_box_backward(p, b->y, b->v, b->active->size));
    if (good_enough(b)) return true;
  }
  int tries = whole || ns_box_well_scaled(p) ? 3 : 1;
  memcpy(b->set, b->trial, (size_t)p->n);
  for (int k = 0; k < tries; k++) {
    NsStatus status = ns_active_try(b->active, p, b->set, exact_tolerance(b), raw_growth, b->y, b->v, &backward);
    if (status == NS_OK) box_consider(b, p, b->y, b->v, backward);
    if (good_enough(b)) return true;
    if (status != NS_ENOCONV || ns_active_repair(b->active, p, b->y, b->v, false, b->set) == 0) break;
  }
  const NsBoxProblem *fair = fair_problem(b, p);
  for (int i = 0; i < p->n && fair != p; i++) b->y[i] = ldexp(b->y[i], -b->scaled.col[i]);
  return box_polish(b, p, fair);
}

static Outcome principal_path(NsBox *b, const NsBoxProblem *p, NsPrincipalRule rule, int limit) {
  Outcome out = {NS_ENOCONV, 0, "principal", false};
  out.status = ns_principal_solve(&b->principal, p, rule, limit, b->active->block, b->y, b->trial, &out.iterations);
  if (out.status == NS_OK && !accept_principal(b, p)) out.status = NS_ENOCONV;
  return out;
}

static Outcome principal_short(NsBox *b, const NsBoxProblem *p) {
  return principal_path(b, p, NS_PRINCIPAL_MIXED, 6 * p->n + 10);
}

/* The fair problem as Newton and interior point see it. */
static void make_map(NsBox *b, const NsBoxProblem *fair, NsBoxMap *map, NsDenseMap *dense) {
  for (int i = 0; i < fair->n; i++) {
    double pivot = fair->M[i + (size_t)i * (size_t)fair->ldm];
    b->rho[i] = pivot > 0 ? 1 / pivot : 1;
  }
  *dense = (NsDenseMap){fair->M, fair->n, fair->ldm, b->active->block, b->active->rhs, b->active->lu};
  ns_lu_set_order(b->active->lu, fair->n);
  *map = (NsBoxMap){.n = fair->n, .q = fair->q, .lower = fair->lower, .upper = fair->upper, .rho = b->rho};
  ns_dense_map(map, dense);
}

static NsStatus box_iterate(NsBox *b, const NsBoxMap *map, NsBoxMethod method, double tolerance, int *iterations) {
  int limit = b->options.max_iterations > 0 ? b->options.max_iterations : STEPS;
  double size = 0;
  for (int i = 0; i < map->n; i++) size = ns_larger(size, map->rho[i] * fabs(map->q[i]));
  if (method == NS_BOX_INTERIOR) return ns_interior_solve(&b->interior, map, tolerance, limit, b->y, iterations);
  return ns_newton_solve(&b->newton, map, method == NS_BOX_NEWTON_MIN ? NS_NEWTON_MIN : NS_NEWTON_FB,
                         tolerance * (size > 0 ? size : 1), limit, b->y, iterations);
}

/* Newton or interior point on the balanced problem, then the active set it points at. */
static Outcome iterative(NsBox *b, const NsBoxProblem *p, NsBoxMethod method, double tolerance) {
  const NsBoxProblem *fair = fair_problem(b, p);
  Outcome out = {NS_ENOCONV, 0, "newton_fb", false};
  NsBoxMap map;
  NsDenseMap dense;
  if (method != NS_BOX_NEWTON_FB) out.solver = method == NS_BOX_INTERIOR ? "interior" : "newton_min";
  make_map(b, fair, &map, &dense);
  for (int i = 0; i < p->n; i++) {
    double near = fair == p ? b->near[i] : ldexp(b->near[i], -b->scaled.col[i]);
    b->y[i] = ns_box_clamp(near, fair->lower[i], fair->upper[i]);
  }
  out.status = box_iterate(b, &map, method, tolerance, &out.iterations);
  if (out.status == NS_ENAN) return out.status = NS_ENOCONV, out;
  if (out.status == NS_EINTR) return out;
  ns_box_product(fair, b->y, b->v, b->active->size);
  ns_newton_active_set(&map, b->y, b->v, b->trial);
  for (int i = 0; i < p->n; i++)
    if (b->trial[i] != NS_BETWEEN) b->y[i] = b->trial[i] == NS_AT_LOWER ? fair->lower[i] : fair->upper[i];
  if (box_polish(b, p, fair) || b->best <= b->options.tolerance) out.status = NS_OK;
  else if (out.status == NS_OK) out.status = NS_ENOCONV;
  return out;
}

static bool symmetric_positive_diagonal(const NsBoxProblem *p) {
  size_t ld = (size_t)p->ldm;
  for (int j = 0; j < p->n; j++) {
    const double *column = p->M + (size_t)j * ld;
    if (!(column[j] > 0)) return false;
    for (int i = 0; i < j; i++)
      if (column[i] != p->M[(size_t)j + (size_t)i * ld]) return false;
  }
  return true;
}

/* For large symmetric problems: the active set of a few sweeps, when it settles at once. */
static Outcome predicted(NsBox *b, const NsBoxProblem *p) {
  Outcome out = {NS_ENOCONV, 0, "pgs, active set", false};
  double backward;
  if (p->n < PREDICT || !symmetric_positive_diagonal(p)) return out;
  for (int i = 0; i < p->n; i++) b->y[i] = ns_box_clamp(b->near[i], p->lower[i], p->upper[i]);
  ns_box_product(p, b->y, b->v, b->active->size);
  ns_pgs_sweeps(p, 4, b->y, b->v);
  for (out.iterations = 6; out.iterations <= 14; out.iterations += 2) {
    ns_active_of_point(p, b->y, b->set);
    ns_pgs_sweeps(p, 2, b->y, b->v);
    ns_active_of_point(p, b->y, b->trial);
    if (memcmp(b->set, b->trial, (size_t)p->n) != 0) continue;
    if (ns_active_try(b->active, p, b->trial, exact_tolerance(b), raw_growth, b->y, b->v, &backward) == NS_OK &&
        box_consider(b, p, b->y, b->v, backward))
      out.status = NS_OK;
    break;
  }
  return out;
}

static Outcome principal_long(NsBox *b, const NsBoxProblem *p) {
  int limit = b->options.max_iterations > 0 ? b->options.max_iterations : PIVOTS + PIVOTS_PER_VARIABLE * p->n;
  return principal_path(b, p, NS_PRINCIPAL_LEAST, limit);
}

static Outcome box_sweeps(NsBox *b, const NsBoxProblem *p) {
  Outcome out = {NS_ENOCONV, 0, "pgs", false};
  int limit = b->options.max_iterations > 0 ? b->options.max_iterations : PGS_SWEEPS;
  double backward, omega = b->options.omega > 0 ? b->options.omega : 1;
  memcpy(b->y, b->near, (size_t)p->n * sizeof *b->y);
  out.status = ns_pgs_solve(p, omega, b->options.tolerance, limit, b->y, b->v, b->active->size, &out.iterations);
  if (out.status == NS_EARG || out.status == NS_ENAN) return out;
  if (out.status == NS_OK) b->best = INFINITY;
  ns_box_product(p, b->y, b->v, b->active->size);
  bool met = box_consider(b, p, b->y, b->v, ns_box_backward(p, b->y, b->v, b->active->size));
  if (!met && out.status == NS_OK) out.status = NS_ENOCONV;
  ns_active_of_point(p, b->y, b->trial);
  if (ns_active_try(b->active, p, b->trial, exact_tolerance(b), raw_growth, b->y, b->v, &backward) == NS_OK &&
      box_consider(b, p, b->y, b->v, backward))
    out.status = NS_OK;
  return out;
}

static Outcome box_all_sets(NsBox *b, const NsBoxProblem *p) {
  const NsBoxProblem *fair = fair_problem(b, p);
  Outcome out = {NS_ENOCONV, 0, "enumerate", false};
  NsEnumeration seen = {0};
  const double *near = b->near;
  if (fair != p) {
    for (int i = 0; i < p->n; i++) b->point[i] = ldexp(b->near[i], -b->scaled.col[i]);
    near = b->point;
  }
  out.status = ns_enumerate(b->active, fair, near, b->enumeration, b->trial, b->y, b->v, &seen);
  out.iterations = seen.tried;
  b->solutions = seen.found;
  for (int k = 0; k < seen.found && fair != p; k++) {
    double *stored = b->enumeration + (size_t)(k + 2) * (size_t)p->n;
    ns_box_unscale(&b->scaled, p, stored, b->point);
    memcpy(stored, b->point, (size_t)p->n * sizeof *stored);
  }
  if (out.status == NS_OK) {
    b->best = INFINITY;
    consider_scaled(b, p, b->y);
    if (!good_enough(b)) out.status = NS_ENOCONV;
  }
  return out;
}

/* Solves p from the active set in b->set with repairs; the solution is in b->z. */
static bool repaired(NsBox *b, const NsBoxProblem *p) {
  double backward;
  for (int k = 0; k <= REPAIRS; k++) {
    NsStatus status = ns_active_try(b->active, p, b->set, 1e-12, scaled_growth, b->z, b->v, &backward);
    if (status != NS_ENOCONV) return status == NS_OK;
    if (ns_active_repair(b->active, p, b->z, b->v, false, b->set) == 0) return false;
  }
  return false;
}

/* Moves b->y, z, to the solution of the fair problem with M + shift I and q - shift z. */
static NsStatus proximal_step(NsBox *b, const NsBoxProblem *fair, double shift) {
  NsBoxProblem near = {fair->n, b->shifted, fair->n, b->w, fair->lower, fair->upper, fair->faded};
  int n = fair->n, pivots;
  for (int i = 0; i < n; i++) {
    b->shifted[i + (size_t)i * (size_t)n] = fair->M[i + (size_t)i * (size_t)fair->ldm] + shift;
    b->w[i] = fair->q[i] - shift * b->y[i];
  }
  ns_active_of_point(&near, b->y, b->set);
  if (!repaired(b, &near)) {
    NsStatus status = ns_principal_solve(&b->principal, &near, NS_PRINCIPAL_MIXED, PIVOTS_PER_VARIABLE * n, b->active->block,
                                         b->z, b->set, &pivots);
    if (status) return status;
    if (!repaired(b, &near)) return NS_ENOCONV;
  }
  memcpy(b->y, b->z, (size_t)n * sizeof *b->y);
  return ns_interrupted() ? NS_EINTR : NS_OK;
}

/*
** The proximal point method: each step's matrix M + shift I is regular where M is singular, and positive definite
** where M is monotone. Rockafellar, Monotone operators and the proximal point algorithm, SIAM J. Control Optim. 14,
** 1976.
*/
static Outcome proximal(NsBox *b, const NsBoxProblem *p) {
  const NsBoxProblem *fair = fair_problem(b, p);
  Outcome out = {NS_ENOCONV, 0, "proximal", false};
  size_t n = (size_t)fair->n;
  double shift = 1e-2;
  for (size_t i = 0; i < n; i++) {
    double near = fair == p ? b->near[i] : ldexp(b->near[i], -b->scaled.col[i]);
    b->y[i] = ns_box_clamp(near, fair->lower[i], fair->upper[i]);
    memcpy(b->shifted + i * n, fair->M + i * (size_t)fair->ldm, n * sizeof *fair->M);
  }
  for (; out.iterations < PROXIMAL_STEPS && !good_enough(b); shift = ns_larger(0.1 * shift, 1e-7)) {
    NsStatus status = proximal_step(b, fair, shift);
    if (status == NS_EINTR) out.status = status;
    if (status) return out;
    out.iterations++;
    consider_scaled(b, p, b->y);
  }
  if (b->best <= b->options.tolerance) out.status = NS_OK;
  return out;
}

/*
** Where paths of pivots have no answer: free variables whose equations depend on each other, singular matrices with
** entries far apart, matrices that are not monotone. An answer that passes the tolerance alone is kept as the best.
*/
static Outcome smooth_methods(NsBox *b, const NsBoxProblem *p) {
  static const NsBoxMethod methods[] = {NS_BOX_NEWTON_MIN, NS_BOX_NEWTON_FB, NS_BOX_INTERIOR};
  for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
    Outcome out = iterative(b, p, methods[k], 1e-12);
    if (good_enough(b) || out.status == NS_EINTR) return out;
  }
  Outcome last = proximal(b, p);
  if (last.status == NS_OK && !good_enough(b)) last.status = NS_ENOCONV;
  return last;
}

/* All paths, sweeps, all active sets. The status of a failure is the one that says most. */
static Outcome small_from_scratch(NsBox *b, const NsBoxProblem *p) {
  Outcome out = pivot_paths(b, p, 0, STARTS), other = out;
  if (out.status == NS_OK || out.status == NS_EINTR) return out;
  if (p->n > ENUMERATE_FIRST) other = box_sweeps(b, p);
  if (other.status == NS_OK || other.status == NS_EINTR) return other;
  other = box_all_sets(b, p);
  if (other.status == NS_OK || other.status == NS_ENOSOL || other.status == NS_EINTR) return other;
  if (p->n > 2) other = smooth_methods(b, p);
  return other.status == NS_OK || other.status == NS_EINTR ? other : out;
}

/* One path, the smooth methods, the other paths, sweeps. */
static Outcome large_from_scratch(NsBox *b, const NsBoxProblem *p) {
  Outcome out = pivot_paths(b, p, 0, 1);
  if (out.status == NS_OK || out.status == NS_EINTR) return out;
  Outcome other = smooth_methods(b, p);
  if (other.status == NS_OK || other.status == NS_EINTR) return other;
  if (b->best <= b->options.tolerance) return other.status = NS_OK, other;
  other = pivot_paths(b, p, 1, STARTS);
  if (other.status == NS_OK || other.status == NS_EINTR) return other;
  other = box_sweeps(b, p);
  return other.status == NS_OK || other.status == NS_EINTR ? other : out;
}

/* The rest of the chain after the guess failed. */
static Outcome from_scratch(NsBox *b, const NsBoxProblem *p) {
  Outcome out = {NS_ENOCONV, 0, "", false};
  if (p->n == 2) {
    out = box_all_sets(b, p);
    if (out.status == NS_OK || out.status == NS_ENOSOL) return out;
  }
  if (p->n > 2) {
    out = principal_short(b, p);
    if (out.status == NS_OK || out.status == NS_EINTR) return out;
    out = game_paths(b, p);
    if (out.status == NS_OK || out.status == NS_EINTR) return out;
  }
  return p->n <= ENUMERATE_LAST ? small_from_scratch(b, p) : large_from_scratch(b, p);
}

/* Without a guess, or after it failed; p in balanced units. */
static Outcome box_run_default(NsBox *b, const NsBoxProblem *p) {
  if (b->cold && p->n > 2) {
    Outcome early = predicted(b, p);
    if (early.status == NS_OK) return early;
  }
  return from_scratch(b, p);
}

/* Few variables, all of them bounded, without a guess: principal pivots by sign and number alone; p in the units given. */
static Outcome run_small(NsBox *b, const NsBoxProblem *p) {
  Outcome out = {NS_ENOCONV, 0, "principal", false};
  b->best = INFINITY;
  if (p->n > SMALL_COLD) return out;
  for (int i = 0; i < p->n; i++)
    if (p->lower[i] == -INFINITY && p->upper[i] == INFINITY) return out;
  out.status = ns_principal_solve(&b->principal, p, NS_PRINCIPAL_IN_ORDER, p->n, b->active->block, b->y, b->trial,
                                  &out.iterations);
  if (out.status != NS_OK) return out;
  ns_box_product(p, b->y, b->v, b->active->size);
  box_consider(b, p, b->y, b->v, ns_box_backward(p, b->y, b->v, b->active->size));
  if (!good_enough(b)) out.status = NS_ENOCONV;
  return out;
}

/* The guess and what follows from it; p in the units given. */
static Outcome run_warm(NsBox *b, const NsBoxProblem *p) {
  b->fair = NULL;
  b->best = INFINITY;
  Outcome out = start_from_guess(b, p);
  if (out.status != NS_OK && guess_solves(b, p)) out = (Outcome){NS_OK, 0, "guess", true};
  return out;
}

static Outcome box_run(NsBox *b, const NsBoxProblem *p) {
  Outcome out;
  b->fair = NULL;
  b->best = INFINITY;
  switch (b->options.method) {
    case NS_BOX_PIVOT: out = pivot_paths(b, p, 0, STARTS); break;
    case NS_BOX_PGS: out = box_sweeps(b, p); break;
    case NS_BOX_ENUMERATE: out = box_all_sets(b, p); break;
    case NS_BOX_NEWTON_MIN:
    case NS_BOX_NEWTON_FB: out = iterative(b, p, b->options.method, 1e-12); break;
    case NS_BOX_INTERIOR:
      out = iterative(b, p, NS_BOX_INTERIOR, 1e-11);
      if (out.status != NS_OK && out.status != NS_EINTR) out = iterative(b, p, NS_BOX_INTERIOR, 1e-14);
      break;
    case NS_BOX_PRINCIPAL: out = principal_long(b, p); break;
    default: out = box_run_default(b, p); break;
  }
  if (good_enough(b) && out.status != NS_EINTR) out.status = NS_OK;
  else if (out.status == NS_OK && !(b->best <= b->options.tolerance)) out.status = NS_ENOCONV;
  return out;
}

static bool stands_alone(const NsBoxProblem *p, int i) {
  for (int j = 0; j < p->n; j++)
    if (p->M[i + (size_t)j * (size_t)p->ldm] != 0 || p->M[j + (size_t)i * (size_t)p->ldm] != 0) return false;
  return true;
}

/*
** Settles the variables that stand alone or are fixed in z and lists the others. Returns their number; *solvable: each has
** a solution.
*/
static int settle_alone(NsBox *b, const NsBoxProblem *p, const double *guess, double *z, bool *solvable) {
  int kept = 0;
  *solvable = true;
  for (int i = 0; i < p->n; i++) {
    double l = p->lower[i], u = p->upper[i];
    bool alone = p->M[i + (size_t)i * (size_t)p->ldm] == 0 && l != u && stands_alone(p, i);
    const NsOneVariable one = {0, p->q[i], l, u};
    if (l != u && !alone) b->keep[kept++] = i;
    else if (ns_one_variable(&one, guessed(guess, i), &z[i])) z[i] = ns_box_clamp(guessed(guess, i), l, u), *solvable = false;
  }
  return kept;
}

/* Puts the variables of b->keep in the order of their components; all are one for a method that the caller chose. */
static void take_apart(NsBox *b, const NsBoxProblem *p, int kept) {
  if (b->options.method == NS_BOX_DEFAULT) ns_components_dense(&b->parts, p->M, p->ldm, kept, b->keep);
  else ns_components_single(&b->parts, kept);
  for (int k = 0; k < kept && b->parts.count > 1; k++) b->parts.of[k] = b->keep[b->parts.member[k]];
  if (b->parts.count > 1) memcpy(b->keep, b->parts.of, (size_t)kept * sizeof *b->keep);
}

/* One component of a problem: its variables, and what the settled ones do to it. */
typedef struct BoxPiece {
  const int *index;
  int n;
  bool whole;   /* all variables of the problem */
  bool touched; /* a settled variable changes its q */
} BoxPiece;

/* q of the component with what the settled variables do, into b->q. */
static void load_piece(NsBox *b, const NsBoxProblem *p, BoxPiece *piece, const double *z, const signed char *settled) {
  for (int r = 0; r < piece->n; r++) b->q[r] = p->q[piece->index[r]];
  for (int j = 0; j < p->n; j++) {
    if (!settled[j] || z[j] == 0) continue;
    const double *column = p->M + (size_t)j * (size_t)p->ldm;
    for (int r = 0; r < piece->n; r++) {
      double term = column[piece->index[r]] * z[j];
      b->q[r] += term;
      piece->touched |= term != 0;
    }
  }
}

/* The component as a problem of its own in the units given; b->near is its guess. */
static const NsBoxProblem *cut_piece(NsBox *b, const NsBoxProblem *p, const BoxPiece *piece, const double *guess) {
  int n = piece->n;
  for (int k = 0; k < n; k++) b->near[k] = guessed(guess, piece->index[k]);
  if (piece->whole) return p;
  for (int c = 0; c < n; c++) {
    int i = piece->index[c];
    const double *from = p->M + (size_t)i * (size_t)p->ldm;
    for (int r = 0; r < n; r++) b->M[r + (size_t)c * (size_t)n] = from[piece->index[r]];
    b->lower[c] = p->lower[i];
    b->upper[c] = p->upper[i];
  }
  b->reduced = (NsBoxProblem){n, b->M, n > 0 ? n : 1, b->q, b->lower, b->upper, 0};
  return &b->reduced;
}

/* The units of a component; false when a number would leave the range of exact ones. */
static bool take_box_units(NsBox *b, const NsBoxProblem *p) {
  const NsBalance *balance = &b->balance;
  bool exact = ns_balance_dense(&b->balance, p->M, p->ldm, p->n, b->scaled.exponent);
  for (int k = 0; k < 2 * p->n; k++) b->most[k] = NS_NO_EXPONENT;
  for (int k = 0; k < p->n; k++) {
    int *of_w = &b->most[balance->row_tree[k]], *of_z = &b->most[balance->col_tree[k]];
    *of_w = ns_larger_exponent(*of_w, p->q[k], balance->row[k]);
    *of_z = ns_larger_exponent(*of_z, p->lower[k], -balance->col[k]);
    *of_z = ns_larger_exponent(*of_z, p->upper[k], -balance->col[k]);
  }
  for (int k = 0; k < 2 * p->n; k++) b->bare[k] = b->most[k] == NS_NO_EXPONENT;
  for (int k = 0; k < p->n; k++) { /* where all data are 0 the guess says how large numbers are */
    int tree = balance->col_tree[k];
    if (b->bare[tree]) b->most[tree] = ns_larger_exponent(b->most[tree], b->near[k], -balance->col[k]);
  }
  for (int k = 0; k < p->n; k++) {
    int of_w = b->most[balance->row_tree[k]], of_z = b->most[balance->col_tree[k]];
    b->unit_w[k] = balance->row[k] - (of_w > NS_NO_EXPONENT ? of_w : 0);
    b->unit_z[k] = -balance->col[k] - (of_z > NS_NO_EXPONENT ? of_z : 0);
    exact = exact && ns_power_fits(p->q[k], b->unit_w[k]) && ns_power_fits(p->lower[k], b->unit_z[k]) &&
            ns_power_fits(p->upper[k], b->unit_z[k]);
  }
  return exact;
}

/* The component p (which may be in the arrays of b) in balanced units, and b->near with it. */
static const NsBoxProblem *balanced(NsBox *b, const NsBoxProblem *p) {
  int n = p->n;
  if (!take_box_units(b, p))
    for (int k = 0; k < n; k++) b->balance.row[k] = b->balance.col[k] = b->unit_w[k] = b->unit_z[k] = 0;
  ns_balance_apply(&b->balance, p->M, p->ldm, n, b->w, b->M);
  for (int c = 0; c < n; c++) {
    b->q[c] = ns_times_power(p->q[c], b->unit_w[c]);
    b->lower[c] = ns_times_power(p->lower[c], b->unit_z[c]);
    b->upper[c] = ns_times_power(p->upper[c], b->unit_z[c]);
    b->near[c] = ns_times_power(b->near[c], b->unit_z[c]);
  }
  b->reduced = (NsBoxProblem){n, b->M, n > 0 ? n : 1, b->q, b->lower, b->upper, NS_FADED};
  return &b->reduced;
}

/* A number of the component in the units of the problem: a bound exactly, else within the bounds. */
static double unscaled(const NsBox *b, const NsBoxProblem *p, const BoxPiece *piece, int k, double x) {
  int i = piece->index[k];
  if (x == b->lower[k]) return p->lower[i];
  if (x == b->upper[k]) return p->upper[i];
  return ns_box_clamp(ns_times_power(x, -b->unit_z[k]), p->lower[i], p->upper[i]);
}

/* The ray and the list of all solutions of the component in the units of the problem. */
static void keep_studies(NsBox *b, const NsBoxProblem *p, const BoxPiece *piece, bool new_ray) {
  int n = piece->n;
  if (new_ray) memset(b->whole_ray, 0, (size_t)p->n * sizeof *b->whole_ray);
  for (int k = 0; k < n && new_ray; k++) b->whole_ray[piece->index[k]] = ns_times_power(b->ray[k], -b->unit_z[k]);
  if (b->solutions == 0 || b->listed) return;
  b->listed = piece->index;
  b->kept = n;
  for (int s = 0; s < b->solutions; s++)
    for (int k = 0; k < n; k++) {
      double *x = &b->enumeration[(size_t)(s + 2) * (size_t)n + (size_t)k];
      *x = unscaled(b, p, piece, k, *x);
    }
}

static NsSolverInfo outcome_info(Outcome out, double backward) {
  return (NsSolverInfo){out.status, out.iterations, 0, 0, backward, out.warm, out.solver};
}

/* Writes the answer of a component, or for want of one the guess; balanced: it is in those units. */
static void give_answer(const NsBox *b, const NsBoxProblem *p, const BoxPiece *piece, const double *guess, bool balanced,
                        double *z, double *w) {
  for (int k = 0; k < piece->n; k++) {
    int i = piece->index[k];
    if (b->best == INFINITY) {
      z[i] = ns_box_clamp(guessed(guess, i), p->lower[i], p->upper[i]);
      w[i] = NAN;
      continue;
    }
    z[i] = balanced ? unscaled(b, p, piece, k, b->best_z[k]) : b->best_z[k];
    w[i] = balanced ? ns_times_power(b->best_w[k], -b->unit_w[k]) : b->best_w[k];
  }
}

/* Solves one component: z and, when there is an answer, w of its members. */
static NsSolverInfo solve_box_piece(NsBox *b, const NsBoxProblem *p, const BoxPiece *piece, const double *guess, double *z,
                                    double *w) {
  bool chain = b->options.method == NS_BOX_DEFAULT, had_ray = b->has_ray;
  const NsBoxProblem *own = cut_piece(b, p, piece, guess);
  if (b->cold && chain && box_zero_solves(own)) {
    for (int k = 0; k < piece->n; k++) z[piece->index[k]] = 0, w[piece->index[k]] = own->q[k];
    return outcome_info((Outcome){NS_OK, 0, "closed form", true}, 0);
  }
  if (chain) {
    Outcome early = b->cold && own->n > 2 ? run_small(b, own) : run_warm(b, own);
    if (early.status == NS_OK) return give_answer(b, p, piece, guess, false, z, w), outcome_info(early, b->best);
  }
  b->has_ray = false;
  Outcome out = box_run(b, balanced(b, own));
  keep_studies(b, p, piece, b->has_ray);
  b->has_ray = b->has_ray || had_ray;
  give_answer(b, p, piece, guess, true, z, w);
  return outcome_info(out, b->best);
}

static NsStatus box_report(NsSolverInfo *info, NsSolverInfo what) {
  *info = what;
  return what.status;
}

/* Without a violation the natural residual is 0, and need not be computed. */
static double box_natural_residual(const NsBoxProblem *p, const double *z, const double *w, double backward, double *relative) {
  *relative = 0;
  return backward == 0 ? 0 : ns_box_residual(p, z, w, relative);
}

/*
** Measures z (all variables, verified where they were found) and completes w: of variables that stand[i], it is known,
** of the others M z + q.
*/
static NsStatus box_conclude(NsBox *b, const NsBoxProblem *p, NsSolverInfo total, const signed char *known, const double *z,
                             double *w, NsSolverInfo *info) {
  bool all = known != NULL && total.status == NS_OK;
  for (int i = 0; i < p->n && all; i++) all = known[i];
  if (!all) {
    ns_box_product(p, z, b->v, b->active->size);
    for (int i = 0; i < p->n; i++)
      if (!known || !known[i] || total.status != NS_OK) w[i] = b->v[i];
  }
  total.residual = box_natural_residual(p, z, w, total.backward, &total.relative);
  if (total.status == NS_OK && total.residual == INFINITY) total.status = NS_ENAN;
  if (total.status == NS_OK) ns_box_clean(p, z, w);
  else total.backward = ns_box_backward(p, z, w, b->active->size);
  return box_report(info, total);
}

static void poison(const NsBoxProblem *p, double *z, double *w) {
  for (int i = 0; i < p->n; i++) z[i] = w[i] = NAN;
}

static NsSolverInfo nothing_of(NsStatus status, double measure) {
  return (NsSolverInfo){status, 0, measure, measure, measure, false, "none"};
}

/* One variable that is tied to no other but settled ones. */
static NsSolverInfo solve_single(NsBox *b, const NsBoxProblem *p, int i, const double *guess, double *z, double *w) {
  const NsOneVariable one = {p->M[i + (size_t)i * (size_t)p->ldm], b->q[0], p->lower[i], p->upper[i]};
  NsSolverInfo info = ns_one_variable_solve(&one, guessed(guess, i), b->options.tolerance, &z[i], &w[i]);
  if (info.status) z[i] = ns_box_clamp(guessed(guess, i), one.lower, one.upper);
  return info;
}

/* Component after component, where there are several or settled variables. b->known tells whose w is written. */
static NsSolverTotal solve_pieces(NsBox *b, const NsBoxProblem *p, int kept, const double *guess, double *z, double *w) {
  NsSolverTotal total = ns_solver_total("closed form");
  memset(b->settled, 1, (size_t)p->n);
  for (int k = 0; k < kept; k++) b->settled[b->keep[k]] = 0;
  memset(b->known, 0, (size_t)p->n);
  for (int c = 0; c < b->parts.count; c++) {
    BoxPiece piece = {b->keep + b->parts.start[c], ns_components_size(&b->parts, c), false, false};
    load_piece(b, p, &piece, z, b->settled);
    bool single = piece.n == 1 && b->options.method == NS_BOX_DEFAULT;
    NsSolverInfo own = single ? solve_single(b, p, piece.index[0], guess, z, w) : solve_box_piece(b, p, &piece, guess, z, w);
    ns_solver_add(&total, &own);
    for (int k = 0; k < piece.n; k++) b->known[piece.index[k]] = !piece.touched;
  }
  return total;
}

NsStatus ns_box_solve(NsBox *b, const NsBoxProblem *p, const double *guess, double *z, double *w, NsSolverInfo *info) {
  NsStatus status = p->n < 0 || p->n > b->nmax ? NS_ESIZE : NS_OK;
  b->solutions = 0;
  b->has_ray = false;
  b->listed = NULL;
  b->order = p->n;
  if (!status) status = check_data(p);
  if (status) {
    if (status != NS_ESIZE) poison(p, z, w);
    return box_report(info, nothing_of(status, INFINITY));
  }
  if (p->n == 1 && b->options.method == NS_BOX_DEFAULT) {
    const NsOneVariable one = {p->M[0], p->q[0], p->lower[0], p->upper[0]};
    return box_report(info, ns_one_variable_solve(&one, guessed(guess, 0), b->options.tolerance, z, w));
  }
  b->cold = !guess;
  if (b->cold && b->options.method == NS_BOX_DEFAULT && box_zero_solves(p)) {
    for (int i = 0; i < p->n; i++) z[i] = 0, w[i] = p->q[i];
    return box_report(info, (NsSolverInfo){NS_OK, 0, 0, 0, 0, true, "closed form"});
  }
  bool solvable;
  int kept = settle_alone(b, p, guess, z, &solvable);
  take_apart(b, p, kept);
  if (kept == p->n && b->parts.count == 1) {
    const BoxPiece whole = {b->keep, kept, true, false};
    memset(b->known, 1, (size_t)kept);
    return box_conclude(b, p, solve_box_piece(b, p, &whole, guess, z, w), b->known, z, w, info);
  }
  NsSolverTotal total = solve_pieces(b, p, kept, guess, z, w);
  NsSolverInfo none = nothing_of(NS_ENOSOL, INFINITY);
  if (!solvable) ns_solver_add(&total, &none);
  return box_conclude(b, p, total.info, b->known, z, w, info);
}
