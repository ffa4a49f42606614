/*
** curve_points.h
** thin_support: removes the points of a long curve that don't change its picture.
*/
#ifndef NSL_ARRAY_CURVE_POINTS_H
#define NSL_ARRAY_CURVE_POINTS_H

#include <lua.h>

/* Adds thin_support = { rises, columns, distance, corners } to the module on top of the stack. */
void nsl_open_thin(lua_State *L);

#endif
