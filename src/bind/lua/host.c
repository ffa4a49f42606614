/*
** host.c
** The record of each Lua state, the weak map from C objects to userdata, and the pending error of a callback.
*/
#include "bind/lua/host.h"
#include "bind/lua/open.h"

#include <string.h>

#include "base/interrupt.h"
#include "bind/lua/interpreter.h"

/* Addresses used as registry keys. */
static const char host_key, objects_key, error_key, no_stack_key;

NslHost *nsl_host(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &host_key);
  NslHost *host = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return host;
}

NslEdge nsl_enter(NslHost *host, lua_State *L, const NsProgress *progress, const NsNsds *nsds) {
  NslEdge before = {host->L, host->progress, (NsNsds *)nsds, nsds && nsds->busy};
  if (nsds) before.nsds->busy = true;
  host->L = L;
  host->progress = progress;
  return before;
}

void nsl_leave(NslHost *host, NslEdge edge) {
  host->L = edge.L;
  host->progress = edge.progress;
  if (edge.nsds) edge.nsds->busy = edge.busy;
}

void nsl_push_object(lua_State *L, const void *object) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &objects_key);
  lua_rawgetp(L, -1, object);
  lua_remove(L, -2);
}

void nsl_remember_object(lua_State *L, int idx) {
  idx = lua_absindex(L, idx);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &objects_key);
  lua_pushvalue(L, idx);
  lua_rawsetp(L, -2, lua_touserdata(L, idx));
  lua_pop(L, 1);
}

/* The registry slot exists from the start (value false), so setting it allocates nothing. */
void nsl_keep_error(lua_State *L) {
  lua_rawsetp(L, LUA_REGISTRYINDEX, &error_key);
}

void nsl_push_no_stack(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &no_stack_key);
}

bool nsl_forget_error(lua_State *L, const char *part) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &error_key);
  bool found = lua_type(L, -1) == LUA_TSTRING && strstr(lua_tostring(L, -1), part);
  lua_pop(L, 1);
  if (!found) return false;
  lua_pushboolean(L, 0);
  nsl_keep_error(L);
  return true;
}

int nsl_raise_step(lua_State *L, const NsError *err) {
  if (err->status != NS_ECALLBACK && err->status != NS_ERETRY) return nsl_raise(L, err);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &error_key);
  lua_pushboolean(L, 0);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &error_key);
  if (lua_isboolean(L, -1) && !lua_toboolean(L, -1)) return nsl_raise(L, err);
  return lua_error(L);
}

/* Pushes a new table of weak values. */
static void host_push_weak(lua_State *L) {
  lua_newtable(L);
  lua_newtable(L);
  nsl_set_string(L, "__mode", "v");
  lua_setmetatable(L, -2);
}

/* The host is stored last: if memory runs out during the opening, the next one starts anew. */
void nsl_open_host(lua_State *L) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &host_key) == LUA_TUSERDATA) {
    lua_pop(L, 1);
    return;
  }
  lua_pop(L, 1);
  NslHost *host = lua_newuserdatauv(L, sizeof *host, 0);
  *host = (NslHost){.runs = 1};
  host_push_weak(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &objects_key);
  lua_pushboolean(L, 0);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &error_key);
  lua_pushliteral(L, NSL_NO_STACK);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &no_stack_key);
  host_push_weak(L);
  host->callees = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &host_key);
  if (&nsi_interpreter) ns_interrupt_watch(), nsi_interpreter.listen(ns_interrupt_raise, ns_interrupt_clear);
}
