/*
** sigint.h
** SIGINT while the engine runs: long loops stop, and the host's handler comes back after.
*/
#pragma once

#include <lua.h>
#include <stdbool.h>

/* The previous hook, for nsl_guard_end to restore. */
typedef struct NslGuard {
  lua_State *thread;
  lua_Hook hook;
  int mask, count;
} NslGuard;

/*
** Until nsl_guard_end a SIGINT raises the engine's interrupt flag and stops Lua code that the engine calls. Guards nest.
** Nothing may raise a Lua error in between. SIGINT belongs to the process: when several threads run (each with its own Lua
** state), it stops all of them; the first guard installs the handler, the last one restores the host's.
*/
void nsl_guard_begin(NslGuard *guard, lua_State *L);

/* Restores the hook and the handler. Returns whether a signal came meanwhile. */
bool nsl_guard_end(const NslGuard *guard, lua_State *L);
