/*
** tape_probe.h
** Compares the values of a trace with the callback's.
*/
#pragma once

#include "bind/diff/tape.h"

/*
** Compares the closed trace with the callback, which is with its objects at first..last. The points: all inputs equal to one
** of a few round numbers (there a callback that compares with == differs), and points between these. Raises where the values
** differ, with the callback's line. A point where the callback raises is skipped.
** nsl_trace_probe_here compares at the present inputs, which stay, and raises the callback's error there.
*/
void nsl_trace_probe(lua_State *L, NslTrace *trace, int first, int last);
void nsl_trace_probe_here(lua_State *L, NslTrace *trace, int first, int last);
