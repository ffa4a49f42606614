/*
** root.c
** MINPACK's hybrj on scaled equations, final Newton steps, and the test of the answer.
*/
#include "ode/root.h"

#include <cminpack-1/cminpack.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/interrupt.h"
#include "linalg/dense.h"
#include "linalg/equilibrate.h"
#include "linalg/lu.h"
#include "linalg/qr.h"

/* Largest numbers of hybrj runs, of Newton steps after a run, of runs with new scales (chosen by experience on the specs). */
enum { RUNS = 12, NEWTON = 60, SCALED = 3 };

/*
** CLOSE: largest |f_i| / (terms of f_i) of a root where the Jacobian is singular; there no Newton correction measures the
** distance of x. NOTHING: a value or correction below this part of the scales at the start (equilibrate.h) counts as 0 when
** Newton steps come no nearer; eps^2, so that a double root at 0 is found to 1e-15 of the start. SLOWEST: Newton steps stop
** when the ratio of two successive corrections is above this. SIMPLE: a Newton step to a simple root leaves less than this part
** of the correction, by the same Jacobian; one to a root of order m leaves (1 - 1/m)^m, 1/4 or more, as does one above a minimum
** of |f|. FINE: a correction of up to 16 sqrt(eps) of its unknown needs no such test, since a double root is known no better. NOISE:
** see root_is_noise; the few changes that are seen may be smaller than the rounding of f.
*/
static const double CLOSE = 1e-10, NOTHING = 0x1p-100, SLOWEST = 0.95, SIMPLE = 0.125, FINE = 0x1p-22, NOISE = 8;

/* All equations and unknowns are scaled: u_j = x_j 2^-column_j, g_i = f_i 2^row_i. */
typedef struct Root {
  const NsOdeProblem *equations;
  NsError *err;
  NsStatus status; /* of the equations */
  bool not_finite; /* the run was stopped because f, or the x of a step, is not finite */
  NsEquilibrium scales;
  NsLu *lu;
  double *x;                     /* the point in the user's units */
  double *J, *at;                /* the last Jacobian, in the user's units, and its point */
  bool known;                    /* J and at are valid */
  double fine;                   /* FINE, or the tolerance of x */
  double *u, *g, *scaled;        /* the iterate, its values, its Jacobian */
  double *next, *next_g;         /* a candidate */
  double *move, *last_move;      /* Newton corrections at u and at the iterate before */
  int *first_row, *first_column; /* the scales of the start */
  int *balance;                  /* see root_balance_rows */
} Root;

static void take_root(Root *r, NsArena *arena, int n) {
  NS_ARENA_VECTORS(arena, n, &r->x, &r->at, &r->u, &r->g, &r->next, &r->next_g, &r->move, &r->last_move);
  r->J = ns_arena_matrix(arena, n, n);
  r->scaled = ns_arena_matrix(arena, n, n);
  NS_ARENA_INTS(arena, n, &r->first_row, &r->first_column, &r->balance);
  ns_equilibrium_take(&r->scales, arena, n);
}

/* ---- scaled equations ---- */

/* r->x = the unscaled u. False when it is not finite. */
static bool root_unscale(Root *r, const double *u) {
  for (int j = 0; j < r->equations->n; j++) r->x[j] = ldexp(u[j], r->scales.column[j]);
  return ns_is_finite(r->equations->n, 1, r->x, r->equations->n);
}

/* g = the scaled values at u. Returns 0; -1 when the run must end (see not_finite and status). */
static int scaled_values(Root *r, const double *u, double *g) {
  int n = r->equations->n;
  r->not_finite = !root_unscale(r, u);
  if (r->not_finite) return -1;
  r->status = r->equations->rate(r->equations->context, 0, r->x, g, r->err);
  if (r->status != NS_OK) return -1;
  r->not_finite = !ns_is_finite(n, 1, g, n);
  for (int i = 0; i < n; i++) g[i] = ldexp(g[i], r->scales.row[i]);
  return r->not_finite ? -1 : 0;
}

/* Evaluates J at r->x, unless the last Jacobian belongs to this point. */
static NsStatus known_jacobian(Root *r) {
  size_t n = (size_t)r->equations->n;
  if (r->known && memcmp(r->x, r->at, n * sizeof *r->x) == 0) return NS_OK;
  r->known = false;
  memset(r->J, 0, n * n * sizeof *r->J);
  NsStatus status = r->equations->jacobian(r->equations->context, 0, r->x, r->J, r->err);
  memcpy(r->at, r->x, n * sizeof *r->x);
  r->known = status == NS_OK;
  return status;
}

