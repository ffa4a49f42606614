/*
** linalg.h
** Linear algebra on dense matrices: solve, lu, eig, svd, ...
*/
#ifndef NSL_ARRAY_LINALG_H
#define NSL_ARRAY_LINALG_H

#include <lua.h>

/* Adds solve, lu, eig, ... to the module on top of the stack and to the methods of matrices. */
void nsl_open_linalg(lua_State *L);

#endif
