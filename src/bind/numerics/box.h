/*
** box.h
** ns.numerics: the solvers of linear complementarity problems as Lua functions.
*/
#ifndef NSL_NUMERICS_BOX_H
#define NSL_NUMERICS_BOX_H

#include "bind/lua/object.h"
#include "solvers/box/box.h"

/*
** Adds lcp, box, relay (= box) and mlcp to the subtable `numerics` of the module. Each takes one table of options and returns a
** table: success, status, message, z (u, v), w, residual, scale, relative, iterations, solver, time, and ray or solutions if
** found. Bad data raise an error; a problem without a solution is a result.
*/
void nsl_open_numerics(lua_State *L);

#endif
