/*
** friction.h
** ns.numerics.fc2d and fc3d: friction problems as functions of Lua.
*/
#ifndef NSL_NUMERICS_FRICTION_H
#define NSL_NUMERICS_FRICTION_H

#include "bind/lua/object.h"

/*
** Adds to the subtable `numerics` of the module: fc2d and fc3d. Each takes one table {W=, q=, mu=, solver=,
** tolerance=, max_iterations=, r0=} (W a matrix, a table of rows or a sparse matrix) and returns a table: success,
** status, message, r (also z), u (also w), residual, scale, relative, scaled, iterations, solver, time. Bad data are
** errors; a problem that is not solved is a result.
*/
void nsl_open_numerics_friction(lua_State *L);
void nsl_open_numerics_mixed(lua_State *L);

#endif
