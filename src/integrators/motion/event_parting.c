/*
** event_parting.c
** Goes to where active contacts part, and behind it: two surfaces are one up to there, and have other curvatures behind. The forces there decide
** which of them still acts.
*/
#include "integrators/motion/event_parting.h"

#include <math.h>

#include "integrators/motion/event_active.h"
#include "integrators/motion/event_kink.h"
#include "integrators/motion/event_search.h"

/* Takes the stepper back to the start of its step. */
static void parting_step_back(NsEventDriven *ed) {
  NsStepperState *step = &ed->run.stepper->state;
  if (step->t == step->t_old) return;
  step->t = step->t_old;
  ns_rk_replace(ed->run.stepper, step->y_old);
}

/* A contact that is active and whose gap may bend; -1: none. */
static int bent_contact(const NsMotionMode *mode) {
  for (int k = 0; k < mode->nplaces; k++)
    if (mode->rows[mode->active[k]].unilateral && !mode->rows[mode->active[k]].straight) return mode->active[k];
  return -1;
}

/* A step of at most this length, with forces that nearly hold the active contacts, which are at a kink then. */
static NsStatus step_behind(NsEventDriven *ed, double length, NsError *err) {
  const NsMotionMode *mode = ed->mode;
  ed->event.nearly = true;
  ed->run.stepper->h_limit = length;
  NsStatus status = ns_rk_step(ed->run.stepper, err);
  ed->event.nearly = false;
  for (int k = 0; k < mode->nplaces; k++) ed->event.kinked[mode->active[k]] = mode->rows[mode->active[k]].unilateral;
  return status;
}

NsStatus ns_ed_go_to_parting(NsEventDriven *ed, int *row, NsError *err) {
  const NsStepperState *step = &ed->run.stepper->state;
  int contact = bent_contact(ed->mode);
  NsError why = {0};
  parting_step_back(ed);
  if (contact < 0 || ns_ed_accelerate(ed, step->t, step->y, step->y + ed->Nq, &why) != NS_OK) return NS_ENOSOL;
  double little = fmin(ns_ed_kink_little(ed, step->t), ed->run.t_next - step->t);
  for (double length = (ed->run.t_next - step->t) / 2; length > little; length /= 2) {
    ed->run.stepper->h_limit = length;
    NsStatus status = ns_rk_step(ed->run.stepper, &why);
    if (status == NS_OK) status = ns_ed_search(ed, row, &why);
    if (status == NS_OK) why = (NsError){0};
    if (status != NS_ENOSOL) return *err = why, status;
    parting_step_back(ed);
  }
  *row = contact;
  *err = (NsError){0};
  return step_behind(ed, little, err);
}
