/*
** mechanical_state.c
** Mechanical systems: coordinates, velocities, impulses, energies.
*/
#include <math.h>
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

static int ds_q0(lua_State *L) {
  NsMechanicalDs *ds = coordinates_check(L);
  return nsl_ds_view(L, ds->base.x0, ds->nq, "q0", NULL);
}

static int ds_velocity0(lua_State *L) {
  NsMechanicalDs *ds = coordinates_check(L);
  return nsl_ds_view(L, ds->base.x0 + ds->nq, ds->nv, "velocity0", NULL);
}

/* Raises when the level at idx, if any, is not 1: impulses belong to velocities. */
static void only_level_1(lua_State *L, int idx, const char *what) {
  if (!lua_isnoneornil(L, idx) && nsl_integer(L, idx, what, "level") != 1)
    luaL_error(L, "%s: level: impulses are on level 1 alone", what);
}

/* p([1]): the impulse of the relations in the last step. */
static int ds_p(lua_State *L) {
  NsMechanicalDs *ds = coordinates_check(L);
  only_level_1(L, 2, "p");
  return nsl_ds_view(L, ds->base.r, ds->nv, "p", NULL);
}

static int ds_p_memory(lua_State *L) {
  NsMechanicalDs *ds = coordinates_check(L);
  only_level_1(L, 2, "pMemory");
  return nsl_ds_view(L, ds->base.r_k, ds->nv, "pMemory", NULL);
}

static int coordinates_ds_dimension(lua_State *L) {
  lua_pushinteger(L, coordinates_check(L)->nv);
  return 1;
}

/* ---- writing the state ---- */

void nsl_normalise_quaternion(lua_State *L, double *q, const char *what) {
  double norm = sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
  if (norm < 1e-6) luaL_error(L, "NewtonEulerDS: %s: expected a quaternion in %s[4] .. %s[7], got zeros", what, what, what);
  for (int i = 3; i < 7; i++) q[i] /= norm;
}

static int assign(lua_State *L, const char *who, const char *what, bool velocity, bool initial) {
  NslDs *self = nsl_check_idle_mechanical(L, who);
  NsMechanicalDs *ds = nsl_mechanical(self);
  double *to = (initial ? ds->base.x0 : ds->base.x) + (velocity ? ds->nq : 0);
  int n = velocity ? ds->nv : ds->nq;
  lua_settop(L, 2);
  NslVector *given = nsl_to_finite_vector(L, 2, n, self->callee.head.type->name, what), *flat = nsl_push_vector(L, n, NULL);
  nsl_vector_read(given, flat->data);
  if (ns_mechanical_turns(ds) && !velocity) nsl_normalise_quaternion(L, flat->data, what);
  memcpy(to, flat->data, (size_t)n * sizeof *to);
  if (!initial) ds->base.x_version++;
  return 0;
}

static int ds_set_q(lua_State *L) {
  return assign(L, "setQ", "q", false, false);
}
static int ds_set_q0(lua_State *L) {
  return assign(L, "setQ0", "q0", false, true);
}
static int ds_set_velocity0(lua_State *L) {
  return assign(L, "setVelocity0", "velocity0", true, true);
}

static int ds_set_p(lua_State *L) {
  NslDs *self = nsl_check_idle_mechanical(L, "setP");
  lua_settop(L, 3);
  only_level_1(L, 3, "setP");
  return nsl_ds_assign(L, self, self->ds->r, self->ds->nr, "p");
}

static int reset_p(lua_State *L, const char *what) {
  NslDs *self = nsl_check_idle_mechanical(L, what);
  only_level_1(L, 2, what);
  memset(self->ds->r, 0, (size_t)self->ds->nr * sizeof *self->ds->r);
  return 0;
}

static int ds_reset_p(lua_State *L) {
  return reset_p(L, "resetNonSmoothPart");
}
static int ds_reset_all_p(lua_State *L) {
  return reset_p(L, "resetAllNonSmoothParts");
}
static int ds_initialize_p(lua_State *L) {
  return reset_p(L, "initializeNonSmoothInput");
}

