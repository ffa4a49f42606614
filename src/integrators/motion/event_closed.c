/*
** event_closed.c
** The closed forms of NsLinearisation for mechanics: rates, guards and resets, by states and by parameters.
*/
#include <string.h>

#include "integrators/motion/event_active.h"
#include "integrators/motion/event_reset.h"
#include "integrators/motion/motion_guard.h"

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
  if (w->ed->mode->dependent || ns_motion_viscous(w->ed->motion)) return NS_OK;
  NsStatus status = ns_ed_accelerate(w->ed, t, u, u + w->ed->Nq, err);
  if (status == NS_OK) ns_motion_vjp(w->vjp, t, u, &weights, out, known);
  return status;
}

/* ---- the guards ---- */

NsStatus ns_ed_lin_guard(void *context, int row, double t, const double *u, double *out, NsError *err) {
  NsMotionLinearisation *w = context;
  NsEventDriven *ed = w->ed;
  const NsMotionGuard *guard = ns_motion_guard(w->ed, row);
  NsStatus status = guard->forces ? ns_ed_lin_accelerate(w, t, &u, err)
                                  : ns_motion_outputs(ed->motion, 1, &row, t, u, u + ed->Nq, err);
  if (status == NS_OK) *out = guard->value ? guard->value(ed, row) : 0;
  return status;
}

NsStatus ns_ed_lin_slope(void *context, int row, double t, const double *u, double *gu, bool *still, bool *exact,
                         NsError *err) {
  NsMotionLinearisation *w = context;
  NsEventDriven *ed = w->ed;
  const NsMotionGuard *guard = ns_motion_guard(w->ed, row);
  *exact = false;
  *still = ns_motion_tangent_still(w->tangent, guard->forces ? -1 : row);
  if (!guard->slope || (guard->forces && (w->ed->mode->dependent || ns_motion_viscous(ed->motion)))) return NS_OK;
  NsStatus status = guard->forces ? ns_ed_accelerate(ed, t, u, u + ed->Nq, err)
                                  : ns_motion_outputs(ed->motion, 1, &row, t, u, u + ed->Nq, err);
  return status == NS_OK ? guard->slope(w->tangent, t, row, u, gu, exact, err) : status;
}

NsStatus ns_ed_lin_vjp_guard(void *context, int row, double t, const double *u, double *out, bool *known, NsError *err) {
  NsMotionLinearisation *w = context;
  NsEventDriven *ed = w->ed;
  const NsMotionGuard *guard = ns_motion_guard(w->ed, row);
  ns_motion_vjp_nothing(w->vjp, out, known);
  if (!guard->vjp || (guard->forces && (w->ed->mode->dependent || ns_motion_viscous(ed->motion)))) return NS_OK;
  NsStatus status = guard->forces ? ns_ed_accelerate(ed, t, u, u + ed->Nq, err) : NS_OK;
  if (status == NS_OK) guard->vjp(w->vjp, t, row, u, out, known);
  return status;
}
