/*
** merged.h
** The one-step problems of several islands, shown as one problem.
*/
#pragma once

#include "simulation/island.h"

/*
** Makes `whole`, the simulation's problem, show the problems of the islands, which it borrows until ns_osnsp_forget. Rows have
** the order of the interactions of the graph; rows of different islands are not coupled. `whole` has its vectors already.
** NS_ENOMEM.
*/
NsStatus ns_osnsp_join(NsOsnsp *whole, const NsNsds *nsds, const NsIslands *islands, NsError *err);

/*
** Copies m, q, bounds, groups, lambda, y and info of the islands' last problems to the whole. `failed`: the island whose
** problem had no solution (NULL: none); the whole gets its status. A problem that is not merged is unchanged.
*/
void ns_osnsp_gather(NsOsnsp *whole, const NsIsland *failed);

/* The interaction of the first row of the island's problem; NULL when it has no interactions. */
const NsInteraction *ns_island_first_interaction(const NsIsland *island);

/* The last problem of island k from 0, and in *place the row in the whole of each of its rows; NULL after the last. */
const NsOsnsp *ns_merged_part(const NsMerged *merged, int k, const int **place);

/* For one_step_problem.c: whether all parts have been solved; whether one of them is sparse; the matrix, m x m, or NULL. */
bool ns_merged_solved(const NsMerged *merged);
bool ns_merged_sparse(const NsMerged *merged);
const double *ns_merged_matrix(NsMerged *merged, int m);
void ns_merged_free(NsMerged *merged);
