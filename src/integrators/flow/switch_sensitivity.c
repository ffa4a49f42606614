/*
** switch_sensitivity.c
** Derivatives by parameters: the linear equations of each mode, switches, jumps, the start.
*/
#include "integrators/flow/switch_sensitivity.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "integrators/flow/flow_workspace.h"
#include "integrators/flow/switch_vjp.h"
#include "ode/control.h"

/* A guard that is 0 where the run starts must not change with a parameter, up to this part of the terms of its derivative. */
static const double START_MOVES = 1e-9;

/* A flow of its own: the flow of the run is not touched. */
typedef struct SwitchLinearisation {
  NsLinearisation lin;
  NsArena arena;
  NsSwitching *sw;
  NsFlow *flow;
  NsSwitchRates rates;                     /* of `flow` */
  NsFlowMode *kept;                        /* workspace */
  NsRowMode *chosen;                       /* m: the mode before a jump */
  NsRowMode *before;                       /* m: the mode before the event */
  double *u_before;                        /* nd */
  double *x, *lambda;                      /* n, m: of a start */
  NsLinearisationGuard *guards;            /* 2 m */
  bool *at_zero;                           /* 2 m: guards that are 0 at the start */
  NsSwitchVjp *vjp;                        /* closed forms of derivatives by parameters */
  double *weights, *direction;             /* n + 4 m, n */
  double *sliding, *lower, *upper, *moved; /* nd, nd, nd, p: of a start on a surface */
  double *J;                               /* n x n, workspace */
  bool exact;                              /* ns_flow_jacobian is exact in the present mode */
} SwitchLinearisation;

static void switch_lin_free(void *lin) {
  SwitchLinearisation *w = lin;
  if (!w) return;
  ns_flow_free(w->flow);
  ns_switch_vjp_free(w->vjp);
  ns_arena_release(&w->arena);
  ns_free(w);
}

/* ---- the motion in a fixed mode ---- */

static NsStatus switch_lin_reread(void *context, double t, NsError *err) {
  NsFlow *flow = ((SwitchLinearisation *)context)->flow;
  NsEquations *e = &flow->eq;
  NsStatus status = ns_equations_update(e, t, err);
  if (status == NS_OK) status = ns_equations_split_mass(e, err);
  if (status != NS_OK) return status;
  if (e->nd != flow->view.nd) return ns_fail(err, NS_EARG, "sensitivities: the rank of M changes with a parameter at t=%g", t);
  ns_flow_read_bounds(flow);
  ns_flow_set_mode(flow, flow->mode->rows);
  return NS_OK;
}

static NsStatus switch_lin_rate(void *context, double t, const double *u, double *rate, NsError *err) {
  SwitchLinearisation *w = context;
  *w->sw->run.clock = t;
  return ns_flow_rate(w->flow, t, u, rate, err);
}

static const double *switch_lin_rate_terms(void *context) {
  NsFlow *flow = ((SwitchLinearisation *)context)->flow;
  return flow->nw > 0 ? ns_flow_rate_terms(flow) : NULL;
}

static NsStatus switch_lin_jacobian(void *context, double t, const double *u, double *J, NsError *err) {
  SwitchLinearisation *w = context;
  *w->sw->run.clock = t;
  return ns_flow_jacobian(w->flow, t, u, J, err);
}

/* The states x at (t, u). */
static NsStatus switch_lin_x(void *context, int k, double t, const double *u, double *x, NsError *err) {
  SwitchLinearisation *w = context;
  (void)k;
  NsStatus status = ns_flow_evaluate(w->flow, t, u, NULL, err);
  if (status == NS_OK) memcpy(x, w->flow->memory.x, (size_t)w->flow->eq.n * sizeof *x);
  return status;
}

static NsStatus switch_lin_states(void *context, NsSensitivity *s, double t, const double *u, const double *S, double *X,
                                  NsError *err) {
  SwitchLinearisation *w = context;
  NsStatus status = NS_OK;
  if (s->tape) return NS_OK;
  if (s->n == s->nx) {
    memcpy(X, S, (size_t)s->n * (size_t)s->p * sizeof *X);
    return NS_OK;
  }
  for (int j = 0; j < s->p && status == NS_OK; j++)
    status = ns_sensitivity_along(s, &w->lin, switch_lin_x, 0, s->nx, t, u, 0, S + (ptrdiff_t)j * s->n, j,
                                  X + (ptrdiff_t)j * s->nx, err);
  return status;
}

