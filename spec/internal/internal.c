/*
** internal.c
** The module nslua.internal, and what its files share: arguments read from tables.
*/
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/text.h"

void nsl_push_integers(lua_State *L, int n, const int *x) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) lua_pushinteger(L, x[i]), lua_rawseti(L, -2, i + 1);
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

double *nsl_internal_room(lua_State *L, int n) {
  return nsl_push_vector(L, n, NULL)->data;
}

/* The next of the words in *names: its name, its kind, its default. False: there is none. */
static bool next_name(const char **names, char name[32], char *kind, double *missing) {
  int length = 0, used = 0;
  if (sscanf(*names, " %31[a-zA-Z_0-9]%c%n", name, kind, &length) < 2) return false;
  *names += length;
  *missing = 0;
  if (**names != '=') return true;
  char text[16];
  (void)sscanf(*names, "=%15s%n", text, &used);
  *names += used;
  *missing = ns_read_double(text, NULL);
  return true;
}

/* Pushes n integers of the list on top. */
static int *push_internal_integers(lua_State *L, int n) {
  int list = lua_gettop(L), *to = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *to, 0);
  for (int i = 0; i < n; i++) to[i] = (int)nsl_list_number(L, list, i + 1);
  return to;
}

static double *push_internal_vector(lua_State *L, int n, const char *name, double missing) {
  int given = lua_gettop(L);
  double *to = nsl_internal_room(L, n);
  for (int i = 0; i < n; i++) to[i] = missing;
  if (!lua_isnil(L, given)) nsl_vector_read(nsl_to_vector(L, given, n, "internal", name), to);
  return to;
}

void nsl_internal_take(lua_State *L, int idx, int *n, const char *names, ...) {
  char name[32], kind;
  double missing;
  va_list to;
  luaL_checktype(L, idx, LUA_TTABLE);
  idx = lua_absindex(L, idx);
  luaL_checkstack(L, 60, NULL);
  va_start(to, names);
  while (next_name(&names, name, &kind, &missing)) {
    lua_getfield(L, idx, name);
    NslMatrix *M = kind == '#' || kind == '@' ? nsl_push_matrix_copy(L, nsl_to_matrix(L, -1, -1, -1, "internal", name)) : NULL;
    if (kind == '@') *va_arg(to, NslMatrix **) = M;
    else if (kind == '#') *va_arg(to, double **) = M->data, *n = M->rows;
    else if (kind == '*') *va_arg(to, double **) = push_internal_vector(L, *n, name, missing);
    else if (kind == '%') *va_arg(to, int **) = push_internal_integers(L, *n);
    else if (kind == '.') *va_arg(to, double *) = luaL_optnumber(L, -1, missing);
    else if (kind == ':') *va_arg(to, int *) = (int)luaL_optnumber(L, -1, missing);
    else *va_arg(to, bool *) = lua_toboolean(L, -1);
    if (kind == '#' && M->cols != M->rows) luaL_error(L, "%s is not square", name);
  }
  va_end(to);
}

void nsl_internal_give(lua_State *L, int n, const char *names, ...) {
  char name[32], kind;
  double missing;
  va_list from;
  va_start(from, names);
  while (next_name(&names, name, &kind, &missing)) {
    if (kind == '*') nsl_vector_write(nsl_push_vector(L, n, NULL), va_arg(from, const double *));
    else if (kind == '#') nsl_matrix_write(nsl_push_matrix(L, n, n, NULL), va_arg(from, const double *));
    else if (kind == '~') nsl_push_list(L, n, va_arg(from, const double *), 1);
    else if (kind == '%') nsl_push_integers(L, n, va_arg(from, const int *));
    else if (kind == '.') lua_pushnumber(L, va_arg(from, double));
    else if (kind == ':') lua_pushinteger(L, va_arg(from, int));
    else if (kind == '?') lua_pushboolean(L, va_arg(from, int));
    else if (kind == '!') lua_pushstring(L, ns_status_name((NsStatus)va_arg(from, int)));
    else lua_pushstring(L, va_arg(from, const char *));
    lua_setfield(L, -2, name);
  }
  va_end(from);
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

NSL_EXPORT int luaopen_nslua_internal(lua_State *L) {
  lua_newtable(L);
  nsl_set_cfunction(L, "alloc_count", alloc_count);
#define X(file) nsl_internal_##file(L);
  NSL_INTERNAL_LIST(X)
#undef X
  return 1;
}
