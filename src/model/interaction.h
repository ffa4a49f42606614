/*
** interaction.h
** An interaction: one relation and one law, between one or two dynamical systems.
*/
#ifndef NS_MODEL_INTERACTION_H
#define NS_MODEL_INTERACTION_H

#include "model/ds.h"
#include "model/law.h"
#include "model/relation.h"

/*
** The law and the relation are borrowed; they may be shared between interactions. y and lambda hold m numbers each.
** The arrays never move once the interaction is made.
*/
typedef struct NsInteraction {
  char name[NS_NAME_SIZE];
  NsLaw *law;
  NsRelation *relation;
  int m;
  NsArena arena;
  double *y, *lambda;      /* accepted, seen by scripts as live views */
  double *ydot;            /* mechanics: the velocities of y (those between which the law holds), else 0 */
  double *y_k, *lambda_k;  /* memory: at the start of the step */
  double *reach, *reach_k; /* of event-driven steps: how far each output has been from 0 in the run; at the start of the step */

  /* set by ns_nsds_link */
  NsDs *ds[2];
  int nds, nx;
  const double *z; /* what callbacks get: the relation's, else the system's */
  double *z_pair;  /* two systems with parameters: both, one after the other */
  int nz;
  const void *owner;
  bool closed; /* given up by its owner: a step refuses it */
} NsInteraction;

/* What an interaction has: vectors of m numbers. */
extern const NsField ns_interaction_fields[];

/* Makes an interaction; lambda starts at 0 moved into the law's set. NS_ENOMEM. */
NsStatus ns_interaction_new(NsInteraction **interaction, NsLaw *law, NsRelation *relation);
void ns_interaction_free(NsInteraction *interaction);

/* Gathers the parameters that callbacks get (two systems have theirs joined). */
void ns_interaction_gather_z(NsInteraction *interaction);

/*
** Brings law and relation up to date for time t, when a step begins. NS_ECLOSED, NS_EARG (bounds), NS_ENAN,
** NS_ECALLBACK.
*/
NsStatus ns_interaction_update(NsInteraction *interaction, double t, NsError *err);

/* y = 0, reach = 0, lambda = 0 moved into the law's set, memories too. */
void ns_interaction_reset(NsInteraction *interaction);

/* Walks the STATE fields, and those of the relation. */
void ns_interaction_visit(NsInteraction *interaction, NsVisitor visitor, void *context);

#endif
