/*
** motion_guard.c
** The guards of mechanics: gaps, forces, friction that sticks or slips, the onset of slip, the pole of the forces.
*/
#include "integrators/motion/motion_guard.h"

#include <float.h>
#include <math.h>

#include "integrators/motion/event_active.h"
#include "integrators/motion/event_pole.h"

/* Newton on t ends when |y - level| is this part of the rounding of y (8 spacings of its terms): half a spacing. */
static const double ROUNDED = 0x1p-4;

/* ---- the gap of an open contact ---- */

static double gap_value(const NsEventDriven *ed, int row) {
  return ed->now->y[row];
}

/* A contact that leaves starts at its y0 up to rounding: each bounce that began lower would gain velocity. */
static double gap_level(const NsEventDriven *ed, int row) {
  const Row *r = &ed->mode->rows[row];
  return r->state == ROW_DEPARTING && r->level < 0 ? r->y0 - fmax(ns_ed_rounding(ed, row), DBL_MIN) : r->level;
}

/*
** y - level. Of a contact that leaves at the start of the piece, where the root is no event: (y - y(0)) / x, with the known slope at 0. When
** such a piece is so short that y stays within 2 * noise, the guard gets a slack of noise / 2 after the start; this is less than a
** bounce of a contact that does not rest.
*/
static void gap_polynomial(const NsEventDriven *ed, int row, const NsGuardPiece *piece, double noise, int *n, double *b) {
  const Row *r = &ed->mode->rows[row];
  if (piece->from == 0 && r->state == ROW_DEPARTING && r->t0 == ed->run.stepper->state.t_old) {
    double way = r->u0 * piece->width * piece->length;
    for (int k = 1; k <= *n && way <= 2 * noise; k++) b[k] += 0.5 * noise;
    if (way > 2 * noise) b[1] = b[0] + way / *n;
    ns_bernstein_divide((*n)--, b);
    return;
  }
  double level = r->state == ROW_DEPARTING ? r->y0 - 0.5 * noise : r->level < 0 ? fmin(r->level, -noise) : 0;
  for (int k = 0; k <= *n; k++) b[k] -= level;
}

static NsStatus gap_distance(NsEventDriven *ed, int row, double *off, double *rate, double *rounding, NsError *err) {
  const NsStepperState *step = &ed->run.stepper->state;
  const Row *r = &ed->mode->rows[row];
  NsStatus status = ns_motion_outputs(ed->motion, 1, &row, step->t, step->y, step->y + ed->Nq, err);
  *off = ed->now->y[row] - (r->state == ROW_DEPARTING ? r->y0 : r->level);
  *rate = ed->now->u[row];
  *rounding = ROUNDED * ed->now->rounding[row];
  return status;
}

/* ---- the force of an active contact ---- */

static double force_value(const NsEventDriven *ed, int row) {
  return ns_motion_active_force(ed->mode, row);
}

/* The rounding of the terms of the force. */
static double force_noise(const NsEventDriven *ed, int row) {
  const NsMotionMode *mode = ed->mode;
  int k = 0;
  while (k < mode->nactive && mode->active[k] != row) k++;
  if (k == mode->nactive) return 0;
  double own = ed->W[k + (size_t)k * (size_t)mode->nactive], terms = fabs(ed->now->bias[row]);
  for (int j = 0; j < ed->Nv; j++) terms += fabs(ed->now->H[row + (size_t)j * (size_t)ed->m] * ed->now->a_free[j]);
  return 4 * DBL_EPSILON * (own > 0 ? terms / own : fabs(mode->lambda[k]));
}

/* ---- friction that sticks ---- */

static double stick_value(const NsEventDriven *ed, int row) {
  double scale;
  return ns_motion_stick_guard(ed->mode, row, &scale);
}

static double stick_noise(const NsEventDriven *ed, int row) {
  const Friction *friction = &ed->mode->rows[row].friction;
  bool both = isfinite(friction->lower) && isfinite(friction->upper);
  double noise = 0, reach = friction->normal >= 0 ? 2 * friction->mu * ed->mode->multiplier[friction->normal]
                            : both                ? friction->upper - friction->lower
                                                  : 1;
  for (int i = 0; i < friction->width; i++) noise += reach * force_noise(ed, row + i);
  if (friction->normal >= 0) noise += reach * friction->mu * force_noise(ed, friction->normal);
  for (int i = 0; i < friction->reactions; i++) noise += reach * friction->mu * force_noise(ed, friction->reaction + i);
  return noise;
}

static double stick_level(const NsEventDriven *ed, int row) {
  return ed->mode->rows[row].friction.level;
}

static void stick_polynomial(const NsEventDriven *ed, int row, const NsGuardPiece *piece, double noise, int *n, double *b) {
  (void)piece, (void)noise;
  for (int k = 0; k <= *n; k++) b[k] -= stick_level(ed, row) - ed->search.slack[row];
}

