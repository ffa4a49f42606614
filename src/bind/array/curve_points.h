/*
** curve_points.h
** thin_support: long curves without the points that make no difference to their picture.
*/
#ifndef NSL_ARRAY_CURVE_POINTS_H
#define NSL_ARRAY_CURVE_POINTS_H

#include <lua.h>

/* Adds thin_support = { rises, columns, distance, corners } to the module on top of the stack. */
void nsl_open_thin(lua_State *L);

#endif
