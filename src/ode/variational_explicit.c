/*
** variational_explicit.c
** Linear equations along a trajectory by DOP853.
*/
#include "ode/variational_method.h"

#include <math.h>
#include <string.h>

#include "ode/dop853.h"

typedef struct Explicit {
  NsRk *rk;
  NsVariationalPoint point; /* of the last evaluation */
  double *rates;            /* size of y */
  int *ends;                /* ends of the blocks of y that are judged each for itself */
  bool dense_known;
  int aged; /* steps since the point's coefficients were of the start of a step */
} Explicit;

/* The adjoint's rates by the products that the caller gives; the coefficients of the cost belong to the point. */
static NsStatus explicit_vjp(NsVariational *v, double t, const double *y, double *ydot, NsError *err) {
  const NsVariationalProblem *p = &v->problem;
  int n = p->n;
  NsVariationalPoint *point = &((Explicit *)v->work)->point;
  v->state.evaluations++;
  NsStatus status = p->vjp(p->context, t, y, ydot, ydot + n, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < v->size; i++) ydot[i] = -ydot[i];
  if (!p->cost) return NS_OK;
  memset(point->B, 0, (size_t)n * sizeof *point->B);
  memset(point->D, 0, (size_t)p->p * sizeof *point->D);
  point->known = false;
  status = p->cost(p->context, t, point->B, point->D, err);
  for (int i = 0; i < n; i++) ydot[i] -= point->B[i];
  for (int j = 0; j < p->p; j++) ydot[n + j] -= point->D[j];
  return status;
}

static NsStatus explicit_rate(void *context, double t, const double *y, double *ydot, NsError *err) {
  NsVariational *v = context;
  Explicit *e = v->work;
  if (v->problem.adjoint && v->problem.vjp) return explicit_vjp(v, t, y, ydot, err);
  NsStatus status = ns_variational_terms_at(v, &e->point, t, err);
  if (status == NS_OK) ns_variational_rates(v, &e->point, y, ydot);
  return status;
}

static NsStatus variational_explicit_create(NsVariational *v) {
  Explicit *e = v->work = ns_arena_take(&v->arena, 1, sizeof *e);
  if (!e) return NS_ENOMEM;
  ns_variational_take_point(v, &e->point);
  e->rates = ns_arena_doubles(&v->arena, v->size);
  int blocks = v->cols + (v->problem.adjoint && v->problem.p > 0);
  e->ends = ns_arena_ints(&v->arena, blocks);
  if (v->arena.failed) return NS_ENOMEM;
  for (int j = 0; j < v->cols; j++) e->ends[j] = (j + 1) * v->problem.n;
  e->ends[blocks - 1] = v->size;
  NsOdeProblem problem = {.n = v->size, .rate = explicit_rate, .context = v, .rtol = v->problem.rtol, .atol = v->floor};
  NsStatus status = ns_dop853_new(&e->rk, &problem);
  if (status == NS_OK) ns_dop853_divide(e->rk, blocks, e->ends), ns_dop853_couple(e->rk, v->entries);
  return status;
}

static void variational_explicit_destroy(NsVariational *v) {
  Explicit *e = v->work;
  if (e && e->rk) ns_rk_destroy(&e->rk->base);
}

static void explicit_start(NsVariational *v, const double *y) {
  Explicit *e = v->work;
  ns_rk_start(&e->rk->base, v->state.t, y, v->state.t, v->state.h_next);
  e->point.known = e->dense_known = false;
  e->aged = 0;
  v->state.y = e->rk->base.state.y;
}

static void explicit_jump(NsVariational *v, const double *y) {
  Explicit *e = v->work;
  ns_rk_replace(&e->rk->base, y);
  e->point.known = e->dense_known = false;
  e->aged = 0;
}

/*
** *ydot = the rates at the start of the step. With `vjp` the coefficients are got in every fourth step: they set tolerances of g alone,
** which do not change fast.
*/
static NsStatus explicit_first_rates(NsVariational *v, const double **ydot, NsError *err) {
  enum { AGE = 4 };
  Explicit *e = v->work;
  bool known = v->problem.adjoint && v->problem.vjp && e->rk->end_known && e->aged++ % AGE != 0;
  if (known) return *ydot = e->rk->K[e->rk->method->end], NS_OK;
  NsStatus status = ns_variational_terms_at(v, &e->point, v->state.t, err);
  if (status == NS_OK) ns_variational_rates(v, &e->point, v->state.y, e->rates);
  return *ydot = e->rates, status;
}

static NsStatus explicit_step(NsVariational *v, double t_end, NsError *err) {
  Explicit *e = v->work;
  NsStepper *rk = &e->rk->base;
  const double *y = rk->state.y, *rates = NULL;
  NsStatus status = ns_variational_needs_rates(v, y) ? explicit_first_rates(v, &rates, err) : NS_OK;
  if (status != NS_OK) return status;
  rk->state.h_next = v->state.h_next;
  rk->t_end = t_end;
  ns_variational_set_floor(v, fmin(v->state.h_next, fabs(t_end - v->state.t)), y, rates, v->problem.adjoint ? &e->point : NULL);
  e->dense_known = false;
  long rejected = rk->state.rejected;
  status = ns_rk_step(rk, err);
  v->state.rejected += rk->state.rejected - rejected;
  v->state.t_old = rk->state.t_old;
  v->state.t = rk->state.t;
  v->state.h_next = rk->state.h_next;
  v->state.y = rk->state.y;
  return status;
}

static NsStatus explicit_at(NsVariational *v, double t, double *y, NsError *err) {
  Explicit *e = v->work;
  NsStatus status = e->dense_known ? NS_OK : ns_rk_interpolate(&e->rk->base, err);
  e->dense_known = status == NS_OK;
  if (status == NS_OK) ns_rk_at(e->rk, t, y);
  return status;
}

static double explicit_stiffness(NsVariational *v) {
  return ns_dop853_stiffness(((Explicit *)v->work)->rk);
}

const NsVariationalMethod ns_variational_explicit = {
    variational_explicit_create, variational_explicit_destroy, explicit_start, explicit_jump, explicit_step, explicit_at,
    explicit_stiffness};