/* Whether y of all rows is affine in the states with constant coefficients. */
static bool outputs_affine(const NsEquations *e) {
  for (int k = 0; k < e->nedges; k++) {
    const NsRelation *relation = e->edges[k].inter->relation;
    if (!ns_relation_linear(relation) || ns_coef_varies(&relation->C)) return false;
  }
  return true;
}

/* The linearisation goes on in this mode. */
static NsStatus switch_lin_plan(SwitchLinearisation *w, const NsRowMode *mode, double t, const double *u, NsError *err) {
  NsFlow *flow = w->flow;
  ns_flow_set_mode(flow, mode);
  ns_switch_vjp_forget(w->vjp);
  NsStatus status = ns_flow_jacobian(flow, t, u, w->J, err); /* finds the number of differentiations */
  int levels = flow->nw > 0 ? flow->reduction.levels : 0;
  w->lin.constant = flow->eq.linear && flow->eq.settled;
  w->exact = w->lin.constant || levels == 0 || (levels == 1 && outputs_affine(&flow->eq));
  return status;
}

static void switch_lin_keep(void *context, void *to) {
  const NsFlowMode *mode = ((SwitchLinearisation *)context)->flow->mode;
  memcpy(to, ns_flow_mode_block(mode), mode->bytes);
}

static NsStatus switch_lin_take(void *context, const void *from, double t, const double *u, bool *same, NsError *err) {
  SwitchLinearisation *w = context;
  NsFlow *flow = w->flow;
  const NsFlowMode *kept = w->kept;
  NsStatus status = NS_OK;
  ns_flow_mode_resize(w->kept, flow->eq.na);
  ns_flow_mode_take(w->kept, from);
  if (!flow->eq.settled || w->lin.h != kept->h) status = ns_flow_begin(flow, kept->t_k, kept->h, err);
  w->lin.h = kept->h;
  *same = flow->planned && memcmp(flow->mode->rows, kept->rows, (size_t)flow->view.m * sizeof *kept->rows) == 0;
  ns_flow_mode_take(flow->mode, from);
  return *same || status != NS_OK ? status : switch_lin_plan(w, kept->rows, t, u, err);
}

/* Takes the present mode of the run; the search for multipliers starts at the multipliers of the run. */
static NsStatus switch_lin_mode(SwitchLinearisation *w, const NsRowMode *mode, double t, const double *u, NsError *err) {
  NsFlow *flow = w->flow;
  bool same = flow->planned && memcmp(flow->mode->rows, mode, (size_t)flow->view.m * sizeof *mode) == 0;
  memcpy(flow->mode->lambda, w->sw->flow->mode->lambda, (size_t)flow->view.m * sizeof(double));
  memcpy(flow->mode->a, w->sw->flow->mode->a, (size_t)flow->eq.na * sizeof(double));
  return same ? NS_OK : switch_lin_plan(w, mode, t, u, err);
}

/* ---- derivatives in closed form ---- */

/* F_u, where it is exact, and F_p. */
static NsStatus switch_lin_terms(void *context, double t, const double *u, double *J, double *P, bool *known, bool *exact,
                                 NsError *err) {
  SwitchLinearisation *w = context;
  *exact = J && w->exact;
  NsStatus status = *exact ? switch_lin_jacobian(w, t, u, J, err) : NS_OK;
  if (status != NS_OK || !P) return status;
  if (*exact) memcpy(w->direction, w->flow->sdot, (size_t)w->flow->eq.nd * sizeof *w->direction); /* evaluated with F_u */
  else status = switch_lin_rate(w, t, u, w->direction, err);
  if (status != NS_OK) return status;
  return ns_switch_vjp_rates(w->vjp, w->flow, w->lin.constant, t, w->direction, P, known, err);
}

