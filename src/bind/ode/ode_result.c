/*
** ode_result.c
** The result of solve_ivp: the table, and the callable dense output.
*/
#include "bind/ode/ode_result.h"

#include <string.h>

#include "bind/array/matrix.h"
#include "bind/array/vector.h"

typedef struct Dense {
  NslHead head;
  NsIvp *ivp;
} Dense;

static const NslType dense_type = {.name = "dense output"};

NsIvp *nsl_push_dense(lua_State *L, int n, int rows, int events) {
  Dense *self = nsl_new(L, &dense_type, sizeof *self, 0);
  NsStatus status = ns_ivp_new(&self->ivp, n, rows, events);
  if (status != NS_OK) nsl_raise_status(L, status, "solve_ivp");
  return self->ivp;
}

static int dense_close(lua_State *L) {
  Dense *self = nsl_test(L, 1, &dense_type);
  if (!self) return 0;
  self->head.closed = true;
  ns_ivp_free(self->ivp);
  self->ivp = NULL;
  return 0;
}

/* The side that the argument at idx asks for. */
static NsIvpSide take_side(lua_State *L, int idx) {
  const char *side = lua_type(L, idx) == LUA_TSTRING ? lua_tostring(L, idx) : NULL;
  if (lua_isnil(L, idx) || (side && strcmp(side, "after") == 0)) return NS_IVP_AFTER;
  if (side && strcmp(side, "before") == 0) return NS_IVP_BEFORE;
  return luaL_error(L, "sol: side: expected 'after' or 'before', got %s", side ? side : nsl_describe(L, idx));
}

/* sol(t [, side]): a vector of n; sol(ts [, side]): a matrix with a column for each time. */
static int dense_call(lua_State *L) {
  Dense *self = nsl_check(L, 1, &dense_type);
  const NsIvp *ivp = self->ivp;
  lua_settop(L, 3);
  NsIvpSide side = take_side(L, 3);
  if (lua_type(L, 2) == LUA_TNUMBER) {
    double t = nsl_finite(L, 2, "sol", "t");
    ns_ivp_at(ivp, t, side, nsl_push_vector(L, ivp->n, NULL)->data);
    return 1;
  }
  NslVector *ts = nsl_to_finite_vector(L, 2, -1, "sol", "t");
  NslMatrix *y = nsl_push_matrix(L, ivp->n, ts->n, NULL);
  for (int j = 0; j < ts->n; j++) ns_ivp_at(ivp, ts->data[j * ts->stride], side, y->data + (ptrdiff_t)j * ivp->n);
  return 1;
}

/* ---- the table ---- */

static void push_times(lua_State *L, const NsIvpPoints *points) {
  NslVector *t = nsl_push_vector(L, points->count, NULL);
  if (points->count > 0) memcpy(t->data, points->t, (size_t)points->count * sizeof(double));
}

/* Sets the field `name` of the result to the list of the states of each event, a matrix with a row for each occurrence. */
static void set_event_states(lua_State *L, const NsIvp *ivp, const NsIvpPoints *lists, int result, const char *name) {
  lua_createtable(L, ivp->events, 0);
  for (int e = 0; e < ivp->events; e++) {
    const NsIvpPoints *found = &lists[e];
    NslMatrix *y = nsl_push_matrix(L, found->count, ivp->n, NULL);
    for (long k = 0; k < found->count; k++)
      for (int i = 0; i < ivp->n; i++) y->data[k + (ptrdiff_t)i * y->ld] = found->y[(ptrdiff_t)k * ivp->n + i];
    lua_rawseti(L, -2, e + 1);
  }
  lua_setfield(L, result, name);
}

static void push_events(lua_State *L, const NsIvp *ivp, int result) {
  lua_createtable(L, ivp->events, 0);
  for (int e = 0; e < ivp->events; e++) push_times(L, &ivp->found[e]), lua_rawseti(L, -2, e + 1);
  lua_setfield(L, result, "t_events");
  set_event_states(L, ivp, ivp->found, result, "y_events");
  set_event_states(L, ivp, ivp->found_after, result, "y_events_after");
}

static void ode_result_push_message(lua_State *L, const NsIvp *ivp) {
  if (ivp->end == NS_IVP_EVENT) lua_pushfstring(L, "%s ended the integration", ivp->ended_by);
  else lua_pushstring(L, ivp->end == NS_IVP_FAILED ? ivp->why.text : "the end of the interval was reached");
}

void nsl_push_ivp(lua_State *L, int dense, bool keep, bool events) {
  const Dense *self = lua_touserdata(L, dense);
  const NsIvp *ivp = self->ivp;
  lua_createtable(L, 0, 16);
  int result = lua_gettop(L);
  push_times(L, &ivp->points);
  lua_setfield(L, result, "t");
  NslMatrix *y = nsl_push_matrix(L, ivp->n, ivp->points.count, NULL);
  size_t count = (size_t)ivp->n * (size_t)ivp->points.count;
  if (count > 0) memcpy(y->data, ivp->points.y, count * sizeof(double));
  lua_setfield(L, result, "y");
  if (events) push_events(L, ivp, result);
  if (keep) {
    lua_pushvalue(L, dense);
    lua_setfield(L, result, "sol");
  }
  nsl_set_integer(L, "nfev", ivp->counts.evaluations);
  nsl_set_integer(L, "njev", ivp->counts.jacobians);
  nsl_set_integer(L, "nlu", ivp->counts.factorizations);
  nsl_set_integer(L, "nsteps", ivp->counts.steps);
  nsl_set_integer(L, "nrejected", ivp->counts.rejected);
  nsl_set_integer(L, "status", ivp->end);
  ode_result_push_message(L, ivp);
  lua_setfield(L, result, "message");
  nsl_set_boolean(L, "success", ivp->end != NS_IVP_FAILED);
  luaL_setmetatable(L, NSL_RESULT);
}

void nsl_open_ode_dense(lua_State *L) {
  static const luaL_Reg meta[] = {{"__call", dense_call}, {"__gc", dense_close}, {"__close", dense_close}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"close", dense_close}, {NULL, NULL}};
  nsl_register_type(L, &dense_type, meta, methods);
  luaL_newmetatable(L, NSL_RESULT);
  lua_setfield(L, -2, "result_meta"); /* its methods are written in Lua */
}
