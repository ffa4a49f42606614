/*
** tape_watch.c
** Copies of functions whose lines number their instructions, and the hook that looks at these.
*/
#include "bind/diff/tape_special.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* FIRST_LINE: no source has as many lines. LINES: of one watch; a function that a trace has left somewhere does not belong to the next one. */
enum { FIRST_LINE = 1 << 24, LINES = 1 << 18 };

static const char line_key = 0;

/* ---- copies ---- */

/* A place for a dump; at NULL: only its size is wanted. */
typedef struct Dump {
  unsigned char *at;
  size_t size;
} Dump;

static int watch_take_dump(lua_State *L, const void *bytes, size_t n, void *data) {
  Dump *dump = data;
  (void)L;
  if (dump->at && n > 0) memcpy(dump->at + dump->size, bytes, n);
  dump->size += n;
  return 0;
}

/* Makes space for the instructions of a dump; the table at `keep` keeps the memory alive. */
static void watch_grow(lua_State *L, NsBytecode *code, int keep, size_t size) {
  int more = ns_bytecode_most(size);
  if (code->room - code->count >= more) return;
  code->room = 2 * code->room + more;
  NsInstruction *at = lua_newuserdatauv(L, (size_t)code->room * sizeof *at, 0);
  if (code->count > 0) memcpy(at, code->at, (size_t)code->count * sizeof *at);
  code->at = at;
  lua_rawseti(L, keep, 0);
}

/*
** Pushes a copy of the function at idx with numbered lines, with no variables of its own yet (upvalues); false, and nothing is pushed, when its
** bytecode has another format. keep: the index of a table that holds the memory.
*/
static bool push_copy(lua_State *L, NsBytecode *code, int keep, int idx) {
  Dump dump = {NULL, 0};
  size_t length;
  lua_pushvalue(L, idx);
  (void)lua_dump(L, watch_take_dump, &dump, 0);
  size_t size = dump.size;
  dump = (Dump){lua_newuserdatauv(L, size + ns_bytecode_space(size), 0), 0};
  lua_rawseti(L, keep, (lua_Integer)lua_rawlen(L, keep) + 1);
  (void)lua_dump(L, watch_take_dump, &dump, 0);
  watch_grow(L, code, keep, size);
  lua_pop(L, 1);
  NsStatus status = ns_bytecode_copy(code, dump.at, size, dump.at + size, &length);
  if (status == NS_ETOOLARGE)
    luaL_error(L, "compile: the callback and the functions that it calls have more than %d instructions", code->most);
  if (status == NS_OK && luaL_loadbufferx(L, (const char *)dump.at + size, length, "=", "b") == LUA_OK) return true;
  if (status == NS_OK) lua_pop(L, 1);
  return false;
}

/* Pushes the copy of the function at idx; false, and nothing is pushed, when there is none. */
static bool push_numbered(lua_State *L, NslWatch *w, int watch, int idx) {
  lua_getiuservalue(L, watch, NSL_WATCH_DUMPS);
  bool good = push_copy(L, &w->code, lua_gettop(L), idx);
  lua_remove(L, good ? -2 : -1);
  return good;
}

/* Appends upvalue i of the function at idx, whose value is on top, to the variables, if it is a plain value; pops the value. */
static void add_variable(lua_State *L, int watch, int idx, int i) {
  int type = lua_type(L, -1), value = lua_gettop(L);
  if (type == LUA_TNUMBER || type == LUA_TBOOLEAN || type == LUA_TSTRING || type == LUA_TNIL) {
    lua_getiuservalue(L, watch, NSL_WATCH_VARIABLES);
    lua_Integer n = luaL_len(L, -1);
    lua_createtable(L, 3, 0);
    lua_pushvalue(L, idx), lua_rawseti(L, -2, 1);
    lua_pushinteger(L, i), lua_rawseti(L, -2, 2);
    lua_pushvalue(L, value), lua_rawseti(L, -2, 3);
    lua_rawseti(L, -2, n + 1);
  }
  lua_settop(L, value - 1);
}

