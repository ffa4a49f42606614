/*
** stop.c
** SIGINT: hooks on the running thread, the engine's interrupt flag, and wrappers of coroutine functions that record what runs.
*/
#include "repl/stop.h"

#include <lauxlib.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

#include "bind/lua/interpreter.h"

enum { FIRST_PATIENCE = 1 << 14, PROMPT_PATIENCE = 2 /* seconds */ };

static lua_State *volatile running_thread;
static volatile sig_atomic_t waiting; /* a SIGINT is pending */
static volatile sig_atomic_t prompt;
static volatile sig_atomic_t arrived; /* a SIGINT came, here or in a run */
static time_t since;
static int patience; /* instructions until the hook raises again */
static void (*volatile raise_flag)(void);
static void (*volatile clear_flag)(void);

/* ---- the hook and the handler ---- */

/* Raises the error again and again, at shorter intervals: cleanup code has time to run, a loop around a pcall ends. */
static void stop_hook(lua_State *L, lua_Debug *ar) {
  (void)ar;
  if (!waiting) {
    lua_sethook(L, NULL, 0, 0);
    return;
  }
  lua_sethook(L, stop_hook, LUA_MASKCOUNT, patience);
  if (patience > 1) patience /= 2;
  luaL_where(L, 0); /* the function that runs */
  lua_pushliteral(L, "interrupted!");
  lua_concat(L, 2);
  lua_error(L);
}

static void stop_hook_at_once(lua_State *L) {
  lua_sethook(L, stop_hook, LUA_MASKCALL | LUA_MASKRET | LUA_MASKLINE | LUA_MASKCOUNT, 1);
}

static void on_interrupt(int signal_number) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  arrived = 1;
  if (waiting && (!prompt || now.tv_sec - since >= PROMPT_PATIENCE)) {
    signal(signal_number, SIG_DFL);
    raise(signal_number);
    return;
  }
  if (!waiting) since = now.tv_sec;
  waiting = 1;
  patience = FIRST_PATIENCE;
  if (raise_flag) raise_flag();
  if (running_thread) stop_hook_at_once(running_thread);
}

static void ignore(int signal_number) {
  (void)signal_number;
}

static void stop_set_handler(void (*handler)(int), struct sigaction *before) {
  struct sigaction action = {.sa_handler = handler};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, before);
}

static void obeyed(lua_State *L) {
  waiting = 0;
  if (lua_gethook(L) == stop_hook) lua_sethook(L, NULL, 0, 0);
  if (clear_flag) clear_flag();
}

void nsi_stop_prompt(bool on) {
  prompt = on;
  stop_set_handler(on ? ignore : SIG_DFL, NULL);
}

bool nsi_stop_arrived(void) {
  bool was = arrived;
  arrived = 0;
  return was;
}

void nsi_stop_close(void) {
  stop_set_handler(SIG_DFL, NULL);
  running_thread = NULL;
  raise_flag = clear_flag = NULL;
}

/* ---- protected calls ---- */

/* Calls the message handler (upvalue 1) with the SIGINT request cleared. */
static int handle_in_quiet(lua_State *L) {
  obeyed(L);
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, 1, 1);
  return 1;
}

int nsi_pcall(lua_State *L, int nargs, int nresults, int handler) {
  struct sigaction before;
  int base = lua_gettop(L) - nargs;
  lua_State *outer = running_thread;
  lua_pushvalue(L, handler);
  lua_pushcclosure(L, handle_in_quiet, 1);
  lua_insert(L, base);
  obeyed(L);
  running_thread = L;
  stop_set_handler(on_interrupt, &before);
  int status = lua_pcall(L, nargs, nresults, base);
  sigaction(SIGINT, &before, NULL);
  running_thread = outer;
  obeyed(L);
  lua_remove(L, base);
  return status;
}

/* ---- coroutines ---- */

/* Resumes `co` with the n values on top of L. Replaces them by the results, returns their number; -1: by the error. */
static int stop_resume(lua_State *L, lua_State *co, int n) {
  int results = 0;
  if (!lua_checkstack(co, n)) return lua_pushliteral(L, "too many arguments to resume"), -1;
  lua_xmove(L, co, n);
  lua_State *before = running_thread;
  running_thread = co;
  int status = lua_resume(co, L, n, &results);
  running_thread = before;
  if (waiting) stop_hook_at_once(L);
  if (status != LUA_OK && status != LUA_YIELD) return lua_xmove(co, L, 1), -1;
  if (!lua_checkstack(L, results + 1)) {
    lua_pop(co, results);
    return lua_pushliteral(L, "too many results to resume"), -1;
  }
  lua_xmove(co, L, results);
  return results;
}

static int coroutine_resume(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTHREAD);
  lua_State *co = lua_tothread(L, 1);
  int results = stop_resume(L, co, lua_gettop(L) - 1);
  lua_pushboolean(L, results >= 0);
  if (results < 0) results = 1;
  lua_insert(L, -(results + 1));
  return results + 1;
}

/* The function that coroutine.wrap returns (coroutine in upvalue 1); it closes a failed coroutine and adds the position. */
static int wrapped(lua_State *L) {
  lua_State *co = lua_tothread(L, lua_upvalueindex(1));
  int results = stop_resume(L, co, lua_gettop(L));
  if (results >= 0) return results;
  int status = lua_status(co);
  if (status != LUA_OK && status != LUA_YIELD) {
    status = lua_resetthread(co);
    if (status != LUA_OK) lua_xmove(co, L, 1);
  }
  if (status != LUA_ERRMEM && lua_type(L, -1) == LUA_TSTRING) {
    luaL_where(L, 1);
    lua_insert(L, -2);
    lua_concat(L, 2);
  }
  return lua_error(L);
}

static int coroutine_wrap(lua_State *L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_State *co = lua_newthread(L);
  lua_pushvalue(L, 1);
  lua_xmove(L, co, 1);
  return lua_pushcclosure(L, wrapped, 1), 1;
}

void nsi_stop_open(lua_State *L) {
  static const luaL_Reg functions[] = {{"resume", coroutine_resume}, {"wrap", coroutine_wrap}, {NULL, NULL}};
  lua_getglobal(L, "coroutine");
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
}

/* ---- for the module ---- */

static lua_State *running(void) {
  return running_thread;
}

static bool prompted(void) {
  return prompt;
}

static void rearm(lua_State *L) {
  if (waiting) stop_hook_at_once(L);
}

static void told(void) {
  arrived = 1;
}

static void listen_to(void (*raise_it)(void), void (*clear_it)(void)) {
  raise_flag = raise_it;
  clear_flag = clear_it;
}

static bool waits(void) {
  return waiting;
}

__attribute__((visibility("default")))
const NsiInterpreter nsi_interpreter = {running, prompted, rearm, listen_to, waits, told};
