/*
** event_sensitivity.c
** Derivatives by parameters: the linear equations of each mode of contacts and friction, the guards of events, the start.
*/
#include "integrators/motion/event_sensitivity.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "integrators/motion/event_active.h"
#include "integrators/motion/event_reset.h"
#include "integrators/motion/motion_guard.h"
#include "linalg/qr.h"

/*
** S goes on with a fixed direction of sliding in space below this part of its largest velocity. 1e-8: u / |u| has an error of 1e-8
** there, which F_u multiplies by 1 / |u|; what the rest of the turning changes in S is 3e-9 of it.
*/
static const double NEARLY_STOPPED_FOR_S = 1e-8;

static const double LEAST_SIZE = 0x1p-30; /* see grow_sizes; 1e-9: rounding is 1e-16 */

void ns_ed_lin_free(void *lin) {
  NsMotionLinearisation *w = lin;
  if (!w) return;
  ns_scheme_free(w->ed ? &w->ed->run.base : NULL);
  ns_motion_tangent_free(w->tangent);
  ns_motion_vjp_free(w->vjp);
  ns_arena_release(&w->arena);
  ns_free(w);
}

/* ---- the motion in a fixed mode ---- */

/* The numbers of the laws; the states of the rows stay. */
static NsStatus motion_lin_reread(void *context, double t, NsError *err) {
  const NsEventDriven *ed = ((NsMotionLinearisation *)context)->ed;
  (void)t, (void)err;
  ns_motion_mode_read_laws(ed->mode, ed->motion);
  return NS_OK;
}

NsStatus ns_ed_find_dependent(NsMotionLinearisation *w, double t, const double *u, NsError *err) {
  NsEventDriven *ed = w->ed;
  int n = ed->mode->nactive, rank;
  w->ed->mode->dependent = false;
  if (n < 2) return NS_OK;
  NsStatus status = ns_ed_accelerate(ed, t, u, u + ed->Nq, err);
  if (status != NS_OK) return status;
  ns_motion_delassus(ed->motion, n, ed->mode->active, ed->W);
  for (int k = 0; k < n; k++) w->residual[k] = 1 / sqrt(ed->W[k + (ptrdiff_t)k * n]);
  for (int k = 0; k < n * n; k++) ed->W[k] *= w->residual[k % n] * w->residual[k / n];
  status = ns_lstsq(n, n, 1, ed->W, n, w->residual, n, NS_MOTION_DEPENDENT, w->step, &rank, NULL);
  w->ed->mode->dependent = status == NS_OK && rank < n;
  return status == NS_OK ? NS_OK
                         : ns_fail(err, status, "sensitivities: constraints at t=%.10g: %s", t, ns_status_message(status));
}

static NsStatus motion_lin_rate(void *context, double t, const double *u, double *rate, NsError *err) {
  NsEventDriven *ed = ((NsMotionLinearisation *)context)->ed;
  NsStatus status = ns_ed_lin_accelerate(context, t, &u, err);
  if (status != NS_OK) return status;
  ns_motion_rate(ed->motion, u, u + ed->Nq, rate);
  memcpy(rate + ed->Nq, ed->acceleration, (size_t)ed->Nv * sizeof *rate);
  return NS_OK;
}

/* Copies the rows of S (all coordinates, then all velocities) to the rows of X (system by system); back: X to S. */
static void motion_lin_order(const NsEventDriven *ed, int p, double *S, double *X, bool back) {
  int q = 0, v = ed->Nq, x = 0, n = ed->Nq + ed->Nv;
  for (int d = 0; d < ed->run.base.nsds->nds; d++) {
    const NsMechanicalDs *ds = (const NsMechanicalDs *)ed->run.base.nsds->ds[d];
    for (int i = 0; i < ds->nq + ds->nv; i++, x++) {
      int at = i < ds->nq ? q++ : v++;
      for (ptrdiff_t j = 0; j < p; j++) {
        if (back) S[at + j * n] = X[x + j * n];
        else X[x + j * n] = S[at + j * n];
      }
    }
  }
}