static NsStatus switch_lin_vjp(void *context, double t, const double *u, const double *mu, double *out, bool *known,
                               NsError *err) {
  SwitchLinearisation *w = context;
  NsVjpWeights weights = {.mu = mu};
  NsStatus status = switch_lin_rate(w, t, u, w->direction, err);
  return status == NS_OK ? ns_switch_vjp(w->vjp, w->flow, w->lin.constant, t, w->direction, &weights, out, known, err) : status;
}

static NsStatus switch_lin_guard(void *context, int k, double t, const double *u, double *out, NsError *err) {
  SwitchLinearisation *w = context;
  NsStatus status = ns_flow_outputs(w->flow, t, u, err);
  *out = ns_flow_guard_value(&w->flow->view, k / 2, k % 2);
  return status;
}

static NsStatus switch_lin_vjp_guard(void *context, int k, double t, const double *u, double *out, bool *known, NsError *err) {
  SwitchLinearisation *w = context;
  int i = k / 2, n = w->flow->eq.n, m = w->flow->eq.m;
  double *mu = w->weights, *y = mu + n, *lambda = y + m, *lower = lambda + m, *upper = lower + m;
  NsFlowGuard guard = ns_flow_guard(&w->flow->view, i, k % 2);
  memset(w->weights, 0, (size_t)(n + 4 * m) * sizeof *w->weights);
  y[i] = guard.y, lambda[i] = guard.lambda, lower[i] = guard.lower, upper[i] = guard.upper;
  NsVjpWeights weights = {mu, y, lambda, lower, upper};
  NsStatus status = switch_lin_rate(w, t, u, w->direction, err);
  return status == NS_OK ? ns_switch_vjp(w->vjp, w->flow, w->lin.constant, t, w->direction, &weights, out, known, err) : status;
}

/* ---- making ---- */

/* A linearisation that could not be made is there, too, to be freed. */
static NsStatus switch_lin_new(SwitchLinearisation **out, NsSwitching *sw, const NsParameter *parameters, int p, NsError *err) {
  SwitchLinearisation *w = *out = ns_alloc(1, sizeof *w);
  if (!w) return ns_fail(err, NS_ENOMEM, "not enough memory");
  size_t m = (size_t)sw->m;
  w->sw = sw;
  w->kept = ns_flow_mode_new(&w->arena, sw->n, sw->m);
  w->chosen = ns_arena_take(&w->arena, m, sizeof *w->chosen);
  w->before = ns_arena_take(&w->arena, m, sizeof *w->before);
  w->guards = ns_arena_take(&w->arena, 2 * m, sizeof *w->guards);
  w->at_zero = ns_arena_take(&w->arena, 2 * m, sizeof *w->at_zero);
  NS_ARENA_VECTORS(&w->arena, sw->n, &w->u_before, &w->x);
  w->lambda = ns_arena_doubles(&w->arena, sw->m);
  w->weights = ns_arena_doubles(&w->arena, (ptrdiff_t)sw->n + 4 * (ptrdiff_t)sw->m);
  w->direction = ns_arena_doubles(&w->arena, sw->n);
  w->moved = ns_arena_doubles(&w->arena, p);
  NS_ARENA_VECTORS(&w->arena, sw->n, &w->sliding, &w->lower, &w->upper);
  w->J = ns_arena_matrix(&w->arena, sw->n, sw->n);
  bool good = ns_flow_new(&w->flow, sw->run.base.nsds) == NS_OK && !w->arena.failed;
  if (good) w->flow->eq.exact = true;
  if (good) good = ns_switch_vjp_new(&w->vjp, w->flow, parameters, p) == NS_OK;
  w->rates = (NsSwitchRates){sw, w->flow};
  w->lin = (NsLinearisation){.context = w,
                             .rates = &w->rates,
                             .n = sw->run.n,
                             .size = sw->now->size,
                             .implicit = sw->run.method->implicit,
                             .reread = switch_lin_reread,
                             .rate = switch_lin_rate,
                             .guard = switch_lin_guard,
                             .states = switch_lin_states,
                             .keep = switch_lin_keep,
                             .take = switch_lin_take,
                             .terms = switch_lin_terms,
                             .rate_terms = switch_lin_rate_terms,
                             .vjp = switch_lin_vjp,
                             .vjp_guard = switch_lin_vjp_guard};
  return good ? NS_OK : ns_fail(err, NS_ENOMEM, "not enough memory");
}

