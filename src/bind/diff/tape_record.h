/*
** tape_record.h
** Traces a callback.
*/
#pragma once

#include "bind/diff/tape.h"

/*
** Records the tape of a new path at `in`, and the kind of its result, which is the same for all paths. The path is on top of the stack, the
** trace at index `at`; the function and its objects are at first..last. Raises the callback's errors, with an explanation when tracing is the cause. Traces nest.
*/
void nsl_trace_record(lua_State *L, NslTrace *trace, int at, NslPath *path, const double *in, int first, int last);

/* Pushes the place where the function at idx is defined, "clutch.lua:41: ", or "". */
void nsl_push_definition(lua_State *L, int idx);
