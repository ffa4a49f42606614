/*
** sigint.c
** SIGINT stops the Lua code that runs, by a hook.
*/
#include "bind/lua/sigint.h"

#include <lauxlib.h>

#include "base/interrupt.h"
#include "base/signal.h"
#include "bind/lua/interpreter.h"

/* Lua instructions until the hook raises again. */
static _Thread_local int patience;

/* Raises the error again and again, at shorter intervals: cleanup code has time to run, a loop around a pcall ends. */
static void sigint_stop_hook(lua_State *L, lua_Debug *ar) {
  (void)ar;
  if (!ns_interrupted()) {
    lua_sethook(L, NULL, 0, 0); /* a coroutine that outlived the run */
    return;
  }
  lua_sethook(L, sigint_stop_hook, LUA_MASKCOUNT, patience);
  if (patience > 1) patience /= 2;
  luaL_error(L, "interrupted");
}

static void sigint_hook_at_once(lua_State *L) {
  if (L) lua_sethook(L, sigint_stop_hook, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

/* Stops a callback that does not return, also one that waits for a coroutine (only nslua's interpreter knows which one). */
static void sigint_stop(void *thread) {
  patience = 1 << 14;
  sigint_hook_at_once(thread);
  if (&nsi_interpreter) sigint_hook_at_once(nsi_interpreter.running());
}

static void sigint_told(void) {
  if (&nsi_interpreter) nsi_interpreter.told();
}

static bool sigint_prompted(void) {
  return &nsi_interpreter && nsi_interpreter.prompted();
}

void nsl_guard_begin(NslGuard *guard, lua_State *L) {
  static const NsSignalHooks hooks = {sigint_stop, sigint_told, sigint_prompted};
  *guard = (NslGuard){.hook = lua_gethook(L), .mask = lua_gethookmask(L), .count = lua_gethookcount(L)};
  guard->thread = ns_signal_begin(&hooks, L, &nsi_interpreter && nsi_interpreter.waits());
}

bool nsl_guard_end(const NslGuard *guard, lua_State *L) {
  bool interrupted = ns_signal_end(guard->thread);
  lua_sethook(L, guard->hook, guard->mask, guard->count);
  if (&nsi_interpreter) nsi_interpreter.rearm(L);
  return interrupted;
}
