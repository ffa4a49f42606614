/*
** mechanical_ds.h
** What the files of the mechanical systems share.
*/
#pragma once

#include "bind/model/ds.h"
#include "model/mechanical_ds.h"

/* The quantities that scripts can ask for; the last computed value of each is kept (mechanical_forces.c). */
typedef enum NslQuantity {
  NSL_MASS,
  NSL_FINT,
  NSL_FGYR,
  NSL_FEXT,
  NSL_JACOBIAN_FINT_Q, /* these four follow the order of NS_FINT_BY_Q ... */
  NSL_JACOBIAN_FINT_V,
  NSL_JACOBIAN_FGYR_Q,
  NSL_JACOBIAN_FGYR_V,
  NSL_MEXT, /* moments of a rigid body; their Jacobians follow the order of NS_MINT_BY_Q ... */
  NSL_MINT,
  NSL_JACOBIAN_MINT_Q,
  NSL_JACOBIAN_MINT_V,
  NSL_FORCES,
  NSL_JACOBIAN_Q,
  NSL_JACOBIAN_V,
  NSL_RHS,
  NSL_JACOBIAN_RHS,
  NSL_QUANTITIES
} NslQuantity;

typedef struct NslMechanical {
  NslDs base;
  double *kept[NSL_QUANTITIES]; /* the last computed values, in the system's arena; NULL: not asked for yet */
} NslMechanical;

/* Where a method evaluates: the time, and coordinates and velocities (of the state, or given). `room`: workspace. */
typedef struct NslAt {
  NslMechanical *self;
  NsMechanicalDs *ds;
  double t;
  const double *q, *v;
  double *room;
  bool in_step; /* the call comes from inside a callback: coefficients stay as the step has read them */
} NslAt;

/* Runs f in the engine: the graph is busy, and callbacks use this Lua thread. Raises on failure. */
void nsl_mechanical_run(lua_State *L, const NslAt *at, NsStatus (*f)(const NslAt *, double *, NsError *), double *out);

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