NsStatus ns_switch_sense_begin(NsSwitching *sw, NsError *err) {
  NsSensitivity *s = sw->run.sensitivity;
  if (!s) return NS_OK;
  SwitchLinearisation *w = s->lin;
  NsStatus status = w ? NS_OK : switch_lin_new(&w, sw, s->parameters, s->p, err);
  s->lin = w;
  s->free_lin = switch_lin_free;
  if (status != NS_OK) return status;
  double h = sw->run.t_next - sw->run.t_k;
  w->sw = sw;
  if (s->begun && s->n != sw->run.n)
    return ns_fail(err, NS_EARG, "sensitivities: the rank of M changes at t=%.10g", sw->run.t_k);
  s->n = sw->run.n;
  ns_sensitivity_begin(s, sw->run.t_k);
  s->keeps_nodes = sw->run.sink && sw->run.sink->piece;
  w->rates.sw = sw;
  w->lin.size = sw->now->size;
  w->lin.n = sw->run.n;
  w->lin.h = h;
  status = ns_flow_begin(w->flow, sw->run.t_k, h, err);
  w->lin.mode_bytes = w->flow->mode->bytes;
  return status;
}

/* ---- the start ---- */

/* The ways back to a surface from its two sides count as one where they differ by less than this part: above rounding of rates. */
static const double SAME_CHANGE = 1e-9;

/* u of the start at the states x, in the fixed mode: NS_EARG where another mode begins. */
static NsStatus switch_lin_start(void *context, int k, double t, const double *x, double *u, NsError *err) {
  SwitchLinearisation *w = context;
  NsModeChoice choice;
  (void)k;
  NsStatus status = ns_mode_start(w->flow, t, x, w->lambda, (NsAmbiguity)w->sw->run.options.ambiguity, u, &choice, err);
  if (status == NS_OK) status = ns_flow_project(w->flow, t, u, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < w->flow->view.m; i++)
    if (w->flow->mode->rows[i] != w->sw->now->mode[i])
      return ns_fail(err, NS_EARG,
                     "sensitivities: the run starts at t=%.10g where '%s' switches, and a parameter decides on which side; "
                     "on_grazing = \"one-sided\" takes the side that the run goes",
                     t, ns_switch_row_name(w->sw, i));
  return NS_OK;
}

/* The mode after a map that has searched for one. */
static NsStatus start_settle(SwitchLinearisation *w, NsError *err) {
  w->flow->planned = false;
  return switch_lin_mode(w, w->sw->now->mode, w->sw->run.t, w->sw->run.u, err);
}

/* NS_EARG when a guard that is 0 at the start changes with a parameter. */
static NsStatus check_start_guards(SwitchLinearisation *w, NsError *err) {
  NsSwitching *sw = w->sw;
  NsSensitivity *s = sw->run.sensitivity;
  const NsFlowView *now = &w->flow->view;
  NsStatus status = ns_flow_outputs(w->flow, sw->run.t, sw->run.u, err); /* the flow of the run keeps its multipliers */
  if (status == NS_OK) ns_switch_take_guards(sw);
  for (int i = 0; i < 2 * sw->m && status == NS_OK; i++) {
    const NsSwitchGuard *guard = &sw->mode->guards[i];
    double noise = ns_flow_guard_noise(now, guard->row, guard->upper);
    w->at_zero[i] = guard->used && ns_flow_guard_value(now, guard->row, guard->upper) <= 2 * noise;
  }
  for (int k = 0; k < 2 * sw->m && status == NS_OK; k++) {
    const NsSwitchGuard *guard = &sw->mode->guards[k];
    if (!w->at_zero[k]) continue;
    for (int j = 0; j < s->p && status == NS_OK; j++) {
      double change;
      status = ns_sensitivity_change(s, &w->lin, switch_lin_guard, k, 1, sw->run.t, sw->run.u, j, START_MOVES, &change, err);
      if (status == NS_OK && change != 0)
        return ns_fail(err, NS_EARG,
                       "sensitivities: the run starts at t=%.10g where '%s' switches, and a parameter decides on which side; "
                       "on_grazing = \"one-sided\" takes the side that the run goes",
                       sw->run.t, ns_switch_row_name(sw, guard->row));
    }
  }
  return status;
}

