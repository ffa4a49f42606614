/*
** band.h
** The banded matrix.
*/
#ifndef NSL_ARRAY_BAND_H
#define NSL_ARRAY_BAND_H

#include <lua.h>
#include <stdbool.h>

/* ns.solve and A:solve for a banded matrix at index 1; false when there is something else. */
bool nsl_solve_band(lua_State *L, int *results);

/* Adds band, ... to the module on top of the stack. */
void nsl_open_band(lua_State *L);

#endif
