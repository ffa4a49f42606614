/*
** ivp_adjoint.c
** The record of a run, and the adjoint pass: mu' = -J' mu - c between events, their saltation transposed.
*/
#include "ode/ivp_adjoint.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/dense.h"
#include "ode/control.h"

enum { GAUSS = 5 };

/* Gauss' formula on [0, 1]: exact for polynomials of degree 9. */
static const double gauss_nodes[GAUSS] = {0.04691007703066800, 0.23076534494715845, 0.5, 0.76923465505284155,
                                          0.95308992296933200};
static const double gauss_weights[GAUSS] = {0.11846344252809454, 0.23931433524968324, 0.28444444444444444, 0.23931433524968324,
                                            0.11846344252809454};

/* An event that has acted, and the rates of the cost on both sides. */
typedef struct AdjointJump {
  NsSaltation saltation;
  double cost_before, cost_after;
} AdjointJump;

typedef struct NsIvpBackward {
  NsIvpAdjoint result;
  NsArena arena;
  NsOdeProblem problem;
  NsIvpOptions run;
  NsIvpAdjointOptions options;
  NsIvpDerivatives derivatives;
  NsVariational *variational;
  const NsIvp *ivp;
  AdjointJump **jump;
  long jumps, room;
  double *size, *pace, *y, *mu, *space; /* n, n, n, n + p, n */
  long knot;                            /* the number of knots seen */
  long step;                            /* of the run: where the adjoint pass looked last */
  NsSaltationCorner corner;
  double later; /* the end of the stretch on the adjoint pass */
  bool whole;   /* no step crosses an end of a step of the run */
} NsIvpBackward;

/* ---- the record ---- */

static NsStatus adjoint_cost(NsIvpBackward *b, double t, const double *y, double *value, NsError *err) {
  *value = 0;
  return b->options.cost ? b->options.cost->value(b->options.cost->context, t, y, value, err) : NS_OK;
}

/* Adds the integral over the steps that the record has gained. */
static NsStatus adjoint_integrate(NsIvpBackward *b, const NsIvp *ivp, NsError *err) {
  NsStatus status = NS_OK;
  for (long k = b->knot > 0 ? b->knot : 1; k < ivp->knots.count && b->options.cost; k++) {
    double from = ivp->knots.t[k - 1], h = ivp->knots.t[k] - from, sum = 0, value = 0;
    for (int i = 0; i < GAUSS && status == NS_OK && h != 0; i++) {
      double t = from + gauss_nodes[i] * h;
      ns_ivp_at(ivp, t, NS_IVP_AFTER, b->y);
      status = adjoint_cost(b, t, b->y, &value, err);
      sum += gauss_weights[i] * value;
    }
    b->result.value += h * sum;
  }
  return status;
}

static NsStatus adjoint_reach(NsIvpCompanion *companion, const NsIvp *ivp, double t, NsError *err) {
  NsIvpBackward *b = (NsIvpBackward *)companion;
  (void)t;
  b->ivp = ivp;
  b->corner.count = 0;
  b->corner.wanders = false;
  ns_ivp_sizes(ivp, b->knot, &b->problem, b->size, b->pace);
  NsStatus status = adjoint_integrate(b, ivp, err);
  b->knot = ivp->knots.count;
  return status;
}

/* Appends a jump to the record; NULL: no memory. */
static AdjointJump *adjoint_new_jump(NsIvpBackward *b) {
  if (b->jumps == b->room) {
    long room = b->room + b->room / 2 + 8;
    AdjointJump **more = ns_resize(b->jump, (size_t)room, sizeof(AdjointJump *));
    if (!more) return NULL;
    b->jump = more;
    b->room = room;
  }
  AdjointJump *jump = ns_arena_take(&b->arena, 1, sizeof *jump);
  if (jump) ns_saltation_take(&jump->saltation, &b->arena, b->problem.n, b->derivatives.p);
  if (b->arena.failed) return NULL;
  return b->jump[b->jumps++] = jump;
}

static NsStatus adjoint_meet(NsIvpCompanion *companion, int event, double t, const double *before, NsError *err) {
  NsIvpBackward *b = (NsIvpBackward *)companion;
  AdjointJump *jump = adjoint_new_jump(b);
  if (!jump) return NS_ENOMEM;
  NsStatus status = ns_saltation_meet(&jump->saltation, &b->corner, &b->problem, &b->derivatives, event, t, before, b->pace,
                                      err);
  return status == NS_OK ? adjoint_cost(b, t, before, &jump->cost_before, err) : status;
}

static NsStatus adjoint_jump(NsIvpCompanion *companion, int event, double t, const double *before, const double *after,
                             NsError *err) {
  NsIvpBackward *b = (NsIvpBackward *)companion;
  AdjointJump *jump = b->jump[b->jumps - 1];
  (void)event, (void)before;
  NsStatus status = ns_saltation_jump(&jump->saltation, &b->problem, &b->run.events, &b->derivatives, after, b->size,
                                      b->options.one_sided, err);
  return status == NS_OK ? adjoint_cost(b, t, after, &jump->cost_after, err) : status;
}

