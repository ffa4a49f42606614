/*
** mechanical_ds.c
** LagrangianDS, LagrangianLinearTIDS, LagrangianLinearDiagonalDS and NewtonEulerDS: making, callbacks, coefficients.
*/
#include "bind/mechanical_ds.h"

#include <math.h>
#include <string.h>

#include "bind/function.h"
#include "bind/linalg.h"

/* Those of linear systems first, then those that rigid bodies have too. */
enum {
  SLOT_FEXT,
  SLOT_POTENTIAL,
  LINEAR_SLOTS,
  SLOT_FINT = LINEAR_SLOTS,
  SLOT_FINT_Q,
  SLOT_FINT_V,
  RIGID_SLOTS,
  SLOT_MASS = RIGID_SLOTS,
  SLOT_FGYR,
  SLOT_FGYR_Q,
  SLOT_FGYR_V,
  SLOTS
};

/* x is q, lambda is v: n stands for the coordinates, m for the velocities. */
static const NslSlot slots[SLOTS] = {
    {"computeFExt", "fExt", "z", "fExt", 'm', '1', NSL_NATIVE_TIME},
    {"computePotential", "potential", "xz", "energy", '1', '1', NSL_NATIVE_MASS},
    {"computeFInt", "fInt", "xlz", "fInt", 'm', '1', NSL_NATIVE_FINT},
    {"computeJacobianFIntq", "jacobianFIntq", "xlz", "J", 'm', 'n', NSL_NATIVE_FINT},
    {"computeJacobianFIntqDot", "jacobianFIntqDot", "xlz", "J", 'm', 'm', NSL_NATIVE_FINT},
    {"computeMass", "mass", "xz", "mass", 'm', 'm', NSL_NATIVE_MASS},
    {"computeFGyr", "fGyr", "xlz", "fGyr", 'm', '1', NSL_NATIVE_FGYR},
    {"computeJacobianFGyrq", "jacobianFGyrq", "xlz", "J", 'm', 'n', NSL_NATIVE_FGYR},
    {"computeJacobianFGyrqDot", "jacobianFGyrqDot", "xlz", "J", 'm', 'm', NSL_NATIVE_FGYR},
};

NsMechanicalDs *nsl_mechanical(const NslDs *self) {
  return (NsMechanicalDs *)self->ds;
}

static NsStatus bind(NslCallee *callee) {
  NsMechanicalDs *ds = nsl_mechanical((NslDs *)callee);
  if (!ds) return NS_OK;
  ds->mass_function = nsl_function(callee, 0, SLOT_MASS, NSL_IMPLICIT, -1);
  ds->fint_function = nsl_function(callee, 1, SLOT_FINT, SLOT_FINT_Q, SLOT_FINT_V);
  ds->fgyr_function = nsl_function(callee, 2, SLOT_FGYR, SLOT_FGYR_Q, SLOT_FGYR_V);
  ds->potential = nsl_function(callee, 3, SLOT_POTENTIAL, -1, -1);
  NsFunction external = nsl_coefficient_function(callee, SLOT_FEXT);
  if (external.value) return ns_coef_set_function(&ds->fext, ds->nv, 1, external);
  if (ns_coef_varies(&ds->fext)) ns_coef_clear(&ds->fext);
  return NS_OK;
}

static const NslCalleeClass classes[NS_MECHANICAL_KINDS] = {
    [NS_LAGRANGIAN] = {"dynamical system", slots, SLOTS, bind, "q", "v"},
    [NS_LAGRANGIAN_LINEAR_TI] = {"dynamical system", slots, LINEAR_SLOTS, bind, "q", "v"},
    [NS_LAGRANGIAN_LINEAR_DIAGONAL] = {"dynamical system", slots, LINEAR_SLOTS, bind, "q", "v"},
    [NS_NEWTON_EULER] = {"dynamical system", slots, RIGID_SLOTS, bind, "q", "v"},
};

static const NslType types[NS_MECHANICAL_KINDS] = {
#define X(code, name) [code] = {name, NULL},
    NS_MECHANICAL_LIST(X)
#undef X
};

bool nsl_is_mechanical(const NslType *type) {
  return type >= types && type < types + NS_MECHANICAL_KINDS;
}

