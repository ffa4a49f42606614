/*
** files_hdf5.h
** .h5 files from Lua, through the optional module nslua.hdf5.
*/
#pragma once

#include <lua.h>
#include <stdbool.h>

#include "io/h5.h"

/* Whether a file name ends in .h5 or .hdf5. */
bool nsl_is_hdf5(const char *path);

/*
** The functions of the module nslua.hdf5, which is loaded on demand. When there is no such module, raises "WHO: 'PATH': .h5,
** .nc and .mat files are read and written by the module nslua.hdf5, which is not installed: ..." with what to do.
*/
const NsHdf5 *nsl_hdf5(lua_State *L, const char *who, const char *path);