/* J = the scaled Jacobian at u. Returns as scaled_values does. */
static int scaled_jacobian(Root *r, const double *u, double *J) {
  int n = r->equations->n;
  r->not_finite = !root_unscale(r, u);
  if (r->not_finite) return -1;
  r->status = known_jacobian(r);
  if (r->status != NS_OK) return -1;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) {
      size_t k = (size_t)i + (size_t)j * (size_t)n;
      J[k] = ldexp(r->J[k], r->scales.row[i] + r->scales.column[j]);
    }
  return 0;
}

/* MINPACK's callback. A value or a u that is not finite ends the run (underflow can cause such a u near 0). */
static int root_evaluate(void *context, int n, const double *u, double *g, double *J, int ld, int what) {
  Root *r = context;
  (void)n, (void)ld; /* equations->n */
  if (ns_interrupted()) return r->status = ns_fail(r->err, NS_EINTR, "interrupted"), -1;
  if (r->not_finite) return -1;
  return what == 1 ? scaled_values(r, u, g) : scaled_jacobian(r, u, J);
}

/* Computes new scales at x with values f, and converts the iterate to them. */
static NsStatus rescale(Root *r, const double *x, const double *f) {
  int n = r->equations->n;
  memcpy(r->x, x, (size_t)n * sizeof *x);
  NsStatus status = known_jacobian(r);
  if (status != NS_OK) return status;
  ns_equilibrate(&r->scales, r->J, NULL, x, f);
  for (int i = 0; i < n; i++) {
    r->u[i] = ldexp(x[i], -r->scales.column[i]);
    r->g[i] = ldexp(f[i], r->scales.row[i]);
  }
  return NS_OK;
}

/* ---- the test of an answer ---- */

static double root_terms_of(const Root *r, int i) {
  int n = r->equations->n;
  double sum = 0, size = 0;
  for (int j = 0; j < n; j++) {
    double term = r->scaled[(size_t)i + (size_t)j * (size_t)n] * r->u[j];
    sum += term;
    size += fabs(term);
  }
  return size + fabs(r->g[i] - sum);
}

/* The scale at the start of equation i (unknown j), relative to the present scale. */
static double first_value(const Root *r, int i) {
  return ldexp(1, r->scales.row[i] - r->first_row[i]);
}

static double first_size(const Root *r, int j) {
  return ldexp(1, r->first_column[j] - r->scales.column[j]);
}

/* The equation i with the largest |g_i| / (terms of g_i), which *part gets; 0 when all are 0. */
static int worst_equation(const Root *r, bool lenient, double *part) {
  int worst = 0;
  *part = 0;
  for (int i = 0; i < r->equations->n; i++) {
    double value = fabs(r->g[i]);
    if (value == 0 || (lenient && value <= NOTHING * first_value(r, i))) continue;
    double own = value / root_terms_of(r, i);
    if (own > *part) *part = own, worst = i;
  }
  return worst;
}

/* Multiplies the rows of the scaled Jacobian, and `g`, by the powers of two that make the largest entry 1 to 2, or back. */
static void root_balance_rows(Root *r, double *g, int sign) {
  int n = r->equations->n;
  for (int i = 0; i < n; i++) {
    double most = 0;
    for (int j = 0; j < n; j++) most = fmax(most, fabs(r->scaled[(size_t)i + (size_t)j * (size_t)n]));
    if (sign > 0) r->balance[i] = most > 0 ? -ilogb(most) : 0;
    for (int j = 0; j < n; j++) {
      double *entry = &r->scaled[(size_t)i + (size_t)j * (size_t)n];
      *entry = ldexp(*entry, sign * r->balance[i]);
    }
    g[i] = ldexp(g[i], sign * r->balance[i]);
  }
}

/* The shortest correction, where the Jacobian is singular, in move. Each row counts by itself, however small it has become. */
static bool shortest_correction(Root *r) {
  int n = r->equations->n, rank;
  root_balance_rows(r, r->g, 1);
  bool has = ns_lstsq(n, n, 1, r->scaled, n, r->g, n, -1, r->move, &rank, NULL) == NS_OK;
  root_balance_rows(r, r->g, -1);
  return has && ns_is_finite(n, 1, r->move, n);
}

