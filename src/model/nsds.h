/*
** nsds.h
** NonSmoothDynamicalSystem: the graph of dynamical systems and interactions on [t0, T].
*/
#ifndef NS_MODEL_NSDS_H
#define NS_MODEL_NSDS_H

#include "model/interaction.h"

/* Systems and interactions are borrowed, in the order in which they came; interactions may be removed. */
typedef struct NsNsds {
  double t0, T;
  NsDs **ds;
  NsInteraction **interactions;
  int nds, ninteractions;
  int ds_capacity, interaction_capacity;
  uint64_t version; /* counts the changes of the graph */
  bool busy;        /* a step is being computed: nothing of the graph may change */
  bool observed;    /* a script looks at a row that is being recorded: the graph stays, all may be asked */
  long simulations; /* how many have been made of it, which numbers them from 1 */
  long driver;      /* the one whose step, reset or loading left the present state; 0: none */
} NsNsds;

/* What scripts ask of it; which of it belongs to the identity of a model, simulation/identity.c tells itself. */
extern const NsField ns_nsds_fields[];

/* An empty graph on [t0, T]. NS_ENOMEM. */
NsStatus ns_nsds_new(NsNsds **nsds, double t0, double T);
void ns_nsds_free(NsNsds *nsds);

/* Adds a system; an empty name becomes "ds N". NS_EARG when it is in an NSDS already, NS_ENOMEM. */
NsStatus ns_nsds_insert(NsNsds *nsds, NsDs *ds, NsError *err);

/*
** Links an interaction to one system, or to two (second may be NULL), fixing the relation's sizes; an empty name
** becomes "interaction N". NS_EARG when it is linked already or a system is not in this NSDS, NS_ESIZE when sizes
** disagree, NS_ENOMEM. On failure nothing has changed.
*/
NsStatus ns_nsds_link(NsNsds *nsds, NsInteraction *interaction, NsDs *first, NsDs *second, NsError *err);

/* Takes an interaction out again; it may be linked anew. NS_EARG when it is not linked here. */
NsStatus ns_nsds_unlink(NsNsds *nsds, NsInteraction *interaction, NsError *err);

/* Tells the relations that steps are of length h: what they differentiate by differences in time starts from it. */
void ns_nsds_set_step(NsNsds *nsds, double h);

/* Every system and interaction back to its initial state. */
void ns_nsds_reset(NsNsds *nsds);

/*
** Evaluates y of every interaction at its present x and lambda, at time t. NS_ENOMEM, NS_ECALLBACK and what the
** coefficients raise.
*/
NsStatus ns_nsds_update_output(NsNsds *nsds, double t, NsError *err);

/*
** The first interaction with a gap (ns_law_gaps) below 0 by more than `part` of its terms, C x and y, at the present state, where
** the outputs are up to date; *row is the row of y. NULL when there is none.
*/
const NsInteraction *ns_nsds_penetrating(const NsNsds *nsds, double t, double part, int *row);

/* Walks the state of everything in it: an NsWalk. */
void ns_nsds_visit(void *nsds, NsVisitor visitor, void *context);

#endif
