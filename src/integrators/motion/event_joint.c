/*
** event_joint.c
** Dry friction in joints, whose bounds follow the reaction: |lambda| <= own + mu |R|, with the multipliers R of the joint's equations.
** Such friction is a relay. While it sticks, its bounds follow from the forces. While it slips along d,
**   lambda = -d (own + mu e . R)   with e = R / |R|,
** so each equation of the joint brings a part of it along, as the normal of a contact brings its friction. Corrections of e are Newton's
** method for |R|: it is homogeneous, |R| = e . R, so that the derivative of e has no part.
*/
#include <float.h>
#include <math.h>

#include "integrators/motion/event_joint.h"

/* Corrections of e at most. From the direction at the start of a mode 3 to 5 are usual; with one equation e is 1 or -1. */
enum { MAX_TURNS = 40 };

/* A direction is found when no component of e changes by more. */
static const double SAME_DIRECTION = 4 * DBL_EPSILON;

/* The length of the multipliers x of the equations, a number for each row. */
static double reaction_length(const Friction *friction, const double *x) {
  double length = 0;
  for (int i = 0; i < friction->reactions; i++) length = ns_motion_length(length, x[friction->reaction + i]);
  return length;
}

/* The bounds at the multipliers of all rows. */
static void take_joint_bounds(Friction *friction, const double *multiplier) {
  friction->upper = friction->own + friction->mu * reaction_length(friction, multiplier);
  friction->lower = -friction->upper;
}

/* e of the multipliers x becomes along (both by row); returns the largest change. Without a reaction the direction stays. */
static double take_direction(const Friction *friction, const double *x, double *along) {
  double length = reaction_length(friction, x), most = 0;
  for (int i = friction->reaction; i < friction->reaction + friction->reactions && length > 0; i++) {
    most = fmax(most, fabs(x[i] / length - along[i]));
    along[i] = x[i] / length;
  }
  return most;
}

void ns_ed_joint_recall(const NsMotionMode *mode, Friction *friction) {
  take_joint_bounds(friction, mode->multiplier);
  (void)take_direction(friction, mode->multiplier, mode->along);
}

NsStatus ns_ed_joint_fail(NsError *err) {
  return ns_fail(err, NS_ENOSOL, "EventDriven: the friction of joints and their reactions have no common solution");
}

/* ---- accelerations ---- */

void ns_ed_joint_apply(NsEventDriven *ed, int row) {
  const Friction *friction = &ed->mode->rows[row].friction;
  ns_motion_push(ed->motion, row, -friction->d[0] * friction->own);
  for (int i = friction->reaction; i < friction->reaction + friction->reactions; i++)
    ns_motion_drag(ed->motion, i, friction->mu * ed->mode->along[i], row, 1, friction->d);
}

/* The equations of the joint bring along another part of the slip: the direction was `before`, and is along. */
static void joint_turn(NsEventDriven *ed, int row, const double *before) {
  const Friction *friction = &ed->mode->rows[row].friction;
  for (int i = 0; i < friction->reactions; i++) {
    double turned = ed->mode->along[friction->reaction + i] - before[i];
    ns_motion_drag(ed->motion, friction->reaction + i, friction->mu * turned, row, 1, friction->d);
  }
}

/* Takes the directions of the reactions of all joints whose friction slips; returns their largest change. */
static double turn_joints(NsEventDriven *ed) {
  const NsMotionMode *mode = ed->mode;
  double most = 0, *before = ed->turning;
  for (int i = 0; i < ed->m; i++) {
    const Friction *friction = &mode->rows[i].friction;
    if (friction->reactions == 0 || friction->stick_slip != FRICTION_SLIP) continue;
    for (int k = 0; k < friction->reactions; k++) before[k] = mode->along[friction->reaction + k];
    most = fmax(most, take_direction(friction, mode->multiplier, mode->along));
    joint_turn(ed, i, before);
  }
  return most;
}

NsStatus ns_ed_joint_hold(NsEventDriven *ed, NsError *err) {
  NsMotionMode *mode = ed->mode;
  NsStatus status = NS_OK;
  for (int pass = 0;; pass++) {
    for (int k = 0; k < mode->nactive; k++) mode->multiplier[mode->active[k]] = mode->lambda[k];
    if (!(turn_joints(ed) > SAME_DIRECTION)) break;
    if (pass == MAX_TURNS) return ns_ed_joint_fail(err);
    status = ns_motion_hold(ed->motion, mode->nactive, mode->active, ed->W, mode->lambda, err);
    if (status != NS_OK) return status;
  }
  for (int i = 0; i < ed->m; i++) {
    Friction *friction = &mode->rows[i].friction;
    if (friction->reactions == 0) continue;
    take_joint_bounds(friction, mode->multiplier);
    if (friction->stick_slip == FRICTION_SLIP) mode->multiplier[i] = -friction->d[0] * friction->upper;
  }
  return NS_OK;
}