static NsStatus motion_lin_states(void *context, NsSensitivity *s, double t, const double *u, const double *S, double *X,
                                  NsError *err) {
  (void)t, (void)u, (void)err;
  if (s->tape) return NS_OK;
  motion_lin_order(((NsMotionLinearisation *)context)->ed, s->p, (double *)(size_t)S, X, false);
  return NS_OK;
}

/* Whether the motion is linear with constant coefficients, and no friction slips in space, or with a mu that is a function of time or slip. */
static bool motion_is_linear(const NsEventDriven *ed) {
  const NsMotionMode *mode = ed->mode;
  for (int d = 0; d < ed->run.base.nsds->nds; d++) {
    const NsMechanicalDs *ds = (const NsMechanicalDs *)ed->run.base.nsds->ds[d];
    if (!ns_mechanical_linear(ds) || ns_mechanical_turns(ds)) return false;
  }
  for (int i = 0; i < ed->m; i++) {
    const Friction *friction = &mode->rows[i].friction;
    bool varies = (friction->varies || friction->slides) && friction->normal >= 0;
    if (!mode->rows[i].straight || ((friction->width == 2 || varies) && friction->stick_slip == FRICTION_SLIP)) return false;
  }
  return true;
}

/* Whether sliding in space was nearly at rest when the last step began. */
static bool nearly_stopped(const NsMotionMode *mode, int row) {
  return mode->slid[row] > 0 && mode->slid[row] <= NEARLY_STOPPED_FOR_S * mode->reach[row];
}

/*
** The directions of friction in space. Where it has nearly stopped they are the ones in which S was computed last: the direction of u may turn
** on, down to rounding.
*/
static void keep_directions(NsMotionLinearisation *w, const NsEventDriven *run) {
  for (int i = 0; i < run->m; i++) {
    const Friction *friction = &run->mode->rows[i].friction;
    bool kept = w->holds || (w->ed->mode->rows[i].friction.stops && (friction->stops || nearly_stopped(run->mode, i)));
    for (int k = 0; k < 2 && friction->width == 2 && !kept; k++) w->direction[2 * i + k] = friction->d[k];
  }
}

/* Takes the mode of the run. */
static void motion_lin_mode(NsMotionLinearisation *w, const NsEventDriven *run) {
  NsMotionMode *mode = w->ed->mode;
  bool dependent = mode->dependent; /* is known here alone */
  keep_directions(w, run);
  ns_motion_mode_take(mode, ns_motion_mode_block(run->mode));
  mode->dependent = dependent;
  for (int i = 0; i < mode->m; i++)
    if (mode->rows[i].friction.width == 2) memcpy(mode->rows[i].friction.d, w->direction + 2 * i, 2 * sizeof(double));
  w->lin.constant = motion_is_linear(w->ed);
}

static void motion_lin_keep(void *context, void *to) {
  const NsMotionMode *mode = ((NsMotionLinearisation *)context)->ed->mode;
  memcpy(to, ns_motion_mode_block(mode), mode->bytes);
}

static NsStatus motion_lin_take(void *context, const void *from, double t, const double *u, bool *same, NsError *err) {
  NsMotionLinearisation *w = context;
  NsMotionMode *mode = w->ed->mode;
  (void)t, (void)u, (void)err;
  ns_motion_mode_take(w->mode_before, ns_motion_mode_block(mode));
  ns_motion_mode_take(mode, from);
  *same = ns_motion_mode_same(w->mode_before, mode);
  w->rough = w->rough && *same;
  w->lin.h = mode->h;
  w->lin.constant = motion_is_linear(w->ed);
  return NS_OK;
}

static void motion_lin_place(void *context, int *place) {
  const NsEventDriven *ed = ((NsMotionLinearisation *)context)->ed;
  for (int d = 0, q = 0, v = ed->Nq, x = 0; d < ed->run.base.nsds->nds; d++) {
    const NsMechanicalDs *ds = (const NsMechanicalDs *)ed->run.base.nsds->ds[d];
    for (int i = 0; i < ds->nq + ds->nv; i++) place[x++] = i < ds->nq ? q++ : v++;
  }
}

/* ---- making ---- */

