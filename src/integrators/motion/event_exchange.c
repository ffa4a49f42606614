/*
** event_exchange.c
** Event-driven mechanics for a solver outside of the engine: rates and guards in a mode, and what happens at events. Rates and guards
** are evaluated at the state projected on the constraints of the mode, so that errors of the solver across them do not grow.
*/
#include <math.h>
#include <string.h>

#include "integrators/motion/event_active.h"
#include "integrators/motion/motion_guard.h"

/*
** Least tolerance of a contact for such a solver, a part of the reach, see ns_ed_tolerance. 1e-10: bounces end when they take 1e-5 of
** the time of the highest one, a length that other solvers still resolve.
*/
static const double EXCHANGE_TOLERANCE = 1e-10;

/* The guards of the rows, and the one of their pole. */
static int outside_guards(const NsEventDriven *ed) {
  return ed->m > 0 ? ed->m + 1 : 0;
}

static void exchange_motion_sizes(const NsScheme *scheme, int *states, int *guards) {
  const NsEventDriven *ed = (const NsEventDriven *)scheme;
  *states = ed->Nq + ed->Nv;
  *guards = outside_guards(ed);
}

static void exchange_motion_name(const NsScheme *scheme, int i, int *system, char *letter, int *number) {
  const NsEventDriven *ed = (const NsEventDriven *)scheme;
  bool moves = i >= ed->Nq;
  int (*first)(const NsMotion *, int) = moves ? ns_motion_first_v : ns_motion_first_q, at = moves ? i - ed->Nq : i;
  int d = scheme->nsds->nds - 1;
  while (d > 0 && first(ed->motion, d) > at) d--;
  *system = scheme->nsds->ds[d]->index;
  *letter = moves ? 'v' : 'q';
  *number = at - first(ed->motion, d);
}

/* ---- a point ---- */

/* Takes the state z at t, projected on the constraints of the mode; evaluates all outputs and the accelerations. */
static NsStatus exchange_take(NsEventDriven *ed, double t, const double *z, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  double *reach = ed->event.kept; /* the state may be a guess of the solver: it leaves no trace in the reach */
  NsStatus status = NS_OK;
  memcpy(ed->run.u, z, (size_t)(ed->Nq + ed->Nv) * sizeof *z);
  ed->run.t = *ed->run.clock = t;
  ns_motion_normalise(ed->motion, ed->q);
  memcpy(reach, mode->reach, (size_t)ed->m * sizeof *reach);
  if (mode->nactive > 0)
    status = ns_motion_project(ed->motion, mode->nplaces, mode->nactive, mode->active, t, reach, ed->q, ed->v, ed->W, err);
  if (status == NS_OK) status = ns_motion_outputs(ed->motion, 0, NULL, t, ed->q, ed->v, err);
  return status == NS_OK ? ns_ed_accelerate(ed, t, ed->q, ed->v, err) : status;
}

static NsStatus exchange_motion_rate(NsScheme *scheme, double t, const double *z, double *rate, double *guards, NsError *err) {
  NsEventDriven *ed = (NsEventDriven *)scheme;
  NsStatus status = exchange_take(ed, t, z, err);
  if (status != NS_OK) return status;
  if (rate) {
    ns_motion_rate(ed->motion, ed->q, ed->v, rate);
    memcpy(rate + ed->Nq, ed->acceleration, (size_t)ed->Nv * sizeof *rate);
  }
  for (int i = 0; i < outside_guards(ed) && guards; i++) guards[i] = ns_motion_guard_outside(ed, i);
  return NS_OK;
}

static NsStatus exchange_motion_place(NsScheme *scheme, double t, const double *z, NsError *err) {
  return exchange_take((NsEventDriven *)scheme, t, z, err);
}

/* ---- steps and events ---- */

/*
** A solver that goes beyond an impact by d gives the body the velocity of a fall by d more. With the restitution e its bounces then do
** not fall below the height d e^2 / (1 - e^2), and never end. Bounces up to twice that height are rest.
*/
static void measure_past(NsEventDriven *ed) {
  for (int i = 0; i < ed->m; i++) {
    double e = ed->mode->rows[i].restitution,
           off = ns_motion_guard_kind(ed->mode, i) == GUARD_GAP ? -ns_motion_guard_outside(ed, i) : 0;
    ed->event.past[i] = off > 0 && e < 1 ? 2 * off * e * e / (1 - e * e) : 0;
  }
}

/* Handles the event of a row (-1: none in particular) at the present state. */
static NsStatus exchange_handle(NsEventDriven *ed, int row, NsError *err) {
  ed->run.handled = 0;
  ed->event.hit = row;
  return ns_ed_handle(ed, err);
}

