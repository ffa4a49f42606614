/*
** action_watch.h
** What an action reaches: the variables outside of it that it changes, which is refused; and the objects of a model, which a clone's
** action finds replaced by the clone's.
*/
#pragma once

#include "bind/lua/object.h"

/* Pushes the upvalues that the function at idx, and the functions that it reaches, may change; nil: there are none. */
void nsl_push_watch(lua_State *L, int idx);

/* Pushes the present values of the upvalues of the watch at idx, one list; fields: with what tables among them have by name. */
void nsl_push_watched(lua_State *L, int watch, bool fields);

/*
** Raises when an upvalue has another value than in the list `before`, or such a field, and sets it back. A table may be filled by number,
** a vector or other object be changed, and a variable that was nil may get one. how: the place of a discrete state in the call, "addEvent { state = { %s = 0 }, action = ...".
*/
void nsl_check_watched(lua_State *L, int watch, int before, const char *how);

/*
** For a clone: pushes the places from which the functions of the event's entry at `entry` take objects of the original model, with
** their counterparts of the clone (nsl_swap_pack); nil: there are none. map: from each object to its clone.
*/
void nsl_push_clone_swap(lua_State *L, int entry, int map);
