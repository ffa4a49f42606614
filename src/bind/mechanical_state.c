/*
** mechanical_state.c
** Mechanical systems: coordinates, velocities, impulses, and forces and matrices on request.
*/
#include <string.h>

#include "bind/mechanical_ds.h"

static NsMechanicalDs *check(lua_State *L) {
  return nsl_mechanical(nsl_check_mechanical(L, 1));
}

static int level_argument(lua_State *L, const char *what, int otherwise, int most) {
  if (lua_isnoneornil(L, 2)) return otherwise;
  lua_Integer level = nsl_integer(L, 2, what, "level");
  if (level < 0 || level > most) luaL_error(L, "%s: level: expected 0..%d, got %I", what, most, level);
  return (int)level;
}

/* ---- live views ---- */

static int coordinates(lua_State *L, NsMechanicalDs *ds) {
  return nsl_ds_view(L, ds->q, ds->nq, "q", &ds->base.x_version);
}

static int velocities(lua_State *L, NsMechanicalDs *ds) {
  return nsl_ds_view(L, ds->v, ds->nv, "velocity", &ds->base.x_version);
}

static int ds_velocity(lua_State *L) {
  return velocities(L, check(L));
}

static int ds_acceleration(lua_State *L) {
  NsMechanicalDs *ds = check(L);
  return nsl_ds_view(L, ds->acceleration, ds->nv, "acceleration", NULL);
}

/* q([level]): coordinates, velocities, accelerations. */
static int ds_q(lua_State *L) {
  NsMechanicalDs *ds = check(L);
  int level = level_argument(L, "q", 0, 2);
  return level == 0 ? coordinates(L, ds) : level == 1 ? velocities(L, ds) : ds_acceleration(L);
}

static int ds_q0(lua_State *L) {
  NsMechanicalDs *ds = check(L);
  return nsl_ds_view(L, ds->base.x0, ds->nq, "q0", NULL);
}

static int ds_velocity0(lua_State *L) {
  NsMechanicalDs *ds = check(L);
  return nsl_ds_view(L, ds->base.x0 + ds->nq, ds->nv, "velocity0", NULL);
}

/* p([level = 1]): the impulse of the relations in the last step. */
static int ds_p(lua_State *L) {
  NsMechanicalDs *ds = check(L);
  if (level_argument(L, "p", 1, 2) != 1) luaL_error(L, "p: level: impulses are on level 1 alone");
  return nsl_ds_view(L, ds->base.r, ds->nv, "p", NULL);
}

static int ds_q_memory(lua_State *L) {
  NsMechanicalDs *ds = check(L);
  return nsl_ds_view(L, ds->q_k, ds->nq, "qMemory", NULL);
}

static int ds_velocity_memory(lua_State *L) {
  NsMechanicalDs *ds = check(L);
  return nsl_ds_view(L, ds->v_k, ds->nv, "velocityMemory", NULL);
}

static int ds_p_memory(lua_State *L) {
  NsMechanicalDs *ds = check(L);
  return nsl_ds_view(L, ds->base.r_k, ds->nv, "pMemory", NULL);
}

static int ds_forces(lua_State *L) {
  NsMechanicalDs *ds = check(L);
  return nsl_ds_view(L, ds->forces, ds->nv, "forces", NULL);
}

static int ds_dimension(lua_State *L) {
  lua_pushinteger(L, check(L)->nv);
  return 1;
}

/* ---- writing the state ---- */

static int assign(lua_State *L, const char *who, const char *what, bool velocity, bool initial) {
  NslDs *self = nsl_check_idle_mechanical(L, who);
  NsMechanicalDs *ds = nsl_mechanical(self);
  double *to = initial ? ds->base.x0 : ds->base.x;
  if (!initial) ds->base.x_version++;
  return nsl_ds_assign(L, self, to + (velocity ? ds->nq : 0), velocity ? ds->nv : ds->nq, what);
}

static int ds_set_q(lua_State *L) { return assign(L, "setQ", "q", false, false); }
static int ds_set_velocity(lua_State *L) { return assign(L, "setVelocity", "velocity", true, false); }
static int ds_set_q0(lua_State *L) { return assign(L, "setQ0", "q0", false, true); }
static int ds_set_velocity0(lua_State *L) { return assign(L, "setVelocity0", "velocity0", true, true); }

