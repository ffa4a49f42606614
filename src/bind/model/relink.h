/*
** relink.h
** The clone of a model: what looks at an object of the original looks at its clone.
*/
#ifndef NSL_MODEL_RELINK_H
#define NSL_MODEL_RELINK_H

#include "bind/model/model.h"

/*
** `map` is the stack index of a table of clones by original, with every object of a model in it. Parameters z and coefficients that
** are live views of an object (z = a:x()) become views of its clone, and stay what they are when the object is not part of the
** model; parameters that are one vector stay one; fields of systems and relations that hold an object, or a view of one, hold
** the clone's. Raises where the clone has no such array.
*/
void nsl_relink(lua_State *L, int map);

#endif
