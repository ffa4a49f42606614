/*
** discrete.h
** Discrete states: named numbers, vectors and generators of random numbers that change at events only.
*/
#pragma once

#include "base/philox.h"
#include "model/ds.h"

/* One discrete state. size 0: a number; -1: a generator. first: its place among the numbers, or among the generators. */
typedef struct NsDiscreteState {
  char name[NS_NAME_SIZE];
  int size, first;
} NsDiscreteState;

/* The discrete states of an event or a clock. Their storage does not move. initial: where a run begins; now: at present. */
typedef struct NsDiscrete {
  NsDiscreteState *states;
  int count, numbers, generators;
  double *initial, *now;           /* numbers */
  NsPhilox *initial_draws, *draws; /* generators */
} NsDiscrete;

/* Makes discrete states of these names and sizes; their `first` is set here. NS_ENOMEM. */
NsStatus ns_discrete_new(NsDiscrete **discrete, const NsDiscreteState *states, int count);
void ns_discrete_free(NsDiscrete *discrete);

/* The state with this name; NULL: there is none. */
const NsDiscreteState *ns_discrete_find(const NsDiscrete *discrete, const char *name);

/* The number of numbers of a state: 1, the size of a vector, 0 for a generator. */
int ns_discrete_width(const NsDiscreteState *state);

/* All states get their initial values. NULL: nothing. */
void ns_discrete_reset(NsDiscrete *discrete);

/* Walks the present values. NULL: nothing. */
void ns_discrete_visit(NsDiscrete *discrete, NsVisitor visitor, void *context);