NslDs *nsl_check_mechanical(lua_State *L, int idx) {
  NslDs *self = nsl_check_ds(L, idx);
  if (self->ds->family != NS_MECHANICS) luaL_argerror(L, idx, "mechanical dynamical system expected");
  return self;
}

NslDs *nsl_check_idle_mechanical(lua_State *L, const char *what) {
  NslDs *self = nsl_check_mechanical(L, 1);
  nsl_callee_idle(L, &self->callee, what);
  return self;
}

/* ---- coefficients ---- */

/* What a script calls a coefficient, where it is, the slot that may give it instead (-1: none), its size. */
static const struct {
  const char *name;
  size_t offset;
  int slot;
  char cols; /* of nv rows: 'm' as many as velocities, 'n' as coordinates; '1': a vector */
} coefficients[] = {
    {"mass", offsetof(NsMechanicalDs, mass), SLOT_MASS, 'm'},
    {"K", offsetof(NsMechanicalDs, K), -1, 'm'},
    {"C", offsetof(NsMechanicalDs, C), -1, 'm'},
    {"fExt", offsetof(NsMechanicalDs, fext), SLOT_FEXT, '1'},
    {"fInt", offsetof(NsMechanicalDs, fint), SLOT_FINT, '1'},
    {"fGyr", offsetof(NsMechanicalDs, fgyr), SLOT_FGYR, '1'},
    {"jacobianFIntq", offsetof(NsMechanicalDs, force_jacobian[NS_FINT_BY_Q]), SLOT_FINT_Q, 'n'},
    {"jacobianFIntqDot", offsetof(NsMechanicalDs, force_jacobian[NS_FINT_BY_V]), SLOT_FINT_V, 'm'},
    {"jacobianFGyrq", offsetof(NsMechanicalDs, force_jacobian[NS_FGYR_BY_Q]), SLOT_FGYR_Q, 'n'},
    {"jacobianFGyrqDot", offsetof(NsMechanicalDs, force_jacobian[NS_FGYR_BY_V]), SLOT_FGYR_V, 'm'},
};
enum { COEFFICIENTS = sizeof coefficients / sizeof *coefficients };

static int find_coefficient(const char *name) {
  for (int i = 0; i < COEFFICIENTS; i++)
    if (strcmp(coefficients[i].name, name) == 0) return i;
  return -1;
}

NsCoef *nsl_mechanical_coefficient(const NslDs *self, const char *name) {
  return (NsCoef *)((char *)nsl_mechanical(self) + coefficients[find_coefficient(name)].offset);
}

/* Takes away the constant that the callback of a slot comes in place of. */
static void drop_constant(const NslDs *self, int slot) {
  for (int c = 0; c < COEFFICIENTS; c++) {
    NsCoef *coef = nsl_mechanical_coefficient(self, coefficients[c].name);
    if (coefficients[c].slot == slot && !ns_coef_varies(coef)) ns_coef_clear(coef);
  }
}

static bool is_linear(NsMechanicalKind kind) {
  return kind == NS_LAGRANGIAN_LINEAR_TI || kind == NS_LAGRANGIAN_LINEAR_DIAGONAL;
}

/* Whether a class has a coefficient: those with a callback of it, a constant mass, the matrices of the linear ones. */
static bool may_have(const NslDs *self, int c) {
  int slot = coefficients[c].slot;
  if (slot < 0 || slot == SLOT_MASS)
    return is_linear(nsl_mechanical(self)->kind) || (slot == SLOT_MASS && nsl_mechanical(self)->kind == NS_LAGRANGIAN);
  return slot < self->callee.kind->nslots;
}

