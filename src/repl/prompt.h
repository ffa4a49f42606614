/*
** prompt.h
** The C functions that the prompt (written in Lua) needs: terminal and system.
*/
#ifndef NSI_REPL_DOORS_H
#define NSI_REPL_DOORS_H

#include <lua.h>

/*
** Pushes a table:
**   terminal, colour        booleans: lines are edited at a terminal; errors may be coloured
**   libedit                 its version, a string
**   readline(prompt [, complete [, idle]])   a line; nil at the end of input; false after Ctrl-C. complete(line, cursor)
**                           returns what to insert and what to show, each a string or nil
**   remember(entry)         appends to the history of the session
**   evaluate(explain, f, ...)   a pcall that Ctrl-C can end; explain(error) is called where the error is raised
**   width(), height()       columns and lines of the terminal
**   clock()                 seconds, monotonic
**   list(directory)         its entries, directories with "/" at the end; nil when it cannot be read
**   make_directory(path)    with its parents, for this user only; nil and a message on failure
**   private(f, ...)         calls f; files created during the call are accessible to this user only
**   receive(), send(text), ask(text)   messages of a kernel's worker (repl/channel.h)
*/
int nsi_push_doors(lua_State *L);

#endif
