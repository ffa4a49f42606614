/*
** event_driven.c
** RungeKuttaOSI: event-driven integration of mechanics with unilateral contacts: smooth motion, located events, impacts, rest.
** Between events the active contacts (y = 0, u = 0, force lambda >= 0) and the bilateral constraints keep y'' = 0. dop853.h
** integrates the motion, and the impulse of each active contact along with it, so that the step control sees the contact forces.
** After every step the state is projected on the constraints. An event is the first time at which an open contact has y = 0,
** or an active contact has lambda = 0. bernstein.h finds it on the dense output, and misses no short contact. The step is then
** repeated up to the event, so that the event has the accuracy of a step. At an event:
**   impact      0 <= u + e u_k _|_ P >= 0 over all closed contacts, u = 0 for bilateral constraints (e = 0 for a
**               contact that was not approaching);
**   rest        a closed contact gets u = 0 when its bounce would not rise by `tolerance`, or has not done so: this ends
**               an infinite sequence of ever smaller bounces;
**   forces      0 <= y'' _|_ lambda >= 0 over the contacts with y = 0 and u = 0 decides which contacts are active now.
** Pfeiffer and Glocker, Multibody Dynamics with Unilateral Contacts, 1996; Acary and Brogliato, Numerical Methods for
** Nonsmooth Dynamical Systems, 2008, chapter 8.
** Error tolerance of a step of length h: rtol |v| for a velocity; rtol times the way in the step for a coordinate; plus atol
** times the value that the element would have with all of the body's energy (ns_motion_even). With atol_in_units atol is a
** number in the units of coordinates and velocities. The tolerance of a contact is relative to its reach, the largest height in
** the run (the height at the start, and the height of a fall to its velocity at impacts); with tolerance_in_units it is in the
** units of y. max_step NAN is 1/300 of the run where a force or a moving constraint may depend on time, else infinite. Outputs
** that are not linear are checked at that distance in any case.
*/

#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/motion/event_active.h"
#include "integrators/motion/event_kink.h"
#include "integrators/motion/event_links.h"
#include "integrators/motion/event_modes.h"
#include "integrators/motion/event_parting.h"
#include "integrators/motion/event_sensitivity.h"
#include "integrators/motion/motion_guard.h"

enum { MAX_SMOOTH_STEPS = 100000 }; /* limit from one event to the next, or to the end of a step of the grid */

/* NS_EARG for a restitution that leaves a velocity towards the contact: it would close again at once, without end. */
static NsStatus check_restitution(const NsInteraction *inter, const char *who, NsError *err) {
  double e = ns_law_restitution(inter->law, 0, 1);
  if (e >= 0) return NS_OK;
  return ns_fail(err, NS_EARG, "%s: interaction '%s' has the restitution %g; where impacts are located it is 0 or more", who,
                 inter->name, e);
}

/* What does instead of a law that is not taken. */
static const char *advice(const NsLaw *law) {
  if (ns_law_needs(law) & NS_NEEDS_UNILATERAL)
    return "write equations as an interaction with EqualityConditionNSL, and 0 <= y _|_ lambda >= 0 as one with "
           "NewtonImpactNSL(0); "
           "TimeStepping with a MoreauJeanOSI takes it";
  return "TimeStepping with a MoreauJeanOSI takes it";
}

NsStatus ns_ed_accepts(const NsNsds *nsds, NsMotionLaws laws, bool locates, const char *who, NsError *err) {
  for (int i = 0; i < nsds->ninteractions; i++) {
    const NsInteraction *inter = nsds->interactions[i];
    if (ns_relation_family(inter->relation) != NS_MECHANICS) continue;
    if (ns_law_needs(inter->law) & ~laws.needs)
      return ns_fail(err, NS_EARG, "%s: interaction '%s' has a %s; it takes %s (%s)", who, inter->name, ns_law_name(inter->law),
                     laws.names, advice(inter->law));
    if (ns_relation_holds_at_position(inter->relation))
      return ns_fail(err, NS_EARG, "%s: interaction '%s' has a %s, which computes a force from a position and is not a contact",
                     who, inter->name, ns_relation_class_name(inter->relation));
    NsStatus status = locates ? check_restitution(inter, who, err) : NS_OK;
    if (status != NS_OK) return status;
  }
  return ns_mechanical_unbound(nsds->ds, nsds->nds, who, err);
}

/* ---- making ---- */

