/*
** edges.h
** Which interactions touch a dynamical system, or a group of systems that share a matrix.
*/
#ifndef NS_INTEGRATORS_EDGES_H
#define NS_INTEGRATORS_EDGES_H

#include "base/arena.h"
#include "model/nsds.h"

/* Numbers of interactions of the graph, ascending, each once. */
typedef struct NsEdges {
  int count, *of;
} NsEdges;

/*
** The list of each of ngroups groups; group[i] is that of system i (NULL: its own, i). They live as long as the arena; NULL,
** and the arena has failed, when there is no memory.
*/
NsEdges *ns_edges_of(NsArena *arena, const NsNsds *nsds, const int *group, int ngroups);

#endif
