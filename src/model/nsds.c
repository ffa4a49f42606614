/*
** nsds.c
** The graph of systems and interactions.
*/
#include "model/nsds.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "model/mechanical_ds.h"

const NsField ns_nsds_fields[] = {NS_FIELD_A_NUMBER("t0", NsNsds, t0, -INFINITY, INFINITY, 0),
                                  NS_FIELD_A_NUMBER("T", NsNsds, T, -INFINITY, INFINITY, 0),
                                  NS_FIELD_A_NUMBER("finalT", NsNsds, T, -INFINITY, INFINITY, NS_FIELD_ALIAS),
                                  NS_FIELD_A_COUNT("numberOfDynamicalSystems", NsNsds, nds, 0, INT_MAX, 0),
                                  NS_FIELD_A_COUNT("getNumberOfDS", NsNsds, nds, 0, INT_MAX, NS_FIELD_ALIAS),
                                  NS_FIELD_A_COUNT("numberOfInteractions", NsNsds, ninteractions, 0, INT_MAX, 0),
                                  NS_FIELD_END};

NsStatus ns_nsds_new(NsNsds **out, double t0, double T) {
  NsNsds *nsds = *out = ns_alloc(1, sizeof *nsds);
  if (!nsds) return NS_ENOMEM;
  nsds->t0 = nsds->now = t0;
  nsds->T = T;
  return NS_OK;
}

void ns_nsds_free(NsNsds *nsds) {
  if (!nsds) return;
  ns_free(nsds->ds);
  ns_free(nsds->interactions);
  ns_free(nsds->origin.bytes);
  ns_free(nsds);
}

/* Grows an array of pointers so that one more fits. */
static NsStatus nsds_grow(void *array, int count, int *capacity) {
  void **block = array;
  if (count < *capacity) return NS_OK;
  int wanted = *capacity < 8 ? 8 : 2 * *capacity;
  void *grown = ns_resize(*block, (size_t)wanted, sizeof(void *));
  if (!grown) return NS_ENOMEM;
  *block = grown;
  *capacity = wanted;
  return NS_OK;
}

static void nsds_linked(NsNsds *nsds) {
  nsds->version++;
  nsds->links++;
}

