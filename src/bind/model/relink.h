/*
** relink.h
** The clone of a model: a reference to an object of the original becomes a reference to that object's clone.
*/
#ifndef NSL_MODEL_RELINK_H
#define NSL_MODEL_RELINK_H

#include "bind/model/model.h"

/*
** `map` is the stack index of a table from each object of a model to its clone. Raises when a clone lacks an array that is
** referred to. Parameters z and coefficients: a live view (z = a:x()) of an object in the model becomes a view of its clone;
** any other view stays. Parameters: objects that share one vector share one clone of it. Fields of systems and relations: an
** object, or a view of one, is replaced in the same way.
*/
void nsl_relink(lua_State *L, int map);

#endif
