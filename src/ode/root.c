/*
** root.c
** MINPACK's hybrj on the equations, and the test of its answer.
*/
#include "ode/root.h"

#include <cminpack-1/cminpack.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/interrupt.h"
#include "linalg/dense.h"
#include "linalg/lu.h"

enum { RUNS = 12 };

typedef struct Root {
  const NsOdeProblem *equations;
  NsError *err;
  NsStatus status; /* of the equations */
  bool not_finite; /* the run was given up since f, or the x of a step, is not finite */
} Root;

static bool is_finite(int n, const double *v) {
  for (int i = 0; i < n; i++)
    if (!isfinite(v[i])) return false;
  return true;
}

/* MINPACK's callback. A value that is not finite ends its run; so does an x, which underflow can bring about near 0. */
static int evaluate(void *context, int n, const double *x, double *f, double *J, int ld, int what) {
  Root *r = context;
  const NsOdeProblem *e = r->equations;
  (void)ld; /* n */
  if (ns_interrupted()) return r->status = ns_fail(r->err, NS_EINTR, "interrupted"), -1;
  r->not_finite = r->not_finite || !is_finite(n, x);
  if (r->not_finite) return -1;
  if (what == 2) memset(J, 0, (size_t)n * (size_t)n * sizeof *J);
  r->status = what == 1 ? e->rate(e->context, 0, x, f, r->err) : e->jacobian(e->context, 0, x, J, r->err);
  r->not_finite = what == 1 && r->status == NS_OK && !is_finite(n, f);
  return r->status == NS_OK && !r->not_finite ? 0 : -1;
}

/*
** Whether x is a root: f, known there, is 0 or `small` at most, or the Newton correction at most `limit` of x. J (n x n)
** and move (n) are for its own use.
*/
static NsStatus passes(Root *r, const double *x, const double *f, double small, double limit, double *J, double *move,
                       bool *good) {
  int n = r->equations->n;
  double norm = ns_dense_norm_fro(n, 1, f, 1, n), size = ns_dense_norm_fro(n, 1, x, 1, n);
  *good = norm <= small;
  if (*good) return NS_OK;
  NsLu *lu;
  NsStatus status = ns_lu_new(&lu, n);
  if (status == NS_OK && evaluate(r, n, x, NULL, J, n, 2) < 0) status = r->status;
  if (status == NS_OK && ns_lu_factor(lu, J, n) == NS_OK) {
    memcpy(move, f, (size_t)n * sizeof *move);
    ns_lu_solve(lu, 1, move, n);
    *good = ns_dense_norm_fro(n, 1, move, 1, n) <= limit * size;
  }
  ns_lu_free(lu);
  return status;
}

/*
** MINPACK's runs on arrays of the arena; the last answer in *code. After a step to where f is not finite a new run goes
** on from the last iterate, its first step being shorter.
*/
static void hybrid(Root *r, const NsRootOptions *o, double *x, double *f, NsArena *arena, NsRootInfo *info, int *code) {
  int n = r->equations->n, lr = n * (n + 1) / 2;
  double *J = ns_arena_matrix(arena, n, n), *R = ns_arena_doubles(arena, lr), *work = ns_arena_matrix(arena, 6, n);
  if (arena->failed) return;
  double bound = 100;
  for (int k = 0; k < RUNS; k++, bound = k == 1 ? 0.3 : bound / 3) {
    int calls = 0, jacobians = 0, left = o->calls - info->evaluations;
    r->not_finite = false;
    *code = hybrj(evaluate, r, n, x, f, J, n, o->xtol, left, work, 1, bound, 0, &calls, &jacobians, R, lr, work + n,
                  work + 2 * n, work + 3 * n, work + 4 * n, work + 5 * n);
    info->evaluations += calls;
    info->jacobians += jacobians;
    if (!r->not_finite) return;
    if (info->evaluations >= o->calls) break;
  }
  *code = 5;
}

/* What hybrj's codes say, and the test of what it calls good. */
static NsStatus conclude(Root *r, const NsRootOptions *o, int code, const double *x, const double *f, double start,
                         NsArena *arena, NsRootInfo *info) {
  int n = r->equations->n;
  double *J = ns_arena_matrix(arena, n, n), *move = ns_arena_doubles(arena, n);
  bool good = false;
  if (arena->failed) return NS_ENOMEM;
  info->residual = ns_dense_norm_fro(n, 1, f, 1, n);
  if (code == 2)
    return ns_fail(r->err, NS_EMAXITER, "%d evaluations were not enough: |f| = %.3g", o->calls, info->residual);
  bool converged = code == 1 || code == 3, stuck = r->not_finite; /* 3: xtol is below rounding */
  r->not_finite = false;
  NsStatus status = converged ? passes(r, x, f, 1e-10 * start, sqrt(o->xtol), J, move, &good)
                              : passes(r, x, f, 0, fmax(o->xtol, 1e-13), J, move, &good);
  if (status != NS_OK) return status;
  if (good) return NS_OK;
  if (stuck) return ns_fail(r->err, NS_ENOCONV, "no way to a root: f is not finite beside the last x");
  return ns_fail(r->err, NS_ENOCONV, "no progress towards a root: |f| = %.3g", info->residual);
}

NsStatus ns_root_solve(const NsOdeProblem *equations, const NsRootOptions *options, double *x, double *f,
                       NsRootInfo *info, NsError *err) {
  Root r = {equations, err, NS_OK, false};
  NsArena arena = {0};
  int code = 0, n = equations->n;
  *info = (NsRootInfo){0};
  if (n == 0) return NS_OK;
  NsStatus status = equations->rate(equations->context, 0, x, f, err);
  for (int i = 0; i < n && status == NS_OK; i++)
    if (!isfinite(f[i])) status = ns_fail(err, NS_ENAN, "f[%d] is not finite at x0", i + 1);
  double start = status == NS_OK ? ns_dense_norm_fro(n, 1, f, 1, n) : 0;
  if (status == NS_OK) hybrid(&r, options, x, f, &arena, info, &code);
  if (status == NS_OK) status = arena.failed ? NS_ENOMEM : code < 0 ? r.status : NS_OK;
  if (status == NS_OK && code == 0) status = ns_fail(err, NS_EARG, "bad options");
  if (status == NS_OK) status = conclude(&r, options, code, x, f, start, &arena, info);
  info->evaluations++;
  ns_arena_release(&arena);
  if (status == NS_ENOMEM) ns_fail(err, status, "not enough memory");
  return status;
}
