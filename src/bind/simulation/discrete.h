/*
** discrete.h
** Discrete states in Lua: s.u, s.i[1], and their columns in a run.
*/
#pragma once

#include "bind/simulation/observe.h"
#include "bind/simulation/solver_columns.h"
#include "simulation/discrete.h"

/*
** Pushes the discrete states that the table at idx describes (numbers, vectors and generators by name), and returns them; nil and
** NULL when there is no table. who: "every"; name: of the event, for messages.
*/
NsDiscrete *nsl_push_discrete(lua_State *L, int idx, const char *who, const char *name);

/* Pushes a copy, with initial and present values, of the discrete states at idx; nil for nil. */
NsDiscrete *nsl_clone_discrete(lua_State *L, int idx);

/*
** The numbers that a run records beside the model's: the numbers of its observer, if any, then the discrete states, then the
** solver's.
*/
typedef struct NslRowNumbers {
  NslObserver *observer;
  NslSolverColumns *solver; /* NULL: not asked for */
  const NsTimeStepping *ts;
  double *values; /* count */
  int count;
} NslRowNumbers;

/* The number of discrete states, in numbers. */
int nsl_count_discrete(const NsTimeStepping *ts);

/* An NsRunObserve, for an NslRowNumbers whose values are there. */
NsStatus nsl_fill_row(void *numbers, NsError *err);

/* Replaces the list of names on top by one with the names of the discrete states behind them: "controller.u", "controller.i[1]". */
void nsl_add_discrete_names(lua_State *L, const NsTimeStepping *ts);