static NsStatus switch_lin_output(void *context, int k, double t, const double *u, double *y, NsError *err) {
  SwitchLinearisation *w = context;
  NsStatus status = ns_flow_outputs(w->flow, t, u, err);
  *y = w->flow->view.y[k];
  return status;
}

/*
** A state beside the surface on which row k slides, with lambda at the bound `side`. *rate: with which y comes back to 0, or 0: it does
** not. `change` (nd): what the states change on this way, against those of the motion on the surface, per unit of y.
*/
static NsStatus start_beside(SwitchLinearisation *w, int k, NsRowMode side, double *change, double *rate, NsError *err) {
  NsSwitching *sw = w->sw;
  const NsFlowView *now = &w->flow->view;
  double t = sw->run.t, bound = side == NS_ROW_LOWER ? now->lower[k] : now->upper[k];
  *rate = 0;
  if (isinf(bound)) return NS_OK;
  memcpy(w->before, sw->now->mode, (size_t)sw->m * sizeof *w->before);
  w->before[k] = side;
  ns_flow_set_mode(w->flow, w->before);
  NsStatus status = switch_lin_rate(w, t, sw->run.u, change, err);
  double noise = NS_SWITCH_RATE_ROUNDINGS * DBL_EPSILON * ns_flow_output_rate_terms(w->flow, k);
  if (status == NS_OK)
    status = ns_sensitivity_along(sw->run.sensitivity, &w->lin, switch_lin_output, k, 1, t, sw->run.u, 1, change, -1, rate,
                                  err);
  if (!(side == NS_ROW_LOWER ? *rate < -noise : *rate > noise)) *rate = 0;
  for (int i = 0; i < sw->run.n && *rate != 0; i++) change[i] = (w->sliding[i] - change[i]) / *rate;
  ns_flow_set_mode(w->flow, sw->now->mode);
  return status;
}

/* Whether the changes from both sides, with the rates `lower` and `upper`, are the same, as where the input is affine in lambda. */
static bool same_from_both(const SwitchLinearisation *w, double lower, double upper) {
  bool same = lower != 0 && upper != 0;
  for (int i = 0; i < w->sw->run.n && same; i++) {
    double noise = DBL_EPSILON * fabs(w->sliding[i]) * (1 / fabs(lower) + 1 / upper);
    same = fabs(w->lower[i] - w->upper[i]) <=
           SAME_CHANGE * fmax(fabs(w->lower[i]), fabs(w->upper[i])) + NS_SWITCH_RATE_ROUNDINGS * noise;
  }
  return same;
}

/*
** S of a start on surfaces on which rows slide, where parameters move the states beside them: S += change dy. *both: the sides agree.
** NS_EARG (without a message): the motion beside a surface does not come back to it.
*/
static NsStatus start_on_surfaces(SwitchLinearisation *w, bool *both, NsError *err) {
  NsSwitching *sw = w->sw;
  NsSensitivity *s = sw->run.sensitivity;
  ptrdiff_t n = s->n;
  *both = true;
  NsStatus status = start_settle(w, err);
  if (status == NS_OK) status = switch_lin_rate(w, sw->run.t, sw->run.u, w->sliding, err);
  for (int k = 0; k < sw->m && status == NS_OK; k++) {
    bool moves = false;
    double from_lower = 0, from_upper = 0;
    for (int j = 0; j < s->p && sw->now->mode[k] == NS_ROW_ACTIVE && status == NS_OK; j++) {
      status = ns_sensitivity_change(s, &w->lin, switch_lin_output, k, 1, sw->run.t, sw->run.u, j, START_MOVES, &w->moved[j],
                                     err);
      moves = moves || w->moved[j] != 0;
    }
    if (!moves || status != NS_OK) continue;
    status = start_beside(w, k, NS_ROW_LOWER, w->lower, &from_lower, err);
    if (status == NS_OK) status = start_beside(w, k, NS_ROW_UPPER, w->upper, &from_upper, err);
    if (status == NS_OK && from_lower == 0 && from_upper == 0) status = NS_EARG;
    *both = *both && status == NS_OK && same_from_both(w, from_lower, from_upper);
    const double *change = from_lower != 0 ? w->lower : w->upper;
    for (ptrdiff_t e = 0; e < n * s->p && status == NS_OK; e++) s->S[e] += change[e % n] * w->moved[e / n];
  }
  return status;
}