/* NS_EARG where friction rolls, or in a joint follows the reaction: neither the motion nor impulses have derivatives here. */
static NsStatus motion_lin_check(const NsEventDriven *ed, NsError *err) {
  for (int i = 0; i < ed->m; i++)
    if (ns_law_needs(ns_ed_law(ed, i)) & NS_NEEDS_ROLLING)
      return ns_fail(err, NS_EARG, "sensitivities: '%s' has rolling friction, and its motion has no derivative here",
                     ns_motion_row_name(ed->motion, i));
  for (int i = 0; i < ed->m && ed->has_reactions; i++)
    if (ed->mode->rows[i].friction.reactions > 0)
      return ns_fail(err, NS_EARG, "sensitivities: the friction of '%s' follows the reaction, and its motion has no derivative",
                     ns_motion_row_name(ed->motion, i));
  return NS_OK;
}

NsStatus ns_ed_lin_new(NsMotionLinearisation **out, NsEventDriven *ed, const NsParameter *parameters, int p, NsError *err) {
  *out = NULL;
  NsStatus known = motion_lin_check(ed, err);
  if (known != NS_OK) return known;
  NsMotionLinearisation *w = *out = ns_alloc(1, sizeof *w);
  if (!w) return ns_fail(err, NS_ENOMEM, "not enough memory");
  NsSchemePlan plan = {.clock = &w->clock};
  NsScheme *scheme = NULL;
  NsStatus status = ed->run.base.class->create(&scheme, ed->run.base.integrator, ed->run.base.nsds, &plan);
  w->ed = (NsEventDriven *)scheme;
  if (w->ed) ns_motion_leave_constraints(w->ed->motion);
  NS_ARENA_VECTORS(&w->arena, ed->Nq + ed->Nv, &w->size, &w->u);
  w->direction = ns_arena_doubles(&w->arena, 2 * ed->m);
  w->fitting = ns_arena_doubles(&w->arena, ed->Nq + ed->Nv);
  w->guards = ns_arena_take(&w->arena, (size_t)ed->m + 1, sizeof *w->guards);
  NS_ARENA_INTS(&w->arena, ed->m, &w->closed, &w->rows);
  w->kind = ns_arena_take(&w->arena, (size_t)ed->m, sizeof *w->kind);
  w->bounces = ns_arena_take(&w->arena, (size_t)ed->m, sizeof *w->bounces);
  NS_ARENA_VECTORS(&w->arena, ed->m, &w->z, &w->z_run, &w->q, &w->residual, &w->step, &w->sliding);
  w->mode_before = ns_motion_mode_new(&w->arena, ed->m);
  w->W = ns_arena_matrix(&w->arena, ed->m, ed->m);
  w->A = ns_arena_matrix(&w->arena, ed->m, ed->m);
  bool good = status == NS_OK && !w->arena.failed;
  good = good && ns_motion_vjp_new(&w->vjp, w->ed, parameters, p) == NS_OK;
  good = good && ns_motion_tangent_new(&w->tangent, w->ed, w->vjp, p) == NS_OK;
  w->lin = (NsLinearisation){.context = w,
                             .rates = w->ed,
                             .n = ed->Nq + ed->Nv,
                             .size = w->size,
                             .reread = motion_lin_reread,
                             .rate = motion_lin_rate,
                             .guard = ns_ed_lin_guard,
                             .states = motion_lin_states,
                             .mode_bytes = ed->mode->bytes,
                             .keep = motion_lin_keep,
                             .take = motion_lin_take,
                             .place = motion_lin_place,
                             .terms = ns_ed_lin_terms,
                             .slope = ns_ed_lin_slope,
                             .reset = ns_ed_lin_reset,
                             .vjp = ns_ed_lin_vjp,
                             .vjp_guard = ns_ed_lin_vjp_guard,
                             .vjp_map = ns_ed_vjp_map};
  return good ? NS_OK : ns_fail(err, NS_ENOMEM, "not enough memory");
}

/* q with quaternions of length 1. */
static NsStatus motion_lin_normalise(void *context, int k, double t, const double *u, double *after, NsError *err) {
  NsEventDriven *ed = ((NsMotionLinearisation *)context)->ed;
  (void)k, (void)t, (void)err;
  memcpy(after, u, (size_t)(ed->Nq + ed->Nv) * sizeof *u);
  ns_motion_normalise(ed->motion, after);
  return NS_OK;
}

