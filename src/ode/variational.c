/*
** variational.c
** Linear equations along a trajectory: coefficients, tolerances, the loop over the steps.
*/
#include "ode/variational.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "linalg/dense.h"
#include "ode/variational_method.h"

/*
** Part of the accepted error of an entry that comes from the sizes of its state and of its column. Without it an entry that is
** still tiny (it is reached through a long chain of other states) would demand tiny steps; 1/100, so that a state's size may be
** wrong by this factor without loss of accuracy.
*/
static const double NEIGHBOURS = 0.01;

NsStatus ns_variational_new(NsVariational **out, const NsVariationalProblem *problem) {
  *out = NULL;
  double entries = (double)problem->n * (problem->adjoint ? 1 : problem->p) + (problem->adjoint ? problem->p : 0);
  if (entries > INT_MAX / 16) return NS_ETOOLARGE;
  NsVariational *v = ns_alloc(1, sizeof *v);
  if (!v) return NS_ENOMEM;
  v->problem = *problem;
  bool adaptive = problem->adaptive && !problem->mass;
  v->method = adaptive ? &ns_variational_adaptive : problem->implicit ? &ns_variational_implicit : &ns_variational_explicit;
  v->cols = problem->adjoint ? 1 : problem->p;
  v->entries = problem->n * v->cols;
  v->size = (int)entries;
  v->floor = ns_arena_doubles(&v->arena, v->size);
  v->spare = ns_arena_matrix(&v->arena, problem->n, problem->n);
  NsStatus status = v->method->create(v);
  if (status == NS_OK && v->arena.failed) status = NS_ENOMEM;
  if (status != NS_OK) ns_variational_free(v);
  else *out = v;
  return status;
}

void ns_variational_free(NsVariational *v) {
  if (!v) return;
  v->method->destroy(v);
  ns_arena_release(&v->arena);
  ns_free(v);
}

const NsVariationalState *ns_variational_state(const NsVariational *v) {
  return &v->state;
}

void ns_variational_start(NsVariational *v, double t, const double *y, double h_first) {
  v->state.t = v->state.t_old = t;
  if (h_first > 0) v->state.h_next = h_first;
  v->method->start(v, y);
}

void ns_variational_jump(NsVariational *v, const double *y) {
  v->method->jump(v, y);
}

/* ---- coefficients ---- */

void ns_variational_take_point(NsVariational *v, NsVariationalPoint *point) {
  const NsVariationalProblem *p = &v->problem;
  ptrdiff_t n = p->n;
  *point = (NsVariationalPoint){.A = ns_arena_matrix(&v->arena, n, n)};
  if (p->mass) point->E = ns_arena_matrix(&v->arena, n, n);
  if (p->adjoint ? p->cost != NULL : p->forced) point->B = ns_arena_matrix(&v->arena, n, v->cols);
  if (p->adjoint && p->forced) point->Q = ns_arena_matrix(&v->arena, n, p->p);
  if (p->adjoint && p->cost) point->D = ns_arena_doubles(&v->arena, p->p);
}

static void variational_clear(double *a, int count) {
  if (a) memset(a, 0, (size_t)count * sizeof *a);
}

static void variational_negate(double *a, int count) {
  for (int i = 0; a && i < count; i++) a[i] = -a[i];
}

static NsStatus variational_check(const double *a, int rows, int cols, const char *name, double t, NsError *err) {
  for (int k = 0; a && k < rows * cols; k++)
    if (!isfinite(a[k]))
      return ns_fail(err, NS_ENAN, "%s[%d][%d] of the variational equations is not finite (t=%.10g)", name, k % rows + 1,
                     k / rows + 1, t);
  return NS_OK;
}

/* The adjoint's coefficients from J (in spare), P (in Q) and the cost's derivatives. */
static NsStatus variational_transpose(NsVariational *v, NsVariationalPoint *point, double t, NsError *err) {
  int n = v->problem.n, p = v->problem.p;
  for (int j = 0; j < n; j++)
    for (int i = 0; i < n; i++) point->A[i + (ptrdiff_t)j * n] = -v->spare[j + (ptrdiff_t)i * n];
  variational_negate(point->Q, n * p);
  if (!v->problem.cost) return NS_OK;
  variational_clear(point->B, n), variational_clear(point->D, p);
  NsStatus status = v->problem.cost(v->problem.context, t, point->B, point->D, err);
  if (status == NS_OK) status = variational_check(point->B, n, 1, "c", t, err);
  if (status == NS_OK) status = variational_check(point->D, p, 1, "d", t, err);
  variational_negate(point->B, n), variational_negate(point->D, p);
  return status;
}

