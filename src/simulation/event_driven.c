/*
** event_driven.c
** Smooth motion from event to event over one step of the grid.
*/
#include "simulation/event_driven.h"

#include <math.h>
#include <string.h>

#include "base/interrupt.h"
#include "base/memory.h"
#include "simulation/event_parts.h"

/* What the laws may need: joints, and contacts with restitution. */
static const unsigned event_driven_laws = NS_NEEDS_EQUATION | NS_NEEDS_IMPACT;

enum { MAX_SMOOTH_STEPS = 100000 }; /* from one event to the next or to the end of a step of the grid */

const char *ns_event_name(NsEventKind kind) {
  static const char *const names[] = {
#define X(code, name) name,
      NS_EVENT_LIST(X)
#undef X
  };
  return names[kind];
}

const char *ns_ed_name(const NsEventDriven *ed) {
  return ed->options.fixed ? "D1MinusLinearOSI" : "EventDriven";
}

/* A contact that is left with a part of the velocity towards it closes again at once, for ever. */
static NsStatus check_restitution(const NsInteraction *inter, const char *who, NsError *err) {
  double e = ns_law_restitution(inter->law, 0, 1);
  if (e >= 0) return NS_OK;
  return ns_fail(err, NS_EARG, "%s: interaction '%s' has the restitution %g; where impacts are located it is 0 or more", who,
                 inter->name, e);
}

NsStatus ns_event_driven_accepts(const NsNsds *nsds, bool locates, const char *who, NsError *err) {
  for (int i = 0; i < nsds->ninteractions; i++) {
    const NsInteraction *inter = nsds->interactions[i];
    if (ns_law_needs(inter->law) & ~event_driven_laws)
      return ns_fail(err, NS_EARG,
                     "%s: interaction '%s' has a %s; it takes NewtonImpactNSL and EqualityConditionNSL "
                     "(TimeStepping with a MoreauJeanOSI takes every law)",
                     who, inter->name, ns_law_name(inter->law));
    if (ns_relation_holds_at_position(inter->relation))
      return ns_fail(err, NS_EARG, "%s: interaction '%s' has a %s, which gives forces, not contacts", who,
                     inter->name, ns_relation_kind_name(inter->relation->kind));
    NsStatus status = locates ? check_restitution(inter, who, err) : NS_OK;
    if (status != NS_OK) return status;
  }
  return ns_mechanical_unbound(nsds->ds, nsds->nds, who, err);
}

/* ---- making ---- */

/* The equations of the smooth motion: qdot, the accelerations, the works. */
static NsStatus rate(void *context, double t, const double *x, double *xdot, NsError *err) {
  NsEventDriven *ed = context;
  const double *q = x, *v = x + ed->Nq;
  double *works = xdot + ed->Nq + ed->Nv;
  *ed->clock = t;
  NsStatus status = ns_ed_accelerate(ed, t, q, v, err);
  if (status != NS_OK) return status;
  ns_motion_rate(ed->motion, q, v, xdot);
  memcpy(xdot + ed->Nq, ed->acceleration, (size_t)ed->Nv * sizeof *xdot);
  memset(works, 0, WORKS * sizeof *works);
  if (!ed->accounting) return NS_OK;
  ns_motion_power(ed->motion, v, &works[WORK_FORCES], &works[WORK_DAMPING]);
  for (int k = 0; k < ed->nheld; k++) works[WORK_MULTIPLIERS] += ed->lambda[k] * ns_motion_speed(ed->motion, ed->held[k], v);
  return NS_OK;
}

static void take_vectors(NsEventDriven *ed) {
  NsArena *arena = &ed->arena;
  int m = ed->m;
  double **rows[] = {&ed->lambda, &ed->before, &ed->slow, &ed->pressing, &ed->q_part, &ed->z, &ed->u_after};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) *rows[i] = ns_arena_doubles(arena, m);
  for (int j = 0; j <= SAMPLES; j++) {
    ed->sample_y[j] = ns_arena_doubles(arena, m);
    ed->sample_u[j] = ns_arena_doubles(arena, m);
  }
  double **stacked[] = {&ed->x, &ed->atol, &ed->sample, &ed->slope};
  for (size_t i = 0; i < sizeof stacked / sizeof *stacked; i++) *stacked[i] = ns_arena_doubles(arena, ed->n);
  ed->impulse = ns_arena_doubles(arena, ed->Nv);
  ed->acceleration = ns_arena_doubles(arena, ed->Nv);
  ed->W = ns_arena_matrix(arena, m, m);
  ed->held = ns_arena_ints(arena, m);
  ed->closed = ns_arena_ints(arena, m);
  ed->rows = ns_arena_take(arena, (size_t)m, sizeof *ed->rows);
  ed->resting = ns_arena_take(arena, (size_t)m, sizeof *ed->resting);
  ed->was_held = ns_arena_take(arena, (size_t)m, sizeof *ed->was_held);
  ed->groups = ns_arena_take(arena, (size_t)m, sizeof *ed->groups);
  ed->q = ed->x;
  ed->v = ed->x ? ed->x + ed->Nq : NULL;
  ed->works = ed->x ? ed->v + ed->Nv : NULL;
}

