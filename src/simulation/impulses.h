/*
** impulses.h
** The impulses of a step of the grid that is computed in parts: the sums of the parts' impulses.
*/
#pragma once

#include "model/nsds.h"

/* Of the systems and interactions of an island, one after the other: r and reactions; lambda. */
typedef struct NsImpulses {
  double *r, *reaction, *lambda;
  int nr, nreaction, m;
} NsImpulses;

/* Takes memory from the arena, whose failure tells that there was none. */
void ns_impulses_take(NsImpulses *sum, const NsNsds *graph, NsArena *arena);

void ns_impulses_clear(const NsImpulses *sum);

/* Adds the impulses of a part. */
void ns_impulses_add(const NsImpulses *sum, const double *r, const double *reaction, const double *lambda);

/* Adds those that the objects have. */
void ns_impulses_add_present(const NsImpulses *sum, const NsNsds *graph);

/* Writes the sums to the objects: r and reactions of mechanical systems, lambda where the law acts on velocities. */
void ns_impulses_write(const NsImpulses *sum, const NsNsds *graph);
