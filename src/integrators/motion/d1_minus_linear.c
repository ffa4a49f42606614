/*
** d1_minus_linear.c
** D1MinusLinearOSI: steps of fixed length, with the event at the end of the step, which is handled as an event that is located.
** A step of D1MinusLinear has order 2 between impacts:
**   q = q_k + h v_k + h^2 / 2 a_k,  v- = v_k + h / 2 (a_k + a),  a = a(t, q, v_k + h a_k),
** where accelerations include the forces of the active contacts. The event is at the end of the step; contacts with y <= 0 have
** impacts. A bounce that would end within a step is rest. y of contacts is not corrected.
** Schindler and Acary, Timestepping schemes for nonsmooth dynamics based on discontinuous Galerkin methods, Math. Comput.
** Simul. 95, 2014.
*/
#include "integrators/motion/event_driven.h"

/* One step of D1MinusLinear, with the event at its end. */
static NsStatus d1_go_on(NsHybrid *run, NsError *err) {
  NsEventDriven *ed = (NsEventDriven *)run;
  const NsMotionMode *mode = ed->mode;
  double h = mode->h, *before = ed->run.sample, *mean = before + ed->Nv;
  NsStatus status = ns_ed_rate(ed, ed->run.t, ed->run.u, ed->slope, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < WORKS; i++) ed->works[i] += h / 2 * ed->slope[ed->Nq + ed->Nv + i];
  for (int i = 0; i < ed->Nv; i++) {
    before[i] = ed->v[i];
    mean[i] = ed->v[i] + h / 2 * ed->acceleration[i];
    ed->v[i] += h * ed->acceleration[i];
  }
  ns_motion_move(ed->motion, mean, h, ed->q);
  ed->run.t = run->t_next;
  status = ns_ed_rate(ed, ed->run.t, ed->run.u, ed->slope, err);
  if (status != NS_OK) return status;
  for (int i = 0; i < WORKS; i++) ed->works[i] += h / 2 * ed->slope[ed->Nq + ed->Nv + i];
  for (int i = 0; i < ed->Nv; i++) ed->v[i] = mean[i] + h / 2 * ed->acceleration[i];
  if (mode->nactive > 0) status = ns_motion_stop(ed->motion, mode->nactive, mode->active, ed->run.t, ed->q, ed->v, ed->W, err);
  return status == NS_OK ? ns_ed_handle(ed, err) : status;
}

/* A bounce of that velocity ends within one step. */
static double d1_slow(const NsEventDriven *ed, double press, double rise) {
  (void)rise;
  return ed->mode->h * press;
}

/* y = 0 of the bilateral rows alone, which come first. */
static NsStatus d1_stop(NsEventDriven *ed, int places, int n, const int *rows, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  int bilateral = 0;
  (void)places;
  while (bilateral < n && !mode->rows[rows[bilateral]].unilateral) bilateral++;
  NsStatus status = NS_OK;
  if (bilateral > 0)
    status = ns_motion_project(ed->motion, bilateral, bilateral, rows, ed->run.t, mode->reach, ed->q, ed->v, ed->W, err);
  return status == NS_OK ? ns_motion_stop(ed->motion, n, rows, ed->run.t, ed->q, ed->v, ed->W, err) : status;
}

static const NsMotionSteps d1_steps = {d1_slow, d1_stop};
static const NsHybridClass d1_class = {.start = ns_ed_start, .finish = ns_ed_finish, .go_on = d1_go_on};

/* ---- the class ---- */

static const NsMotionLaws d1_laws = {NS_NEEDS_EQUATION | NS_NEEDS_IMPACT | NS_NEEDS_VISCOUS,
                                     "NewtonImpactNSL, DampingNSL and EqualityConditionNSL"};

static NsStatus d1_accepts(const NsNsds *nsds, NsError *err) {
  return ns_ed_accepts(nsds, d1_laws, false, ns_scheme_d1_minus_linear_text, err);
}

static NsStatus d1_create(NsScheme **out, const NsIntegrator *integrator, NsNsds *nsds, const NsSchemePlan *plan) {
  return ns_ed_create(out, &d1_class, &d1_steps, integrator, nsds, plan);
}

static const NsField d1_fields[] = {NS_FIELD_END};
static const char *const d1_arguments[] = {NULL};

const char ns_scheme_d1_minus_linear_text[] = "D1MinusLinearOSI";

const NsSchemeClass ns_scheme_d1_minus_linear = {.name = ns_scheme_d1_minus_linear_text,
                                                 .bytes = sizeof(NsEventOptions),
                                                 .defaults = &ns_event_defaults.base,
                                                 .fields = d1_fields,
                                                 .arguments = d1_arguments,
                                                 .family = NS_MECHANICS,
                                                 .keeps_gaps = true,
                                                 .whole = true,
                                                 .accelerates = true,
                                                 .accepts = d1_accepts,
                                                 .create = d1_create,
                                                 .destroy = ns_ed_destroy,
                                                 .commit = ns_ed_commit,
                                                 .drive = ns_hybrid_drive};
