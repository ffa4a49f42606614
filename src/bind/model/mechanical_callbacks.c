/*
** mechanical_callbacks.c
** Mechanical systems: callbacks, and constants in their place.
*/
#include <stddef.h>
#include <string.h>

#include "bind/diff/compile.h"
#include "bind/call/function.h"
#include "bind/model/mechanical_ds.h"

/* Those of linear systems first; then those that rigid bodies have too; then theirs, or those of a LagrangianDS. */
enum {
  SLOT_FEXT,
  SLOT_POTENTIAL,
  LINEAR_SLOTS,
  SLOT_FINT = LINEAR_SLOTS,
  SLOT_FINT_Q,
  SLOT_FINT_V,
  SHARED_SLOTS,
  SLOT_MEXT = SHARED_SLOTS,
  SLOT_MINT,
  SLOT_MINT_Q,
  SLOT_MINT_V,
  RIGID_SLOTS,
  SLOT_MASS = SHARED_SLOTS,
  SLOT_FGYR,
  SLOT_FGYR_Q,
  SLOT_FGYR_V,
  SLOTS
};

/* x is q, lambda is v: n stands for the coordinates, m for the velocities. */
#define SHARED_LIST                                                                                                            \
  {"computeFExt", "fExt", "z", "fExt", 'm', '1', NSL_NATIVE_TIME},                                                             \
      {"computePotential", "potential", "xz", "energy", '1', '1', NSL_NATIVE_MASS},                                            \
      {"computeFInt", "fInt", "xlz", "fInt", 'm', '1', NSL_NATIVE_FINT},                                                       \
      {"computeJacobianFIntq", "jacobianFIntq", "xlz", "J", 'm', 'n', NSL_NATIVE_FINT}, {                                      \
    "computeJacobianFIntqDot", "jacobianFIntqDot", "xlz", "J", 'm', 'm', NSL_NATIVE_FINT                                       \
  }

static const NslSlot slots[SLOTS] = {
    SHARED_LIST,
    {"computeMass", "mass", "xz", "mass", 'm', 'm', NSL_NATIVE_MASS},
    {"computeFGyr", "fGyr", "xlz", "fGyr", 'm', '1', NSL_NATIVE_FGYR},
    {"computeJacobianFGyrq", "jacobianFGyrq", "xlz", "J", 'm', 'n', NSL_NATIVE_FGYR},
    {"computeJacobianFGyrqDot", "jacobianFGyrqDot", "xlz", "J", 'm', 'm', NSL_NATIVE_FGYR},
};

static const NslSlot rigid_slots[RIGID_SLOTS] = {
    SHARED_LIST,
    {"computeMExt", "mExt", "z", "mExt", '3', '1', NSL_NATIVE_MEXT},
    {"computeMInt", "mInt", "xlz", "mInt", '3', '1', NSL_NATIVE_MINT},
    {"computeJacobianMIntq", "jacobianMIntq", "xlz", "J", '3', 'n', NSL_NATIVE_MINT},
    {"computeJacobianMIntv", "jacobianMIntv", "xlz", "J", '3', 'm', NSL_NATIVE_MINT},
};

/* A coefficient of `rows` that a callback of time may give. */
static NsStatus bind_external(NslCallee *callee, int slot, int rows, NsCoef *coef) {
  NsFunction external = nsl_coefficient_function(callee, slot);
  if (external.value) return ns_coef_set_function(coef, rows, 1, external);
  if (ns_coef_varies(coef)) ns_coef_clear(coef);
  return NS_OK;
}

static NsStatus mechanical_callback_bind(NslCallee *callee) {
  NsMechanicalDs *ds = nsl_mechanical((NslDs *)callee);
  if (!ds) return NS_OK;
  NsStatus status = NS_OK;
  ds->fint_function = nsl_function(callee, 1, SLOT_FINT, SLOT_FINT_Q, SLOT_FINT_V);
  ds->potential = nsl_function(callee, 3, SLOT_POTENTIAL, -1, -1);
  if (ds->kind == NS_NEWTON_EULER) {
    ds->mint_function = nsl_function(callee, 2, SLOT_MINT, SLOT_MINT_Q, SLOT_MINT_V);
    status = bind_external(callee, SLOT_MEXT, 3, &ds->mext);
  } else {
    ds->mass_function = nsl_function(callee, 0, SLOT_MASS, NSL_IMPLICIT, -1);
    ds->fgyr_function = nsl_function(callee, 2, SLOT_FGYR, SLOT_FGYR_Q, SLOT_FGYR_V);
  }
  return status == NS_OK ? bind_external(callee, SLOT_FEXT, ds->nv, &ds->fext) : status;
}

