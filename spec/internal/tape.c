/*
** tape.c
** For the specs alone: tapes recorded operation by operation, and the compiler.
*/
#include "internal.h"

#include <string.h>

#include "ad/bytecode.h"
#include "ad/tape_source.h"
#include "base/memory.h"
#include "io/compiler.h"

static NsTapeOp find_op(lua_State *L, const char *name) {
  int op = 0;
  while (op < NS_TAPE_OPS && strcmp(ns_tape_operations[op].name, name) != 0) op++;
  if (op == NS_TAPE_OPS) luaL_error(L, "no operation '%s'", name);
  return (NsTapeOp)op;
}

/* Records the entry on top, {"MUL", a, b} or {number}; a and b are numbers of earlier entries (from 1, inputs first). */
static int spec_tape_record(lua_State *L, NsTape *tape, const int *node) {
  int at = lua_gettop(L), made;
  if (lua_rawgeti(L, at, 1) == LUA_TNUMBER) {
    made = ns_tape_constant(tape, lua_tonumber(L, -1));
  } else {
    NsTapeOp op = find_op(L, lua_tostring(L, -1));
    int b = ns_tape_operations[op].arity == 2 ? node[nsl_list_integer(L, at, 3) - 1] : 0;
    made = ns_tape_record(tape, op, node[nsl_list_integer(L, at, 2) - 1], b);
  }
  lua_settop(L, at - 1);
  if (made < 0) luaL_error(L, "not enough memory");
  return made;
}

typedef struct Box {
  NsTape *tape;
} Box;

static int box_gc(lua_State *L) {
  Box *box = lua_touserdata(L, 1);
  ns_tape_free(box->tape);
  box->tape = NULL;
  return 0;
}

/* Pushes the tape of (inputs, entries, outputs) at 1 to 3 in a userdata that frees it. */
static NsTape *push_tape(lua_State *L) {
  int inputs = (int)luaL_checkinteger(L, 1), entries = (int)lua_rawlen(L, 2), outputs = (int)lua_rawlen(L, 3);
  Box *box = lua_newuserdatauv(L, sizeof *box, 0);
  box->tape = NULL;
  lua_createtable(L, 0, 1);
  nsl_set_cfunction(L, "__gc", box_gc);
  lua_setmetatable(L, -2);
  int *node = lua_newuserdatauv(L, (size_t)(inputs + entries + 1) * sizeof *node, 0);
  if (ns_tape_new(&box->tape, inputs) != NS_OK) luaL_error(L, "not enough memory");
  for (int i = 0; i < inputs; i++) node[i] = i;
  for (int i = 0; i < entries; i++) {
    lua_rawgeti(L, 2, i + 1);
    node[inputs + i] = spec_tape_record(L, box->tape, node);
  }
  for (int i = 0; i < outputs; i++)
    if (ns_tape_output(box->tape, node[nsl_list_integer(L, 3, i + 1) - 1]) != NS_OK) luaL_error(L, "not enough memory");
  if (ns_tape_close(box->tape) != NS_OK) luaL_error(L, "not enough memory");
  lua_pop(L, 1);
  return box->tape;
}

/*
** tape(inputs, entries, outputs, x, direction, from, count): {value, jacobian, forward, reverse (nil: not finite), first,
** second, steps, constants, constant_slopes, allocations (while it was evaluated)}. Jacobians are those by the inputs
** from .. from + count - 1.
*/
static int tape(lua_State *L) {
  NsTape *t = push_tape(L);
  NsTapeView view = ns_tape_view(t);
  const double *x = nsl_check_vector(L, 4)->data, *direction = nsl_check_vector(L, 5)->data;
  int from = (int)luaL_checkinteger(L, 6) - 1, count = (int)luaL_checkinteger(L, 7);
  lua_newtable(L);
  int result = lua_gettop(L);
  NslVector *value = nsl_push_vector(L, view.outputs, NULL), *first = nsl_push_vector(L, view.outputs, NULL),
            *second = nsl_push_vector(L, view.outputs, NULL);
  NslMatrix *J[3];
  for (int k = 0; k < 3; k++) J[k] = nsl_push_matrix(L, view.outputs, count, NULL);
  long before = (long)ns_alloc_count();
  ns_tape_value(t, x, value->data);
  ns_tape_jacobian(t, x, from, count, J[0]->data);
  ns_tape_forward(t, x, from, count, J[1]->data);
  bool reversed = ns_tape_reverse(t, x, from, count, J[2]->data);
  int allocations = (int)((long)ns_alloc_count() - before);
  if (!reversed) lua_pop(L, 1), lua_pushnil(L);
  lua_setfield(L, result, "reverse");
  lua_setfield(L, result, "forward");
  lua_setfield(L, result, "jacobian");
  ns_tape_along(t, x, direction, first->data, second->data);
  lua_pushvalue(L, result); /* the vectors stay below it */
  nsl_internal_give(L, view.outputs, "value* first* second* allocations: steps: constants: constant_slopes?", value->data,
                    first->data, second->data, allocations, (int)view.steps, (int)view.constants,
                    ns_tape_constant_slopes(t, from, count));
  return 1;
}

/* tape_source(inputs, entries, outputs): the source and whether it has a Jacobian; or nil and the status's message. */
static int tape_source(lua_State *L) {
  char *source;
  bool jacobian;
  lua_settop(L, 3);
  NsStatus status = ns_tape_source(push_tape(L), &source, &jacobian);
  if (status != NS_OK) return nsl_nil(L, ns_status_message(status));
  lua_pushstring(L, source);
  ns_free(source);
  lua_pushboolean(L, jacobian);
  return 2;
}

