/*
** ivp.h
** Solves an initial value problem over an interval: recorded steps, values at given times, events, dense output.
*/
#ifndef NS_ODE_IVP_H
#define NS_ODE_IVP_H

#include <stdbool.h>

#include "ode/event_search.h"
#include "ode/stepper.h"

/* The request. Arrays are borrowed. */
typedef struct NsIvpOptions {
  double t0, tf;        /* backward when tf < t0 */
  const double *y0;     /* n */
  double h_first;       /* length of the first step; 0: chosen by the method */
  double h_most;        /* longest step; INFINITY: limited by the tolerances alone */
  long steps_most;      /* largest number of steps; after it the run ends unfinished */
  const double *t_eval; /* times of the points, in the direction of integration; NULL: the end of each step */
  long evals;
  bool dense; /* keep the polynomials of all steps */
  NsEvents events;
} NsIvpOptions;

typedef enum NsIvpEnd { NS_IVP_FAILED = -1, NS_IVP_REACHED = 0, NS_IVP_EVENT = 1 } NsIvpEnd;

/* Times and their states (n each, one after the other). */
typedef struct NsIvpPoints {
  long count, capacity;
  double *t, *y;
} NsIvpPoints;

/* The result. Dense output: step k goes from knots.t[k] (state: knots.y) to knots.t[k + 1] along its `segment`. */
typedef struct NsIvp {
  int n, rows, events;
  NsIvpPoints points, knots, *found; /* found: `events` lists */
  long segments, segments_room;
  double *segment; /* of each step, in order: `rows` rows of n */
  double *ends;    /* the end of each step: the polynomial of a step cut by a terminal event reaches up to here */
  NsIvpEnd end;
  int end_event; /* the terminal event, from 0 */
  NsError why;   /* with NS_IVP_FAILED: the reason */
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
*/
NsStatus ns_ivp_run(NsIvp *ivp, const NsStepperClass *method, const NsOdeProblem *problem, const NsIvpOptions *options,
                    NsError *err);

/* y (n) = the dense output at t; outside of the interval the first or last polynomial is extrapolated. */
void ns_ivp_at(const NsIvp *ivp, double t, double *y);

#endif
