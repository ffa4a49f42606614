/*
** mechanical_forces.c
** Masses, forces and their Jacobians of mechanical systems, on request: computeX evaluates and keeps X, X shows the kept value.
*/
#include <string.h>

#include "bind/model/mechanical_ds.h"

/* ---- evaluation in the engine ---- */

void nsl_mechanical_run(lua_State *L, const NslAt *at, NsStatus (*f)(const NslAt *, double *, NsError *), double *out) {
  NsError err = {NS_OK, ""};
  NslEdge edge = nsl_enter(at->self->base.callee.host, L, NULL, at->self->base.callee.nsds);
  NsStatus status = f(at, out, &err);
  nsl_leave(at->self->base.callee.host, edge);
  if (status != NS_OK) nsl_raise_step(L, &err);
}

static NsStatus forces_update(const NslAt *at, const char *name, NsError *err) {
  NsCoef *coef = nsl_coefficient(&at->self->base.callee, name);
  NsCoefName who = {"dynamical system", ns_ds_name(&at->ds->base), name};
  return coef && coef->value && !at->in_step ? ns_coef_update(coef, who, at->t, at->ds->base.z, err) : NS_OK;
}

static NsStatus mass_of(const NslAt *at, double *out, NsError *err) {
  NsStatus status = forces_update(at, "mass", err);
  return status == NS_OK ? ns_mechanical_mass(at->ds, at->t, at->q, out, err) : status;
}

static NsStatus fint_of(const NslAt *at, double *out, NsError *err) {
  NsStatus status = forces_update(at, "fInt", err);
  return status == NS_OK ? ns_mechanical_internal(at->ds, at->t, at->q, at->v, out, err) : status;
}

static NsStatus fgyr_of(const NslAt *at, double *out, NsError *err) {
  NsStatus status = forces_update(at, "fGyr", err);
  return status == NS_OK ? ns_mechanical_gyroscopic(at->ds, at->t, at->q, at->v, out, err) : status;
}

static NsStatus fext_of(const NslAt *at, double *out, NsError *err) {
  NsStatus status = forces_update(at, "fExt", err);
  size_t n = (size_t)at->ds->nv;
  if (status != NS_OK) return status;
  if (at->ds->fext.value) memcpy(out, at->ds->fext.value, n * sizeof *out);
  else memset(out, 0, n * sizeof *out);
  return NS_OK;
}

static NsStatus forces_part_of(const NslAt *at, int which, const char *name, double *out, NsError *err) {
  NsStatus status = forces_update(at, name, err);
  if (status != NS_OK) return status;
  return ns_mechanical_force_jacobian(at->ds, which, at->t, at->q, at->v, at->room, out, err);
}

static NsStatus fint_q_of(const NslAt *at, double *out, NsError *err) {
  return forces_part_of(at, NS_FINT_BY_Q, "jacobianFIntq", out, err);
}
static NsStatus fint_v_of(const NslAt *at, double *out, NsError *err) {
  return forces_part_of(at, NS_FINT_BY_V, "jacobianFIntqDot", out, err);
}
static NsStatus fgyr_q_of(const NslAt *at, double *out, NsError *err) {
  return forces_part_of(at, NS_FGYR_BY_Q, "jacobianFGyrq", out, err);
}
static NsStatus fgyr_v_of(const NslAt *at, double *out, NsError *err) {
  return forces_part_of(at, NS_FGYR_BY_V, "jacobianFGyrqDot", out, err);
}

static NsStatus mext_of(const NslAt *at, double *out, NsError *err) {
  NsStatus status = forces_update(at, "fExt", err);
  NsCoefName who = {"dynamical system", ns_ds_name(&at->ds->base), "mExt"};
  if (status == NS_OK && at->ds->mext.value && !at->in_step)
    status = ns_coef_update(&at->ds->mext, who, at->t, at->ds->base.z, err);
  if (status == NS_OK) ns_mechanical_external_moment(at->ds, out);
  return status;
}