NsStatus ns_ed_rate(void *context, double t, const double *x, double *xdot, NsError *err) {
  NsEventDriven *ed = context;
  const NsMotionMode *mode = ed->mode;
  const double *q = x, *v = x + ed->Nq;
  double *works = xdot + ed->Nq + ed->Nv;
  *ed->run.clock = t;
  NsStatus status = ns_ed_accelerate(ed, t, q, v, err);
  if (status != NS_OK) return status;
  ns_motion_rate(ed->motion, q, v, xdot);
  memcpy(xdot + ed->Nq, ed->acceleration, (size_t)ed->Nv * sizeof *xdot);
  memset(works, 0, WORKS * sizeof *works);
  double *impulses = works + WORKS;
  memset(impulses, 0, (size_t)ed->m * sizeof *impulses);
  for (int k = 0; k < mode->nactive; k++) impulses[mode->active[k]] = mode->lambda[k];
  ns_motion_power(ed->motion, v, &works[WORK_FORCES], &works[WORK_DAMPING]);
  for (int k = 0; k < mode->nplaces; k++)
    works[WORK_MULTIPLIERS] += mode->lambda[k] * ns_motion_speed(ed->motion, mode->active[k], v);
  for (int k = 0; k < mode->nacting && ed->has_friction; k++) {
    int row = mode->acting[k];
    if (!mode->rows[row].joint && !mode->rows[row].unilateral)
      works[WORK_FRICTION] += mode->multiplier[row] * ns_motion_speed(ed->motion, row, v);
  }
  return NS_OK;
}

static void motion_events_take_event(NsMotionEvent *event, NsArena *arena, int m) {
  NS_ARENA_VECTORS(arena, m, &event->before, &event->pressing, &event->u_after, &event->past, &event->kept);
  NS_ARENA_INTS(arena, m, &event->closed, &event->others);
  event->resting = ns_arena_take(arena, (size_t)m, sizeof *event->resting);
  event->fading = ns_arena_take(arena, (size_t)m, sizeof *event->fading);
  event->kinked = ns_arena_take(arena, (size_t)m, sizeof *event->kinked);
  event->was_active = ns_arena_take(arena, (size_t)m, sizeof *event->was_active);
  event->was = ns_arena_take(arena, (size_t)m, sizeof *event->was);
}

static void motion_events_take_search(NsMotionSearch *search, NsArena *arena, int m) {
  for (int j = 0; j < NS_BERNSTEIN_SIZE; j++) {
    NS_ARENA_VECTORS(arena, m + 1, &search->value[j], &search->rate[j]);
  }
  search->noise = ns_arena_doubles(arena, m + 1);
  search->slack = ns_arena_doubles(arena, m);
  search->curved = ns_arena_ints(arena, m);
}

static void motion_events_take_vectors(NsEventDriven *ed) {
  NsArena *arena = &ed->run.base.arena;
  NsMotionScales *scales = &ed->scales;
  int m = ed->m;
  int unknowns = ed->run.n + WORKS + m;
  ns_hybrid_take(&ed->run, unknowns, ed->run.n + 2 * m);
  NS_ARENA_VECTORS(arena, unknowns, &ed->slope, &scales->pace);
  ed->aside = ns_arena_doubles(arena, ed->Nq);
  NS_ARENA_VECTORS(arena, ed->Nv, &ed->p, &ed->acceleration, &ed->account.impulse, &scales->even, &scales->even_free,
                   &scales->even_all, &scales->even_noise, &scales->even_rate);
  ed->mode = ns_motion_mode_new(arena, m);
  ns_motion_problem_make(&ed->problem, arena, m);
  motion_events_take_event(&ed->event, arena, m);
  motion_events_take_search(&ed->search, arena, m);
  ed->W = ns_arena_matrix(arena, m, m);
  ed->pole_matrix = ns_arena_matrix(arena, m, m);
  ed->pulling = ns_arena_ints(arena, m);
  NS_ARENA_VECTORS(arena, m, &ed->pull, &ed->turning);
  ed->q = ed->run.u;
  ed->v = ed->run.u ? ed->run.u + ed->Nq : NULL;
  ed->works = ed->run.u ? ed->v + ed->Nv : NULL;
}

static NsStatus motion_events_build(NsEventDriven *ed) {
  NsStatus status = ns_motion_new(&ed->motion, ed->run.base.nsds);
  if (status != NS_OK) return status;
  ed->now = ns_motion_view(ed->motion);
  ed->Nq = ed->now->Nq;
  ed->Nv = ed->now->Nv;
  ed->m = ed->now->m;
  ed->run.n = ed->Nq + ed->Nv;
  motion_events_take_vectors(ed);
  for (int e = 0; e < ed->run.base.nsds->ninteractions; e++)
    if (ns_law_needs(ed->run.base.nsds->interactions[e]->law) & (NS_NEEDS_CONES | NS_NEEDS_BOX)) ed->has_friction = true;
  for (int e = 0; e < ed->run.base.nsds->ninteractions; e++)
    if (ns_law_needs(ed->run.base.nsds->interactions[e]->law) & NS_NEEDS_REACTION) ed->has_reactions = true;
  for (int e = 0; ed->mode && e < ed->run.base.nsds->ninteractions; e++)
    ed->mode->moving = ed->mode->moving || ns_law_varies(ed->run.base.nsds->interactions[e]->law);
  if (ed->has_friction) ed->modes = ns_ed_modes_new(&ed->run.base.arena, ed->m);
  if (ed->mode) ns_motion_share(ed->motion, ed->has_friction ? ed->mode->share : NULL, ed->mode->slow);
  return ed->run.base.arena.failed ? NS_ENOMEM : NS_OK;
}

