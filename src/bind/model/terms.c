/*
** terms.c
** The terms of a model's equations at a point, for scripts that solve them: values and Jacobians of systems and relations.
*/
#include <string.h>

#include "bind/lua/open.h"
#include "bind/model/model.h"
#include "model/first_order_ds.h"
#include "model/mechanical_ds.h"

enum { TERMS_STATES = 3, TERMS_LAMBDA, TERMS_FAMILY }; /* places of the arguments on the stack */

/* The point, and the terms of all systems of one family and of their interactions, stacked in the graph's order. */
typedef struct Terms {
  lua_State *L;
  NsNsds *nsds;
  NsFamily family;
  double t;
  const double *x, *lambda; /* all states; all multipliers */
  NsError *err;
  int nq, nv, m; /* coordinates (of first order the states), equations, rows */
  double *f, *M, *A, *V, *y, *C, *D, *B, *rate, *G;
  bool curved, inexact; /* there is some G; d(C' lambda)/dq is not known exactly */
} Terms;

/* Adds a vector or a matrix (cols >= 0) to the table on top, and returns its numbers. */
static double *term_of(lua_State *L, const char *name, int rows, int cols) {
  double *data = cols >= 0 ? nsl_push_matrix(L, rows, cols, NULL)->data : nsl_push_vector(L, rows, NULL)->data;
  lua_setfield(L, -2, name);
  return data;
}

/* n zeros, in memory that stays on the stack. */
static double *term_room(const Terms *at, ptrdiff_t n) {
  double *room = lua_newuserdatauv(at->L, (size_t)(n + 1) * sizeof *room, 0);
  return memset(room, 0, (size_t)(n + 1) * sizeof *room);
}

/* The block (rows x cols) added to a matrix with `all` rows, where row i is at r + i and column j at place[j], or c + j. */
static void add_term_block(double *to, int all, int r, int c, const int *place, int rows, int cols, const double *block) {
  for (ptrdiff_t j = 0; j < cols; j++)
    for (ptrdiff_t i = 0; i < rows; i++) to[r + i + (place ? place[j] : c + j) * (ptrdiff_t)all] += block[i + j * rows];
}

/* The first coordinate and equation of a system among those of its family. */
static void term_place(const Terms *at, const NsDs *ds, int *q, int *v) {
  *q = *v = 0;
  for (int i = 0; i < ds->index; i++) {
    const NsDs *other = at->nsds->ds[i];
    if (ns_ds_family(other) == at->family) *q += other->nx, *v += other->n - (other->n > other->nx ? other->nx : 0);
  }
}

static const double *states_of(const Terms *at, const NsDs *ds) {
  const double *x = at->x;
  for (int i = 0; i < ds->index; i++) x += at->nsds->ds[i]->n;
  return x;
}

/* M x' = f: f, M, A = df/dx. */
static NsStatus first_order_terms_at(const Terms *at, NsFirstOrderDs *ds, const double *x, int q) {
  int n = ds->base.n;
  double *M = term_room(at, (ptrdiff_t)n * n), *A = term_room(at, (ptrdiff_t)n * n);
  NsStatus status = ns_first_order_terms(ds, at->t, x, at->f + q, M, A, at->err);
  add_term_block(at->M, at->nv, q, q, NULL, n, n, M);
  add_term_block(at->A, at->nv, q, q, NULL, n, n, A);
  return status;
}

/* M v' = f: f, M, A = df/dq, V = df/dv, at the velocities of x. */
static NsStatus mechanical_terms_at(const Terms *at, NsMechanicalDs *ds, const double *x, int q, int v) {
  int nq = ds->nq, nv = ds->nv;
  double *M = term_room(at, (ptrdiff_t)nv * nv), *V = term_room(at, (ptrdiff_t)nv * nv);
  double *A = term_room(at, (ptrdiff_t)nv * nq), *room = term_room(at, (ptrdiff_t)nv * nq);
  NsStatus status = ns_ds_update(&ds->base, at->t, at->err);
  if (status == NS_OK) status = ns_mechanical_forces(ds, at->t, x, x + nq, at->f + v, at->err);
  if (status == NS_OK) status = ns_mechanical_mass(ds, at->t, x, M, at->err);
  if (status == NS_OK) status = ns_mechanical_force_jacobians(ds, at->t, x, x + nq, room, A, V, at->err);
  add_term_block(at->M, at->nv, v, v, NULL, nv, nv, M);
  add_term_block(at->V, at->nv, v, v, NULL, nv, nv, V);
  add_term_block(at->A, at->nv, v, q, NULL, nv, nq, A);
  return status;
}