static const NslCalleeClass classes[NS_MECHANICAL_KINDS] = {
    [NS_LAGRANGIAN] = {"dynamical system", slots, SLOTS, mechanical_callback_bind, "q", "v"},
    [NS_LAGRANGIAN_LINEAR_TI] = {"dynamical system", slots, LINEAR_SLOTS, mechanical_callback_bind, "q", "v"},
    [NS_LAGRANGIAN_LINEAR_DIAGONAL] = {"dynamical system", slots, LINEAR_SLOTS, mechanical_callback_bind, "q", "v"},
    [NS_NEWTON_EULER] = {"dynamical system", rigid_slots, RIGID_SLOTS, mechanical_callback_bind, "q", "v"},
};

const NslCalleeClass *nsl_mechanical_class(NsMechanicalKind kind) {
  return &classes[kind];
}

/* ---- coefficients ---- */

/* What a script calls a coefficient, and the callback that may give it instead; where it is; its size. */
static const struct {
  const char *name;
  size_t offset;
  char cols; /* of nv rows: 'm' as many as velocities, 'n' as coordinates; '1': a vector */
} coefficients[] = {
    {"mass", offsetof(NsMechanicalDs, mass), 'm'},
    {"K", offsetof(NsMechanicalDs, K), 'm'},
    {"C", offsetof(NsMechanicalDs, C), 'm'},
    {"fExt", offsetof(NsMechanicalDs, fext), '1'},
    {"fInt", offsetof(NsMechanicalDs, fint), '1'},
    {"fGyr", offsetof(NsMechanicalDs, fgyr), '1'},
    {"jacobianFIntq", offsetof(NsMechanicalDs, force_jacobian[NS_FINT_BY_Q]), 'n'},
    {"jacobianFIntqDot", offsetof(NsMechanicalDs, force_jacobian[NS_FINT_BY_V]), 'm'},
    {"jacobianFGyrq", offsetof(NsMechanicalDs, force_jacobian[NS_FGYR_BY_Q]), 'n'},
    {"jacobianFGyrqDot", offsetof(NsMechanicalDs, force_jacobian[NS_FGYR_BY_V]), 'm'},
};
enum { COEFFICIENTS = sizeof coefficients / sizeof *coefficients };

static int find_coefficient(const char *name) {
  for (int i = 0; i < COEFFICIENTS; i++)
    if (strcmp(coefficients[i].name, name) == 0) return i;
  return -1;
}

NsCoef *nsl_mechanical_coefficient(const NslDs *self, const char *name) {
  int c = find_coefficient(name);
  return c < 0 ? NULL : (NsCoef *)((char *)nsl_mechanical(self) + coefficients[c].offset);
}

void nsl_clone_mechanical_coefs(lua_State *L, const NslDs *from, const NslDs *to) {
  for (int c = 0; c < COEFFICIENTS; c++)
    nsl_clone_coef(L, nsl_mechanical_coefficient(from, coefficients[c].name),
                   nsl_mechanical_coefficient(to, coefficients[c].name));
}

/* Takes away the constant that the callback of this name comes in place of. */
static void drop_constant(const NslDs *self, const char *name) {
  NsCoef *coef = nsl_mechanical_coefficient(self, name);
  if (coef && !ns_coef_varies(coef)) ns_coef_clear(coef);
}

static bool mechanical_callback_is_linear(NsMechanicalKind kind) {
  return kind == NS_LAGRANGIAN_LINEAR_TI || kind == NS_LAGRANGIAN_LINEAR_DIAGONAL;
}

/* Whether a class has a coefficient: those with a callback of it, a constant mass, the matrices of the linear ones. */
static bool mechanical_callback_may_have(const NslDs *self, const char *name) {
  bool of_linear = strcmp(name, "mass") == 0 || strcmp(name, "K") == 0 || strcmp(name, "C") == 0;
  return nsl_slot(&self->callee, name) >= 0 || (of_linear && mechanical_callback_is_linear(nsl_mechanical(self)->kind));
}

/* Takes away the callback of a slot (-1: none) of the system at idx, when there is one. */
static void take_callback_away(lua_State *L, int idx, int slot) {
  const NslDs *self = lua_touserdata(L, idx);
  if (slot < 0 || self->callee.callbacks[slot].backing == NSL_ABSENT) return;
  lua_pushnil(L);
  nsl_set_function(L, idx, slot, -1);
  lua_pop(L, 1);
}

