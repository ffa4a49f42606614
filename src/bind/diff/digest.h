/*
** digest.h
** A hash of what an object holds, to detect changes.
*/
#pragma once

#include "bind/lua/object.h"

/*
** Hashes what a traced callback may have read from the value at idx: the fields and the class of a system or a relation; the
** elements of a table (1000 at most, with nested tables to a depth of 3); numbers in vectors and matrices, strings, booleans.
** Other objects are hashed by their address. Raises only when there is no stack space.
*/
uint64_t nsl_digest(lua_State *L, int idx);

/*
** Hashes what functions may read, as a list at idx says. Its elements are Lua functions, whose upvalues count except for their
** globals; lists { table, key }; and lists { table } for all elements. Tables in these count by their address.
*/
uint64_t nsl_digest_list(lua_State *L, int idx);