NsStatus ns_ed_create(NsScheme **out, const NsHybridClass *class, const NsMotionSteps *steps, const NsIntegrator *integrator,
                      NsNsds *nsds, const NsSchemePlan *plan) {
  const NsSchemeClass *form = ns_scheme_form(integrator->class, NS_MECHANICS);
  NsEventDriven *ed = ns_scheme_take(sizeof *ed, form, integrator, nsds);
  if (!ed) return NS_ENOMEM;
  ed->run.clock = plan->clock;
  ed->run.class = class;
  ed->run.method = &ns_dop853_class;
  ed->steps = steps;
  ed->problem.who = form->locates ? "EventDriven" : form->name;
  ed->run.base.linear = true;
  if (motion_events_build(ed) != NS_OK) ed->run.base.arena.failed = true;
  return ns_scheme_hand_over(out, &ed->run.base);
}

void ns_ed_destroy(NsScheme *scheme) {
  NsEventDriven *ed = (NsEventDriven *)scheme;
  ed->run.method->destroy(ed->run.stepper);
  ns_motion_free(ed->motion);
  ns_sparse_free(ed->problem.sparse);
}

/* ---- the start of a step ---- */

/* Tolerance of a constraint at the start of a step, relative to the sum of the |terms| of y. 1e-6: data may have 6 digits. */
static const double START = 1e-6;

/*
** Whether y of a row that should be 0, or 0 at least, at the start of a step is off. After the start of the run it is not when it is below START of
** the way that forces, those of constraints and contacts too, and sliding would make in a step: that much is left of bodies that others hold, where
** y = 0 has no terms, as of a bearing at the origin.
*/
static bool is_off(NsEventDriven *ed, int row, NsStatus *status, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  double way = 0, *size = ed->p;
  *status = ns_motion_free_accelerations(ed->motion, ed->run.t, ed->q, ed->v, err);
  if (*status != NS_OK || ed->run.t == ed->t_first) return true;
  for (int j = 0; j < ed->Nv; j++) size[j] = fabs(ed->now->a_free[j]);
  for (int r = 0; r < ed->m; r++) {
    if (mode->multiplier[r] == 0) continue;
    ns_motion_form_X(ed->motion, r);
    for (int j = 0; j < ed->Nv; j++) size[j] += fabs(ed->now->X[j + (ptrdiff_t)r * ed->Nv] * mode->multiplier[r]);
  }
  ns_motion_even(ed->motion, size, ed->scales.even_free);
  for (int j = 0; j < ed->Nv; j++)
    way += fabs(ed->now->H[row + (size_t)j * (size_t)ed->m]) * ed->scales.even_free[j] * mode->h * mode->h;
  if (row + 1 < ed->m && mode->rows[row + 1].friction.width > 0) way += mode->reach[row + 1] * mode->h;
  return fabs(ed->now->y[row]) > START * way;
}

#define OVERLAP "EventDriven: interaction '%s': "
static const char overlap_at_start[] = OVERLAP "the bodies overlap at the start: y = %.6g",
                  overlap_later[] = OVERLAP
                  "the bodies overlap already where the step begins "
                  "(a contact that is linked too late, or a state that was set): y = %.6g";

/* Checks the rows at the start of a step. A contact that a script has opened is not active. The first step sets the reach. */
NsStatus ns_ed_check_rows(NsEventDriven *ed, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  NsStatus status = ns_motion_outputs(ed->motion, 0, NULL, ed->run.t, ed->q, ed->v, err);
  for (int i = 0; i < ed->run.base.nsds->ninteractions && status == NS_OK && ed->run.base.class->locates; i++)
    status = check_restitution(ed->run.base.nsds->interactions[i], ed->problem.who, err); /* a script may have changed it */
  for (int i = 0; i < ed->m && status == NS_OK; i++) {
    double y = ed->now->y[i], terms = ed->now->rounding[i] / (4 * DBL_EPSILON);
    double off = fmax(START * terms, 2 * ns_ed_tolerance(ed, i) + ns_ed_rounding(ed, i));
    if (ed->run.t == ed->t_first) mode->reach[i] = mode->rows[i].unilateral || mode->rows[i].joint ? fabs(y) : 0;
    if (mode->rows[i].unilateral && y > ns_ed_tolerance(ed, i) + ns_ed_rounding(ed, i)) mode->rows[i].state = ROW_OPEN;
    if (mode->rows[i].joint && fabs(y) > off && is_off(ed, i, &status, err) && status == NS_OK)
      return ns_fail(err, NS_EARG, "%s: interaction '%s': the constraint does not hold at the start: y = %.6g", ed->problem.who,
                     ns_motion_row_name(ed->motion, i), y);
    if (mode->rows[i].unilateral && y < -off && !ed->run.base.class->keeps_gaps && is_off(ed, i, &status, err) &&
        status == NS_OK)
      return ns_fail(err, NS_EARG, ed->run.t == ed->t_first ? overlap_at_start : overlap_later,
                     ns_motion_row_name(ed->motion, i), y);
  }
  return status;
}