static int ds_set_p(lua_State *L) {
  NslDs *self = nsl_check_idle_mechanical(L, "setP");
  return nsl_ds_assign(L, self, self->ds->r, self->ds->nr, "p");
}

static int ds_reset_p(lua_State *L) {
  NslDs *self = nsl_check_idle_mechanical(L, "resetNonSmoothPart");
  memset(self->ds->r, 0, (size_t)self->ds->nr * sizeof *self->ds->r);
  return 0;
}

static int ds_swap(lua_State *L) {
  ns_ds_remember(nsl_check_idle_mechanical(L, "swapInMemory")->ds);
  return 0;
}

/* ---- evaluation on request ---- */

/* Where a call of a method evaluates: the time, and the coordinates and velocities of the state or given. */
typedef struct At {
  NslDs *self;
  NsMechanicalDs *ds;
  double t;
  const double *q, *v;
} At;

/* The vector or table at idx as contiguous numbers, or `otherwise` when there is none. */
static const double *optional(lua_State *L, int idx, int n, const char *who, const char *what,
                              const double *otherwise) {
  if (lua_isnoneornil(L, idx)) return otherwise;
  NslVector *given = nsl_to_finite_vector(L, idx, n, who, what);
  NslVector *flat = nsl_push_vector(L, n, NULL);
  nsl_vector_read(given, flat->data);
  return flat->data;
}

/* Arguments [time,] [q,] [v]. Leaves the stack at 8 slots or more. */
static At arguments(lua_State *L, const char *who, bool timed, bool by_v) {
  At at = {.self = nsl_check_idle_mechanical(L, who)};
  at.ds = nsl_mechanical(at.self);
  lua_settop(L, 4);
  at.t = timed && !lua_isnil(L, 2) ? nsl_finite(L, 2, who, "time") : 0;
  int first = timed ? 3 : 2;
  at.q = optional(L, first, at.ds->nq, who, "q", at.ds->q);
  at.v = by_v ? optional(L, first + 1, at.ds->nv, who, "velocity", at.ds->v) : at.ds->v;
  return at;
}

/* Runs f in the engine, with the graph busy and callbacks knowing their thread. Raises on failure. */
static void run(lua_State *L, const At *at, NsStatus (*f)(const At *, double *, NsError *), double *out) {
  NsError err = {NS_OK, ""};
  NslEdge edge = nsl_enter(at->self->callee.host, L, NULL);
  NsNsds *nsds = (NsNsds *)at->self->callee.nsds;
  if (nsds) nsds->busy = true;
  NsStatus status = ns_ds_update(&at->ds->base, at->t, &err);
  if (status == NS_OK) status = f(at, out, &err);
  if (nsds) nsds->busy = false;
  nsl_leave(at->self->callee.host, edge);
  if (status != NS_OK) nsl_raise_step(L, &err);
}

static NsStatus mass_of(const At *at, double *out, NsError *err) {
  return ns_mechanical_mass(at->ds, at->t, at->q, out, err);
}

static NsStatus forces_of(const At *at, double *out, NsError *err) {
  return ns_mechanical_forces(at->ds, at->t, at->q, at->v, out, err);
}

static NsStatus value_of(const NsFunction *f, const NsCoef *given, const At *at, double *out, NsError *err) {
  const double *args[NS_FUNCTION_ARGS] = {at->q, at->v, at->ds->base.z};
  memset(out, 0, (size_t)at->ds->nv * sizeof *out);
  if (!f->value) {
    if (given->value) memcpy(out, given->value, (size_t)at->ds->nv * sizeof *out);
    return NS_OK;
  }
  NsStatus status = ns_callback_status(f->value(f->context, at->t, args, out));
  return status == NS_OK ? NS_OK : ns_fail(err, status, "a callback failed");
}

static NsStatus fint_of(const At *at, double *out, NsError *err) {
  return value_of(&at->ds->fint_function, &at->ds->fint, at, out, err);
}