NsStatus ns_nsds_insert(NsNsds *nsds, NsDs *ds, NsError *err) {
  if (ds->owner)
    return ns_fail(err, NS_EARG, "insertDynamicalSystem: dynamical system '%s' is already in %s NonSmoothDynamicalSystem",
                   ds->name, ds->owner == nsds ? "this" : "another");
  void *array = nsds->ds;
  if (nsds_grow(&array, nsds->nds, &nsds->ds_capacity) != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  nsds->ds = array;
  ds->index = nsds->nds;
  nsds->ds[nsds->nds++] = ds;
  if (!ds->name[0]) snprintf(ds->name, sizeof ds->name, "ds %d", nsds->nds);
  ds->owner = nsds;
  nsds_linked(nsds);
  return NS_OK;
}

/* The systems that an interaction is to link. */
typedef struct Linked {
  NsDs *const *ds;
  int n;
} Linked;

static NsStatus check_link(const NsNsds *nsds, const NsInteraction *inter, Linked to, NsError *err) {
  if (inter->owner) return ns_fail(err, NS_EARG, "link: interaction '%s' is already linked", inter->name);
  for (int i = 0; i < to.n; i++) {
    for (int k = 0; k < i; k++)
      if (to.ds[k] == to.ds[i])
        return ns_fail(err, NS_EARG, "link: %s dynamical systems are the same ('%s')", to.n == 2 ? "the two" : "two",
                       to.ds[i]->name);
    if (to.ds[i]->owner != nsds)
      return ns_fail(err, NS_EARG,
                     "link: dynamical system '%s' is not in this NonSmoothDynamicalSystem (insertDynamicalSystem it first)",
                     to.ds[i]->name[0] ? to.ds[i]->name : "?");
  }
  return NS_OK;
}

/* Allocates z_pair for several systems with parameters. A failed link may have left an array. */
static NsStatus prepare_z(NsInteraction *inter, Linked to) {
  ns_free(inter->z_pair);
  inter->z_pair = NULL;
  inter->nz = 0;
  for (int i = 0; i < to.n; i++) inter->nz += to.ds[i]->nz;
  if (inter->relation->z) inter->nz = inter->relation->nz;
  if (to.n == 1 || inter->relation->z || inter->nz == 0) return NS_OK;
  inter->z_pair = ns_alloc((size_t)inter->nz, sizeof(double));
  return inter->z_pair ? NS_OK : NS_ENOMEM;
}

/* The bit NS_WITH_... of a relation. */
static unsigned sort_of_relation(const NsRelation *relation) {
  if (ns_relation_family(relation) == NS_FIRST_ORDER) return NS_WITH_FIRST_ORDER;
  return ns_relation_holds_at_position(relation) ? NS_WITH_POSITIONS : NS_WITH_VELOCITIES;
}

/* NS_EARG when the law cannot be used with the relation: see NS_WITH_... in model/law.h. */
static NsStatus check_law(const NsInteraction *inter, NsError *err) {
  static const char *const words[] = {
      [NS_WITH_FIRST_ORDER] = "first-order relations",
      [NS_WITH_VELOCITIES] = "relations between velocities",
      [NS_WITH_FIRST_ORDER | NS_WITH_VELOCITIES] = "first-order relations and relations between velocities",
      [NS_WITH_POSITIONS] = "relations between positions and forces",
      [NS_WITH_FIRST_ORDER | NS_WITH_POSITIONS] = "first-order relations and relations between positions and forces",
      [NS_WITH_VELOCITIES | NS_WITH_POSITIONS] = "mechanical relations"};
  unsigned goes_with = inter->law->class->goes_with;
  if (goes_with & sort_of_relation(inter->relation)) return NS_OK;
  return ns_fail(err, NS_EARG, "link: a %s can not act through a %s: it takes %s", ns_law_name(inter->law),
                 ns_relation_class_name(inter->relation), words[goes_with]);
}

/* NS_EARG when a system is not of the relation's family. */
static NsStatus check_family(const NsInteraction *inter, Linked to, NsError *err) {
  const NsRelation *rel = inter->relation;
  for (int i = 0; i < to.n; i++)
    if (ns_ds_family(to.ds[i]) != ns_relation_family(rel))
      return ns_fail(err, NS_EARG, "link: a %s goes with %s systems; dynamical system '%s' is not one",
                     ns_relation_class_name(rel), ns_relation_family(rel) == NS_MECHANICS ? "mechanical" : "first-order",
                     to.ds[i]->name);
  return NS_OK;
}

/* NS_EARG when a system has not the 3 coordinates of a body in the plane; one system may have those of both. */
static NsStatus check_bodies_in_plane(const NsRelation *relation, Linked to, NsError *err) {
  for (int i = 0; i < to.n; i++)
    if (to.ds[i]->nx != 3 && (to.n > 1 || to.ds[i]->class->turns))
      return ns_fail(err, NS_EARG,
                     "link: a %s goes with bodies of the coordinates (x, y, angle), and dynamical system '%s' is none",
                     ns_relation_class_name(relation), to.ds[i]->name);
  return NS_OK;
}

/* NS_EARG when a contact has more than two systems, or one that is neither a rigid body nor a particle (3 coordinates), or a law of the plane in space. */
static NsStatus check_bodies(const NsInteraction *inter, Linked to, NsError *err) {
  if (!inter->relation->contact) return NS_OK;
  if (to.n > 2)
    return ns_fail(err, NS_EARG, "link: a %s links one or two dynamical systems, got %d",
                   ns_relation_class_name(inter->relation), to.n);
  if (ns_contact_in_plane(inter->relation->contact)) return check_bodies_in_plane(inter->relation, to, err);
  for (int i = 0; i < to.n; i++)
    if (!to.ds[i]->class->turns && to.ds[i]->nx != 3)
      return ns_fail(err, NS_EARG,
                     "link: a %s goes with NewtonEulerDS or particles of 3 coordinates, and dynamical system '%s' is "
                     "neither",
                     ns_relation_class_name(inter->relation), to.ds[i]->name);
  if (ns_law_in_plane(inter->law))
    return ns_fail(err, NS_EARG, "link: a %s goes with laws of contacts in space, and a %s of size %d is one of the plane",
                   ns_relation_class_name(inter->relation), ns_law_name(inter->law), inter->m);
  return NS_OK;
}

/* Links the relation to the states of the systems, one after the other. */
static NsStatus link_relation(NsInteraction *inter, Linked to, NsError *err) {
  char whose[NS_INTERACTION_SYSTEMS * (NS_NAME_SIZE + sizeof "'' and ") + sizeof "dynamical systems "];
  int nx = 0, used = snprintf(whose, sizeof whose, "dynamical system%s", to.n > 1 ? "s" : "");
  for (int i = 0; i < to.n; nx += to.ds[i++]->nx)
    used += snprintf(whose + used, sizeof whose - (size_t)used, "%s'%s'", i ? " and " : " ", to.ds[i]->name);
  return ns_relation_link(inter->relation, nx, inter->m, inter->nz, whose, err);
}

NsStatus ns_nsds_link(NsNsds *nsds, NsInteraction *inter, NsDs *const *ds, int n, NsError *err) {
  Linked to = {ds, n};
  NsStatus status = check_link(nsds, inter, to, err);
  if (status == NS_OK) status = check_family(inter, to, err);
  if (status == NS_OK) status = check_law(inter, err);
  if (status == NS_OK) status = check_bodies(inter, to, err);
  if (status != NS_OK) return status;
  void *array = nsds->interactions;
  if (nsds_grow(&array, nsds->ninteractions, &nsds->interaction_capacity) != NS_OK)
    return ns_fail(err, NS_ENOMEM, "not enough memory");
  nsds->interactions = array;
  if (prepare_z(inter, to) != NS_OK) return ns_fail(err, NS_ENOMEM, "not enough memory");
  status = link_relation(inter, to, err);
  if (status != NS_OK) return status;
  memcpy(inter->ds, ds, (size_t)n * sizeof *ds);
  inter->nds = n;
  inter->nx = inter->relation->nx;
  inter->owner = nsds;
  inter->relation->window = (NsWindow){nsds->t0, nsds->T, 0};
  ns_interaction_gather_z(inter);
  nsds->interactions[nsds->ninteractions++] = inter;
  if (!inter->name[0]) snprintf(inter->name, sizeof inter->name, "interaction %d", nsds->ninteractions);
  nsds_linked(nsds);
  inter->linked = nsds->version;
  return NS_OK;
}

/* Forgets the systems of an interaction. */
static void nsds_release(NsInteraction *inter) {
  ns_free(inter->z_pair);
  inter->z_pair = NULL;
  inter->z = NULL;
  inter->nz = 0;
  inter->owner = NULL;
  memset(inter->ds, 0, sizeof inter->ds);
  inter->nds = 0;
}

NsStatus ns_nsds_unlink(NsNsds *nsds, int count, NsInteraction *const *list, NsError *err) {
  for (int k = 0; k < count; k++)
    if (list[k]->owner != nsds)
      return ns_fail(err, NS_EARG, "unlink: interaction '%s' is not linked in this NonSmoothDynamicalSystem",
                     list[k]->name[0] ? list[k]->name : "?");
  int kept = 0;
  for (int k = 0; k < count; k++) nsds_release(list[k]);
  for (int i = 0; i < nsds->ninteractions; i++)
    if (nsds->interactions[i]->owner) nsds->interactions[kept++] = nsds->interactions[i];
  nsds->ninteractions = kept;
  if (count > 0) nsds_linked(nsds);
  return NS_OK;
}

NsStatus ns_nsds_arrange(NsNsds *nsds, int count, NsInteraction *const *list, NsError *err) {
  int known = 0;
  for (int k = 0; k < count; k++) known += list[k]->owner == nsds, list[k]->owner = NULL; /* a second time it is unknown */
  bool good = known == count && count == nsds->ninteractions;
  if (good) memcpy(nsds->interactions, list, (size_t)count * sizeof(NsInteraction *));
  for (int k = 0; k < nsds->ninteractions; k++) nsds->interactions[k]->owner = nsds;
  if (!good) return ns_fail(err, NS_EARG, "arrange: these are not the interactions that are linked");
  nsds_linked(nsds);
  return NS_OK;
}

void ns_nsds_set_step(NsNsds *nsds, double h) {
  for (int i = 0; i < nsds->ninteractions; i++) nsds->interactions[i]->relation->window = (NsWindow){nsds->t0, nsds->T, h};
}

void ns_nsds_reset(NsNsds *nsds) {
  nsds->resets++;
  for (int i = 0; i < nsds->nds; i++) ns_ds_reset(nsds->ds[i]);
  for (int i = 0; i < nsds->ninteractions; i++) ns_interaction_reset(nsds->interactions[i]);
}

/* Workspace for the outputs of any interaction of a graph. C: of relations that are not linear; a linear one's may be sparse, and large. */
typedef struct OutputRoom {
  double *x, *y, *rate, *qdot, *more, *C;
} OutputRoom;

static OutputRoom take_output_room(const NsNsds *nsds, NsArena *arena) {
  OutputRoom room;
  int m = 0, nx = 0;
  ptrdiff_t entries = 0;
  for (int i = 0; i < nsds->ninteractions; i++) {
    const NsInteraction *inter = nsds->interactions[i];
    ptrdiff_t own = ns_relation_linear(inter->relation) ? 0 : (ptrdiff_t)inter->m * inter->nx;
    m = inter->m > m ? inter->m : m, nx = inter->nx > nx ? inter->nx : nx, entries = own > entries ? own : entries;
  }
  NS_ARENA_VECTORS(arena, nx, &room.x, &room.qdot);
  NS_ARENA_VECTORS(arena, m, &room.y, &room.rate);
  room.more = ns_arena_doubles(arena, NS_DIFFERENCE_ROOM * (ptrdiff_t)m);
  room.C = ns_arena_doubles(arena, entries);
  return room;
}

/* rate (m) = dh/dq q' + dh/dt, the velocity of y of a mechanical interaction. */
static NsStatus nsds_output_rate(const NsInteraction *inter, const NsRelationPoint *at, const OutputRoom *room, NsError *err) {
  const NsRelation *relation = inter->relation;
  double *qdot = room->qdot, *rate = room->rate;
  const double *C = room->C;
  memset(rate, 0, (size_t)inter->m * sizeof *rate);
  for (int p = 0, from = 0; p < inter->nds; from += inter->ds[p++]->nx) {
    const NsMechanicalDs *ds = (const NsMechanicalDs *)inter->ds[p];
    ns_mechanical_rate(ds, ds->q, ds->v, qdot + from);
  }
  if (ns_relation_linear(relation)) {
    ns_coef_multiply_add(&relation->C, 1, qdot, rate);
    return NS_OK;
  }
  NsStatus status = ns_relation_C(relation, at, room->C, err);
  for (int j = 0; status == NS_OK && j < inter->nx; j++)
    for (int i = 0; i < inter->m; i++) rate[i] += C[i + (size_t)j * (size_t)inter->m] * qdot[j];
  return status == NS_OK ? ns_relation_add_rate(relation, at, room->more, rate, err) : status;
}

/* Computes y of one interaction, and in mechanics ydot. */
static NsStatus update_output(NsInteraction *inter, double t, const OutputRoom *room, NsError *err) {
  double *x = room->x, *y = room->y;
  for (int p = 0, at = 0; p < inter->nds; at += inter->ds[p++]->nx)
    memcpy(x + at, inter->ds[p]->x, (size_t)inter->ds[p]->nx * sizeof *x);
  NsRelationPoint point = {t, x, inter->lambda, inter->z, false};
  bool mechanical = ns_relation_family(inter->relation) == NS_MECHANICS;
  NsStatus status = ns_relation_output(inter->relation, &point, y, err);
  if (status == NS_OK && mechanical) status = nsds_output_rate(inter, &point, room, err);
  if (status != NS_OK) return status;
  memcpy(inter->y, y, (size_t)inter->m * sizeof *y);
  if (mechanical) memcpy(inter->ydot, room->rate, (size_t)inter->m * sizeof *y);
  else memset(inter->ydot, 0, (size_t)inter->m * sizeof *y);
  return NS_OK;
}

NsStatus ns_nsds_update_bounds(NsNsds *nsds, double t, NsError *err) {
  NsStatus status = NS_OK;
  for (int i = 0; i < nsds->ninteractions && status == NS_OK; i++)
    status = ns_interaction_update_bounds(nsds->interactions[i], t, err);
  return status;
}

NsStatus ns_nsds_update_output(NsNsds *nsds, double t, uint64_t since, NsError *err) {
  NsArena arena = {0};
  OutputRoom room = take_output_room(nsds, &arena);
  NsStatus status = arena.failed ? ns_fail(err, NS_ENOMEM, "not enough memory") : NS_OK;
  for (int i = 0; i < nsds->nds && status == NS_OK; i++) status = ns_ds_update(nsds->ds[i], t, err);
  for (int i = 0; i < nsds->ninteractions && status == NS_OK; i++) {
    NsInteraction *inter = nsds->interactions[i];
    status = ns_interaction_update_bounds(inter, t, err);
    if (status == NS_OK) status = ns_interaction_update(inter, t, err);
    if (ns_relation_pure(inter->relation) && inter->linked <= since) continue;
    if (status == NS_OK) status = update_output(inter, t, &room, err);
  }
  ns_arena_release(&arena);
  return status;
}

/* C (m x nx) at x; false when it cannot be computed. */
static bool gap_gradients(const NsRelation *relation, const NsRelationPoint *at, int m, int nx, double *C) {
  NsError unheard = {NS_OK, ""};
  if (!ns_relation_linear(relation)) return ns_relation_C(relation, at, C, &unheard) == NS_OK;
  const NsCoef *coef = &relation->C;
  if (!ns_coef_given(coef)) return false;
  for (int j = 0; j < nx; j++)
    for (int i = 0; i < m; i++)
      C[i + (size_t)j * (size_t)m] = coef->sparse ? ns_sparse_get(coef->sparse, i, j) : coef->value[i + (size_t)j * (size_t)m];
  return true;
}

/* The first gap with y_i < -part (|y_i| + sum_j |C_ij x_j|); -1: none. */
static int penetrating_row(const NsInteraction *inter, int gaps, double t, double part, NsArena *room) {
  int m = inter->m, nx = inter->nx;
  double *x = ns_arena_doubles(room, nx), *C = ns_arena_matrix(room, m, nx);
  if (room->failed) return -1;
  for (int p = 0, at = 0; p < inter->nds; at += inter->ds[p++]->nx)
    memcpy(x + at, inter->ds[p]->x, (size_t)inter->ds[p]->nx * sizeof *x);
  NsRelationPoint point = {t, x, inter->lambda, inter->z, false};
  if (!gap_gradients(inter->relation, &point, m, nx, C)) return -1;
  for (int i = 0; i < gaps; i++) {
    double terms = fabs(inter->y[i]);
    for (int j = 0; j < nx; j++) terms += fabs(C[i + (size_t)j * (size_t)m] * x[j]);
    if (inter->y[i] < -part * terms) return i;
  }
  return -1;
}

const NsInteraction *ns_nsds_penetrating(const NsNsds *nsds, double t, double part, int *row) {
  for (int i = 0; i < nsds->ninteractions; i++) {
    const NsInteraction *inter = nsds->interactions[i];
    int gaps = ns_law_gaps(inter->law);
    bool below = false;
    for (int k = 0; k < gaps; k++) below = below || inter->y[k] < 0;
    if (!below) continue;
    NsArena room = {0};
    *row = penetrating_row(inter, gaps, t, part, &room);
    ns_arena_release(&room);
    if (*row >= 0) return inter;
  }
  return NULL;
}

void ns_nsds_visit(void *object, NsVisitor visitor, void *context) {
  NsNsds *nsds = object;
  for (int i = 0; i < nsds->nds; i++) ns_ds_visit(nsds->ds[i], visitor, context);
  for (int i = 0; i < nsds->ninteractions; i++) ns_interaction_visit(nsds->interactions[i], visitor, context);
}

void ns_nsds_visit_laws(void *object, NsVisitor visitor, void *context) {
  NsNsds *nsds = object;
  for (int i = 0; i < nsds->ninteractions; i++) {
    NsLaw *law = nsds->interactions[i]->law;
    ns_fields_walk(law->class->fields, law, NS_FIELD_STATE, visitor, context);
  }
}
