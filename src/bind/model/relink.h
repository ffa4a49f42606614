/*
** relink.h
** The clone of a model: a reference to an object of the original becomes a reference to that object's clone.
*/
#pragma once

#include "bind/model/model.h"

/*
** `map` is the stack index of a table from each object of a model to its clone. Raises when a clone lacks an array that is
** referred to. Parameters z and coefficients: a live view (z = a:x()) of an object in the model becomes a view of its clone;
** any other view stays. Parameters: objects that share one vector share one clone of it. Fields of systems and relations: an
** object, or a view of one, is replaced in the same way.
*/
void nsl_relink(lua_State *L, int map);

/*
** After nsl_relink: pushes the counterpart of the value at a stack index, and returns true: the clone of an object, or of a table in the map, the view of a
** clone, the vector that the clone shares as z or as a coefficient in the place of a plain vector. False, with nothing pushed: there is none.
*/
bool nsl_push_relinked(lua_State *L, int map, int value);

/* relinked(f, map): after nsl_relink: the function f of the script, as a function of one result that finds the clone's objects where it has captured others. */
int nsl_relinked_function(lua_State *L);
