/*
** random.h
** Random numbers in Lua.
*/
#pragma once

#include <lua.h>

#include "base/philox.h"

/* The generator of the rng at idx; NULL: there is none. */
NsPhilox *nsl_test_rng(lua_State *L, int idx);

/* Pushes an rng that draws from a generator of the object at stack index `owner`. */
void nsl_push_rng(lua_State *L, int owner, NsPhilox *at);
