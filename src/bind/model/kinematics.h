/*
** kinematics.h
** Functions f(t, q) of the time and the coordinates, with their derivatives.
*/
#ifndef NSL_MODEL_KINEMATICS_H
#define NSL_MODEL_KINEMATICS_H

#include <lua.h>

/* Adds motion_support, which evaluates the functions f(t, q) of lua/nslua/mechanics.lua, to the module on top of the stack. */
void nsl_open_kinematics(lua_State *L);

#endif
