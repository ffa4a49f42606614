/*
** event_active.c
** Accelerations with the active constraints, and the tolerances of contacts.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/motion/event_active.h"

#include "integrators/motion/event_joint.h"

/* Where a force may depend on time, steps are at most 1/RESOLVED of the run: their stages then sample it every 1/1000. */
enum { RESOLVED = 300 };

NsStatus ns_ed_too_many_events(const NsEventDriven *ed, NsError *err) {
  return ns_fail(err, NS_EMAXITER, "EventDriven: more than %d events in a step of the grid", ed->run.options.max_events);
}

double ns_ed_sliding_speed(const NsEventDriven *ed, int row) {
  const double *u = ed->now->u + row;
  return ed->mode->rows[row].friction.width == 1 ? fabs(u[0]) : ns_motion_length(u[0], u[1]);
}

double ns_ed_sliding_along(const NsEventDriven *ed, int row) {
  const Friction *friction = &ed->mode->rows[row].friction;
  const double *u = ed->now->u + row;
  return friction->width == 1 ? friction->d[0] * u[0] : friction->d[0] * u[0] + friction->d[1] * u[1];
}

bool ns_ed_turns_with_slip(const NsEventDriven *ed, int row) {
  const Friction *friction = &ed->mode->rows[row].friction;
  bool keeps = friction->width != 2 || friction->onset || friction->stops;
  return !keeps && ns_ed_sliding_speed(ed, row) > fmax(ed->mode->slow[row], friction->begins);
}

/*
** Friction that begins to slip in space follows the direction in which it is pulled with the rate mu lambda_n / (m |u|), which
** is infinite at first: no explicit method gets away from there. So as long as the force that would make it stick exceeds its
** bound by less than ONSET of it, its direction is the direction of this force, the limit of the motion for |u| -> 0. With the time tau
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
  return ed->event.outside ? OUTSIDE_ONSET : ONSET;
}

double ns_ed_onset_guard(const NsEventDriven *ed, int row) {
  const NsMotionMode *mode = ed->mode;
  const Friction *friction = &mode->rows[row].friction;
  const double *pull = mode->pulled + row;
  return (1 + onset_part(ed)) * friction->mu * mode->multiplier[friction->normal] - ns_motion_length(pull[0], pull[1]);
}

bool ns_ed_begins_onset(const NsEventDriven *ed, double a, double size) {
  return a <= onset_part(ed) * size;
}

static bool in_onset(const NsMotionMode *mode, int row) {
  return ns_motion_friction_is(mode, row, FRICTION_SLIP) && mode->rows[row].friction.onset;
}

/* ed->mode->pulled: the forces that would make friction at the onset of slip stick. */
static NsStatus find_pull(NsEventDriven *ed, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  int n = mode->nactive;
  memcpy(ed->pulling, mode->active, (size_t)n * sizeof *ed->pulling);
  for (int k = 0; k < mode->nacting; k++)
    for (int i = 0; i < 2 && in_onset(mode, mode->acting[k]); i++) ed->pulling[n++] = mode->acting[k] + i;
  if (n == mode->nactive) return NS_OK;
  NsStatus status = ns_motion_hold_nearly(ed->motion, n, ed->pulling, ed->W, ed->pull, err);
  for (int k = mode->nactive; k < n && status == NS_OK; k++) mode->pulled[ed->pulling[k]] = ed->pull[k];
  return status;
}

/*
** The direction d of friction at the present velocities. In space it is the direction of u, turned round where u is opposed to the
** direction at the start of the step: so the force is smooth while u passes through 0, and the event is located there. Friction that is
** tied keeps its direction: its u is 0, and what would make it stick is rounding alone.
*/
static void slide_direction(const NsEventDriven *ed, int row, double *d) {
  const NsMotionMode *mode = ed->mode;
  const Friction *friction = &mode->rows[row].friction;
  d[0] = friction->d[0];
  d[1] = friction->d[1];
  if (friction->width == 1 || friction->tied) return;
  double speed = ns_ed_sliding_speed(ed, row), pull = ns_motion_length(mode->pulled[row], mode->pulled[row + 1]);
  for (int k = 0; k < 2 && friction->onset && pull > 0; k++) d[k] = -mode->pulled[row + k] / pull;
  if (!ns_ed_turns_with_slip(ed, row)) return;
  double side = ns_ed_sliding_along(ed, row) < 0 ? -1 : 1;
  for (int k = 0; k < 2; k++) d[k] = side * ed->now->u[row + k] / speed;
}