/* ---- from event to event ---- */

/* Limit of the first step after an event, so that a short flight that begins there is seen. */
static double longest_flight(const NsEventDriven *ed) {
  double least = INFINITY;
  for (int i = 0; i < ed->m; i++) {
    const Row *row = &ed->mode->rows[i];
    if (row->state != ROW_DEPARTING) continue;
    double a = ed->now->bias[i];
    for (int j = 0; j < ed->Nv; j++) a += ed->now->H[i + (size_t)j * (size_t)ed->m] * ed->acceleration[j];
    if (a < 0) least = fmin(least, -3 * row->u0 / a);
  }
  return least;
}

/* Friction that slips: updates the largest sliding velocity, and the direction in space. */
static void renew_sliding(NsEventDriven *ed, int row) {
  const NsMotionMode *mode = ed->mode;
  Friction *friction = &mode->rows[row].friction;
  double speed = ns_ed_sliding_speed(ed, row);
  mode->reach[row] = fmax(mode->reach[row], speed);
  if (speed > 4 * NS_NEARLY_STOPPED * mode->reach[row]) friction->stops = false;
  if (speed > friction->begins) friction->begins = 0;
  for (int i = 0; i < 2 && friction->width == 2 && speed > fmax(mode->slow[row], friction->begins); i++)
    friction->d[i] = ed->now->u[row + i] / speed;
}

int ns_ed_slowed_down(NsEventDriven *ed, double part, const double *of) {
  const NsMotionMode *mode = ed->mode;
  int row = -1;
  for (int i = 0; i < ed->m && ed->has_friction; i++) {
    if (!ns_motion_friction_is(mode, i, FRICTION_SLIP)) continue;
    double before = mode->slid[i], slow = part * of[i];
    mode->slid[i] = ns_ed_sliding_speed(ed, i);
    if (mode->rows[i].friction.width == 2 && before > slow && mode->slid[i] <= slow) row = i;
  }
  return row;
}

/* After a step without an event: updates the levels at which open contacts close. */
NsStatus ns_ed_renew_levels(NsEventDriven *ed, NsError *err) {
  NsStatus status = ns_motion_outputs(ed->motion, 0, NULL, ed->run.t, ed->q, ed->v, err);
  for (int i = 0; i < ed->m && status == NS_OK; i++) {
    Row *row = &ed->mode->rows[i];
    if (ns_motion_friction_is(ed->mode, i, FRICTION_SLIP)) renew_sliding(ed, i);
    if (row->state == ROW_ACTIVE || !row->unilateral) continue;
    double y = ed->now->y[i], tolerance = ns_ed_tolerance(ed, i) + ns_ed_rounding(ed, i);
    bool clear = y > tolerance;
    if (clear) row->state = ROW_OPEN;
    row->level = clear ? 0 : fmin(row->level, ns_ed_touching_level(ed, i, y));
  }
  return status;
}

/* ---- what is accepted of errors ---- */

/* The accepted part of the sizes of velocities and accelerations. */
static double accepted_part(const NsEventDriven *ed) {
  return ed->run.options.atol_in_units ? DBL_EPSILON : ed->run.options.atol;
}

/*
** Estimates the rounding error of accelerations: evaluates them with t, q and v changed by 2^-26 (t stays within the
** time up to which data are known), and scales the difference to 4 spacings (2^-50). So the rounding of forces that cancel (a spring at
** rest) is counted in full.
*/
static NsStatus motion_events_measure_noise(NsEventDriven *ed, NsError *err) {
  static const double nudge = 0x1p-26, share = 0x1p-24;
  double *x = ed->run.sample, *a = ed->p, t = ed->run.t + nudge * fabs(ed->run.t);
  if (t > ed->run.t_data) t = ed->run.t - nudge * fabs(ed->run.t);
  memcpy(a, ed->acceleration, (size_t)ed->Nv * sizeof *a);
  for (int i = 0; i < ed->Nq + ed->Nv; i++) x[i] = ed->run.u[i] * (1 + nudge);
  *ed->run.clock = t;
  ed->event.nearly = true; /* where contacts part this changes the state beyond that place */
  NsStatus status = ns_ed_accelerate(ed, t, x, x + ed->Nq, err);
  ed->event.nearly = false;
  if (status != NS_OK) return status;
  for (int i = 0; i < ed->Nv; i++) {
    double changed = ed->acceleration[i];
    ed->acceleration[i] = a[i];
    a[i] = share * (changed - a[i]);
  }
  ns_ed_add_slip_noise(ed, accepted_part(ed), a);
  ns_motion_even(ed->motion, a, ed->scales.even_noise);
  return NS_OK;
}

