/*
** tape_special.c
** The watch of a trace, and the functions of Lua's library that take numbers without asking, write, or act outside.
*/
#include "bind/diff/tape_special.h"

#include <math.h>
#include <string.h>

static const char present_key = 0, special_key = 0;

NslWatch *nsl_watch_push(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &present_key);
  return lua_touserdata(L, -1);
}

void nsl_watch_set(lua_State *L) {
  lua_rawsetp(L, LUA_REGISTRYINDEX, &present_key);
}

int nsl_watch_node(lua_State *L, const NslWatch *w, int idx) {
  const NslTraced *x = nsl_test_traced(L, idx);
  return x && x->tag == w->tracer->tag ? x->node : -1;
}

void nsl_watch_keep(lua_State *L) {
  nsl_watch_push(L);
  lua_getiuservalue(L, -1, NSL_WATCH_INSIDE);
  lua_pushvalue(L, -3);
  lua_pushboolean(L, 1);
  lua_rawset(L, -3);
  lua_pop(L, 2);
}

bool nsl_watch_is_outside(lua_State *L, int idx) {
  idx = lua_absindex(L, idx);
  if (nsl_test_traced_vector(L, idx) || nsl_test_traced_matrix(L, idx)) return false;
  if (!lua_istable(L, idx)) return lua_isuserdata(L, idx);
  nsl_watch_push(L);
  lua_getiuservalue(L, -1, NSL_WATCH_INSIDE);
  lua_pushvalue(L, idx);
  bool outside = lua_rawget(L, -2) == LUA_TNIL;
  lua_pop(L, 3);
  return outside;
}

int nsl_watch_refuse(lua_State *L) {
  luaL_where(L, 0);
  lua_insert(L, -2);
  lua_concat(L, 2);
  if (nsl_watch_push(L)) {
    lua_pushvalue(L, -2);
    lua_setiuservalue(L, -2, NSL_WATCH_REFUSED);
  }
  lua_pop(L, 1);
  return lua_error(L);
}

void nsl_watch_check(lua_State *L) {
  int top = lua_gettop(L);
  if (nsl_watch_push(L) && lua_getiuservalue(L, -1, NSL_WATCH_REFUSED) == LUA_TSTRING) lua_error(L);
  lua_settop(L, top);
}

int nsl_watch_record(lua_State *L, const NslWatch *w, NsTapeOp op, int a, int b) {
  int node = ns_tape_record(w->tracer->tape, op, a, b);
  if (node < 0) luaL_error(L, "not enough memory");
  return node;
}

/* ---- functions in the place of others ---- */

static int watched_type(lua_State *L) {
  luaL_checkany(L, 1);
  lua_pushstring(L, nsl_test_traced(L, 1) ? "number" : luaL_typename(L, 1));
  return 1;
}

