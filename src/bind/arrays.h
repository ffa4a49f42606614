/*
** arrays.h
** Functions that make and join vectors and matrices: zeros, eye, linspace, hstack, block, ...
*/
#ifndef NSL_BIND_ARRAYS_H
#define NSL_BIND_ARRAYS_H

#include "bind/support.h"

void nsl_open_arrays(lua_State *L);

#endif
