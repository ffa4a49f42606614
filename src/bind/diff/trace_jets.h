/*
** trace_jets.h
** Higher derivatives of a traced function.
*/
#pragma once

#include "ad/jet.h"
#include "bind/diff/tape.h"

/*
** A `find` of ad/jet_passes.h for a tape whose inputs are set: n variables from input `first` on, the time at input `time` (-1: none). Raises an error that
** names f[i] when a derivative is not finite.
*/
void nsl_trace_jets(lua_State *L, NslTrace *trace, int time, double tdot, int first, int n, NsJet jet, const double *seed,
                    double *all);
