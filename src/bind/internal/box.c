/*
** box.c
** Plain-table bindings of engine functions that scripts have no use for.
*/
#include "bind/internal/internal.h"

#include <math.h>

#include "base/memory.h"
#include "bind/numerics/answer.h"
#include "solvers/box/box_solver.h"
#include "solvers/chain.h"

/* A box problem read from Lua, in the arena of its call. */
typedef struct BoxParts {
  NsBox *box;
  double *M, *q, *lower, *upper, *guess, *z, *w;
  int n;
} BoxParts;

static void spec_box_free(void *box) {
  ns_box_free(box);
}

/* Reads the n numbers of the table on top of the stack, which is popped, into `to` with this stride. */
static void spec_box_read_numbers(lua_State *L, const char *what, int n, int stride, double *to) {
  if (!lua_istable(L, -1) || (int)lua_rawlen(L, -1) != n)
    luaL_error(L, "box: %s: expected a table of %d numbers, got %s", what, n, nsl_describe(L, -1));
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, -1, i + 1);
    if (lua_type(L, -1) != LUA_TNUMBER)
      luaL_error(L, "box: %s[%d]: expected a number, got %s", what, i + 1, nsl_describe(L, -1));
    to[(size_t)i * (size_t)stride] = lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

static void spec_box_read_matrix(lua_State *L, BoxParts *call) {
  lua_getfield(L, 1, "M");
  if (!lua_istable(L, -1) || (int)lua_rawlen(L, -1) != call->n)
    luaL_error(L, "box: M: expected a table of %d rows, got %s", call->n, nsl_describe(L, -1));
  for (int i = 0; i < call->n; i++) {
    lua_rawgeti(L, -1, i + 1);
    spec_box_read_numbers(L, "M", call->n, call->n, call->M + i);
  }
  lua_pop(L, 1);
}

/* Fills a vector from the field, or with the default when the field is absent. */
static bool read_field(lua_State *L, const char *name, int n, double missing, double *to) {
  if (lua_getfield(L, 1, name) != LUA_TNIL) return spec_box_read_numbers(L, name, n, 1, to), true;
  lua_pop(L, 1);
  for (int i = 0; i < n; i++) to[i] = missing;
  return false;
}

static BoxParts *spec_box_new_call(lua_State *L) {
  NslCall *own = nsl_new_call(L, "box", 0);
  BoxParts *call = nsl_call_take(L, own, 1, sizeof *call);
  lua_getfield(L, 1, "q");
  int n = call->n = (int)lua_rawlen(L, -1);
  lua_pop(L, 1);
  double **vectors[] = {&call->q, &call->lower, &call->upper, &call->guess, &call->z, &call->w};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = nsl_call_numbers(L, own, n);
  call->M = nsl_call_take(L, own, (size_t)n * (size_t)n, sizeof *call->M);
  if (ns_box_new(&call->box, n) != NS_OK) luaL_error(L, "not enough memory");
  nsl_call_owns(own, call->box, spec_box_free);
  return call;
}

static void spec_box_read_options(lua_State *L, NsBoxOptions *options) {
  const char *asked;
  lua_getfield(L, 1, "method");
  options->method = nsl_method_named(ns_box_methods, NS_TAKES_DENSE, luaL_optstring(L, -1, "default"), &asked);
  if (!asked) luaL_error(L, "box: there is no method '%s'", lua_tostring(L, -1));
  lua_getfield(L, 1, "tolerance");
  options->tolerance = luaL_optnumber(L, -1, options->tolerance);
  lua_getfield(L, 1, "max_iterations");
  options->max_iterations = (int)luaL_optinteger(L, -1, 0);
  lua_pop(L, 3);
}

static void spec_box_push_numbers(lua_State *L, const double *x, int n, const char *name) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) {
    lua_pushnumber(L, x[i]);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, name);
}

static void spec_box_push_info(lua_State *L, const NsSolverInfo *info) {
  lua_pushstring(L, ns_status_name(info->status)), lua_setfield(L, -2, "status");
  lua_pushstring(L, ns_status_message(info->status)), lua_setfield(L, -2, "message");
  lua_pushinteger(L, info->iterations), lua_setfield(L, -2, "iterations");
  lua_pushnumber(L, info->residual), lua_setfield(L, -2, "residual");
  lua_pushnumber(L, info->relative), lua_setfield(L, -2, "relative");
  lua_pushnumber(L, info->backward), lua_setfield(L, -2, "backward");
  lua_pushstring(L, info->solver), lua_setfield(L, -2, "solver");
  lua_pushboolean(L, info->warm), lua_setfield(L, -2, "warm");
}

static int spec_box_box(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  BoxParts *call = spec_box_new_call(L);
  int n = call->n;
  spec_box_read_matrix(L, call);
  read_field(L, "q", n, 0, call->q);
  read_field(L, "lower", n, 0, call->lower);
  read_field(L, "upper", n, INFINITY, call->upper);
  bool guessed = read_field(L, "guess", n, 0, call->guess);
  spec_box_read_options(L, ns_box_options(call->box));
  lua_getfield(L, 1, "repeats");
  lua_Integer repeats = luaL_optinteger(L, -1, 1);
  NsBoxProblem problem = {n, call->M, n > 0 ? n : 1, call->q, call->lower, call->upper, 0};
  NsSolverInfo info = {0};
  for (int i = 0; i < n; i++) call->z[i] = call->w[i] = NAN;
  uint64_t allocations = ns_alloc_count();
  double start = ns_search_now();
  for (lua_Integer k = 0; k < repeats; k++)
    ns_box_solve(call->box, &problem, guessed ? call->guess : NULL, call->z, call->w, &info);
  double seconds = (ns_search_now() - start) / (double)repeats;
  allocations = ns_alloc_count() - allocations;
  lua_newtable(L);
  spec_box_push_numbers(L, call->z, n, "z");
  spec_box_push_numbers(L, call->w, n, "w");
  spec_box_push_info(L, &info);
  lua_pushinteger(L, ns_box_solutions(call->box)), lua_setfield(L, -2, "solutions");
  lua_pushinteger(L, (lua_Integer)allocations), lua_setfield(L, -2, "allocations");
  lua_pushnumber(L, seconds), lua_setfield(L, -2, "seconds");
  return 1;
}

void nsl_internal_box(lua_State *L) {
  static const luaL_Reg functions[] = {{"box", spec_box_box}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