void nsl_set_mechanical_coefficient(lua_State *L, int idx, const char *name, int value, bool shared) {
  NslDs *self = lua_touserdata(L, idx);
  const NsMechanicalDs *ds = nsl_mechanical(self);
  int c = find_coefficient(name), slot = coefficients[c].slot;
  if (!may_have(self, c)) luaL_error(L, "%s: it has no %s", self->callee.head.type->name, name);
  bool has_callback = slot >= 0 && slot < self->callee.kind->nslots;
  if (has_callback && lua_isfunction(L, value)) {
    nsl_set_function(L, idx, slot, value);
    drop_constant(self, slot);
    return;
  }
  int cols = coefficients[c].cols == '1' ? 0 : coefficients[c].cols == 'n' ? ds->nq : ds->nv;
  nsl_set_coef(L, idx, nsl_mechanical_coefficient(self, name), value, ds->nv, cols, name, shared);
  if (has_callback && self->callee.callbacks[slot].backing != NSL_ABSENT) {
    lua_pushnil(L);
    nsl_set_function(L, idx, slot, -1);
    lua_pop(L, 1);
  }
}

/* ---- making ---- */

/* Pushes a copy of the finite vector at idx; of n elements when n >= 0. */
static NslVector *push_flat(lua_State *L, int idx, int n, const char *who, const char *what) {
  lua_pushvalue(L, idx);
  NslVector *from = nsl_to_finite_vector(L, lua_gettop(L), n, who, what);
  NslVector *flat = nsl_push_vector(L, from->n, NULL);
  nsl_vector_read(from, flat->data);
  lua_remove(L, -2);
  return flat;
}

void nsl_normalise_quaternion(lua_State *L, double *q, const char *what) {
  double norm = sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
  if (norm < 1e-6) luaL_error(L, "NewtonEulerDS: %s: expected a quaternion in %s[4] .. %s[7], got zeros", what, what, what);
  for (int i = 3; i < 7; i++) q[i] /= norm;
}

/* Pushes a new system that starts at the vectors or tables at stack indices q0 and v0. */
static NslDs *new_system(lua_State *L, NsMechanicalKind kind, int q0, int v0) {
  const char *who = types[kind].name;
  bool rigid = kind == NS_NEWTON_EULER;
  NslVector *q = push_flat(L, q0, rigid ? 7 : -1, who, "q0");
  if (q->n == 0) luaL_error(L, "%s: q0: expected at least one coordinate, got an empty vector", who);
  NslVector *v = push_flat(L, v0, rigid ? 6 : q->n, who, "v0");
  if (rigid) nsl_normalise_quaternion(L, q->data, "q0");
  NslDs *self = nsl_new(L, &types[kind], sizeof(NslMechanical), NSL_USERVALUES);
  nsl_callee_init(L, -1, &self->callee, &classes[kind], "");
  NsMechanicalDs *ds;
  if (ns_mechanical_new(&ds, kind, q->n, v->n, q->data, v->data) != NS_OK) luaL_error(L, "not enough memory");
  self->ds = &ds->base;
  self->callee.name = self->ds->name;
  nsl_callee_size(L, -1, ds->nq, ds->nv, 0);
  lua_replace(L, -3);
  lua_pop(L, 1);
  return self;
}

/* The option tables: what every class takes, what its constructor takes first. */
static const char *const keys[NS_MECHANICAL_KINDS][16] = {
    [NS_LAGRANGIAN] = {"q0", "v0", "mass", "fInt", "fExt", "fGyr", "jacobianFIntq", "jacobianFIntqDot", "jacobianFGyrq",
                       "jacobianFGyrqDot", "potential", "z", "name", NULL},
    [NS_LAGRANGIAN_LINEAR_TI] = {"q0", "v0", "mass", "K", "C", "fExt", "potential", "z", "name", NULL},
    [NS_LAGRANGIAN_LINEAR_DIAGONAL] = {"q0", "v0", "stiffness", "damping", "mass", "fExt", "potential", "z", "name",
                                       NULL},
    [NS_NEWTON_EULER] = {"q0", "v0", "mass", "inertia", "fExt", "fInt", "jacobianFIntq", "jacobianFIntqDot", "potential",
                         "z", "name", NULL},
};

/* Replaces the arguments by those that the option table at 1 has under the first `most` keys, the table behind them. */
static bool take_options(lua_State *L, NsMechanicalKind kind, int most) {
  nsl_at_most(L, most, types[kind].name);
  bool options = nsl_is_options(L, 1);
  lua_settop(L, options ? 1 : most);
  if (!options) {
    lua_pushnil(L);
    return false;
  }
  nsl_check_options(L, 1, types[kind].name, keys[kind]);
  for (int i = 0; i < most; i++) lua_getfield(L, 1, keys[kind][i]);
  lua_rotate(L, 1, -1);
  return true;
}

