/*
** island.h
** Islands: the connected components of a graph. Each is solved on its own: no system depends on another island.
*/
#pragma once

#include "simulation/impulses.h"
#include "simulation/local_error.h"
#include "simulation/one_step_problem.h"

/*
** When a step has converged: |W^-1 rho|_j <= rtol * (size of unknown j) + atol and |h(x, lambda) - y|_i <= rtol * (terms of row
** i) + atol, see step_residual.h; or all |rho_i| and |h - y|_i <= `absolute`.
*/
typedef struct NsNewtonOptions {
  int max_iterations;
  double rtol, atol; /* atol: in the units of each unknown and output; 0 by default */
  double absolute;   /* in the units of each row; 0: not used */
  int max_substeps;  /* a step that fails is computed in 2, 4, ... parts, up to this many; 1: never */
} NsNewtonOptions;

/* The workspaces of an island for steps of one length: in a linear model their factors stay. */
typedef struct NsGear {
  double h;  /* 0: not used yet */
  long used; /* the number of the shift that used it last */
  NsScheme *scheme;
  NsOsnsp *problem;
} NsGear;

/* One connected component of the graph (model/components.h), with the workspace of its steps. */
typedef struct NsIsland {
  NsArena arena;
  NsNsds *graph; /* its systems and interactions, in the order of the whole graph; in the arena if there are several islands */
  bool kept;     /* it comes from the last graph */
  int *number;   /* when the simulation's problem shows the islands': the index of each interaction in the whole graph */
  NsOsnsp *problem; /* its one-step problem; with one island it is the simulation's, borrowed, unless it has gears */
  bool owns;        /* `problem` is its own */
  NsScheme *scheme;
  NsSnapshot before; /* the state before the step, if `saved` */
  bool saved;

  /* adaptive steps of a linear island: scheme and problem of the present gear */
  NsGear *gears; /* NULL: none */
  int ngears, most_gears;
  long shifts;

  NsLocalError *error; /* the workspace of adaptive steps; NULL: the steps have the length of the grid */

  /* what the last step was solved with, and what that cost; repeatable: its scheme, if without damping and other ways out, else NULL */
  NsNewtonOptions newton;
  NsBoxOptions asked;
  long solver_iterations;
  const NsScheme *repeatable;

  /* the last step */
  const double *solution; /* of its problem, all unknowns */
  NsStepResidual residual;
  int newton_iterations;
  bool spoiled;   /* polishing lost the iterate */
  bool accounted; /* it was computed in parts: its energies are in the account already, its impulses are in `sum` */
  NsImpulses sum;
} NsIsland;

/* The arguments of ns_islands_new. */
typedef struct NsIslandPlan {
  NsNsds *nsds;
  const NsIntegrator *integrator;
  NsOsnsp *problem; /* the simulation's: sized for the graph, or shows the islands' problems (merged.h) */
  NsSchemePlan scheme;
  bool adaptive; /* the steps are adaptive: islands get a workspace for them, linear ones gears too */
} NsIslandPlan;

typedef struct NsIslands {
  NsIsland *of;
  int count;
  NsIslandPlan plan;
  uint64_t version, links; /* of the graph */
  int nds, *home;          /* number of systems, and the island of each */
  bool sure;               /* no island can fail to accept the present step once all are solved */
  NsArena arena;
} NsIslands;

/*
** Makes the islands of the present graph, and their workspaces. NS_EARG when the integrator or the one-step problem can not
** take the graph, NS_ENOMEM; then *islands is empty. last: the islands of an earlier version of the graph, with the same plan, that differs by new systems
** and links alone: those that have not changed move to *islands, with their factors, unless it fails; the caller frees *last. NULL: all are new.
*/
NsStatus ns_islands_new(NsIslands *islands, const NsIslandPlan *plan, const NsIslands *last, NsError *err);

/* `problem`: the simulation's, which no longer shows the islands' problems; NULL when it is gone. */
void ns_islands_free(NsIslands *islands, NsOsnsp *problem);

/*
** Makes scheme and problem of an island with gears those for steps of length h, and gives the problem the present options of the
** simulation's. The gear of another length that was used least recently is taken when there are many. NS_ENOMEM, NS_EARG.
*/
NsStatus ns_island_shift(const NsIslands *islands, NsIsland *island, double h, NsError *err);

/* Whether each island is linear: a step is one linearised problem. */
bool ns_islands_linear(const NsIslands *islands);
