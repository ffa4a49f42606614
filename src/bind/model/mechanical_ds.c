/*
** mechanical_ds.c
** The constructors of LagrangianDS, LagrangianLinearTIDS, LagrangianLinearDiagonalDS and NewtonEulerDS.
*/
#include "bind/model/mechanical_ds.h"
#include "bind/lua/open.h"

#include <string.h>

#include "bind/array/sparse.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"

static NslCallee *check_mechanical_callee(lua_State *L, int idx) {
  return &nsl_check_mechanical(L, idx)->callee;
}

/* Gives the quaternion q[3] .. q[6] the length 1; raises for zeros. `what`: the argument. */
static void normalise_quaternion(lua_State *L, double *q, const char *what) {
  if (!ns_quaternion_fit(q + 3))
    luaL_error(L, "NewtonEulerDS: %s: expected a quaternion in %s[4] .. %s[7], got zeros", what, what, what);
}

static void fit_coordinates(lua_State *L, const NslCallee *callee, const NsField *field, double *given) {
  bool coordinates = strcmp(field->name, "q") == 0 || strcmp(field->name, "q0") == 0;
  if (coordinates && ns_mechanical_turns(nsl_mechanical((const NslDs *)callee))) normalise_quaternion(L, given, field->name);
}

static const NslCalleeFamily callee_family = {.check = check_mechanical_callee,
                                              .object = nsl_ds_object,
                                              .bind = nsl_bind_fields,
                                              .set_z = nsl_set_ds_z,
                                              .version = nsl_ds_version,
                                              .no_callback = NSL_DS_NO_CALLBACK,
                                              .brief = true,
                                              .clone = nsl_clone_boundary,
                                              .fit = fit_coordinates};

/* ---- making ---- */

/* Pushes a new system that starts at the vectors or tables at 1 and 2. */
static NslDs *new_system(lua_State *L, const NsDsClass *class) {
  const char *who = class->model.name;
  NslVector *q = nsl_push_flat(L, 1, class->turns ? 7 : -1, who, "q0");
  if (q->n == 0) luaL_error(L, "%s: q0: expected at least one coordinate, got an empty vector", who);
  NslVector *v = nsl_push_flat(L, 2, class->turns ? 6 : q->n, who, "v0");
  if (class->turns) normalise_quaternion(L, q->data, "q0");
  NslDs *self = nsl_push_ds(L, class, &callee_family, sizeof(NslMechanical));
  NsMechanicalDs *ds;
  if (ns_mechanical_new(&ds, class, q->n, v->n, q->data, v->data) != NS_OK) luaL_error(L, "not enough memory");
  nsl_ds_start(L, self, &ds->base, ds->nq, ds->nv);
  lua_replace(L, -3);
  lua_pop(L, 1);
  return self;
}

/* Replaces the option table at 1 by the arguments that it holds under their names; the table comes behind them. */
static void take_options(lua_State *L, const NsModelClass *kind) {
  int most = 0;
  while (kind->arguments[most]) most++;
  nsl_at_most(L, most, kind->name);
  bool options = nsl_is_options(L, 1);
  lua_settop(L, options ? 1 : most);
  if (!options) {
    lua_pushnil(L);
    return;
  }
  nsl_check_keys(L, 1, kind);
  for (int i = 0; i < most; i++) lua_getfield(L, 1, kind->arguments[i]);
  lua_rotate(L, 1, -1);
}

enum { DENSE_DIAGONAL = 32 }; /* longest diagonal (elements) kept dense; chosen by experience on the specs */

static void push_diagonal(lua_State *L, int idx, int n, const char *who, const char *what) {
  NslVector *d = nsl_push_flat(L, idx, n, who, what);
  if (n <= DENSE_DIAGONAL) {
    NslMatrix *m = nsl_push_matrix(L, n, n, NULL);
    for (int i = 0; i < n; i++) m->data[i + (ptrdiff_t)i * m->ld] = d->data[i];
  } else {
    nsl_push_sparse_diagonal(L, n, d->data);
  }
  lua_remove(L, -2);
}