/* Mechanics: rate = dy/dt at fixed q; where C depends on q G = d(C' lambda)/dq, if that is exact. place: of the coordinates. */
static NsStatus curvature_terms(Terms *at, const NsRelation *rel, const NsRelationPoint *point, int row, const int *place) {
  int m = rel->m, nx = rel->nx;
  double *room = term_room(at, (NS_DIFFERENCE_ROOM + 3) * (ptrdiff_t)m + nx);
  NsStatus status = ns_relation_add_rate(rel, point, room, at->rate + row, at->err);
  if (status != NS_OK || !ns_relation_curved(rel)) return status;
  double *second = term_room(at, (ptrdiff_t)m * nx * nx), *drift = term_room(at, (ptrdiff_t)m * nx);
  bool exact = ns_relation_second(rel, point, room, second, drift);
  bool *own = lua_newuserdatauv(at->L, (size_t)m * sizeof *own, 0);
  if (exact) status = ns_relation_own_rows(rel, point, term_room(at, (ptrdiff_t)ns_relation_bias_room(rel)), own, at->err);
  for (int i = 0; i < m && status == NS_OK; i++) exact = exact && !own[i];
  at->inexact = at->inexact || !exact;
  for (ptrdiff_t k = 0; k < (ptrdiff_t)nx * nx && exact && status == NS_OK; k++)
    for (int i = 0; i < m; i++)
      at->G[place[k % nx] + place[k / nx] * (ptrdiff_t)at->nq] += point->lambda[i] * second[i + k * m];
  at->curved = true;
  return status;
}

/* y, C = dy/dx, D = dy/dlambda; of first order r, B = dr/dlambda, K = dr/dx, which is added to A. */
static NsStatus relation_terms(Terms *at, const NsRelation *rel, const NsRelationPoint *point, int row, const int *place) {
  int m = rel->m, nx = rel->nx;
  double *C = term_room(at, (ptrdiff_t)m * nx), *D = term_room(at, (ptrdiff_t)m * m);
  NsStatus status = ns_relation_output(rel, point, at->y + row, at->err);
  if (status == NS_OK) status = ns_relation_C(rel, point, C, at->err);
  if (status == NS_OK && ns_relation_has_D(rel)) status = ns_relation_D(rel, point, D, at->err);
  add_term_block(at->C, at->m, row, 0, place, m, nx, C);
  add_term_block(at->D, at->m, row, row, NULL, m, m, D);
  if (status != NS_OK || at->rate) return status == NS_OK ? curvature_terms(at, rel, point, row, place) : status;
  double *r = term_room(at, nx), *B = term_room(at, (ptrdiff_t)nx * m), *K = term_room(at, (ptrdiff_t)nx * nx);
  status = ns_relation_input(rel, point, r, at->err);
  if (status == NS_OK) status = ns_relation_B(rel, point, B, at->err);
  if (status == NS_OK && ns_relation_has_K(rel)) status = ns_relation_K(rel, point, K, at->err);
  for (ptrdiff_t i = 0; i < nx; i++) {
    at->f[place[i]] += r[i];
    for (int j = 0; j < m; j++) at->B[place[i] + (row + j) * (ptrdiff_t)at->nv] += B[i + (ptrdiff_t)j * nx];
    for (int j = 0; j < nx; j++) at->A[place[i] + place[j] * (ptrdiff_t)at->nv] += K[i + (ptrdiff_t)j * nx];
  }
  return status;
}

