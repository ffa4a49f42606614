/*
** dae_sensitivity.c
** Linear equations along the last step of a solver of F(t, y, y') = 0.
*/
#include "ode/dae_sensitivity.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/memory.h"
#include "ode/variational.h"

struct NsDaeSensitivity {
  NsDaeSensitivityProblem problem;
  NsArena arena;
  NsVariational *variational;
  void *solver;
  double *y, *yd, *size, *pace; /* n */
  double end;                   /* of the solver's last step; a method may go past the time that it is asked for */
  bool started;
};

static NsStatus dae_jacobian_by(const NsDaeSensitivity *s, double t, int by, double *J, NsError *err) {
  const double *args[NS_FUNCTION_ARGS] = {s->y, s->yd, NULL};
  const NsFunction *f = &s->problem.dae.residual;
  NsStatus status = ns_callback_status(f->jacobian(f->context, t, args, by, J));
  return status == NS_OK ? NS_OK : ns_fail(err, status, "the residual's Jacobian failed (t=%.10g)", t);
}

/* E = dF/dy', J = -dF/dy, P = -dF/dparameters at t. */
static NsStatus dae_variational_terms(void *context, double t, double *J, double *P, double *E, NsError *err) {
  NsDaeSensitivity *s = context;
  int n = s->problem.dae.n;
  NsStatus status = s->problem.method->at(s->solver, t, s->y, s->yd, err);
  bool known = false;
  if (status == NS_OK && s->problem.jacobians)
    status = s->problem.jacobians(s->problem.context, t, s->y, s->yd, E, J, P, &known, err);
  if (status == NS_OK && !known) status = dae_jacobian_by(s, t, 1, E, err);
  if (status == NS_OK && !known) status = dae_jacobian_by(s, t, 0, J, err);
  if (status == NS_OK && !known && P) status = s->problem.by_parameters(s->problem.context, t, s->y, s->yd, P, err);
  for (int k = 0; k < n * n; k++) J[k] = -J[k];
  for (int k = 0; P && k < n * s->problem.p; k++) P[k] = -P[k];
  for (int i = 0; i < n; i++) s->pace[i] = fmax(s->pace[i], fabs(s->yd[i]));
  return status;
}

/* The sizes of the unknowns, with those at the solver's present point. */
static void grow_dae_sizes(NsDaeSensitivity *s) {
  const NsDaeState *at = s->problem.method->state(s->solver);
  for (int i = 0; i < s->problem.dae.n; i++)
    s->size[i] = fmax(s->size[i], fabs(at->y[i]) + s->problem.dae.atol[i] / s->problem.dae.rtol);
}

NsStatus ns_dae_sensitivity_new(NsDaeSensitivity **out, const NsDaeSensitivityProblem *problem) {
  *out = NULL;
  NsDaeSensitivity *s = ns_alloc(1, sizeof *s);
  if (!s) return NS_ENOMEM;
  int n = problem->dae.n;
  s->problem = *problem;
  s->problem.parameters = NULL;
  s->solver = (void *)problem->solver;
  NS_ARENA_VECTORS(&s->arena, n, &s->y, &s->yd, &s->size, &s->pace);
  double *least = ns_arena_doubles(&s->arena, problem->p);
  for (int j = 0; least && problem->parameters && j < problem->p; j++)
    least[j] = problem->parameters[j] != 0 ? DBL_EPSILON / fabs(problem->parameters[j]) : 0;
  NsVariationalProblem linear = {.n = n, .p = problem->p, .terms = dae_variational_terms, .context = s};
  linear.forced = problem->by_parameters != NULL;
  linear.mass = linear.implicit = true;
  linear.rtol = fmax(problem->rtol > 0 ? problem->rtol : problem->dae.rtol, 1e-13);
  linear.size = s->size;
  linear.least = least;
  linear.index = problem->dae.index;
  linear.time = &problem->method->state(s->solver)->time;
  NsStatus status = s->arena.failed ? NS_ENOMEM : ns_variational_new(&s->variational, &linear);
  if (status == NS_OK) *out = s;
  else ns_dae_sensitivity_free(s);
  return status;
}

void ns_dae_sensitivity_free(NsDaeSensitivity *s) {
  if (!s) return;
  ns_variational_free(s->variational);
  ns_arena_release(&s->arena);
  ns_free(s);
}

void ns_dae_sensitivity_start(NsDaeSensitivity *s, const double *S) {
  double t = s->problem.method->state(s->solver)->t;
  memset(s->pace, 0, (size_t)s->problem.dae.n * sizeof *s->pace);
  grow_dae_sizes(s);
  ns_variational_start(s->variational, t, S, 0);
  s->end = t;
  s->started = false;
}

/* A failure of the linear equations is none of the solver. */
static NsStatus explain_dae_sensitivity(NsStatus status, NsError *err) {
  if (status == NS_OK || status == NS_ECALLBACK || status == NS_EINTR || status == NS_ENOMEM) return status;
  NsError why = *err;
  return ns_fail(err, NS_ENOSOL, "sensitivities: %.200s", why.text);
}

NsStatus ns_dae_sensitivity_reach(NsDaeSensitivity *s, double t, NsError *err) {
  const NsDaeState *at = s->problem.method->state(s->solver);
  const NsVariationalState *now = ns_variational_state(s->variational);
  if (now->t == t) return NS_OK;
  grow_dae_sizes(s);
  if (!s->started) ns_variational_start(s->variational, now->t, now->y, fabs(at->t - at->t_old));
  s->started = true;
  return explain_dae_sensitivity(ns_variational_go_to(s->variational, t, err), err);
}

const double *ns_dae_sensitivity_matrix(const NsDaeSensitivity *s) {
  return ns_variational_state(s->variational)->y;
}

const double *ns_dae_sensitivity_pace(const NsDaeSensitivity *s) {
  return s->pace;
}

const double *ns_dae_sensitivity_sizes(const NsDaeSensitivity *s) {
  return s->size;
}

NsStatus ns_dae_sensitivity_go_to(NsDaeSensitivity *s, double t_stop, NsError *err) {
  const NsDaeMethod *method = s->problem.method;
  const NsDaeState *at = method->state(s->solver);
  long first = at->steps, most = s->problem.dae.max_steps;
  double sign = t_stop < at->t ? -1 : 1;
  NsStatus status = NS_OK;
  while (status == NS_OK && sign * (s->end - t_stop) < 0) {
    if (most > 0 && at->steps - first >= most) return ns_fail(err, NS_EMAXITER, "more than %ld steps (t=%.10g)", most, at->t);
    status = ns_dae_sensitivity_reach(s, s->end, err); /* the dense output of the last step is gone after the next one */
    if (status == NS_OK) status = method->step(s->solver, t_stop, err);
    if (status == NS_OK) s->end = at->t;
    if (status == NS_OK) status = ns_dae_sensitivity_reach(s, sign * (s->end - t_stop) < 0 ? s->end : t_stop, err);
  }
  if (status == NS_OK) status = ns_dae_sensitivity_reach(s, t_stop, err);
  return status == NS_OK && at->t != t_stop ? method->cut(s->solver, t_stop, err) : status;
}