/* ---- friction that slips: its velocity along d ---- */

static double slip_noise(const NsEventDriven *ed, int row) {
  double noise = 0;
  for (int i = 0; i < ed->mode->rows[row].friction.width; i++) noise = fmax(noise, 4 * DBL_EPSILON * ed->now->u_terms[row + i]);
  return noise;
}

/* Friction that begins to slip has u = 0 up to rounding. */
static double slip_level(const NsEventDriven *ed, int row) {
  return -fmax(ed->mode->slow[row], DBL_MIN);
}

/*
** The guard of friction that slips, from the polynomial of its velocity along d. When it began at the start of the piece, the
** root there is removed: velocity over time or, where the acceleration was 0, too, up to rounding, over the square of the time. A velocity
** that stays below the one that counts as 0 has no event: other friction keeps it there.
*/
static void slip_polynomial(const NsEventDriven *ed, int row, const NsGuardPiece *piece, double noise, int *n, double *b) {
  const Friction *friction = &ed->mode->rows[row].friction;
  double most = 0;
  (void)noise;
  for (int k = 0; k <= *n; k++) most = fmax(most, fabs(b[k]));
  if (most <= ed->mode->slow[row]) {
    for (int k = 0; k <= *n; k++) b[k] = 1;
    return;
  }
  if (piece->from != 0 || friction->since != ed->run.stepper->state.t_old) return;
  double start = friction->pull * piece->width * piece->length / *n;
  bool pulled = start > 16 * DBL_EPSILON * most;
  b[0] = 0;
  b[1] = pulled ? start : 0;
  ns_bernstein_divide((*n)--, b);
  if (pulled) return;
  ns_bernstein_divide((*n)--, b);
}

static NsStatus slip_distance(NsEventDriven *ed, int row, double *off, double *rate, double *rounding, NsError *err) {
  const NsStepperState *step = &ed->run.stepper->state;
  const Friction *friction = &ed->mode->rows[row].friction;
  NsStatus status = ns_ed_accelerate(ed, step->t, step->y, step->y + ed->Nq, err);
  *off = ns_ed_sliding_along(ed, row);
  *rate = 0;
  for (int i = 0; i < friction->width && status == NS_OK; i++)
    *rate += friction->d[i] * ns_motion_output_acceleration(ed->motion, row + i, ed->acceleration);
  *rounding = DBL_EPSILON * fabs(step->t * *rate);
  return status;
}

/* ---- the onset of slip, and the pole of the forces ---- */

static double onset_value(const NsEventDriven *ed, int row) {
  return ns_ed_onset_guard(ed, row - 1);
}

static double onset_noise(const NsEventDriven *ed, int row) {
  return force_noise(ed, ed->mode->rows[row - 1].friction.normal);
}

static double pole_noise(const NsEventDriven *ed, int row) {
  (void)row;
  return 16 * DBL_EPSILON * ed->mode->nactive;
}

/* ---- the table ---- */

const NsMotionGuard ns_motion_guards[] = {
    [GUARD_NONE] = {.forces = false},
    [GUARD_GAP] = {.event = "impact",
                   .value = gap_value,
                   .noise = ns_ed_rounding,
                   .level = gap_level,
                   .polynomial = gap_polynomial,
                   .distance = gap_distance,
                   .slope = ns_motion_tangent_output,
                   .vjp = ns_motion_vjp_output},
    [GUARD_FORCE] = {.event = "release",
                     .forces = true,
                     .value = force_value,
                     .noise = force_noise,
                     .slope = ns_motion_tangent_force,
                     .vjp = ns_motion_vjp_force},
    [GUARD_STICK] = {.event = "slip",
                     .forces = true,
                     .value = stick_value,
                     .noise = stick_noise,
                     .level = stick_level,
                     .polynomial = stick_polynomial,
                     .slope = ns_motion_tangent_force,
                     .vjp = ns_motion_vjp_force},
    [GUARD_SLIP] = {.event = "stick",
                    .value = ns_ed_sliding_along,
                    .noise = slip_noise,
                    .level = slip_level,
                    .polynomial = slip_polynomial,
                    .distance = slip_distance,
                    .slope = ns_motion_tangent_sliding,
                    .vjp = ns_motion_vjp_sliding},
    [GUARD_ONSET] = {.forces = true, .value = onset_value, .noise = onset_noise},
    [GUARD_POLE] = {.forces = true, .value = ns_ed_pole_guard, .noise = pole_noise},
};

double ns_motion_guard_outside(const NsEventDriven *ed, int row) {
  const NsMotionGuard *guard = &ns_motion_guards[ns_motion_watched(ed->mode, row)];
  return guard->value ? guard->value(ed, row) - (guard->level ? guard->level(ed, row) : 0) : 1;
}