/* Lets the copy on top share the variables of the function at idx, and remembers these. */
static void watch_join(lua_State *L, int watch, int idx) {
  int copy = lua_gettop(L);
  lua_getiuservalue(L, watch, NSL_WATCH_OUTSIDE);
  for (int i = 1; lua_getupvalue(L, idx, i); i++) {
    lua_upvaluejoin(L, copy, i, idx, i);
    bool known = lua_rawgetp(L, copy + 1, lua_upvalueid(L, idx, i)) != LUA_TNIL;
    lua_pop(L, 1);
    if (known) {
      lua_pop(L, 1);
      continue;
    }
    add_variable(L, watch, idx, i);
    lua_pushboolean(L, 1);
    lua_rawsetp(L, copy + 1, lua_upvalueid(L, idx, i));
  }
  lua_settop(L, copy);
}

/* Whether the Lua function at idx is a copy, or was made by one. */
static bool is_copy(lua_State *L, int idx, const NslWatch *w) {
  lua_Debug ar;
  lua_pushvalue(L, idx);
  lua_getinfo(L, ">S", &ar);
  return ar.linedefined >= w->code.first - 1 && ar.linedefined < w->code.first + w->code.count;
}

void nsl_watch_function(lua_State *L) {
  int function = lua_gettop(L), watch = function + 1;
  if (!lua_isfunction(L, function) || lua_iscfunction(L, function)) return;
  nsl_need_stack(L, 16);
  NslWatch *w = nsl_watch_push(L);
  if (w && !is_copy(L, function, w)) {
    lua_getiuservalue(L, watch, NSL_WATCH_COPIES);
    lua_pushvalue(L, function);
    if (lua_rawget(L, watch + 1) == LUA_TNIL && push_numbered(L, w, watch, function)) {
      watch_join(L, watch, function);
      lua_pushvalue(L, function);
      lua_pushvalue(L, -2);
      lua_rawset(L, watch + 1);
    }
    if (!lua_isnil(L, -1)) lua_replace(L, function);
  }
  lua_settop(L, function);
}

/* ---- numbers ---- */

/* The node of the number in a register; -1: it holds no traced number of this trace. */
static int register_node(lua_State *L, const NslWatch *w, lua_Debug *ar, unsigned reg) {
  if (!lua_getlocal(L, ar, (int)reg + 1)) return -1;
  int node = nsl_watch_node(L, w, -1);
  lua_pop(L, 1);
  return node;
}

/* Stores the value on top in a register, for one instruction: the old value comes back at one of the two next ones. */
static void watch_lend(lua_State *L, NslWatch *w, lua_Debug *ar, unsigned reg, int next, int other) {
  if (w->pending == NSL_PENDING) luaL_error(L, "compile: metamethods are nested too deep");
  w->waits[w->pending++] = (NslPending){ar->i_ci, (int)reg + 1, {next, other}};
  nsl_watch_push(L);
  lua_getiuservalue(L, -1, NSL_WATCH_SAVED);
  lua_getlocal(L, ar, (int)reg + 1);
  lua_rawseti(L, -2, w->pending);
  lua_pop(L, 2);
  lua_setlocal(L, ar, (int)reg + 1);
}

/* Gives the registers of this frame their values back. What waits for another instruction of it was left by an error. */
static void watch_return(lua_State *L, NslWatch *w, lua_Debug *ar, int at) {
  int top = lua_gettop(L), left = 0, count = w->pending;
  nsl_watch_push(L);
  lua_getiuservalue(L, -1, NSL_WATCH_SAVED);
  for (int k = 0; k < count; k++) {
    NslPending p = w->waits[k];
    lua_rawgeti(L, top + 2, k + 1);
    if (p.frame != ar->i_ci) {
      w->waits[left++] = p;
      lua_rawseti(L, top + 2, left);
    } else if (at == p.next[0] || at == p.next[1]) {
      lua_setlocal(L, ar, p.reg);
    }
    lua_settop(L, top + 2);
  }
  w->pending = left;
  lua_settop(L, top);
}

/* ---- instructions ---- */