static NsStatus interaction_terms(Terms *at, NsInteraction *inter, const double *lambda, int row) {
  double *x = term_room(at, inter->nx);
  int *place = lua_newuserdatauv(at->L, ((size_t)inter->nx + 1) * sizeof *place, 0);
  for (int i = 0, first = 0; i < inter->nds; first += inter->ds[i++]->nx) {
    int q, v;
    memcpy(x + first, states_of(at, inter->ds[i]), (size_t)inter->ds[i]->nx * sizeof *x);
    term_place(at, inter->ds[i], &q, &v);
    for (int j = 0; j < inter->ds[i]->nx; j++) place[first + j] = q + j;
  }
  NsStatus status = ns_interaction_update_bounds(inter, at->t, at->err);
  if (status == NS_OK) status = ns_interaction_update(inter, at->t, at->err);
  NsRelationPoint point = {at->t, x, lambda, inter->z, false};
  return status == NS_OK ? relation_terms(at, inter->relation, &point, row, place) : status;
}

static NsStatus family_terms(Terms *at) {
  NsStatus status = NS_OK;
  const double *lambda = at->lambda;
  int top = lua_gettop(at->L), row = 0;
  for (int i = 0; i < at->nsds->nds && status == NS_OK; i++, lua_settop(at->L, top)) {
    NsDs *ds = at->nsds->ds[i];
    int q, v;
    term_place(at, ds, &q, &v);
    if (ns_ds_family(ds) != at->family) continue;
    status = at->rate ? mechanical_terms_at(at, (NsMechanicalDs *)ds, states_of(at, ds), q, v)
                      : first_order_terms_at(at, (NsFirstOrderDs *)ds, states_of(at, ds), q);
  }
  for (int i = 0; i < at->nsds->ninteractions && status == NS_OK; i++, lua_settop(at->L, top)) {
    NsInteraction *inter = at->nsds->interactions[i];
    bool own = ns_ds_family(inter->ds[0]) == at->family;
    if (own) status = interaction_terms(at, inter, lambda, row);
    lambda += inter->m, row += own ? inter->m : 0;
  }
  return status;
}

/* Makes the table of the terms, with room for the sizes of the family. */
static void push_terms(Terms *at, bool mechanical) {
  lua_State *L = at->L;
  NsDs end = {.index = at->nsds->nds};
  term_place(at, &end, &at->nq, &at->nv);
  for (int i = 0; i < at->nsds->ninteractions; i++)
    if (ns_ds_family(at->nsds->interactions[i]->ds[0]) == at->family) at->m += at->nsds->interactions[i]->m;
  lua_newtable(L);
  at->f = term_of(L, "f", at->nv, -1), at->M = term_of(L, "M", at->nv, at->nv), at->A = term_of(L, "A", at->nv, at->nq);
  at->y = term_of(L, "y", at->m, -1), at->C = term_of(L, "C", at->m, at->nq), at->D = term_of(L, "D", at->m, at->m);
  if (!mechanical) at->B = term_of(L, "B", at->nv, at->m);
  if (mechanical) at->V = term_of(L, "V", at->nv, at->nv), at->G = term_of(L, "G", at->nq, at->nq);
  double *rate = term_of(L, "rate", at->m, -1);
  if (mechanical) at->rate = rate;
}

