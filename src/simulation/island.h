/*
** island.h
** Islands: the connected components of a graph. Each is solved on its own: no system depends on another island.
*/
#ifndef NS_SIMULATION_ISLAND_H
#define NS_SIMULATION_ISLAND_H

#include "simulation/one_step_problem.h"

/* One connected component of the graph (model/components.h), with the workspace of its steps. */
typedef struct NsIsland {
  NsNsds *graph;    /* its systems and interactions, in the order of the whole graph; borrowed, or `part` */
  NsNsds part;      /* the graph of one of several islands; its arrays are in the islands' arena */
  int *number;      /* with several islands: the index of each interaction in the whole graph */
  NsOsnsp *problem; /* its one-step problem; with one island it is the simulation's, borrowed */
  NsScheme *scheme;
  NsSnapshot before; /* the state before the step */

  /* the last step */
  const double *solution; /* of its problem, all unknowns */
  NsStepResidual residual;
  int newton_iterations;
  bool spoiled;   /* polishing lost the iterate */
  bool accounted; /* its energies are in the account already, before it is accepted */
} NsIsland;

typedef struct NsIslands {
  NsIsland *of;
  int count;
  NsArena arena;
} NsIslands;

/* The arguments of ns_islands_new. */
typedef struct NsIslandPlan {
  NsNsds *nsds;
  const NsIntegrator *integrator;
  NsOsnsp *problem; /* the simulation's: sized for the graph, or shows the islands' problems (joined.h) */
  NsSchemePlan scheme;
} NsIslandPlan;

/*
** Makes the islands of the present graph, and their workspaces. NS_EARG when the integrator or the one-step problem can not
** take the graph, NS_ENOMEM; then *islands is empty.
*/
NsStatus ns_islands_new(NsIslands *islands, const NsIslandPlan *plan, NsError *err);

/* `problem`: the simulation's, which no longer shows the islands' problems; NULL when it is gone. */
void ns_islands_free(NsIslands *islands, NsOsnsp *problem);

/* Whether each island is linear: a step is one linearised problem. */
bool ns_islands_linear(const NsIslands *islands);

#endif
