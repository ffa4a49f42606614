/*
** files.h
** file_support: arrays and columns from files and to them.
*/
#ifndef NSL_BIND_FILES_H
#define NSL_BIND_FILES_H

#include <lua.h>

/* Adds file_support = { load_csv, load_npy, load_npz, save_csv, save_npy, save_npz } to the module on top of the stack. */
void nsl_open_files(lua_State *L);

#endif
