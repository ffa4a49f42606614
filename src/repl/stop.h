/*
** stop.h
** Ctrl-C while Lua code runs: in the main thread, in coroutines, and in the engine called by them.
*/
#pragma once

#include <lua.h>
#include <stdbool.h>

/* Replaces coroutine.resume and coroutine.wrap by functions that behave the same and record which coroutine runs. */
void nsi_stop_open(lua_State *L);

/*
** lua_pcall that a SIGINT ends: an error "interrupted!" is raised in the Lua code that runs, again after each pcall that
** catches it, until it arrives here. `handler` is the stack index of a message handler; the request is already cleared when it
** runs. A second SIGINT, when the first one has had no effect yet, ends the process; under a prompt only after two seconds.
*/
int nsi_pcall(lua_State *L, int nargs, int nresults, int handler);

/* Under a prompt a second SIGINT ends the process only after two seconds, and a SIGINT between calls is ignored. */
void nsi_stop_prompt(bool on);

/* Whether a SIGINT came during a call (or a run in it) since the last call of this function. */
bool nsi_stop_arrived(void);

/* Restores the default action of SIGINT; call it before lua_close. */
void nsi_stop_close(void);
