/*
** tape_native.h
** Native code for a path of a trace.
*/
#pragma once

#include "bind/diff/tape.h"

/*
** Compiles native code for the closed path at index `at`; the same source is compiled once in a Lua state. program: the
** compiler's name; NULL: cc or tcc. must: a failure is an error; otherwise the path stays without native code and `reason`
** tells why.
*/
void nsl_path_make_native(lua_State *L, NslPath *path, int at, const char *program, bool must);

/* Native code for nsl_trace_vjp of the path at index `at`, if it has native code; without success the path stays as it is. */
void nsl_path_make_vjp(lua_State *L, NslPath *path, int at);

void nsl_open_native(lua_State *L);