/* What the option table at `options` (nil: nothing) says beside, for the system on top of the stack. */
static void apply_options(lua_State *L, int options, int first) {
  int idx = lua_gettop(L);
  NslDs *self = lua_touserdata(L, idx);
  const char *who = self->callee.head.type->name;
  if (lua_isnil(L, options)) return;
  if (lua_getfield(L, options, "name") != LUA_TNIL) nsl_set_name(L, self->ds->name, -1, who);
  if (lua_getfield(L, options, "z") != LUA_TNIL) nsl_set_ds_z(L, idx, lua_gettop(L), true);
  for (const char *const *key = keys[nsl_mechanical(self)->kind] + first; *key; key++)
    if (find_coefficient(*key) >= 0 && lua_getfield(L, options, *key) != LUA_TNIL)
      nsl_set_mechanical_coefficient(L, idx, *key, lua_gettop(L), true);
  if (lua_getfield(L, options, "potential") != LUA_TNIL) {
    if (!lua_isfunction(L, -1)) nsl_bad(L, who, "potential", "a function", -1);
    nsl_set_function(L, idx, SLOT_POTENTIAL, lua_gettop(L));
  }
  lua_settop(L, idx);
}

/* (q0, v0, ...): the coefficients of the names given stand at 3, 4, ...; nil or false for one that is absent. */
static int new_with(lua_State *L, NsMechanicalKind kind, int count, const char *const *names) {
  take_options(L, kind, 2 + count);
  new_system(L, kind, 1, 2);
  int idx = lua_gettop(L);
  for (int i = 0; i < count; i++)
    if (lua_toboolean(L, 3 + i)) nsl_set_mechanical_coefficient(L, idx, names[i], 3 + i, true);
  apply_options(L, 3 + count, 2 + count);
  return 1;
}

/* LagrangianDS(q0, v0 [, mass]). */
static int new_lagrangian(lua_State *L) {
  static const char *const names[] = {"mass"};
  return new_with(L, NS_LAGRANGIAN, 1, names);
}

/* LagrangianLinearTIDS(q0, v0, M [, K, C]). */
static int new_linear(lua_State *L) {
  static const char *const names[] = {"mass", "K", "C"};
  return new_with(L, NS_LAGRANGIAN_LINEAR_TI, 3, names);
}

enum { DENSE_DIAGONAL = 32 }; /* diagonals of more elements are kept as sparse matrices */

/* Pushes the vector at idx as a diagonal matrix. */
static void push_diagonal(lua_State *L, int idx, int n, const char *what) {
  NslVector *d = push_flat(L, idx, n, types[NS_LAGRANGIAN_LINEAR_DIAGONAL].name, what);
  if (n <= DENSE_DIAGONAL) {
    NslMatrix *m = nsl_push_matrix(L, n, n, NULL);
    for (int i = 0; i < n; i++) m->data[i + (ptrdiff_t)i * m->ld] = d->data[i];
  } else {
    nsl_push_sparse_diagonal(L, n, d->data);
  }
  lua_remove(L, -2);
}

/* LagrangianLinearDiagonalDS(q0, v0, stiffness [, damping [, mass]]): the diagonals. */
static int new_diagonal(lua_State *L) {
  static const char *const names[] = {"K", "C", "mass"};
  take_options(L, NS_LAGRANGIAN_LINEAR_DIAGONAL, 5);
  NslDs *self = new_system(L, NS_LAGRANGIAN_LINEAR_DIAGONAL, 1, 2);
  for (int i = 0; i < 3; i++) {
    if (!lua_toboolean(L, 3 + i)) continue;
    push_diagonal(L, 3 + i, nsl_mechanical(self)->nv, keys[NS_LAGRANGIAN_LINEAR_DIAGONAL][2 + i]);
    nsl_set_mechanical_coefficient(L, 7, names[i], 8, true);
    lua_settop(L, 7);
  }
  apply_options(L, 6, 5);
  return 1;
}

