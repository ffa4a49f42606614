/*
** discrete.c
** Discrete states: named numbers, vectors and generators of random numbers that change at events only.
*/
#include "simulation/discrete.h"

#include <string.h>

#include "base/memory.h"

int ns_discrete_width(const NsDiscreteState *state) {
  return state->size < 0 ? 0 : state->size == 0 ? 1 : state->size;
}

NsStatus ns_discrete_new(NsDiscrete **out, const NsDiscreteState *states, int count) {
  NsDiscrete *d = *out = ns_alloc(1, sizeof *d);
  if (!d) return NS_ENOMEM;
  d->states = ns_alloc((size_t)count, sizeof *d->states);
  if (d->states) memcpy(d->states, states, (size_t)count * sizeof *d->states);
  for (int i = 0; d->states && i < count; i++) {
    NsDiscreteState *state = &d->states[i];
    bool draws = state->size < 0;
    state->first = draws ? d->generators : d->numbers;
    d->generators += draws;
    d->numbers += ns_discrete_width(state);
  }
  d->count = count;
  d->initial = ns_alloc(2 * (size_t)d->numbers, sizeof *d->initial);
  d->initial_draws = ns_alloc(2 * (size_t)d->generators, sizeof *d->initial_draws);
  if (!d->states || !d->initial || !d->initial_draws) {
    ns_discrete_free(d);
    *out = NULL;
    return NS_ENOMEM;
  }
  d->now = d->initial + d->numbers;
  d->draws = d->initial_draws + d->generators;
  return NS_OK;
}

void ns_discrete_free(NsDiscrete *d) {
  if (!d) return;
  ns_free(d->states);
  ns_free(d->initial);
  ns_free(d->initial_draws);
  ns_free(d);
}

const NsDiscreteState *ns_discrete_find(const NsDiscrete *d, const char *name) {
  for (int i = 0; i < d->count; i++)
    if (strcmp(d->states[i].name, name) == 0) return &d->states[i];
  return NULL;
}

void ns_discrete_reset(NsDiscrete *d) {
  if (!d) return;
  memcpy(d->now, d->initial, (size_t)d->numbers * sizeof *d->now);
  memcpy(d->draws, d->initial_draws, (size_t)d->generators * sizeof *d->draws);
}

void ns_discrete_visit(NsDiscrete *d, NsVisitor visitor, void *context) {
  if (!d) return;
  visitor(context, "discrete", d->now, (size_t)d->numbers * sizeof *d->now);
  visitor(context, "draws", d->draws, (size_t)d->generators * sizeof *d->draws);
}