static NsStatus adjoint_leave(NsIvpCompanion *companion, const NsIvp *ivp, double t, NsError *err) {
  (void)companion, (void)ivp, (void)t, (void)err;
  return NS_OK;
}

/* ---- the adjoint pass ---- */

void ns_ivp_adjoint_state(const NsIvpAdjoint *adjoint, double t, double *y) {
  NsIvpBackward *b = adjoint->backward;
  ns_ivp_at_near(b->ivp, t, t == b->later ? NS_IVP_BEFORE : NS_IVP_AFTER, &b->step, y);
}

static NsStatus adjoint_terms(void *context, double t, double *J, double *P, double *E, NsError *err) {
  NsIvpBackward *b = context;
  (void)E;
  ns_ivp_adjoint_state(&b->result, t, b->y);
  return b->derivatives.terms(b->derivatives.context, t, b->y, J, P, err);
}

static NsStatus adjoint_slopes(void *context, double t, double *c, double *d, NsError *err) {
  NsIvpBackward *b = context;
  ns_ivp_adjoint_state(&b->result, t, b->y);
  return b->options.cost->slopes(b->options.cost->context, t, b->y, c, d, err);
}

static NsStatus adjoint_vjp(void *context, double t, const double *mu, double *Jmu, double *Pmu, NsError *err) {
  NsIvpBackward *b = context;
  return b->options.vjp(b->derivatives.context, t, mu, Jmu, Pmu, err);
}

/*
** mu and g before an event from those after it; `more` is what the event's time changes in the cost besides: with w = k mu + c- - c+ +
** more, mu- = R_y' mu+ - g_y w / rate and g += R_p' mu+ - g_p w / rate.
*/
static void adjoint_cross(NsIvpBackward *b, const AdjointJump *jump, double more) {
  const NsSaltation *s = &jump->saltation;
  int n = b->problem.n, p = b->derivatives.p;
  if (s->still) return;
  double w = (ns_dense_dot(n, s->k, 1, b->mu, 1) + jump->cost_before - jump->cost_after + more) / s->crossing.rate;
  memcpy(b->space, b->mu, (size_t)n * sizeof *b->space);
  ns_dense_gemv(true, n, p, 1, s->Rp, n, b->space, 1, 1, b->mu + n, 1);
  ns_dense_gemv(true, n, n, 1, s->Ry, n, b->space, 1, 0, b->mu, 1);
  ns_crossing_transposed(n, p, s->gy, s->gp, w, b->mu, b->mu + n);
}

/* f must be the function that it was in the run. */
static NsStatus adjoint_check(NsIvpBackward *b, const AdjointJump *jump, NsError *err) {
  const NsSaltation *s = &jump->saltation;
  size_t size = (size_t)b->problem.n * sizeof(double);
  long count = 0;
  NsStatus status = ns_ode_rate(&b->problem, s->t, s->before, b->space, &count, err);
  if (status != NS_OK || memcmp(b->space, s->rate_before, size) == 0) return status;
  char text[NS_EVENT_TEXT];
  ns_event_text(&b->run.events, s->event, text);
  return ns_fail(
      err, NS_ENOSOL,
      "gradient: after the run f has other values than before %s (t=%.10g): f may depend on t, y and args alone, not on "
      "a variable that apply changes",
      text, s->t);
}

/*
** The end of the run at an event: T moves. *moved = d(cost)/dT at a fixed flow, terminal_y f + c, at the end of the run. When the event
** did not act, mu and g get their share here.
*/
static NsStatus adjoint_end(NsIvpBackward *b, double T, double *moved, NsError *err) {
  const NsIvp *ivp = b->ivp;
  int n = b->problem.n, p = b->derivatives.p;
  double c = 0, gt = 0;
  long count = 0;
  *moved = 0;
  if (ivp->end != NS_IVP_EVENT) return NS_OK;
  ns_ivp_at(ivp, T, NS_IVP_AFTER, b->y);
  NsStatus status = ns_ode_rate(&b->problem, T, b->y, b->space, &count, err);
  if (status == NS_OK) status = adjoint_cost(b, T, b->y, &c, err);
  *moved = ns_dense_dot(n, b->mu, 1, b->space, 1) + c;
  if (status != NS_OK || (b->jumps > 0 && b->jump[b->jumps - 1]->saltation.t == T)) return status;
  double *gy = ns_arena_doubles(&b->arena, n), *gp = ns_arena_doubles(&b->arena, p);
  if (b->arena.failed) return NS_ENOMEM;
  status = b->derivatives.event(b->derivatives.context, ivp->ended_event, T, b->y, &gt, gy, gp, err);
  if (status != NS_OK) return status;
  NsCrossing crossing = ns_crossing(n, gt, gy, b->space, b->pace);
  if (ns_crossing_grazes(crossing, NS_GRAZING))
    return ns_fail(err, NS_ENOSOL, "gradient: the solution only touches %s at its end (t=%.10g): there is no derivative",
                   ivp->ended_by, T);
  for (int i = 0; i < n; i++) b->mu[i] -= gy[i] * *moved / crossing.rate;
  for (int j = 0; j < p; j++) b->mu[n + j] -= gp[j] * *moved / crossing.rate;
  *moved = 0;
  return NS_OK;
}

