/*
** band.h
** The banded matrix.
*/
#pragma once

#include <lua.h>
#include <stdbool.h>

/* ns.solve and A:solve when a banded matrix is at index 1; otherwise returns false. */
bool nsl_solve_band(lua_State *L, int *results);
