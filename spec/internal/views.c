/*
** views.c
** For the specs alone: an object that owns numbers and can be closed, and the conversions as C sees them.
*/
#include "internal.h"

#include <string.h>

typedef struct Owner {
  NslHead head;
  uint64_t version;
  double data[64];
} Owner;

static const NslType owner_type = {.name = "internal.Owner"};

static Owner *self(lua_State *L) {
  return nsl_check(L, 1, &owner_type);
}

static int spec_views_owner(lua_State *L) {
  nsl_new(L, &owner_type, sizeof(Owner), 0);
  return 1;
}

/* Labels need static storage. */
static const char *label(lua_State *L, int idx) {
  static const char *const known[] = {"r", "x", "C", "A", NULL};
  return lua_isnoneornil(L, idx) ? NULL : known[luaL_checkoption(L, idx, NULL, known)];
}

/* owner:vector(n, label, readonly) */
static int owner_vector(lua_State *L) {
  Owner *o = self(L);
  lua_Integer n = luaL_checkinteger(L, 2);
  lua_settop(L, 4);
  luaL_argcheck(L, n >= 0 && n <= 64, 2, "0..64");
  NslVector *v = nsl_push_vector_view(L, 1, o->data, (int)n, 1, label(L, 3), &o->version);
  v->readonly = lua_toboolean(L, 4);
  return 1;
}

/* owner:matrix(rows, cols, label, readonly), leading dimension 8 */
static int owner_matrix(lua_State *L) {
  Owner *o = self(L);
  lua_Integer rows = luaL_checkinteger(L, 2), cols = luaL_checkinteger(L, 3);
  lua_settop(L, 5);
  luaL_argcheck(L, rows >= 0 && rows <= 8 && cols >= 0 && cols <= 8, 2, "0..8");
  NslMatrix *m = nsl_push_matrix_view(L, 1, o->data, (int)rows, (int)cols, 8, label(L, 4), &o->version);
  m->readonly = lua_toboolean(L, 5);
  return 1;
}

static int owner_version(lua_State *L) {
  return lua_pushinteger(L, (lua_Integer)self(L)->version), 1;
}

/* Closes the owner and invalidates its storage, so that a view that still reads it is noticed. */
static int owner_close(lua_State *L) {
  Owner *o = self(L);
  o->head.closed = true;
  memset(o->data, 0xff, sizeof o->data);
  return 0;
}

/* to_vector(x, n, who, what, finite) */
static int spec_views_to_vector(lua_State *L) {
  NslVector *(*convert)(lua_State *, int, int, const char *, const char *) = lua_toboolean(L, 5) ? nsl_to_finite_vector
                                                                                                 : nsl_to_vector;
  convert(L, 1, (int)luaL_checkinteger(L, 2), luaL_checkstring(L, 3), luaL_checkstring(L, 4));
  lua_settop(L, 1);
  return 1;
}

/* to_matrix(x, rows, cols, who, what, finite) */
static int spec_views_to_matrix(lua_State *L) {
  NslMatrix *(*convert)(lua_State *, int, int, int, const char *, const char *) = lua_toboolean(L, 6) ? nsl_to_finite_matrix
                                                                                                      : nsl_to_matrix;
  convert(L, 1, (int)luaL_checkinteger(L, 2), (int)luaL_checkinteger(L, 3), luaL_checkstring(L, 4), luaL_checkstring(L, 5));
  lua_settop(L, 1);
  return 1;
}

static int spec_views_describe(lua_State *L) {
  nsl_describe(L, 1);
  return 1;
}

static int spec_views_integer(lua_State *L) {
  return lua_pushinteger(L, nsl_integer(L, 1, "who", "what")), 1;
}

static int spec_views_finite(lua_State *L) {
  return lua_pushnumber(L, nsl_finite(L, 1, "who", "what")), 1;
}

static const luaL_Reg owner_meta[] = {{NULL, NULL}};

static const luaL_Reg owner_methods[] = {
    {"vector", owner_vector}, {"matrix", owner_matrix}, {"version", owner_version}, {"close", owner_close}, {NULL, NULL},
};

#define ROW(name)                                                                                                              \
  { #name, spec_views_##name }
static const luaL_Reg functions[] = {ROW(owner),   ROW(to_vector), ROW(to_matrix), ROW(describe),
                                     ROW(integer), ROW(finite),    {NULL, NULL}};

void nsl_internal_views(lua_State *L) {
  nsl_register_type(L, &owner_type, owner_meta, owner_methods);
  luaL_setfuncs(L, functions, 0);
}