/* Error tolerance of the impulse of an active contact: from the tolerances of the velocities of its row; units: the absolute one. */
static void weigh_impulse(NsEventDriven *ed, int k, double share, double units) {
  const NsMotionMode *mode = ed->mode;
  const NsMotionScales *scales = &ed->scales;
  int row = mode->active[k], at = ed->Nq + ed->Nv + WORKS + row;
  double own = ed->W[k + (size_t)k * (size_t)mode->nactive], speed = 0, gain = 0;
  if (mode->rows[row].joint || !(own > 0)) return;
  for (int j = 0; j < ed->Nv; j++) {
    double h = fabs(ed->now->H[row + (size_t)j * (size_t)ed->m]);
    speed += h * (share * scales->even[j] + units);
    gain += h * (share * (scales->even_free[j] + scales->even_all[j]) + scales->even_noise[j]);
  }
  ed->run.atol[at] = speed / own;
  scales->pace[at] = gain / own;
}

/*
** Computes ed->run.atol and ed->scales.pace for the next step of about length h, from the present state and accelerations. The errors of
** velocities, integrated over h, are allowed for coordinates.
*/
static void weigh_errors(NsEventDriven *ed, double h) {
  const NsMotionScales *scales = &ed->scales;
  const NsEventOptions *o = &ed->run.options;
  double share = accepted_part(ed), units = o->atol_in_units ? o->atol : 0;
  double *qdot = ed->slope, *fastest = ed->run.sample, *way = ed->p;
  for (int i = 0; i < ed->Nv; i++) {
    ed->run.atol[ed->Nq + i] = units + share * scales->even[i];
    scales->pace[ed->Nq + i] = share * (scales->even_free[i] + scales->even_all[i]) + scales->even_noise[i];
    way[i] = share * scales->even[i] + h * scales->pace[ed->Nq + i];
  }
  ns_motion_rate(ed->motion, ed->q, ed->v, qdot);
  ns_motion_fastest(ed->motion, way, fastest);
  for (int i = 0; i < ed->Nq; i++) {
    ed->run.atol[i] = units + 4 * DBL_EPSILON * fabs(ed->q[i]);
    scales->pace[i] = o->rtol * fabs(qdot[i]) + fastest[i];
  }
  for (int i = ed->Nq + ed->Nv; i < ed->run.unknowns; i++) ed->run.atol[i] = INFINITY, scales->pace[i] = 0;
  for (int k = 0; k < ed->mode->nactive; k++) weigh_impulse(ed, k, share, units);
}

/* Before a step: computes the accelerations, and the scales of velocities and accelerations. */
static NsStatus measure_motion(NsEventDriven *ed, NsError *err) {
  const NsMotionScales *scales = &ed->scales;
  NsStatus status = ns_ed_accelerate(ed, ed->run.t, ed->q, ed->v, err);
  if (status != NS_OK) return status;
  ns_motion_even(ed->motion, ed->v, scales->even);
  ns_motion_even(ed->motion, ed->now->a_free, scales->even_free);
  ns_motion_even(ed->motion, ed->acceleration, scales->even_all);
  return motion_events_measure_noise(ed, err);
}

/* A body is at rest when its acceleration makes its velocity within 100 AT_REST of the way. 1e-6: chosen by experience. */
static const double AT_REST = 1e-6;

/*
** Chooses the length of a first step from the rate of change of the accelerations. With the scales v, a, j of velocity,
** acceleration and its rate, max(sqrt(v/j), a/j) is the time of change of an element (1/w for an oscillation). The step is 4
** rtol^(1/8) times the shortest, as the error of a method of order 8 allows. When nothing changes it is the way to the end.
*/
static NsStatus motion_events_first_length(NsEventDriven *ed, double way, double *length, NsError *err) {
  const NsMotionScales *scales = &ed->scales;
  double h = 1e-3 * way, *x = ed->run.sample, *qdot = ed->slope, *jump = ed->p;
  for (int i = 0; i < ed->Nv; i++) {
    double turn = 0.01 * scales->even[i] / (scales->even_free[i] + scales->even_all[i]);
    if (turn > AT_REST * way) h = fmin(h, turn);
  }
  ns_motion_rate(ed->motion, ed->q, ed->v, qdot);
  for (int i = 0; i < ed->Nq; i++) x[i] = ed->q[i] + h * qdot[i];
  for (int i = 0; i < ed->Nv; i++) x[ed->Nq + i] = ed->v[i] + h * ed->acceleration[i], jump[i] = ed->acceleration[i];
  NsStatus status = ns_ed_accelerate(ed, ed->run.t + h, x, x + ed->Nq, err);
  *length = 1e-3 * way;
  if (status == NS_ERETRY || status == NS_ENAN || status == NS_ENOSOL) return NS_OK;
  for (int i = 0; i < ed->Nv; i++) jump[i] = (ed->acceleration[i] - jump[i]) / h;
  ns_motion_even(ed->motion, jump, scales->even_rate);
  *length = way;
  for (int i = 0; i < ed->Nv; i++) {
    double v = scales->even[i], a = scales->even_all[i], j = scales->even_rate[i];
    if (j > 0) *length = fmin(*length, 4 * pow(ed->run.options.rtol, 1.0 / 8) * fmax(sqrt(v / j), a / j));
  }
  if (!(*length > 0)) *length = 1e-3 * way;
  return status;
}