/*
** Sizes of u: the largest |u| so far, and at least LEAST_SIZE of the velocity that the body would have with all of its energy in that
** direction, and of its way in a step of the grid. A velocity that is only rounding would else make the displacements of a difference
** so small that they are rounding, too.
*/
static void grow_sizes(NsMotionLinearisation *w, const NsEventDriven *ed) {
  ns_motion_fastest(ed->motion, ed->scales.even, w->fitting);
  for (int i = 0; i < ed->Nq + ed->Nv; i++) {
    double fastest = i < ed->Nq ? w->fitting[i] * ed->mode->h : ed->scales.even[i - ed->Nq];
    w->size[i] = fmax(w->size[i], fmax(fabs(ed->run.u[i]), LEAST_SIZE * fastest));
  }
}

/* S of the initial states; its columns are tangent to the unit sphere of each quaternion. */
static NsStatus motion_lin_start(NsEventDriven *ed, NsError *err) {
  NsSensitivity *s = ed->run.sensitivity;
  NsMotionLinearisation *w = s->lin;
  NsStatus status = NS_OK;
  motion_lin_order(ed, s->p, s->S, s->X, true);
  for (int j = 0; j < s->p && ed->Nq > ed->Nv && status == NS_OK; j++) {
    memcpy(s->direction, s->S + (ptrdiff_t)j * s->n, (size_t)s->n * sizeof *s->direction);
    status = ns_sensitivity_along(s, &w->lin, motion_lin_normalise, 0, s->n, ed->run.t, ed->run.u, 0, s->direction, -1,
                                  s->S + (ptrdiff_t)j * s->n, err);
  }
  memcpy(s->S_k, s->S, (size_t)s->n * (size_t)s->p * sizeof *s->S);
  return status;
}

NsStatus ns_ed_sense_begin(NsEventDriven *ed, NsError *err) {
  NsSensitivity *s = ed->run.sensitivity;
  if (!s) return NS_OK;
  NsMotionLinearisation *w = s->lin;
  NsStatus status = w ? NS_OK : ns_ed_lin_new(&w, ed, s->parameters, s->p, err);
  s->lin = w;
  s->free_lin = ns_ed_lin_free;
  if (status != NS_OK) return status;
  s->n = ed->Nq + ed->Nv;
  s->keeps_nodes = ed->run.sink && ed->run.sink->piece;
  w->lin.h = ed->mode->h;
  grow_sizes(w, ed);
  w->holds = false;
  motion_lin_mode(w, ed);
  ns_sensitivity_begin(s, ed->run.t);
  if (s->begun) return motion_lin_states(w, s, ed->run.t, ed->run.u, s->S, s->X, err);
  s->begun = true;
  return motion_lin_start(ed, err);
}

/* ---- smooth motion ---- */

void ns_ed_fit(const NsHybrid *run, double *u) {
  ns_motion_normalise(((const NsEventDriven *)run)->motion, u);
}

/*
** Friction in space that has nearly stopped and slows down keeps its direction of sliding in this step, as the run does in the step to
** the event: F_u grows as 1 / |u| there. The direction is that in which S was found. With a later one the rate of u would be another,
** and S would no longer be -dt/dp times that rate.
*/
static NsStatus find_nearly_stopped(NsMotionLinearisation *w, const NsEventDriven *run, NsError *err) {
  NsEventDriven *ed = w->ed;
  const NsStepperState *step = &run->run.stepper->state;
  NsStatus status = NS_OK;
  for (int i = 0; i < ed->m && status == NS_OK; i++) {
    Friction *friction = &ed->mode->rows[i].friction;
    if (!ns_motion_friction_is(ed->mode, i, FRICTION_SLIP) || friction->width != 2 || friction->stops || friction->onset)
      continue;
    if (!nearly_stopped(run->mode, i)) continue;
    status = ns_motion_outputs(ed->motion, 1, &i, step->t, step->y, step->y + ed->Nq, err);
    friction->stops = status == NS_OK && ns_ed_sliding_speed(ed, i) < run->mode->slid[i];
  }
  return status;
}

