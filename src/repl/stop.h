/*
** stop.h
** Ctrl-C while Lua code runs: in the main thread, inside coroutines, and in the engine below them.
*/
#ifndef NSI_REPL_STOP_H
#define NSI_REPL_STOP_H

#include <lua.h>
#include <stdbool.h>

/*
** Puts functions that keep account of the running coroutine into `coroutine` (resume, wrap); they behave as those of
** the language do.
*/
void nsi_stop_open(lua_State *L);

/*
** lua_pcall that SIGINT ends: an error "interrupted!" is raised in whatever Lua code runs, again and again until it has
** come out here. `handler` is the stack index of a message handler; when it runs the request is forgotten already. A
** second SIGINT that finds the first not obeyed ends the process; under a prompt only after two seconds.
*/
int nsi_pcall(lua_State *L, int nargs, int nresults, int handler);

/* Under a prompt a second SIGINT is more patient, and one that comes between two calls does nothing. */
void nsi_stop_prompt(bool on);

/* Whether a SIGINT came, to a call or to a run in it, since this was asked last. */
bool nsi_stop_arrived(void);

/* Gives SIGINT its default meaning; to be called before the state is closed. */
void nsi_stop_close(void);

#endif
