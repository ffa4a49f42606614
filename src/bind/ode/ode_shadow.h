/*
** ode_shadow.h
** The trace of a function in Lua that the user did not compile, for its derivatives alone: its values stay those of the function.
*/
#ifndef NSL_ODE_ODE_SHADOW_H
#define NSL_ODE_ODE_SHADOW_H

#include "bind/diff/tape.h"
#include "bind/ode/ode_call.h"

/*
** A trace whose derivatives stand for those of the function. When the function is plain Lua its values are compared with those of the
** trace, to the last bit: at every eighth point, and at each point after an event has acted, since its apply may have changed a variable
** that the function uses.
*/
typedef struct NslShadow {
  NslTrace *trace; /* NULL: none; take dual numbers */
  bool plain;      /* the function is not compiled */
  bool changed;    /* an event has acted */
  long points;     /* number of questions so far */
} NslShadow;

/* Whether the values of the function are to be compared at this point; counts it. */
bool nsl_shadow_asks(NslShadow *shadow);

/*
** Makes the shadow of f, or of the function number e (from 0) in the list of events; (t, y) is the start. What is pushed stays. A function
** that can not be traced (it branches on a value, it takes objects that change) has none.
*/
void nsl_ode_shadow_f(NslOde *ode, NslShadow *shadow, double t, const double *y);
void nsl_ode_shadow_event(NslOde *ode, NslShadow *shadow, int e, double t, const double *y);

/*
** Whether the derivatives of f (of the event e) at (t, y) may be taken from its trace, whose inputs are then set to this point. When the
** values differ there is no trace from now on. *status: the failures of the function.
*/
bool nsl_ode_shadow_holds_f(NslOde *ode, NslShadow *shadow, double t, const double *y, NsStatus *status, NsError *err);
bool nsl_ode_shadow_holds_event(NslOde *ode, NslShadow *shadow, int e, double t, const double *y, NsStatus *status,
                                NsError *err);

#endif
