/*
** event_closed.c
** The closed forms of NsLinearisation for mechanics: rates, guards and resets, by states and by parameters.
*/
#include <string.h>

#include "integrators/event_driven/event_active.h"
#include "integrators/event_driven/event_reset.h"

SenseGuard ns_ed_sense_kind(const NsEventDriven *ed, int row) {
  if (row < 0 || row >= ed->m) return SENSE_NONE;
  if (ed->mode->rows[row].unilateral) return ed->mode->rows[row].state == ROW_ACTIVE ? SENSE_FORCE : SENSE_GAP;
  if (ns_motion_friction_is(ed->mode, row, FRICTION_STICK)) return SENSE_STICK;
  return ns_motion_friction_is(ed->mode, row, FRICTION_SLIP) ? SENSE_SLIP
                                                             : SENSE_NONE; /* friction past the onset of slip: nothing jumps */
}

/* ---- the motion ---- */

NsStatus ns_ed_lin_terms(void *context, double t, const double *u, double *J, double *P, bool *known, bool *exact,
                         NsError *err) {
  NsMotionLinearisation *w = context;
  bool skip = w->rough;
  *exact = false;
  if (w->ed->mode->dependent || (skip && !P)) return NS_OK;
  NsStatus status = ns_motion_tangent_terms(w->tangent, t, u, w->size, skip ? NULL : J, P, known, exact, err);
  if (status == NS_OK && J && !skip) w->rough = !*exact;
  *exact = *exact && !skip;
  return status;
}

NsStatus ns_ed_lin_accelerate(NsMotionLinearisation *w, double t, const double **u, NsError *err) {
  NsEventDriven *ed = w->ed;
  const NsMotionMode *mode = ed->mode;
  NsStatus status = NS_OK;
  if (w->ed->mode->dependent) {
    memcpy(w->fitting, *u, (size_t)(ed->Nq + ed->Nv) * sizeof **u);
    *u = w->fitting;
    status = ns_motion_project(ed->motion, mode->nplaces, mode->nactive, mode->active, t, mode->reach, w->fitting,
                               w->fitting + ed->Nq, ed->W, err);
  }
  return status == NS_OK ? ns_ed_accelerate(ed, t, *u, *u + ed->Nq, err) : status;
}

NsStatus ns_ed_lin_vjp(void *context, double t, const double *u, const double *mu, double *out, bool *known, NsError *err) {
  NsMotionLinearisation *w = context;
  NsMotionWeights weights = {.mu = mu + w->ed->Nq};
  ns_motion_vjp_nothing(w->vjp, out, known);
  if (w->ed->mode->dependent) return NS_OK;
  NsStatus status = ns_ed_accelerate(w->ed, t, u, u + w->ed->Nq, err);
  if (status == NS_OK) ns_motion_vjp(w->vjp, t, u, &weights, out, known);
  return status;
}

/* ---- the guards ---- */

/* A kind of guard. The outputs of its row are evaluated, or (forces) the accelerations. */
typedef struct GuardKind {
  bool forces; /* a function of the forces */
  double (*value)(NsEventDriven *ed, int row);
  NsStatus (*slope)(NsMotionLinearisation *w, double t, int row, const double *u, double *gu, bool *exact, NsError *err);
  void (*vjp)(NsMotionVjp *vjp, double t, int row, const double *u, double *out, bool *known);
} GuardKind;

static double gap_guard_value(NsEventDriven *ed, int row) {
  return ed->now->y[row];
}

static NsStatus gap_guard_slope(NsMotionLinearisation *w, double t, int row, const double *u, double *gu, bool *exact,
                                NsError *err) {
  (void)t, (void)u, (void)err;
  *exact = ns_motion_tangent_output(w->tangent, row, gu);
  return NS_OK;
}

static double slip_guard_value(NsEventDriven *ed, int row) {
  return ns_ed_sliding_along(ed, row);
}

static NsStatus slip_guard_slope(NsMotionLinearisation *w, double t, int row, const double *u, double *gu, bool *exact,
                                 NsError *err) {
  (void)err;
  *exact = ns_motion_tangent_sliding(w->tangent, t, row, u, gu);
  return NS_OK;
}

