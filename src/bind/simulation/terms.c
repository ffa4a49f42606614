/*
** terms.c
** The terms of a model's equations at a point, for scripts that solve them: values and Jacobians of systems and relations.
*/
#include "bind/lua/open.h"
#include "bind/numerics/answer.h"
#include "bind/simulation/sensitivities.h"
#include "model/mechanical_ds.h"
#include "model/terms.h"

enum { TERMS_STATES = 3, TERMS_LAMBDA, TERMS_FAMILY, TERMS_NUMBER }; /* places of the arguments on the stack */

/* Adds a vector or a matrix (cols >= 0) to the table on top, and returns its numbers. */
static double *term_of(lua_State *L, const char *name, int rows, int cols) {
  double *data = cols >= 0 ? nsl_push_matrix(L, rows, cols, NULL)->data : nsl_push_vector(L, rows, NULL)->data;
  lua_setfield(L, -2, name);
  return data;
}

/* Makes the table of the terms, with room for the sizes of the family. */
static void push_terms(lua_State *L, NsTerms *at, bool mechanical) {
  ns_terms_measure(at);
  lua_newtable(L);
  at->f = term_of(L, "f", at->nv, -1), at->M = term_of(L, "M", at->nv, at->nv), at->A = term_of(L, "A", at->nv, at->nq);
  at->y = term_of(L, "y", at->m, -1), at->C = term_of(L, "C", at->m, at->nq), at->D = term_of(L, "D", at->m, at->m);
  if (!mechanical) at->B = term_of(L, "B", at->nv, at->m);
  if (mechanical) at->V = term_of(L, "V", at->nv, at->nv), at->G = term_of(L, "G", at->nq, at->nq);
  double *rate = term_of(L, "rate", at->m, -1);
  if (mechanical) at->rate = rate;
}

/* Adds the derivatives by the number at TERMS_NUMBER, where they are known, to the table on top. */
static void push_by_number(lua_State *L, const NsTerms *at, NslHost *host) {
  int table = lua_gettop(L);
  NsParameterList list = {.arena = &nsl_new_call(L, "terms", 0)->arena, .nsds = at->nsds, .who = "terms"};
  nsl_add_field_parameter(L, &list, TERMS_NUMBER);
  double *f = nsl_push_vector(L, at->nv, NULL)->data, *y = nsl_push_vector(L, at->m, NULL)->data;
  NslEdge edge = nsl_enter(host, L, NULL, at->nsds);
  bool known = list.count == 1 && ns_terms_by(at, list.of, f, y);
  nsl_leave(host, edge);
  if (known) lua_setfield(L, table, "y_by"), lua_setfield(L, table, "f_by");
  lua_settop(L, table);
}

/*
** terms(nsds, t, x, lambda, mechanical[, number]): the terms of one family at a point, which is not the state of the model: x has the states of
** all systems, lambda the multipliers of all interactions. A table of f, M, A, y, C, D; of first order B; of mechanics V, rate and G. With a number
** {object, field, i, j} of the model also its derivatives f_by and y_by, where they are known exactly.
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
  lua_settop(L, TERMS_NUMBER);
  bool mechanical = lua_toboolean(L, TERMS_FAMILY);
  NslVector *x = nsl_to_vector(L, TERMS_STATES, n, who, "x"), *lambda = nsl_to_vector(L, TERMS_LAMBDA, m, who, "lambda");
  double *point = lua_newuserdatauv(L, (size_t)(n + m + 1) * sizeof *point, 0);
  nsl_vector_read(x, point);
  nsl_vector_read(lambda, point + n);
  NsFamily family = mechanical ? NS_MECHANICS : NS_FIRST_ORDER;
  NsTerms at = {.nsds = nsds, .family = family, .t = t, .x = point, .lambda = point + n};
  push_terms(L, &at, mechanical);
  NslHost *host = nsl_host(L);
  NslEdge edge = nsl_enter(host, L, NULL, nsds);
  NsStatus status = ns_terms_fill(&at, &err);
  nsl_leave(host, edge);
  if (status != NS_OK) return nsl_raise_step(L, &err);
  if (!lua_isnil(L, TERMS_NUMBER)) push_by_number(L, &at, host);
  return 1;
}

/*
** put(nsds, number, value): a number {object, field, i, j} of a coefficient becomes value, in all coefficients that share it. Whether it is one
** of a coefficient.
*/
static int graph_put(lua_State *L) {
  NsParameterList list = {.nsds = nsl_check_nsds(L, 1)->nsds, .who = "inputs"};
  double value = luaL_checknumber(L, 3);
  list.arena = &nsl_new_call(L, "terms", 0)->arena;
  nsl_add_field_parameter(L, &list, 2);
  const NsParameter *number = list.of;
  bool one = list.count == 1 && number->version;
  if (one) *number->number = value, ++*number->version;
  for (int k = 0; one && k < number->ncopies; k++) {
    *number->copies[k].number = value;
    if (number->copies[k].version) ++*number->copies[k].version;
  }
  return lua_pushboolean(L, one), 1;
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
  nsl_set_cfunction(L, "put", graph_put);
  lua_pop(L, 1);
}
