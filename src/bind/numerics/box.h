/*
** box.h
** ns.numerics: the solvers of linear complementarity problems as functions of Lua.
*/
#ifndef NSL_NUMERICS_BOX_H
#define NSL_NUMERICS_BOX_H

#include "bind/lua/object.h"
#include "solvers/box/box.h"

/*
** Adds to the subtable `numerics` of the module: lcp, box, relay (= box) and mlcp. Each takes one table of options
** and returns a table: success, status, message, z (u, v), w, residual, scale, relative, iterations, solver, time,
** and where there is one ray or solutions. Data that are bad are errors; a problem that is not solved is a result.
*/
void nsl_open_numerics(lua_State *L);

#endif