NsStatus ns_ed_linearise(NsHybrid *run, NsError *err) {
  NsEventDriven *ed = (NsEventDriven *)run;
  NsMotionLinearisation *w = run->sensitivity->lin;
  const NsStepperState *step = &run->stepper->state;
  bool holds = ns_sensitivity_holds(step->t_old, step->t);
  w->holds = w->holds && holds;
  motion_lin_mode(w, ed);
  w->holds = holds;
  NsStatus status = find_nearly_stopped(w, ed, err);
  return status == NS_OK ? ns_ed_find_dependent(w, step->t_old, step->y_old, err) : status;
}

void ns_ed_linearised(NsHybrid *run) {
  grow_sizes(run->sensitivity->lin, (NsEventDriven *)run);
}

NsStatus ns_ed_lin_rates(NsHybrid *run, double t, const double *u, NsError *err) {
  NsSensitivity *s = run->sensitivity;
  NsStatus status = motion_lin_rate(s->lin, t, u, s->value, err);
  motion_lin_order((NsEventDriven *)run, 1, s->value, s->xdot, false);
  return status;
}

/* ---- guards ---- */

static void add_guard(NsMotionLinearisation *w, const NsEventDriven *ed, int *count, int row) {
  w->guards[(*count)++] = (NsLinearisationGuard){row, ns_motion_row_name(ed->motion, row)};
}

/*
** Whether the event is that friction in the plane, or a relay, comes to rest, and its velocity has only been rounding since the last
** event, in one step of the motion. Then the last event has released friction that keeps sticking: its force was exactly at the bound.
*/
static NsStatus never_left_rest(NsMotionLinearisation *w, NsEventDriven *ed, bool *rests, NsError *err) {
  const NsMotionEvent *event = &ed->event;
  const NsStepperState *step = &ed->run.stepper->state;
  const NsDenseRows *dense = &ed->run.dense;
  double along;
  NsStatus status = NS_OK;
  *rests = ns_motion_guard_kind(w->ed->mode, event->hit) == GUARD_SLIP && ed->mode->rows[event->hit].friction.width == 1 &&
           w->t_event == dense->t_old && step->t == dense->t;
  for (int k = 0; k + 1 < NS_BERNSTEIN_SIZE && status == NS_OK && *rests; k++) {
    double t = dense->t_old + ns_bernstein_node(k) * (dense->t - dense->t_old);
    ns_hybrid_at(&ed->run, t, ed->run.sample);
    ns_ed_fit(&ed->run, ed->run.sample);
    status = ns_ed_lin_guard(w, event->hit, t, ed->run.sample, &along, err);
    *rests = status == NS_OK && fabs(along) <= ed->mode->slow[event->hit];
  }
  return status;
}

/* Adds the friction whose sliding ends where a step of the grid begins: at that time by chance. */
static NsStatus add_ending_slips(NsMotionLinearisation *w, const NsEventDriven *ed, int *count, NsError *err) {
  NsSensitivity *s = ed->run.sensitivity;
  NsStatus status = NS_OK;
  for (int k = 0; k < ed->event.nclosed && status == NS_OK; k++) {
    int row = ed->event.closed[k];
    bool falls;
    double along;
    if (ns_motion_guard_kind(w->ed->mode, row) != GUARD_SLIP) continue;
    status = ns_ed_lin_guard(w, row, ed->run.t, w->u, &along, err);
    if (status != NS_OK || fabs(along) > ed->mode->slow[row]) continue;
    status = ns_sensitivity_falls(s, &w->lin, row, ed->run.t, w->u, &falls, err);
    if (status == NS_OK && falls) add_guard(w, ed, count, row);
  }
  return status;
}

/* ---- events ---- */