/* ---- the next mode ---- */

/* The place of row i of the joint in the problem of the next mode: all rows of a joint are closed, and follow one another. */
static int joint_place(const Unit *unit, int i) {
  return unit->k - (unit->row - i);
}

/* The multipliers of the joint, in their own units, in ed->turning by row. */
static const double *joint_multipliers(const NsEventDriven *ed, const NsModes *s, const Unit *unit) {
  const Friction *friction = &ed->mode->rows[unit->friction].friction;
  for (int i = friction->reaction; i < friction->reaction + friction->reactions; i++)
    ed->turning[i] = s->z[joint_place(unit, i)] * s->unit[joint_place(unit, i)];
  return ed->turning;
}

double ns_ed_joint_most(const NsEventDriven *ed, const NsModes *s, const Unit *unit) {
  Friction friction = ed->mode->rows[unit->friction].friction;
  if (friction.reactions > 0) take_joint_bounds(&friction, joint_multipliers(ed, s, unit));
  return friction.upper;
}

double ns_ed_joint_effective(const NsEventDriven *ed, const NsModes *s, int i, int k) {
  size_t n = (size_t)s->n;
  double sum = 0;
  for (int u = s->owner[k] + 1; u < s->nunits && ed->has_reactions; u++) {
    const Unit *unit = &s->units[u];
    const Friction *friction = unit->friction >= 0 ? &ed->mode->rows[unit->friction].friction : NULL;
    int row = ed->event.closed[k];
    if (!friction || friction->reactions == 0 || !ns_ed_unit_slips(unit)) continue;
    if (row < friction->reaction || row >= friction->reaction + friction->reactions) continue;
    double part = friction->mu * ed->mode->along[row] * s->unit[k] / s->unit[unit->k];
    sum -= ns_ed_option_direction(unit)[0] * part * s->W[(size_t)i + (size_t)unit->k * n];
  }
  return sum;
}

bool ns_ed_joint_turn_mode(const NsEventDriven *ed, NsModes *s) {
  double most = 0;
  for (int u = 0; u < s->nunits && ed->has_reactions; u++) {
    const Unit *unit = &s->units[u];
    const Friction *friction = unit->friction >= 0 ? &ed->mode->rows[unit->friction].friction : NULL;
    if (!friction || friction->reactions == 0) continue;
    most = fmax(most, take_direction(friction, joint_multipliers(ed, s, unit), ed->mode->along));
    if (ns_ed_unit_slips(unit))
      s->z[unit->k] = -ns_ed_option_direction(unit)[0] * ns_ed_joint_most(ed, s, unit) / s->unit[unit->k];
  }
  return most > SAME_DIRECTION;
}

/* ---- bounds that are given to a solver ---- */

/* Bounds that change by less than this part are the same: below the accuracy of the solver that gets them. */
static const double SAME_BOUND = 1e-13;

bool ns_ed_joint_bounds_move(NsEventDriven *ed, const NsModes *s) {
  bool moves = false;
  for (int u = 0; u < s->nunits && ed->has_reactions; u++) {
    const Unit *unit = &s->units[u];
    Friction *friction = unit->friction >= 0 ? &ed->mode->rows[unit->friction].friction : NULL;
    if (!friction || friction->reactions == 0) continue;
    double before = friction->upper;
    take_joint_bounds(friction, joint_multipliers(ed, s, unit));
    moves = moves || fabs(friction->upper - before) > SAME_BOUND * friction->upper;
  }
  return moves;
}

bool ns_ed_joint_impulses_move(NsEventDriven *ed) {
  bool moves = false;
  for (int k = 0; k < ed->event.nclosed && ed->has_reactions; k++) {
    int row = ed->event.closed[k];
    Friction *friction = &ed->mode->rows[row].friction;
    if (friction->width == 0 || friction->reactions == 0) continue;
    double before = friction->impulse, length = 0;
    for (int i = friction->reaction; i < friction->reaction + friction->reactions; i++)
      length = ns_motion_length(length, ed->problem.z[k - (row - i)]);
    friction->impulse = friction->mu * length;
    moves = moves || fabs(friction->impulse - before) > SAME_BOUND * friction->impulse;
  }
  return moves;
}
