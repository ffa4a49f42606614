/*
** ds.h
** What the files of the dynamical systems share.
*/
#ifndef NSL_MODEL_DS_H
#define NSL_MODEL_DS_H

#include "bind/model/model.h"

/* Whether a type is one of the first-order, of the mechanical systems. */
bool nsl_is_first_order(const NslType *type);
bool nsl_is_mechanical(const NslType *type);

/* The system at 1, which must not be in the middle of a step. */
NslDs *nsl_check_idle_ds(lua_State *L, const char *what);

/* Whether an interaction is linked to the system. */
bool nsl_ds_linked(const NslDs *self);

/* Gives the system at idx the parameters at stack index `value`. */
void nsl_set_ds_z(lua_State *L, int idx, int value, bool shared);

/* Pushes the live view of one of the vectors of the system at 1. Returns 1. */
int nsl_ds_view(lua_State *L, double *data, int n, const char *label, uint64_t *version);

/* Copies the vector or table at 2 into one of the system's own vectors. Returns 0. */
int nsl_ds_assign(lua_State *L, const NslDs *self, double *to, int n, const char *what);

/* The methods x, x0, r, z (live views; z is nil without parameters) and close. */
int nsl_ds_x(lua_State *L);
int nsl_ds_x0(lua_State *L);
int nsl_ds_r(lua_State *L);
int nsl_ds_z(lua_State *L);
int nsl_ds_close(lua_State *L);

/*
** For __gc, of the system at 1: frees the callee. The graph that it is in is of no use without it; finalizers of
** scripts, which run in any order, find that closed.
*/
void nsl_ds_let_go(lua_State *L);

/* Pushes "FirstOrderLinearDS 'clutch' with 4 states" for the system at 1. */
int nsl_ds_tostring(lua_State *L, int count, const char *one, const char *many);

/* What a solution has under a name already, "a field of solutions"; NULL: nothing. */
const char *nsl_meaning_in_solution(const char *name);

/* The methods that every system has. */
extern const luaL_Reg nsl_ds_methods[];

void nsl_clone_first_order_ds(lua_State *L, int idx);
void nsl_clone_mechanical_ds(lua_State *L, int idx);

#endif
