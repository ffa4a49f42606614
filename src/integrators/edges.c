/*
** edges.c
** The interactions of each system or group of systems.
*/
#include "integrators/edges.h"

/* Counts interaction e in the list of each of its groups, and stores it when the lists have memory. */
static void edges_add(NsEdges *edges, const NsInteraction *inter, int e, const int *group) {
  int seen[NS_INTERACTION_SYSTEMS];
  for (int p = 0; p < inter->nds; p++) {
    int g = seen[p] = group ? group[inter->ds[p]->node] : inter->ds[p]->node, before = 0;
    while (seen[before] != g) before++;
    if (before < p) continue;
    if (edges[g].of) edges[g].of[edges[g].count] = e;
    edges[g].count++;
  }
}

NsEdges *ns_edges_of(NsArena *arena, const NsNsds *nsds, const int *group, int ngroups) {
  NsEdges *edges = ns_arena_take(arena, (size_t)ngroups, sizeof *edges);
  if (!edges) return NULL;
  for (int e = 0; e < nsds->ninteractions; e++) edges_add(edges, nsds->interactions[e], e, group);
  for (int g = 0; g < ngroups; g++) edges[g] = (NsEdges){0, ns_arena_ints(arena, edges[g].count)};
  if (arena->failed) return NULL;
  for (int e = 0; e < nsds->ninteractions; e++) edges_add(edges, nsds->interactions[e], e, group);
  return edges;
}