/* After a start in another mode with parameters moved: S where states beside the surfaces come back to them, as the run's option has it. */
static NsStatus start_aside(SwitchLinearisation *w, NsError *err) {
  NsSensitivity *s = w->sw->run.sensitivity;
  NsError other = {0};
  bool both = false, one_sided = s->options->one_sided;
  for (int j = 0; j < s->p; j++) ns_flow_gather(w->sw->flow, s->X + (ptrdiff_t)j * s->nx, s->S + (ptrdiff_t)j * s->n);
  NsStatus status = s->n == s->nx ? start_on_surfaces(w, &both, &other) : NS_EARG;
  if (status == NS_EARG) return one_sided ? NS_OK : status;
  if (status != NS_OK) *err = other;
  return status != NS_OK || both || one_sided ? status : NS_EARG;
}

NsStatus ns_switch_sense_start(NsSwitching *sw, NsError *err) {
  NsSensitivity *s = sw->run.sensitivity;
  if (!s || s->begun) return NS_OK;
  s->begun = true;
  SwitchLinearisation *w = s->lin;
  bool plain = s->n == s->nx && !sw->event.choice.jumped;
  for (int i = 0; i < sw->m; i++) plain = plain && sw->now->mode[i] != NS_ROW_ACTIVE;
  double *at = w->x;
  for (int d = 0; d < sw->run.base.nsds->nds; at += sw->run.base.nsds->ds[d++]->n)
    memcpy(at, sw->run.base.nsds->ds[d]->x_k, (size_t)sw->run.base.nsds->ds[d]->n * sizeof *at);
  memcpy(w->lambda, sw->event.lambda, (size_t)sw->m * sizeof *w->lambda);
  NsStatus status = NS_OK;
  if (plain) memcpy(s->S, s->X, (size_t)s->n * (size_t)s->p * sizeof *s->S);
  NsLinearisation from = w->lin; /* the motion's states are x here */
  from.n = s->nx;
  int nd = s->n;
  s->n = s->nx;
  for (int j = 0; j < s->p && !plain && status == NS_OK; j++)
    status = ns_sensitivity_along(s, &from, switch_lin_start, 0, nd, sw->run.t, w->x, 0, s->X + (ptrdiff_t)j * s->nx, j,
                                  s->S + (ptrdiff_t)j * nd, err);
  s->n = nd;
  if (status == NS_EARG) status = start_aside(w, err);
  if (status == NS_OK) status = start_settle(w, err);
  if (status == NS_OK && !s->options->one_sided) status = check_start_guards(w, err);
  memcpy(s->S_k, s->S, (size_t)nd * (size_t)s->p * sizeof *s->S);
  return status == NS_OK ? switch_lin_states(w, s, sw->run.t, sw->run.u, s->S, s->X, err) : status;
}

/* ---- smooth motion ---- */

NsStatus ns_switch_lin_rates(NsHybrid *run, double t, const double *u, NsError *err) {
  NsSensitivity *s = run->sensitivity;
  SwitchLinearisation *w = s->lin;
  NsStatus status = switch_lin_rate(w, t, u, s->value, err);
  if (status != NS_OK || s->n == s->nx) return memcpy(s->xdot, s->value, (size_t)s->n * sizeof *s->xdot), status;
  return ns_sensitivity_along(s, &w->lin, switch_lin_x, 0, s->nx, t, u, 1, s->value, -1, s->xdot, err);
}

NsStatus ns_switch_linearise(NsHybrid *run, NsError *err) {
  SwitchLinearisation *w = run->sensitivity->lin;
  ns_hybrid_state(run, run->stepper->state.y_old, run->sample);
  return switch_lin_mode(w, w->sw->now->mode, run->stepper->state.t_old, run->sample, err);
}

/* ---- events ---- */