/* x == y, of which one is a traced number, both with plain numbers. */
static void watch_equal(lua_State *L, NslWatch *w, lua_Debug *ar, int at) {
  const NsInstruction *i = &w->code.at[at];
  bool two = ns_opcode(i->code) == NS_OP_EQ;
  unsigned reg[] = {ns_operand_a(i->code), ns_operand_b(i->code)};
  int node[] = {register_node(L, w, ar, reg[0]), two ? register_node(L, w, ar, reg[1]) : -1}, of[] = {node[0], node[1]};
  if (node[0] < 0 && node[1] < 0) return;
  for (int k = 0; k < 1 + two; k++) {
    if (node[k] >= 0 || !lua_getlocal(L, ar, (int)reg[k] + 1)) continue;
    if (lua_type(L, -1) == LUA_TNUMBER) of[k] = nsl_constant_node(L, w->tracer, lua_tonumber(L, -1));
    lua_pop(L, 1);
  }
  if (!two && !isnan(i->number)) of[1] = nsl_constant_node(L, w->tracer, i->number);
  if (of[0] < 0 || of[1] < 0) return; /* a number is not a string */
  nsl_guard(L, w->tracer, nsl_watch_record(L, w, NS_TAPE_EQUAL, of[0], of[1]));
  int jump = at + 2 + ns_jump_of(w->code.at[at + 1].code);
  for (int k = 0; k < 1 + two; k++) {
    if (node[k] < 0 || (k == 1 && reg[0] == reg[1])) continue;
    lua_pushnumber(L, ns_tape_node(w->tracer->tape, node[k]).value);
    watch_lend(L, w, ar, reg[k], at + 2, jump);
  }
}

/* A key of a table in a register, which may be where the element goes. */
static void watch_key(lua_State *L, NslWatch *w, lua_Debug *ar, int at, unsigned reg, bool target) {
  int node = register_node(L, w, ar, reg);
  if (node < 0) return;
  nsl_freeze(L, w->tracer, node);
  if (target) lua_setlocal(L, ar, (int)reg + 1);
  else watch_lend(L, w, ar, reg, at + 1, at + 1);
}

/* The first value, the limit and the step of a loop. The limit is rounded to integers, as Lua does it. */
static void watch_loop(lua_State *L, NslWatch *w, lua_Debug *ar, unsigned reg) {
  NsTape *tape = w->tracer->tape;
  for (unsigned k = 0; k <= 2; k += 2) {
    int node = register_node(L, w, ar, reg + k);
    if (node < 0) continue;
    if (!ns_tape_node(tape, node).flat) {
      lua_pushfstring(L, "compile: the %s of a loop is a traced value: it must be an integer, as math.floor makes it",
                      k ? "step" : "first value");
      nsl_watch_refuse(L);
    }
    nsl_freeze(L, w->tracer, node);
    lua_setlocal(L, ar, (int)(reg + k) + 1);
  }
  int limit = register_node(L, w, ar, reg + 1), top = lua_gettop(L);
  if (limit < 0) return;
  lua_getlocal(L, ar, (int)reg + 1);
  lua_getlocal(L, ar, (int)reg + 3);
  if (!lua_isinteger(L, -1) || !lua_isinteger(L, -2)) {
    lua_pushliteral(L, "compile: the limit of a loop is a traced value: its first value and its step must be integers");
    nsl_watch_refuse(L);
  }
  int rounded = nsl_watch_record(L, w, lua_tointeger(L, -1) > 0 ? NS_TAPE_FLOOR : NS_TAPE_CEIL, limit, limit);
  lua_settop(L, top);
  nsl_guard(L, w->tracer, rounded);
  lua_pushnumber(L, ns_tape_node(tape, limit).value);
  lua_setlocal(L, ar, (int)reg + 2);
}

/* ---- what the trace has made ---- */

/* The instruction before has made a table. */
static void watch_made(lua_State *L, NslWatch *w, lua_Debug *ar) {
  bool here = w->made_in == ar->i_ci && lua_getlocal(L, ar, w->made);
  w->made_in = NULL;
  if (here && lua_istable(L, -1)) nsl_watch_keep(L);
  if (here) lua_pop(L, 1);
}

/* ---- globals ---- */

