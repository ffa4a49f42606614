/*
** impulses.c
** The impulses of a step of the grid that is computed in parts.
*/
#include "simulation/impulses.h"

#include <string.h>

void ns_impulses_take(NsImpulses *sum, const NsNsds *graph, NsArena *arena) {
  for (int d = 0; d < graph->nds; d++) sum->nr += graph->ds[d]->nr, sum->nreaction += graph->ds[d]->nreaction;
  for (int i = 0; i < graph->ninteractions; i++) sum->m += graph->interactions[i]->m;
  sum->r = ns_arena_doubles(arena, sum->nr);
  sum->reaction = ns_arena_doubles(arena, sum->nreaction);
  sum->lambda = ns_arena_doubles(arena, sum->m);
}

void ns_impulses_clear(const NsImpulses *sum) {
  memset(sum->r, 0, (size_t)sum->nr * sizeof *sum->r);
  memset(sum->reaction, 0, (size_t)sum->nreaction * sizeof *sum->reaction);
  memset(sum->lambda, 0, (size_t)sum->m * sizeof *sum->lambda);
}

/* Adds n numbers; returns the place behind them. */
static double *impulses_add_numbers(double *sum, const double *more, int n) {
  for (int i = 0; i < n; i++) sum[i] += more[i];
  return sum + n;
}

void ns_impulses_add(const NsImpulses *sum, const double *r, const double *reaction, const double *lambda) {
  (void)impulses_add_numbers(sum->r, r, sum->nr);
  (void)impulses_add_numbers(sum->reaction, reaction, sum->nreaction);
  (void)impulses_add_numbers(sum->lambda, lambda, sum->m);
}

void ns_impulses_add_present(const NsImpulses *sum, const NsNsds *graph) {
  double *r = sum->r, *reaction = sum->reaction, *lambda = sum->lambda;
  for (int d = 0; d < graph->nds; d++) {
    const NsDs *ds = graph->ds[d];
    r = impulses_add_numbers(r, ds->r, ds->nr);
    reaction = impulses_add_numbers(reaction, ds->reaction, ds->nreaction);
  }
  for (int i = 0; i < graph->ninteractions; i++)
    lambda = impulses_add_numbers(lambda, graph->interactions[i]->lambda, graph->interactions[i]->m);
}

/* Copies n numbers, if the objects show their sums; returns the place behind them. */
static const double *impulses_copy(double *to, const double *sum, int n, bool summed) {
  if (summed && n > 0) memcpy(to, sum, (size_t)n * sizeof *to);
  return sum + n;
}

void ns_impulses_write(const NsImpulses *sum, const NsNsds *graph) {
  const double *r = sum->r, *reaction = sum->reaction, *lambda = sum->lambda;
  for (int d = 0; d < graph->nds; d++) {
    NsDs *ds = graph->ds[d];
    bool mechanical = ns_ds_family(ds) == NS_MECHANICS;
    r = impulses_copy(ds->r, r, ds->nr, mechanical);
    reaction = impulses_copy(ds->reaction, reaction, ds->nreaction, mechanical);
  }
  for (int i = 0; i < graph->ninteractions; i++) {
    const NsInteraction *inter = graph->interactions[i];
    lambda = impulses_copy(inter->lambda, lambda, inter->m, ns_interaction_has_impulses(inter));
  }
}
