/*
** observe.h
** run{observe = f}: columns beside the model's, computed by a function of the script for each row.
*/
#pragma once

#include "bind/simulation/simulation.h"

typedef struct NslObserver {
  lua_State *L;
  const NsTimeStepping *ts;
  int self, simulation; /* stack indices (in L) of the userdata that hold this struct and the simulation */
  int count;            /* number of columns, once known */
  double *values;       /* `count` numbers, kept alive by a user value */
  bool known, ahead;    /* known: the keys are known; ahead: the values belong to the next row already */
} NslObserver;

/*
** Pushes the observer of a run: it calls the function at stack index f with the simulation at `simulation` for each recorded
** row. It also keeps the value at `keep` alive.
*/
NslObserver *nsl_push_observer(lua_State *L, int simulation, int f, int keep);

/* Calls the function (an NsRunObserve). NS_ECALLBACK, with the error kept, when it raised or when its values are wrong. */
NsStatus nsl_observe(void *observer, NsError *err);

/* Pushes the list of the columns' names. */
void nsl_push_observed_names(lua_State *L, int observer);
