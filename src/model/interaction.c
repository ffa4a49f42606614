/*
** interaction.c
** Interactions: storage of y and lambda.
*/
#include "model/interaction.h"

#include <string.h>

#include "base/memory.h"

NsStatus ns_interaction_new(NsInteraction **out, NsLaw *law, NsRelation *relation) {
  *out = NULL;
  NsInteraction *inter = ns_alloc(1, sizeof *inter);
  if (!inter) return NS_ENOMEM;
  inter->law = law;
  inter->relation = relation;
  inter->m = law->size;
  double **vectors[] = {&inter->y, &inter->ydot, &inter->lambda, &inter->y_k, &inter->lambda_k, &inter->reach, &inter->reach_k};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = ns_arena_doubles(&inter->arena, inter->m);
  if (inter->arena.failed) {
    ns_interaction_free(inter);
    return NS_ENOMEM;
  }
  ns_interaction_reset(inter);
  *out = inter;
  return NS_OK;
}

void ns_interaction_free(NsInteraction *inter) {
  if (!inter) return;
  ns_free(inter->z_pair);
  ns_arena_release(&inter->arena);
  ns_free(inter);
}

void ns_interaction_gather_z(NsInteraction *inter) {
  NsDs *first = inter->ds[0], *second = inter->ds[1];
  if (inter->relation->z) {
    inter->z = inter->relation->z;
    inter->nz = inter->relation->nz;
  } else if (inter->z_pair) {
    if (first->nz) memcpy(inter->z_pair, first->z, (size_t)first->nz * sizeof(double));
    if (second->nz) memcpy(inter->z_pair + first->nz, second->z, (size_t)second->nz * sizeof(double));
    inter->z = inter->z_pair;
  } else {
    inter->z = first->z;
    inter->nz = first->nz;
  }
}

NsStatus ns_interaction_update(NsInteraction *inter, double t, NsError *err) {
  if (inter->closed) return ns_fail(err, NS_ECLOSED, "interaction '%s' is closed", inter->name);
  ns_interaction_gather_z(inter);
  NsError law = {NS_OK, ""};
  if (ns_law_check(inter->law, &law) != NS_OK) return ns_fail(err, law.status, "interaction '%s': %s", inter->name, law.text);
  return ns_relation_update(inter->relation, t, inter->z, err);
}

void ns_interaction_reset(NsInteraction *inter) {
  size_t bytes = (size_t)inter->m * sizeof(double);
  memset(inter->y, 0, bytes);
  memset(inter->ydot, 0, bytes);
  memset(inter->y_k, 0, bytes);
  memset(inter->reach, 0, bytes);
  memset(inter->reach_k, 0, bytes);
  memset(inter->lambda, 0, bytes);
  ns_law_project(inter->law, inter->lambda);
  memcpy(inter->lambda_k, inter->lambda, bytes);
}

void ns_interaction_visit(NsInteraction *inter, NsVisitor visitor, void *context) {
  size_t bytes = (size_t)inter->m * sizeof(double);
  visitor(context, "y", inter->y, bytes);
  visitor(context, "ydot", inter->ydot, bytes);
  visitor(context, "lambda", inter->lambda, bytes);
  visitor(context, "y_k", inter->y_k, bytes);
  visitor(context, "lambda_k", inter->lambda_k, bytes);
  visitor(context, "reach", inter->reach, bytes);
  visitor(context, "reach_k", inter->reach_k, bytes);
  if (inter->relation->z) visitor(context, "z", inter->relation->z, (size_t)inter->relation->nz * sizeof(double));
}
