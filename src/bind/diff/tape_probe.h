/*
** tape_probe.h
** The values of a trace against those of the callback.
*/
#ifndef NSL_DIFF_TAPE_PROBE_H
#define NSL_DIFF_TAPE_PROBE_H

#include "bind/diff/tape.h"

/*
** Compares the closed trace with the callback, which stands with its objects at first..last: where all inputs are one of
** a few round numbers (the callback that compares with == differs there), and at points in between. Raises where they
** differ, with the line of the callback. A point where the callback raises tells nothing; when all are such, that is
** raised. nsl_trace_probe_here: where the inputs are now; they stay.
*/
void nsl_trace_probe(lua_State *L, NslTrace *trace, int first, int last);
void nsl_trace_probe_here(lua_State *L, NslTrace *trace, int first, int last);

#endif
