/*
** terms.c
** The terms of a model's equations at a point, for scripts that solve them: values and Jacobians of systems and relations.
*/
#include <string.h>

#include "bind/lua/open.h"
#include "bind/model/model.h"
#include "model/first_order_ds.h"
#include "model/mechanical_ds.h"

enum { TERMS_STATES = 3, TERMS_LAMBDA }; /* places of the arguments on the stack */

/* The point. */
typedef struct Terms {
  lua_State *L;
  NsNsds *nsds;
  double t;
  const double *x, *lambda; /* all states; all multipliers */
  NsError *err;
} Terms;

/* Adds a vector or a matrix (cols > 0) to the table on top, and returns its numbers. */
static double *term_of(lua_State *L, const char *name, int rows, int cols) {
  double *data = cols > 0 ? nsl_push_matrix(L, rows, cols, NULL)->data : nsl_push_vector(L, rows, NULL)->data;
  lua_setfield(L, -2, name);
  return data;
}

/* M x' = f: f, M, A = df/dx. */
static NsStatus first_order_terms_at(const Terms *at, NsFirstOrderDs *ds, const double *x) {
  int n = ds->base.n;
  double *f = term_of(at->L, "f", n, 0), *M = term_of(at->L, "M", n, n), *A = term_of(at->L, "A", n, n);
  return ns_first_order_terms(ds, at->t, x, f, M, A, at->err);
}

/* M v' = f: f, M, A = df/dq, V = df/dv, at the velocities of x. */
static NsStatus mechanical_terms_at(const Terms *at, NsMechanicalDs *ds, const double *x) {
  int nq = ds->nq, nv = ds->nv;
  double *f = term_of(at->L, "f", nv, 0), *M = term_of(at->L, "M", nv, nv);
  double *A = term_of(at->L, "A", nv, nq), *V = term_of(at->L, "V", nv, nv), *room = term_of(at->L, "room", nv, nq);
  NsStatus status = ns_ds_update(&ds->base, at->t, at->err);
  if (status == NS_OK) status = ns_mechanical_forces(ds, at->t, x, x + nq, f, at->err);
  if (status == NS_OK) status = ns_mechanical_mass(ds, at->t, x, M, at->err);
  return status == NS_OK ? ns_mechanical_force_jacobians(ds, at->t, x, x + nq, room, A, V, at->err) : status;
}

static NsStatus system_terms(const Terms *at, NsDs *ds, const double *x) {
  lua_pushboolean(at->L, ns_ds_family(ds) == NS_MECHANICS);
  lua_setfield(at->L, -2, "mechanical");
  if (ns_ds_family(ds) == NS_FIRST_ORDER) return first_order_terms_at(at, (NsFirstOrderDs *)ds, x);
  NsMechanicalDs *body = (NsMechanicalDs *)ds;
  lua_pushboolean(at->L, ns_mechanical_turns(body));
  lua_setfield(at->L, -2, "turns");
  lua_pushboolean(at->L, body->boundary != NULL);
  lua_setfield(at->L, -2, "bound");
  return mechanical_terms_at(at, body, x);
}

/* Mechanics: rate = dy/dt at fixed q; `second` where C may depend on q, and then G = d(C' lambda)/dq if that is exact. */
static NsStatus curvature_terms(const Terms *at, const NsRelation *rel, const NsRelationPoint *point) {
  int m = rel->m, nx = rel->nx;
  double *rate = term_of(at->L, "rate", m, 0), *room = term_of(at->L, "room", (NS_DIFFERENCE_ROOM + 3) * m + nx, 0);
  NsStatus status = ns_relation_add_rate(rel, point, room, rate, at->err);
  if (status != NS_OK || !ns_relation_curved(rel)) return status;
  double *second = term_of(at->L, "second", m * nx, nx), *drift = term_of(at->L, "drift", m, nx);
  if (!ns_relation_second(rel, point, room, second, drift)) return NS_OK;
  bool *own = lua_newuserdatauv(at->L, (size_t)m * sizeof *own, 0);
  lua_setfield(at->L, -2, "own");
  status = ns_relation_own_rows(rel, point, term_of(at->L, "room", (int)ns_relation_bias_room(rel), 0), own, at->err);
  for (int i = 0; i < m && status == NS_OK; i++)
    if (own[i]) return NS_OK;
  if (status != NS_OK) return status;
  double *G = term_of(at->L, "G", nx, nx);
  for (ptrdiff_t k = 0; k < (ptrdiff_t)nx * nx; k++)
    for (int i = 0; i < m; i++) G[k] += point->lambda[i] * second[i + k * m];
  return NS_OK;
}