/* Pushes diag(m, m, m, inertia) for the mass at 3 and the inertia at 4. */
static void push_rigid_mass(lua_State *L, const char *who) {
  double mass = nsl_finite(L, 3, who, "mass"), J[9];
  if (!(mass > 0)) nsl_bad(L, who, "mass", "a positive number", 3);
  nsl_matrix_read(nsl_to_finite_matrix(L, 4, 3, 3, who, "inertia"), J);
  if (!ns_is_inertia(J)) luaL_error(L, "%s: inertia: expected a symmetric positive definite matrix", who);
  ns_rigid_mass(mass, J, nsl_push_matrix(L, 6, 6, NULL)->data);
}

/* NewtonEulerDS(q0, v0, mass, inertia): 7 coordinates, 6 velocities, a number, a 3 x 3 matrix. */
static void take_rigid_mass(lua_State *L, NslDs *self, int idx) {
  push_rigid_mass(L, self->callee.head.type->name);
  nsl_set_coef(L, idx, &nsl_mechanical(self)->mass, idx + 1, 6, 6, "mass", false);
}

/*
** Arguments: an option table, or (q0, v0, ...) and coefficients: LagrangianDS(q0, v0 [, mass]), LagrangianLinearTIDS(q0, v0, M
** [, K, C]), LagrangianLinearDiagonalDS(q0, v0, stiffness [, damping [, mass]]), which takes the diagonals. nil or false:
** absent.
*/
static int construct_mechanical(lua_State *L, const NsDsClass *class) {
  const char *const *names = class->model.arguments;
  take_options(L, &class->model);
  int options = lua_gettop(L), idx = options + 1;
  NslDs *self = new_system(L, class);
  if (class->turns) take_rigid_mass(L, self, idx);
  for (int arg = 3; !class->turns && arg < options; arg++) {
    if (!lua_toboolean(L, arg)) continue;
    if (class->diagonal) push_diagonal(L, arg, nsl_mechanical(self)->nv, class->model.name, names[arg - 1]);
    nsl_set_coefficient(L, idx, names[arg - 1], class->diagonal ? idx + 1 : arg, true);
    lua_settop(L, idx);
  }
  lua_settop(L, idx);
  if (lua_isnil(L, options)) return 1;
  bool moment = class->turns && lua_getfield(L, options, "mExt") != LUA_TNIL && !nsl_may_be_callback(L, -1);
  if (moment) nsl_set_moment(L, idx, lua_gettop(L), class->model.name);
  lua_settop(L, idx);
  nsl_apply_options(L, options, idx, moment ? "mExt" : NULL);
  return 1;
}

static int mechanical_tostring(lua_State *L) {
  const NslDs *self = lua_touserdata(L, 1);
  return nsl_ds_tostring(L, self->ds ? nsl_mechanical(self)->nv : 0, "degree of freedom", "degrees of freedom");
}

static void add_mechanical_methods(lua_State *L) {
  nsl_add_quantity_methods(L);
  nsl_set_variants(L, nsl_mechanical_coef_methods);
  nsl_set_variants(L, nsl_mechanical_state_methods);
  luaL_setfuncs(L, nsl_mechanical_boundary_methods, 0);
}

void nsl_open_mechanical_ds(lua_State *L) {
  static const luaL_Reg meta[] = {
      {"__gc", nsl_ds_gc}, {"__close", nsl_ds_close}, {"__tostring", mechanical_tostring}, {NULL, NULL}};
  static const char *const of_rotation[] = {"setMExt", "setMExtPtr", "setIsMextExpressedInInertialFrame",
                                            "setComputeMExtFunction", NULL};
  static const NslDsFamily family = {&callee_family, construct_mechanical, add_mechanical_methods, meta, of_rotation};
  nsl_open_ds_family(L, NS_MECHANICS, &family);
}
