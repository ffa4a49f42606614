/*
** nlp.h
** Nonlinear programs of compiled functions.
*/
#ifndef NSL_NUMERICS_NLP_H
#define NSL_NUMERICS_NLP_H

#include <lua.h>

/* Adds ipopt to optimise_support of the module on top of the stack. */
void nsl_open_nlp(lua_State *L);

#endif