NsStatus ns_ed_sense_event(NsEventDriven *ed, NsError *err) {
  NsMotionEvent *event = &ed->event;
  NsSensitivity *s = ed->run.sensitivity;
  if (!s) return NS_OK;
  NsMotionLinearisation *w = s->lin;
  int count = 0;
  bool start = ed->run.t == ed->t_first, jumps = ed->search.jumps && ns_motion_guard_kind(ed->mode, event->hit) == GUARD_STICK;
  motion_lin_mode(w, ed);
  if (ns_motion_guard_kind(w->ed->mode, event->hit) == GUARD_SLIP)
    w->ed->mode->rows[event->hit].friction.stops = true; /* u / |u| is rounding */
  memcpy(w->u, ed->run.u, (size_t)s->n * sizeof *w->u);
  w->hit = event->hit;
  w->acted = false;
  w->n = w->places = 0;
  if (event->hit == ed->m)
    return ns_fail(err, NS_EARG,
                   "sensitivities: at t=%.10g the forces of sliding contacts grow beyond all bounds; the impulse that "
                   "follows has no derivatives here",
                   ed->run.t);
  if (event->hit >= 0 && event->hit < ed->m && event->kinked[event->hit])
    return ns_fail(err, NS_EARG, "sensitivities: at t=%.10g the gap of '%s' has a kink: what follows has no derivatives here",
                   ed->run.t, ns_motion_row_name(ed->motion, event->hit));
  NsStatus status = start ? ns_ed_check_start(ed, err) : NS_OK;
  bool rests = false;
  if (status == NS_OK && !start) status = never_left_rest(w, ed, &rests, err);
  if (!rests && !jumps && ns_motion_guard(ed, event->hit)->slope) add_guard(w, ed, &count, event->hit);
  for (int k = 0; k < event->nclosed && !start; k++) {
    int row = event->closed[k];
    const Row *r = &ed->mode->rows[row];
    if (row != event->hit && r->unilateral && r->state != ROW_ACTIVE && event->before[row] < -ed->mode->slow[row])
      add_guard(w, ed, &count, row);
  }
  if (status == NS_OK && count == 0 && !start && !rests && !jumps) status = add_ending_slips(w, ed, &count, err);
  if (status == NS_OK && rests && count == 0) status = ns_sensitivity_same_event(s, &w->lin, ed->run.t, w->u, err);
  else if (status == NS_OK && count > 0) status = ns_sensitivity_event(s, &w->lin, w->guards, count, ed->run.t, w->u, err);
  else if (status == NS_OK) status = ns_sensitivity_restart(s, &w->lin, start || jumps, ed->run.t, w->u, err);
  ed->run.log->slope = s->told;
  if (status == NS_OK) ns_sensitivity_enter(s);
  return status;
}

/* Whether a contact only touched: it closed with no velocity, and is not active. */
static bool only_touched(const NsEventDriven *ed, const NsMotionLinearisation *w) {
  int row = w->hit;
  if (ns_motion_guard_kind(w->ed->mode, row) != GUARD_GAP) return false;
  return fabs(ed->event.before[row]) <= ed->mode->slow[row] && ed->mode->rows[row].state != ROW_ACTIVE;
}

NsStatus ns_ed_sense_after(NsEventDriven *ed, NsError *err) {
  NsSensitivity *s = ed->run.sensitivity;
  if (!s) return NS_OK;
  NsMotionLinearisation *w = s->lin;
  bool touched = only_touched(ed, w);
  w->rough = false;
  w->t_event = ed->run.t;
  if (touched && !s->options->one_sided) return ns_sensitivity_grazes(ed->run.t, ns_motion_row_name(ed->motion, w->hit), err);
  if (touched) ns_sensitivity_undo(s);
  NsStatus status = ed->run.t == ed->t_first ? ns_ed_sense_start_rest(ed, err) : NS_OK;
  w->holds = false;
  motion_lin_mode(w, ed);
  if (status == NS_OK) status = ns_ed_find_dependent(w, ed->run.t, ed->run.u, err);
  if (status == NS_OK && ed->run.t == ed->t_first) status = ns_ed_check_start_forces(ed, err);
  if (status == NS_OK) status = ns_sensitivity_leave(s, &w->lin, ed->run.t, ed->run.u, err);
  grow_sizes(w, ed);
  return status == NS_OK ? motion_lin_states(w, s, ed->run.t, ed->run.u, s->S, s->X, err) : status;
}
