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

/*
** Finds the roots in the step from t_old to t, y_old and `segment` (rows x n) giving its polynomial, and appends those
** that count to ivp->found. When one ends the integration *stop is set, with the time in *t_stop and ivp->end_event;
** later roots are left out then.
*/
NsStatus ns_ivp_search_step(NsIvpSearch *search, NsIvp *ivp, double t_old, double t, const double *y_old, const double *segment,
                            bool *stop, double *t_stop, NsError *err);

#endif
