/*
** parameter_place.c
** Which number of a model a parameter is: one search through the coefficients of systems and relations, laws, and vectors z.
*/
#include "model/parameter_place.h"

#include <stddef.h>

#include "model/first_order_ds.h"
#include "model/mechanical_ds.h"

/* A coefficient: its place in the struct of its owner. */
typedef struct PlaceRow {
  NsNumber kind;
  size_t offset;
} PlaceRow;

static const PlaceRow of_mass[] = {{NS_NUMBER_MASS, offsetof(NsFirstOrderDs, M)}};
static const PlaceRow of_f[] = {{NS_NUMBER_A, offsetof(NsFirstOrderDs, A)}, {NS_NUMBER_b, offsetof(NsFirstOrderDs, b)}};
static const PlaceRow of_inertia[] = {{NS_NUMBER_MASS, offsetof(NsMechanicalDs, mass)}};
static const PlaceRow of_forces[] = {{NS_NUMBER_STIFFNESS, offsetof(NsMechanicalDs, K)},
                                     {NS_NUMBER_DAMPING, offsetof(NsMechanicalDs, C)},
                                     {NS_NUMBER_FEXT, offsetof(NsMechanicalDs, fext)}};
static const PlaceRow of_h[] = {
    {NS_NUMBER_C, offsetof(NsRelation, C)}, {NS_NUMBER_D, offsetof(NsRelation, D)}, {NS_NUMBER_e, offsetof(NsRelation, e)}};
static const PlaceRow of_g[] = {{NS_NUMBER_B, offsetof(NsRelation, B)}, {NS_NUMBER_K, offsetof(NsRelation, K)}};

#define PLACE_IN(rows, object, place) place_in_rows(rows, sizeof(rows) / sizeof *(rows), object, place)

static void place_in_rows(const PlaceRow *rows, size_t count, const void *object, NsParameterPlace *place) {
  for (size_t k = 0; k < count && !place->kind; k++) {
    const NsCoef *coef = (const NsCoef *)((const char *)object + rows[k].offset);
    if (!ns_coef_varies(coef) && ns_coef_entry(coef, place->number, &place->i, &place->j)) place->kind = rows[k].kind;
  }
}

static void place_in_system(const NsDs *ds, NsParameterPlace *place) {
  if (ns_ds_family(ds) == NS_FIRST_ORDER) {
    PLACE_IN(of_mass, ds, place);
    if (ns_first_order_linear((const NsFirstOrderDs *)ds)) PLACE_IN(of_f, ds, place);
  } else if (!ns_mechanical_turns((const NsMechanicalDs *)ds)) {
    if (ns_mechanical_constant_mass((const NsMechanicalDs *)ds)) PLACE_IN(of_inertia, ds, place);
    PLACE_IN(of_forces, ds, place);
  }
}

static void place_in_relation(const NsRelation *relation, NsParameterPlace *place) {
  if (!relation->h.value) PLACE_IN(of_h, relation, place);
  if (!relation->g.value) PLACE_IN(of_g, relation, place);
}

static void place_in_law(const NsLaw *law, NsParameterPlace *place) {
  const double *bounds[] = {law->lower, law->upper};
  place->kind = law->class->viscous ? NS_NUMBER_UNKNOWN : NS_NUMBER_LAW; /* it is in forces: by differences */
  for (int k = 0; k < 2; k++)
    if (ns_number_in(place->number, bounds[k], law->size))
      place->kind = k == 0 ? NS_NUMBER_LOWER : NS_NUMBER_UPPER, place->i = (int)(place->number - bounds[k]);
}

static void place_in_z(const NsNsds *nsds, NsParameterPlace *place) {
  for (int d = 0; d < nsds->nds; d++) {
    const NsDs *ds = nsds->ds[d];
    if (!ns_number_in(place->number, ds->z, ds->nz)) continue;
    if (place->systems++ == 0) place->system = d, place->j = (int)(place->number - ds->z);
    place->kind = NS_NUMBER_Z;
  }
  for (int e = 0; e < nsds->ninteractions; e++) {
    const NsInteraction *inter = nsds->interactions[e];
    if (ns_number_in(place->number, inter->z, inter->nz)) place->kind = NS_NUMBER_Z;
    for (int d = 0; d < inter->nds && inter->z_pair && inter->z == inter->z_pair; d++)
      place->copied = place->copied || ns_number_in(place->number, inter->ds[d]->z, inter->ds[d]->nz);
  }
}