/*
** terms(nsds, t, x, lambda, mechanical): the terms of one family at a point, which is not the state of the model: x has the states of all systems,
** lambda the multipliers of all interactions. A table of f, M, A, y, C, D; of first order B; of mechanics V, rate, and where C depends on
** the coordinates G, or `inexact`.
*/
static int graph_terms(lua_State *L) {
  static const char who[] = "terms";
  NsNsds *nsds = nsl_check_nsds(L, 1)->nsds;
  NsError err = {NS_OK, ""};
  int n = 0, m = 0;
  if (nsds->busy) luaL_error(L, "a step is being computed (called from inside a callback?)");
  for (int i = 0; i < nsds->nds; i++) n += nsds->ds[i]->n;
  for (int i = 0; i < nsds->ninteractions; i++) m += nsds->interactions[i]->m;
  double t = nsl_finite(L, 2, who, "t");
  lua_settop(L, TERMS_FAMILY);
  bool mechanical = lua_toboolean(L, TERMS_FAMILY);
  NslVector *x = nsl_to_vector(L, TERMS_STATES, n, who, "x"), *lambda = nsl_to_vector(L, TERMS_LAMBDA, m, who, "lambda");
  double *point = lua_newuserdatauv(L, (size_t)(n + m + 1) * sizeof *point, 0);
  nsl_vector_read(x, point);
  nsl_vector_read(lambda, point + n);
  luaL_checkstack(L, 24, NULL);
  NsFamily family = mechanical ? NS_MECHANICS : NS_FIRST_ORDER;
  Terms at = {.L = L, .nsds = nsds, .family = family, .t = t, .x = point, .lambda = point + n, .err = &err};
  push_terms(&at, mechanical);
  NslHost *host = nsl_host(L);
  NslEdge edge = nsl_enter(host, L, NULL, nsds);
  NsStatus status = family_terms(&at);
  nsl_leave(host, edge);
  if (status != NS_OK) return nsl_raise_step(L, &err);
  nsl_set_boolean(L, "inexact", at.inexact);
  if (at.G && !at.curved) lua_pushnil(L), lua_setfield(L, -2, "G");
  return 1;
}

/* parts(nsds, t): what the systems and the interactions of the graph are, with the bounds of the laws at t: two lists of tables. */
static int graph_parts(lua_State *L) {
  NsNsds *nsds = nsl_check_nsds(L, 1)->nsds;
  double t = luaL_checknumber(L, 2);
  NsError err = {NS_OK, ""};
  NsStatus status = NS_OK;
  if (nsds->busy) luaL_error(L, "a step is being computed (called from inside a callback?)");
  NslHost *host = nsl_host(L);
  NslEdge edge = nsl_enter(host, L, NULL, nsds);
  for (int i = 0; i < nsds->ninteractions && status == NS_OK; i++)
    status = ns_interaction_update_bounds(nsds->interactions[i], t, &err);
  nsl_leave(host, edge);
  if (status != NS_OK) return nsl_raise_step(L, &err);
  lua_newtable(L);
  for (int i = 0; i < nsds->nds; i++) {
    const NsDs *ds = nsds->ds[i];
    const NsMechanicalDs *body = ns_ds_family(ds) == NS_MECHANICS ? (const NsMechanicalDs *)ds : NULL;
    lua_newtable(L);
    nsl_set_boolean(L, "mechanical", body != NULL);
    nsl_set_integer(L, "n", body ? body->nv : ds->n);
    nsl_set_boolean(L, "turns", body && ns_mechanical_turns(body));
    nsl_set_boolean(L, "bound", body && body->boundary != NULL);
    lua_rawseti(L, -2, i + 1);
  }
  lua_newtable(L);
  for (int i = 0; i < nsds->ninteractions; i++) {
    const NsInteraction *inter = nsds->interactions[i];
    lua_newtable(L);
    nsl_push_law_groups(L, inter->law); /* { dim, lower, upper, mu } each */
    lua_setfield(L, -2, "groups");
    nsl_set_integer(L, "m", inter->m);
    nsl_set_boolean(L, "mechanical", ns_ds_family(inter->ds[0]) == NS_MECHANICS);
    nsl_set_boolean(L, "unilateral", ns_law_unilateral(inter->law));
    nsl_set_boolean(L, "polyhedron", inter->law->rows > 0);
    nsl_set_boolean(L, "at_position", ns_relation_holds_at_position(inter->relation));
    lua_rawseti(L, -2, i + 1);
  }
  return 2;
}

void nsl_open_terms(lua_State *L) {
  lua_getfield(L, -1, "graph_support"); /* hidden: for lua/nslua/dynamics/ */
  nsl_set_cfunction(L, "terms", graph_terms);
  nsl_set_cfunction(L, "parts", graph_parts);
  lua_pop(L, 1);
}
