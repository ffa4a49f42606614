/*
** mechanical_ds.h
** What the files of the mechanical systems share.
*/
#pragma once

#include "bind/model/ds.h"
#include "model/mechanical_quantity.h"

typedef struct NslMechanical {
  NslDs base;
  double *kept[NS_QUANTITIES]; /* the last computed values, in the system's arena; NULL: not asked for yet */
} NslMechanical;

/* Where a method evaluates. */
typedef struct NslAt {
  NslMechanical *self;
  NsQuantityPoint of;
} NslAt;

/* The state of the system at 1; raises when it is in the middle of a step. */
NslAt nsl_mechanical_at(lua_State *L, const char *what);

typedef NsStatus (*NslQuantityFunction)(const NsQuantityPoint *at, double *out, NsError *err);

/* Runs f in the engine: the graph is busy, and callbacks use this Lua thread. Raises on failure. */
void nsl_mechanical_run(lua_State *L, const NslAt *at, NslQuantityFunction f, double *out);

/* The engine's system; NULL before it is made. */
static inline NsMechanicalDs *nsl_mechanical(const NslDs *self) {
  return (NsMechanicalDs *)self->ds;
}

/* Sets a constant external moment (three elements, at stack index `value`) of the rigid body at idx; it replaces a callback. */
void nsl_set_moment(lua_State *L, int idx, int value, const char *what);

/* The methods that no table of fields makes: forces and moments, the state, boundary conditions. */
extern const NslVariant nsl_mechanical_coef_methods[], nsl_mechanical_state_methods[];
extern const luaL_Reg nsl_mechanical_boundary_methods[];

/* Adds the methods that show and compute masses, forces and their Jacobians to the table on top. */
void nsl_add_quantity_methods(lua_State *L);

/* For display(): pushes what mass() returns, nil when the mass is not known. */
int nsl_mechanical_show_mass(lua_State *L);
