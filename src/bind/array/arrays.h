/*
** arrays.h
** Functions that make and join vectors and matrices: zeros, eye, linspace, hstack, block, ...
*/
#ifndef NSL_ARRAY_ARRAYS_H
#define NSL_ARRAY_ARRAYS_H

#include "bind/lua/object.h"

void nsl_open_arrays(lua_State *L);

#endif
