/*
** audit.h
** Whether the Jacobians and the masses that a model was given are right: compared with exact derivatives, at the state and elsewhere.
*/
#pragma once

#include "model/interaction.h"

/*
** An audit of one system or relation at t, and up to T. What the functions of the model are made of is their owner's business:
**   given   whether the callback of this name, as "computeJachx", was given
**   exact   the exact Jacobian of function `which` of the object (relations: 0 h, 1 g; systems: as args of NsFunction count) by argument `by`;
**           *exact: it is not by differences. Not 0: it failed
** Both must not jump.
*/
typedef struct NsAudit {
  double t, T;
  bool (*given)(void *context, const char *callback);
  int (*exact)(void *context, int which, int by, double t, const double *const *args, double *jac, bool *exact);
  void *context;
  int told;    /* found: the number of complaints */
  char *text;  /* found: them, as "Jacgx[4][4]: given 1, exact 2 (t=0)", each with an end of line; NULL: none */
  size_t size; /* of text, without its zero */
} NsAudit;

/* Frees what was found. */
void ns_audit_clear(NsAudit *audit);

enum { NS_AUDIT_POINTS = 3 };

/* to = the trial point number `trial`, below NS_AUDIT_POINTS: the state (0), or points elsewhere, which show terms that vanish there. */
void ns_audit_move(double *to, const double *from, int n, int trial);

/* The instant of a trial, from t to T. */
double ns_audit_time(const NsAudit *audit, int trial);

/* Tells of wrong given Jacobians, of a mass that is no mass, of a wrong hDot. NS_ECALLBACK, NS_ENOMEM. */
NsStatus ns_audit_system(NsAudit *audit, NsDs *ds, NsError *err);
NsStatus ns_audit_relation(NsAudit *audit, NsInteraction *inter, NsError *err);

/* Whether there is a given Jacobian to compare. */
bool ns_audit_system_given(const NsAudit *audit, const NsDs *ds);
bool ns_audit_relation_given(const NsAudit *audit, const NsRelation *rel);