static int watch_any_global(lua_State *L) {
  lua_pushliteral(L, "compile: the callback reads a global by a name that it makes, or that is long");
  return nsl_watch_refuse(L);
}

/* _ENV as a value: which globals are read by it is not known. */
static void watch_environment(lua_State *L, lua_Debug *ar, uint32_t i) {
  lua_getinfo(L, "f", ar);
  const char *name = lua_getupvalue(L, -1, (int)ns_operand_b(i) + 1);
  if (strcmp(name, "_ENV") == 0) watch_any_global(L);
  lua_pop(L, 2);
}

/* The table of the globals in a register, as an argument of a function of C or with a key that is made. */
static void watch_globals(lua_State *L, lua_Debug *ar, unsigned reg) {
  if (!lua_getlocal(L, ar, (int)reg + 1)) return;
  lua_pushglobaltable(L);
  if (lua_rawequal(L, -1, -2)) watch_any_global(L);
  lua_pop(L, 2);
}

/* ---- calls ---- */

/* Calls upvalue 2, a copy of the __call of upvalue 1, with upvalue 1 and the arguments. */
static int watched_object(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 2);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

/* Replaces the function in a register by its copy, or by a function that takes traced numbers. An object is called by its __call. */
static void watch_callee(lua_State *L, lua_Debug *ar, unsigned reg) {
  int top = lua_gettop(L);
  if (!lua_getlocal(L, ar, (int)reg + 1)) return;
  int special = lua_iscfunction(L, -1) ? nsl_special_of(L) : -1;
  if (special >= 0) {
    nsl_special_push(L, special);
  } else if (lua_iscfunction(L, -1)) {
    nsl_special_check_wrap(L);
    lua_settop(L, top);
    return;
  } else if (lua_isfunction(L, -1)) {
    nsl_watch_function(L);
  } else if (luaL_getmetafield(L, -1, "__call") == LUA_TFUNCTION && !lua_iscfunction(L, -1)) {
    nsl_watch_function(L);
    lua_pushcclosure(L, watched_object, 2);
  } else {
    return;
  }
  lua_setlocal(L, ar, (int)reg + 1);
}

/* A call: what is called, and the functions among the arguments of a function of C. */
static void watch_call(lua_State *L, lua_Debug *ar, uint32_t i, bool exact) {
  unsigned reg = ns_operand_a(i), count = ns_operand_b(i);
  if (!lua_getlocal(L, ar, (int)reg + 1)) return;
  bool plain = lua_iscfunction(L, -1);
  lua_pop(L, 1);
  watch_callee(L, ar, reg);
  for (unsigned k = 1; plain && (count == 0 || k < count); k++) {
    if (!lua_getlocal(L, ar, (int)(reg + k) + 1)) return;
    bool function = lua_isfunction(L, -1);
    lua_pop(L, 1);
    if (exact) watch_globals(L, ar, reg + k);
    if (function) watch_callee(L, ar, reg + k);
  }
}

/* ---- assignments ---- */

/* Whether the values at two indices differ and are of a kind that a trace may have taken for granted. */
static bool watch_differs(lua_State *L, int a, int b) {
  return !lua_rawequal(L, a, b) && (!lua_isuserdata(L, a) || !lua_isuserdata(L, b));
}

/* An assignment to a variable: refused when the script has it outside. */
static void watch_upvalue(lua_State *L, lua_Debug *ar, uint32_t i) {
  int top = lua_gettop(L), upvalue = (int)ns_operand_b(i) + 1;
  lua_getinfo(L, "f", ar);
  const NslWatch *w = nsl_watch_push(L);
  lua_getiuservalue(L, -1, NSL_WATCH_OUTSIDE);
  bool outside = lua_rawgetp(L, -1, lua_upvalueid(L, top + 1, upvalue)) != LUA_TNIL;
  const char *name = lua_getupvalue(L, top + 1, upvalue);
  lua_getlocal(L, ar, (int)ns_operand_a(i) + 1);
  if (outside && !w->lenient && watch_differs(L, -1, -2)) {
    lua_pushfstring(L, "compile: the callback assigns to the variable '%s' outside of it%s", name, NSL_NO_EFFECTS);
    nsl_watch_refuse(L);
  }
  lua_settop(L, top);
}

