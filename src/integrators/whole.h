/*
** whole.h
** Large linear models as a whole: states and multipliers in one sparse problem a step, nothing eliminated. What the schemes that
** have such a form share.
*/
#ifndef NS_INTEGRATORS_WHOLE_H
#define NS_INTEGRATORS_WHOLE_H

#include "integrators/scheme.h"
#include "integrators/triplets.h"

/* The first member of the workspace of such a form. Unknowns are the changes of the states (in mechanics of the velocities) in the step. */
typedef struct NsWhole {
  NsScheme base;
  int N, m;           /* unknowns, multipliers */
  int *offset;        /* nds: of each system's unknowns */
  const char *letter; /* what messages call the states */
  NsSparse *matrix;
  uint64_t key; /* what it was formed from: versions, and weights */
  double formed[4];
  double *q, *lower, *upper, *guess, *z; /* N + m; z: the solution */
  double *now;                           /* N: the states of the iterate */
  double *pair;                          /* the largest nx of an interaction */
  NsStepProblem problem;
} NsWhole;

/* Makes one of so many bytes, with all of its own vectors and without bounds on the unknowns. NULL: no memory; else see its arena. */
void *ns_whole_take(size_t bytes, const NsSchemeClass *class, const NsIntegrator *integrator, NsNsds *nsds, const char *letter);

/* Forms the matrix anew when the versions of systems and relations, or the weights, are others: *fresh. NS_ENOMEM, NS_ENAN. */
NsStatus ns_whole_update(NsWhole *w, uint64_t versions, const double weights[4],
                         void (*put)(const void *context, NsTriplets *t), bool *fresh, NsError *err);

/* An interaction's coordinates, of the state of its systems or of their memory. */
const double *ns_whole_gather(const NsWhole *w, const NsInteraction *inter, bool memory);

/* For the class. */
void ns_whole_destroy(NsScheme *scheme);
const NsStepProblem *ns_whole_problem(const NsScheme *scheme);
void ns_whole_advance(NsScheme *scheme, const double *solution, double s);
NsStatus ns_whole_finite(const NsScheme *scheme, NsError *err);

#endif
