/*
** made_for.h
** Relations that are made for certain systems, as joints are: nsds:link refuses others.
*/
#pragma once

#include "bind/model/model.h"

/*
** made_for(relation, rows, ds [, ds2, ...]): the relation has that many rows, and links these systems in this order. The relation keeps them
** alive; scripts do not see them.
*/
int nsl_made_for(lua_State *L);

/*
** Raises when the relation at `relation` is made for other systems than the n of the graph at stack index `first` and on, or for another number of
** rows than the law has.
*/
void nsl_check_made_for(lua_State *L, const NsNsds *nsds, int relation, const NsLaw *law, int first, int n);

/* Makes the clone `to` of a relation for the clones of the systems that `from` is made for; map: stack index of the table from each object to its clone. */
void nsl_relink_made_for(lua_State *L, int map, int from, int to);