/* An assignment to an element of what is in a register. */
static void watch_element(lua_State *L, lua_Debug *ar, unsigned reg) {
  if (!lua_getlocal(L, ar, (int)reg + 1)) return;
  if (nsl_watch_is_outside(L, -1)) {
    const char *article = lua_istable(L, -1) ? "" : "a "; /* what is told of a table has one */
    lua_pushfstring(L, "compile: the callback assigns to an element of %s%s outside of it%s", article, nsl_describe(L, -1),
                    NSL_NO_EFFECTS);
    nsl_watch_refuse(L);
  }
  lua_pop(L, 1);
}

/* name.key = value, where name is an upvalue: a global, or a field of a table of the script. */
static void watch_field(lua_State *L, lua_Debug *ar, const NsInstruction *i, bool exact) {
  int top = lua_gettop(L);
  lua_getinfo(L, "f", ar);
  const char *name = lua_getupvalue(L, top + 1, (int)ns_operand_a(i->code) + 1);
  bool constant = ns_takes_constant(i->code);
  if (i->text && lua_istable(L, -1) && nsl_watch_is_outside(L, -1) &&
      (constant || lua_getlocal(L, ar, (int)ns_operand_c(i->code) + 1))) {
    int type = constant ? LUA_TNIL : lua_type(L, -1);
    lua_pushlstring(L, i->text, i->length);
    lua_rawget(L, top + 2);
    bool plain = type == LUA_TNUMBER || type == LUA_TBOOLEAN || type == LUA_TSTRING || exact;
    if ((constant && i->number == 1) || (plain && !lua_rawequal(L, -1, -2))) {
      bool global = strcmp(name, "_ENV") == 0;
      lua_pushlstring(L, i->text, i->length);
      lua_pushfstring(L, "compile: the callback assigns to %s'%s%s%s'%s", global ? "the global " : "", global ? "" : name,
                      global ? "" : ".", lua_tostring(L, -1), NSL_NO_EFFECTS);
      nsl_watch_refuse(L);
    }
  }
  lua_settop(L, top);
}

/* ---- the hook ---- */

static void watch_step(lua_State *L, lua_Debug *ar) {
  NslWatch *w = nsl_watch_push(L);
  lua_pop(L, 1);
  if (!w || !w->tracer->tape) return;
  lua_getinfo(L, "l", ar);
  int at = ar->currentline - w->code.first;
  if (at < 0 || at >= w->code.count) return;
  nsl_watch_check(L);
  if (w->made_in) watch_made(L, w, ar);
  if (w->pending > 0) watch_return(L, w, ar, at);
  const NsInstruction *i = &w->code.at[at];
  switch (ns_opcode(i->code)) {
    case NS_OP_EQ:
    case NS_OP_EQK:
    case NS_OP_EQI: watch_equal(L, w, ar, at); break;
    case NS_OP_GETTABLE:
      if (w->exact) watch_globals(L, ar, ns_operand_b(i->code));
      watch_key(L, w, ar, at, ns_operand_c(i->code), ns_operand_a(i->code) == ns_operand_c(i->code));
      break;
    case NS_OP_SETI:
    case NS_OP_SETFIELD:
      if (w->exact) watch_element(L, ar, ns_operand_a(i->code));
      break;
    case NS_OP_NEWTABLE:
      w->made_in = ar->i_ci;
      w->made = (int)ns_operand_a(i->code) + 1;
      break;
    case NS_OP_SETTABLE:
      if (w->exact) watch_element(L, ar, ns_operand_a(i->code));
      watch_key(L, w, ar, at, ns_operand_b(i->code), false);
      break;
    case NS_OP_FORPREP: watch_loop(L, w, ar, ns_operand_a(i->code)); break;
    case NS_OP_CALL:
    case NS_OP_TAILCALL: watch_call(L, ar, i->code, w->exact); break;
    case NS_OP_TFORCALL: watch_callee(L, ar, ns_operand_a(i->code)); break;
    case NS_OP_GETUPVAL:
      if (w->exact) watch_environment(L, ar, i->code);
      break;
    case NS_OP_SETUPVAL: watch_upvalue(L, ar, i->code); break;
    case NS_OP_SETTABUP:
      if (!w->lenient) watch_field(L, ar, i, w->exact);
      break;
    default: break;
  }
}

