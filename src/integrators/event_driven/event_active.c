/*
** event_active.c
** Accelerations with the active constraints, and the tolerances of contacts.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/event_driven/event_driven.h"

/* Where a force may depend on time, steps are at most 1/RESOLVED of the run: their stages then sample it every 1/1000. */
enum { RESOLVED = 300 };

const char *ns_ed_name(const NsEventDriven *ed) {
  return ed->fixed ? "D1MinusLinearOSI" : "EventDriven";
}

const char *ns_ed_row_name(const NsEventDriven *ed, int row) {
  return ed->base.nsds->interactions[ns_motion_interaction(ed->motion, row)]->name;
}

NsStatus ns_ed_too_many_events(const NsEventDriven *ed, NsError *err) {
  return ns_fail(err, NS_EMAXITER, "EventDriven: more than %d events in a step of the grid", ed->options.max_events);
}

double ns_ed_length(double a, double b) {
  double most = fmax(fabs(a), fabs(b));
  int exponent;
  if (!(most > 0) || !isfinite(most)) return most;
  (void)frexp(most, &exponent);
  a = ldexp(a, -exponent);
  b = ldexp(b, -exponent);
  return ldexp(sqrt(a * a + b * b), exponent);
}

double ns_ed_sliding_speed(const NsEventDriven *ed, int row) {
  const double *u = ed->now->u + row;
  return ed->rows[row].friction.width == 1 ? fabs(u[0]) : ns_ed_length(u[0], u[1]);
}

double ns_ed_sliding_along(const NsEventDriven *ed, int row) {
  const Friction *friction = &ed->rows[row].friction;
  const double *u = ed->now->u + row;
  return friction->width == 1 ? friction->d[0] * u[0] : friction->d[0] * u[0] + friction->d[1] * u[1];
}

double ns_ed_stick_guard(const NsEventDriven *ed, int row, double *scale) {
  const Friction *friction = &ed->rows[row].friction;
  const double *force = ed->multiplier + row;
  if (friction->normal >= 0) {
    double most = friction->mu * ed->multiplier[friction->normal],
           size = friction->width == 1 ? fabs(force[0]) : ns_ed_length(force[0], force[1]);
    *scale = most * most;
    return (most - size) * (most + size);
  }
  double below = force[0] - friction->lower, above = friction->upper - force[0];
  bool least = isfinite(friction->lower), greatest = isfinite(friction->upper);
  *scale = least && greatest ? (friction->upper - friction->lower) * (friction->upper - friction->lower)
           : least           ? fabs(force[0]) + fabs(friction->lower)
                             : fabs(force[0]) + fabs(friction->upper);
  return least && greatest ? below * above : least ? below : greatest ? above : INFINITY;
}

/*
** Friction that begins to slip in space follows the direction in which it is pulled with the rate mu lambda_n / (m |u|), which
** is infinite at first: no explicit method gets away from there. So as long as the force that would make it stick exceeds its
** bound by less than ONSET of it, its direction is that of this force, the limit of the motion for |u| -> 0. With the time tau
** in which the excess would grow to 1 and the rate w of turning, the error of u is 0.2 ONSET^3 w tau of the velocity that it
** has after tau, and a slip needs about 0.3 / ONSET steps.
*/
static const double ONSET = 2e-4;

/*
** The same for a solver outside of the engine: its tolerance is 1e-6 or so, and it needs slips that are soon larger than that. 1e-2:
** the error of u is then 2e-7 w tau.
*/
static const double OUTSIDE_ONSET = 1e-2;

static double onset_part(const NsEventDriven *ed) {
  return ed->outside ? OUTSIDE_ONSET : ONSET;
}

double ns_ed_youth(const NsEventDriven *ed, int row) {
  const Friction *friction = &ed->rows[row].friction;
  const double *pull = ed->pulled + row;
  return (1 + onset_part(ed)) * friction->mu * ed->multiplier[friction->normal] - ns_ed_length(pull[0], pull[1]);
}

bool ns_ed_begins_onset(const NsEventDriven *ed, double a, double size) {
  return a <= onset_part(ed) * size;
}

static bool in_onset(const NsEventDriven *ed, int row) {
  return ns_ed_friction_is(ed, row, FRICTION_SLIP) && ed->rows[row].friction.onset;
}

/* ed->pulled: the forces that would make friction at the onset of slip stick. */
static NsStatus find_pull(NsEventDriven *ed, NsError *err) {
  int n = ed->nactive;
  memcpy(ed->pulling, ed->active, (size_t)n * sizeof *ed->pulling);
  for (int k = 0; k < ed->nacting; k++)
    for (int i = 0; i < 2 && in_onset(ed, ed->acting[k]); i++) ed->pulling[n++] = ed->acting[k] + i;
  if (n == ed->nactive) return NS_OK;
  NsStatus status = ns_motion_hold(ed->motion, n, ed->pulling, ed->W, ed->z, err);
  for (int k = ed->nactive; k < n && status == NS_OK; k++) ed->pulled[ed->pulling[k]] = ed->z[k];
  return status;
}