/* Applies the force of friction that slips: the force of a relay is given, the force of a contact comes along with its normal force. */
static void apply_slip(NsEventDriven *ed, int row) {
  const NsMotionMode *mode = ed->mode;
  const Friction *friction = &mode->rows[row].friction;
  double d[2];
  if (friction->reactions > 0) {
    ns_ed_joint_apply(ed, row);
    return;
  }
  if (friction->normal < 0) {
    mode->multiplier[row] = friction->d[0] > 0 ? friction->lower : friction->upper;
    ns_motion_push(ed->motion, row, mode->multiplier[row]);
    return;
  }
  slide_direction(ed, row, d);
  ns_motion_drag(ed->motion, friction->normal, friction->mu, row, friction->width, d);
  for (int i = 0; i < friction->width; i++) mode->multiplier[row + i] = d[i]; /* for now the direction */
}

/* Applies the forces of all friction that slips; friction at the onset of slip comes last, as its direction follows from the others. */
static NsStatus apply_sliding(NsEventDriven *ed, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  for (int k = 0; k < mode->nacting; k++) {
    int row = mode->acting[k];
    if (ns_motion_friction_is(mode, row, FRICTION_SLIP) && !in_onset(mode, row)) apply_slip(ed, row);
  }
  NsStatus status = find_pull(ed, err);
  for (int k = 0; k < mode->nacting && status == NS_OK; k++)
    if (in_onset(mode, mode->acting[k])) apply_slip(ed, mode->acting[k]);
  return status;
}

/* ed->mode->multiplier (m): the multipliers of all rows. */
static void spread_sliding(const NsMotionMode *mode) {
  for (int k = 0; k < mode->nactive; k++) mode->multiplier[mode->active[k]] = mode->lambda[k];
  for (int k = 0; k < mode->nacting; k++) {
    int row = mode->acting[k];
    const Friction *friction = &mode->rows[row].friction;
    if (!ns_motion_friction_is(mode, row, FRICTION_SLIP) || friction->normal < 0) continue;
    for (int i = 0; i < friction->width; i++) mode->multiplier[row + i] *= -friction->mu * mode->multiplier[friction->normal];
  }
}

NsStatus ns_ed_read_bounds(NsEventDriven *ed, double t, NsError *err) {
  if (!ed->mode->moving) return NS_OK;
  NsMotionMode *mode = ed->mode;
  NsStatus status = ns_nsds_update_bounds(ed->run.base.nsds, t, err);
  for (int i = 0; i < ed->m && status == NS_OK; i++) {
    const Friction *friction = &mode->rows[i].friction;
    if (friction->width == 0 || friction->normal >= 0 || !friction->varies) continue;
    int e = ns_motion_interaction(ed->motion, i), at = i - ns_motion_first_row(ed->motion, e);
    const NsLaw *law = ed->run.base.nsds->interactions[e]->law;
    if (isinf(law->lower[at]) == isinf(friction->lower) && isinf(law->upper[at]) == isinf(friction->upper)) continue;
    return ns_fail(err, NS_EARG,
                   "EventDriven: interaction '%s': a bound becomes infinite, or finite (t=%.10g); a large number is one",
                   ns_motion_row_name(ed->motion, i), t);
  }
  if (status == NS_OK) ns_motion_mode_read_laws(mode, ed->motion);
  return status;
}

/* ---- friction that depends on the slip ---- */

const NsLaw *ns_ed_law(const NsEventDriven *ed, int row) {
  return ed->run.base.nsds->interactions[ns_motion_interaction(ed->motion, row)]->law;
}

void ns_ed_take_friction(NsEventDriven *ed, int row, double u) {
  Friction *friction = &ed->mode->rows[row].friction;
  if (!friction->slides) return;
  NsLawFriction at = ns_law_friction_at(ns_ed_law(ed, row), u, NULL);
  friction->mu = at.mu, friction->slope = at.slope;
}

NsStatus ns_ed_no_friction(const NsEventDriven *ed, int row, NsError *err) {
  return ns_fail(err, NS_ECALLBACK, "interaction '%s': mu failed", ns_motion_row_name(ed->motion, row));
}

NsLawFriction ns_ed_impulse_friction(const NsEventDriven *ed, int row, double u) {
  const Friction *friction = &ed->mode->rows[ns_motion_friction_row(ed->mode, row)].friction;
  if (!friction->slides) return (NsLawFriction){.mu = friction->mu};
  return ns_law_friction_at(ns_ed_law(ed, row), fabs(u), NULL);
}

/* The velocity of the slip of friction that begins in a row: along d, below 0 where it has passed its end; in space +-|u|. */
static double slip_velocity(const NsEventDriven *ed, int row) {
  const Friction *friction = &ed->mode->rows[row].friction;
  if (friction->stick_slip != FRICTION_SLIP) return 0;
  double along = ns_ed_sliding_along(ed, row), speed = ns_ed_sliding_speed(ed, row);
  if (!ns_ed_turns_with_slip(ed, row)) return along;
  return along < 0 ? -speed : speed;
}

