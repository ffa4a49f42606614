/*
** callback.h
** One call of a callback: protected, checked, with errors that say where.
*/
#ifndef NSL_CALL_CALLBACK_H
#define NSL_CALL_CALLBACK_H

#include "bind/call/callee.h"

/*
** Where a callback is evaluated; what it does not depend on may be NULL. Of a slot that takes the rate of x,
** lambda is that rate.
*/
typedef struct NslPoint {
  double t;
  const double *x, *lambda, *z;
} NslPoint;

/* The number of numbers that a callback gives. */
int nsl_callback_entries(const NslCallback *cb);

/*
** out = the callback of a slot at a point; every number of it is finite. Returns 0; positive when a number is not
** finite (a smaller step may help); negative when the callback raised. The error is then kept (nsl_keep_error).
*/
int nsl_callback_call(NslCallee *callee, int slot, const NslPoint *at, double *out);

/*
** The trace of a slot's compiled callback with its inputs at a point; NULL, the error kept, when it cannot be traced.
** nsl_callback_argument: the number, from 0, of the trace's argument that a letter of the slot stands for; 't': the time,
** -1 when there is none.
*/
struct NslTrace *nsl_callback_trace(NslCallee *callee, int slot, const NslPoint *at);
int nsl_callback_argument(const NslCallback *cb, char letter);

/*
** Runs f, with `argument` as a light userdata, in the name of the callback: what it raises is worded and kept as what
** the callback raises. Returns 0, or negative.
*/
int nsl_callback_protected(const NslCallback *cb, lua_CFunction f, void *argument);

#endif
