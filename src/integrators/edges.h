/*
** edges.h
** Which interactions involve a dynamical system, or a group of systems that share a matrix.
*/
#pragma once

#include "base/arena.h"
#include "model/nsds.h"

/* Indices of interactions in the graph, ascending, without duplicates. */
typedef struct NsEdges {
  int count, *of;
} NsEdges;

/*
** The list of each of ngroups groups, in the arena. group[i] is the group of system i; group NULL: each system is a group.
** Returns NULL when there is no memory; then the arena has failed.
*/
NsEdges *ns_edges_of(NsArena *arena, const NsNsds *nsds, const int *group, int ngroups);
