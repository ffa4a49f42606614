/*
** stand_in_math.h
** Lua's math functions for numbers that stand in: each is the original as long as no argument is one.
*/
#ifndef NSL_DIFF_STAND_IN_MATH_H
#define NSL_DIFF_STAND_IN_MATH_H

#include "bind/diff/stand_in.h"

/*
** Pushes the table that maps each function of the math library, and string.format where the kind says so, to one that takes the
** kind's numbers too and is otherwise the same; and the inverse table. `first`: the stack index of the kind's values.
*/
void nsl_stand_in_math(lua_State *L, const NslStandIn *kind, int first, bool format);

/*
** Whether the replacement at idx was given a number that stands in since the last `forget` of all those in the map; always
** true of those that would take such a number for something else without an error (type, tointeger).
*/
bool nsl_math_used(lua_State *L, int idx);
void nsl_math_forget(lua_State *L, int map);

/* Makes it count as used. */
void nsl_math_remember(lua_State *L, int idx);

#endif
