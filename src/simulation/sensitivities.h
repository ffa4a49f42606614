/*
** sensitivities.h
** Derivatives of a run's states by parameters: a companion (integrators/sensitivity.h) for each island, and S of all systems.
*/
#ifndef NS_SIMULATION_SENSITIVITIES_H
#define NS_SIMULATION_SENSITIVITIES_H

#include "integrators/sensitivity.h"
#include "simulation/island.h"

typedef struct NsSensitivities {
  NsSensitivityOptions options;
  NsParameter *parameters;
  int p, nx; /* parameters; states of all systems */
  NsSensitivity **of;
  int count;        /* number of islands */
  int **place;      /* of each island: the index of each of its states among all */
  uint64_t version; /* of the graph */
  double *S;        /* nx x p: see ns_sensitivities_gather */
  NsEventSlopes slopes;
  NsArena arena;
} NsSensitivities;

/*
** Makes the companions of the islands, with a copy of the p parameters; the run must stand at its start. NS_EARG when a scheme
** carries no derivatives, with advice. NS_ENOMEM.
*/
NsStatus ns_sensitivities_new(NsSensitivities **out, const NsNsds *nsds, const NsIslands *islands,
                              const NsParameter *parameters, int p, const NsSensitivityOptions *options, NsError *err);
void ns_sensitivities_free(NsSensitivities *s);

/* The value of an event of the user at t and the states x (all systems). */
typedef NsStatus (*NsUserGuard)(void *context, double t, const double *x, double *g, NsError *err);

/*
** An event of the user at (t, x), the end of the last piece: adds the derivatives of its time to s->slopes; NaN where g does not
** change along the run. h: the length of the step of the grid. Fails as g does; NS_ENOMEM.
*/
NsStatus ns_sensitivities_event(NsSensitivities *s, NsUserGuard g, void *context, double t, const double *x, double h,
                                NsError *err);

/* S (nx x p) of the present states, in the order of the systems' states. */
const double *ns_sensitivities_gather(NsSensitivities *s);

#endif