/* y, C = dy/dx, D = dy/dlambda; of first order r, B = dr/dlambda, K = dr/dx. */
static NsStatus relation_terms(const Terms *at, const NsRelation *rel, const NsRelationPoint *point) {
  int m = rel->m, nx = rel->nx;
  double *y = term_of(at->L, "y", m, 0), *C = term_of(at->L, "C", m, nx), *D = term_of(at->L, "D", m, m);
  NsStatus status = ns_relation_output(rel, point, y, at->err);
  if (status == NS_OK) status = ns_relation_C(rel, point, C, at->err);
  if (status == NS_OK && ns_relation_has_D(rel)) status = ns_relation_D(rel, point, D, at->err);
  if (status != NS_OK || ns_relation_family(rel) == NS_MECHANICS)
    return status == NS_OK ? curvature_terms(at, rel, point) : status;
  double *r = term_of(at->L, "r", nx, 0), *B = term_of(at->L, "B", nx, m), *K = term_of(at->L, "K", nx, nx);
  status = ns_relation_input(rel, point, r, at->err);
  if (status == NS_OK) status = ns_relation_B(rel, point, B, at->err);
  return status == NS_OK && ns_relation_has_K(rel) ? ns_relation_K(rel, point, K, at->err) : status;
}

static const double *states_of(const Terms *at, const NsDs *ds) {
  const double *x = at->x;
  for (int i = 0; i < ds->index; i++) x += at->nsds->ds[i]->n;
  return x;
}

/* The groups of the law: a list of { dim, lower, upper, mu }; and whether it is a contact, a polyhedron, at position level. */
static void push_law_terms(lua_State *L, const NsInteraction *inter) {
  const NsLaw *law = inter->law;
  nsl_push_law_groups(L, law);
  lua_setfield(L, -2, "groups");
  nsl_set_boolean(L, "unilateral", ns_law_unilateral(law));
  nsl_set_boolean(L, "polyhedron", law->rows > 0);
  nsl_set_boolean(L, "at_position", ns_relation_holds_at_position(inter->relation));
}

static NsStatus interaction_terms(const Terms *at, NsInteraction *inter, const double *lambda) {
  double *x = term_of(at->L, "x", inter->nx, 0);
  lua_createtable(at->L, 2, 0);
  for (int i = 0, first = 0; i < inter->nds; first += inter->ds[i++]->nx) {
    memcpy(x + first, states_of(at, inter->ds[i]), (size_t)inter->ds[i]->nx * sizeof *x);
    lua_pushinteger(at->L, inter->ds[i]->index + 1);
    lua_rawseti(at->L, -2, i + 1);
  }
  lua_setfield(at->L, -2, "systems");
  NsStatus status = ns_interaction_update_bounds(inter, at->t, at->err);
  if (status == NS_OK) status = ns_interaction_update(inter, at->t, at->err);
  push_law_terms(at->L, inter);
  NsRelationPoint point = {at->t, x, lambda, inter->z, false};
  return status == NS_OK ? relation_terms(at, inter->relation, &point) : status;
}

static NsStatus all_terms(const Terms *at) {
  lua_State *L = at->L;
  NsStatus status = NS_OK;
  const double *x = at->x, *lambda = at->lambda;
  lua_newtable(L);
  for (int i = 0; i < at->nsds->nds && status == NS_OK; x += at->nsds->ds[i++]->n) {
    lua_newtable(L);
    status = system_terms(at, at->nsds->ds[i], x);
    lua_rawseti(L, -2, i + 1);
  }
  lua_newtable(L);
  for (int i = 0; i < at->nsds->ninteractions && status == NS_OK; lambda += at->nsds->interactions[i++]->m) {
    lua_newtable(L);
    status = interaction_terms(at, at->nsds->interactions[i], lambda);
    lua_rawseti(L, -2, i + 1);
  }
  return status;
}

/*
** terms(nsds, t, x, lambda): the terms of the equations at a point, which is not the state of the model: x has the states of all
** systems, lambda the multipliers of all interactions. Returns two lists of tables, of the systems and of the interactions.
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
  lua_settop(L, TERMS_LAMBDA);
  NslVector *x = nsl_to_vector(L, TERMS_STATES, n, who, "x"), *lambda = nsl_to_vector(L, TERMS_LAMBDA, m, who, "lambda");
  double *point = lua_newuserdatauv(L, (size_t)(n + m + 1) * sizeof *point, 0);
  nsl_vector_read(x, point);
  nsl_vector_read(lambda, point + n);
  luaL_checkstack(L, 12, NULL);
  NslHost *host = nsl_host(L);
  NslEdge edge = nsl_enter(host, L, NULL, nsds);
  NsStatus status = all_terms(&(Terms){L, nsds, t, point, point + n, &err});
  nsl_leave(host, edge);
  return status == NS_OK ? 2 : nsl_raise_step(L, &err);
}

void nsl_open_terms(lua_State *L) {
  lua_getfield(L, -1, "graph_support"); /* hidden: for lua/nslua/dynamics/ */
  nsl_set_cfunction(L, "terms", graph_terms);
  lua_pop(L, 1);
}
