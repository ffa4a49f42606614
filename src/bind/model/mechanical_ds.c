/*
** mechanical_ds.c
** LagrangianDS, LagrangianLinearTIDS, LagrangianLinearDiagonalDS and NewtonEulerDS: making.
*/
#include "bind/model/mechanical_ds.h"

#include <math.h>
#include <string.h>

#include "bind/diff/compile.h"
#include "bind/array/sparse.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"

NsMechanicalDs *nsl_mechanical(const NslDs *self) {
  return (NsMechanicalDs *)self->ds;
}

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

/* ---- making ---- */

void nsl_normalise_quaternion(lua_State *L, double *q, const char *what) {
  double norm = sqrt(q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6]);
  if (norm < 1e-6) luaL_error(L, "NewtonEulerDS: %s: expected a quaternion in %s[4] .. %s[7], got zeros", what, what, what);
  for (int i = 3; i < 7; i++) q[i] /= norm;
}

/* Pushes a new system that starts at the vectors or tables at stack indices q0 and v0. */
static NslDs *new_system(lua_State *L, NsMechanicalKind kind, int q0, int v0) {
  const char *who = types[kind].name;
  bool rigid = kind == NS_NEWTON_EULER;
  NslVector *q = nsl_push_flat(L, q0, rigid ? 7 : -1, who, "q0");
  if (q->n == 0) luaL_error(L, "%s: q0: expected at least one coordinate, got an empty vector", who);
  NslVector *v = nsl_push_flat(L, v0, rigid ? 6 : q->n, who, "v0");
  if (rigid) nsl_normalise_quaternion(L, q->data, "q0");
  NslDs *self = nsl_new(L, &types[kind], sizeof(NslMechanical), NSL_USERVALUES);
  nsl_callee_init(L, -1, &self->callee, nsl_mechanical_class(kind), "");
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
    [NS_LAGRANGIAN_LINEAR_DIAGONAL] = {"q0", "v0", "stiffness", "damping", "mass", "fExt", "potential", "z", "name", NULL},
    [NS_NEWTON_EULER] = {"q0", "v0", "mass", "inertia", "fExt", "fInt", "jacobianFIntq", "jacobianFIntqDot", "mExt", "mInt",
                         "jacobianMIntq", "jacobianMIntv", "potential", "z", "name", NULL},
};

/* Replaces the arguments by those that the option table at 1 has under the first `most` keys, the table behind them. */
static bool bind_mechanical_ds_take_options(lua_State *L, NsMechanicalKind kind, int most) {
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
static void bind_mechanical_ds_apply_options(lua_State *L, int options, int first) {
  static const char *const functions[] = {"potential", "mExt", "mInt", "jacobianMIntq", "jacobianMIntv"};
  int idx = lua_gettop(L);
  NslDs *self = lua_touserdata(L, idx);
  const char *who = self->callee.head.type->name;
  if (lua_isnil(L, options)) return;
  if (lua_getfield(L, options, "name") != LUA_TNIL) nsl_set_name(L, self->ds->name, -1, who);
  if (lua_getfield(L, options, "z") != LUA_TNIL) nsl_set_ds_z(L, idx, lua_gettop(L), true);
  for (const char *const *key = keys[nsl_mechanical(self)->kind] + first; *key; key++)
    if (nsl_mechanical_coefficient(self, *key) && lua_getfield(L, options, *key) != LUA_TNIL)
      nsl_set_mechanical_coefficient(L, idx, *key, lua_gettop(L), true);
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    int slot = nsl_slot(&self->callee, functions[i]);
    if (slot < 0 || lua_getfield(L, options, functions[i]) == LUA_TNIL) continue;
    if (strcmp(functions[i], "mExt") == 0 && !nsl_may_be_callback(L, -1)) {
      nsl_set_moment(L, idx, lua_gettop(L), who);
      continue;
    }
    if (!nsl_may_be_callback(L, -1)) nsl_bad(L, who, functions[i], "a function", -1);
    nsl_set_function(L, idx, slot, lua_gettop(L));
  }
  lua_settop(L, idx);
}

/* (q0, v0, ...): the coefficients of the names given stand at 3, 4, ...; nil or false for one that is absent. */
static int new_with(lua_State *L, NsMechanicalKind kind, int count, const char *const *names) {
  bind_mechanical_ds_take_options(L, kind, 2 + count);
  new_system(L, kind, 1, 2);
  int idx = lua_gettop(L);
  for (int i = 0; i < count; i++)
    if (lua_toboolean(L, 3 + i)) nsl_set_mechanical_coefficient(L, idx, names[i], 3 + i, true);
  bind_mechanical_ds_apply_options(L, 3 + count, 2 + count);
  return 1;
}

