/*
** ode_shadow.h
** The trace of a function in Lua that the user did not compile, for its derivatives alone: its values still come from the function.
*/
#pragma once

#include "bind/diff/shadow.h"
#include "bind/ode/ode_call.h"

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
