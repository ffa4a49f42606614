/*
** ivp.h
** An initial value problem solved over an interval: steps recorded, values at wanted times, events, dense output.
*/
#ifndef NS_ODE_IVP_H
#define NS_ODE_IVP_H

#include <stdbool.h>

#include "ode/stepper.h"

/*
** g = the value of event number `event`, from 0, at (t, y). A failure ends the integration; NaN ends it with NS_ENAN.
*/
typedef NsStatus (*NsIvpEvent)(void *context, int event, double t, const double *y, double *g, NsError *err);

/* What is asked for. Arrays are borrowed. */
typedef struct NsIvpOptions {
  double t0, tf;        /* backward when tf < t0 */
  const double *y0;     /* n */
  double h_first;       /* length of the first step; 0: found */
  double h_most;        /* of any step; INFINITY: as long as the tolerances let it be */
  long steps_most;      /* steps after which it ends unfinished */
  const double *t_eval; /* times wanted, in the direction of integration, within the interval; NULL: every step's */
  long evals;
  bool dense; /* keep the polynomials of all steps */
  int events;
  NsIvpEvent event;
  void *event_context;
  const int *direction; /* of each event: 1 counts rising values, -1 falling, 0 both */
  const long *terminal; /* of each event: 0 goes on, k ends at the k-th occurrence */
} NsIvpOptions;

typedef enum NsIvpEnd { NS_IVP_FAILED = -1, NS_IVP_REACHED = 0, NS_IVP_EVENT = 1 } NsIvpEnd;

/* Times, and the state of each (n, one after the other). */
typedef struct NsIvpPoints {
  long count, capacity;
  double *t, *y;
} NsIvpPoints;

/* What came out. Dense: step k goes from knots.t[k], y, to knots.t[k + 1] with `rows` rows of n in `rows_of`. */
typedef struct NsIvp {
  int n, rows, events;
  NsIvpPoints points, knots, *found; /* found: `events` lists */
  long segments, segments_room;
  double *segment; /* rows x n each, of steps first to last */
  double *ends;    /* the end of each step, of which the polynomial goes on beyond a terminal event */
  NsIvpEnd end;
  int end_event; /* the event that ended it, from 0 */
  NsError why;   /* of NS_IVP_FAILED: what ended it */
  NsStepperState counts;
} NsIvp;

/* Makes an empty result; NS_ENOMEM. *ivp is NULL on failure. */
NsStatus ns_ivp_new(NsIvp **ivp, int n, int rows, int events);
void ns_ivp_free(NsIvp *ivp);

/*
** Solves the problem with a method. NS_OK too when a step fails (too short, NaN) or steps_most is reached: `end` and
** `why` tell, and what was computed is kept. Else NS_ECALLBACK (the rate or an event failed), NS_EINTR, NS_ENOMEM; what
** was computed is kept then too.
**
** An event is a root of g along the dense output. g is interpolated by polynomials (bernstein.h), on pieces of the step that are
** halved until they are exact or known to have no root, so that no root and no dip through zero is lost of a g that the first 9
** points in the step resolve; located by ns_bracket_root to the spacing of numbers. A root at t0 counts when g leaves zero in the direction asked for (or stays). A root is told once; roots at
** the same time as a terminal one, to 16 spacings, are told too.
*/
NsStatus ns_ivp_run(NsIvp *ivp, const NsStepperClass *method, const NsOdeProblem *problem, const NsIvpOptions *options,
                    NsError *err);

/* y (n) at t from the dense output; outside of the interval the first or last polynomial goes on. */
void ns_ivp_at(const NsIvp *ivp, double t, double *y);

#endif
