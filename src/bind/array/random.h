/*
** random.h
** Random numbers in Lua.
*/
#ifndef NSL_ARRAY_RANDOM_H
#define NSL_ARRAY_RANDOM_H

#include <lua.h>

/* Adds rng(seed [, stream]) and normal_quantile(u) to the module on top of the stack. */
void nsl_open_random(lua_State *L);

#endif
