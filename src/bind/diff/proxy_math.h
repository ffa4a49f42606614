/*
** proxy_math.h
** Lua's math functions for proxies; each equals the original when no argument is a proxy.
*/
#pragma once

#include "bind/diff/proxy.h"

/*
** Pushes the table that maps each math function (with `format` also string.format) to one that also accepts this kind's
** numbers; then the inverse table. `first`: the stack index of the kind's values.
*/
void nsl_proxy_math(lua_State *L, const NslProxy *kind, int first, bool format);

/*
** Whether the replacement at idx was given a proxy since the last nsl_math_forget of its map. Always true for functions
** that would misread a proxy without an error (type, tointeger).
*/
bool nsl_math_used(lua_State *L, int idx);
void nsl_math_forget(lua_State *L, int map);

/* Marks the replacement at idx as used. */
void nsl_math_remember(lua_State *L, int idx);