static NsStatus mint_of(const NslAt *at, double *out, NsError *err) {
  return ns_mechanical_internal_moment(at->ds, at->t, at->q, at->v, out, err);
}

static NsStatus mint_q_of(const NslAt *at, double *out, NsError *err) {
  return ns_mechanical_force_jacobian(at->ds, NS_MINT_BY_Q, at->t, at->q, at->v, at->room, out, err);
}
static NsStatus mint_v_of(const NslAt *at, double *out, NsError *err) {
  return ns_mechanical_force_jacobian(at->ds, NS_MINT_BY_V, at->t, at->q, at->v, at->room, out, err);
}

static NsStatus forces_of(const NslAt *at, double *out, NsError *err) {
  NsStatus status = ns_ds_update(&at->ds->base, at->t, err);
  return status == NS_OK ? ns_mechanical_forces(at->ds, at->t, at->q, at->v, out, err) : status;
}

static NsStatus forces_jacobians(const NslAt *at, double *by_q, double *by_v, double *room, NsError *err) {
  NsStatus status = ns_ds_update(&at->ds->base, at->t, err);
  if (status != NS_OK) return status;
  return ns_mechanical_force_jacobians(at->ds, at->t, at->q, at->v, room, by_q, by_v, err);
}

static NsStatus jacobian_q_of(const NslAt *at, double *out, NsError *err) {
  size_t nv = (size_t)at->ds->nv;
  return forces_jacobians(at, out, at->room, at->room + nv * nv, err);
}

static NsStatus jacobian_v_of(const NslAt *at, double *out, NsError *err) {
  size_t by_q = (size_t)at->ds->nv * (size_t)at->ds->nq;
  return forces_jacobians(at, at->room, out, at->room + by_q, err);
}

/* out = (qdot, acceleration) at the state; the accelerations and forces are kept too. */
static NsStatus rhs_of(const NslAt *at, double *out, NsError *err) {
  NsMechanicalDs *ds = at->ds;
  NsStatus status = ns_mechanical_accelerate(ds, at->t, err);
  if (status != NS_OK) return status;
  ns_mechanical_rate(ds, ds->q, ds->v, out);
  memcpy(out + ds->nq, ds->acceleration, (size_t)ds->nv * sizeof *out);
  return NS_OK;
}

/* out = the upper rows (leading dimension n) of the Jacobian of the right-hand side: d(T(q) v), bilinear in q and v. */
static void rate_jacobian(const NslAt *at, double *out, double *unit) {
  const NsMechanicalDs *ds = at->ds;
  size_t n = (size_t)ds->base.n;
  double rate[7]; /* size 7: the coordinates of a rigid body */
  for (int j = 0; j < ds->base.n; j++) {
    if (!ns_mechanical_turns(ds)) {
      if (j >= ds->nq) out[(size_t)(j - ds->nq) + (size_t)j * n] = 1;
      continue;
    }
    bool velocity = j >= ds->nq;
    memset(unit, 0, n * sizeof *unit);
    unit[j] = 1;
    ns_mechanical_rate(ds, velocity ? at->q : unit, velocity ? unit + ds->nq : at->v, rate);
    for (int i = velocity ? 0 : 3; i < ds->nq; i++) out[(size_t)i + (size_t)j * n] = rate[i];
  }
}

/*
** out = the Jacobian of (T(q) v, M^-1 F) at the state. Lower rows: M^-1 (dF/dq - d(M a)/dq) and M^-1 dF/dv, where a is the
** acceleration.
*/
static NsStatus jacobian_rhs_of(const NslAt *at, double *out, NsError *err) {
  NsMechanicalDs *ds = at->ds;
  size_t n = (size_t)ds->base.n, nq = (size_t)ds->nq, nv = (size_t)ds->nv;
  double *below = at->room, *by_v = below + nv * nq, *room = by_v + nv * nv;
  NsStatus status = ns_mechanical_accelerate(ds, at->t, err);
  if (status == NS_OK) status = forces_jacobians(at, below, by_v, room, err);
  if (status == NS_OK) status = ns_mechanical_mass_derivative(ds, at->t, at->q, ds->acceleration, -1, room, below, err);
  if (status == NS_OK) status = ns_mechanical_divide(ds, at->t, at->q, (int)n, below, err);
  if (status != NS_OK) return status;
  memset(out, 0, n * n * sizeof *out);
  rate_jacobian(at, out, room);
  for (size_t j = 0; j < n; j++) memcpy(out + nq + j * n, below + j * nv, nv * sizeof *out);
  return NS_OK;
}

