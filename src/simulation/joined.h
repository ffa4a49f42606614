/*
** joined.h
** The one-step problems of several islands, shown as one problem.
*/
#ifndef NS_SIMULATION_JOINED_H
#define NS_SIMULATION_JOINED_H

#include "simulation/island.h"

/*
** Makes `whole`, the problem of the simulation, which has its vectors, the one that shows those of the islands, which it borrows until
** ns_osnsp_forget: rows in the order of the interactions of the graph, nothing between rows of different islands. NS_ENOMEM.
*/
NsStatus ns_osnsp_join(NsOsnsp *whole, const NsNsds *nsds, const NsIslands *islands, NsError *err);

/*
** Reads m, q, bounds, groups, lambda, y and info of the islands' last problems into the whole; `failed` is the island
** whose problem had no solution, whose status is then that of the whole, or NULL. A problem that is not joined stays
** as it is.
*/
void ns_osnsp_gather(NsOsnsp *whole, const NsIsland *failed);

/* The interaction that the first row of the island's problem belongs to; NULL without interactions. */
const NsInteraction *ns_island_first_interaction(const NsIsland *island);

/* What one_step_problem.c asks: whether all parts have been solved, whether one is sparse; the matrix, m x m, or NULL. */
bool ns_joined_solved(const NsJoined *joined);
bool ns_joined_sparse(const NsJoined *joined);
const double *ns_joined_matrix(NsJoined *joined, int m);
void ns_joined_free(NsJoined *joined);

#endif