/* Back through a smooth stretch to t. */
static NsStatus adjoint_stretch(NsIvpBackward *b, double from, double t, bool *started, NsError *err) {
  const NsVariationalState *at = ns_variational_state(b->variational);
  if (from == t) return NS_OK;
  b->later = from;
  double h = *started ? 0 : fabs(b->ivp->knots.t[b->ivp->knots.count - 1] - b->ivp->knots.t[b->ivp->knots.count - 2]);
  ns_variational_start(b->variational, from, b->mu, h);
  *started = true;
  NsStatus status = NS_OK;
  while (status == NS_OK && at->t != t) {
    double end = b->whole ? ns_ivp_step_end(b->ivp, at->t, t, &b->step) : t;
    status = ns_variational_go_to(b->variational, end, err);
  }
  memcpy(b->mu, at->y, (size_t)(b->problem.n + b->derivatives.p) * sizeof *b->mu);
  return status;
}

static NsStatus adjoint_back(NsIvpBackward *b, NsError *err) {
  double t = b->ivp->knots.t[b->ivp->knots.count - 1], moved;
  bool started = false;
  NsStatus status = adjoint_end(b, t, &moved, err);
  for (long k = b->jumps - 1; k >= 0 && status == NS_OK; k--) {
    const AdjointJump *jump = b->jump[k];
    status = adjoint_check(b, jump, err);
    if (status == NS_OK) status = adjoint_stretch(b, t, jump->saltation.t, &started, err);
    t = jump->saltation.t;
    if (status == NS_OK) adjoint_cross(b, jump, moved), moved = 0;
  }
  return status == NS_OK ? adjoint_stretch(b, t, b->run.t0, &started, err) : status;
}

NsStatus ns_ivp_adjoint_solve(NsIvpAdjoint *adjoint, const NsIvp *ivp, double *mu, double *gradient, NsError *err) {
  NsIvpBackward *b = adjoint->backward;
  int n = b->problem.n, p = b->derivatives.p;
  b->ivp = ivp;
  memcpy(b->mu, mu, (size_t)n * sizeof *mu);
  memset(b->mu + n, 0, (size_t)p * sizeof *mu);
  NsStatus status = adjoint_back(b, err);
  memcpy(mu, b->mu, (size_t)n * sizeof *mu);
  for (int j = 0; j < p; j++) gradient[j] += b->mu[n + j];
  adjoint->steps = ns_variational_state(b->variational)->steps;
  adjoint->evaluations = ns_variational_state(b->variational)->evaluations;
  if (status == NS_OK || status == NS_ECALLBACK || status == NS_EINTR || status == NS_ENOMEM || status == NS_ENOSOL)
    return status;
  NsError why = *err;
  return ns_fail(err, NS_ENOSOL, "gradient: %.200s", why.text);
}

/* ---- making ---- */

NsStatus ns_ivp_adjoint_new(NsIvpAdjoint **out, const NsStepperClass *method, const NsOdeProblem *problem,
                            const NsIvpOptions *run, const NsIvpAdjointOptions *options) {
  *out = NULL;
  NsIvpBackward *b = ns_alloc(1, sizeof *b);
  if (!b) return NS_ENOMEM;
  int n = problem->n, p = options->derivatives->p;
  b->problem = *problem;
  b->run = *run;
  b->options = *options;
  b->corner = (NsSaltationCorner){.run = &b->run, .one_sided = options->one_sided};
  b->derivatives = *options->derivatives;
  b->result.companion = (NsIvpCompanion){adjoint_reach, adjoint_meet, adjoint_jump, adjoint_leave};
  b->result.backward = b;
  NS_ARENA_VECTORS(&b->arena, n, &b->size, &b->pace, &b->y, &b->space);
  b->mu = ns_arena_doubles(&b->arena, (ptrdiff_t)n + p);
  NsVariationalProblem linear = {.n = n, .p = p, .terms = adjoint_terms, .context = b, .adjoint = true};
  linear.cost = options->cost ? adjoint_slopes : NULL;
  linear.vjp = options->vjp ? adjoint_vjp : NULL;
  linear.forced = options->forced;
  linear.adaptive = method->implicit;
  b->whole = method->rough;
  linear.rtol = fmax(options->rtol > 0 ? options->rtol : problem->rtol, 1e-13);
  linear.size = b->size;
  NsStatus status = b->arena.failed ? NS_ENOMEM : ns_variational_new(&b->variational, &linear);
  if (status != NS_OK) ns_ivp_adjoint_free(&b->result);
  else *out = &b->result;
  return status;
}

void ns_ivp_adjoint_free(NsIvpAdjoint *adjoint) {
  if (!adjoint) return;
  NsIvpBackward *b = adjoint->backward;
  ns_variational_free(b->variational);
  ns_free(b->jump);
  ns_arena_release(&b->arena);
  ns_free(b);
}
