/*
** tape_native.h
** Native code for a trace.
*/
#pragma once

#include "bind/diff/tape.h"

/*
** Compiles native code for the closed trace at index `at`; the same source is compiled once in a Lua state. program: the
** compiler's name; NULL: cc or tcc. must: a failure is an error; otherwise the trace stays without native code and `reason`
** tells why.
*/
void nsl_trace_make_native(lua_State *L, NslTrace *trace, int at, const char *program, bool must);

/* Native code for nsl_trace_vjp of the trace at index `at`, if it has native code; without success the trace stays as it is. */
void nsl_trace_make_vjp(lua_State *L, NslTrace *trace, int at);

void nsl_open_native(lua_State *L);
