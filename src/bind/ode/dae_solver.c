/*
** dae_solver.c
** The userdata behind lua/nslua/dae.lua: its check, and the calls between the engine and Lua.
*/
#include "bind/ode/dae_solver.h"

#include <string.h>

#include "bind/lua/host.h"
#include "bind/lua/sigint.h"

const NslType nsl_dae_type = {.name = "nslua.dae"};

NslDae *nsl_check_dae(lua_State *L) {
  return nsl_check(L, 1, &nsl_dae_type);
}

void nsl_dae_push_filled(lua_State *L, int use, const double *value) {
  lua_getiuservalue(L, 1, use);
  NslVector *v = nsl_test_vector(L, -1);
  memcpy(v->data, value, (size_t)v->n * sizeof *value);
}

int nsl_dae_protect(NslDae *s, lua_CFunction part, void *call) {
  lua_State *L = s->L;
  int top = lua_gettop(L), code = 0;
  if (!lua_checkstack(L, 8)) {
    nsl_push_no_stack(L);
    nsl_keep_error(L);
    return -1;
  }
  lua_pushcfunction(L, part);
  lua_pushvalue(L, s->at);
  if (call) lua_pushlightuserdata(L, call);
  if (lua_pcall(L, call ? 2 : 1, 0, 0) != LUA_OK) {
    nsl_keep_error(L);
    code = -1;
  }
  lua_settop(L, top);
  return code;
}

void nsl_dae_push_values(lua_State *L, int n, const double *v) {
  nsl_vector_write(nsl_push_vector(L, n, NULL), v);
}

bool nsl_dae_run(lua_State *L, NslDae *s, NslDaeWork work, void *what) {
  NsError err = {NS_OK, ""};
  NslGuard guard;
  NslHost *host = nsl_host(L);
  s->L = L;
  s->at = 1;
  nsl_dae_lua_ran(s);
  NslEdge edge = nsl_enter(host, L, NULL, NULL);
  nsl_guard_begin(&guard, L);
  NsStatus status = work(s, what, &err);
  bool interrupted = nsl_guard_end(&guard, L);
  nsl_leave(host, edge);
  if (interrupted) nsl_error(L, "dae: interrupted (t=%f)", s->method->state(s->solver)->t);
  if (status == NS_ECALLBACK) nsl_raise_step(L, &err);
  if (status == NS_OK) return true;
  lua_pushstring(L, err.text[0] ? err.text : ns_status_message(status));
  return false;
}

int nsl_dae_refuse(lua_State *L) {
  lua_pushnil(L);
  lua_insert(L, -2);
  return 2;
}

int nsl_dae_answer(lua_State *L, NslDae *s, NslDaeWork work, void *what, int results) {
  if (!nsl_dae_run(L, s, work, what)) return nsl_dae_refuse(L);
  if (results == 0) lua_pushboolean(L, true);
  return results == 0 ? 1 : results;
}

int nsl_dae_to_time(lua_State *L, NslDaeWork work) {
  NslDae *s = nsl_check_dae(L);
  double t = luaL_checknumber(L, 2);
  lua_settop(L, 2);
  return nsl_dae_answer(L, s, work, &t, 0);
}