/* Whether x has not run away: each correction is at most `limit` of its unknown, or of its size at the start. */
static bool root_stands(const Root *r, double limit) {
  for (int j = 0; j < r->equations->n; j++)
    if (!(fabs(r->move[j]) <= limit * fmax(fabs(r->u[j]), first_size(r, j)))) return false;
  return true;
}

/* Whether each correction is at most `limit` of its unknown. */
static bool near_enough(const Root *r, double limit, bool lenient) {
  for (int j = 0; j < r->equations->n; j++) {
    double move = fabs(r->move[j]);
    bool small = move <= limit * fabs(r->u[j]) || (lenient && move <= NOTHING * first_size(r, j));
    if (!small) return false;
  }
  return true;
}

typedef struct Verdict {
  bool root, lenient_root; /* x is a root; it is one when values next to nothing count as 0 */
  bool certain;            /* it is a root of any order */
  bool correction;         /* there is a Newton correction, in move */
  bool away;               /* values are next to nothing, and x is no root: it runs away */
} Verdict;

/* Tests u, with values g, by the Newton corrections and by each equation's own terms. -1 when the equations fail. */
static int root_judge(Root *r, double limit, Verdict *v) {
  int n = r->equations->n;
  double part, lenient_part;
  *v = (Verdict){.root = false};
  if (scaled_jacobian(r, r->u, r->scaled) < 0) return r->status == NS_OK ? 0 : -1;
  v->correction = ns_lu_factor(r->lu, r->scaled, n) == NS_OK;
  memcpy(r->move, r->g, (size_t)n * sizeof *r->move);
  if (v->correction) ns_lu_solve(r->lu, 1, r->move, n);
  v->correction = v->correction && ns_is_finite(n, 1, r->move, n);
  worst_equation(r, false, &part);
  worst_equation(r, true, &lenient_part);
  v->certain = part <= fmin(limit, CLOSE) || (v->correction && near_enough(r, fmin(limit, r->fine), false));
  v->root = v->certain || (v->correction && near_enough(r, limit, false));
  bool nothing = lenient_part <= fmin(limit, CLOSE);
  bool stands = nothing && (v->correction || shortest_correction(r)) && root_stands(r, limit);
  v->lenient_root = stands || (v->correction && near_enough(r, fmin(limit, r->fine), true));
  v->away = nothing && !v->root && !v->lenient_root;
  return 0;
}

/* Whether each correction is shorter than the last one, or small relative to its unknown. */
static bool contracts(const Root *r, double limit) {
  for (int j = 0; j < r->equations->n; j++) {
    double move = fabs(r->move[j]);
    if (move > limit * fabs(r->u[j]) && move > SLOWEST * fabs(r->last_move[j])) return false;
  }
  return true;
}

/* Whether x, whose corrections are small, is near a root: next_g are the values after the Newton step, of the same Jacobian. */
static bool is_confirmed(Root *r) {
  int n = r->equations->n;
  memcpy(r->last_move, r->next_g, (size_t)n * sizeof *r->next_g);
  ns_lu_solve(r->lu, 1, r->last_move, n);
  for (int j = 0; j < n; j++) {
    double move = fabs(r->move[j]);
    if (move > r->fine * fabs(r->u[j]) && !(fabs(r->last_move[j]) <= SIMPLE * move)) return false;
  }
  return true;
}

/* Whether f at u is no more than NOISE times what f changes by when u does by rounding: a root of high order, as near as f tells. */
static bool root_is_noise(Root *r, NsRootInfo *info) {
  int n = r->equations->n;
  double *noise = r->last_move;
  memset(noise, 0, (size_t)n * sizeof *noise);
  for (int k = -2; k <= 2; k++) {
    for (int j = 0; j < n; j++) r->next[j] = r->u[j] * (1 + k * 2 * DBL_EPSILON);
    info->evaluations++;
    if (scaled_values(r, r->next, r->next_g) < 0) return r->not_finite = false;
    for (int i = 0; i < n; i++) noise[i] = fmax(noise[i], fabs(r->next_g[i] - r->g[i]));
  }
  for (int i = 0; i < n; i++)
    if (fabs(r->g[i]) > NOISE * noise[i]) return false;
  return true;
}