/* Whether the matrix is symmetric to rounding, and positive definite: its leading minors are positive. */
static bool is_inertia(const double *J) {
  double scale = fabs(J[0]) + fabs(J[4]) + fabs(J[8]);
  if (fabs(J[1] - J[3]) + fabs(J[2] - J[6]) + fabs(J[5] - J[7]) > 1e-12 * scale) return false;
  double minor = J[0] * J[4] - J[1] * J[3];
  double determinant = J[2] * (J[3] * J[7] - J[4] * J[6]) - J[5] * (J[0] * J[7] - J[1] * J[6]) + J[8] * minor;
  return J[0] > 0 && minor > 0 && determinant > 0;
}

/* Pushes diag(m, m, m, inertia) for the mass at 3 and the inertia at 4. */
static void push_rigid_mass(lua_State *L) {
  const char *who = types[NS_NEWTON_EULER].name;
  double mass = nsl_finite(L, 3, who, "mass"), J[9];
  if (!(mass > 0)) nsl_bad(L, who, "mass", "a positive number", 3);
  nsl_matrix_read(nsl_to_finite_matrix(L, 4, 3, 3, who, "inertia"), J);
  if (!is_inertia(J)) luaL_error(L, "%s: inertia: expected a symmetric positive definite matrix", who);
  NslMatrix *M = nsl_push_matrix(L, 6, 6, NULL);
  for (int i = 0; i < 3; i++) {
    M->data[i + (ptrdiff_t)i * M->ld] = mass;
    for (int j = 0; j < 3; j++) M->data[3 + i + (3 + j) * (ptrdiff_t)M->ld] = J[i + 3 * j];
  }
}

/* NewtonEulerDS(q0, v0, mass, inertia): 7 coordinates, 6 velocities, a number and a 3 x 3 matrix. */
static int new_newton_euler(lua_State *L) {
  take_options(L, NS_NEWTON_EULER, 4);
  NslDs *self = new_system(L, NS_NEWTON_EULER, 1, 2);
  push_rigid_mass(L);
  nsl_set_coef(L, 6, &nsl_mechanical(self)->mass, 7, 6, 6, "mass", false);
  lua_settop(L, 6);
  apply_options(L, 5, 4);
  return 1;
}

void nsl_clone_mechanical_ds(lua_State *L, int idx) {
  NslDs *from = nsl_check_mechanical(L, idx);
  const NsMechanicalDs *ds = nsl_mechanical(from);
  idx = lua_absindex(L, idx);
  nsl_push_vector_view(L, idx, ds->base.x0, ds->nq, 1, "q0", NULL);
  nsl_push_vector_view(L, idx, ds->base.x0 + ds->nq, ds->nv, 1, "v0", NULL);
  NslDs *to = new_system(L, ds->kind, lua_gettop(L) - 1, lua_gettop(L));
  int copy = lua_gettop(L);
  memcpy(to->ds->name, from->ds->name, NS_NAME_SIZE);
  nsl_clone_callee(L, idx, copy);
  nsl_mechanical(to)->moment_inertial = ds->moment_inertial;
  if (from->ds->z) {
    nsl_push_vector_view(L, idx, from->ds->z, from->ds->nz, 1, "z", NULL);
    nsl_set_ds_z(L, copy, lua_gettop(L), false);
  }
  for (int c = 0; c < COEFFICIENTS; c++)
    nsl_clone_coef(L, nsl_mechanical_coefficient(from, coefficients[c].name),
                   nsl_mechanical_coefficient(to, coefficients[c].name));
  lua_settop(L, copy);
  lua_replace(L, copy - 2);
  lua_settop(L, copy - 2);
}

/* ---- methods that set and get ---- */

/* setXPtr and setX of a coefficient. */
static int set(lua_State *L, const char *name, const char *what, bool shared) {
  nsl_check_idle_mechanical(L, what);
  lua_settop(L, 2);
  nsl_set_mechanical_coefficient(L, 1, name, 2, shared);
  return 0;
}

static int get(lua_State *L, const char *name, bool as_vector) {
  return nsl_push_coef(L, nsl_mechanical_coefficient(nsl_check_mechanical(L, 1), name), as_vector);
}

