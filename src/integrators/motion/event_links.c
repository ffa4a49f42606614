/*
** event_links.c
** Contacts come and go within a step: a corner leaves a face, another feature comes near. Links are looked at along the dense output; the time of a change
** is found by bisection, as what changes is which features touch.
*/
#include "integrators/motion/event_links.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "ode/control.h"

enum { MAX_LOOKS = 256, QUARTERS = 4 };

/* The way between two looks, in sizes of the body: less than half of what counts as near (NS_SCENE_NEAR), so that no contact closes unseen. */
static const double LOOK = 0.02;

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

static double links_way(NsEventDriven *ed, const double *u) {
  links_lend(ed, u);
  double way = ed->run.linker->way(ed->run.linker->context);
  return links_give_back(ed), way;
}

/* Whether links change at u. */
static NsStatus links_look(NsEventDriven *ed, const double *u, bool *changed, NsError *err) {
  links_lend(ed, u);
  NsStatus status = ed->run.linker->look(ed->run.linker->context, changed, err);
  return links_give_back(ed), status;
}

static NsStatus links_look_at(NsEventDriven *ed, double t, bool *changed, NsError *err) {
  const NsStepperState *step = &ed->run.stepper->state;
  if (t >= step->t) return links_look(ed, step->y, changed, err);
  ns_hybrid_at(&ed->run, t, ed->run.sample);
  return links_look(ed, ed->run.sample, changed, err);
}

/* The number of looks along the step, by the ways in its quarters. */
static int links_count(NsEventDriven *ed) {
  const NsStepperState *step = &ed->run.stepper->state;
  double way = 0;
  (void)links_way(ed, step->y_old);
  for (int k = 1; k <= QUARTERS; k++) {
    ns_hybrid_at(&ed->run, step->t_old + (step->t - step->t_old) * k / QUARTERS, ed->run.sample);
    way += links_way(ed, k < QUARTERS ? ed->run.sample : step->y);
  }
  double looks = ceil(way / LOOK);
  return looks < MAX_LOOKS ? (int)fmax(1, looks) : MAX_LOOKS;
}

/* The first change is in (*a, *b]; none: *b = INFINITY. */
static NsStatus links_bracket(NsEventDriven *ed, double *a, double *b, NsError *err) {
  const NsStepperState *step = &ed->run.stepper->state;
  int looks = links_count(ed);
  bool changed = false;
  NsStatus status = NS_OK;
  *a = *b = step->t_old;
  for (int k = 1; k <= looks && !changed && status == NS_OK; k++) {
    *a = *b, *b = k < looks ? step->t_old + (step->t - step->t_old) * k / looks : step->t;
    status = links_look_at(ed, *b, &changed, err);
  }
  if (!changed) *b = INFINITY;
  return status;
}

/* Repeats the step up to t, or so far behind it, but not beyond `last`, that links change at its end, too. */
static NsStatus links_go_to(NsEventDriven *ed, double t, double last, NsError *err) {
  double length = last - ed->run.stepper->state.t_old, behind = BEHIND * length;
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
  if (status == NS_OK) status = links_bracket(ed, &a, &b, err);
  if (status == NS_OK && !(b < INFINITY)) /* what is evaluated is that at the end of the step, as before the looks */
    status = ns_ode_rate(&ed->run.stepper->problem, step->t, step->y, ed->slope, &count, err);
  if (status != NS_OK || !(b < INFINITY)) return status;
  double last = b, least = FOUND * (end - step->t_old) + 2 * DBL_EPSILON * fabs(end);
  while (b - a > least && status == NS_OK) {
    bool changed;
    double middle = a + (b - a) / 2;
    status = links_look_at(ed, middle, &changed, err);
    *(changed ? &b : &a) = middle;
  }
  if (status == NS_OK) status = links_go_to(ed, b, last, err);
  if (step->t < end) *row = -1;
  ed->run.log->stopped = ed->run.log->relinks = true, ed->run.log->stop = step->t;
  return status;
}
