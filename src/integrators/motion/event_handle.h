/*
** event_handle.h
** Handles an event: impacts, rest, forces. Private to motion/.
*/
#pragma once

#include "integrators/motion/motion_mode.h"

typedef struct NsMotionEvent {
  int hit;                    /* the row whose event this is; m: the pole of the forces; -1: the start of a step */
  int nclosed, *closed;       /* rows with y = 0 */
  bool *resting, *was_active; /* m, by row */
  bool *fading;               /* m, by row: of friction whose sliding ends together with the one of `hit` */
  bool *kinked;               /* m, by row: active contacts at a kink, see event_kink.h */
  bool nearly;         /* active contacts are held by least squares: they contradict each other here, see ns_ed_go_to_parting */
  double *before;      /* m, by row: velocities before the event */
  double *pressing;    /* m, by index in `closed`: see measure_pressing */
  double *u_after;     /* m, by row: velocities after the impacts */
  Friction *was;       /* m: friction before the event */
  int *others;         /* m: workspace */
  bool outside;        /* the solver is outside of the engine, see event_exchange.c */
  double *past, *kept; /* m: then the height of bounces that it can not follow, else 0; workspace of event_exchange.c */
} NsMotionEvent;

/* Handles the event ed->event.hit at ed->run.t: impacts, rest, forces. Updates the state and the mode. */
struct NsEventDriven;
NsStatus ns_ed_handle(struct NsEventDriven *ed, NsError *err);