/* Setter with a live source, setter with a copy, for one coefficient. */
#define SETTERS(id, name, Title)                                                          \
  static int set_##id##_ptr(lua_State *L) { return set(L, name, "set" Title "Ptr", true); } \
  static int set_##id(lua_State *L) { return set(L, name, "set" Title, false); }

SETTERS(mass, "mass", "Mass")
SETTERS(K, "K", "K")
SETTERS(C, "C", "C")
SETTERS(fint, "fInt", "FInt")
SETTERS(fgyr, "fGyr", "FGyr")
SETTERS(fint_q, "jacobianFIntq", "JacobianFIntq")
SETTERS(fint_v, "jacobianFIntqDot", "JacobianFIntqDot")
SETTERS(fgyr_q, "jacobianFGyrq", "JacobianFGyrq")
SETTERS(fgyr_v, "jacobianFGyrqDot", "JacobianFGyrqDot")

static int get_K(lua_State *L) { return get(L, "K", false); }
static int get_C(lua_State *L) { return get(L, "C", false); }

/* A rigid body's force (3) or moment (3), or all six; the part that is not given stays. */
static int set_external(lua_State *L, const char *what, bool shared, int part) {
  NslDs *self = nsl_check_idle_mechanical(L, what);
  const NsMechanicalDs *ds = nsl_mechanical(self);
  lua_settop(L, 2);
  if (ds->kind != NS_NEWTON_EULER && part > 0)
    luaL_error(L, "%s: a %s has no external moment", what, self->callee.head.type->name);
  if (part > 0 && lua_isfunction(L, 2)) nsl_bad(L, what, "moment", "a vector of 3", 2);
  if (ds->kind == NS_NEWTON_EULER && !lua_isfunction(L, 2)) {
    const char *word = part > 0 ? "moment" : "force";
    NslVector *given = push_flat(L, 2, -1, what, word);
    if (given->n != 3 && (given->n != 6 || part > 0))
      nsl_bad(L, what, word, part > 0 ? "a vector of 3" : "a vector of 3 or 6", 2);
    if (given->n == 3) {
      NslVector *all = nsl_push_vector(L, 6, NULL);
      if (ns_coef_varies(&ds->fext))
        luaL_error(L, "%s: the external force is a function of time, which gives force and moment", what);
      if (ds->fext.value) memcpy(all->data, ds->fext.value, 6 * sizeof(double));
      memcpy(all->data + part, given->data, 3 * sizeof(double));
      lua_replace(L, 2);
      shared = false;
    }
    lua_settop(L, 2);
  }
  nsl_set_mechanical_coefficient(L, 1, "fExt", 2, shared);
  return 0;
}

static int set_fext_ptr(lua_State *L) { return set_external(L, "setFExtPtr", true, 0); }
static int set_fext(lua_State *L) { return set_external(L, "setFExt", false, 0); }
static int set_mext_ptr(lua_State *L) { return set_external(L, "setMExtPtr", true, 3); }
static int set_mext(lua_State *L) { return set_external(L, "setMExt", false, 3); }

static int set_moment_inertial(lua_State *L) {
  NslDs *self = nsl_check_idle_mechanical(L, "setIsMextExpressedInInertialFrame");
  if (!lua_isboolean(L, 2)) nsl_bad(L, "setIsMextExpressedInInertialFrame", "flag", "a boolean", 2);
  nsl_mechanical(self)->moment_inertial = lua_toboolean(L, 2);
  return 0;
}

static int set_callback(lua_State *L, int slot, const char *what) {
  NslDs *self = nsl_check_idle_mechanical(L, what);
  if (slot >= self->callee.kind->nslots)
    luaL_error(L, "%s: a %s has no %s callback", what, self->callee.head.type->name, slots[slot].brief);
  nsl_lua_set_function(L, slot, what);
  if (!lua_isnil(L, 2)) drop_constant(self, slot);
  return 0;
}

#define CALLBACK(id, slot, Title) \
  static int set_##id##_function(lua_State *L) { return set_callback(L, slot, "setCompute" Title "Function"); }

