/*
** math_slots.h
** The places where a callback finds its math functions, and putting others there for the time of a call.
*/
#ifndef NSL_DIFF_MATH_SLOTS_H
#define NSL_DIFF_MATH_SLOTS_H

#include "bind/lua/object.h"

/*
** Pushes the list of the places that hold a function known to the tables at `map` (original to replacement) and
** `inverse`, and that can be reached from the stack slots first..last: upvalues of Lua functions and fields of
** tables, through upvalues, fields, metatables and user values; not through package.loaded, and user values only of
** the roots and of what they hold. The list is a table of groups of four: the table or function that holds, the key
** or the upvalue's number, the original, the replacement. The walk goes breadth first, to a bounded depth and
** number of objects and places; of a long array it takes the first elements, of one of numbers none. Not `far`: a
** walk of about a millisecond at most, which finds what is near. The table of the math library is always a root.
*/
void nsl_swap_find(lua_State *L, int map, int inverse, int first, int last, bool far);

/* Pushes a list of those places of a list whose replacement is wanted. */
void nsl_swap_select(lua_State *L, int list, bool (*wanted)(lua_State *L, int replacement));

/* Calls a function with the stack index of the replacement of each place. */
void nsl_swap_each(lua_State *L, int list, void (*visit)(lua_State *L, int replacement));

/* Number of places of a list. */
int nsl_swap_count(lua_State *L, int list);

/* Whether two lists name the same places in the same order. */
bool nsl_swap_same(lua_State *L, int a, int b);

/* Pushes a list packed for quick use: a thread, never run, whose stack holds the entries of the list. */
void nsl_swap_pack(lua_State *L, int list);
int nsl_swap_packed_count(lua_State *packed);

/*
** Calls a function as lua_pcall does, with no results; during the call the replacement stands wherever the original stood before. A
** place that is written meanwhile keeps what was written.
*/
int nsl_swap_call(lua_State *L, lua_State *packed, int nargs);

#endif
