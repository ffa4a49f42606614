/*
** math_slots.h
** Finds the places from which a callback takes its math functions, and replaces the functions there during a call.
*/
#pragma once

#include "bind/lua/object.h"

/*
** Pushes a list of places that hold a function which is a key of the tables at `map` (original to replacement) or `inverse`. A
** place is an upvalue of a Lua function or a field of a table. The list is a table of groups of four: the table or function,
** the key or the upvalue's number, the original, the replacement.
**
** The search starts from the stack slots first..last (of a C function: from what its upvalues hold) and the math library's
** table, and follows upvalues, fields, metatables and user values; it skips package.loaded, and follows user values only of the
** roots and of what they hold. It is breadth first, with limits on depth, objects and places; it reads only the first elements
** of a long array, and none of an array of numbers. far = false: takes about a millisecond at most and finds only near places.
*/
void nsl_swap_find(lua_State *L, int map, int inverse, int first, int last, bool far);

/*
** Pushes a list, of the same form, of the places that hold a userdata or a table for which `replace` pushes a replacement (and returns true). map: a
** table for its use.
*/
void nsl_swap_find_objects(lua_State *L, int map, bool (*replace)(lua_State *L, int map, int value), int first, int last);

/* Pushes a list of the places in `list` whose replacement is `wanted`. */
void nsl_swap_select(lua_State *L, int list, bool (*wanted)(lua_State *L, int replacement));

/* Calls `visit` for each place with the stack index of its replacement. */
void nsl_swap_each(lua_State *L, int list, void (*visit)(lua_State *L, int replacement));

/* The number of places in a list. */
int nsl_swap_count(lua_State *L, int list);

/* Whether two lists have the same places in the same order. */
bool nsl_swap_same(lua_State *L, int a, int b);

/* Pushes a packed copy of a list for quick use: a thread, never run, whose stack holds the list's entries. */
void nsl_swap_pack(lua_State *L, int list);
int nsl_swap_packed_count(lua_State *packed);

/* Pushes a packed copy in which each replacement is that which `replace` pushes for it, if it does. */
void nsl_swap_renew(lua_State *L, lua_State *packed, int map, bool (*replace)(lua_State *L, int map, int value));

/*
** Calls a function as lua_pcall does; during the call each place holds its replacement. A place that is written during the call keeps the
** new value. The results may stand above a value that is not theirs.
*/
int nsl_swap_call(lua_State *L, lua_State *packed, int nargs, int nresults);
