/*
** variational.c
** Linear equations along a trajectory, called from specs.
*/
#include "bind/internal/internal.h"

#include <math.h>

#include "base/memory.h"
#include "ode/variational.h"

/* Calls of functions on the stack, at these indices (0: none). */
typedef struct SpecVariational {
  lua_State *L;
  int n, p, terms, cost, vjp;
} SpecVariational;

static void read_numbers(lua_State *L, int idx, int count, double *to) {
  if (lua_isnil(L, idx) || !to) return;
  for (int i = 0; i < count; i++) to[i] = nsl_list_number(L, idx, i + 1);
}

/* Calls the function on the stack with `arguments` arguments; false as a result asks for a shorter step. */
static NsStatus spec_variational_call(SpecVariational *s, int arguments, int results, NsError *err) {
  if (lua_pcall(s->L, arguments, results, 0) != LUA_OK) return ns_fail(err, NS_ECALLBACK, "%s", lua_tostring(s->L, -1));
  return lua_isboolean(s->L, -results) ? NS_ERETRY : NS_OK;
}

static NsStatus spec_variational_terms(void *context, double t, double *J, double *P, double *E, NsError *err) {
  SpecVariational *s = context;
  int top = lua_gettop(s->L);
  lua_pushvalue(s->L, s->terms);
  lua_pushnumber(s->L, t);
  NsStatus status = spec_variational_call(s, 1, 3, err);
  if (status == NS_OK) {
    read_numbers(s->L, top + 1, s->n * s->n, J);
    read_numbers(s->L, top + 2, s->n * s->p, P);
    read_numbers(s->L, top + 3, s->n * s->n, E);
  }
  lua_settop(s->L, top);
  return status;
}

static NsStatus spec_variational_cost(void *context, double t, double *c, double *d, NsError *err) {
  SpecVariational *s = context;
  int top = lua_gettop(s->L);
  lua_pushvalue(s->L, s->cost);
  lua_pushnumber(s->L, t);
  NsStatus status = spec_variational_call(s, 1, 2, err);
  if (status == NS_OK) read_numbers(s->L, top + 1, s->n, c), read_numbers(s->L, top + 2, s->p, d);
  lua_settop(s->L, top);
  return status;
}

static NsStatus spec_variational_vjp(void *context, double t, const double *mu, double *Jmu, double *Pmu, NsError *err) {
  SpecVariational *s = context;
  int top = lua_gettop(s->L);
  lua_pushvalue(s->L, s->vjp);
  lua_pushnumber(s->L, t);
  nsl_push_list(s->L, s->n, mu, 1);
  NsStatus status = spec_variational_call(s, 2, 2, err);
  if (status == NS_OK) read_numbers(s->L, top + 1, s->n, Jmu), read_numbers(s->L, top + 2, s->p, Pmu);
  lua_settop(s->L, top);
  return status;
}

/* The stack index of a function of the table; 0: it is absent. */
static int spec_variational_function(lua_State *L, const char *name) {
  return lua_getfield(L, 1, name) == LUA_TNIL ? (lua_pop(L, 1), 0) : lua_gettop(L);
}

/* Goes to each of `stops`; with `at`, steps one by one and keeps the values at these times. */
static NsStatus spec_variational_run(lua_State *L, NsVariational *v, int out, NsError *err) {
  const NsVariationalState *state = ns_variational_state(v);
  double *y = lua_newuserdatauv(L, 8192 * sizeof(double), 0);
  int size = (int)nsl_field_number(L, 1, "size_of_y", 0), rows = 0;
  NsStatus status = NS_OK;
  lua_getfield(L, 1, "stops");
  int stops = lua_gettop(L);
  bool dense = lua_getfield(L, 1, "at") != LUA_TNIL;
  int at = lua_gettop(L), next = 1;
  for (int k = 1; k <= (int)lua_rawlen(L, stops) && status == NS_OK; k++) {
    double stop = nsl_list_number(L, stops, k);
    if (!dense) {
      status = ns_variational_go_to(v, stop, err);
      continue;
    }
    while (status == NS_OK && state->t != stop) {
      status = ns_variational_step(v, stop, err);
      for (; status == NS_OK && next <= (int)lua_rawlen(L, at); next++) {
        double t = nsl_list_number(L, at, next);
        if ((t - state->t) * (state->t - state->t_old) > 0) break;
        status = ns_variational_at(v, t, y, err);
        nsl_push_list(L, size, y, 1);
        lua_rawseti(L, out, ++rows);
      }
      lua_settop(L, at);
    }
  }
  return status;
}

