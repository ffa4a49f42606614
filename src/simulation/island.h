/*
** island.h
** The parts of a graph that nothing joins: each is stepped on its own, so that no system feels a stranger.
*/
#ifndef NS_SIMULATION_ISLAND_H
#define NS_SIMULATION_ISLAND_H

#include "simulation/one_step_problem.h"

/* One connected component of the graph (model/components.h), with all that a step of it needs. */
typedef struct NsIsland {
  NsNsds *graph;    /* its systems and interactions, in the order of the whole graph; borrowed, or `part` */
  NsNsds part;      /* the graph of one of several islands; its arrays are of the islands' arena */
  int *number;      /* of several islands: of its interactions in the whole graph */
  NsOsnsp *problem; /* its one-step problem; that of the simulation, borrowed, when there is one island */
  NsScheme *scheme;
  NsSnapshot before; /* the state before the step */

  /* of the last step */
  const double *solution; /* of its problem, in all of its unknowns */
  NsStepResidual residual;
  int newton_iterations;
  bool spoiled;   /* whether polishing lost the iterate */
  bool accounted; /* its energies have been added to the account before it is accepted */
} NsIsland;

typedef struct NsIslands {
  NsIsland *of;
  int count;
  NsArena arena;
} NsIslands;

/* What islands are made of. */
typedef struct NsIslandPlan {
  NsNsds *nsds;
  const NsIntegrator *integrator;
  NsOsnsp *problem; /* of the simulation: sized for the graph, or joined of those of the islands (joined.h) */
  NsSchemePlan scheme;
} NsIslandPlan;

/*
** Makes the islands of the graph as it stands, and their workspaces. NS_EARG when the graph does not fit the integrator or the
** one-step problem, NS_ENOMEM; *islands is empty then.
*/
NsStatus ns_islands_new(NsIslands *islands, const NsIslandPlan *plan, NsError *err);

/* `problem`: that of the simulation, which the islands no longer use; NULL when it is gone. */
void ns_islands_free(NsIslands *islands, NsOsnsp *problem);

/* Whether one linearised problem is the solution of a step of each island. */
bool ns_islands_linear(const NsIslands *islands);

#endif