static NsStatus exchange_motion_begin(NsScheme *scheme, const NsStep *step, const NsDrive *drive, double *z, NsError *err) {
  NsEventDriven *ed = (NsEventDriven *)scheme;
  NsStatus status = ns_ed_begin(ed, step, step->h, drive, err);
  ed->mode->asked = -1;
  ed->event.outside = true;
  if (!ed->run.options.tolerance_in_units) ed->run.options.tolerance = fmax(ed->run.options.tolerance, EXCHANGE_TOLERANCE);
  if (status == NS_OK && ed->run.t == ed->t_first)
    status = ns_ed_check_rows(ed, err); /* later on a gap of time-stepping may be below 0 */
  if (status == NS_OK) status = exchange_handle(ed, -1, err);
  if (status == NS_OK) memcpy(z, ed->run.u, (size_t)(ed->Nq + ed->Nv) * sizeof *z);
  return status;
}

static NsStatus exchange_motion_accept(NsScheme *scheme, double t, const double *z, bool *event, NsError *err) {
  NsEventDriven *ed = (NsEventDriven *)scheme;
  NsMotionMode *mode = ed->mode;
  NsStatus status = exchange_take(ed, t, z, err);
  *event = false;
  for (int i = 0; i < outside_guards(ed) && status == NS_OK; i++) *event = *event || ns_motion_guard_outside(ed, i) <= 0;
  if (status != NS_OK || *event) return status;
  double *level = ed->event.kept; /* no level falls: the solver may end its steps just before an event, again and again */
  for (int i = 0; i < ed->m; i++) level[i] = mode->rows[i].level;
  status = ns_ed_renew_levels(ed, err);
  for (int i = 0; i < ed->m; i++) mode->rows[i].level = fmax(mode->rows[i].level, level[i]);
  if (status == NS_OK) mode->asked = ns_ed_slowed_down(ed, NS_NEARLY_STOPPED, mode->reach);
  *event = status == NS_OK && mode->asked >= 0;
  return status;
}

/* Reads the laws anew: bounds, friction, restitution. Active contacts and friction stay as they are until the event is handled. */
static void read_laws(NsEventDriven *ed) {
  for (int i = 0; i < ed->m; i++) {
    Row *row = &ed->mode->rows[i], before = *row;
    *row = ns_ed_start_row(ed, i);
    ed->mode->drift[i] = 0;
    if (row->unilateral) row->state = before.state == ROW_ACTIVE ? ROW_ACTIVE : ROW_OPEN;
    if (before.friction.width > 0 && row->friction.width > 0) row->friction = before.friction;
  }
  ns_motion_mode_read_laws(ed->mode, ed->motion);
}

static NsStatus exchange_motion_event(NsScheme *scheme, double t, double *z, const bool *passed, bool renew, NsError *err) {
  NsEventDriven *ed = (NsEventDriven *)scheme;
  int first = ed->mode->asked;
  for (int i = 0; i < outside_guards(ed) && first < 0; i++)
    if (passed[i]) first = i;
  if (first < 0 && !renew) return NS_OK;
  NsStatus status = exchange_take(ed, t, z, err);
  if (status != NS_OK) return status;
  measure_past(ed);
  if (renew) read_laws(ed);
  status = exchange_handle(ed, first, err);
  for (int i = 0; i < ed->m && status == NS_OK; i++) { /* friction that has stopped at the same time */
    bool stopped = i != first && passed[i] && ns_motion_watched(ed->mode, i) == GUARD_SLIP && ns_ed_sliding_along(ed, i) <= 0;
    if (stopped) status = exchange_handle(ed, i, err);
  }
  ed->mode->asked = -1;
  if (status == NS_OK) memcpy(z, ed->run.u, (size_t)(ed->Nq + ed->Nv) * sizeof *z);
  return status;
}

static void exchange_motion_visit(NsScheme *scheme, NsVisitor visitor, void *context) {
  NsEventDriven *ed = (NsEventDriven *)scheme;
  visitor(context, "mode", ns_motion_mode_block(ed->mode), ed->mode->bytes);
}

const NsSchemeExchange ns_ed_exchange = {.sizes = exchange_motion_sizes,
                                         .name = exchange_motion_name,
                                         .begin = exchange_motion_begin,
                                         .rate = exchange_motion_rate,
                                         .accept = exchange_motion_accept,
                                         .event = exchange_motion_event,
                                         .place = exchange_motion_place,
                                         .visit = exchange_motion_visit};
