/*
** event_links.c
** Contacts come and go within a step: a corner leaves a face, another feature comes near. Links are looked at along the dense output; the time of a change
** is found by bisection, as what changes is which features touch.
*/
#include "integrators/motion/event_links.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "contact/scene.h"
#include "ode/control.h"

enum { MAX_LOOKS = 1024, QUARTERS = 4 }; /* a step with more looks ends at the last one */

/* Parts of the step: to which bisection finds the change; how far behind it the repeated step may have to end at first, to show it. */
static const double FOUND = 1e-14, BEHIND = 1e-13;

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

/* Whether links change at u. stride: NULL, or see NsLinker. */
static NsStatus links_look(NsEventDriven *ed, const double *u, bool *changed, double *stride, NsError *err) {
  links_lend(ed, u);
  NsStatus status = ed->run.linker->look(ed->run.linker->context, changed, stride, err);
  return links_give_back(ed), status;
}

/* The states at t, in the step. */
static const double *links_states(NsEventDriven *ed, double t) {
  const NsStepperState *step = &ed->run.stepper->state;
  if (t <= step->t_old || t >= step->t) return t >= step->t ? step->y : step->y_old;
  return ns_hybrid_at(&ed->run, t, ed->run.sample), ed->run.sample;
}

/* Tells the linker the ways of the bodies along the step. Returns the longest one: see ns_scene_way. */
static double links_measure(NsEventDriven *ed) {
  const NsStepperState *step = &ed->run.stepper->state;
  const NsLinker *linker = ed->run.linker;
  double way = 0;
  links_lend(ed, step->y_old);
  linker->start(linker->context);
  links_give_back(ed);
  for (int k = 1; k <= QUARTERS; k++) {
    double t = k < QUARTERS ? step->t_old + (step->t - step->t_old) * k / QUARTERS : step->t;
    links_lend(ed, links_states(ed, t));
    way = linker->way(linker->context, QUARTERS);
    links_give_back(ed);
  }
  return way;
}

/* Looks along the step, up to *b: the first change is in (*a, *b], if there is one. */
static NsStatus links_stride(NsEventDriven *ed, double *a, double *b, bool *changed, NsError *err) {
  const NsStepperState *step = &ed->run.stepper->state;
  const NsLinker *linker = ed->run.linker;
  double length = step->t - step->t_old, stride = 1;
  linker->forget(linker->context);
  NsStatus status = links_look(ed, step->y_old, changed, &stride, err);
  *changed = false; /* what is near there counts from the next look on */
  for (int k = 0; k < MAX_LOOKS && *b < step->t && !*changed && status == NS_OK; k++) {
    *a = *b, *b = fmin(fmax(*b + stride * length, nextafter(*b, INFINITY)), step->t);
    stride = 1;
    status = links_look(ed, links_states(ed, *b), changed, &stride, err);
  }
  return linker->forget(linker->context), status;
}

/* The first change is in (*a, *b]; none up to *a: *b = INFINITY. */
static NsStatus links_bracket(NsEventDriven *ed, double *a, double *b, NsError *err) {
  const NsStepperState *step = &ed->run.stepper->state;
  bool changed = false;
  NsStatus status = NS_OK;
  *a = *b = step->t_old;
  if (links_measure(ed) > NS_SCENE_LOOK) status = links_stride(ed, a, b, &changed, err);
  else *b = step->t, status = links_look(ed, step->y, &changed, NULL, err);
  if (!changed) *a = *b, *b = INFINITY;
  return status;
}

/* Repeats the step up to t, or so far behind it, but not beyond `last`, that links change at its end, too. */
static NsStatus links_go_to(NsEventDriven *ed, double t, double last, NsError *err) {
  double length = last - ed->run.stepper->state.t_old, behind = BEHIND * length;
  bool changed = t >= ed->run.stepper->state.t;
  NsStatus status = NS_OK;
  for (; !changed && status == NS_OK; t = fmin(t + behind, last), behind *= 8) {
    status = ns_rk_retake(ed->run.stepper, t, err);
    if (status == NS_OK) status = links_look(ed, ed->run.stepper->state.y, &changed, NULL, err);
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
  if (status == NS_OK) status = links_bracket(ed, &a, &b, err);
  if (status == NS_OK && !(b < INFINITY) && a < end) *row = -1, status = ns_rk_retake(ed->run.stepper, a, err);
  if (status == NS_OK && !(b < INFINITY)) /* what is evaluated is that at the end of the step, as before the looks */
    status = ns_ode_rate(&ed->run.stepper->problem, step->t, step->y, ed->slope, &count, err);
  if (status != NS_OK || !(b < INFINITY)) return status;
  double last = b, least = FOUND * (end - step->t_old) + 2 * DBL_EPSILON * fabs(end);
  while (b - a > least && status == NS_OK) {
    bool changed;
    double middle = a + (b - a) / 2;
    status = links_look(ed, links_states(ed, middle), &changed, NULL, err);
    *(changed ? &b : &a) = middle;
  }
  if (status == NS_OK && ed->run.sensitivity)
    return ns_fail(
        err, NS_EARG,
        "EventDriven: contacts come or go at t=%.10g: derivatives hold where links of contacts stay; let the run end "
        "before",
        b);
  if (status == NS_OK) status = links_go_to(ed, b, last, err);
  if (step->t < end) *row = -1;
  ed->run.log->stopped = ed->run.log->relinks = true, ed->run.log->stop = step->t;
  return status;
}
