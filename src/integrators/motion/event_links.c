/*
** event_links.c
** Contacts come and go within a step: a corner leaves a face, another feature comes near. Links are looked at along the dense output.
*/
#include "integrators/motion/event_links.h"

#include <math.h>
#include <string.h>

#include "integrators/link_way.h"

/* Gives the systems the coordinates of u; aside: those that they had. */
static void links_lend(NsEventDriven *ed, const double *u) {
  double *aside = ed->aside;
  for (int d = 0; d < ed->run.base.nsds->nds; d++) {
    NsDs *ds = ed->run.base.nsds->ds[d];
    memcpy(aside, ds->x, (size_t)ds->nx * sizeof *aside), memcpy(ds->x, u, (size_t)ds->nx * sizeof *aside);
    aside += ds->nx, u += ds->nx;
  }
}

static void links_give_back(NsEventDriven *ed) {
  const double *aside = ed->aside;
  for (int d = 0; d < ed->run.base.nsds->nds; d++) {
    NsDs *ds = ed->run.base.nsds->ds[d];
    memcpy(ds->x, aside, (size_t)ds->nx * sizeof *aside), aside += ds->nx;
  }
}

/* Whether links change at u. */
static NsStatus links_look(NsEventDriven *ed, const double *u, bool *changed, NsError *err) {
  links_lend(ed, u);
  NsStatus status = ed->run.linker->look(ed->run.linker->context, changed, NULL, err);
  return links_give_back(ed), status;
}

/* The states at t, in the step. */
static const double *links_states(NsEventDriven *ed, double t) {
  const NsStepperState *step = &ed->run.stepper->state;
  if (t <= step->t_old || t >= step->t) return t >= step->t ? step->y : step->y_old;
  return ns_hybrid_at(&ed->run, t, ed->run.sample), ed->run.sample;
}

static void links_lend_at(void *context, double t) {
  links_lend(context, links_states(context, t));
}

static void links_take_back(void *context) {
  links_give_back(context);
}

/* Repeats the step up to t, or so far behind it, but not beyond `last`, that links change at its end, too. */
static NsStatus links_go_to(NsEventDriven *ed, double t, double last, NsError *err) {
  double length = last - ed->run.stepper->state.t_old, behind = NS_LINK_WAY_BEHIND * length;
  bool changed = t >= ed->run.stepper->state.t;
  NsStatus status = NS_OK;
  for (; !changed && status == NS_OK; t = fmin(t + behind, last), behind *= 8) {
    status = ns_rk_retake(ed->run.stepper, t, err);
    if (status == NS_OK) status = links_look(ed, ed->run.stepper->state.y, &changed, err);
    changed = changed || t >= last;
  }
  return status;
}

NsStatus ns_ed_look_at_links(NsEventDriven *ed, int *row, NsError *err) {
  const NsStepperState *step = &ed->run.stepper->state;
  double a = step->t_old, b = INFINITY, end = step->t;
  long count = 0;
  if (!ed->run.linker) return NS_OK;
  NsStatus status = ns_hybrid_interpolate(&ed->run, ed, err);
  NsLinkWay way = {ed->run.linker, step->t_old, step->t, links_lend_at, links_take_back, ed};
  if (status == NS_OK) status = ns_link_way_bracket(&way, &a, &b, err);
  if (status == NS_OK && !(b < INFINITY) && a < end) *row = -1, status = ns_rk_retake(ed->run.stepper, a, err);
  if (status == NS_OK && !(b < INFINITY)) /* what is evaluated is that at the end of the step, as before the looks */
    status = ns_ode_rate(&ed->run.stepper->problem, step->t, step->y, ed->slope, &count, err);
  if (status != NS_OK || !(b < INFINITY)) return status;
  double last = b;
  status = ns_link_way_narrow(&way, &a, &b, err);
  if (status == NS_OK && ed->run.sensitivity) return ns_link_way_refuse(b, err);
  if (status == NS_OK) status = links_go_to(ed, b, last, err);
  if (step->t < end) *row = -1;
  ed->run.log->stopped = ed->run.log->relinks = true, ed->run.log->stop = step->t;
  return status;
}