/* ---- the quantities ---- */

static const struct {
  const char *name, *method; /* name: the method that shows the quantity; method: the one that computes it */
  const char *args;          /* arguments of `method`: 't' time, 'x' q, 'l' v; q and v may be left out */
  char rows, cols;           /* sizes: 'm' velocities, 'n' coordinates, 's' both, '3' three, '1' a vector */
  NsStatus (*evaluate)(const NslAt *at, double *out, NsError *err);
} quantities[NSL_QUANTITIES] = {
    [NSL_MASS] = {"mass", "computeMass", "x", 'm', 'm', mass_of},
    [NSL_FINT] = {"fInt", "computeFInt", "txl", 'm', '1', fint_of},
    [NSL_FGYR] = {"fGyr", "computeFGyr", "xl", 'm', '1', fgyr_of},
    [NSL_FEXT] = {"fExt", "computeFExt", "t", 'm', '1', fext_of},
    [NSL_JACOBIAN_FINT_Q] = {"jacobianFIntq", "computeJacobianFIntq", "txl", 'm', 'n', fint_q_of},
    [NSL_JACOBIAN_FINT_V] = {"jacobianFIntqDot", "computeJacobianFIntqDot", "txl", 'm', 'm', fint_v_of},
    [NSL_JACOBIAN_FGYR_Q] = {"jacobianFGyrq", "computeJacobianFGyrq", "xl", 'm', 'n', fgyr_q_of},
    [NSL_JACOBIAN_FGYR_V] = {"jacobianFGyrqDot", "computeJacobianFGyrqDot", "xl", 'm', 'm', fgyr_v_of},
    [NSL_MEXT] = {"mExt", "computeMExt", "t", '3', '1', mext_of},
    [NSL_MINT] = {"mInt", "computeMInt", "txl", '3', '1', mint_of},
    [NSL_JACOBIAN_MINT_Q] = {"jacobianMIntq", "computeJacobianMIntq", "txl", '3', 'n', mint_q_of},
    [NSL_JACOBIAN_MINT_V] = {"jacobianMIntv", "computeJacobianMIntv", "txl", '3', 'm', mint_v_of},
    [NSL_FORCES] = {"forces", "computeForces", "txl", 'm', '1', forces_of},
    [NSL_JACOBIAN_Q] = {"jacobianqForces", "computeJacobianqForces", "txl", 'm', 'n', jacobian_q_of},
    [NSL_JACOBIAN_V] = {"jacobianqDotForces", "computeJacobianqDotForces", "txl", 'm', 'm', jacobian_v_of},
    [NSL_RHS] = {"rhs", "computeRhs", "t", 's', '1', rhs_of},
    [NSL_JACOBIAN_RHS] = {"jacobianRhsx", "computeJacobianRhsx", "t", 's', 's', jacobian_rhs_of},
};

static int forces_size_of(const NsMechanicalDs *ds, char letter) {
  return letter == 'm' ? ds->nv : letter == 'n' ? ds->nq : letter == 's' ? ds->base.n : letter == '3' ? 3 : 1;
}

/* The size of the evaluation's workspace, in doubles. */
static lua_Integer forces_room_of(const NsMechanicalDs *ds, NslQuantity which) {
  lua_Integer nq = ds->nq, nv = ds->nv;
  if (which >= NSL_JACOBIAN_FINT_Q && which <= NSL_JACOBIAN_FGYR_V) return nv * nq;
  if (which == NSL_JACOBIAN_Q || which == NSL_JACOBIAN_V) return nv * (nq + nq + nv);
  if (which != NSL_JACOBIAN_RHS) return 0;
  return nv * (nq + nv) + nv * nq * (ns_mechanical_constant_mass(ds) ? 1 : nv) + ds->base.n;
}