static NsStatus take_frictions(NsEventDriven *ed, NsError *err) {
  for (int k = 0; k < ed->mode->nacting; k++) {
    int row = ed->mode->acting[k];
    if (!ed->mode->rows[row].friction.slides) continue;
    ns_ed_take_friction(ed, row, slip_velocity(ed, row));
    if (isnan(ed->mode->rows[row].friction.mu)) return ns_ed_no_friction(ed, row, err);
  }
  return NS_OK;
}

NsStatus ns_ed_accelerate(NsEventDriven *ed, double t, const double *q, const double *v, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  int n = mode->nactive, acting = mode->nacting;
  NsStatus status = ns_ed_read_bounds(ed, t, err);
  if (status == NS_OK && acting > 0) status = ns_motion_outputs(ed->motion, acting, mode->acting, t, q, v, err);
  if (status == NS_OK && ed->has_friction) status = take_frictions(ed, err);
  if (status == NS_OK) status = ns_motion_free_accelerations(ed->motion, t, q, v, err);
  if (status == NS_OK && acting > 0) status = ns_motion_couple(ed->motion, acting, mode->acting, t, q, v, err);
  if (status == NS_OK && ed->has_friction) status = apply_sliding(ed, err);
  NsStatus (*hold)(NsMotion *, int, const int *, double *, double *, NsError *) = ed->event.nearly ? ns_motion_hold_nearly
                                                                                                   : ns_motion_hold;
  if (status == NS_OK) status = hold(ed->motion, n, mode->active, ed->W, mode->lambda, err);
  if (status == NS_OK && ed->has_reactions) status = ns_ed_joint_hold(ed, err);
  if (status != NS_OK) return status;
  memcpy(ed->acceleration, ed->now->a_free, (size_t)ed->Nv * sizeof *ed->acceleration);
  ns_motion_add_input(ed->motion, n, mode->active, mode->lambda, ed->acceleration);
  if (ed->has_friction) spread_sliding(mode);
  return NS_OK;
}

void ns_ed_add_slip_noise(const NsEventDriven *ed, double accepted, double *a) {
  const NsMotionMode *mode = ed->mode;
  for (int k = 0; k < mode->nacting; k++) {
    int row = mode->acting[k];
    if (!ns_motion_friction_is(mode, row, FRICTION_SLIP)) continue;
    for (int c = row; c < row + mode->rows[row].friction.width; c++)
      for (int i = 0; i < ed->Nv; i++) {
        double rounding = 4 * DBL_EPSILON * fabs(ed->now->X[i + (size_t)c * (size_t)ed->Nv] * mode->multiplier[c]);
        if (rounding > accepted * fabs(ed->acceleration[i])) a[i] = fabs(a[i]) + rounding;
      }
  }
}

void ns_ed_forces(const NsEventDriven *ed, double *force) {
  const NsMotionMode *mode = ed->mode;
  memset(force, 0, (size_t)ed->m * sizeof *force);
  for (int k = 0; k < mode->nacting && ed->has_friction; k++) force[mode->acting[k]] = mode->multiplier[mode->acting[k]];
  for (int k = 0; k < mode->nactive; k++) force[mode->active[k]] = mode->lambda[k];
}

double ns_ed_tolerance(const NsEventDriven *ed, int row) {
  return ed->run.options.tolerance_in_units ? ed->run.options.tolerance : ed->run.options.tolerance * ed->mode->reach[row];
}

double ns_ed_rounding(const NsEventDriven *ed, int row) {
  return fmax(ed->now->rounding[row], ed->mode->drift[row]);
}

void ns_ed_measure_drift(NsEventDriven *ed, double h) {
  for (int i = 0; i < ed->m; i++) {
    double terms = 0;
    for (int j = 0; j < ed->Nv; j++) terms += fabs(ed->now->H[i + (size_t)j * (size_t)ed->m] * ed->now->a_free[j]);
    ed->mode->drift[i] = fmax(ed->mode->drift[i], DBL_EPSILON / 8 * terms * h * h);
  }
}

double ns_ed_touching_level(const NsEventDriven *ed, int row, double y) {
  return fmin(0, y) - fmax(ns_ed_tolerance(ed, row) + ns_ed_rounding(ed, row), DBL_MIN);
}

double ns_ed_resolution(const NsEventDriven *ed) {
  return ed->run.options.max_step > 0 ? ed->run.options.max_step : (ed->t_last - ed->t_first) / RESOLVED;
}
