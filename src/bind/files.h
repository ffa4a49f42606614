/*
** files.h
** Writing text files from the Lua part of the library.
*/
#ifndef NSL_BIND_FILES_H
#define NSL_BIND_FILES_H

#include "bind/support.h"

/* Adds write_file to the module's table. */
void nsl_open_files(lua_State *L);

#endif
