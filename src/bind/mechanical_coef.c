/*
** mechanical_coef.c
** Mechanical systems: callbacks, and constants in their place.
*/
#include <stddef.h>
#include <string.h>

#include "bind/compile.h"
#include "bind/function.h"
#include "bind/mechanical_ds.h"

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

const NslCalleeClass *nsl_mechanical_class(NsMechanicalKind kind) {
  return &classes[kind];
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
  int c = find_coefficient(name);
  return c < 0 ? NULL : (NsCoef *)((char *)nsl_mechanical(self) + coefficients[c].offset);
}

void nsl_clone_mechanical_coefs(lua_State *L, const NslDs *from, const NslDs *to) {
  for (int c = 0; c < COEFFICIENTS; c++)
    nsl_clone_coef(L, nsl_mechanical_coefficient(from, coefficients[c].name),
                   nsl_mechanical_coefficient(to, coefficients[c].name));
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
  if (has_callback && nsl_is_callback(L, value)) {
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
  if (part > 0 && nsl_is_callback(L, 2)) nsl_bad(L, what, "moment", "a vector of 3", 2);
  if (ds->kind == NS_NEWTON_EULER && !nsl_is_callback(L, 2)) {
    const char *word = part > 0 ? "moment" : "force";
    NslVector *given = nsl_push_flat(L, 2, -1, what, word);
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

const luaL_Reg nsl_mechanical_coef_methods[] = {{"setMassPtr", set_mass_ptr},
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

