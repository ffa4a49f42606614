/*
** nsds.h
** NonSmoothDynamicalSystem: the graph of dynamical systems and interactions on [t0, T].
*/
#pragma once

#include "model/interaction.h"

/*
** Who links contacts that come and go, for a motion that goes from event to event: it asks within its steps. The functions read the coordinates of the
** systems.
*/
typedef struct NsLinker {
  void *context;
  void (*homes)(void *context, const int *home); /* the homes of the systems, by their index: see ns_scene_among */
  void (*among)(void *context, int which);
  void (*start)(void *context);               /* a way of the bodies starts here: see ns_scene_start */
  double (*way)(void *context, double parts); /* a part of it ends: see ns_scene_way */
  void (*forget)(void *context);              /* what looks have kept: see ns_scene_forget_pairs */
  NsStatus (*look)(void *context, bool *changed, double *stride,
                   NsError *err); /* whether a contact that is near has come or gone: see ns_scene_look */
  NsStatus (*link)(void *context, double t, NsError *err); /* links and unlinks contacts */
} NsLinker;

/* Who minds, after each step of a simulation, whether bodies have met that have no contact. drives: it goes from event to event. */
typedef struct NsMinder {
  void *context;
  NsStatus (*stepped)(void *context, bool drives, NsError *err);
} NsMinder;

/* The graph. Systems and interactions are borrowed and stand in the order of insertion; interactions may be removed. */
typedef struct NsNsds {
  double t0, T;
  NsDs **ds;
  NsInteraction **interactions;
  int nds, ninteractions;
  int ds_capacity, interaction_capacity;
  uint64_t version;       /* counts the changes of the graph */
  uint64_t links;         /* counts those of them that are a new system, a link or its end */
  uint64_t resets;        /* counts the returns to the initial states */
  uint64_t values;        /* counts the coefficients and vectors z that scripts have replaced in it */
  bool busy;              /* a step is being computed: nothing in the graph may change */
  bool acting;            /* between two intervals of a step a script acts or records: the graph may change, but not step */
  bool observed;          /* a script records a row: it may read everything, but not change the graph */
  long simulations;       /* number of simulations made of this graph; they are numbered from 1 */
  NsOrigin origin;        /* what links contacts that come and go */
  const NsLinker *linker; /* borrowed; NULL: nobody links within steps */
  const NsMinder *minder; /* borrowed; NULL: nobody minds */
  double now;             /* time of the states: the end of the last step, or that of a load or reset */
  long driver;            /* number of the simulation that last stepped, reset or loaded the state; 0: none */
} NsNsds;

/* What scripts ask of it; which of it belongs to the identity of a model, simulation/identity.c tells itself. */
extern const NsField ns_nsds_fields[];

/* An empty graph on [t0, T]. NS_ENOMEM. */
NsStatus ns_nsds_new(NsNsds **nsds, double t0, double T);
void ns_nsds_free(NsNsds *nsds);

/* Adds a system; an empty name becomes "ds N". NS_EARG when it is already in an NSDS, NS_ENOMEM. */
NsStatus ns_nsds_insert(NsNsds *nsds, NsDs *ds, NsError *err);

/*
** Links an interaction to n systems, 1 to NS_INTERACTION_SYSTEMS, and fixes the sizes of its relation. An empty name becomes
** "interaction N". NS_EARG when it is already linked or a system is not in this NSDS, NS_ESIZE when sizes disagree, NS_ENOMEM.
** On failure nothing changes.
*/
NsStatus ns_nsds_link(NsNsds *nsds, NsInteraction *interaction, NsDs *const *ds, int n, NsError *err);

/* Removes `count` interactions, which may be linked again. NS_EARG when one is not linked here: nothing changes then. */
NsStatus ns_nsds_unlink(NsNsds *nsds, int count, NsInteraction *const *list, NsError *err);

/* Puts the interactions into another order: `list` has those that are linked. NS_EARG when it has others: nothing changes then. */
NsStatus ns_nsds_arrange(NsNsds *nsds, int count, NsInteraction *const *list, NsError *err);

/* Sets the step length h in the relations' windows; their differences in time start from it (model/difference.h). */
void ns_nsds_set_step(NsNsds *nsds, double h);

/* Resets every system and interaction to its initial state. */
void ns_nsds_reset(NsNsds *nsds);

/* Evaluates the bounds that are functions of time. NS_ECALLBACK, NS_EARG. */
NsStatus ns_nsds_update_bounds(NsNsds *nsds, double t, NsError *err);

/*
** Evaluates y of every interaction at its present x and lambda, at time t, but of ready-made contacts only if they have been linked since that version of
** the graph (0: of all). NS_ENOMEM, NS_ECALLBACK, and the statuses of ns_coef_update.
*/
NsStatus ns_nsds_update_output(NsNsds *nsds, double t, uint64_t since, NsError *err);

/*
** The first interaction with a gap (ns_law_gaps) y_i < -part (|y_i| + sum_j |C_ij x_j|) at the present state; *row is i.
** NULL: there is none. Call ns_nsds_update_output before.
*/
const NsInteraction *ns_nsds_penetrating(const NsNsds *nsds, double t, double part, int *row);

/* Walks the state of all systems and interactions; an NsWalk. */
void ns_nsds_visit(void *nsds, NsVisitor visitor, void *context);

/* The same for their laws: bounds and coefficients, which scripts may change in a run. A law of several interactions comes several times. */
void ns_nsds_visit_laws(void *nsds, NsVisitor visitor, void *context);
