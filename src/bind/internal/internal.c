/*
** internal.c
** The module nslua.internal, and what its files share: arguments read from tables.
*/
#include "bind/internal/internal.h"

#include "base/memory.h"
#include "bind/lua/open.h"

void nsl_set_list(lua_State *L, const char *name, int n, const double *x) {
  nsl_push_list(L, n, x, 1);
  lua_setfield(L, -2, name);
}

void nsl_push_integers(lua_State *L, int n, const int *x) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) lua_pushinteger(L, x[i]), lua_rawseti(L, -2, i + 1);
}

void nsl_set_integers(lua_State *L, const char *name, int n, const int *x) {
  nsl_push_integers(L, n, x);
  lua_setfield(L, -2, name);
}

void nsl_set_texts(lua_State *L, const char *name, const char *const *texts) {
  lua_newtable(L);
  for (int i = 0; texts && texts[i]; i++) lua_pushstring(L, texts[i]), lua_rawseti(L, -2, i + 1);
  lua_setfield(L, -2, name);
}

double nsl_list_number(lua_State *L, int idx, lua_Integer i) {
  lua_rawgeti(L, idx, i);
  double x = luaL_checknumber(L, -1);
  lua_pop(L, 1);
  return x;
}

int nsl_list_integer(lua_State *L, int idx, lua_Integer i) {
  lua_rawgeti(L, idx, i);
  int x = (int)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return x;
}

bool nsl_field_flag(lua_State *L, int idx, const char *name) {
  lua_getfield(L, idx, name);
  bool value = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return value;
}

double *nsl_internal_room(lua_State *L, int n) {
  return nsl_push_vector(L, n, NULL)->data;
}

double *nsl_internal_vector(lua_State *L, int idx, const char *name, int n, double missing) {
  idx = lua_absindex(L, idx);
  double *to = nsl_internal_room(L, n);
  if (lua_getfield(L, idx, name) == LUA_TNIL)
    for (int i = 0; i < n; i++) to[i] = missing;
  else nsl_vector_read(nsl_to_vector(L, -1, n, "internal", name), to);
  return to;
}

int *nsl_internal_integers(lua_State *L, int idx, const char *name, int n) {
  lua_getfield(L, idx, name);
  int list = lua_gettop(L), *to = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *to, 0);
  for (int i = 0; i < n; i++) to[i] = (int)nsl_list_number(L, list, i + 1);
  return to;
}

NslMatrix *nsl_internal_matrix(lua_State *L, int idx, const char *name) {
  lua_getfield(L, idx, name);
  return nsl_push_matrix_copy(L, nsl_to_matrix(L, -1, -1, -1, "internal", name));
}

NslMatrix *nsl_internal_square(lua_State *L, int idx, const char *name) {
  NslMatrix *M = nsl_internal_matrix(L, idx, name);
  if (M->cols != M->rows) luaL_error(L, "%s is not square", name);
  return M;
}

double *nsl_internal_list(lua_State *L, int idx, int n) {
  double *to = nsl_internal_room(L, n);
  for (int i = 0; i < n && !lua_isnil(L, idx); i++) to[i] = nsl_list_number(L, idx, i + 1);
  return to;
}

void nsl_internal_check(lua_State *L, NsStatus status) {
  if (status) luaL_error(L, "%s", ns_status_name(status));
}

/* alloc_count(): the engine's allocations so far in this process. */
static int alloc_count(lua_State *L) {
  return lua_pushinteger(L, (lua_Integer)ns_alloc_count()), 1;
}

static int open_module(lua_State *L) {
  lua_newtable(L);
  nsl_set_cfunction(L, "alloc_count", alloc_count);
#define X(file) nsl_internal_##file(L);
  NSL_INTERNAL_LIST(X)
#undef X
  return 1;
}

void nsl_open_internal(lua_State *L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
  nsl_set_cfunction(L, "nslua.internal", open_module);
  lua_pop(L, 1);
}