static double force_guard_value(NsEventDriven *ed, int row) {
  return ns_motion_active_force(ed->mode, row);
}

static NsStatus force_guard_slope(NsMotionLinearisation *w, double t, int row, const double *u, double *gu, bool *exact,
                                  NsError *err) {
  memset(w->step, 0, (size_t)w->ed->m * sizeof *w->step);
  w->step[row] = 1;
  return ns_motion_tangent_forces(w->tangent, t, u, w->step, gu, exact, err);
}

static double stick_guard_value(NsEventDriven *ed, int row) {
  double scale;
  return ns_motion_stick_guard(ed->mode, row, &scale);
}

static NsStatus stick_guard_slope(NsMotionLinearisation *w, double t, int row, const double *u, double *gu, bool *exact,
                                  NsError *err) {
  memset(w->step, 0, (size_t)w->ed->m * sizeof *w->step);
  (void)ns_motion_stick_weights(w->ed, row, w->step);
  return ns_motion_tangent_forces(w->tangent, t, u, w->step, gu, exact, err);
}

static double no_guard_value(NsEventDriven *ed, int row) {
  (void)ed, (void)row;
  return 0;
}

static const GuardKind guard_kinds[] = {
    [SENSE_GAP] = {false, gap_guard_value, gap_guard_slope, ns_motion_vjp_output},
    [SENSE_FORCE] = {true, force_guard_value, force_guard_slope, ns_motion_vjp_force},
    [SENSE_STICK] = {true, stick_guard_value, stick_guard_slope, ns_motion_vjp_stick},
    [SENSE_SLIP] = {false, slip_guard_value, slip_guard_slope, ns_motion_vjp_sliding},
    [SENSE_NONE] = {false, no_guard_value, NULL, NULL},
};

static const GuardKind *guard_kind_of(const NsMotionLinearisation *w) {
  return &guard_kinds[ns_ed_sense_kind(w->ed, w->guard)];
}

NsStatus ns_ed_lin_guard(void *context, double t, const double *u, double *out, NsError *err) {
  NsMotionLinearisation *w = context;
  NsEventDriven *ed = w->ed;
  const GuardKind *kind = guard_kind_of(w);
  NsStatus status = kind->forces ? ns_ed_lin_accelerate(w, t, &u, err)
                                 : ns_motion_outputs(ed->motion, 1, &w->guard, t, u, u + ed->Nq, err);
  if (status == NS_OK) *out = kind->value(ed, w->guard);
  return status;
}

NsStatus ns_ed_lin_slope(void *context, double t, const double *u, double *gu, bool *still, bool *exact, NsError *err) {
  NsMotionLinearisation *w = context;
  NsEventDriven *ed = w->ed;
  const GuardKind *kind = guard_kind_of(w);
  *exact = false;
  *still = ns_motion_tangent_still(w->tangent, kind->forces ? -1 : w->guard);
  if (!kind->slope || (kind->forces && w->ed->mode->dependent)) return NS_OK;
  NsStatus status = kind->forces ? ns_ed_accelerate(ed, t, u, u + ed->Nq, err)
                                 : ns_motion_outputs(ed->motion, 1, &w->guard, t, u, u + ed->Nq, err);
  return status == NS_OK ? kind->slope(w, t, w->guard, u, gu, exact, err) : status;
}

NsStatus ns_ed_lin_vjp_guard(void *context, double t, const double *u, double *out, bool *known, NsError *err) {
  NsMotionLinearisation *w = context;
  NsEventDriven *ed = w->ed;
  const GuardKind *kind = guard_kind_of(w);
  ns_motion_vjp_nothing(w->vjp, out, known);
  if (!kind->vjp || (kind->forces && w->ed->mode->dependent)) return NS_OK;
  NsStatus status = kind->forces ? ns_ed_accelerate(ed, t, u, u + ed->Nq, err) : NS_OK;
  if (status == NS_OK) kind->vjp(w->vjp, t, w->guard, u, out, known);
  return status;
}
