/*
** mechanical_state.c
** Mechanical systems: coordinates, velocities, impulses, energies.
*/
#include <string.h>

#include "bind/model/mechanical_ds.h"

static NsMechanicalDs *coordinates_check(lua_State *L) {
  return nsl_mechanical(nsl_check_mechanical(L, 1));
}

/* ---- live views ---- */

static int coordinates(lua_State *L, NsMechanicalDs *ds) {
  return nsl_ds_view(L, ds->q, ds->nq, "q", &ds->base.x_version);
}

static int velocities(lua_State *L, NsMechanicalDs *ds) {
  return nsl_ds_view(L, ds->v, ds->nv, "velocity", &ds->base.x_version);
}

static int ds_acceleration(lua_State *L) {
  NsMechanicalDs *ds = coordinates_check(L);
  return nsl_ds_view(L, ds->acceleration, ds->nv, "acceleration", NULL);
}

/* q([level]): coordinates (0), velocities (1), accelerations (2). */
static int ds_q(lua_State *L) {
  NsMechanicalDs *ds = coordinates_check(L);
  lua_Integer level = lua_isnoneornil(L, 2) ? 0 : nsl_integer(L, 2, "q", "level");
  if (level < 0 || level > 2) luaL_error(L, "q: level: expected 0, 1 or 2, got %I", level);
  return level == 0 ? coordinates(L, ds) : level == 1 ? velocities(L, ds) : ds_acceleration(L);
}

/* Raises when the level at idx, if any, is not 1: impulses belong to velocities. */
static void only_level_1(lua_State *L, int idx, const char *what) {
  if (!lua_isnoneornil(L, idx) && nsl_integer(L, idx, what, "level") != 1)
    luaL_error(L, "%s: level: impulses are on level 1 alone", what);
}

/* p([1]): the impulse of the relations in the last step. */
static int ds_p(lua_State *L) {
  NsMechanicalDs *ds = coordinates_check(L);
  bool memory = nsl_which(L) == 1;
  const char *name = memory ? "pMemory" : "p";
  only_level_1(L, 2, name);
  return nsl_ds_view(L, memory ? ds->base.r_k : ds->base.r, ds->nv, name, NULL);
}

static int coordinates_ds_dimension(lua_State *L) {
  return lua_pushinteger(L, coordinates_check(L)->nv), 1;
}

/* ---- writing the state ---- */

static int ds_set_p(lua_State *L) {
  NslDs *self = nsl_check_idle_mechanical(L, "setP");
  lua_settop(L, 3);
  only_level_1(L, 3, "setP");
  return nsl_ds_assign(L, self, self->ds->r, self->ds->nr, "p");
}

static int ds_reset_p(lua_State *L) {
  static const char *const names[] = {"resetNonSmoothPart", "resetAllNonSmoothParts", "initializeNonSmoothInput"};
  const char *what = names[nsl_which(L)];
  NslDs *self = nsl_check_idle_mechanical(L, what);
  only_level_1(L, 2, what);
  memset(self->ds->r, 0, (size_t)self->ds->nr * sizeof *self->ds->r);
  return 0;
}

static int ds_swap(lua_State *L) {
  ns_ds_remember(nsl_check_idle_mechanical(L, "swapInMemory")->ds);
  return 0;
}

/* ---- energies and impacts ---- */

static int ds_kinetic(lua_State *L) {
  nsl_at_most(L, 1, "computeKineticEnergy");
  NslAt at = nsl_mechanical_at(L, "computeKineticEnergy");
  double energy = 0;
  nsl_mechanical_run(L, &at, ns_quantity_kinetic, &energy);
  return lua_pushnumber(L, energy), 1;
}

/* computePotentialEnergy([time]): the sum of the energies of the stiffness, of constant external forces and of the callback. */
static int ds_potential(lua_State *L) {
  NslAt at = nsl_mechanical_at(L, "computePotentialEnergy");
  if (!lua_isnoneornil(L, 2)) at.of.t = nsl_finite(L, 2, "computePotentialEnergy", "time");
  double energy = 0;
  nsl_mechanical_run(L, &at, ns_quantity_potential, &energy);
  return lua_pushnumber(L, energy), 1;
}

/* computePostImpactVelocity(): v += M^-1 p, the jump of the velocity under the impulse p. */
static int ds_post_impact(lua_State *L) {
  NslAt at = nsl_mechanical_at(L, "computePostImpactVelocity");
  NsMechanicalDs *ds = at.of.ds;
  NslVector *change = nsl_push_vector(L, ds->nv, NULL);
  memcpy(change->data, ds->base.r, (size_t)ds->nv * sizeof *ds->base.r);
  nsl_mechanical_run(L, &at, ns_quantity_divide, change->data);
  for (int i = 0; i < ds->nv; i++) ds->v[i] += change->data[i];
  ds->base.x_version++;
  return 0;
}

/* For Siconos' methods that allocate memory: here it is allocated from the start, so they do nothing. */
static int ds_accept(lua_State *L) {
  nsl_check_mechanical(L, 1);
  return 0;
}

static int show_velocity(lua_State *L) {
  return velocities(L, coordinates_check(L));
}

static int show_z(lua_State *L) {
  const NsDs *ds = nsl_check_mechanical(L, 1)->ds;
  return nsl_push_z(L, 1, ds->z, ds->nz);
}

static int coordinates_ds_display(lua_State *L) {
  static const NslDisplayed fields[] = {
      {"q", ds_q}, {"velocity", show_velocity}, {"p", ds_p}, {"mass", nsl_mechanical_show_mass}, {"z", show_z}, {NULL, NULL}};
  nsl_check_mechanical(L, 1);
  return nsl_display_object(L, fields);
}

const NslVariant nsl_mechanical_state_methods[] = {{"q", ds_q, 0},
                                                   {"p", ds_p, 0},
                                                   {"pMemory", ds_p, 1},
                                                   {"dimension", coordinates_ds_dimension, 0},
                                                   {"setP", ds_set_p, 0},
                                                   {"resetNonSmoothPart", ds_reset_p, 0},
                                                   {"resetAllNonSmoothParts", ds_reset_p, 1},
                                                   {"initializeNonSmoothInput", ds_reset_p, 2},
                                                   {"swapInMemory", ds_swap, 0},
                                                   {"computeKineticEnergy", ds_kinetic, 0},
                                                   {"computePotentialEnergy", ds_potential, 0},
                                                   {"computePostImpactVelocity", ds_post_impact, 0},
                                                   {"initMemory", ds_accept, 0},
                                                   {"init_forces", ds_accept, 0},
                                                   {"init_generalized_coordinates", ds_accept, 0},
                                                   {"init_inverse_mass", ds_accept, 0},
                                                   {"display", coordinates_ds_display, 0},
                                                   {NULL, NULL, 0}};
