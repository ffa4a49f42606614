/*
** process.h
** process_support: runs programs, saves files and makes temporary directories for the Lua side.
*/
#ifndef NSL_FILE_PROCESS_H
#define NSL_FILE_PROCESS_H

#include <lua.h>

/* Adds process_support = { run, rows, range, save, check, scratch } to the module on top of the stack. */
void nsl_open_process(lua_State *L);

#endif