NsParameterPlace ns_parameter_place(const NsNsds *nsds, const NsParameter *parameter) {
  NsParameterPlace place = {.number = parameter->number, .system = -1, .first = -1};
  if (!parameter->number) return place;
  if (!parameter->owner) place_in_z(nsds, &place);
  for (int d = 0; d < nsds->nds; d++)
    if ((const void *)nsds->ds[d] == parameter->owner) place.system = d, place_in_system(nsds->ds[d], &place);
  for (int e = 0; e < nsds->ninteractions && parameter->owner && place.first < 0; e++) {
    const NsInteraction *inter = nsds->interactions[e];
    bool related = (const void *)inter->relation == parameter->owner, ruled = (const void *)inter->law == parameter->owner;
    if (related || ruled) place.first = e;
    if (related) place_in_relation(inter->relation, &place);
    if (ruled) place_in_law(inter->law, &place);
  }
  for (int k = 0; k < parameter->ncopies; k++)
    if (parameter->copies[k].owner) place.kind = NS_NUMBER_UNKNOWN; /* several coefficients change with it */
  return place;
}

int ns_parameter_next(const NsNsds *nsds, const NsParameterPlace *place, int e) {
  const NsInteraction *first = nsds->interactions[place->first];
  for (int k = e + 1; k < nsds->ninteractions; k++) {
    const NsInteraction *inter = nsds->interactions[k];
    if (ns_number_of_law(place->kind) ? inter->law == first->law : inter->relation == first->relation) return k;
  }
  return -1;
}

NsStatus ns_parameter_copy(NsArena *arena, NsParameter *to, const NsParameter *from) {
  *to = *from;
  if (from->ncopies > 0) {
    to->copies = ns_arena_take(arena, (size_t)from->ncopies, sizeof *to->copies);
    if (!to->copies) return NS_ENOMEM;
    memcpy(to->copies, from->copies, (size_t)from->ncopies * sizeof *to->copies);
  }
  if (from->nmoves == 0) return NS_OK;
  to->number = ns_arena_doubles(arena, 1);
  to->moves = ns_arena_take(arena, (size_t)from->nmoves, sizeof *to->moves);
  if (!to->number || !to->moves) return NS_ENOMEM;
  NsStatus status = NS_OK;
  for (int k = 0; k < from->nmoves && status == NS_OK; k++) {
    to->moves[k] = from->moves[k];
    status = ns_parameter_copy(arena, &to->moves[k].of, &from->moves[k].of);
  }
  return status;
}

bool ns_number_in(const double *number, const double *z, int nz) {
  return number && z && number >= z && number < z + nz;
}

/* Whether an object is what a parameter, or a copy of its number, belongs to. */
static bool place_owned(const NsParameter *parameter, const void *object) {
  bool owned = parameter->owner == object;
  for (int k = 0; k < parameter->ncopies && !owned; k++) owned = parameter->copies[k].owner == object;
  return owned;
}

/* Whether an object is a system or a relation of a graph. */
static bool place_in_graph(const void *object, const NsNsds *graph) {
  bool found = false;
  for (int d = 0; d < graph->nds && !found; d++) found = object == graph->ds[d];
  for (int e = 0; e < graph->ninteractions && !found; e++) found = object == graph->interactions[e]->relation;
  return found;
}

NsStatus ns_parameter_own(NsArena *arena, NsParameter *parameter, const NsNsds *graph) {
  parameter->own = NULL, parameter->nown = 0;
  for (int pass = 0; pass < 2 && parameter->ncopies > 0; pass++) {
    if (pass > 0) parameter->own = ns_arena_take(arena, (size_t)parameter->nown + 1, sizeof *parameter->own);
    if (pass > 0 && !parameter->own) return NS_ENOMEM;
    parameter->nown = 0;
    for (int k = 0; k < parameter->ncopies; k++) {
      const NsParameterCopy *copy = &parameter->copies[k];
      if (copy->owner && !place_in_graph(copy->owner, graph)) continue;
      if (pass > 0) parameter->own[parameter->nown] = *copy;
      parameter->nown++;
    }
  }
  return NS_OK;
}

bool ns_parameter_of(const NsParameter *parameter, const NsNsds *graph) {
  for (int k = 0; k < parameter->nmoves; k++)
    if (ns_parameter_of(&parameter->moves[k].of, graph)) return true;
  if (parameter->nmoves > 0) return false;
  for (int d = 0; d < graph->nds; d++)
    if (place_owned(parameter, graph->ds[d]) || ns_number_in(parameter->number, graph->ds[d]->z, graph->ds[d]->nz)) return true;
  for (int i = 0; i < graph->ninteractions; i++) {
    const NsInteraction *inter = graph->interactions[i];
    if (parameter->owner == inter->law || place_owned(parameter, inter->relation)) return true;
    if (ns_number_in(parameter->number, inter->relation->z, inter->relation->nz)) return true;
  }
  return false;
}
