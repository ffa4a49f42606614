/*
** trace.c
** Traced numbers: arithmetic that is recorded, and errors for what cannot be.
*/
#include "bind/diff/trace.h"

#include <string.h>

#include "bind/array/matrix.h"
#include "bind/array/vector.h"

const NslType nsl_traced_type = {.name = "traced value"};

static const char room_key = 0;

static void *trace_test(lua_State *L, int idx, const NslType *type, size_t least) {
  NslHead *head = lua_touserdata(L, idx);
  if (!head || lua_type(L, idx) != LUA_TUSERDATA || lua_rawlen(L, idx) < least) return NULL;
  return head->magic == NSL_MAGIC && head->type == type ? head : NULL;
}

NslTraced *nsl_test_traced(lua_State *L, int idx) {
  return trace_test(L, idx, &nsl_traced_type, sizeof(NslTraced));
}

NslTracedVector *nsl_test_traced_vector(lua_State *L, int idx) {
  return trace_test(L, idx, &nsl_traced_vector_type, sizeof(NslTracedVector));
}

NslTracedMatrix *nsl_test_traced_matrix(lua_State *L, int idx) {
  return trace_test(L, idx, &nsl_traced_matrix_type, sizeof(NslTracedMatrix));
}

/* ---- numbers ---- */

void nsl_push_traced(lua_State *L, int base, int node) {
  const NslTracer *tracer = lua_touserdata(L, base);
  NslTraced *x = lua_newuserdatauv(L, sizeof *x, 0);
  *x = (NslTraced){{.magic = NSL_MAGIC, .type = &nsl_traced_type}, tracer->tag, node};
  lua_pushvalue(L, base > 0 ? base + 1 : lua_upvalueindex(NSL_TRACED_META));
  lua_setmetatable(L, -2);
}

int nsl_constant_node(lua_State *L, NslTracer *tracer, double value) {
  int node = ns_tape_constant(tracer->tape, value);
  if (node < 0) luaL_error(L, "not enough memory");
  return node;
}

int nsl_untraceable(lua_State *L, const char *what) {
  lua_Debug ar;
  int level = 1;
  while (lua_getstack(L, level, &ar) && lua_getinfo(L, "l", &ar) && ar.currentline < 0) level++;
  luaL_where(L, level);
  lua_pushfstring(L, "compile: %s a traced value: what a compiled callback does must not depend on the values", what);
  lua_concat(L, 2);
  return lua_error(L);
}

int nsl_traced_node(lua_State *L, int idx) {
  NslTracer *tracer = lua_touserdata(L, lua_upvalueindex(NSL_TRACER));
  const NslTraced *x = nsl_test_traced(L, idx);
  if (!tracer->tape || (x && x->tag != tracer->tag))
    luaL_error(L, "compile: a traced value is used after its trace (the callback keeps it from one call to the next)");
  if (x) return x->node;
  return lua_type(L, idx) == LUA_TNUMBER ? nsl_constant_node(L, tracer, lua_tonumber(L, idx)) : -1;
}

int nsl_record(lua_State *L, NsTapeOp op, int a, int b) {
  NslTracer *tracer = lua_touserdata(L, lua_upvalueindex(NSL_TRACER));
  int node = ns_tape_record(tracer->tape, op, a, b);
  if (node < 0) return luaL_error(L, "not enough memory");
  nsl_push_traced(L, lua_upvalueindex(NSL_TRACER), node);
  return 1;
}

/* ---- what cannot be traced ---- */

static int trace_meta_lt(lua_State *L) {
  return nsl_untraceable(L, "a branch (<) on");
}

static int trace_meta_le(lua_State *L) {
  return nsl_untraceable(L, "a branch (<=) on");
}

static int trace_meta_eq(lua_State *L) {
  return nsl_untraceable(L, "a branch (==) on");
}

static int trace_meta_tostring(lua_State *L) {
  return nsl_untraceable(L, "the text of");
}

static int trace_meta_index(lua_State *L) {
  return nsl_untraceable(L, "an index into");
}

static int trace_meta_call(lua_State *L) {
  return nsl_untraceable(L, "a call of");
}

static int trace_meta_len(lua_State *L) {
  return nsl_untraceable(L, "the length of");
}

static int meta_bits(lua_State *L) {
  return nsl_untraceable(L, "a bitwise operation on");
}

static const luaL_Reg number_meta[] = {
    {"__lt", trace_meta_lt},       {"__le", trace_meta_le},
    {"__eq", trace_meta_eq},       {"__tostring", trace_meta_tostring},
    {"__index", trace_meta_index}, {"__newindex", trace_meta_index},
    {"__call", trace_meta_call},   {"__concat", trace_meta_tostring},
    {"__len", trace_meta_len},     {"__band", meta_bits},
    {"__bor", meta_bits},          {"__bxor", meta_bits},
    {"__shl", meta_bits},          {"__shr", meta_bits},
    {"__bnot", meta_bits},         {NULL, NULL},
};

/* ---- opening ---- */

static void set_functions(lua_State *L, int base, int meta, const luaL_Reg *functions) {
  lua_pushvalue(L, meta);
  for (int i = 0; i < NSL_TRACE_UPVALUES; i++) lua_pushvalue(L, base + i);
  luaL_setfuncs(L, functions, NSL_TRACE_UPVALUES);
  lua_pop(L, 1);
}

/* Pushes the tracer and the metatables, new. */
static void trace_make(lua_State *L) {
  int base = lua_gettop(L) + 1;
  memset(lua_newuserdatauv(L, sizeof(NslTracer), 0), 0, sizeof(NslTracer));
  const NslType *types[] = {&nsl_traced_type, &nsl_traced_vector_type, &nsl_traced_matrix_type};
  for (int i = 0; i < 3; i++) {
    nsl_register_type(L, types[i], NULL, NULL);
    luaL_getmetatable(L, types[i]->name);
  }
  set_functions(L, base, base + 1, nsl_traced_arithmetic);
  set_functions(L, base, base + 1, number_meta);
  nsl_traced_vector_register(L);
}

NslTracer *nsl_push_tracer(lua_State *L) {
  nsl_need_stack(L, 12);
  int base = lua_gettop(L) + 1;
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &room_key) == LUA_TNIL) {
    lua_pop(L, 1);
    trace_make(L);
    lua_createtable(L, NSL_TRACE_UPVALUES, 0);
    for (int i = 0; i < NSL_TRACE_UPVALUES; i++) {
      lua_pushvalue(L, base + i);
      lua_rawseti(L, -2, i + 1);
    }
    lua_rawsetp(L, LUA_REGISTRYINDEX, &room_key);
  } else {
    for (int i = 1; i <= NSL_TRACE_UPVALUES; i++) lua_rawgeti(L, base, i);
    lua_remove(L, base);
  }
  return lua_touserdata(L, base);
}
