/*
** observe.h
** run{observe = f}: columns beside those of the model, which a function of the script gives for each row.
*/
#ifndef NSL_SIMULATION_OBSERVE_H
#define NSL_SIMULATION_OBSERVE_H

#include "bind/simulation/simulation.h"

typedef struct NslObserver {
  lua_State *L;
  const NsTimeStepping *ts;
  int self, simulation; /* indices of their userdata in the stack of L */
  int count;            /* columns, once they are known */
  double *values;       /* `count` numbers, kept by a user value */
  bool known, ahead;    /* the keys are known; the values are already those of the row to come */
} NslObserver;

/*
** Pushes the observer of a run: the function at f is called with the simulation at `simulation` when a row is recorded. It keeps
** the value at `keep` too.
*/
NslObserver *nsl_push_observer(lua_State *L, int simulation, int f, int keep);

/* Calls the function (an NsRunObserve). NS_ECALLBACK, with the error kept: what it raised, or what is wrong with its values. */
NsStatus nsl_observe(void *observer, NsError *err);

/* Pushes the list of the columns' names. */
void nsl_push_observed_names(lua_State *L, int observer);

#endif