/* Newton steps until each unknown passes by its own size (hybrj's norm may hide a small one). -1 when the equations fail. */
static int newton_steps(Root *r, double limit, NsRootInfo *info, Verdict *v) {
  int n = r->equations->n;
  size_t bytes = (size_t)n * sizeof(double);
  for (int k = 0; k <= NEWTON; k++) {
    if (root_judge(r, limit, v) < 0) return -1;
    if (v->certain || !v->correction || k == NEWTON || (k > 0 && !contracts(r, limit))) break;
    for (int j = 0; j < n; j++) r->next[j] = r->u[j] - r->move[j];
    info->evaluations++;
    if (scaled_values(r, r->next, r->next_g) < 0) return r->not_finite ? 0 : -1;
    if (v->root && is_confirmed(r)) return 0;
    memcpy(r->u, r->next, bytes);
    memcpy(r->g, r->next_g, bytes);
    memcpy(r->last_move, r->move, bytes);
  }
  if (v->root && !v->certain) v->root = root_is_noise(r, info);
  return r->status == NS_OK ? 0 : -1;
}

/* One more Newton step from an answer; kept when the worst equation gets better, or is rounding (16 eps of its terms). */
static void last_step(Root *r, NsRootInfo *info) {
  size_t bytes = (size_t)r->equations->n * sizeof(double);
  double before, after;
  worst_equation(r, false, &before);
  if (before == 0) return;
  for (int j = 0; j < r->equations->n; j++) r->next[j] = r->u[j] - r->move[j];
  info->evaluations++;
  bool had = scaled_values(r, r->next, r->next_g) == 0;
  r->not_finite = false;
  if (!had) return;
  memcpy(r->last_move, r->g, bytes);
  memcpy(r->g, r->next_g, bytes);
  worst_equation(r, false, &after);
  if (after < fmax(before, 16 * DBL_EPSILON)) memcpy(r->u, r->next, bytes);
  else memcpy(r->g, r->last_move, bytes);
}

/* ---- runs ---- */

/*
** Runs hybrj from u, with a first step of at most `bound` |u|; *code is the last return code. Arrays come from the arena.
** After a step to where f is not finite, a new run continues from the last iterate with a shorter first step.
*/
static void hybrid(Root *r, const NsRootOptions *o, double bound, NsArena *arena, NsRootInfo *info, int *code) {
  int n = r->equations->n, lr = n * (n + 1) / 2;
  double *J = ns_arena_matrix(arena, n, n), *R = ns_arena_doubles(arena, lr), *work = ns_arena_matrix(arena, 6, n);
  if (arena->failed) return;
  for (int k = 0; k < RUNS; k++, bound = k == 1 ? 0.3 : bound / 3) {
    int calls = 0, jacobians = 0, left = o->calls - info->evaluations;
    r->not_finite = false;
    *code = hybrj(root_evaluate, r, n, r->u, r->g, J, n, o->xtol, left, work, 1, bound, 0, &calls, &jacobians, R, lr, work + n,
                  work + 2 * n, work + 3 * n, work + 4 * n, work + 5 * n);
    info->evaluations += calls;
    info->jacobians += jacobians;
    if (!r->not_finite) return;
    if (info->evaluations >= o->calls) break;
  }
  *code = 5;
}

/* Converts the iterate back to the user's x and f. */
static void take_back(Root *r, double *x, double *f) {
  int n = r->equations->n;
  for (int i = 0; i < n; i++) {
    x[i] = ldexp(r->u[i], r->scales.column[i]);
    f[i] = ldexp(r->g[i], -r->scales.row[i]);
  }
}

static void add_equation(const Root *r, const double *f) {
  double part;
  int i = worst_equation(r, true, &part);
  if (!(part > 0)) return;
  size_t used = strlen(r->err->text);
  snprintf(r->err->text + used, sizeof r->err->text - used,
           "; equation %d is not solved: its value is %.3g, its terms are of size %.3g", i + 1, f[i],
           ldexp(root_terms_of(r, i), -r->scales.row[i]));
}

/* The status and message of an answer that the test refused. */
static NsStatus root_refuse(Root *r, const NsRootOptions *o, int code, bool stuck, bool away, const double *f, double norm) {
  NsStatus status = code == 2 ? NS_EMAXITER : NS_ENOCONV;
  if (stuck) return ns_fail(r->err, status, "no way to a root: f is not finite beside the last x");
  if (away)
    return ns_fail(r->err, NS_ENOCONV, "x runs away: |f| = %.3g is next to nothing, but Newton's steps are not small", norm);
  if (code == 2) ns_fail(r->err, status, "%d evaluations were not enough: |f| = %.3g", o->calls, norm);
  else ns_fail(r->err, status, "no progress towards a root: |f| = %.3g", norm);
  add_equation(r, f);
  return status;
}

