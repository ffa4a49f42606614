/*
** tape_record.h
** Traces a callback.
*/
#pragma once

#include "bind/diff/tape.h"

/*
** Records the tape of a new trace, which is at `at`, and the kind of its result. The function and its objects are at first..last. Raises the
** callback's errors, with an explanation when tracing is the cause. Traces nest.
*/
void nsl_trace_record(lua_State *L, NslTrace *trace, int at, int first, int last);

/* Pushes the place where the function at idx is defined, "clutch.lua:41: ", or "". */
void nsl_push_definition(lua_State *L, int idx);
