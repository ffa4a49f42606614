/*
** tape_record.h
** Tracing a callback.
*/
#ifndef NSL_DIFF_TAPE_RECORD_H
#define NSL_DIFF_TAPE_RECORD_H

#include "bind/diff/tape.h"

/*
** Records the tape of a new trace, and what the callback gives: the function and its objects stand at first..last. What
** it raises is raised, with a word on why where it comes from tracing. Traces nest.
*/
void nsl_trace_record(lua_State *L, NslTrace *trace, int first, int last);

/* Pushes "clutch.lua:41: ", where the function at idx is defined, or "". */
void nsl_push_definition(lua_State *L, int idx);

#endif
