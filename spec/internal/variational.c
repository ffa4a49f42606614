/*
** variational.c
** Linear equations along a trajectory, called from specs.
*/
#include "internal.h"

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

/* Calls f(t [, mu]); reads the lists that it returns, where there is a place. False as a result asks for a shorter step. */
static NsStatus spec_variational_call(SpecVariational *s, int f, double t, const double *mu, int results, double *const to[],
                                      const int count[], NsError *err) {
  lua_State *L = s->L;
  int top = lua_gettop(L);
  lua_pushvalue(L, f);
  lua_pushnumber(L, t);
  if (mu) nsl_push_list(L, s->n, mu, 1);
  if (lua_pcall(L, mu ? 2 : 1, results, 0) != LUA_OK) return ns_fail(err, NS_ECALLBACK, "%s", lua_tostring(L, -1));
  bool good = !lua_isboolean(L, top + 1);
  for (int i = 0; i < results && good; i++) read_numbers(L, top + 1 + i, count[i], to[i]);
  lua_settop(L, top);
  return good ? NS_OK : NS_ERETRY;
}

static NsStatus spec_variational_terms(void *context, double t, double *J, double *P, double *E, NsError *err) {
  SpecVariational *s = context;
  const int count[] = {s->n * s->n, s->n * s->p, s->n * s->n};
  return spec_variational_call(s, s->terms, t, NULL, 3, (double *[]){J, P, E}, count, err);
}

static NsStatus spec_variational_cost(void *context, double t, double *c, double *d, NsError *err) {
  SpecVariational *s = context;
  return spec_variational_call(s, s->cost, t, NULL, 2, (double *[]){c, d}, (int[]){s->n, s->p}, err);
}

static NsStatus spec_variational_vjp(void *context, double t, const double *mu, double *Jmu, double *Pmu, NsError *err) {
  SpecVariational *s = context;
  return spec_variational_call(s, s->vjp, t, mu, 2, (double *[]){Jmu, Pmu}, (int[]){s->n, s->p}, err);
}

/* The stack index of a function of the table; 0: it is absent. */
static int spec_variational_function(lua_State *L, const char *name) {
  return lua_getfield(L, 1, name) == LUA_TNIL ? (lua_pop(L, 1), 0) : lua_gettop(L);
}

/* Goes to each of `stops`; with `at`, steps one by one and keeps the values at these times. */
static NsStatus spec_variational_run(lua_State *L, NsVariational *v, int size, int out, NsError *err) {
  const NsVariationalState *state = ns_variational_state(v);
  double *y = nsl_internal_room(L, size);
  int rows = 0;
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
  SpecVariational s = {.L = L};
  NsVariationalProblem problem = {.terms = spec_variational_terms, .context = &s};
  double t, h;
  nsl_internal_take(L, 1, NULL, "n: p: t. h. rtol.=1e-10 adjoint? forced? mass? implicit? adaptive?", &s.n, &s.p, &t, &h,
                    &problem.rtol, &problem.adjoint, &problem.forced, &problem.mass, &problem.implicit, &problem.adaptive);
  s.terms = spec_variational_function(L, "terms");
  s.cost = spec_variational_function(L, "cost");
  s.vjp = spec_variational_function(L, "vjp");
  double *size, *y;
  int *index, of_y = problem.adjoint ? s.n + s.p : s.n * s.p;
  nsl_internal_take(L, 1, &s.n, "size*=1", &size);
  nsl_internal_take(L, 1, &of_y, "y*", &y);
  bool indexed = lua_getfield(L, 1, "index") != LUA_TNIL;
  if (indexed) nsl_internal_take(L, 1, &s.n, "index%", &index);
  problem.n = s.n, problem.p = s.p, problem.size = size, problem.index = indexed ? index : NULL;
  if (s.cost) problem.cost = spec_variational_cost;
  if (s.vjp) problem.vjp = spec_variational_vjp;
  NsVariational *v;
  if (ns_variational_new(&v, &problem) != NS_OK) return luaL_error(L, "no memory");
  lua_createtable(L, 0, 8);
  int result = lua_gettop(L);
  lua_newtable(L);
  NsError err = {NS_OK, ""};
  uint64_t allocations = ns_alloc_count();
  ns_variational_start(v, t, y, h);
  NsStatus status = spec_variational_run(L, v, of_y, lua_gettop(L), &err);
  allocations = ns_alloc_count() - allocations;
  lua_settop(L, result + 1);
  lua_setfield(L, result, "rows");
  const NsVariationalState *state = ns_variational_state(v);
  nsl_internal_give(L, of_y, "y~ t. steps: rejected: evaluations: allocations:", state->y, state->t, (int)state->steps,
                    (int)state->rejected, (int)state->evaluations, (int)allocations);
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
