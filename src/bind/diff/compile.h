/*
** compile.h
** ns.compile: a callback traced into a tape, once for each set of sizes, and into native code.
*/
#ifndef NSL_DIFF_COMPILE_H
#define NSL_DIFF_COMPILE_H

#include "bind/diff/tape.h"

/* Whether a compiled function stands at idx. */
bool nsl_is_compiled(lua_State *L, int idx);

/* Whether a function or a compiled function stands at idx: what a callback may be. */
bool nsl_is_callback(lua_State *L, int idx);

/* Pushes the plain function behind what stands at idx: of a compiled function its own, else that value. */
void nsl_push_plain_function(lua_State *L, int idx);

/*
** The trace of the compiled function at idx for these arguments, made when there is none yet: it lives as long as the
** compiled function. Raises what the callback raises, for what cannot be traced, and when the values of the trace are
** not those of the callback.
*/
NslTrace *nsl_trace(lua_State *L, int idx, int nargs, const NslTraceArg *args);

/*
** The same with the number of values checked: nout of them, "LABEL: expected 3 values, got 2". quiet: nothing filled and
** nothing returned stands for zeros.
*/
NslTrace *nsl_trace_of(lua_State *L, int idx, int nargs, const NslTraceArg *args, int nout, const char *label, bool quiet);

/* Compares the values with those of the callback where the inputs are now, when that was not done yet. */
void nsl_trace_check(lua_State *L, int idx, NslTrace *trace, int nargs, const NslTraceArg *args);

void nsl_open_compile(lua_State *L);

#endif
