/*
** prompt.h
** What the prompt, written in Lua, asks of the terminal and of the system.
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
**   evaluate(explain, f, ...)   pcall that Ctrl-C ends, explain(error) being called where the error is
**   width()                 columns of the terminal
**   clock()                 seconds, monotonic
**   list(directory)         the names in it, those of directories with "/" at the end; nil when it cannot be read
**   make_directory(path)    with its parents, for the user alone; nil and a message on failure
**   private(f, ...)         calls f with files created for the user alone
*/
int nsi_push_doors(lua_State *L);

#endif