/*
** The first run's step bound in MINPACK's units (lengths of D u, D being the column norms of the Jacobian): MINPACK's default
** 100, or more when Newton's first step is longer. (A row scaled up by a small entry would otherwise cut that step.)
*/
static double first_bound(Root *r) {
  static const double usual = 100, most = 1e5;
  int n = r->equations->n;
  double of_u = 0, of_step = 0;
  if (scaled_jacobian(r, r->u, r->scaled) < 0 || ns_lu_factor(r->lu, r->scaled, n) != NS_OK) return usual;
  memcpy(r->move, r->g, (size_t)n * sizeof *r->move);
  ns_lu_solve(r->lu, 1, r->move, n);
  for (int j = 0; j < n; j++) {
    double norm = ns_dense_norm_fro(n, 1, r->scaled + (size_t)j * (size_t)n, 1, n);
    of_u += norm * norm * r->u[j] * r->u[j];
    of_step += norm * norm * r->move[j] * r->move[j];
  }
  double bound = of_u > 0 ? 2 * sqrt(of_step) / sqrt(of_u) : usual;
  return bound > usual ? fmin(bound, most) : usual;
}

/*
** Runs from x, f, each time with new scales, until the test accepts. Later runs begin with short steps, for starts where the
** first run shortened its steps too slowly.
*/
static NsStatus seek(Root *r, const NsRootOptions *o, double *x, double *f, NsArena *arena, NsRootInfo *info) {
  int n = r->equations->n, code = 0;
  bool stuck = false, away = false;
  static const double later_bounds[SCALED - 1] = {1, 1e-2};
  for (int k = 0; k < SCALED; k++) {
    NsStatus status = rescale(r, x, f);
    if (status != NS_OK) return status;
    if (k == 0) {
      memcpy(r->first_row, r->scales.row, (size_t)n * sizeof *r->first_row);
      memcpy(r->first_column, r->scales.column, (size_t)n * sizeof *r->first_column);
    }
    hybrid(r, o, k == 0 ? first_bound(r) : later_bounds[k - 1], arena, info, &code);
    if (arena->failed) return NS_ENOMEM;
    if (code < 0) return r->status;
    if (code == 0) return ns_fail(r->err, NS_EARG, "bad options");
    Verdict v;
    bool converged = code == 1 || code == 3; /* 3: xtol is below rounding */
    stuck = r->not_finite;
    r->not_finite = false;
    int failed = converged ? newton_steps(r, fmax(sqrt(o->xtol), CLOSE), info, &v) : root_judge(r, fmax(o->xtol, 1e-13), &v);
    if (failed) return r->status;
    bool good = v.root || v.lenient_root;
    if (good && v.correction) last_step(r, info);
    if (r->status != NS_OK) return r->status;
    take_back(r, x, f);
    if (good) return NS_OK;
    away = v.away;
    if (stuck || away || code == 2 || info->evaluations >= o->calls) break;
  }
  info->residual = ns_dense_norm_fro(n, 1, f, 1, n);
  return root_refuse(r, o, code, stuck, away, f, info->residual);
}

static NsStatus begin_root(Root *r, const double *x, double *f, NsArena *arena) {
  int n = r->equations->n;
  NsStatus status = r->equations->rate(r->equations->context, 0, x, f, r->err);
  for (int i = 0; i < n && status == NS_OK; i++)
    if (!isfinite(f[i])) status = ns_fail(r->err, NS_ENAN, "f[%d] is not finite at x0", i + 1);
  if (status != NS_OK) return status;
  take_root(r, arena, n);
  return arena->failed ? NS_ENOMEM : ns_lu_new(&r->lu, n);
}

NsStatus ns_root_solve(const NsOdeProblem *equations, const NsRootOptions *options, double *x, double *f, NsRootInfo *info,
                       NsError *err) {
  Root r = {.equations = equations, .err = err, .fine = fmax(FINE, options->xtol)};
  NsArena arena = {0};
  int n = equations->n;
  *info = (NsRootInfo){0};
  if (n == 0) return NS_OK;
  NsStatus status = begin_root(&r, x, f, &arena);
  if (status == NS_OK) status = seek(&r, options, x, f, &arena, info);
  info->residual = ns_dense_norm_fro(n, 1, f, 1, n);
  info->evaluations++;
  ns_lu_free(r.lu);
  ns_arena_release(&arena);
  if (status == NS_ENOMEM) ns_fail(err, status, "not enough memory");
  return status;
}