/*
** The direction d of friction at the present velocities. In space it is that of u, turned round where u is opposed to the
** direction at the start of the step: so the force is smooth while u passes through 0, and the event is located there.
*/
static void slide_direction(const NsEventDriven *ed, int row, double *d) {
  const Friction *friction = &ed->rows[row].friction;
  d[0] = friction->d[0];
  d[1] = friction->d[1];
  if (friction->width == 1) return;
  double speed = ns_ed_sliding_speed(ed, row), pull = ns_ed_length(ed->pulled[row], ed->pulled[row + 1]);
  for (int k = 0; k < 2 && friction->onset && pull > 0; k++) d[k] = -ed->pulled[row + k] / pull;
  if (friction->onset || friction->stops || !(speed > ed->slow[row])) return;
  double side = ns_ed_sliding_along(ed, row) < 0 ? -1 : 1;
  for (int k = 0; k < 2; k++) d[k] = side * ed->now->u[row + k] / speed;
}

/* Applies the force of friction that slips: that of a relay is given, that of a contact comes along with its normal force. */
static void apply_slip(NsEventDriven *ed, int row) {
  const Friction *friction = &ed->rows[row].friction;
  double d[2];
  if (friction->normal < 0) {
    ed->multiplier[row] = friction->d[0] > 0 ? friction->lower : friction->upper;
    ns_motion_push(ed->motion, row, ed->multiplier[row]);
    return;
  }
  slide_direction(ed, row, d);
  ns_motion_drag(ed->motion, friction->normal, friction->mu, row, friction->width, d);
  for (int i = 0; i < friction->width; i++) ed->multiplier[row + i] = d[i]; /* for now the direction */
}

/* Applies the forces of all friction that slips; friction at the onset of slip comes last, as its direction follows from the others. */
static NsStatus apply_sliding(NsEventDriven *ed, NsError *err) {
  for (int k = 0; k < ed->nacting; k++) {
    int row = ed->acting[k];
    if (ns_ed_friction_is(ed, row, FRICTION_SLIP) && !in_onset(ed, row)) apply_slip(ed, row);
  }
  NsStatus status = find_pull(ed, err);
  for (int k = 0; k < ed->nacting && status == NS_OK; k++)
    if (in_onset(ed, ed->acting[k])) apply_slip(ed, ed->acting[k]);
  return status;
}

/* ed->multiplier (m): the multipliers of all rows. */
static void spread_sliding(NsEventDriven *ed) {
  for (int k = 0; k < ed->nactive; k++) ed->multiplier[ed->active[k]] = ed->lambda[k];
  for (int k = 0; k < ed->nacting; k++) {
    int row = ed->acting[k];
    const Friction *friction = &ed->rows[row].friction;
    if (!ns_ed_friction_is(ed, row, FRICTION_SLIP) || friction->normal < 0) continue;
    for (int i = 0; i < friction->width; i++) ed->multiplier[row + i] *= -friction->mu * ed->multiplier[friction->normal];
  }
}

NsStatus ns_ed_accelerate(NsEventDriven *ed, double t, const double *q, const double *v, NsError *err) {
  int n = ed->nactive, acting = ed->nacting;
  NsStatus status = acting > 0 ? ns_motion_outputs(ed->motion, acting, ed->acting, t, q, v, err) : NS_OK;
  if (status == NS_OK) status = ns_motion_free_accelerations(ed->motion, t, q, v, err);
  if (status == NS_OK && acting > 0) status = ns_motion_couple(ed->motion, acting, ed->acting, t, q, v, err);
  if (status == NS_OK && ed->has_friction) status = apply_sliding(ed, err);
  if (status == NS_OK) status = ns_motion_hold(ed->motion, n, ed->active, ed->W, ed->lambda, err);
  if (status != NS_OK) return status;
  memcpy(ed->acceleration, ed->now->a_free, (size_t)ed->Nv * sizeof *ed->acceleration);
  ns_motion_add_input(ed->motion, n, ed->active, ed->lambda, ed->acceleration);
  if (ed->has_friction) spread_sliding(ed);
  return NS_OK;
}

void ns_ed_forces(const NsEventDriven *ed, double *force) {
  memset(force, 0, (size_t)ed->m * sizeof *force);
  for (int k = 0; k < ed->nacting && ed->has_friction; k++) force[ed->acting[k]] = ed->multiplier[ed->acting[k]];
  for (int k = 0; k < ed->nactive; k++) force[ed->active[k]] = ed->lambda[k];
}

double ns_ed_tolerance(const NsEventDriven *ed, int row) {
  return ed->options.tolerance_in_units ? ed->options.tolerance : ed->options.tolerance * ed->reach[row];
}

double ns_ed_rounding(const NsEventDriven *ed, int row) {
  return fmax(ed->now->rounding[row], ed->drift[row]);
}

void ns_ed_measure_drift(NsEventDriven *ed, double h) {
  for (int i = 0; i < ed->m; i++) {
    double terms = 0;
    for (int j = 0; j < ed->Nv; j++) terms += fabs(ed->now->H[i + (size_t)j * (size_t)ed->m] * ed->now->a_free[j]);
    ed->drift[i] = fmax(ed->drift[i], DBL_EPSILON / 8 * terms * h * h);
  }
}

double ns_ed_touching_level(const NsEventDriven *ed, int row, double y) {
  return fmin(0, y) - fmax(ns_ed_tolerance(ed, row) + ns_ed_rounding(ed, row), DBL_MIN);
}

double ns_ed_resolution(const NsEventDriven *ed) {
  return ed->options.max_step > 0 ? ed->options.max_step : (ed->t_last - ed->t_first) / RESOLVED;
}
