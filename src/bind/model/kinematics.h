/*
** kinematics.h
** Functions of the time and the coordinates, with their derivatives.
*/
#ifndef NSL_MODEL_KINEMATICS_H
#define NSL_MODEL_KINEMATICS_H

#include <lua.h>

/* Adds motion_support, the functions of t and q that lua/nslua/mechanics.lua evaluates, to the module on top of the stack. */
void nsl_open_kinematics(lua_State *L);

#endif