NsStatus ns_variational_terms_at(NsVariational *v, NsVariationalPoint *point, double t, NsError *err) {
  const NsVariationalProblem *p = &v->problem;
  int n = p->n;
  if (point->known && point->t == t) return NS_OK;
  double *J = p->adjoint ? v->spare : point->A, *P = p->adjoint ? point->Q : point->B;
  point->known = false;
  variational_clear(J, n * n), variational_clear(P, n * p->p), variational_clear(point->E, n * n);
  v->state.evaluations++;
  NsStatus status = p->terms(p->context, t, J, P, point->E, err);
  if (status == NS_OK) status = variational_check(J, n, n, "J", t, err);
  if (status == NS_OK) status = variational_check(P, n, p->p, "P", t, err);
  if (status == NS_OK) status = variational_check(point->E, n, n, "E", t, err);
  if (status == NS_OK && p->adjoint) status = variational_transpose(v, point, t, err);
  point->known = status == NS_OK;
  point->t = t;
  return status;
}

void ns_variational_rates(const NsVariational *v, const NsVariationalPoint *point, const double *y, double *ydot) {
  int n = v->problem.n, p = v->problem.p;
  if (point->B) memcpy(ydot, point->B, (size_t)v->entries * sizeof *ydot);
  else variational_clear(ydot, v->entries);
  ns_dense_gemm(n, v->cols, n, 1, point->A, n > 0 ? n : 1, y, n > 0 ? n : 1, 1, ydot, n > 0 ? n : 1);
  if (!v->problem.adjoint) return;
  double *g = ydot + n;
  if (point->D) memcpy(g, point->D, (size_t)p * sizeof *g);
  else variational_clear(g, p);
  if (point->Q) ns_dense_gemv(true, n, p, 1, point->Q, n > 0 ? n : 1, y, 1, 1, g, 1);
}

/* ---- tolerances ---- */

/* The size of column j of Y: max_k |Y[k][j]| / u_k, u_k the unit of row k: size[k], or for the adjoint its reciprocal. */
static double column_size(const NsVariational *v, const double *column) {
  double most = 0;
  for (int k = 0; k < v->problem.n; k++) {
    double u = v->problem.size[k];
    if (u > 0) most = fmax(most, fabs(column[k]) * (v->problem.adjoint ? u : 1 / u));
  }
  return most;
}

bool ns_variational_needs_rates(const NsVariational *v, const double *y) {
  for (int j = 0; j < v->cols; j++)
    if (column_size(v, y + (ptrdiff_t)j * v->problem.n) == 0) return true;
  return v->problem.adjoint && v->problem.p > 0;
}

void ns_variational_set_floor(NsVariational *v, double h, const double *y, const double *ydot,
                              const NsVariationalPoint *point) {
  const NsVariationalProblem *p = &v->problem;
  int n = p->n;
  for (int j = 0; j < v->cols; j++) {
    ptrdiff_t first = (ptrdiff_t)j * n;
    double s = column_size(v, y + first);
    if (ydot) s = fmax(s, h * column_size(v, ydot + first));
    if (p->least) s = fmax(s, p->least[j]);
    for (int i = 0; i < n; i++) {
      double u = p->size[i];
      v->floor[first + i] = u > 0 ? NEIGHBOURS * p->rtol * s * (p->adjoint ? 1 / u : u) : 0;
    }
  }
  for (int j = 0; p->adjoint && j < p->p; j++) {
    double sum = ydot ? h * p->rtol * fabs(ydot[n + j]) : 0;
    for (int i = 0; point && point->Q && i < n; i++) sum += h * fabs(point->Q[i + (ptrdiff_t)j * n]) * v->floor[i];
    v->floor[n + j] = sum;
  }
}

/* ---- the loop ---- */

NsStatus ns_variational_step(NsVariational *v, double t_end, NsError *err) {
  NsVariationalState *s = &v->state;
  if (s->t == t_end) return NS_OK;
  if (v->size == 0) return s->t_old = s->t, s->t = t_end, NS_OK;
  if (s->h_next == 0) s->h_next = fabs(t_end - s->t) / 64;
  NsStatus status = v->method->step(v, t_end, err);
  if (status == NS_OK) s->steps++;
  return status;
}

NsStatus ns_variational_go_to(NsVariational *v, double t_end, NsError *err) {
  enum { STEPS = 100000 }; /* largest number of steps; more than this do not happen unless the terms are noise */
  NsStatus status = NS_OK;
  for (long steps = 0; status == NS_OK && v->state.t != t_end; steps++) {
    if (ns_interrupted()) return ns_fail(err, NS_EINTR, "interrupted (t=%.10g)", v->state.t);
    if (steps == STEPS)
      return ns_fail(err, NS_EMAXITER, "%d steps were not enough for the variational equations (t=%.10g)", STEPS, v->state.t);
    status = ns_variational_step(v, t_end, err);
  }
  return status;
}

NsStatus ns_variational_at(NsVariational *v, double t, double *y, NsError *err) {
  if (t != v->state.t) return v->method->at(v, t, y, err);
  memcpy(y, v->state.y, (size_t)v->size * sizeof *y);
  return NS_OK;
}
