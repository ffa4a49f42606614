/*
** sigint.h
** SIGINT while the engine runs: long loops stop, and the host's handler comes back after.
*/
#ifndef NSL_LUA_SIGINT_H
#define NSL_LUA_SIGINT_H

#include <lua.h>
#include <stdbool.h>

/* What was there before, to be put back. */
typedef struct NslGuard {
  lua_State *thread;
  lua_Hook hook;
  int mask, count;
} NslGuard;

/*
** From here to nsl_guard_end a SIGINT raises the engine's flag and stops Lua code that the engine calls; guards nest.
** Nothing may raise a Lua error in between. SIGINT is the process's: where several threads run, each in a Lua state of its own,
** all of them are stopped; the first run in puts the handler in, and the last one out puts the host's back.
*/
void nsl_guard_begin(NslGuard *guard, lua_State *L);

/* Puts everything back. Whether a signal came meanwhile. */
bool nsl_guard_end(const NslGuard *guard, lua_State *L);

#endif