void nsl_set_mechanical_coefficient(lua_State *L, int idx, const char *name, int value, bool shared) {
  NslDs *self = lua_touserdata(L, idx);
  const NsMechanicalDs *ds = nsl_mechanical(self);
  int c = find_coefficient(name), slot = nsl_slot(&self->callee, name);
  if (!mechanical_callback_may_have(self, name)) luaL_error(L, "%s: it has no %s", self->callee.head.type->name, name);
  if (slot >= 0 && nsl_may_be_callback(L, value)) {
    nsl_set_function(L, idx, slot, value);
    drop_constant(self, name);
    return;
  }
  int cols = coefficients[c].cols == '1' ? 0 : coefficients[c].cols == 'n' ? ds->nq : ds->nv;
  nsl_set_coef(L, idx, nsl_mechanical_coefficient(self, name), value, ds->nv, cols, name, shared);
  take_callback_away(L, idx, slot);
}

NslVector *nsl_push_flat(lua_State *L, int idx, int n, const char *who, const char *what) {
  lua_pushvalue(L, idx);
  NslVector *from = nsl_to_finite_vector(L, lua_gettop(L), n, who, what);
  NslVector *flat = nsl_push_vector(L, from->n, NULL);
  nsl_vector_read(from, flat->data);
  lua_remove(L, -2);
  return flat;
}

/* ---- methods that set and get ---- */

/* setXPtr and setX of a coefficient. */
static int mechanical_callback_set(lua_State *L, const char *name, const char *what, bool shared) {
  nsl_check_idle_mechanical(L, what);
  lua_settop(L, 2);
  nsl_set_mechanical_coefficient(L, 1, name, 2, shared);
  return 0;
}

static int mechanical_callback_get(lua_State *L, const char *name, bool as_vector) {
  return nsl_push_coef(L, nsl_mechanical_coefficient(nsl_check_mechanical(L, 1), name), as_vector);
}

/* Setter with a live source, setter with a copy, for one coefficient. */
#define SETTERS(id, name, Title)                                                                                               \
  static int set_##id##_ptr(lua_State *L) {                                                                                    \
    return mechanical_callback_set(L, name, "set" Title "Ptr", true);                                                          \
  }                                                                                                                            \
  static int set_##id(lua_State *L) {                                                                                          \
    return mechanical_callback_set(L, name, "set" Title, false);                                                               \
  }

SETTERS(mass, "mass", "Mass")
SETTERS(K, "K", "K")
SETTERS(C, "C", "C")
SETTERS(fint, "fInt", "FInt")
SETTERS(fgyr, "fGyr", "FGyr")
SETTERS(fint_q, "jacobianFIntq", "JacobianFIntq")
SETTERS(fint_v, "jacobianFIntqDot", "JacobianFIntqDot")
SETTERS(fgyr_q, "jacobianFGyrq", "JacobianFGyrq")
SETTERS(fgyr_v, "jacobianFGyrqDot", "JacobianFGyrqDot")

static int mechanical_callback_get_K(lua_State *L) {
  return mechanical_callback_get(L, "K", false);
}
static int mechanical_callback_get_C(lua_State *L) {
  return mechanical_callback_get(L, "C", false);
}

/* Gives the rigid body at idx the constant force (part 0) or moment (part 3) of three elements at `value`; the rest stays. */
static void set_part(lua_State *L, int idx, int value, int part, const char *what) {
  const NsMechanicalDs *ds = nsl_mechanical(lua_touserdata(L, idx));
  const NslVector *given = nsl_push_flat(L, value, 3, what, part > 0 ? "moment" : "force");
  double *all = nsl_push_vector(L, 6, NULL)->data;
  if (ns_coef_varies(&ds->fext))
    luaL_error(L, "%s: the external force is a function of time, which gives force and moment", what);
  if (ds->fext.value) memcpy(all, ds->fext.value, 6 * sizeof *all);
  memcpy(all + part, given->data, 3 * sizeof *all);
  nsl_set_mechanical_coefficient(L, idx, "fExt", lua_gettop(L), false);
  lua_pop(L, 2);
}

void nsl_set_moment(lua_State *L, int idx, int value, const char *what) {
  set_part(L, idx, value, 3, what);
  take_callback_away(L, idx, SLOT_MEXT);
}

/* setFExtPtr and setFExt: of a rigid body the force (3), which is copied, or all six. */
static int set_force(lua_State *L, const char *what, bool shared) {
  NslDs *self = nsl_check_idle_mechanical(L, what);
  bool rigid = nsl_mechanical(self)->kind == NS_NEWTON_EULER;
  lua_settop(L, 2);
  int n = !rigid || nsl_may_be_callback(L, 2) ? 6 : nsl_push_flat(L, 2, -1, what, "force")->n;
  if (n != 3 && n != 6) nsl_bad(L, what, "force", "a vector of 3 or 6", 2);
  lua_settop(L, 2);
  if (n == 3) set_part(L, 1, 2, 0, what);
  else nsl_set_mechanical_coefficient(L, 1, "fExt", 2, shared);
  return 0;
}

