/*
** digest.c
** Hashes the contents of an object.
*/
#include "bind/diff/digest.h"

#include <string.h>

#include "bind/array/matrix.h"
#include "bind/array/vector.h"

/*
** Limits of what is hashed: DEPTH of nested tables; ELEMENTS of a table; NUMBERS of a vector (of a longer one, its count of
** changes); CHAIN: tables in a chain of __index.
*/
enum { DEPTH = 3, ELEMENTS = 1000, NUMBERS = 10000, CHAIN = 8 };

static uint64_t digest_mix(uint64_t h, uint64_t more) {
  h = (h ^ more) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ (h >> 29);
}

static uint64_t of_bytes(uint64_t h, const void *bytes, size_t n) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < n; i++) h = digest_mix(h, at[i]);
  return h;
}

static uint64_t of_numbers(uint64_t h, const double *x, ptrdiff_t n, ptrdiff_t step) {
  for (ptrdiff_t i = 0; i < n; i++) {
    uint64_t word;
    memcpy(&word, &x[i * step], sizeof word);
    h = digest_mix(h, word);
  }
  return h;
}

static uint64_t of_address(const void *object) {
  return digest_mix(5, (uint64_t)(uintptr_t)object);
}

/* Hashes the numbers of a vector or matrix; of a long one its count of changes. */
static bool of_array(lua_State *L, int idx, uint64_t *h) {
  const NslVector *v = nsl_test_vector(L, idx);
  const NslMatrix *m = nsl_test_matrix(L, idx);
  if (!v && !m) return false;
  const NslHead *head = v ? &v->head : &m->head;
  *h = of_address(head);
  if (nsl_is_closed(head)) return true;
  if ((v ? v->n : m->rows * m->cols) > NUMBERS) *h = digest_mix(*h, v ? *v->version : *m->version);
  else if (v) *h = of_numbers(*h, v->data, v->n, v->stride);
  else
    for (int j = 0; j < m->cols; j++) *h = of_numbers(*h, m->data + (ptrdiff_t)j * m->ld, m->rows, 1);
  return true;
}

static uint64_t of_value(lua_State *L, int idx, int depth);

/* Hashes the elements of a table in any order, without those that the engine keeps under the names of anchors. */
static uint64_t of_elements(lua_State *L, int idx, int depth) {
  uint64_t sum = 0;
  int left = ELEMENTS;
  for (lua_pushnil(L); lua_next(L, idx) && left > 0; lua_pop(L, 1), left--) {
    bool anchor = lua_type(L, -2) == LUA_TSTRING && strncmp(lua_tostring(L, -2), "anchor ", 7) == 0;
    if (!anchor) sum += digest_mix(of_value(L, lua_gettop(L) - 1, 0), of_value(L, lua_gettop(L), depth - 1));
  }
  if (left == 0) lua_pop(L, 2);
  return sum;
}

/* Hashes a table and what it inherits by a chain of __index tables, as classes do. */
static uint64_t of_table(lua_State *L, int idx, int depth) {
  int top = lua_gettop(L);
  uint64_t sum = 0;
  nsl_need_stack(L, 6 + 2 * CHAIN);
  lua_pushvalue(L, idx);
  for (int i = 0; i < CHAIN && lua_istable(L, -1); i++) {
    sum = digest_mix(sum, of_elements(L, lua_gettop(L), depth));
    if (lua_getmetatable(L, -1)) sum = digest_mix(sum, of_address(lua_topointer(L, -1))), lua_pop(L, 1);
    if (luaL_getmetafield(L, -1, "__index") == LUA_TNIL) break;
  }
  lua_settop(L, top);
  return sum;
}

static uint64_t of_value(lua_State *L, int idx, int depth) {
  uint64_t h;
  size_t length;
  if (lua_isinteger(L, idx)) return digest_mix(1, (uint64_t)lua_tointeger(L, idx));
  switch (lua_type(L, idx)) {
    case LUA_TNIL: return 2;
    case LUA_TBOOLEAN: return 3 + (uint64_t)lua_toboolean(L, idx);
    case LUA_TNUMBER: {
      double x = lua_tonumber(L, idx);
      return of_numbers(6, &x, 1, 1);
    }
    case LUA_TSTRING: {
      const char *text = lua_tolstring(L, idx, &length);
      return of_bytes(7, text, length);
    }
    case LUA_TTABLE: return depth > 0 ? of_table(L, idx, depth) : of_address(lua_topointer(L, idx));
    default: return of_array(L, idx, &h) ? h : of_address(lua_topointer(L, idx));
  }
}

uint64_t nsl_digest(lua_State *L, int idx) {
  int top = lua_gettop(L);
  const NslHead *head = nsl_head(L, idx);
  if (!head || !head->scripted) return of_value(L, idx, DEPTH);
  nsl_need_stack(L, 8);
  idx = lua_absindex(L, idx);
  lua_getiuservalue(L, idx, NSL_FIELDS);
  uint64_t h = of_value(L, top + 1, DEPTH);
  lua_getiuservalue(L, idx, NSL_CLASS);
  h = digest_mix(h, of_value(L, top + 2, 2));
  lua_settop(L, top);
  return h;
}

/* Hashes the upvalues of the function at idx. Functions among them are hashed by their address. */
static uint64_t of_upvalues(lua_State *L, int idx) {
  uint64_t sum = 0;
  const char *name;
  for (int i = 1; (name = lua_getupvalue(L, idx, i)) != NULL; i++, lua_pop(L, 1))
    if (strcmp(name, "_ENV") != 0) sum = digest_mix(sum, of_value(L, lua_gettop(L), 0));
  return sum;
}

uint64_t nsl_digest_list(lua_State *L, int idx) {
  uint64_t sum = 0;
  int top = lua_gettop(L), entry = top + 1;
  nsl_need_stack(L, 8);
  idx = lua_absindex(L, idx);
  for (lua_Integer i = 1; lua_rawgeti(L, idx, i) != LUA_TNIL; i++, lua_settop(L, top)) {
    if (lua_isfunction(L, entry)) {
      sum = digest_mix(sum, of_upvalues(L, entry));
      continue;
    }
    lua_rawgeti(L, entry, 1);
    bool whole = lua_rawgeti(L, entry, 2) == LUA_TNIL;
    if (!whole) lua_rawget(L, entry + 1);
    sum = digest_mix(sum, whole ? of_table(L, entry + 1, 1) : of_value(L, entry + 2, 0));
  }
  lua_settop(L, top);
  return sum;
}