/* The vector or table at idx as contiguous numbers; `otherwise` when there is none. */
static const double *optional(lua_State *L, int idx, int n, const char *who, const char *what, const double *otherwise) {
  if (lua_isnoneornil(L, idx)) return otherwise;
  NslVector *given = nsl_to_finite_vector(L, idx, n, who, what);
  NslVector *flat = nsl_push_vector(L, n, NULL);
  nsl_vector_read(given, flat->data);
  return flat->data;
}

/* The system at 1; raises when it does not have the quantity. */
static NslMechanical *check_quantity(lua_State *L, NslQuantity which, const char *who) {
  NslMechanical *self = (NslMechanical *)nsl_check_mechanical(L, 1);
  if (which >= NSL_MEXT && which <= NSL_JACOBIAN_MINT_V && !ns_mechanical_turns(nsl_mechanical(&self->base)))
    luaL_error(L, "%s: a %s has no moments", who, self->base.callee.head.type->name);
  return self;
}

static NslAt arguments(lua_State *L, NslQuantity which) {
  const char *who = quantities[which].method;
  NslAt at = {.self = (NslMechanical *)nsl_check_idle_mechanical(L, who)};
  at.ds = nsl_mechanical(&at.self->base);
  at.q = at.ds->q;
  at.v = at.ds->v;
  int idx = 1;
  const char *args = quantities[which].args;
  lua_settop(L, 4);
  for (; *args; args++) {
    idx++;
    if (*args == 't') at.t = nsl_finite(L, idx, who, "time");
    else if (*args == 'x') at.q = optional(L, idx, at.ds->nq, who, "q", at.q);
    else at.v = optional(L, idx, at.ds->nv, who, "velocity", at.v);
  }
  at.room = nsl_push_vector(L, forces_room_of(at.ds, which), NULL)->data;
  return at;
}

/* Allocates the memory where a quantity is kept. */
static double *forces_keep(lua_State *L, NslMechanical *self, NslQuantity which) {
  NsMechanicalDs *ds = nsl_mechanical(&self->base);
  if (self->kept[which]) return self->kept[which];
  if (which == NSL_FORCES) return self->kept[which] = ds->forces;
  self->kept[which] = ns_arena_matrix(&ds->base.arena, forces_size_of(ds, quantities[which].rows),
                                      forces_size_of(ds, quantities[which].cols));
  if (!self->kept[which]) {
    ds->base.arena.failed = false;
    luaL_error(L, "not enough memory");
  }
  return self->kept[which];
}

/* Evaluates a quantity into a vector or matrix, which is pushed, and keeps the values. */
static int forces_evaluate(lua_State *L, const NslAt *at, NslQuantity which) {
  int rows = forces_size_of(at->ds, quantities[which].rows), cols = forces_size_of(at->ds, quantities[which].cols);
  double *out = quantities[which].cols == '1' ? nsl_push_vector(L, rows, NULL)->data
                                              : nsl_push_matrix(L, rows, cols, NULL)->data;
  nsl_mechanical_run(L, at, quantities[which].evaluate, out);
  memcpy(forces_keep(L, at->self, which), out, (size_t)rows * (size_t)cols * sizeof *out);
  if (which == NSL_RHS || which == NSL_JACOBIAN_RHS) forces_keep(L, at->self, NSL_FORCES);
  return 1;
}