/* The rigid body at 1, to change what is about its external moment. */
static NslDs *check_body(lua_State *L, const char *what) {
  NslDs *self = nsl_check_idle_mechanical(L, what);
  if (nsl_mechanical(self)->kind != NS_NEWTON_EULER)
    luaL_error(L, "%s: a %s has no external moment", what, self->callee.head.type->name);
  return self;
}

static int set_moment(lua_State *L, const char *what) {
  check_body(L, what);
  lua_settop(L, 2);
  if (nsl_is_callback(L, 2) || nsl_push_flat(L, 2, -1, what, "moment")->n != 3) nsl_bad(L, what, "moment", "a vector of 3", 2);
  lua_settop(L, 2);
  nsl_set_moment(L, 1, 2, what);
  return 0;
}

/* Takes the moment out of a rigid body's constant external force, which is copied. */
static void drop_moment(lua_State *L, int idx) {
  const NsCoef *fext = &nsl_mechanical(lua_touserdata(L, idx))->fext;
  if (!fext->value || ns_coef_varies(fext)) return;
  memcpy(nsl_push_vector(L, 6, NULL)->data, fext->value, 3 * sizeof(double));
  nsl_set_mechanical_coefficient(L, idx, "fExt", lua_gettop(L), false);
  lua_pop(L, 1);
}

static int set_fext_ptr(lua_State *L) {
  return set_force(L, "setFExtPtr", true);
}
static int set_fext(lua_State *L) {
  return set_force(L, "setFExt", false);
}
static int set_mext_ptr(lua_State *L) {
  return set_moment(L, "setMExtPtr");
}
static int set_mext(lua_State *L) {
  return set_moment(L, "setMExt");
}

static int set_moment_inertial(lua_State *L) {
  NslDs *self = check_body(L, "setIsMextExpressedInInertialFrame");
  if (!lua_isboolean(L, 2)) nsl_bad(L, "setIsMextExpressedInInertialFrame", "flag", "a boolean", 2);
  nsl_mechanical(self)->moment_inertial = lua_toboolean(L, 2);
  return 0;
}

static int mechanical_callback_set_callback(lua_State *L, const char *name, const char *what) {
  NslDs *self = nsl_check_idle_mechanical(L, what);
  int slot = nsl_slot(&self->callee, name);
  if (slot < 0) luaL_error(L, "%s: a %s has no %s callback", what, self->callee.head.type->name, name);
  nsl_lua_set_function(L, slot, what);
  if (lua_isnil(L, 2)) return 0;
  drop_constant(self, name);
  if (strcmp(name, "mExt") == 0) drop_moment(L, 1);
  return 0;
}

#define CALLBACK(id, name, Title)                                                                                              \
  static int set_##id##_function(lua_State *L) {                                                                               \
    return mechanical_callback_set_callback(L, name, "setCompute" Title "Function");                                           \
  }

CALLBACK(mass, "mass", "Mass")
CALLBACK(fint, "fInt", "FInt")
CALLBACK(fgyr, "fGyr", "FGyr")
CALLBACK(fext, "fExt", "FExt")
CALLBACK(fint_q, "jacobianFIntq", "JacobianFIntq")
CALLBACK(fint_v, "jacobianFIntqDot", "JacobianFIntqDot")
CALLBACK(fgyr_q, "jacobianFGyrq", "JacobianFGyrq")
CALLBACK(fgyr_v, "jacobianFGyrqDot", "JacobianFGyrqDot")
CALLBACK(potential, "potential", "Potential")
CALLBACK(mext, "mExt", "MExt")
CALLBACK(mint, "mInt", "MInt")
CALLBACK(mint_q, "jacobianMIntq", "JacobianMIntq")
CALLBACK(mint_v, "jacobianMIntv", "JacobianMIntv")

const luaL_Reg nsl_mechanical_coef_methods[] = {{"setMassPtr", set_mass_ptr},
                                                {"setMass", set_mass},
                                                {"K", mechanical_callback_get_K},
                                                {"setKPtr", set_K_ptr},
                                                {"setK", set_K},
                                                {"C", mechanical_callback_get_C},
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
                                                {"setComputeMExtFunction", set_mext_function},
                                                {"setComputeMIntFunction", set_mint_function},
                                                {"setComputeJacobianMIntqFunction", set_mint_q_function},
                                                {"setComputeJacobianMIntvFunction", set_mint_v_function},
                                                {NULL, NULL}};
