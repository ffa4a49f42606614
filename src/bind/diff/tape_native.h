/*
** tape_native.h
** Native code for a trace.
*/
#ifndef NSL_DIFF_TAPE_NATIVE_H
#define NSL_DIFF_TAPE_NATIVE_H

#include "bind/diff/tape.h"

/*
** Gives the closed trace at index `at` native code, compiled once for a source in this Lua state. program: the compiler's
** name; NULL: cc or tcc. must: what fails is an error; else the trace goes without and says the reason.
*/
void nsl_trace_make_native(lua_State *L, NslTrace *trace, int at, const char *program, bool must);

void nsl_open_native(lua_State *L);

#endif