/* The first line of a new watch; after some thousands they begin again. */
static int watch_first_line(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &line_key);
  int line = (int)lua_tointeger(L, -1);
  if (line < FIRST_LINE || line > INT_MAX - 2 * LINES) line = FIRST_LINE;
  lua_pushinteger(L, line + LINES);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &line_key);
  lua_pop(L, 1);
  return line;
}

NslWatch *nsl_watch_begin(lua_State *L, NslTracer *tracer, bool lenient, bool exact) {
  NslWatch *w = lua_newuserdatauv(L, sizeof *w, NSL_WATCH_VALUES);
  int at = lua_gettop(L);
  memset(w, 0, sizeof *w);
  (void)nsl_watch_push(L);
  lua_setiuservalue(L, at, NSL_WATCH_PREVIOUS);
  for (int k = NSL_WATCH_COPIES; k <= NSL_WATCH_INSIDE; k++) {
    lua_newtable(L);
    lua_setiuservalue(L, at, k);
  }
  w->tracer = tracer;
  w->lenient = lenient;
  w->exact = exact && !lenient;
  w->code.first = watch_first_line(L);
  w->code.most = LINES;
  w->hook = lua_gethook(L);
  w->mask = lua_gethookmask(L);
  w->period = lua_gethookcount(L);
  lua_pushvalue(L, at);
  nsl_watch_set(L);
  lua_sethook(L, watch_step, LUA_MASKCOUNT, 1);
  return w;
}

void nsl_watch_end(lua_State *L, NslWatch *w) {
  lua_sethook(L, w->hook, w->mask, w->period);
  nsl_watch_push(L);
  lua_getiuservalue(L, -1, NSL_WATCH_PREVIOUS);
  nsl_watch_set(L);
  lua_pop(L, 1);
}

void nsl_watch_place(lua_State *L, const NslWatch *w) {
  luaL_Buffer b;
  int message = lua_gettop(L);
  if (lua_type(L, message) != LUA_TSTRING) return;
  const char *text = lua_tostring(L, message);
  luaL_buffinit(L, &b);
  for (; *text; text++) {
    char *end = NULL;
    long line = *text == ':' ? strtol(text + 1, &end, 10) - w->code.first : -1;
    luaL_addchar(&b, *text);
    if (line < 0 || line >= w->code.count || *end != ':') continue;
    lua_pushfstring(L, "%d", w->code.at[line].line);
    luaL_addvalue(&b);
    text = end - 1;
  }
  luaL_pushresult(&b);
  lua_replace(L, message);
}

/* ---- variables ---- */

void nsl_watch_variables(lua_State *L, int at, lua_State *list) {
  int top = lua_gettop(L);
  lua_getiuservalue(L, at, NSL_WATCH_VARIABLES);
  if (!lua_checkstack(list, 3 * (int)lua_rawlen(L, -1) + 2)) luaL_error(L, NSL_NO_STACK);
  for (lua_Integer i = 1; lua_rawgeti(L, top + 1, i) == LUA_TTABLE; i++, lua_settop(L, top + 1)) {
    for (int k = 1; k <= 3; k++) lua_rawgeti(L, top + 2, k);
    lua_xmove(L, list, 3);
  }
  lua_settop(L, top);
}

bool nsl_watch_same(lua_State *list) {
  int n = lua_gettop(list);
  bool same = true;
  for (int i = 1; same && i < n; i += 3, lua_settop(list, n)) {
    lua_getupvalue(list, i, (int)lua_tointeger(list, i + 1));
    same = lua_rawequal(list, -1, i + 2);
    if (same || lua_type(list, -1) != LUA_TNUMBER || lua_type(list, i + 2) != LUA_TNUMBER) continue;
    same = isnan(lua_tonumber(list, -1)) && isnan(lua_tonumber(list, i + 2));
  }
  return same;
}
