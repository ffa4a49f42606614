/*
** event_closed.c
** The closed forms of NsFrozen for mechanics: rates, guards and resets, by states and by parameters.
*/
#include <float.h>
#include <math.h>
#include <string.h>

#include "integrators/event_driven/event_reset.h"

SenseGuard ns_ed_sense_kind(const NsEventDriven *ed, int row) {
  if (row < 0 || row >= ed->m) return SENSE_NONE;
  if (ed->rows[row].unilateral) return ed->rows[row].state == ROW_HELD ? SENSE_FORCE : SENSE_GAP;
  if (ns_ed_rubs(ed, row, GRIP_STICK)) return SENSE_STICK;
  return ns_ed_rubs(ed, row, GRIP_SLIP) ? SENSE_SLIP : SENSE_NONE; /* friction that is young no more: nothing jumps */
}

/* ---- derivatives by states in closed form ---- */

NsStatus ns_ed_twin_terms(void *context, double t, const double *u, double *J, double *P, bool *known, bool *exact,
                          NsError *err) {
  NsMotionTwin *w = context;
  bool skip = w->dependent || w->rough;
  *exact = false;
  if (w->dependent || (skip && !P)) return NS_OK;
  NsStatus status = ns_motion_tangent_terms(w->tangent, t, u, w->size, skip ? NULL : J, P, known, exact, err);
  if (status == NS_OK && J && !skip) w->rough = !*exact;
  *exact = *exact && !skip;
  return status;
}

/* weight (m, zeros): the derivatives of the guard of friction that sticks by the multipliers, at the last accelerations. */
static void stick_weights(const NsEventDriven *ed, int row, double *weight) {
  const Rub *rub = &ed->rows[row].rub;
  const double *force = ed->multiplier + row;
  bool least = isfinite(rub->lower), greatest = isfinite(rub->upper);
  if (rub->normal >= 0) {
    weight[rub->normal] = 2 * rub->mu * rub->mu * ed->multiplier[rub->normal];
    for (int i = 0; i < rub->width; i++) weight[row + i] = -2 * force[i];
  } else {
    double below = greatest ? rub->upper - force[0] : 1, above = least ? force[0] - rub->lower : 1;
    weight[row] = (least ? below : 0) - (greatest ? above : 0);
  }
}

NsStatus ns_ed_twin_accelerate(NsMotionTwin *w, double t, const double **u, NsError *err) {
  NsEventDriven *ed = w->ed;
  NsStatus status = NS_OK;
  if (w->dependent) {
    memcpy(w->fitting, *u, (size_t)(ed->Nq + ed->Nv) * sizeof **u);
    *u = w->fitting;
    status = ns_motion_project(ed->motion, ed->nplaces, ed->nheld, ed->held, t, ed->reach, w->fitting, w->fitting + ed->Nq,
                               ed->W, err);
  }
  return status == NS_OK ? ns_ed_accelerate(ed, t, *u, *u + ed->Nq, err) : status;
}

NsStatus ns_ed_twin_guard(void *context, double t, const double *u, double *out, NsError *err) {
  NsMotionTwin *w = context;
  NsEventDriven *ed = w->ed;
  const double *q = u, *v = u + ed->Nq;
  int row = w->guard;
  double scale;
  SenseGuard kind = ns_ed_sense_kind(ed, row);
  bool forces = kind == SENSE_FORCE || kind == SENSE_STICK;
  NsStatus status = forces ? ns_ed_twin_accelerate(w, t, &u, err) : ns_motion_outputs(ed->motion, 1, &row, t, q, v, err);
  if (status != NS_OK) return status;
  *out = 0;
  for (int k = 0; k < ed->nheld && kind == SENSE_FORCE; k++)
    if (ed->held[k] == row) *out = ed->lambda[k];
  if (kind == SENSE_STICK) *out = ns_ed_stick_guard(ed, row, &scale);
  if (kind == SENSE_SLIP) *out = ns_ed_sliding_along(ed, row);
  if (kind == SENSE_GAP) *out = ed->now->y[row];
  return NS_OK;
}

NsStatus ns_ed_twin_slope(void *context, double t, const double *u, double *gu, bool *still, bool *exact, NsError *err) {
  NsMotionTwin *w = context;
  NsEventDriven *ed = w->ed;
  int row = w->guard;
  SenseGuard kind = ns_ed_sense_kind(ed, row);
  bool forces = kind == SENSE_FORCE || kind == SENSE_STICK;
  *exact = false;
  *still = ns_motion_tangent_still(w->tangent, forces ? -1 : row);
  if (kind == SENSE_NONE || (forces && w->dependent)) return NS_OK;
  NsStatus status = forces ? ns_ed_accelerate(ed, t, u, u + ed->Nq, err)
                           : ns_motion_outputs(ed->motion, 1, &row, t, u, u + ed->Nq, err);
  if (status != NS_OK) return status;
  if (kind == SENSE_GAP) *exact = ns_motion_tangent_output(w->tangent, row, gu);
  if (kind == SENSE_SLIP) *exact = ns_motion_tangent_sliding(w->tangent, t, row, u, gu);
  if (!forces) return NS_OK;
  memset(w->step, 0, (size_t)ed->m * sizeof *w->step);
  if (kind == SENSE_FORCE) w->step[row] = 1;
  else stick_weights(ed, row, w->step);
  return ns_motion_tangent_forces(w->tangent, t, u, w->step, gu, exact, err);
}

/* ---- derivatives by parameters in closed form ---- */

static void pull_nothing(const NsSensitivity *s, double *out, bool *known) {
  memset(out, 0, (size_t)s->p * sizeof *out);
  memset(known, 0, (size_t)s->p * sizeof *known);
}

NsStatus ns_ed_twin_pull(void *context, double t, const double *u, const double *mu, double *out, bool *known, NsError *err) {
  NsMotionTwin *w = context;
  NsMotionWeights weights = {.mu = mu + w->ed->Nq};
  pull_nothing(w->s, out, known);
  if (w->dependent) return NS_OK;
  NsStatus status = ns_ed_accelerate(w->ed, t, u, u + w->ed->Nq, err);
  if (status == NS_OK) ns_motion_pull(w->pull, t, u, &weights, out, known);
  return status;
}

NsStatus ns_ed_twin_pull_guard(void *context, double t, const double *u, double *out, bool *known, NsError *err) {
  NsMotionTwin *w = context;
  NsEventDriven *ed = w->ed;
  int row = w->guard;
  SenseGuard kind = ns_ed_sense_kind(ed, row);
  bool forces = kind == SENSE_FORCE || kind == SENSE_STICK;
  pull_nothing(w->s, out, known);
  if (kind == SENSE_NONE || (forces && w->dependent)) return NS_OK;
  NsStatus status = forces ? ns_ed_accelerate(ed, t, u, u + ed->Nq, err) : NS_OK;
  if (status != NS_OK) return status;
  if (kind == SENSE_GAP) ns_motion_pull_output(w->pull, row, u, out, known);
  if (kind == SENSE_SLIP) ns_motion_pull_sliding(w->pull, row, u, out, known);
  if (kind == SENSE_STICK) ns_motion_pull_stick(w->pull, t, row, u, out, known);
  if (kind == SENSE_FORCE) ns_motion_pull_force(w->pull, t, row, u, out, known);
  return NS_OK;
}