CALLBACK(mass, SLOT_MASS, "Mass")
CALLBACK(fint, SLOT_FINT, "FInt")
CALLBACK(fgyr, SLOT_FGYR, "FGyr")
CALLBACK(fext, SLOT_FEXT, "FExt")
CALLBACK(fint_q, SLOT_FINT_Q, "JacobianFIntq")
CALLBACK(fint_v, SLOT_FINT_V, "JacobianFIntqDot")
CALLBACK(fgyr_q, SLOT_FGYR_Q, "JacobianFGyrq")
CALLBACK(fgyr_v, SLOT_FGYR_V, "JacobianFGyrqDot")
CALLBACK(potential, SLOT_POTENTIAL, "Potential")

static int ds_gc(lua_State *L) {
  NslDs *self = lua_touserdata(L, 1);
  nsl_ds_let_go(L);
  ns_mechanical_free(nsl_mechanical(self));
  self->ds = NULL;
  return 0;
}

static int ds_tostring(lua_State *L) {
  const NslDs *self = lua_touserdata(L, 1);
  return nsl_ds_tostring(L, self->ds ? nsl_mechanical(self)->nv : 0, "degree of freedom", "degrees of freedom");
}

static const luaL_Reg making_methods[] = {{"setMassPtr", set_mass_ptr},
                                          {"setMass", set_mass},
                                          {"K", get_K},
                                          {"setKPtr", set_K_ptr},
                                          {"setK", set_K},
                                          {"C", get_C},
                                          {"setCPtr", set_C_ptr},
                                          {"setC", set_C},
                                          {"setFExtPtr", set_fext_ptr},
                                          {"setFExt", set_fext},
                                          {"setMExtPtr", set_mext_ptr},
                                          {"setMExt", set_mext},
                                          {"setIsMextExpressedInInertialFrame", set_moment_inertial},
                                          {"setFIntPtr", set_fint_ptr},
                                          {"setFInt", set_fint},
                                          {"setFGyrPtr", set_fgyr_ptr},
                                          {"setFGyr", set_fgyr},
                                          {"setJacobianFIntqPtr", set_fint_q_ptr},
                                          {"setJacobianFIntq", set_fint_q},
                                          {"setJacobianFIntqDotPtr", set_fint_v_ptr},
                                          {"setJacobianFIntqDot", set_fint_v},
                                          {"setJacobianFGyrqPtr", set_fgyr_q_ptr},
                                          {"setJacobianFGyrq", set_fgyr_q},
                                          {"setJacobianFGyrqDotPtr", set_fgyr_v_ptr},
                                          {"setJacobianFGyrqDot", set_fgyr_v},
                                          {"setComputeMassFunction", set_mass_function},
                                          {"setComputeFIntFunction", set_fint_function},
                                          {"setComputeFGyrFunction", set_fgyr_function},
                                          {"setComputeFExtFunction", set_fext_function},
                                          {"setComputeJacobianFIntqFunction", set_fint_q_function},
                                          {"setComputeJacobianFIntqDotFunction", set_fint_v_function},
                                          {"setComputeJacobianFGyrqFunction", set_fgyr_q_function},
                                          {"setComputeJacobianFGyrqDotFunction", set_fgyr_v_function},
                                          {"setComputePotentialFunction", set_potential_function},
                                          {NULL, NULL}};

/* Copies the entries of a list to the end of another. Returns the new end. */
static luaL_Reg *append(luaL_Reg *to, const luaL_Reg *from) {
  while (from->name) *to++ = *from++;
  *to = (luaL_Reg){NULL, NULL};
  return to;
}

void nsl_open_mechanical_ds(lua_State *L) {
  static const luaL_Reg meta[] = {
      {"__gc", ds_gc}, {"__close", nsl_ds_close}, {"__tostring", ds_tostring}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"LagrangianDS", new_lagrangian},
                                       {"LagrangianLinearTIDS", new_linear},
                                       {"LagrangianLinearDiagonalDS", new_diagonal},
                                       {"NewtonEulerDS", new_newton_euler},
                                       {NULL, NULL}};
  luaL_Reg all[128];
  append(append(append(all, making_methods), nsl_mechanical_state_methods), nsl_mechanical_force_methods);
  for (int i = 0; i < NS_MECHANICAL_KINDS; i++)
    nsl_register_callee_type(L, &types[i], &classes[i], meta, all, nsl_ds_methods);
  luaL_setfuncs(L, functions, 0);
}
