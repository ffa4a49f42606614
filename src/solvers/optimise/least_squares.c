/*
** least_squares.c
** MINPACK's lmder, with failures and interrupts passed on.
*/
#include "solvers/optimise/least_squares.h"

#include <cminpack-1/cminpack.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/interrupt.h"

/* largest first step, in units of |D x| or of |f| (MINPACK's usual value) */
static const double FIRST_STEP = 100;

/* The unknowns are scaled, u_j = x_j 2^column_j: the columns of J at the start then have lengths in [1/2, 1). */
typedef struct LeastSquares {
  const NsSmooth *problem;
  NsError *err;
  NsStatus status;
  int *column;
  double *x;               /* the point in the units of the user */
  double *first, *first_J; /* f and J at the start; first_J in scaled units */
  bool know_f, know_J;     /* they have not been used yet */
} LeastSquares;

static void scale_columns(const LeastSquares *s, double *J) {
  for (int j = 0; j < s->problem->n; j++)
    for (int i = 0; i < s->problem->m; i++) {
      double *entry = J + i + (ptrdiff_t)j * s->problem->m;
      *entry = ldexp(*entry, -s->column[j]);
    }
}

/* MINPACK's callback: what = 1 asks for f, what = 2 for J. A negative result ends lmder. */
static int least_squares_evaluate(void *context, int m, int n, const double *u, double *f, double *J, int ld, int what) {
  LeastSquares *s = context;
  const NsSmooth *p = s->problem;
  (void)ld; /* m */
  bool known = what == 1 ? s->know_f : s->know_J;
  if (what == 1) s->know_f = false;
  else s->know_J = false;
  if (known && what == 1) return memcpy(f, s->first, (size_t)m * sizeof *f), 0;
  if (known) return memcpy(J, s->first_J, (size_t)m * (size_t)n * sizeof *J), 0;
  if (ns_interrupted()) return s->status = ns_fail(s->err, NS_EINTR, "interrupted"), -1;
  for (int j = 0; j < n; j++) s->x[j] = ldexp(u[j], -s->column[j]);
  s->status = p->evaluate(p->context, s->x, what == 1 ? f : NULL, what == 1 ? NULL : J);
  if (s->status == NS_OK && what != 1) scale_columns(s, J);
  return s->status == NS_OK ? 0 : -1;
}

static NsLeastSquaresEnd end_of(int code) {
  if (code == 4) return NS_BY_GRADIENT;
  if (code == 1 || code == 3) return NS_BY_COST;
  if (code == 2) return NS_BY_STEP;
  return code == 5 ? NS_BY_CALLS : NS_BY_ROUNDING;
}

/* Evaluates f and J at the start, chooses the scales; *first becomes the factor that bounds the first step. */
static NsStatus begin_least_squares(LeastSquares *s, const double *x, double step, double *first) {
  int n = s->problem->n, m = s->problem->m;
  bool at_zero = true;
  double norm = 0;
  NsStatus status = s->problem->evaluate(s->problem->context, x, s->first, s->first_J);
  if (status != NS_OK) return status;
  for (int i = 0; i < m; i++) {
    if (!isfinite(s->first[i])) return ns_fail(s->err, NS_ENAN, "f[%d] is not finite at the start", i + 1);
    norm = hypot(norm, s->first[i]);
  }
  for (int j = 0; j < n; j++) {
    double length = 0;
    for (int i = 0; i < m; i++) length = hypot(length, s->first_J[i + (ptrdiff_t)j * m]);
    at_zero = at_zero && x[j] == 0;
    if (length > 0 && isfinite(length)) frexp(length, &s->column[j]);
  }
  scale_columns(s, s->first_J);
  s->know_f = s->know_J = true;
  *first = at_zero && norm > 0 ? step * norm : step;
  return NS_OK;
}

/* lmder from u; *code is its return code. */
static NsStatus run_lmder(LeastSquares *s, const NsLeastSquaresOptions *o, double first, double *u, NsArena *arena,
                          NsLeastSquaresInfo *info, int *code) {
  int n = s->problem->n, m = s->problem->m, calls = 0, mode = o->scale ? 2 : 1;
  double *f = ns_arena_doubles(arena, m), *last = ns_arena_doubles(arena, m), *J = ns_arena_matrix(arena, m, n);
  double *work = ns_arena_matrix(arena, 5, n);
  int *pivots = ns_arena_ints(arena, n);
  if (arena->failed) return NS_ENOMEM;
  double *diagonal = work + 4 * n;
  for (int j = 0; j < n && o->scale; j++) diagonal[j] = 1 / ldexp(o->scale[j], s->column[j]);
  *code = lmder(least_squares_evaluate, s, m, n, u, f, J, m, o->ftol, o->xtol, o->gtol, o->calls, diagonal, mode, first, 0,
                &calls, &info->jacobians, pivots, work, work + n, work + 2 * n, work + 3 * n, last);
  info->evaluations = calls;
  info->ended = end_of(*code);
  return *code == 0 ? ns_fail(s->err, NS_EARG, "bad options") : s->status;
}

NsStatus ns_least_squares(const NsSmooth *problem, const NsLeastSquaresOptions *options, double *x, NsLeastSquaresInfo *info,
                          NsError *err) {
  LeastSquares s = {.problem = problem, .err = err, .status = NS_OK};
  int n = problem->n, code = 0;
  double first = FIRST_STEP;
  NsArena arena = {0};
  s.column = ns_arena_ints(&arena, n);
  s.x = ns_arena_doubles(&arena, n);
  s.first = ns_arena_doubles(&arena, problem->m);
  s.first_J = ns_arena_matrix(&arena, problem->m, n);
  double *u = ns_arena_doubles(&arena, n);
  *info = (NsLeastSquaresInfo){NS_BY_CALLS, 1, 1};
  NsStatus status = arena.failed ? NS_ENOMEM
                                 : begin_least_squares(&s, x, options->first > 0 ? options->first : FIRST_STEP, &first);
  if (status == NS_OK) {
    for (int j = 0; j < n; j++) u[j] = ldexp(x[j], s.column[j]);
    status = run_lmder(&s, options, first, u, &arena, info, &code);
    for (int j = 0; j < n && status == NS_OK; j++) x[j] = ldexp(u[j], -s.column[j]);
  }
  ns_arena_release(&arena);
  if (status == NS_ENOMEM) ns_fail(err, status, "not enough memory");
  return status;
}
