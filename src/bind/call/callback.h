/*
** callback.h
** One call of a callback: protected, its numbers checked, errors with the place in the script.
*/
#pragma once

#include "bind/call/callee.h"

/* The number of entries of a callback's output. */
int nsl_callback_entries(const NslCallback *cb);

/*
** out = the value of a slot's callback at a point, finite in every entry. Returns 0; positive when an entry is not finite (a
** smaller step may help); negative when the callback raised. In the last two cases the error is kept (nsl_keep_error).
*/
int nsl_callback_call(NslCallback *cb, const NsPoint *at, double *out);

/*
** The trace of a slot's compiled callback, with its inputs set to a point; NULL, with the error kept, when it cannot be traced.
** nsl_callback_argument: the number (from 0) of the trace's argument for a letter of the slot ('t': the time); -1 when there is
** none. NULL without an error: it has become plain (nsl_callback_attempt).
*/
struct NslTrace *nsl_callback_trace(NslCallback *cb, const NsPoint *at);
int nsl_callback_argument(const NslCallback *cb, char letter);

/* Makes the trace of a slot's compiled callback at a point; false, with the error on top of the stack, where it can not be traced. */
bool nsl_callback_try(lua_State *L, NslCallback *cb, const NsPoint *at);

/*
** The trace of a slot's plain Lua callback, for its derivatives, with its inputs set to a point. plain: the callback's values there; NULL: it
** is called now and then. NULL: it can not be traced, or its values there are not the trace's. It is made anew in each run: a script may change what the callback uses.
*/
struct NslTrace *nsl_callback_shadow(NslCallback *cb, const NsPoint *at, const double *plain);

/*
** Whether a slot's plain Lua callback rounds the time to integers (t - floor(t), t % 1), and so jumps at times that no step sees. It is
** called once, with traced numbers, when its source has an operation that does so (nslua.base.remainders).
*/
bool nsl_callback_jumps(NslCallback *cb);

/*
** Runs f on behalf of the callback, with `argument` as a light userdata. An error of f is worded and kept like an error of the
** callback. Returns 0, or negative on an error.
*/
int nsl_callback_protected(const NslCallback *cb, lua_CFunction f, void *argument);

/*
** The same on behalf of a compiled callback. Where nslua.compile has compiled it, an error makes it the plain callback that it was, with a
** warning, and is forgotten: nsl_has_trace tells.
*/
int nsl_callback_attempt(NslCallback *cb, lua_CFunction f, void *argument);

/*
** A function of a script that is no callback of a slot: f calls it; push: pushes it (or something else, when it is not one function).
** what: writes whose it is and when, for messages, "interaction 'clutch' ub: t=0.35". argument: of f, push and what.
*/
typedef struct NslWorded {
  void (*what)(const void *argument, char *text, size_t size);
  lua_CFunction f;
  void (*push)(lua_State *L, void *argument);
  void *argument;
} NslWorded;

/*
** Runs `call->f` with the argument as a light userdata. An error is kept, with `what` behind its position, which is
** where the function is defined when the message has none. Whether it has succeeded.
*/
bool nsl_call_worded(lua_State *L, const NslWorded *call);

/* Forgets the error of a call that was only an attempt. Returns 1: not available, no error. */
int nsl_callback_forget(const NslCallback *cb);
