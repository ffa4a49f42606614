/*
** internal_model.c
** For the specs alone: the derivatives of a relation's output along a motion, and its second ones.
*/
#include "bind/internal.h"

#include "bind/matrix.h"
#include "bind/model.h"

typedef NsStatus (*Derivative)(const NsRelation *, const NsRelationPoint *, const double *, double *, double *,
                               NsError *);

static NsStatus rate(const NsRelation *rel, const NsRelationPoint *at, const double *qdot, double *room, double *out,
                     NsError *err) {
  (void)qdot;
  return ns_relation_add_rate(rel, at, room, out, err);
}

/* (relation, t, q, qdot [, lambda]): the vector, added to zeros; the relation is linked. */
static int evaluate(lua_State *L, Derivative f) {
  NslRelation *self = nsl_check_relation(L, 1);
  const NsRelation *rel = self->relation;
  NsError err = {0};
  luaL_argcheck(L, rel->m >= 0, 1, "not linked");
  lua_settop(L, 5);
  if (lua_isnil(L, 5)) nsl_push_vector(L, rel->m, "lambda"), lua_replace(L, 5);
  const double *q = nsl_to_vector(L, 3, rel->nx, "bias", "q")->data;
  const double *qdot = nsl_to_vector(L, 4, rel->nx, "bias", "qdot")->data;
  const double *lambda = nsl_to_vector(L, 5, rel->m, "bias", "lambda")->data;
  size_t size = ns_relation_bias_room(rel) + 4 * (size_t)rel->m;
  double *room = nsl_push_vector(L, (int)size, NULL)->data;
  NslVector *out = nsl_push_vector(L, rel->m, NULL);
  NsRelationPoint at = {luaL_checknumber(L, 2), q, lambda, rel->z};
  NslEdge edge = nsl_enter(self->callee.host, L, NULL);
  NsStatus status = f(rel, &at, qdot, room, out->data, &err);
  nsl_leave(self->callee.host, edge);
  return status == NS_OK ? 1 : nsl_raise_step(L, &err);
}

static int relation_bias(lua_State *L) {
  return evaluate(L, ns_relation_add_bias);
}

static int relation_rate(lua_State *L) {
  return evaluate(L, rate);
}

/* (relation, t, q): the vectors of second derivatives (m x nx x nx) and of the drift's (m x nx); or nil. */
static int relation_second(lua_State *L) {
  NslRelation *self = nsl_check_relation(L, 1);
  const NsRelation *rel = self->relation;
  luaL_argcheck(L, rel->m >= 0, 1, "not linked");
  const double *q = nsl_to_vector(L, 3, rel->nx, "second", "q")->data;
  const double *lambda = nsl_push_vector(L, rel->m, NULL)->data;
  double *room = nsl_push_vector(L, rel->nx + 3 * rel->m, NULL)->data;
  NslVector *second = nsl_push_vector(L, rel->m * rel->nx * rel->nx, NULL);
  NslVector *drift = nsl_push_vector(L, rel->m * rel->nx, NULL);
  NsRelationPoint at = {luaL_checknumber(L, 2), q, lambda, rel->z};
  NslEdge edge = nsl_enter(self->callee.host, L, NULL);
  bool good = ns_relation_second(rel, &at, room, second->data, drift->data);
  nsl_leave(self->callee.host, edge);
  return good ? 2 : (lua_pushnil(L), 1);
}

void nsl_internal_model(lua_State *L) {
  lua_pushcfunction(L, relation_bias);
  lua_setfield(L, -2, "relation_bias");
  lua_pushcfunction(L, relation_rate);
  lua_setfield(L, -2, "relation_rate");
  lua_pushcfunction(L, relation_second);
  lua_setfield(L, -2, "relation_second");
}
