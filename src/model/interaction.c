/*
** interaction.c
** Interactions: storage and reset of y and lambda.
*/
#include "model/interaction.h"

#include <string.h>

#include "base/memory.h"

enum { RUN = NS_FIELD_STATE | NS_FIELD_RUN, VIEW = NS_FIELD_LIVE | NS_FIELD_SETTER | NS_FIELD_SHOWN };

const NsField ns_interaction_fields[] = {NS_FIELD_A_VECTOR("y", NsInteraction, y, m, RUN | VIEW),
                                         NS_FIELD_A_VECTOR("ydot", NsInteraction, ydot, m, RUN | NS_FIELD_HIDDEN),
                                         NS_FIELD_A_VECTOR("lambda", NsInteraction, lambda, m, RUN | VIEW),
                                         NS_FIELD_A_VECTOR("y_k", NsInteraction, y_k, m, RUN | NS_FIELD_HIDDEN),
                                         NS_FIELD_A_VECTOR("lambda_k", NsInteraction, lambda_k, m, RUN | NS_FIELD_HIDDEN),
                                         NS_FIELD_A_VECTOR("reach", NsInteraction, reach, m, RUN | NS_FIELD_HIDDEN),
                                         NS_FIELD_A_VECTOR("reach_k", NsInteraction, reach_k, m, RUN | NS_FIELD_HIDDEN),
                                         NS_FIELD_END};

NsStatus ns_interaction_new(NsInteraction **out, NsLaw *law, NsRelation *relation) {
  *out = NULL;
  NsInteraction *inter = ns_alloc(1, sizeof *inter);
  if (!inter) return NS_ENOMEM;
  inter->law = law;
  inter->relation = relation;
  inter->m = law->size;
  bool made = true;
  for (const NsField *field = ns_interaction_fields; field->name; field++)
    made = ns_field_make(field, inter, &inter->arena) && made;
  if (!made) {
    ns_interaction_free(inter);
    return NS_ENOMEM;
  }
  ns_interaction_reset(inter);
  *out = inter;
  return NS_OK;
}

NsStatus ns_origin_set(NsOrigin *origin, const void *bytes, size_t size) {
  char *copy = ns_alloc(size + 1, 1);
  if (!copy) return NS_ENOMEM;
  if (size > 0) memcpy(copy, bytes, size);
  ns_free(origin->bytes);
  return *origin = (NsOrigin){copy, size}, NS_OK;
}

void ns_interaction_free(NsInteraction *inter) {
  if (!inter) return;
  ns_free(inter->z_pair);
  ns_free(inter->origin.bytes);
  ns_arena_release(&inter->arena);
  ns_free(inter);
}

bool ns_interaction_turns(const NsInteraction *inter) {
  for (int d = 0; d < inter->nds; d++)
    if (inter->ds[d]->class->turns) return true;
  return false;
}

bool ns_interaction_has_impulses(const NsInteraction *inter) {
  return ns_ds_family(inter->ds[0]) == NS_MECHANICS && !ns_relation_holds_at_position(inter->relation);
}

double ns_interaction_share(const NsInteraction *inter, double part) {
  if (!ns_interaction_has_impulses(inter)) return 1;
  return inter->law->class->forces ? part * inter->h : part;
}

double ns_interaction_slip(const NsInteraction *inter) {
  int width = ns_law_disc_width(&(NsLawGroup){.dim = inter->m, .discs = ns_law_group(inter->law, 0, false).discs});
  return width == 1 ? fabs(inter->ydot[1]) : hypot(inter->ydot[1], inter->ydot[2]);
}

NsLawGroup ns_interaction_group(const NsInteraction *inter, int row, bool open, double part) {
  NsLawGroup group = ns_law_group(inter->law, row, open);
  double share = ns_interaction_share(inter, part);
  group.lower *= share;
  group.upper *= share;
  return group;
}

int ns_interaction_part(const NsInteraction *inter, int k, int *own) {
  int part = 0;
  while (k >= inter->ds[part]->nx) k -= inter->ds[part++]->nx;
  return *own = k, part;
}

void ns_interaction_gather_z(NsInteraction *inter) {
  if (inter->relation->z) {
    inter->z = inter->relation->z;
    inter->nz = inter->relation->nz;
  } else if (inter->z_pair) {
    for (int d = 0, at = 0; d < inter->nds; at += inter->ds[d++]->nz)
      if (inter->ds[d]->nz) memcpy(inter->z_pair + at, inter->ds[d]->z, (size_t)inter->ds[d]->nz * sizeof(double));
    inter->z = inter->z_pair;
  } else {
    inter->z = inter->ds[0]->z;
    inter->nz = inter->ds[0]->nz;
  }
}

static NsStatus check_bounds(const NsInteraction *inter, NsError *err) {
  NsError law; /* its text is left as it is: to clear it takes longer than the check */
  law.status = NS_OK;
  law.text[0] = '\0';
  if (ns_law_check(inter->law, &law) == NS_OK) return NS_OK;
  return ns_fail(err, law.status, "interaction '%s': %s", inter->name, law.text);
}

NsStatus ns_interaction_read_bounds(NsInteraction *inter, double t, NsError *err) {
  const NsLawTime *time = &inter->law->time;
  NsStatus status = time->read(time->context, inter->name, t, err);
  return status == NS_OK ? check_bounds(inter, err) : status;
}

NsStatus ns_interaction_start_bounds(NsInteraction *inter, double t0, NsError *err) {
  if (!ns_law_varies(inter->law)) return NS_OK;
  NsStatus status = ns_interaction_read_bounds(inter, t0, err);
  if (status != NS_OK) return status;
  ns_law_project(inter->law, inter->lambda);
  memcpy(inter->lambda_k, inter->lambda, (size_t)inter->m * sizeof(double));
  return NS_OK;
}

NsStatus ns_interaction_update(NsInteraction *inter, double t, NsError *err) {
  if (inter->closed) return ns_fail(err, NS_ECLOSED, "interaction '%s' is closed", inter->name);
  ns_interaction_gather_z(inter);
  NsStatus status = check_bounds(inter, err);
  if (status != NS_OK) return status;
  return ns_relation_update(inter->relation, t, inter->z, err);
}

void ns_interaction_reset(NsInteraction *inter) {
  ns_fields_clear(ns_interaction_fields, inter, NS_FIELD_RUN);
  if (!ns_law_varies(inter->law)) ns_law_project(inter->law, inter->lambda);
  memcpy(inter->lambda_k, inter->lambda, (size_t)inter->m * sizeof(double));
}

void ns_interaction_visit(NsInteraction *inter, NsVisitor visitor, void *context) {
  ns_fields_walk(ns_interaction_fields, inter, NS_FIELD_STATE, visitor, context);
  ns_fields_walk(inter->relation->class->model.fields, inter->relation, NS_FIELD_STATE, visitor, context);
}