static void add_switch_guard(SwitchLinearisation *w, int *count, int guard) {
  w->guards[(*count)++] = (NsLinearisationGuard){guard, ns_switch_row_name(w->sw, guard / 2)};
}

/* How near to 0 a guard is when its event is at the present time: rounding, and of lambda the tolerance of the steps. */
static double guard_near_zero(const NsSwitching *sw, const NsSwitchGuard *guard, const double *lambda_size) {
  bool active = sw->now->mode[guard->row] == NS_ROW_ACTIVE;
  return fmax(2 * ns_switch_noise(sw, guard), active ? sw->run.options.rtol * lambda_size[guard->row] : 0);
}

/* Adds the guards that fall through 0 where a step of the grid begins: their events are at that time by chance. */
static NsStatus add_falling_guards(SwitchLinearisation *w, int *count, NsError *err) {
  NsSwitching *sw = w->sw;
  const double *lambda_size = ns_flow_lambda_sizes(sw->flow);
  NsStatus status = NS_OK;
  for (int k = 0; k < 2 * sw->m && status == NS_OK; k++) {
    const NsSwitchGuard *guard = &sw->mode->guards[k];
    bool falls;
    if (!guard->used || fabs(ns_switch_guard(sw, guard)) > guard_near_zero(sw, guard, lambda_size)) continue;
    status = ns_sensitivity_falls(sw->run.sensitivity, &w->lin, k, sw->run.t, sw->run.u, &falls, err);
    if (status == NS_OK && falls) add_switch_guard(w, count, k);
  }
  return status;
}

NsStatus ns_switch_sense_before(NsSwitching *sw, int guard, NsError *err) {
  NsSensitivity *s = sw->run.sensitivity;
  if (!s) return NS_OK;
  SwitchLinearisation *w = s->lin;
  int count = 0;
  memcpy(w->u_before, sw->run.u, (size_t)sw->run.n * sizeof *sw->run.u);
  memcpy(w->before, sw->event.before, (size_t)sw->m * sizeof *w->before);
  NsStatus status = switch_lin_mode(w, sw->event.before, sw->run.t, sw->run.u, err);
  if (status == NS_OK && guard < 0) status = add_falling_guards(w, &count, err);
  if (status != NS_OK) return status;
  if (guard < 0 && count == 0) {
    status = ns_sensitivity_restart(s, &w->lin, false, sw->run.t, sw->run.u, err);
    if (status == NS_OK) status = switch_lin_states(w, s, sw->run.t, sw->run.u, s->S, s->X, err);
    sw->run.log->slope = s->told;
    return status;
  }
  if (guard >= 0) add_switch_guard(w, &count, guard);
  for (int k = 0; k < 2 * sw->m && guard >= 0; k++) {
    const NsSwitchGuard *g = &sw->mode->guards[k];
    if (k == guard || !g->used || !sw->mode->open[g->row] || g->row == guard / 2) continue;
    add_switch_guard(w, &count, k);
  }
  status = ns_sensitivity_event(s, &w->lin, w->guards, count, sw->run.t, sw->run.u, err);
  sw->run.log->slope = s->told;
  return status;
}

void ns_switch_sense_chosen(NsSwitching *sw) {
  if (sw->run.sensitivity)
    memcpy(((SwitchLinearisation *)sw->run.sensitivity->lin)->chosen, sw->now->mode, (size_t)sw->m * sizeof(NsRowMode));
}

/* u after the impulse that the mode `chosen` makes. */
static NsStatus switch_lin_jump(void *context, int k, double t, const double *u, double *after, NsError *err) {
  SwitchLinearisation *w = context;
  bool jumped;
  (void)k;
  memcpy(after, u, (size_t)w->sw->run.n * sizeof *u);
  ns_flow_set_mode(w->flow, w->chosen);
  NsStatus status = ns_flow_evaluate(w->flow, t, after, NULL, err);
  return status == NS_OK ? ns_mode_jump(w->flow, t, after, w->sw->mode->open, &jumped, err) : status;
}

/* u after a new start. */
static NsStatus switch_lin_anew(void *context, int k, double t, const double *u, double *after, NsError *err) {
  SwitchLinearisation *w = context;
  ns_equations_states(&w->flow->eq, u, w->flow->mode->a, w->x);
  return switch_lin_start(w, k, t, w->x, after, err);
}