static NsStatus fgyr_of(const At *at, double *out, NsError *err) {
  return value_of(&at->ds->fgyr_function, &at->ds->fgyr, at, out, err);
}

static NsStatus fext_of(const At *at, double *out, NsError *err) {
  static const NsFunction none = {NULL, NULL, NULL};
  return value_of(&none, &at->ds->fext, at, out, err);
}

/* Pushes the vector of nv that f gives. */
static int push_vector_of(lua_State *L, const At *at, NsStatus (*f)(const At *, double *, NsError *)) {
  NslVector *out = nsl_push_vector(L, at->ds->nv, NULL);
  run(L, at, f, out->data);
  return 1;
}

static int ds_mass(lua_State *L) {
  At at = arguments(L, "mass", false, false);
  if (at.ds->mass.sparse) return nsl_push_coef(L, &at.ds->mass, false);
  NslMatrix *M = nsl_push_matrix(L, at.ds->nv, at.ds->nv, NULL);
  run(L, &at, mass_of, M->data);
  return 1;
}

static int ds_compute_fint(lua_State *L) {
  At at = arguments(L, "computeFInt", true, true);
  return push_vector_of(L, &at, fint_of);
}

static int ds_compute_fgyr(lua_State *L) {
  At at = arguments(L, "computeFGyr", false, true);
  return push_vector_of(L, &at, fgyr_of);
}

static int ds_compute_fext(lua_State *L) {
  At at = arguments(L, "computeFExt", true, false);
  return push_vector_of(L, &at, fext_of);
}

/* computeForces(time [, q, v]): the total F, also kept for forces(). */
static int ds_compute_forces(lua_State *L) {
  At at = arguments(L, "computeForces", true, true);
  push_vector_of(L, &at, forces_of);
  memcpy(at.ds->forces, nsl_to_vector(L, -1, at.ds->nv, "computeForces", "F")->data,
         (size_t)at.ds->nv * sizeof(double));
  return 1;
}

static NsStatus accelerate(const At *at, double *out, NsError *err) {
  (void)out;
  return ns_mechanical_accelerate(at->ds, at->t, err);
}

/* computeRhs(time): forces() and acceleration() of the state. */
static int ds_compute_rhs(lua_State *L) {
  At at = arguments(L, "computeRhs", true, false);
  run(L, &at, accelerate, NULL);
  return 0;
}

/* rhs(): (qdot, acceleration) as computeRhs left it. */
static int ds_rhs(lua_State *L) {
  NsMechanicalDs *ds = check(L);
  NslVector *out = nsl_push_vector(L, ds->nq + ds->nv, NULL);
  ns_mechanical_rate(ds, ds->q, ds->v, out->data);
  memcpy(out->data + ds->nq, ds->acceleration, (size_t)ds->nv * sizeof *out->data);
  return 1;
}

/* The Jacobians of F, both: by q (nv x nq) in out, by v behind it; room behind that. */
static NsStatus jacobians_of(const At *at, double *out, NsError *err) {
  size_t by_q = (size_t)at->ds->nv * (size_t)at->ds->nq, by_v = (size_t)at->ds->nv * (size_t)at->ds->nv;
  return ns_mechanical_force_jacobians(at->ds, at->t, at->q, at->v, out + by_q + by_v, out, out + by_q, err);
}

static int push_jacobian(lua_State *L, const char *who, bool by_v) {
  At at = arguments(L, who, true, true);
  int nq = at.ds->nq, nv = at.ds->nv;
  NslVector *room = nsl_push_vector(L, nv * nq + nv * nv + nv * nq, NULL);
  run(L, &at, jacobians_of, room->data);
  NslMatrix *J = nsl_push_matrix(L, nv, by_v ? nv : nq, NULL);
  nsl_matrix_write(J, room->data + (by_v ? (ptrdiff_t)nv * nq : 0));
  return 1;
}

static int ds_jacobian_q(lua_State *L) { return push_jacobian(L, "jacobianqForces", false); }
static int ds_jacobian_v(lua_State *L) { return push_jacobian(L, "jacobianqDotForces", true); }

static NsStatus kinetic_of(const At *at, double *out, NsError *err) {
  return ns_mechanical_kinetic(at->ds, at->t, out, err);
}