/*
** variational{n=, p=, terms= (t -> J, P, E as lists by columns; false: a shorter step), t=, y=, stops=, size=, rtol=, h=, adjoint=,
** mass=, implicit=, adaptive=, forced=, cost= (t -> c, d), vjp= (t, mu -> J' mu, P' mu), index=, at=}: a table with y, t, steps, rejected,
** evaluations, allocations, rows; or nil, the status' name and the message.
*/
static int spec_variational(lua_State *L) {
  lua_settop(L, 1);
  SpecVariational s = {.L = L, .n = (int)nsl_field_number(L, 1, "n", 0), .p = (int)nsl_field_number(L, 1, "p", 0)};
  s.terms = spec_variational_function(L, "terms");
  s.cost = spec_variational_function(L, "cost");
  s.vjp = spec_variational_function(L, "vjp");
  double size[64], y[8192];
  int index[64];
  luaL_argcheck(L, s.n <= 64 && s.n * s.p + s.p <= 8192, 1, "too large");
  for (int i = 0; i < s.n; i++) size[i] = 1, index[i] = 1;
  lua_getfield(L, 1, "size"), read_numbers(L, lua_gettop(L), s.n, size);
  bool indexed = lua_getfield(L, 1, "index") != LUA_TNIL;
  for (int i = 0; indexed && i < s.n; i++) index[i] = nsl_list_integer(L, -1, i + 1);
  NsVariationalProblem problem = {.n = s.n,
                                  .p = s.p,
                                  .terms = spec_variational_terms,
                                  .context = &s,
                                  .adjoint = nsl_field_flag(L, 1, "adjoint"),
                                  .cost = s.cost ? spec_variational_cost : NULL,
                                  .vjp = s.vjp ? spec_variational_vjp : NULL,
                                  .forced = nsl_field_flag(L, 1, "forced"),
                                  .mass = nsl_field_flag(L, 1, "mass"),
                                  .implicit = nsl_field_flag(L, 1, "implicit"),
                                  .adaptive = nsl_field_flag(L, 1, "adaptive"),
                                  .rtol = nsl_field_number(L, 1, "rtol", 1e-10),
                                  .size = size,
                                  .index = indexed ? index : NULL};
  int of_y = problem.adjoint ? s.n + s.p : s.n * s.p;
  lua_getfield(L, 1, "y"), read_numbers(L, lua_gettop(L), of_y, y);
  lua_pushinteger(L, of_y), lua_setfield(L, 1, "size_of_y");
  NsVariational *v;
  if (ns_variational_new(&v, &problem) != NS_OK) return luaL_error(L, "no memory");
  lua_createtable(L, 0, 8);
  int result = lua_gettop(L);
  lua_newtable(L);
  NsError err = {NS_OK, ""};
  uint64_t allocations = ns_alloc_count();
  ns_variational_start(v, nsl_field_number(L, 1, "t", 0), y, nsl_field_number(L, 1, "h", 0));
  NsStatus status = spec_variational_run(L, v, lua_gettop(L), &err);
  allocations = ns_alloc_count() - allocations;
  lua_settop(L, result + 1);
  lua_setfield(L, result, "rows");
  const NsVariationalState *state = ns_variational_state(v);
  nsl_set_list(L, "y", of_y, state->y);
  nsl_set_number(L, "t", state->t);
  nsl_set_integer(L, "steps", state->steps);
  nsl_set_integer(L, "rejected", state->rejected);
  nsl_set_integer(L, "evaluations", state->evaluations);
  nsl_set_integer(L, "allocations", allocations);
  ns_variational_free(v);
  if (status == NS_OK) return 1;
  lua_pushnil(L);
  lua_pushstring(L, ns_status_name(status));
  lua_pushstring(L, err.text);
  return 3;
}

void nsl_internal_variational(lua_State *L) {
  nsl_set_cfunction(L, "variational", spec_variational);
}