NsStatus ns_switch_sense_after(NsSwitching *sw, bool jumped, bool anew, NsError *err) {
  NsSensitivity *s = sw->run.sensitivity;
  if (!s) return NS_OK;
  SwitchLinearisation *w = s->lin;
  NsStatus status = start_settle(w, err);
  NsLinearisationMap reset = !jumped ? NULL : anew ? switch_lin_anew : switch_lin_jump;
  memcpy(w->lambda, sw->event.lambda, (size_t)sw->m * sizeof *w->lambda);
  ns_sensitivity_enter(s);
  if (status == NS_OK && reset) status = ns_sensitivity_map(s, &w->lin, reset, sw->run.t, w->u_before, err);
  if (status == NS_OK && reset) status = start_settle(w, err);
  if (status == NS_OK) status = ns_sensitivity_leave(s, &w->lin, sw->run.t, sw->run.u, err);
  return status == NS_OK ? switch_lin_states(w, s, sw->run.t, sw->run.u, s->S, s->X, err) : status;
}

NsStatus ns_switch_sense_accumulation(const NsSwitching *sw, int row, NsError *err) {
  if (!sw->run.sensitivity) return NS_OK;
  return ns_fail(
      err, NS_EARG,
      "sensitivities: the events of '%s' accumulate at t=%.10g; the derivatives after infinitely many events are not known",
      ns_switch_row_name(sw, row), sw->run.t);
}

/* ---- in a given mode ---- */

static NsStatus switch_given_slope(void *lin, int k, double t, const double *u, double *gu, bool *still, bool *exact,
                                   NsError *err) {
  SwitchLinearisation *w = lin;
  *still = false;
  *exact = w->exact;
  *w->sw->run.clock = t;
  return *exact ? ns_flow_guard_slope(w->flow, t, u, k / 2, k % 2, w->J, gu, err) : NS_OK;
}

static NsStatus switch_given_make(NsHybrid *run, const NsParameter *parameters, int p, NsLinearisation **lin, NsError *err) {
  SwitchLinearisation *w = NULL;
  NsStatus status = switch_lin_new(&w, (NsSwitching *)run, parameters, p, err);
  if (status != NS_OK) return switch_lin_free(w), status;
  w->lin.slope = switch_given_slope;
  *lin = &w->lin;
  return NS_OK;
}

static const void *switch_given_block(const NsHybrid *run, size_t *bytes) {
  const NsFlowMode *mode = ((const NsSwitching *)run)->flow->mode;
  *bytes = mode->bytes;
  return ns_flow_mode_block(mode);
}

static const char *switch_given_word(const NsHybrid *run, int row) {
  static const char *const words[] = {[NS_ROW_LOWER] = "lower", [NS_ROW_UPPER] = "upper", [NS_ROW_ACTIVE] = "active"};
  return words[((const NsSwitching *)run)->now->mode[row]];
}

static NsStatus switch_given_take(void *lin, const void *block, double t, const double *u, NsError *err) {
  SwitchLinearisation *w = lin;
  bool same;
  *w->sw->run.clock = t;
  ns_switch_vjp_forget(w->vjp);
  NsStatus status = switch_lin_take(w, block, t, u, &same, err);
  if (status == NS_OK && w->flow->eq.nd != w->flow->eq.n) status = ns_fail(err, NS_EARG, "a singular M");
  return status == NS_OK ? switch_lin_reread(w, t, err) : status;
}

static const char *switch_given_watched(const void *lin, int k, int *row) {
  const NsFlow *flow = ((const SwitchLinearisation *)lin)->flow;
  *row = k < 2 * flow->view.m ? k / 2 : -1;
  if (*row < 0 || !ns_flow_guard_is(flow, *row, k % 2)) return NULL;
  return flow->view.mode[*row] == NS_ROW_ACTIVE ? "leave" : "cross";
}

const NsGivenMode ns_switch_given = {.make = switch_given_make,
                                     .drop = switch_lin_free,
                                     .block = switch_given_block,
                                     .word = switch_given_word,
                                     .take = switch_given_take,
                                     .watched = switch_given_watched};