/* LagrangianDS(q0, v0 [, mass]). */
static int bind_mechanical_ds_new_lagrangian(lua_State *L) {
  static const char *const names[] = {"mass"};
  return new_with(L, NS_LAGRANGIAN, 1, names);
}

/* LagrangianLinearTIDS(q0, v0, M [, K, C]). */
static int bind_mechanical_ds_new_linear(lua_State *L) {
  static const char *const names[] = {"mass", "K", "C"};
  return new_with(L, NS_LAGRANGIAN_LINEAR_TI, 3, names);
}

enum { DENSE_DIAGONAL = 32 }; /* diagonals of more elements are kept as sparse matrices */

/* Pushes the vector at idx as a diagonal matrix. */
static void push_diagonal(lua_State *L, int idx, int n, const char *what) {
  NslVector *d = nsl_push_flat(L, idx, n, types[NS_LAGRANGIAN_LINEAR_DIAGONAL].name, what);
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
  bind_mechanical_ds_take_options(L, NS_LAGRANGIAN_LINEAR_DIAGONAL, 5);
  NslDs *self = new_system(L, NS_LAGRANGIAN_LINEAR_DIAGONAL, 1, 2);
  for (int i = 0; i < 3; i++) {
    if (!lua_toboolean(L, 3 + i)) continue;
    push_diagonal(L, 3 + i, nsl_mechanical(self)->nv, keys[NS_LAGRANGIAN_LINEAR_DIAGONAL][2 + i]);
    nsl_set_mechanical_coefficient(L, 7, names[i], 8, true);
    lua_settop(L, 7);
  }
  bind_mechanical_ds_apply_options(L, 6, 5);
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
static int bind_mechanical_ds_new_newton_euler(lua_State *L) {
  bind_mechanical_ds_take_options(L, NS_NEWTON_EULER, 4);
  NslDs *self = new_system(L, NS_NEWTON_EULER, 1, 2);
  push_rigid_mass(L);
  nsl_set_coef(L, 6, &nsl_mechanical(self)->mass, 7, 6, 6, "mass", false);
  lua_settop(L, 6);
  bind_mechanical_ds_apply_options(L, 5, 4);
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
  nsl_clone_mechanical_coefs(L, from, to);
  nsl_clone_boundary(L, idx, copy);
  lua_settop(L, copy);
  lua_replace(L, copy - 2);
  lua_settop(L, copy - 2);
}

static int bind_mechanical_ds_ds_gc(lua_State *L) {
  NslDs *self = lua_touserdata(L, 1);
  nsl_ds_let_go(L);
  ns_mechanical_free(nsl_mechanical(self));
  self->ds = NULL;
  return 0;
}

static int bind_mechanical_ds_ds_tostring(lua_State *L) {
  const NslDs *self = lua_touserdata(L, 1);
  return nsl_ds_tostring(L, self->ds ? nsl_mechanical(self)->nv : 0, "degree of freedom", "degrees of freedom");
}

/* Copies the entries of a list to the end of another. Returns the new end. */
static luaL_Reg *bind_mechanical_ds_append(luaL_Reg *to, const luaL_Reg *from) {
  while (from->name) *to++ = *from++;
  *to = (luaL_Reg){NULL, NULL};
  return to;
}

void nsl_open_mechanical_ds(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", bind_mechanical_ds_ds_gc},
                                  {"__close", nsl_ds_close},
                                  {"__tostring", bind_mechanical_ds_ds_tostring},
                                  {NULL, NULL}};
  static const luaL_Reg functions[] = {{"LagrangianDS", bind_mechanical_ds_new_lagrangian},
                                       {"LagrangianLinearTIDS", bind_mechanical_ds_new_linear},
                                       {"LagrangianLinearDiagonalDS", new_diagonal},
                                       {"NewtonEulerDS", bind_mechanical_ds_new_newton_euler},
                                       {NULL, NULL}};
  luaL_Reg all[128];
  bind_mechanical_ds_append(
      bind_mechanical_ds_append(
          bind_mechanical_ds_append(bind_mechanical_ds_append(all, nsl_mechanical_coef_methods), nsl_mechanical_state_methods),
          nsl_mechanical_force_methods),
      nsl_mechanical_boundary_methods);
  for (int i = 0; i < NS_MECHANICAL_KINDS; i++)
    nsl_register_callee_type(L, &types[i], nsl_mechanical_class(i), meta, all, nsl_ds_methods);
  luaL_setfuncs(L, functions, 0);
}