/* Takes the stepper's state, projected on the constraints. */
static NsStatus motion_events_take(NsHybrid *run, NsError *err) {
  NsEventDriven *ed = (NsEventDriven *)run;
  const NsMotionMode *mode = ed->mode;
  memcpy(run->u, run->stepper->state.y, (size_t)run->unknowns * sizeof *run->u);
  run->t = run->stepper->state.t;
  ns_motion_normalise(ed->motion, ed->q);
  int n, places, *rows = ed->event.others;
  ns_ed_active_but_kinks(ed, rows, &n, &places);
  if (n == 0) return NS_OK;
  return ns_motion_project(ed->motion, places, n, rows, run->t, mode->reach, ed->q, ed->v, ed->W, err);
}

/* The longest step: maxStep, or where a force may depend on time the resolution. */
static double motion_longest_step(const NsEventDriven *ed) {
  bool driven = ed->run.options.max_step > 0 || ns_motion_driven(ed->motion, ed->mode->nacting, ed->mode->acting);
  return driven ? ns_ed_resolution(ed) : INFINITY;
}

/* Prepares the stepper for smooth motion from the present state. */
static NsStatus motion_events_begin(NsHybrid *run, NsError *err) {
  NsEventDriven *ed = (NsEventDriven *)run;
  double first;
  ed->smooth = 0;
  run->longest = motion_longest_step(ed);
  NsStatus status = measure_motion(ed, err);
  run->longest = fmin(run->longest, longest_flight(ed));
  if (status == NS_OK) status = motion_events_first_length(ed, run->t_next - run->t, &first, err);
  if (status != NS_OK) return status;
  weigh_errors(ed, fmin(first, run->longest));
  ns_rk_start(run->stepper, run->t, run->u, run->t_next, first);
  return NS_OK;
}

static NsStatus motion_events_advance(NsHybrid *run, int *row, NsError *err) {
  NsEventDriven *ed = (NsEventDriven *)run;
  if (ed->smooth++ == MAX_SMOOTH_STEPS)
    return ns_fail(err, NS_EMAXITER,
                   "EventDriven: more than %d steps of the integrator to the next event or time of the grid (t=%.10g)",
                   MAX_SMOOTH_STEPS, run->t);
  run->stepper->h_limit = run->longest;
  NsStatus status = ns_rk_step(run->stepper, err);
  if (status == NS_OK) status = ns_ed_search(ed, row, err);
  bool parts = status == NS_ENOSOL;
  if (parts) status = ns_ed_go_to_parting(ed, row, err);
  if (status != NS_OK || (parts && *row >= 0)) return status; /* just behind that place the contacts that act do not agree */
  return ns_ed_look_at_links(ed, row, err);
}

static NsStatus motion_events_renew(NsHybrid *run, int *row, bool *ends, NsError *err) {
  NsEventDriven *ed = (NsEventDriven *)run;
  NsStatus status = NS_OK;
  *ends = run->log->stopped;
  if (run->t < run->t_next || ed->has_friction) status = ns_ed_renew_levels(ed, err);
  if (status != NS_OK) return status;
  *row = ns_ed_slowed_down(ed, 1, ed->mode->slow);
  if (*row >= 0 || *ends || run->t >= run->t_next) return NS_OK;
  run->longest = motion_longest_step(ed);
  status = measure_motion(ed, err);
  if (status != NS_OK) return status;
  weigh_errors(ed, fmin(run->stepper->state.h_next, run->longest));
  ns_rk_replace(run->stepper, run->u);
  return NS_OK;
}

/* ---- events ---- */

/* ed->mode->multiplier (m) = the multipliers of all rows; those that are not active are 0. */
static void spread_multipliers(NsEventDriven *ed) {
  const NsMotionMode *mode = ed->mode;
  if (ed->has_friction) return; /* the accelerations have set them */
  memset(mode->multiplier, 0, (size_t)ed->m * sizeof *mode->multiplier);
  for (int k = 0; k < mode->nactive; k++) mode->multiplier[mode->active[k]] = mode->lambda[k];
}

static NsStatus motion_events_evaluate(NsHybrid *run, double t, const double *u, NsError *err) {
  NsEventDriven *ed = (NsEventDriven *)run;
  NsStatus status = ns_ed_accelerate(ed, t, u, u + ed->Nq, err);
  if (status == NS_OK) status = ns_motion_outputs(ed->motion, 0, NULL, t, u, u + ed->Nq, err);
  spread_multipliers(ed);
  return status;
}

static void motion_events_row(const NsHybrid *run, const double *u, double *row) {
  const NsEventDriven *ed = (const NsEventDriven *)run;
  const double *q = u, *v = u + ed->Nq;
  for (int d = 0; d < run->base.nsds->nds; d++) {
    const NsDs *ds = run->base.nsds->ds[d];
    memcpy(row, q, (size_t)ds->nx * sizeof *row);
    memcpy(row + ds->nx, v, (size_t)ds->nr * sizeof *row);
    row += ds->n, q += ds->nx, v += ds->nr;
  }
  memcpy(row, ed->mode->multiplier, (size_t)ed->m * sizeof *row);
  memcpy(row + ed->m, ed->now->y, (size_t)ed->m * sizeof *row);
}