static NsStatus build(NsEventDriven *ed) {
  NsStatus status = ns_motion_new(&ed->motion, ed->nsds);
  if (status != NS_OK) return status;
  ed->now = ns_motion_view(ed->motion);
  ed->Nq = ed->now->Nq;
  ed->Nv = ed->now->Nv;
  ed->m = ed->now->m;
  ed->n = ed->Nq + ed->Nv + WORKS;
  take_vectors(ed);
  return ed->arena.failed ? NS_ENOMEM : NS_OK;
}

NsStatus ns_event_driven_new(NsEventDriven **out, NsNsds *nsds, double *clock) {
  *out = NULL;
  NsEventDriven *ed = ns_alloc(1, sizeof *ed);
  if (!ed) return NS_ENOMEM;
  ed->nsds = nsds;
  ed->clock = clock;
  if (build(ed) != NS_OK) {
    ns_event_driven_free(ed);
    return NS_ENOMEM;
  }
  *out = ed;
  return NS_OK;
}

void ns_event_driven_free(NsEventDriven *ed) {
  if (!ed) return;
  ns_dop853_free(ed->rk);
  ns_motion_free(ed->motion);
  ns_sparse_free(ed->sparse);
  ns_arena_release(&ed->arena);
  ns_free(ed);
}

void ns_event_log_clear(NsEventLog *log) {
  ns_free(log->events);
  *log = (NsEventLog){0};
}

/* ---- the start of a step ---- */

/* The stepper for the options at hand: made when they are others than the last. */
static NsStatus take_options(NsEventDriven *ed, const NsEventOptions *options, NsError *err) {
  bool same = ed->rk && ed->options.rtol == options->rtol && ed->options.atol == options->atol;
  ed->options = *options;
  if (same) return NS_OK;
  ns_dop853_free(ed->rk);
  for (int i = 0; i < ed->n; i++) ed->atol[i] = options->atol;
  for (int i = 0; i < WORKS; i++) ed->atol[ed->Nq + ed->Nv + i] = 1e2 * options->atol;
  NsOdeProblem problem = {ed->n, rate, ed, options->rtol, ed->atol, NULL};
  NsStatus status = ns_dop853_new(&ed->rk, &problem);
  return status == NS_OK ? NS_OK : ns_fail(err, status, "not enough memory");
}

/* Laws and states of the rows at the start; a contact that carried a force is held until it is seen not to be. */
static void start_rows(NsEventDriven *ed) {
  for (int i = 0, e = -1, first = 0; i < ed->m; i++) {
    if (ns_motion_interaction(ed->motion, i) != e) e = ns_motion_interaction(ed->motion, i), first = i;
    const NsInteraction *inter = ed->nsds->interactions[e];
    bool unilateral = ns_law_unilateral(inter->law);
    bool held = unilateral && inter->lambda_k[i - first] > 0;
    ed->rows[i] = (Row){.unilateral = unilateral,
                        .restitution = ns_law_restitution(inter->law, i - first, 1),
                        .state = held ? ROW_HELD : ROW_OPEN};
  }
}

/* A contact that was written open by a script is not held. */
static NsStatus check_start(NsEventDriven *ed, NsError *err) {
  NsStatus status = ns_motion_outputs(ed->motion, 0, NULL, ed->t, ed->q, ed->v, err);
  for (int i = 0; i < ed->nsds->ninteractions && status == NS_OK && !ed->options.fixed; i++)
    status = check_restitution(ed->nsds->interactions[i], ns_ed_name(ed), err); /* a script may have set it */
  for (int i = 0; i < ed->m && status == NS_OK; i++) {
    double y = ed->now->y[i], closed = ed->options.tolerance + ed->now->rounding[i];
    if (ed->rows[i].unilateral && y > closed) ed->rows[i].state = ROW_OPEN;
    if (!ed->rows[i].unilateral && fabs(y) > 1e-6)
      return ns_fail(err, NS_EARG, "%s: interaction '%s': the constraint does not hold at the start: y = %.6g",
                     ns_ed_name(ed), ns_ed_row_name(ed, i), y);
    if (ed->rows[i].unilateral && y < -1e-6 && !ed->options.fixed)
      return ns_fail(err, NS_EARG, "EventDriven: interaction '%s': the bodies overlap at the start: y = %.6g",
                     ns_ed_row_name(ed, i), y);
  }
  return status;
}