static NsStatus potential_of(const At *at, double *out, NsError *err) {
  return ns_mechanical_potential(at->ds, at->t, out, err);
}

static int push_energy(lua_State *L, const char *who, NsStatus (*f)(const At *, double *, NsError *)) {
  At at = arguments(L, who, true, false);
  double energy = 0;
  run(L, &at, f, &energy);
  lua_pushnumber(L, energy);
  return 1;
}

static int ds_kinetic(lua_State *L) { return push_energy(L, "computeKineticEnergy", kinetic_of); }
static int ds_potential(lua_State *L) { return push_energy(L, "computePotentialEnergy", potential_of); }

/* v += M^-1 p: what an impulse does to the velocity. */
static NsStatus impact(const At *at, double *out, NsError *err) {
  NsMechanicalDs *ds = at->ds;
  int n = ds->nv;
  NsLu *lu = NULL;
  NsStatus status = ns_mechanical_mass(ds, at->t, ds->q, out + n, err);
  if (status == NS_OK) status = ns_lu_new(&lu, n);
  if (status == NS_OK) status = ns_lu_factor(lu, out + n, n);
  memcpy(out, ds->base.r, (size_t)n * sizeof *out);
  if (status == NS_OK) ns_lu_solve(lu, 1, out, n);
  ns_lu_free(lu);
  if (status != NS_OK) return ns_fail(err, status, "computePostImpactVelocity: %s", ns_status_message(status));
  for (int i = 0; i < n; i++) ds->v[i] += out[i];
  ds->base.x_version++;
  return NS_OK;
}

static int ds_post_impact(lua_State *L) {
  At at = arguments(L, "computePostImpactVelocity", false, false);
  NslVector *room = nsl_push_vector(L, at.ds->nv * (at.ds->nv + 1), NULL);
  run(L, &at, impact, room->data);
  return 0;
}

static int ds_display(lua_State *L) {
  static const NslDisplayed fields[] = {{"q", ds_q},       {"velocity", ds_velocity}, {"p", ds_p},
                                        {"mass", ds_mass}, {"z", nsl_ds_z},           {NULL, NULL}};
  nsl_check_mechanical(L, 1);
  return nsl_display_object(L, fields);
}

const luaL_Reg nsl_mechanical_state_methods[] = {{"q", ds_q},
                                                 {"velocity", ds_velocity},
                                                 {"acceleration", ds_acceleration},
                                                 {"q0", ds_q0},
                                                 {"velocity0", ds_velocity0},
                                                 {"p", ds_p},
                                                 {"qMemory", ds_q_memory},
                                                 {"velocityMemory", ds_velocity_memory},
                                                 {"pMemory", ds_p_memory},
                                                 {"forces", ds_forces},
                                                 {"dimension", ds_dimension},
                                                 {"setQ", ds_set_q},
                                                 {"setVelocity", ds_set_velocity},
                                                 {"setQ0", ds_set_q0},
                                                 {"setVelocity0", ds_set_velocity0},
                                                 {"setP", ds_set_p},
                                                 {"resetNonSmoothPart", ds_reset_p},
                                                 {"resetAllNonSmoothParts", ds_reset_p},
                                                 {"swapInMemory", ds_swap},
                                                 {"mass", ds_mass},
                                                 {"computeMass", ds_mass},
                                                 {"computeFInt", ds_compute_fint},
                                                 {"fInt", ds_compute_fint},
                                                 {"computeFGyr", ds_compute_fgyr},
                                                 {"fGyr", ds_compute_fgyr},
                                                 {"computeFExt", ds_compute_fext},
                                                 {"fExt", ds_compute_fext},
                                                 {"computeForces", ds_compute_forces},
                                                 {"computeRhs", ds_compute_rhs},
                                                 {"rhs", ds_rhs},
                                                 {"jacobianqForces", ds_jacobian_q},
                                                 {"jacobianqDotForces", ds_jacobian_v},
                                                 {"computeKineticEnergy", ds_kinetic},
                                                 {"computePotentialEnergy", ds_potential},
                                                 {"computePostImpactVelocity", ds_post_impact},
                                                 {"display", ds_display},
                                                 {NULL, NULL}};
