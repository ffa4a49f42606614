/*
** interaction.h
** An interaction: one relation and one law, between one or two dynamical systems.
*/
#pragma once

#include "model/ds.h"
#include "model/law.h"
#include "model/relation.h"

/* The most systems that an interaction links: a coupling of two joints has up to four bodies. */
enum { NS_INTERACTION_SYSTEMS = 4 };

/* Bytes that a checkpoint keeps; NULL, 0: none. */
typedef struct NsOrigin {
  char *bytes;
  size_t size;
} NsOrigin;

/* Copies the bytes in place of those that are there. NS_ENOMEM. */
NsStatus ns_origin_set(NsOrigin *origin, const void *bytes, size_t size);

/*
** The law and the relation are borrowed; interactions may share them. Each vector has m numbers, and the arrays never move once
** the interaction is made.
*/
typedef struct NsInteraction {
  char name[NS_NAME_SIZE];
  NsLaw *law;
  NsRelation *relation;
  int m;
  NsArena arena;
  double *y, *lambda;     /* the accepted values; scripts have live views of them */
  double h;               /* length of the step of the grid, for laws whose bounds are forces */
  double *ydot;           /* mechanics: the velocity dy/dt in the law; else 0 */
  double *y_k, *lambda_k; /* values at the start of the step */
  /* event-driven: how far y_i (first order: lambda_i) has been from 0 in the run; the same at the start of the step */
  double *reach, *reach_k;

  /* set by ns_nsds_link */
  NsDs *ds[NS_INTERACTION_SYSTEMS]; /* NULL beyond nds */
  int nds, nx;                      /* number of systems, 1 or more, and of their states */
  const double *z;                  /* nz parameters passed to callbacks: the relation's own, else the systems' */
  double *z_pair;                   /* the parameters of two systems or more, one after the other; else NULL */
  int nz;
  const void *owner; /* the NSDS that links it; NULL: none */
  uint64_t linked;   /* the version of the NSDS since it links it */
  bool closed;       /* the script closed it: a step refuses it */
  NsOrigin origin;   /* what links it, and as which contact; none: the script */
} NsInteraction;

/* The table of fields of an interaction. */
extern const NsField ns_interaction_fields[];

/* Makes an interaction; lambda starts as 0 projected on the law's set (ns_law_project). The caller frees it. NS_ENOMEM. */
NsStatus ns_interaction_new(NsInteraction **interaction, NsLaw *law, NsRelation *relation);
void ns_interaction_free(NsInteraction *interaction);

/* Whether one of its systems is a rigid body, whose coordinates have a quaternion. */
bool ns_interaction_turns(const NsInteraction *interaction);

/*
** Whether lambda is an impulse in steps of velocities: mechanics, except laws at position. Its bounds are impulses of a step of the
** grid. share: the factor of the bounds in a step that is this part of a step of the grid; 1 where lambda is no impulse.
*/
bool ns_interaction_has_impulses(const NsInteraction *interaction);
double ns_interaction_share(const NsInteraction *interaction, double part);

/* The speed of the slip in a contact with friction. */
double ns_interaction_slip(const NsInteraction *interaction);

/* ns_law_group, with the bounds of such a step. */
NsLawGroup ns_interaction_group(const NsInteraction *interaction, int row, bool open, double part);

/* The system, from 0, to whose states coordinate k of a linked interaction belongs; *own: the number of the coordinate there. */
int ns_interaction_part(const NsInteraction *interaction, int k, int *own);

/* Sets z and nz; copies the parameters of several systems into z_pair. */
void ns_interaction_gather_z(NsInteraction *interaction);

/* Checks the law and updates the relation for time t, when a step begins. NS_ECLOSED, NS_EARG, NS_ENAN, NS_ECALLBACK. */
NsStatus ns_interaction_update(NsInteraction *interaction, double t, NsError *err);

/*
** Evaluates the bounds, which are functions of time: `read` of a law that has such bounds, `update` of any law. A step does so
** first of all, at the time of its end. NS_ECALLBACK; NS_EARG as ns_law_check.
*/
NsStatus ns_interaction_read_bounds(NsInteraction *interaction, double t, NsError *err);
static inline NsStatus ns_interaction_update_bounds(NsInteraction *interaction, double t, NsError *err) {
  return ns_law_varies(interaction->law) ? ns_interaction_read_bounds(interaction, t, err) : NS_OK;
}

/*
** The same at the start of a run: lambda is projected on the set at that time. Does nothing where bounds are numbers.
*/
NsStatus ns_interaction_start_bounds(NsInteraction *interaction, double t0, NsError *err);

/* y = 0, reach = 0, lambda = 0 projected on the law's set; the values at the start of the step likewise. Without the projection where bounds are functions of time. */
void ns_interaction_reset(NsInteraction *interaction);

/* Walks the STATE fields of the interaction and of its relation. */
void ns_interaction_visit(NsInteraction *interaction, NsVisitor visitor, void *context);