/* tape_operations(): a list of the names of the operations, and the number of operands by name. */
static int tape_operations(lua_State *L) {
  lua_newtable(L);
  lua_newtable(L);
  for (int op = 0; op < NS_TAPE_OPS; op++) {
    lua_pushstring(L, ns_tape_operations[op].name);
    lua_rawseti(L, -3, op + 1);
    nsl_set_integer(L, ns_tape_operations[op].name, ns_tape_operations[op].arity);
  }
  return 2;
}

/*
** compiler_build(source, program or nil [, function, inputs, count]): builds the source. Returns the name of the compiler, and
** the vector of `count` numbers that the function of the source returns for the inputs. Raises on failure.
*/
static int compiler_build(lua_State *L) {
  NsLibrary *library;
  NsSymbol symbol;
  const char *used;
  NsError err = {NS_OK, ""};
  lua_settop(L, 5);
  NslVector *out = nsl_push_vector(L, (int)luaL_optinteger(L, 5, 0), NULL);
  NsStatus status = ns_compiler_build(&library, luaL_checkstring(L, 1), lua_tostring(L, 2), &used, &err);
  if (status == NS_OK && lua_isstring(L, 3)) {
    status = ns_library_symbol(library, lua_tostring(L, 3), &symbol, &err);
    if (status == NS_OK) ((NsTapeValue *)symbol)(nsl_check_vector(L, 4)->data, out->data);
  }
  ns_library_close(library);
  if (status != NS_OK) nsl_raise(L, &err);
  lua_pushstring(L, used);
  lua_insert(L, -2);
  return 2;
}

/* Pushes the vector of count numbers that the library's function returns for x. */
static void push_native(lua_State *L, const NsLibrary *library, const char *name, const double *x, int count) {
  NsSymbol symbol;
  NsError err = {NS_OK, ""};
  NslVector *out = nsl_push_vector(L, count, NULL);
  if (ns_library_symbol(library, name, &symbol, &err) != NS_OK) nsl_raise(L, &err);
  ((NsTapeValue *)symbol)(x, out->data);
}

/*
** tape_native(inputs, entries, outputs, xs, program): for each vector of the list xs a list of the values and, where the
** source has one, the Jacobian (a vector, by columns); and the source.
*/
static int tape_native(lua_State *L) {
  char *source;
  bool jacobian;
  NsLibrary *library;
  NsError err = {NS_OK, ""};
  lua_settop(L, 5);
  const NsTape *t = push_tape(L);
  NsTapeView view = ns_tape_view(t);
  NsStatus status = ns_tape_source(t, &source, &jacobian);
  if (status != NS_OK) return nsl_raise_status(L, status, "tape_native");
  lua_pushstring(L, source);
  ns_free(source);
  if (ns_compiler_build(&library, lua_tostring(L, -1), lua_tostring(L, 5), NULL, &err) != NS_OK) return nsl_raise(L, &err);
  lua_newtable(L);
  int results = lua_gettop(L);
  for (int i = 1; lua_rawgeti(L, 4, i) != LUA_TNIL; i++) {
    const double *x = nsl_check_vector(L, -1)->data;
    lua_newtable(L);
    push_native(L, library, "tape_value", x, view.outputs);
    lua_rawseti(L, -2, 1);
    if (jacobian) push_native(L, library, "tape_jacobian", x, view.outputs * view.inputs), lua_rawseti(L, -2, 2);
    lua_rawseti(L, results, i);
  }
  ns_library_close(library);
  lua_pushvalue(L, results);
  lua_pushvalue(L, results - 1);
  return 2;
}

/* bytecode(dump [, first [, most]]) -> { copy, lines, numbers, texts } of the instructions, or the name of a status. */
static int bytecode(lua_State *L) {
  size_t size, length;
  const char *dump = luaL_checklstring(L, 1, &size);
  NsBytecode code = {(int)luaL_optinteger(L, 2, 1), 0, ns_bytecode_most(size), (int)luaL_optinteger(L, 3, 10000), NULL};
  code.at = lua_newuserdatauv(L, (size_t)code.room * sizeof *code.at + 1, 0);
  unsigned char *to = lua_newuserdatauv(L, ns_bytecode_space(size), 0);
  NsStatus status = ns_bytecode_copy(&code, (const unsigned char *)dump, size, to, &length);
  if (status != NS_OK) return lua_pushstring(L, ns_status_name(status)), 1;
  lua_newtable(L);
  lua_pushlstring(L, (const char *)to, length), lua_setfield(L, -2, "copy");
  const char *const lists[] = {"lines", "numbers", "texts"};
  for (int k = 0; k < 3; k++) {
    lua_newtable(L);
    for (int i = 0; i < code.count; i++) {
      const NsInstruction *at = &code.at[i];
      if (k == 0) lua_pushinteger(L, at->line);
      else if (k == 1 && at->number == at->number) lua_pushnumber(L, at->number);
      else if (k == 2 && at->text) lua_pushlstring(L, at->text, at->length);
      else continue;
      lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
    }
    lua_setfield(L, -2, lists[k]);
  }
  return 1;
}

void nsl_internal_tape(lua_State *L) {
  static const luaL_Reg functions[] = {{"tape", tape},
                                       {"tape_source", tape_source},
                                       {"tape_native", tape_native},
                                       {"tape_operations", tape_operations},
                                       {"bytecode", bytecode},
                                       {"compiler_build", compiler_build},
                                       {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
