/*
** ivp.h
** Solves an initial value problem over an interval: recorded steps, values at given times, events, dense output.
*/
#pragma once

#include <stdbool.h>

#include "ode/event_search.h"
#include "ode/stepper.h"

struct NsIvp;

/*
** One that follows a run with dense output, such as derivatives along it. A failure ends the run; NS_ENOSOL is told as an error, and
** not as the end of the run.
*/
typedef struct NsIvpCompanion {
  /* The dense output reaches to t now: the end of the run, or a stop where events are about to act. */
  NsStatus (*reach)(struct NsIvpCompanion *companion, const struct NsIvp *ivp, double t, NsError *err);

  /* Event `event` is about to act on the state `before` at t. */
  NsStatus (*meet)(struct NsIvpCompanion *companion, int event, double t, const double *before, NsError *err);

  /* Event `event` has changed the state at t from `before` to `after`. Of several, each gets the `after` of the one before. */
  NsStatus (*jump)(struct NsIvpCompanion *companion, int event, double t, const double *before, const double *after,
                   NsError *err);

  /* All events at t have acted, and the points after them are recorded. */
  NsStatus (*leave)(struct NsIvpCompanion *companion, const struct NsIvp *ivp, double t, NsError *err);
} NsIvpCompanion;

/* The request. Arrays are borrowed. */
typedef struct NsIvpOptions {
  double t0, tf;        /* backward when tf < t0 */
  const double *y0;     /* n */
  double h_first;       /* length of the first step; 0: chosen by the method */
  double h_most;        /* longest step; INFINITY: limited by the tolerances alone */
  long steps_most;      /* largest number of steps; after it the run ends unfinished */
  const double *t_eval; /* times of the points, in the direction of integration; NULL: the end of each step */
  long evals;
  bool dense;                /* keep the polynomials of all steps */
  NsIvpCompanion *companion; /* with dense; NULL: none */
  NsEvents events;

  /*
  ** Changes the state y (n) at an event that acts (events.acts), at (t, y); the context is the events' context. NULL: no event
  ** acts. The failures of a rate; NS_EARG when the new state is not finite.
  */
  NsStatus (*apply)(void *context, int event, double t, double *y, NsError *err);
} NsIvpOptions;

typedef enum NsIvpEnd { NS_IVP_FAILED = -1, NS_IVP_REACHED = 0, NS_IVP_EVENT = 1 } NsIvpEnd;

/* Times and their states (n each, one after the other). */
typedef struct NsIvpPoints {
  long count, capacity;
  double *t, *y;
} NsIvpPoints;

/*
** The result. Dense output: step k goes from knots.t[k] (state: knots.y) to knots.t[k + 1] along its `segment`. At events that
** act, points, before and after hold the states on both sides: points has two of the same t.
*/
typedef struct NsIvp {
  int n, rows, events;
  NsIvpPoints points, knots;
  NsIvpPoints *found, *found_after; /* `events` lists: the roots, and the states after each (the same when it does not act) */
  NsIvpPoints before, after;        /* at each restart: the state before all events there, and after them */
  long segments, segments_room;
  double *segment; /* of each step, in order: `rows` rows of n */
  double *ends;    /* the end of each step: the polynomial of a step cut by a terminal event reaches up to here */
  NsIvpEnd end;
  int ended_event;              /* with NS_IVP_EVENT: the terminal event */
  char ended_by[NS_EVENT_TEXT]; /* with NS_IVP_EVENT: number and name of the terminal event */
  NsError why;                  /* with NS_IVP_FAILED: the reason */
  NsStepperState counts;
} NsIvp;

/* Makes an empty result; NS_ENOMEM. *ivp is NULL on failure. */
NsStatus ns_ivp_new(NsIvp **ivp, int n, int rows, int events);
void ns_ivp_free(NsIvp *ivp);

/*
** Solves the problem with a method. Returns NS_OK also when a step fails (too short, NaN) or steps_most is reached: `end` and
** `why` tell. Otherwise NS_ECALLBACK (the rate or an event failed), NS_EINTR, NS_ENOMEM. The points computed so far are kept
** in all cases.
**
** Events are found along the dense output of each step (event_search.h). A root at t0 counts, too. Roots within 16 spacings of
** a terminal one are reported too.
**
** At the first event that acts the state becomes what `apply` makes of it, and the integration starts there again, with the step
** length from before if the method allows. Several such events at one time (within 16 spacings) act in their order, each on the
** state that the one before left; a terminal one ends the run after that. When the occurrences accumulate the run ends as
** after a failed step (ns_event_search_restart).
*/
NsStatus ns_ivp_run(NsIvp *ivp, const NsStepperClass *method, const NsOdeProblem *problem, const NsIvpOptions *options,
                    NsError *err);

/* At an event that acts: the state after it, or before. */
typedef enum NsIvpSide { NS_IVP_AFTER, NS_IVP_BEFORE } NsIvpSide;

/* y (n) = the dense output at t; outside of the interval the first or last polynomial is extrapolated. */
void ns_ivp_at(const NsIvp *ivp, double t, NsIvpSide side, double *y);

/* The same for times that move slowly: *step is the number of the step that contained the last time (0 at first), and of this one after. */
void ns_ivp_at_near(const NsIvp *ivp, double t, NsIvpSide side, long *step, double *y);

/*
** The first end of a step of the run behind t on the way to t_end, which may go against the run; t_end when there is none. *step is as
** in ns_ivp_at_near.
*/
double ns_ivp_step_end(const NsIvp *ivp, double t, double t_end, long *step);
