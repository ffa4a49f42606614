/*
** ivp_events.h
** The search for roots of event functions along one step.
*/
#ifndef NS_ODE_IVP_EVENTS_H
#define NS_ODE_IVP_EVENTS_H

#include "ode/ivp.h"

typedef struct NsIvpSearch NsIvpSearch;

/* Makes a search for the events of the options, which it borrows; NS_ENOMEM. */
NsStatus ns_ivp_search_new(NsIvpSearch **search, const NsIvp *ivp, const NsIvpOptions *options);
void ns_ivp_search_free(NsIvpSearch *search);

/* The values of the events at t0. */
NsStatus ns_ivp_search_start(NsIvpSearch *search, const double *y0, NsError *err);

/* A root of an event along a step. */
typedef struct NsIvpRoot {
  double t;
  int event;
} NsIvpRoot;

/* The roots in a step that count, in their order; `end` is the index of the terminal one, -1: there is none. */
typedef struct NsIvpRoots {
  const NsIvpRoot *roots; /* owned by the search, valid until the next step */
  long count, end;
} NsIvpRoots;

/* Finds the roots in a step with the polynomial y_old and `segment` (rows x n); roots after a terminal one are left out. */
NsStatus ns_ivp_search_step(NsIvpSearch *search, const NsStepperState *at, const double *segment, NsIvpRoots *found,
                            NsError *err);

#endif