/* ---- from event to event ---- */

/* Bounds the first step after an event by the flights that begin there. */
static void limit_step(NsEventDriven *ed) {
  double least = INFINITY;
  for (int i = 0; i < ed->m; i++) {
    const Row *row = &ed->rows[i];
    if (row->state != ROW_DEPARTING) continue;
    double a = ed->now->bias[i];
    for (int j = 0; j < ed->Nv; j++) a += ed->now->H[i + (size_t)j * (size_t)ed->m] * ed->acceleration[j];
    if (a < 0) least = fmin(least, -3 * row->u0 / a);
  }
  ns_dop853_limit(ed->rk, least);
}

/* After a step without an event: where open contacts close from here. */
static void renew_levels(NsEventDriven *ed) {
  for (int i = 0; i < ed->m; i++) {
    Row *row = &ed->rows[i];
    if (row->state == ROW_HELD || !row->unilateral) continue;
    double y = ed->sample_y[SAMPLES][i];
    bool clear = y > ed->options.tolerance + ed->now->rounding[i];
    if (clear) row->state = ROW_OPEN;
    row->level = clear ? 0 : fmin(row->level, fmin(0, y) - ed->options.tolerance);
  }
}

/* Takes the stepper's state over, back on the constraints. */
static NsStatus take_state(NsEventDriven *ed, NsError *err) {
  const NsDop853State *step = ns_dop853_state(ed->rk);
  memcpy(ed->x, step->y, (size_t)ed->n * sizeof *ed->x);
  ed->t = step->t;
  ns_motion_normalise(ed->motion, ed->q);
  if (ed->nheld == 0) return NS_OK;
  return ns_motion_project(ed->motion, ed->nheld, ed->held, ed->t, ed->q, ed->v, ed->W, err);
}

/* Smooth motion up to the next event, which is handled, or to t_next. */
static NsStatus go_on(NsEventDriven *ed, double t_next, NsError *err) {
  ns_dop853_start(ed->rk, ed->t, ed->x, t_next, 0);
  NsStatus status = ns_ed_accelerate(ed, ed->t, ed->q, ed->v, err);
  if (status != NS_OK) return status;
  limit_step(ed);
  int row = -1;
  for (int steps = 0;; steps++) {
    if (ns_interrupted()) return ns_fail(err, NS_EINTR, "interrupted");
    if (steps == MAX_SMOOTH_STEPS)
      return ns_fail(err, NS_EMAXITER, "EventDriven: more than %d steps of the integrator to the next event or time of the grid (t=%.10g)",
                     steps, ed->t);
    status = ns_dop853_step(ed->rk, err);
    if (status == NS_OK) status = ns_ed_search(ed, &row, err);
    if (status == NS_OK) status = take_state(ed, err);
    if (status != NS_OK) return status;
    if (row >= 0) break;
    if (ed->t >= t_next) return NS_OK;
    renew_levels(ed);
    ns_dop853_replace(ed->rk, ed->x);
  }
  if (++ed->handled > ed->options.max_events)
    return ns_fail(err, NS_EMAXITER, "EventDriven: more than %ld events in a step of the grid", ed->options.max_events);
  return ns_ed_handle(ed, err);
}

/* One step of D1MinusLinear from ed->t to t_next, and the event there. */
static NsStatus take_fixed_step(NsEventDriven *ed, double t_next, NsError *err) {
  double h = ed->h, *before = ed->sample, *mean = before + ed->Nv;
  NsStatus status = rate(ed, ed->t, ed->x, ed->slope, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < WORKS; i++) ed->works[i] += h / 2 * ed->slope[ed->Nq + ed->Nv + i];
  for (int i = 0; i < ed->Nv; i++) {
    before[i] = ed->v[i];
    mean[i] = ed->v[i] + h / 2 * ed->acceleration[i];
    ed->v[i] += h * ed->acceleration[i];
  }
  ns_motion_move(ed->motion, mean, h, ed->q);
  ed->t = t_next;
  status = rate(ed, ed->t, ed->x, ed->slope, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < WORKS; i++) ed->works[i] += h / 2 * ed->slope[ed->Nq + ed->Nv + i];
  for (int i = 0; i < ed->Nv; i++) ed->v[i] = mean[i] + h / 2 * ed->acceleration[i];
  if (ed->nheld > 0) status = ns_motion_stop(ed->motion, ed->nheld, ed->held, ed->t, ed->q, ed->v, ed->W, err);
  return status == NS_OK ? ns_ed_handle(ed, err) : status;
}

