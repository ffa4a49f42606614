/*
** linear_systems.c
** Shared by the dense, sparse and banded solvers: right-hand sides, singular matrices, options.
*/
#include <float.h>
#include <string.h>

#include "base/text.h"
#include "bind/lua/host.h"
#include "bind/array/linear_systems.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"

bool nsl_is_matrix_like(lua_State *L, int idx) {
  if (nsl_test_matrix(L, idx)) return true;
  if (lua_type(L, idx) != LUA_TTABLE) return false;
  bool rows = lua_rawgeti(L, idx, 1) == LUA_TTABLE || nsl_test_vector(L, -1);
  lua_pop(L, 1);
  return rows;
}

double *nsl_push_rhs(lua_State *L, int idx, int n, const char *who, int *nrhs) {
  if (nsl_is_matrix_like(L, idx)) {
    NslMatrix *B = nsl_to_finite_matrix(L, idx, n, -1, who, "b");
    *nrhs = B->cols;
    return nsl_push_matrix_copy(L, B)->data;
  }
  *nrhs = 1;
  return nsl_push_vector_copy(L, nsl_to_finite_vector(L, idx, n, who, "b"))->data;
}

void nsl_count_memory(lua_State *L, size_t bytes) {
  NslHost *host = nsl_host(L);
  host->unseen += bytes;
  if (host->unseen < (size_t)64 << 20 || !lua_gc(L, LUA_GCISRUNNING)) return;
  host->unseen = 0;
  lua_gc(L, LUA_GCCOLLECT);
}

int nsl_raise_singular(lua_State *L, const char *who, const char *line, int index) {
  if (index < 0) return luaL_error(L, "%s: A is singular", who);
  return luaL_error(L, "%s: A is singular (%s %d)", who, line, index + 1);
}

void nsl_refuse_rcond(lua_State *L, const char *who, double rcond) {
  char text[32];
  if (rcond >= DBL_EPSILON) return;
  ns_print(text, sizeof text, "%.2g", rcond);
  luaL_error(L, "%s: A is singular to working precision (rcond %s)", who, text);
}

bool nsl_wants_rcond(lua_State *L, int idx, const char *who) {
  if (lua_isnoneornil(L, idx)) return false;
  if (!lua_istable(L, idx)) nsl_bad(L, who, "options", "a table", idx);
  lua_pushnil(L);
  while (lua_next(L, idx)) {
    lua_pop(L, 1);
    if (lua_type(L, -1) == LUA_TSTRING && strcmp(lua_tostring(L, -1), "rcond") == 0) continue;
    luaL_error(L, "%s: unknown option '%s' (known: rcond)", who, luaL_tolstring(L, -1, NULL));
  }
  lua_getfield(L, idx, "rcond");
  bool wanted = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return wanted;
}
