/*
** tape_native.h
** Native code for a path of a trace.
*/
#pragma once

#include "bind/diff/tape.h"

/* When code is made: now, and a failure is an error; now; meanwhile, by the default compiler: the tape stands in until nsl_path_adopt. */
typedef enum NslCodeWay { NSL_CODE_MUST, NSL_CODE_NOW, NSL_CODE_LATER } NslCodeWay;

/*
** Compiles native code for the closed path at index `at`; the same source is compiled once in a Lua state. program: the
** compiler's name; NULL: cc or tcc. After a failure the path stays without native code and `reason` tells why.
*/
void nsl_path_make_native(lua_State *L, NslPath *path, int at, const char *program, NslCodeWay way);

/* Takes code that was made meanwhile for the path at index `at`, if it is ready and has the bits of the tape at `in`. */
void nsl_path_adopt(lua_State *L, NslPath *path, int at, const double *in);

/* Native code for nsl_trace_vjp of the path at index `at`, if it has native code; without success the path stays as it is. */
void nsl_path_make_vjp(lua_State *L, NslPath *path, int at);

void nsl_open_native(lua_State *L);