/* Calls the function in upvalue 1 with plain numbers in place of the arguments of the mask in upvalue 2. */
static int watched_call(lua_State *L) {
  lua_Integer mask = lua_tointeger(L, lua_upvalueindex(2));
  const NslWatch *w = nsl_watch_push(L);
  lua_pop(L, 1);
  for (int k = 1; k <= lua_gettop(L) && w; k++) {
    int node = mask >> k & 1 ? nsl_watch_node(L, w, k) : -1;
    if (node < 0) continue;
    nsl_freeze(L, w->tracer, node);
    lua_replace(L, k);
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

/* table.pack makes a table. */
static int watched_pack(lua_State *L) {
  watched_call(L);
  nsl_watch_keep(L);
  return 1;
}

/* Refuses what the function does, for which `text` stands, with the place that calls the one of C that runs. */
static int special_refuse(lua_State *L, const char *text) {
  luaL_where(L, 1);
  lua_pushfstring(L, "compile: the callback %s%s", text, NSL_NO_EFFECTS);
  lua_concat(L, 2);
  return nsl_watch_refuse(L);
}

/* A function that writes to its first argument, or as table.move to the fifth one. */
static int watched_write(lua_State *L) {
  const NslWatch *w = nsl_watch_push(L);
  lua_pop(L, 1);
  if (w && w->exact && nsl_watch_is_outside(L, lua_istable(L, 5) ? 5 : 1))
    return special_refuse(L, "writes to a table outside of it");
  return watched_call(L);
}

/* A protected call does not hide that the trace can not go on; pcall of the core does, since its callers raise what they catch. */
static int watched_pcall(lua_State *L) {
  int count = watched_call(L);
  nsl_watch_check(L);
  const char *text = count > 1 && !lua_toboolean(L, 1) && lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  if (!strstr(text, "compile: ") && !strstr(text, "traced")) return count;
  lua_settop(L, 2);
  return lua_error(L);
}

/* A coroutine that was made before the trace, at idx, is not seen by the hook, and goes on from call to call. */
static bool special_is_old_thread(lua_State *L, int idx) {
  const NslWatch *w = nsl_watch_push(L);
  lua_pop(L, 1);
  lua_State *thread = lua_tothread(L, idx);
  return thread && w && !w->lenient && lua_gethook(thread) != lua_gethook(L);
}

static const char goes_on[] = "goes on with a coroutine from outside of it";

static int watched_resume(lua_State *L) {
  if (special_is_old_thread(L, 1)) return special_refuse(L, goes_on);
  int count = watched_call(L);
  nsl_watch_check(L);
  return count;
}

/* string.format of the plain numbers. */
static int watched_format(lua_State *L) {
  const NslWatch *w = nsl_watch_push(L);
  lua_pop(L, 1);
  for (int k = 1; k <= lua_gettop(L) && w; k++) {
    if (nsl_watch_node(L, w, k) < 0) continue;
    nsl_push_traced_text(L, w->tracer, k);
    lua_pop(L, 1);
    lua_pushnumber(L, ns_tape_node(w->tracer->tape, nsl_watch_node(L, w, k)).value);
    lua_replace(L, k);
  }
  return watched_call(L);
}

/* The same traced number is equal to itself where it is not nan; nothing that is no number is equal to one. */
static int watched_rawequal(lua_State *L) {
  NslWatch *w = nsl_watch_push(L);
  lua_pop(L, 1);
  bool two = lua_gettop(L) == 2, same = two && lua_rawequal(L, 1, 2), numbers = true;
  for (int k = 1; k <= 2; k++) numbers = numbers && (lua_type(L, k) == LUA_TNUMBER || nsl_test_traced(L, k));
  if (!two || (numbers && !same)) return watched_call(L);
  int node = same && w ? nsl_watch_node(L, w, 1) : -1;
  if (node >= 0) {
    nsl_guard(L, w->tracer, nsl_watch_record(L, w, NS_TAPE_EQUAL, node, node));
    same = !isnan(ns_tape_node(w->tracer->tape, node).value);
  }
  lua_pushboolean(L, same);
  return 1;
}

/* tonumber(x) is x. */
static int watched_tonumber(lua_State *L) {
  if (nsl_test_traced(L, 1) && lua_isnoneornil(L, 2)) return lua_settop(L, 1), 1;
  return watched_call(L);
}

/* Functions of C that take or judge a number without asking it (arguments: those that become plain), or act outside (call NULL). */
static const struct {
  const char *library, *name;
  lua_CFunction call;
  unsigned arguments;
} specials[] = {{"_G", "type", watched_type, 0},
                {"_G", "tonumber", watched_tonumber, 0},
                {"_G", "rawequal", watched_rawequal, 6},
                {"_G", "rawset", watched_write, 4},
                {"_G", "setmetatable", watched_write, 0},
                {"_G", "pcall", watched_pcall, 0},
                {"_G", "xpcall", watched_pcall, 0},
                {"nslua.core", "pcall", watched_call, 0},
                {"coroutine", "resume", watched_resume, 0},
                {"table", "insert", watched_write, 0},
                {"table", "remove", watched_write, 0},
                {"table", "sort", watched_write, 0},
                {"table", "move", watched_write, 0},
                {"table", "pack", watched_pack, 0},
                {"_G", "rawget", watched_call, 4},
                {"_G", "select", watched_call, 2},
                {"table", "unpack", watched_call, 12},
                {"string", "format", watched_format, 0},
                {"_G", "print", NULL, 0},
                {"_G", "require", NULL, 0},
                {"_G", "dofile", NULL, 0},
                {"math", "random", NULL, 0},
                {"math", "randomseed", NULL, 0},
                {"io", "open", NULL, 0},
                {"io", "popen", NULL, 0},
                {"os", "tmpname", NULL, 0},
                {"io", "write", NULL, 0},
                {"io", "read", NULL, 0},
                {"io", "lines", NULL, 0},
                {"os", "execute", NULL, 0},
                {"os", "exit", NULL, 0},
                {"os", "remove", NULL, 0},
                {"os", "rename", NULL, 0},
                {LUA_FILEHANDLE, "write", NULL, 0},
                {LUA_FILEHANDLE, "read", NULL, 0}};

/* Pushes the table of these functions, to their numbers; it is made once. */
static void push_specials(lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &special_key) == LUA_TTABLE) return;
  lua_pop(L, 1);
  lua_newtable(L);
  int map = lua_gettop(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  for (int i = 0; i < (int)(sizeof specials / sizeof *specials); i++) {
    bool file = strcmp(specials[i].library, LUA_FILEHANDLE) == 0;
    if (file && luaL_getmetatable(L, LUA_FILEHANDLE) == LUA_TTABLE) lua_getfield(L, -1, "__index");
    else if (!file) lua_getfield(L, map + 1, specials[i].library);
    if (lua_istable(L, -1) && lua_getfield(L, -1, specials[i].name) == LUA_TFUNCTION) {
      lua_pushinteger(L, i);
      lua_rawset(L, map);
    }
    lua_settop(L, map + 1);
  }
  lua_settop(L, map);
  lua_pushvalue(L, map);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &special_key);
}

int nsl_special_of(lua_State *L) {
  push_specials(L);
  lua_pushvalue(L, -2);
  int number = lua_rawget(L, -2) == LUA_TNUMBER ? (int)lua_tointeger(L, -1) : -1;
  lua_pop(L, 2);
  if (number < 0 || specials[number].call) return number;
  const NslWatch *w = nsl_watch_push(L);
  lua_pop(L, 1);
  if (w->lenient) return -1;
  bool file = strcmp(specials[number].library, LUA_FILEHANDLE) == 0, global = specials[number].library[0] == '_';
  lua_pushfstring(L, "compile: the callback calls %s%s%s%s",
                  global ? ""
                  : file ? "file"
                         : specials[number].library,
                  global ? ""
                  : file ? ":"
                         : ".",
                  specials[number].name, NSL_NO_EFFECTS);
  return nsl_watch_refuse(L);
}

void nsl_special_push(lua_State *L, int number) {
  lua_pushinteger(L, specials[number].arguments);
  lua_pushcclosure(L, specials[number].call, 2);
}

void nsl_special_check_wrap(lua_State *L) {
  bool old = lua_getupvalue(L, -1, 1) && special_is_old_thread(L, -1);
  if (old) lua_pushfstring(L, "compile: the callback %s%s", goes_on, NSL_NO_EFFECTS), nsl_watch_refuse(L);
}
