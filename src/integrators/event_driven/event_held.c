/*
** event_held.c
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

NsStatus ns_ed_accelerate(NsEventDriven *ed, double t, const double *q, const double *v, NsError *err) {
  int n = ed->nheld;
  NsStatus status = n > 0 ? ns_motion_outputs(ed->motion, n, ed->held, t, q, v, err) : NS_OK;
  if (status == NS_OK) status = ns_motion_free_accelerations(ed->motion, t, q, v, err);
  if (status == NS_OK && n > 0) status = ns_motion_couple(ed->motion, n, ed->held, t, q, v, err);
  if (status == NS_OK) status = ns_motion_hold(ed->motion, n, ed->held, ed->W, ed->lambda, err);
  if (status != NS_OK) return status;
  memcpy(ed->acceleration, ed->now->a_free, (size_t)ed->Nv * sizeof *ed->acceleration);
  ns_motion_add_input(ed->motion, n, ed->held, ed->lambda, ed->acceleration);
  return NS_OK;
}

double ns_ed_tolerance(const NsEventDriven *ed, int row) {
  return ed->options.tolerance_in_units ? ed->options.tolerance : ed->options.tolerance * ed->reach[row];
}

double ns_ed_touching_level(const NsEventDriven *ed, int row, double y) {
  return fmin(0, y) - fmax(ns_ed_tolerance(ed, row) + ed->now->rounding[row], DBL_MIN);
}

double ns_ed_resolution(const NsEventDriven *ed) {
  return ed->options.max_step > 0 ? ed->options.max_step : (ed->t_last - ed->t_first) / RESOLVED;
}