/* Handles an event, and tells both of its sides; the side before has been kept. Nothing is told when nothing happens. */
static NsStatus handle_and_tell(NsEventDriven *ed, NsError *err) {
  long events = ed->run.log->count;
  NsStatus status = ns_ed_handle(ed, err);
  if (status != NS_OK || ed->run.log->count == events || !ed->run.sink) return status;
  status = ns_motion_outputs(ed->motion, 0, NULL, ed->run.t, ed->q, ed->v, err);
  if (status == NS_OK) status = ns_hybrid_tell_kept(&ed->run, ed->run.t, err);
  spread_multipliers(ed);
  return status == NS_OK ? ns_hybrid_tell_side(&ed->run, err) : status;
}

/* Counts the event of a row. Fails when there are too many, or when rounding alone makes one follow another without progress of time. */
static NsStatus count_event(NsEventDriven *ed, int row, NsError *err) {
  /*
  ** Limit of such events, besides 1 for each row (a force that begins where nothing holds has 233); spacings of time that are no progress: steps up
  ** to an event that occurs at once have some tens.
  */
  enum { STUCK = 400, RESOLUTION = 256 };
  const NsHybrid *run = &ed->run;
  NsMotionProgress *progress = &ed->progress;
  bool goes_on = run->t - progress->t > RESOLUTION * DBL_EPSILON * fmax(fabs(run->t), run->t_next - run->t_k);
  if (++ed->run.handled > run->options.max_events) return ns_ed_too_many_events(ed, err);
  progress->stuck = goes_on ? 0 : progress->stuck + 1;
  progress->t = run->t;
  if (row < ed->m && row != progress->row) progress->other = progress->row, progress->row = row;
  if (progress->stuck <= STUCK + ed->m) return NS_OK;
  bool two = progress->other >= 0;
  return ns_fail(err, NS_EMAXITER, "EventDriven: '%s'%s%s%s: events again and again without progress of time",
                 ns_motion_row_name(ed->motion, progress->row), two ? " and '" : "",
                 two ? ns_motion_row_name(ed->motion, progress->other) : "", two ? "'" : "");
}

static NsStatus motion_events_handle(NsHybrid *run, int row, NsError *err) {
  NsEventDriven *ed = (NsEventDriven *)run;
  NsStatus status = count_event(ed, row, err);
  if (status != NS_OK) return status;
  ed->event.hit = row;
  if (run->sink) status = motion_events_evaluate(run, run->t, run->u, err);
  ns_hybrid_keep_side(run);
  return status == NS_OK ? handle_and_tell(ed, err) : status;
}

/* ---- the end of a step ---- */

/* Adds the works of the step to the account; before, after: the energies. */
static void motion_events_add_works(NsEventDriven *ed, const double *before, const double *after, NsEnergyAccount *account) {
  double kinetic = after[0] - before[0], potential = after[1] - before[1];
  const double *w = ed->works;
  double impacts = ed->account.impacts + w[WORK_MULTIPLIERS], friction = ed->account.friction + w[WORK_FRICTION];
  double rest = kinetic - w[WORK_FORCES] - impacts - friction;
  bool inertia = ns_motion_varying_mass(ed->motion);
  account->damping += w[WORK_DAMPING];
  account->forces += w[WORK_FORCES] - w[WORK_DAMPING] + potential + (inertia ? rest : 0);
  account->impacts += impacts;
  account->friction += friction;
  account->numerical += inertia ? 0 : rest;
}

NsStatus ns_ed_finish(NsHybrid *run, NsError *err) {
  NsEventDriven *ed = (NsEventDriven *)run;
  NsEnergyAccount *account = ed->account.of;
  double after[2];
  NsStatus status = ns_ed_accelerate(ed, run->t, ed->q, ed->v, err);
  if (status == NS_OK) status = ns_motion_outputs(ed->motion, 0, NULL, run->t, ed->q, ed->v, err);
  if (status == NS_OK && account) status = ns_motion_energy(ed->motion, run->t, ed->q, ed->v, &after[0], &after[1], err);
  if (status == NS_OK && account) motion_events_add_works(ed, ed->account.before, after, account);
  return status;
}

