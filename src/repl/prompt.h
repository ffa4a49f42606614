/*
** prompt.h
** The C functions that the prompt (written in Lua) needs: terminal and system.
*/
#pragma once

#include <lua.h>

/*
** Pushes a table:
**   terminal, colour        booleans: lines are edited at a terminal; errors may be coloured
**   libedit                 its version, a string
**   readline(prompt [, complete [, idle [, colours [, text [, above [, below]]]]]])   a line; nil at the end of input; false after
**                           Ctrl-C; and whether the key Up has left it. complete(line, cursor) returns what to insert and what to
**                           show, each a string or nil; colours(line) the line in colours, or nil; text stands in it from the
**                           start; above is the line above on the screen, or nil; below: whether there are lines below
**   remember(entry)         appends to the history of the session
**   evaluate(explain, f, ...)   a pcall that Ctrl-C can end; explain(error) is called where the error is raised
**   width(), height()       columns and lines of the terminal
**   clock()                 seconds, monotonic
**   list(directory)         its entries, directories with "/" at the end; nil when it cannot be read
**   make_directory(path)    with its parents, for this user only; nil and a message on failure
**   private(f, ...)         calls f; files created during the call are accessible to this user only
**   receive(), send(text), ask(text)   messages of a kernel's worker (repl/channel.h)
*/
int nsi_push_api(lua_State *L);
