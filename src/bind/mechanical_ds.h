/*
** mechanical_ds.h
** What the files of the mechanical systems share.
*/
#ifndef NSL_BIND_MECHANICAL_DS_H
#define NSL_BIND_MECHANICAL_DS_H

#include "bind/ds.h"
#include "model/mechanical_ds.h"

/* The engine's object; NULL before it is made. */
NsMechanicalDs *nsl_mechanical(const NslDs *self);

/* The mechanical system at idx; that at 1, which must not be in the middle of a step. */
NslDs *nsl_check_mechanical(lua_State *L, int idx);
NslDs *nsl_check_idle_mechanical(lua_State *L, const char *what);

/* A coefficient by the name that scripts give it: "mass", "K", "C", "fExt", "jacobianFIntq" ... */
NsCoef *nsl_mechanical_coefficient(const NslDs *self, const char *name);

/* Gives the system at idx a coefficient: numbers, or a function where the class has a callback for it. */
void nsl_set_mechanical_coefficient(lua_State *L, int idx, const char *name, int value, bool shared);

/* Methods about the state: see mechanical_state.c. */
extern const luaL_Reg nsl_mechanical_state_methods[];

#endif