NsStatus ns_ed_begin(NsEventDriven *ed, const NsStep *step, double h, const NsDrive *drive, NsError *err) {
  NsHybrid *run = &ed->run;
  bool anew;
  ns_hybrid_start(run, step, drive);
  if (!run->base.class->locates) run->sink = NULL, run->sensitivity = NULL;
  ed->mode->h = h;
  ed->mode->t_k = run->t;
  ed->problem.solver = drive->solver;
  ed->account.of = drive->account;
  ed->account.impacts = ed->account.friction = 0;
  ed->event.hit = -1;
  ns_ed_forget_kinks(ed);
  ed->progress = (NsMotionProgress){.t = -INFINITY, .row = -1, .other = -1};
  NsOdeProblem problem = {.n = run->n + WORKS + ed->m, .rate = ns_ed_rate, .context = ed};
  NsStatus status = ns_hybrid_take_stepper(run, problem, &anew, err);
  if (status == NS_OK && ed->mode->moving) status = ns_nsds_update_bounds(run->base.nsds, run->t, err);
  if (status != NS_OK) return status;
  if (anew) ns_dop853_weigh((NsRk *)run->stepper, ed->scales.pace, ed->Nq);
  memset(ed->works, 0, (size_t)(WORKS + ed->m) * sizeof *ed->works);
  ed->t_first = run->base.nsds->t0;
  ed->t_last = run->base.nsds->T;
  memset(ed->account.impulse, 0, (size_t)ed->Nv * sizeof *ed->account.impulse);
  ns_motion_gather(ed->motion, ed->q, ed->v);
  ns_ed_start_rows(ed);
  return NS_OK;
}

/* The memories at t_k, with what happens there. */
NsStatus ns_ed_start(NsHybrid *run, const NsStep *step, const NsDrive *drive, NsError *err) {
  NsEventDriven *ed = (NsEventDriven *)run;
  double *before = ed->account.before;
  NsStatus status = ns_ed_begin(ed, step, step->t - step->t_k, drive, err);
  if (status == NS_OK && drive->account)
    status = ns_motion_energy(ed->motion, run->t, ed->q, ed->v, &before[0], &before[1], err);
  if (status == NS_OK) status = ns_ed_check_rows(ed, err);
  if (status == NS_OK) status = ns_ed_sense_begin(ed, err);
  if (status == NS_OK && run->sink) status = ns_motion_outputs(ed->motion, 0, NULL, run->t, ed->q, ed->v, err);
  if (status == NS_OK) ns_hybrid_keep_side(run);
  return status == NS_OK ? handle_and_tell(ed, err) : status;
}

/* ---- the class ---- */

/* A bounce of that velocity, under the pressing acceleration, rises to the tolerance plus the rounding of y. */
static double runge_kutta_slow(const NsEventDriven *ed, double press, double rise) {
  (void)ed;
  return sqrt(2 * press * rise);
}

static NsStatus runge_kutta_stop(NsEventDriven *ed, int places, int n, const int *rows, NsError *err) {
  return ns_motion_project(ed->motion, places, n, rows, ed->run.t, ed->mode->reach, ed->q, ed->v, ed->W, err);
}

static const NsMotionSteps runge_kutta_steps = {runge_kutta_slow, runge_kutta_stop};

static const NsHybridClass motion_events_class = {.start = ns_ed_start,
                                                  .finish = ns_ed_finish,
                                                  .go_on = ns_hybrid_go_on,
                                                  .begin = motion_events_begin,
                                                  .advance = motion_events_advance,
                                                  .take = motion_events_take,
                                                  .renew = motion_events_renew,
                                                  .handle = motion_events_handle,
                                                  .evaluate = motion_events_evaluate,
                                                  .row = motion_events_row,
                                                  .linearise = ns_ed_linearise,
                                                  .after = ns_ed_linearised,
                                                  .fit = ns_ed_fit,
                                                  .rates = ns_ed_lin_rates,
                                                  .given = &ns_motion_given};

/* Joints, contacts with restitution; with friction and relays. */
static const NsMotionLaws runge_kutta_laws = {
    NS_NEEDS_EQUATION | NS_NEEDS_IMPACT | NS_NEEDS_BOX | NS_NEEDS_CONE_2D | NS_NEEDS_CONE_3D | NS_NEEDS_SORTS |
        NS_NEEDS_ROLLING | NS_NEEDS_REACTION | NS_NEEDS_EXCHANGE | NS_NEEDS_VISCOUS,
    "NewtonImpactNSL, NewtonImpactFrictionNSL, NewtonImpactRollingFrictionNSL, "
    "NewtonImpactSpinningFrictionNSL, MultipleImpactNSL, PoissonImpactNSL, RelayNSL, JointFrictionNSL, DampingNSL and "
    "EqualityConditionNSL"};

static NsStatus runge_kutta_accepts(const NsNsds *nsds, NsError *err) {
  return ns_ed_accepts(nsds, runge_kutta_laws, true, ns_scheme_runge_kutta_text, err);
}

static NsStatus runge_kutta_create(NsScheme **out, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan) {
  return ns_ed_create(out, &motion_events_class, &runge_kutta_steps, integrator, nsds, plan);
}

const NsSchemeClass ns_form_motion = {.name = ns_scheme_runge_kutta_text,
                                      .family = NS_MECHANICS,
                                      .locates = true,
                                      .senses = true,
                                      .whole = true,
                                      .accelerates = true,
                                      .accepts = runge_kutta_accepts,
                                      .create = runge_kutta_create,
                                      .destroy = ns_ed_destroy,
                                      .commit = ns_ed_commit,
                                      .drive = ns_hybrid_drive,
                                      .exchange = &ns_ed_exchange};