static int ds_swap(lua_State *L) {
  ns_ds_remember(nsl_check_idle_mechanical(L, "swapInMemory")->ds);
  return 0;
}

/* ---- energies and impacts ---- */

static NslAt at_state(lua_State *L, const char *what) {
  NslAt at = {.self = (NslMechanical *)nsl_check_idle_mechanical(L, what)};
  at.ds = nsl_mechanical(&at.self->base);
  at.q = at.ds->q;
  at.v = at.ds->v;
  return at;
}

/* Reads a constant mass again when its source has changed. */
static NsStatus update_mass(const NslAt *at, NsError *err) {
  NsCoefName who = {"dynamical system", ns_ds_name(&at->ds->base), "mass"};
  return at->ds->mass.value ? ns_coef_update(&at->ds->mass, who, 0, NULL, err) : NS_OK;
}

static NsStatus kinetic_of(const NslAt *at, double *out, NsError *err) {
  NsStatus status = update_mass(at, err);
  return status == NS_OK ? ns_mechanical_kinetic_at(at->ds, 0, at->q, at->v, out, err) : status;
}

static NsStatus potential_of(const NslAt *at, double *out, NsError *err) {
  return ns_mechanical_potential(at->ds, at->t, out, err);
}

static int ds_kinetic(lua_State *L) {
  nsl_at_most(L, 1, "computeKineticEnergy");
  NslAt at = at_state(L, "computeKineticEnergy");
  double energy = 0;
  nsl_mechanical_run(L, &at, kinetic_of, &energy);
  lua_pushnumber(L, energy);
  return 1;
}

/* computePotentialEnergy([time]): the sum of the energies of the stiffness, of constant external forces and of the callback. */
static int ds_potential(lua_State *L) {
  NslAt at = at_state(L, "computePotentialEnergy");
  if (!lua_isnoneornil(L, 2)) at.t = nsl_finite(L, 2, "computePotentialEnergy", "time");
  double energy = 0;
  nsl_mechanical_run(L, &at, potential_of, &energy);
  lua_pushnumber(L, energy);
  return 1;
}

static NsStatus coordinates_divide(const NslAt *at, double *out, NsError *err) {
  NsStatus status = update_mass(at, err);
  return status == NS_OK ? ns_mechanical_divide(at->ds, 0, at->q, 1, out, err) : status;
}

/* computePostImpactVelocity(): v += M^-1 p, the jump of the velocity under the impulse p. */
static int ds_post_impact(lua_State *L) {
  NslAt at = at_state(L, "computePostImpactVelocity");
  NsMechanicalDs *ds = at.ds;
  NslVector *change = nsl_push_vector(L, ds->nv, NULL);
  memcpy(change->data, ds->base.r, (size_t)ds->nv * sizeof *ds->base.r);
  nsl_mechanical_run(L, &at, coordinates_divide, change->data);
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

const luaL_Reg nsl_mechanical_state_methods[] = {{"q", ds_q},
                                                 {"q0", ds_q0},
                                                 {"velocity0", ds_velocity0},
                                                 {"p", ds_p},
                                                 {"pMemory", ds_p_memory},
                                                 {"dimension", coordinates_ds_dimension},
                                                 {"setQ", ds_set_q},
                                                 {"setQ0", ds_set_q0},
                                                 {"setVelocity0", ds_set_velocity0},
                                                 {"setP", ds_set_p},
                                                 {"resetNonSmoothPart", ds_reset_p},
                                                 {"resetAllNonSmoothParts", ds_reset_all_p},
                                                 {"initializeNonSmoothInput", ds_initialize_p},
                                                 {"swapInMemory", ds_swap},
                                                 {"computeKineticEnergy", ds_kinetic},
                                                 {"computePotentialEnergy", ds_potential},
                                                 {"computePostImpactVelocity", ds_post_impact},
                                                 {"initMemory", ds_accept},
                                                 {"init_forces", ds_accept},
                                                 {"init_generalized_coordinates", ds_accept},
                                                 {"init_inverse_mass", ds_accept},
                                                 {"display", coordinates_ds_display},
                                                 {NULL, NULL}};
