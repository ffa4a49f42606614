/*
** digest.h
** A number for what an object holds, to tell whether that has changed.
*/
#ifndef NSL_DIFF_DIGEST_H
#define NSL_DIFF_DIGEST_H

#include "bind/lua/object.h"

/*
** Of the value at idx, what a traced callback may have read out of it: of a system or a relation its fields and its class, of a
** table its elements, with tables in these to a depth of 3 and 1000 elements of each, numbers of vectors and matrices, texts and
** booleans. Other objects are told by their address. Raises nothing but for want of room on the stack.
*/
uint64_t nsl_digest(lua_State *L, int idx);

#endif
