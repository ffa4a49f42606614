/*
** guard.c
** SIGINT while the engine runs.
*/
#include "bind/guard.h"

#include <lauxlib.h>
#include <time.h>

#include "base/interrupt.h"
#include "bind/interpreter.h"

/* The thread whose run a signal interrupts; SIGINT is the process's, so this is too. */
static lua_State *volatile interrupted_thread;

/* What SIGINT does when no run is on. */
static struct sigaction host_action;

/* Lua instructions until the hook raises again. */
static int patience;

/* When a signal came last. */
static time_t last;

/*
** Raises, and does so again, sooner each time: what cleans up behind it comes through, and a loop around a pcall
** ends.
*/
static void stop_hook(lua_State *L, lua_Debug *ar) {
  (void)ar;
  if (!ns_interrupted()) {
    lua_sethook(L, NULL, 0, 0); /* a coroutine that has outlived the run */
    return;
  }
  lua_sethook(L, stop_hook, LUA_MASKCOUNT, patience);
  if (patience > 1) patience /= 2;
  luaL_error(L, "interrupted");
}

static void hook_at_once(lua_State *L) {
  if (L) lua_sethook(L, stop_hook, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

/* Whether a signal in an earlier run has, within two seconds, not brought the user to the prompt. */
static bool again(void) {
  struct timespec now;
  if (!&nsi_interpreter || !nsi_interpreter.prompted()) return false;
  clock_gettime(CLOCK_MONOTONIC, &now);
  bool soon = last && now.tv_sec - last < 2;
  last = now.tv_sec + (now.tv_sec == 0);
  return soon;
}

/*
** Engine loops poll the flag; a callback that does not come back is stopped by the hook, also when it waits for a
** coroutine (of which only nslua's interpreter can tell). A second signal is the host's.
*/
static void on_signal(int signal_number) {
  if (&nsi_interpreter) nsi_interpreter.told();
  if (again() || ns_interrupted()) {
    sigaction(signal_number, &host_action, NULL);
    raise(signal_number);
    ns_interrupt_raise();
    return;
  }
  ns_interrupt_raise();
  patience = 1 << 14;
  hook_at_once(interrupted_thread);
  if (&nsi_interpreter) hook_at_once(nsi_interpreter.running());
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
  if (&nsi_interpreter) nsi_interpreter.rearm(L);
  return interrupted;
}
