/*
** guard.c
** SIGINT while the engine runs.
*/
#include "bind/guard.h"

#include <lauxlib.h>

#include "base/interrupt.h"

/* The thread whose run a signal interrupts; SIGINT is the process's, so this is too. */
static lua_State *volatile interrupted_thread;

/* What SIGINT does when no run is on. */
static struct sigaction host_action;

/* Lua instructions until the hook raises again. */
static int patience;

/*
** Raises, and does so again, sooner each time: what cleans up behind it comes through, and a loop around a pcall
** ends.
*/
static void stop_hook(lua_State *L, lua_Debug *ar) {
  (void)ar;
  lua_sethook(L, stop_hook, LUA_MASKCOUNT, patience);
  if (patience > 1) patience /= 2;
  luaL_error(L, "interrupted");
}

/*
** Engine loops poll the flag; a callback that does not come back is stopped by the hook, as lua.c does. A second
** signal before the run has ended is the host's.
*/
static void on_signal(int signal_number) {
  if (ns_interrupted()) {
    sigaction(signal_number, &host_action, NULL);
    raise(signal_number);
    return;
  }
  ns_interrupt_raise();
  patience = 1 << 14;
  if (interrupted_thread)
    lua_sethook(interrupted_thread, stop_hook, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

void nsl_guard_begin(NslGuard *guard, lua_State *L) {
  struct sigaction action = {.sa_handler = on_signal};
  *guard = (NslGuard){
      .thread = interrupted_thread, .hook = lua_gethook(L), .mask = lua_gethookmask(L), .count = lua_gethookcount(L)};
  sigemptyset(&action.sa_mask);
  if (!guard->thread) ns_interrupt_clear();
  interrupted_thread = L;
  sigaction(SIGINT, &action, &guard->action);
  if (!guard->thread) host_action = guard->action;
}

bool nsl_guard_end(const NslGuard *guard, lua_State *L) {
  bool interrupted = ns_interrupted();
  sigaction(SIGINT, &guard->action, NULL);
  interrupted_thread = guard->thread;
  ns_interrupt_clear();
  lua_sethook(L, guard->hook, guard->mask, guard->count);
  return interrupted;
}