/* ---- the end of a step ---- */

static void write_interactions(NsEventDriven *ed) {
  for (int i = 0, e = -1, first = 0; i < ed->m; i++) {
    if (ns_motion_interaction(ed->motion, i) != e) e = ns_motion_interaction(ed->motion, i), first = i;
    NsInteraction *inter = ed->nsds->interactions[e];
    inter->y[i - first] = ed->now->y[i];
    inter->ydot[i - first] = ed->now->u[i];
    inter->lambda[i - first] = 0;
    for (int k = 0; k < ed->nheld; k++)
      if (ed->held[k] == i) inter->lambda[i - first] = ed->lambda[k];
  }
}

static void write_impulses(NsEventDriven *ed) {
  for (int d = 0, at = 0; d < ed->nsds->nds; d++) {
    NsDs *ds = ed->nsds->ds[d];
    memcpy(ds->r, ed->impulse + at, (size_t)ds->nr * sizeof *ds->r);
    at += ds->nr;
  }
}

/* What the step did, between the energies before and after. */
static void add_works(NsEventDriven *ed, const double *before, const double *after, NsEnergyAccount *account) {
  double kinetic = after[0] - before[0], potential = after[1] - before[1];
  const double *w = ed->works;
  double impacts = ed->impact_energy + w[WORK_MULTIPLIERS], rest = kinetic - w[WORK_FORCES] - impacts;
  bool inertia = ns_motion_varying_mass(ed->motion);
  account->damping += w[WORK_DAMPING];
  account->forces += w[WORK_FORCES] - w[WORK_DAMPING] + potential + (inertia ? rest : 0);
  account->impacts += impacts;
  account->numerical += inertia ? 0 : rest;
}

static NsStatus finish(NsEventDriven *ed, const double *before, NsEnergyAccount *account, NsError *err) {
  double after[2];
  NsStatus status = ns_ed_accelerate(ed, ed->t, ed->q, ed->v, err);
  if (status == NS_OK) status = ns_motion_outputs(ed->motion, 0, NULL, ed->t, ed->q, ed->v, err);
  if (status == NS_OK && account) status = ns_motion_energy(ed->motion, ed->t, ed->q, ed->v, &after[0], &after[1], err);
  if (status != NS_OK) return status;
  if (account) add_works(ed, before, after, account);
  ns_motion_scatter(ed->motion, ed->q, ed->v);
  write_impulses(ed);
  write_interactions(ed);
  return NS_OK;
}

NsStatus ns_event_driven_step(NsEventDriven *ed, const NsEventOptions *options, NsOsnsp *problem, double t_k,
                              double t_next, NsEventLog *log, NsEnergyAccount *account, NsError *err) {
  double before[2] = {0, 0};
  ed->h = t_next - t_k;
  ed->log = log;
  log->count = log->kept;
  ed->problem = problem;
  ed->accounting = account != NULL;
  ed->t = t_k;
  ed->handled = ed->nheld = 0;
  ed->impact_energy = 0;
  NsStatus status = take_options(ed, options, err);
  if (status != NS_OK) return status;
  memset(ed->works, 0, WORKS * sizeof *ed->works);
  memset(ed->impulse, 0, (size_t)ed->Nv * sizeof *ed->impulse);
  ns_motion_gather(ed->motion, ed->q, ed->v);
  start_rows(ed);
  if (account) status = ns_motion_energy(ed->motion, t_k, ed->q, ed->v, &before[0], &before[1], err);
  if (status == NS_OK) status = check_start(ed, err);
  if (status == NS_OK) status = ns_ed_handle(ed, err);
  while (status == NS_OK && ed->t < t_next)
    status = options->fixed ? take_fixed_step(ed, t_next, err) : go_on(ed, t_next, err);
  return status == NS_OK ? finish(ed, before, account, err) : status;
}