/*
** Calls the Lua function of a callback with the given arguments. A class's own method does this when it is called with all of
** its arguments, the output included.
*/
static int forces_call_plainly(lua_State *L, const NslCallee *callee, int slot) {
  int count = lua_gettop(L);
  bool method = nsl_is_method(&callee->callbacks[slot]);
  lua_getiuservalue(L, 1, NSL_SHEET);
  lua_rawgeti(L, -1, nsl_function_place(slot));
  lua_replace(L, -2);
  if (method) {
    lua_insert(L, 1);
    lua_call(L, count, LUA_MULTRET);
    return lua_gettop(L);
  }
  lua_replace(L, 1);
  lua_call(L, count - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static int compute(lua_State *L, NslQuantity which) {
  const NslCallee *callee = &check_quantity(L, which, quantities[which].method)->base.callee;
  int slot = nsl_slot(callee, quantities[which].method), most = (int)strlen(quantities[which].args);
  NslBacking backing = slot < 0 ? NSL_ABSENT : callee->callbacks[slot].backing;
  bool in_lua = backing != NSL_ABSENT && backing != NSL_LIBRARY;
  if (in_lua && lua_gettop(L) == 3 + most) return forces_call_plainly(L, callee, slot);
  if (lua_gettop(L) > 1 + most)
    luaL_error(L, "%s: expected at most %d argument%s, got %d", quantities[which].method, most, most == 1 ? "" : "s",
               lua_gettop(L) - 1);
  NslAt at = arguments(L, which);
  return forces_evaluate(L, &at, which);
}

/* ---- showing ---- */

/* Whether the quantity is absent: no constant, no callback. */
static bool absent(const NsMechanicalDs *ds, NslQuantity which) {
  bool rigid = ns_mechanical_turns(ds);
  switch (which) {
    case NSL_FINT: return !ds->fint_function.value && !ds->fint.value;
    case NSL_FGYR: return !rigid && !ds->fgyr_function.value && !ds->fgyr.value;
    case NSL_FEXT: return !ds->fext.value;
    case NSL_MEXT: return !rigid || (!ds->fext.value && !ds->mext.value);
    case NSL_MINT:
    case NSL_JACOBIAN_MINT_Q:
    case NSL_JACOBIAN_MINT_V: return !ds->mint_function.value;
    case NSL_JACOBIAN_FINT_Q:
    case NSL_JACOBIAN_FINT_V:
      return !ds->fint_function.value && !ns_coef_given(&ds->force_jacobian[which - NSL_JACOBIAN_FINT_Q]);
    case NSL_JACOBIAN_FGYR_Q:
    case NSL_JACOBIAN_FGYR_V:
      return !rigid && !ds->fgyr_function.value && !ns_coef_given(&ds->force_jacobian[which - NSL_JACOBIAN_FINT_Q]);
    default: return false;
  }
}

/* Whether the quantity depends neither on the time nor on the state. */
static bool forces_constant(const NsMechanicalDs *ds, NslQuantity which) {
  bool rigid = ns_mechanical_turns(ds);
  switch (which) {
    case NSL_MASS: return ns_mechanical_constant_mass(ds);
    case NSL_FINT: return !ds->fint_function.value;
    case NSL_FGYR: return !rigid && !ds->fgyr_function.value;
    case NSL_FEXT: return !ns_coef_varies(&ds->fext);
    case NSL_MEXT: return !ns_mechanical_driven(ds);
    case NSL_JACOBIAN_FINT_Q:
    case NSL_JACOBIAN_FINT_V:
    case NSL_JACOBIAN_FGYR_Q:
    case NSL_JACOBIAN_FGYR_V: return !rigid && ns_coef_given(&ds->force_jacobian[which - NSL_JACOBIAN_FINT_Q]);
    default: return false;
  }
}

/* X(): a live view of what computeX kept last; of a constant, its present value; nil when the quantity is absent. */
static int forces_show(lua_State *L, NslQuantity which) {
  NslMechanical *self = check_quantity(L, which, quantities[which].name);
  NsMechanicalDs *ds = nsl_mechanical(&self->base);
  nsl_at_most(L, 1, quantities[which].name);
  if (absent(ds, which)) return lua_pushnil(L), 1;
  if (which == NSL_MASS && ds->mass.sparse && forces_constant(ds, which)) return nsl_push_coef(L, &ds->mass, false);
  if (forces_constant(ds, which)) {
    const NsNsds *nsds = self->base.callee.nsds;
    NslAt at = {.self = self, .ds = ds, .q = ds->q, .v = ds->v, .in_step = nsds && nsds->busy};
    at.room = nsl_push_vector(L, forces_room_of(ds, which), NULL)->data;
    forces_evaluate(L, &at, which);
  } else if (!self->kept[which]) {
    luaL_error(L, "%s: nothing is computed yet: call %s(%s) first", quantities[which].name, quantities[which].method,
               quantities[which].args[0] == 't' ? "time" : "");
  }
  int rows = forces_size_of(ds, quantities[which].rows), cols = forces_size_of(ds, quantities[which].cols);
  if (quantities[which].cols == '1') return nsl_ds_view(L, self->kept[which], rows, quantities[which].name, NULL);
  nsl_push_matrix_view(L, 1, self->kept[which], rows, cols, rows, quantities[which].name, NULL);
  return 1;
}

/* Upvalue: the quantity. */
static int show_quantity(lua_State *L) {
  return forces_show(L, (NslQuantity)lua_tointeger(L, lua_upvalueindex(1)));
}

static int compute_quantity(lua_State *L) {
  return compute(L, (NslQuantity)lua_tointeger(L, lua_upvalueindex(1)));
}

int nsl_mechanical_show_mass(lua_State *L) {
  const NslMechanical *self = (NslMechanical *)nsl_check_mechanical(L, 1);
  bool known = self->kept[NSL_MASS] || forces_constant(nsl_mechanical(&self->base), NSL_MASS);
  return known ? forces_show(L, NSL_MASS) : (lua_pushnil(L), 1);
}

/* update_inverse_mass(): evaluates the mass at the state; inverseMass() then gives its factors. */
static int update_inverse_mass(lua_State *L) {
  lua_settop(L, 1);
  (void)compute(L, NSL_MASS);
  return 0;
}

/* inverseMass(): the factors of the mass, an LU or a SparseLU. */
static int inverse_mass(lua_State *L) {
  lua_settop(L, 1);
  forces_show(L, NSL_MASS);
  lua_getfield(L, -1, "lu");
  lua_insert(L, -2);
  lua_call(L, 1, 1);
  return 1;
}

/* initRhs(time): calls computeRhs and computeJacobianRhsx. */
static int init_rhs(lua_State *L) {
  NslAt at = arguments(L, NSL_JACOBIAN_RHS);
  forces_evaluate(L, &at, NSL_RHS);
  forces_evaluate(L, &at, NSL_JACOBIAN_RHS);
  return 0;
}

/* updatePlugins(time): evaluates all callbacks at the state. */
static int update_plugins(lua_State *L) {
  static const NslQuantity all[] = {NSL_MASS, NSL_FEXT, NSL_FINT, NSL_FGYR, NSL_MEXT, NSL_MINT};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    lua_settop(L, 2);
    NslAt at = arguments(L, NSL_RHS);
    bool nothing = absent(at.ds, all[i]) || (all[i] == NSL_MASS && forces_constant(at.ds, NSL_MASS));
    if (!nothing) forces_evaluate(L, &at, all[i]);
  }
  return 0;
}

void nsl_add_quantity_methods(lua_State *L) {
  static const luaL_Reg methods[] = {{"inverseMass", inverse_mass},
                                     {"update_inverse_mass", update_inverse_mass},
                                     {"initRhs", init_rhs},
                                     {"updatePlugins", update_plugins},
                                     {NULL, NULL}};
  for (int i = 0; i < NSL_QUANTITIES; i++) {
    lua_pushinteger(L, i);
    lua_pushcclosure(L, show_quantity, 1);
    lua_setfield(L, -2, quantities[i].name);
    lua_pushinteger(L, i);
    lua_pushcclosure(L, compute_quantity, 1);
    lua_setfield(L, -2, quantities[i].method);
  }
  luaL_setfuncs(L, methods, 0);
}
