/*
** relation.c
** The relations of first order and of mechanics.
*/
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bind/call/callback.h"
#include "bind/diff/compile.h"
#include "bind/diff/dual.h"
#include "bind/call/function.h"
#include "bind/model/model.h"

enum { SLOT_H, SLOT_G, SLOT_JACHX, SLOT_JACGLAMBDA, SLOT_JACHLAMBDA, SLOT_JACGX };
enum { SLOT_C, SLOT_D, SLOT_B, SLOT_F, SLOT_E };

static const NslSlot nonlinear_slots[] = {
    {"computeh", "h", "xlz", "y", 'm', '1', NSL_NATIVE_VALUE},
    {"computeg", "g", "xlz", "r", 'n', '1', NSL_NATIVE_VALUE},
    {"computeJachx", "Jachx", "xlz", "C", 'm', 'n', NSL_NATIVE_JACOBIAN},
    {"computeJacglambda", "Jacglambda", "xlz", "B", 'n', 'm', NSL_NATIVE_JACOBIAN},
    {"computeJachlambda", "Jachlambda", "xlz", "D", 'm', 'm', NSL_NATIVE_JACOBIAN},
    {"computeJacgx", "Jacgx", "xlz", "K", 'n', 'n', NSL_NATIVE_JACOBIAN},
};

static const NslSlot type1_slots[] = {
    {"computeh", "h", "xz", "y", 'm', '1', NSL_NATIVE_TYPE1},
    {"computeg", "g", "lz", "r", 'n', '1', NSL_NATIVE_TYPE1},
    {"computeJachx", "Jachx", "xz", "C", 'm', 'n', NSL_NATIVE_TYPE1},
    {"computeJacglambda", "Jacglambda", "lz", "B", 'n', 'm', NSL_NATIVE_TYPE1},
};

static const NslSlot type2_slots[] = {
    {"computeh", "h", "xl", "y", 'm', '1', NSL_NATIVE_TYPE2H},
    {"computeg", "g", "l", "r", 'n', '1', NSL_NATIVE_TYPE2G},
    {"computeJachx", "Jachx", "xl", "C", 'm', 'n', NSL_NATIVE_TYPE2H},
    {"computeJacglambda", "Jacglambda", "l", "B", 'n', 'm', NSL_NATIVE_TYPE2G},
    {"computeJachlambda", "Jachlambda", "xl", "D", 'm', 'm', NSL_NATIVE_TYPE2H},
};

static const NslSlot linear_slots[] = {
    {"computeC", "C", "z", "C", 'm', 'n', NSL_NATIVE_MATRIX}, {"computeD", "D", "z", "D", 'm', 'm', NSL_NATIVE_TIME},
    {"computeB", "B", "z", "B", 'n', 'm', NSL_NATIVE_MATRIX}, {"computeF", "F", "z", "F", 'm', 'p', NSL_NATIVE_MATRIX},
    {"computee", "e", "z", "e", 'm', '1', NSL_NATIVE_TIME},
};

/* Mechanics: x is q. */
enum { SLOT_JACHQ = 1, SLOT_JACHQ_LAMBDA = 2, SLOT_HDOT = 2, SLOT_DOT = 2, SLOT_DOT_TIMED = 3 };

static const NslSlot scleronomous_slots[] = {
    {"computeh", "h", "xz", "y", 'm', '1', NSL_NATIVE_Q},
    {"computeJachq", "Jachq", "xz", "C", 'm', 'n', NSL_NATIVE_Q},
    {"computeDotJachq", "dotJachq", "xzv", "dotjachq", 'm', 'n', NSL_NATIVE_QV},
};

static const NslSlot rheonomous_slots[] = {
    {"computeh", "h", "xz", "y", 'm', '1', NSL_NATIVE_QT},
    {"computeJachq", "Jachq", "xz", "C", 'm', 'n', NSL_NATIVE_QT},
    {"computehDot", "hDot", "xz", "hDot", 'm', '1', NSL_NATIVE_QT},
    {"computeDotJachq", "dotJachq", "xzv", "dotjachq", 'm', 'n', NSL_NATIVE_QVT},
};

static const NslSlot compliant_slots[] = {
    {"computeh", "h", "xlz", "y", 'm', '1', NSL_NATIVE_QL},
    {"computeJachq", "Jachq", "xlz", "C", 'm', 'n', NSL_NATIVE_QL},
    {"computeJachlambda", "Jachlambda", "xlz", "D", 'm', 'm', NSL_NATIVE_QL},
};

/* The frame of a contact is set by computeh; the rows follow from it. */
static const NslSlot contact_slots[] = {
    {"computeh", "h", "x", "y", 'm', '1', NSL_NATIVE_QT},
};

static bool bind_relation_is_linear(const NsRelation *relation) {
  return relation->kind == NS_RELATION_LINEAR_TI || relation->kind == NS_RELATION_LINEAR ||
         relation->kind == NS_RELATION_LAGRANGIAN || relation->kind == NS_RELATION_COMPLIANT_LINEAR;
}

static NsStatus bind_functions(NslCallee *callee) {
  NsRelation *relation = ((NslRelation *)callee)->relation;
  if (!relation) return NS_OK;
  bool has_D = callee->kind->nslots > SLOT_JACHLAMBDA, has_K = callee->kind->nslots > SLOT_JACGX;
  relation->h = nsl_function(callee, 0, SLOT_H, SLOT_JACHX, has_D ? SLOT_JACHLAMBDA : -1);
  relation->g = nsl_function(callee, 1, SLOT_G, has_K ? SLOT_JACGX : -1, SLOT_JACGLAMBDA);
  return NS_OK;
}

static NsStatus bind_mechanical(NslCallee *callee) {
  NsRelation *relation = ((NslRelation *)callee)->relation;
  if (!relation) return NS_OK;
  bool compliant = relation->kind == NS_RELATION_COMPLIANT, timed = callee->kind->slots == rheonomous_slots;
  relation->h = nsl_function(callee, 0, SLOT_H, SLOT_JACHQ, compliant ? SLOT_JACHQ_LAMBDA : -1);
  if (timed) relation->hdot = nsl_function(callee, 1, SLOT_HDOT, -1, -1);
  if (!compliant) relation->dotjac = nsl_function(callee, 2, timed ? SLOT_DOT_TIMED : SLOT_DOT, -1, -1);
  return NS_OK;
}

/* Raises that computeh has left the contact without a normal. */
static int raise_normal(lua_State *L) {
  return luaL_error(L, "nc is not set (computeh is to call setpc1, setpc2 and setnc)");
}

static int bind_contact_value(void *context, double t, const double *const *args, double *y) {
  NslRelation *self = context;
  return self->computeh.value(self->computeh.context, t, args, y);
}

static int bind_contact_jacobian(void *context, double t, const double *const *args, int by, double *C) {
  NslRelation *self = context;
  NsContact *contact = self->relation->contact;
  double y[3] = {0}; /* as many as a contact has rows */
  if (by != NS_BY_X) return 0;
  int failed = bind_contact_value(context, t, args, y);
  if (failed) return failed;
  const double *n = contact->frame.nc;
  if (n[0] == 0 && n[1] == 0 && n[2] == 0) return nsl_callback_protected(&self->callee.callbacks[SLOT_H], raise_normal, NULL);
  ns_contact_rows(contact, args[0], C);
  return 0;
}

/* dh/dt: the frame stays that of the plain evaluation, which comes before it. */
static int contact_along(void *context, double t, const double *const *args, double tdot, const double *w, double *first,
                         double *second) {
  NslRelation *self = context;
  return self->computeh.along(self->computeh.context, t, args, tdot, w, first, second);
}

static NsStatus bind_contact(NslCallee *callee) {
  NslRelation *self = (NslRelation *)callee;
  NsRelation *relation = self->relation;
  if (!relation) return NS_OK;
  if (relation->contact->shape != NS_CONTACT_USER) {
    relation->h = ns_contact_function(relation->contact);
    return NS_OK;
  }
  self->computeh = nsl_function(callee, 0, SLOT_H, -1, -1);
  NsFunction h = {bind_contact_value, bind_contact_jacobian, self, self->computeh.along ? contact_along : NULL};
  relation->h = self->computeh.value ? h : (NsFunction){0};
  return NS_OK;
}

static NsCoef *coefficient(NsRelation *relation, char letter) {
  switch (letter) {
    case 'C': return &relation->C;
    case 'D': return &relation->D;
    case 'B': return &relation->B;
    case 'K': return &relation->K;
    case 'F': return &relation->F;
    default: return &relation->e;
  }
}

static int bind_relation_size_of(const NslCallee *callee, char letter) {
  return letter == 'n' ? callee->n : letter == 'm' ? callee->m : letter == 'p' ? callee->nz : 1;
}

/* Coefficients that are functions of time; before the sizes are known there is nothing to hand over. */
static NsStatus bind_coefficients(NslCallee *callee) {
  NsRelation *relation = ((NslRelation *)callee)->relation;
  for (int slot = 0; relation && callee->sized && slot < callee->kind->nslots; slot++) {
    const NslSlot *s = &callee->kind->slots[slot];
    NsCoef *coef = coefficient(relation, s->brief[0]);
    NsFunction function = nsl_coefficient_function(callee, slot);
    if (function.value) {
      NsStatus status = ns_coef_set_function(coef, bind_relation_size_of(callee, s->rows),
                                             bind_relation_size_of(callee, s->cols), function);
      if (status != NS_OK) return status;
    } else if (ns_coef_varies(coef)) {
      ns_coef_clear(coef);
    }
  }
  return NS_OK;
}

static const NslCalleeClass classes[NS_RELATION_KINDS] = {
    [NS_RELATION_LINEAR_TI] = {"relation", linear_slots, 0, bind_coefficients, NULL, NULL},
    [NS_RELATION_LINEAR] = {"relation", linear_slots, 5, bind_coefficients, NULL, NULL},
    [NS_RELATION_TYPE1] = {"relation", type1_slots, 4, bind_functions, NULL, NULL},
    [NS_RELATION_TYPE2] = {"relation", type2_slots, 5, bind_functions, NULL, NULL},
    [NS_RELATION_NONLINEAR] = {"relation", nonlinear_slots, 6, bind_functions, NULL, NULL},
    [NS_RELATION_LAGRANGIAN] = {"relation", linear_slots, 0, bind_coefficients, "q", NULL},
    [NS_RELATION_SCLERONOMOUS] = {"relation", scleronomous_slots, 3, bind_mechanical, "q", NULL},
    [NS_RELATION_RHEONOMOUS] = {"relation", rheonomous_slots, 4, bind_mechanical, "q", NULL},
    [NS_RELATION_COMPLIANT_LINEAR] = {"relation", linear_slots, 0, bind_coefficients, "q", NULL},
    [NS_RELATION_COMPLIANT] = {"relation", compliant_slots, 3, bind_mechanical, "q", NULL},
    [NS_RELATION_NEWTON_EULER] = {"relation", rheonomous_slots, 4, bind_mechanical, "q", NULL},
    [NS_RELATION_CONTACT_1D] = {"relation", contact_slots, 1, bind_contact, "q", NULL},
    [NS_RELATION_CONTACT_3D] = {"relation", contact_slots, 1, bind_contact, "q", NULL},
};

static const NslType types[NS_RELATION_KINDS] = {
#define X(code, name, d, k) [code] = {name, NULL},
    NS_RELATION_LIST(X)
#undef X
};

bool nsl_is_relation(const NslType *type) {
  return type >= types && type < types + NS_RELATION_KINDS;
}

NslRelation *nsl_check_relation(lua_State *L, int idx) {
  NslHead *head = nsl_head(L, idx);
  if (!head || !nsl_is_relation(head->type)) return nsl_wrong_type(L, idx, "relation", "relation"), NULL;
  NslRelation *self = (NslRelation *)head;
  if (head->closed) luaL_error(L, "%s is closed", nsl_callee_title(L, &self->callee));
  return self;
}

static NslRelation *bind_relation_check_idle(lua_State *L, const char *what) {
  NslRelation *self = nsl_check_relation(L, 1);
  nsl_callee_idle(L, &self->callee, what);
  return self;
}

/* ---- making ---- */

static NslRelation *new_relation(lua_State *L, NsRelationKind kind) {
  NslRelation *self = nsl_new(L, &types[kind], sizeof *self, NSL_USERVALUES);
  nsl_callee_init(L, -1, &self->callee, &classes[kind], "");
  if (ns_relation_new(&self->relation, kind) != NS_OK) luaL_error(L, "not enough memory");
  self->callee.name = self->relation->name;
  return self;
}

static bool bind_relation_may_have(const NslRelation *self, char letter) {
  NsRelationKind kind = self->relation->kind;
  bool mechanical = ns_relation_family(self->relation) == NS_MECHANICS;
  if (self->relation->contact) return false;
  if (letter == 'K') return kind == NS_RELATION_NONLINEAR;
  if (letter == 'B') return !mechanical;
  if (letter == 'D') return mechanical ? ns_relation_holds_at_position(self->relation) : kind != NS_RELATION_TYPE1;
  if (letter == 'F' || letter == 'e') return bind_relation_is_linear(self->relation);
  return true;
}

/* A number array, or in a FirstOrderLinearR a function of time, for one of C, D, B, K, F, e. */
static void bind_relation_set_coefficient(lua_State *L, int idx, const char *name, int value, bool shared) {
  NslRelation *self = lua_touserdata(L, idx);
  NslCallee *callee = &self->callee;
  const char *type = callee->head.type->name;
  char letter = name[0];
  if (!bind_relation_may_have(self, letter)) luaL_error(L, "%s: it has no %s", type, name);
  int slot = bind_relation_is_linear(self->relation) ? nsl_slot(callee, name) : -1;
  if (slot >= 0 && nsl_may_be_callback(L, value)) {
    nsl_set_function(L, idx, slot, value);
    return;
  }
  bool linked = self->relation->m >= 0;
  int m = linked ? self->relation->m : -1, nx = linked ? self->relation->nx : -1;
  int rows = letter == 'B' || letter == 'K' ? nx : m;
  if (letter == 'F' && linked && callee->nz == 0) luaL_error(L, "%s: F: there are no parameters z for it", type);
  int cols = letter == 'e' ? 0 : letter == 'F' ? (linked ? callee->nz : -1) : letter == 'D' || letter == 'B' ? m : nx;
  nsl_set_coef(L, idx, coefficient(self->relation, letter), value, rows, cols, name, shared);
  if (slot >= 0 && callee->callbacks[slot].backing != NSL_ABSENT) {
    lua_pushnil(L);
    nsl_set_function(L, idx, slot, -1);
    lua_pop(L, 1);
  }
}

static const char *const linear_keys[] = {"C", "D", "B", "F", "e", "z", "name", NULL};
static const char *const type1_keys[] = {"h", "g", "Jachx", "Jacglambda", "C", "B", "states", "z", "name", NULL};
static const char *const type2_keys[] = {"h", "g", "Jachx",  "Jacglambda", "Jachlambda", "C",
                                         "D", "B", "states", "z",          "name",       NULL};
static const char *const nonlinear_keys[] = {"h", "g", "Jachx", "Jacglambda", "Jachlambda", "Jacgx", "C",
                                             "D", "B", "K",     "states",     "z",          "name",  NULL};

static const char *const lagrangian_keys[] = {"C", "F", "e", "z", "name", NULL};
static const char *const compliant_linear_keys[] = {"C", "D", "F", "e", "z", "name", NULL};
static const char *const scleronomous_keys[] = {"h", "Jachq", "dotJachq", "C", "states", "z", "name", NULL};
static const char *const rheonomous_keys[] = {"h", "Jachq", "hDot", "dotJachq", "C", "states", "z", "name", NULL};
static const char *const compliant_keys[] = {"h", "Jachq", "Jachlambda", "C", "D", "states", "z", "name", NULL};

static const char *const contact_keys[] = {"h", "z", "name", "shape", "R", "R1", "R2", "corner", "point", "normal", NULL};

static const char *const *keys_of(NsRelationKind kind) {
  switch (kind) {
    case NS_RELATION_LAGRANGIAN: return lagrangian_keys;
    case NS_RELATION_COMPLIANT_LINEAR: return compliant_linear_keys;
    case NS_RELATION_SCLERONOMOUS: return scleronomous_keys;
    case NS_RELATION_RHEONOMOUS:
    case NS_RELATION_NEWTON_EULER: return rheonomous_keys;
    case NS_RELATION_CONTACT_1D:
    case NS_RELATION_CONTACT_3D: return contact_keys;
    case NS_RELATION_COMPLIANT: return compliant_keys;
    case NS_RELATION_TYPE1: return type1_keys;
    case NS_RELATION_TYPE2: return type2_keys;
    case NS_RELATION_NONLINEAR: return nonlinear_keys;
    default: return linear_keys;
  }
}

/* Three finite numbers of the option table, under a key. */
static void bind_relation_read_point(lua_State *L, int options, const char *who, const char *key, double *to) {
  lua_getfield(L, options, key);
  nsl_vector_read(nsl_to_finite_vector(L, lua_gettop(L), 3, who, key), to);
  lua_pop(L, 1);
}

static double read_radius(lua_State *L, int options, const char *who, const char *key) {
  lua_getfield(L, options, key);
  if (!lua_isnumber(L, -1) || !(lua_tonumber(L, -1) > 0)) nsl_bad(L, who, key, "a positive number", lua_gettop(L));
  double R = nsl_finite(L, lua_gettop(L), who, key);
  lua_pop(L, 1);
  return R;
}

/* n over its length. */
static void make_unit(lua_State *L, const char *who, const char *what, double *n) {
  double length = hypot(hypot(n[0], n[1]), n[2]);
  if (!(length > 0)) luaL_error(L, "%s: %s: expected a direction, got zeros", who, what);
  for (int i = 0; i < 3; i++) n[i] /= length;
}

/* Ready-made geometry: the option "shape" and its measures. */
static void apply_shape(lua_State *L, int options, NslRelation *self) {
  NsContact *contact = self->relation->contact;
  const char *who = self->callee.head.type->name;
  if (!contact || lua_getfield(L, options, "shape") == LUA_TNIL) return;
  NsContactShape shape = lua_type(L, -1) == LUA_TSTRING ? ns_contact_shape(lua_tostring(L, -1)) : NS_CONTACT_SHAPES;
  static const char known[] = "'sphere_plane', 'sphere_sphere' or 'corner_plane'";
  if (shape == NS_CONTACT_SHAPES && lua_type(L, -1) == LUA_TSTRING)
    luaL_error(L, "%s: shape: expected %s, got '%s'", who, known, lua_tostring(L, -1));
  if (shape == NS_CONTACT_SHAPES) nsl_bad(L, who, "shape", known, lua_gettop(L));
  if (lua_getfield(L, options, "h") != LUA_TNIL) luaL_error(L, "%s: expected h or shape, got both", who);
  contact->shape = shape;
  if (shape == NS_CONTACT_SPHERE_SPHERE) {
    contact->R1 = read_radius(L, options, who, "R1");
    contact->R2 = read_radius(L, options, who, "R2");
  } else {
    if (shape == NS_CONTACT_SPHERE_PLANE) contact->R1 = read_radius(L, options, who, "R");
    else bind_relation_read_point(L, options, who, "corner", contact->corner);
    bind_relation_read_point(L, options, who, "point", contact->point);
    bind_relation_read_point(L, options, who, "normal", contact->normal);
    make_unit(L, who, "normal", contact->normal);
  }
  self->relation->h = ns_contact_function(contact);
}

/* How many states the callbacks are written for, of all systems that will be linked together. */
static void apply_states(lua_State *L, int options, NslRelation *self) {
  const char *who = self->callee.head.type->name;
  if (lua_getfield(L, options, "states") == LUA_TNIL) return;
  lua_Integer states = nsl_integer(L, lua_gettop(L), who, "states");
  if (states < 1) luaL_error(L, "%s: states: expected a positive number, got %I", who, states);
  if (states > INT_MAX) luaL_error(L, "%s: states: expected at most %d, got %I", who, INT_MAX, states);
  self->relation->states = (int)states;
}

static void bind_relation_apply_options(lua_State *L, int options, NslRelation *self) {
  int self_idx = lua_gettop(L);
  NslCallee *callee = &self->callee;
  const char *type = callee->head.type->name;
  nsl_check_options(L, options, type, keys_of(self->relation->kind));
  if (lua_getfield(L, options, "name") != LUA_TNIL) nsl_set_name(L, self->relation->name, -1, type);
  if (lua_getfield(L, options, "z") != LUA_TNIL)
    nsl_set_z(L, self_idx, &self->relation->z, &self->relation->nz, lua_gettop(L), false, true);
  static const char *const letters[] = {"C", "D", "B", "K", "F", "e"};
  for (int i = 0; i < 6; i++)
    if (lua_getfield(L, options, letters[i]) != LUA_TNIL)
      bind_relation_set_coefficient(L, self_idx, letters[i], lua_gettop(L), true);
  apply_shape(L, options, self);
  apply_states(L, options, self);
  for (int slot = 0; !bind_relation_is_linear(self->relation) && slot < callee->kind->nslots; slot++)
    if (lua_getfield(L, options, callee->kind->slots[slot].brief) != LUA_TNIL) {
      if (!nsl_may_be_callback(L, -1)) nsl_bad(L, type, callee->kind->slots[slot].brief, "a function", -1);
      nsl_set_function(L, self_idx, slot, lua_gettop(L));
    }
  lua_settop(L, self_idx);
}

/* () , ({options}), (C, B) or (C, D, F, e, B): absent ones nil or false. */
static int bind_relation_new_linear(lua_State *L, NsRelationKind kind) {
  static const char *const two[] = {"C", "B"}, *const five[] = {"C", "D", "F", "e", "B"};
  int nargs = lua_gettop(L);
  if (nargs == 1 && nsl_is_options(L, 1)) {
    bind_relation_apply_options(L, 1, new_relation(L, kind));
    return 1;
  }
  if (nargs != 0 && nargs != 2 && nargs != 5)
    luaL_error(L, "%s: expected (C, B), (C, D, F, e, B) or an option table, got %d argument%s", types[kind].name, nargs,
               nargs == 1 ? "" : "s");
  new_relation(L, kind);
  for (int i = 0; i < nargs; i++)
    if (lua_toboolean(L, i + 1)) bind_relation_set_coefficient(L, nargs + 1, nargs == 2 ? two[i] : five[i], i + 1, true);
  return 1;
}

/* An option table, or `count` forms of coefficients by position; absent ones nil or false. */
static int new_lagrangian_linear(lua_State *L, NsRelationKind kind, const char *const forms[], const char *usage) {
  int nargs = lua_gettop(L);
  if (nargs == 1 && nsl_is_options(L, 1)) {
    bind_relation_apply_options(L, 1, new_relation(L, kind));
    return 1;
  }
  const char *form = NULL;
  for (int i = 0; forms[i]; i++)
    if ((int)strlen(forms[i]) == nargs) form = forms[i];
  if (!form)
    luaL_error(L, "%s: expected %s or an option table, got %d argument%s", types[kind].name, usage, nargs,
               nargs == 1 ? "" : "s");
  if (nargs == 1 && lua_isnil(L, 1)) nsl_bad(L, types[kind].name, "C", "a matrix", 1);
  new_relation(L, kind);
  for (int i = 0; i < nargs; i++) {
    char name[2] = {form[i], 0};
    static const char letters[][2] = {"C", "D", "F", "e"};
    const char *letter = letters[name[0] == 'C' ? 0 : name[0] == 'D' ? 1 : name[0] == 'F' ? 2 : 3];
    if (lua_toboolean(L, i + 1)) bind_relation_set_coefficient(L, nargs + 1, letter, i + 1, true);
  }
  return 1;
}

/* (C), (C, e) or (C, F, e). */
static int bind_relation_new_lagrangian(lua_State *L) {
  static const char *const forms[] = {"C", "Ce", "CFe", NULL};
  return new_lagrangian_linear(L, NS_RELATION_LAGRANGIAN, forms, "(C), (C, e), (C, F, e)");
}

/* (C, D), (C, D, e) or (C, D, F, e). */
static int new_compliant_linear(lua_State *L) {
  static const char *const forms[] = {"CD", "CDe", "CDFe", NULL};
  return new_lagrangian_linear(L, NS_RELATION_COMPLIANT_LINEAR, forms, "(C, D), (C, D, e), (C, D, F, e)");
}

/* Whether a callback by its place cannot be nil: h and g; they may be left out, to be set by other means. */
static bool needs_value(const char *brief) {
  return strcmp(brief, "h") == 0 || strcmp(brief, "g") == 0;
}

/* (), ({options}) or (h, g [, Jachx, Jacglambda [, Jachlambda, Jacgx]]). */
static int new_nonlinear(lua_State *L, NsRelationKind kind) {
  int nargs = lua_gettop(L), most = classes[kind].nslots;
  if (nargs == 1 && lua_istable(L, 1)) {
    bind_relation_apply_options(L, 1, new_relation(L, kind));
    return 1;
  }
  if (nargs > most) luaL_error(L, "%s: expected at most %d callbacks, got %d", types[kind].name, most, nargs);
  for (int i = 1; i <= nargs; i++) {
    const char *brief = classes[kind].slots[i - 1].brief;
    if (!nsl_may_be_callback(L, i) && (!lua_isnil(L, i) || needs_value(brief)))
      nsl_bad(L, types[kind].name, brief, "a function", i);
  }
  new_relation(L, kind);
  for (int i = 1; i <= nargs; i++)
    if (!lua_isnil(L, i)) nsl_set_function(L, nargs + 1, i - 1, i);
  return 1;
}

static int new_linear_ti(lua_State *L) {
  return bind_relation_new_linear(L, NS_RELATION_LINEAR_TI);
}
static int new_linear_r(lua_State *L) {
  return bind_relation_new_linear(L, NS_RELATION_LINEAR);
}
static int new_type1(lua_State *L) {
  return new_nonlinear(L, NS_RELATION_TYPE1);
}
static int new_type2(lua_State *L) {
  return new_nonlinear(L, NS_RELATION_TYPE2);
}
static int new_nonlinear_r(lua_State *L) {
  return new_nonlinear(L, NS_RELATION_NONLINEAR);
}

static int new_scleronomous(lua_State *L) {
  return new_nonlinear(L, NS_RELATION_SCLERONOMOUS);
}
static int new_rheonomous(lua_State *L) {
  return new_nonlinear(L, NS_RELATION_RHEONOMOUS);
}
static int new_compliant(lua_State *L) {
  return new_nonlinear(L, NS_RELATION_COMPLIANT);
}
static int bind_relation_new_newton_euler(lua_State *L) {
  return new_nonlinear(L, NS_RELATION_NEWTON_EULER);
}
static int new_contact_1d(lua_State *L) {
  return new_nonlinear(L, NS_RELATION_CONTACT_1D);
}
static int new_contact_3d(lua_State *L) {
  return new_nonlinear(L, NS_RELATION_CONTACT_3D);
}

void nsl_clone_relation(lua_State *L, int idx) {
  NslRelation *from = nsl_check_relation(L, idx);
  idx = lua_absindex(L, idx);
  NslRelation *to = new_relation(L, from->relation->kind);
  int copy = lua_gettop(L);
  memcpy(to->relation->name, from->relation->name, NS_NAME_SIZE);
  to->relation->states = from->relation->states;
  if (from->relation->contact) {
    *to->relation->contact = *from->relation->contact;
    if (from->relation->contact->shape != NS_CONTACT_USER) to->relation->h = ns_contact_function(to->relation->contact);
  }
  nsl_clone_callee(L, idx, copy);
  if (from->relation->z) {
    nsl_push_vector_view(L, idx, from->relation->z, from->relation->nz, 1, "z", NULL);
    nsl_set_z(L, copy, &to->relation->z, &to->relation->nz, lua_gettop(L), false, false);
  }
  for (const char *letter = "CDBKFe"; *letter; letter++)
    nsl_clone_coef(L, coefficient(from->relation, *letter), coefficient(to->relation, *letter));
  lua_settop(L, copy);
}

/* ---- accessors ---- */

static int bind_relation_get(lua_State *L, char letter) {
  return nsl_push_coef(L, coefficient(nsl_check_relation(L, 1)->relation, letter), letter == 'e');
}

static int bind_relation_set(lua_State *L, const char *name, bool shared) {
  char what[16];
  snprintf(what, sizeof what, "set%s%s", name, shared ? "Ptr" : "");
  bind_relation_check_idle(L, what);
  lua_settop(L, 2);
  bind_relation_set_coefficient(L, 1, name, 2, shared);
  return 0;
}

static int bind_relation_get_C(lua_State *L) {
  return bind_relation_get(L, 'C');
}
static int get_D(lua_State *L) {
  return bind_relation_get(L, 'D');
}
static int get_B(lua_State *L) {
  return bind_relation_get(L, 'B');
}
static int bind_relation_get_K(lua_State *L) {
  return bind_relation_get(L, 'K');
}
static int get_F(lua_State *L) {
  return bind_relation_get(L, 'F');
}
static int get_e(lua_State *L) {
  return bind_relation_get(L, 'e');
}
static int set_C(lua_State *L) {
  return bind_relation_set(L, "C", false);
}
static int set_D(lua_State *L) {
  return bind_relation_set(L, "D", false);
}
static int set_B(lua_State *L) {
  return bind_relation_set(L, "B", false);
}
static int set_K(lua_State *L) {
  return bind_relation_set(L, "K", false);
}
static int set_F(lua_State *L) {
  return bind_relation_set(L, "F", false);
}
static int set_e(lua_State *L) {
  return bind_relation_set(L, "e", false);
}
static int set_C_ptr(lua_State *L) {
  return bind_relation_set(L, "C", true);
}
static int set_D_ptr(lua_State *L) {
  return bind_relation_set(L, "D", true);
}
static int set_B_ptr(lua_State *L) {
  return bind_relation_set(L, "B", true);
}
static int set_K_ptr(lua_State *L) {
  return bind_relation_set(L, "K", true);
}
static int set_F_ptr(lua_State *L) {
  return bind_relation_set(L, "F", true);
}
static int set_e_ptr(lua_State *L) {
  return bind_relation_set(L, "e", true);
}

static int bind_relation_set_callback(lua_State *L, const char *name) {
  char who[40];
  snprintf(who, sizeof who, "setC%sFunction", name + 1);
  NslRelation *self = bind_relation_check_idle(L, who);
  int slot = nsl_slot(&self->callee, name);
  if (slot < 0) luaL_error(L, "%s: a %s has no callback %s", who, self->callee.head.type->name, name);
  if (self->relation->contact && self->relation->contact->shape != NS_CONTACT_USER)
    luaL_error(L, "%s: the shape %s has its own", who, ns_contact_shape_name(self->relation->contact->shape));
  return nsl_lua_set_function(L, slot, who);
}

static int set_h_function(lua_State *L) {
  return bind_relation_set_callback(L, "computeh");
}
static int set_g_function(lua_State *L) {
  return bind_relation_set_callback(L, "computeg");
}
static int set_jachx_function(lua_State *L) {
  return bind_relation_set_callback(L, "computeJachx");
}
static int set_jachlambda_function(lua_State *L) {
  return bind_relation_set_callback(L, "computeJachlambda");
}
static int set_jacgx_function(lua_State *L) {
  return bind_relation_set_callback(L, "computeJacgx");
}
static int set_jacglambda_function(lua_State *L) {
  return bind_relation_set_callback(L, "computeJacglambda");
}
static int set_jachq_function(lua_State *L) {
  return bind_relation_set_callback(L, "computeJachq");
}
static int set_dotjachq_function(lua_State *L) {
  return bind_relation_set_callback(L, "computeDotJachq");
}
static int set_hdot_function(lua_State *L) {
  return bind_relation_set_callback(L, "computehDot");
}
static int set_C_function(lua_State *L) {
  return bind_relation_set_callback(L, "computeC");
}
static int set_D_function(lua_State *L) {
  return bind_relation_set_callback(L, "computeD");
}
static int set_B_function(lua_State *L) {
  return bind_relation_set_callback(L, "computeB");
}
static int set_F_function(lua_State *L) {
  return bind_relation_set_callback(L, "computeF");
}
static int set_e_function(lua_State *L) {
  return bind_relation_set_callback(L, "computee");
}

/* ---- the frame of a contact ---- */

/* The vector of a frame that has the name. */
static double *frame_vector(NsContactFrame *frame, const char *what) {
  if (strcmp(what, "nc") == 0) return frame->nc;
  return strcmp(what, "pc1") == 0 ? frame->pc1 : frame->pc2;
}

static NslRelation *bind_relation_check_contact(lua_State *L) {
  NslRelation *self = nsl_check_relation(L, 1);
  if (!self->relation->contact) luaL_error(L, "a %s has no contact frame", self->callee.head.type->name);
  return self;
}

static int get_frame(lua_State *L, const char *what) {
  NslRelation *self = bind_relation_check_contact(L);
  nsl_vector_write(nsl_push_vector(L, 3, what), frame_vector(&self->relation->contact->frame, what));
  return 1;
}

/* Replaces a dual vector, or duals in a list, at idx by their values: a frame has no derivatives. */
static void drop_partials(lua_State *L, int idx) {
  const NslDualVector *v = nsl_test_dual_vector(L, idx);
  int n = v ? v->base.n : lua_istable(L, idx) ? (int)lua_rawlen(L, idx) : 0;
  if (n == 0) return;
  lua_createtable(L, n, 0);
  for (int i = 1; i <= n; i++) {
    lua_geti(L, idx, i);
    const NslDual *x = nsl_test_dual(L, -1);
    if (x) lua_pushnumber(L, x->value), lua_replace(L, -2);
    lua_rawseti(L, -2, i);
  }
  lua_replace(L, idx);
}

static int set_frame(lua_State *L, const char *who) {
  const char *what = who + strlen("set");
  NslRelation *self = bind_relation_check_contact(L);
  if (self->relation->contact->shape != NS_CONTACT_USER)
    luaL_error(L, "%s: the shape %s has its own", who, ns_contact_shape_name(self->relation->contact->shape));
  double got[3];
  lua_settop(L, 2);
  drop_partials(L, 2);
  nsl_vector_read(nsl_to_finite_vector(L, 2, 3, who, what), got);
  if (what[0] == 'n') make_unit(L, who, what, got);
  memcpy(frame_vector(&self->relation->contact->frame, what), got, sizeof got);
  return 0;
}

static int get_pc1(lua_State *L) {
  return get_frame(L, "pc1");
}
static int get_pc2(lua_State *L) {
  return get_frame(L, "pc2");
}
static int get_nc(lua_State *L) {
  return get_frame(L, "nc");
}
static int set_pc1(lua_State *L) {
  return set_frame(L, "setpc1");
}
static int set_pc2(lua_State *L) {
  return set_frame(L, "setpc2");
}
static int set_nc(lua_State *L) {
  return set_frame(L, "setnc");
}

static const luaL_Reg contact_methods[] = {{"pc1", get_pc1},    {"pc2", get_pc2},  {"nc", get_nc}, {"setpc1", set_pc1},
                                           {"setpc2", set_pc2}, {"setnc", set_nc}, {NULL, NULL}};

static int relation_name(lua_State *L) {
  lua_pushstring(L, nsl_check_relation(L, 1)->relation->name);
  return 1;
}

static int relation_set_name(lua_State *L) {
  return nsl_set_name(L, nsl_check_relation(L, 1)->relation->name, 2, "setName");
}

static int relation_z(lua_State *L) {
  NsRelation *relation = nsl_check_relation(L, 1)->relation;
  return nsl_push_z(L, 1, relation->z, relation->nz);
}

static int bind_relation_set_parameters(lua_State *L, const char *what, bool shared) {
  NslRelation *self = bind_relation_check_idle(L, what);
  lua_settop(L, 2);
  nsl_set_z(L, 1, &self->relation->z, &self->relation->nz, 2, self->relation->m >= 0, shared);
  return 0;
}

static int relation_set_z_ptr(lua_State *L) {
  return bind_relation_set_parameters(L, "setzPtr", true);
}
static int relation_set_z(lua_State *L) {
  return bind_relation_set_parameters(L, "setz", false);
}

static int relation_close(lua_State *L) {
  NslRelation *self = nsl_check_relation(L, 1);
  nsl_callee_idle(L, &self->callee, "close");
  self->callee.head.closed = self->relation->closed = true;
  return 0;
}

static int relation_gc(lua_State *L) {
  NslRelation *self = lua_touserdata(L, 1);
  nsl_callee_release(&self->callee);
  ns_relation_free(self->relation);
  self->relation = NULL;
  return 0;
}

static int relation_tostring(lua_State *L) {
  NslRelation *self = lua_touserdata(L, 1);
  const char *type = self->callee.head.type->name;
  if (self->callee.head.closed) return lua_pushfstring(L, "%s (closed)", type), 1;
  lua_pushfstring(L, self->relation->name[0] ? "%s '%s'" : "%s", type, self->relation->name);
  if (self->relation->m < 0) lua_pushliteral(L, ", not linked");
  else
    lua_pushfstring(L, ": %d state%s, %d multiplier%s", self->relation->nx, self->relation->nx == 1 ? "" : "s",
                    self->relation->m, self->relation->m == 1 ? "" : "s");
  lua_concat(L, 2);
  return 1;
}

static int relation_display(lua_State *L) {
  static const NslDisplayed fields[] = {{"C", bind_relation_get_C}, {"D", get_D}, {"B", get_B},
                                        {"K", bind_relation_get_K}, {"F", get_F}, {"e", get_e},
                                        {"z", relation_z},          {NULL, NULL}};
  nsl_check_relation(L, 1);
  return nsl_display_object(L, fields);
}

static const luaL_Reg methods[] = {{"C", bind_relation_get_C},
                                   {"D", get_D},
                                   {"B", get_B},
                                   {"K", bind_relation_get_K},
                                   {"F", get_F},
                                   {"e", get_e},
                                   {"setC", set_C},
                                   {"setD", set_D},
                                   {"setB", set_B},
                                   {"setK", set_K},
                                   {"setF", set_F},
                                   {"sete", set_e},
                                   {"setCPtr", set_C_ptr},
                                   {"setDPtr", set_D_ptr},
                                   {"setBPtr", set_B_ptr},
                                   {"setKPtr", set_K_ptr},
                                   {"setFPtr", set_F_ptr},
                                   {"setePtr", set_e_ptr},
                                   {"setComputehFunction", set_h_function},
                                   {"setComputegFunction", set_g_function},
                                   {"setComputeJachqFunction", set_jachq_function},
                                   {"setComputehDotFunction", set_hdot_function},
                                   {"setComputeDotJachqFunction", set_dotjachq_function},
                                   {"jachq", bind_relation_get_C},
                                   {"setJachqPtr", set_C_ptr},
                                   {"setComputeJachxFunction", set_jachx_function},
                                   {"setComputeJachlambdaFunction", set_jachlambda_function},
                                   {"setComputeJacgxFunction", set_jacgx_function},
                                   {"setComputeJacglambdaFunction", set_jacglambda_function},
                                   {"setComputeCFunction", set_C_function},
                                   {"setComputeDFunction", set_D_function},
                                   {"setComputeBFunction", set_B_function},
                                   {"setComputeFFunction", set_F_function},
                                   {"setComputeEFunction", set_e_function},
                                   {"name", relation_name},
                                   {"setName", relation_set_name},
                                   {"z", relation_z},
                                   {"setzPtr", relation_set_z_ptr},
                                   {"setz", relation_set_z},
                                   {"display", relation_display},
                                   {"close", relation_close},
                                   {NULL, NULL}};

static const luaL_Reg meta[] = {
    {"__gc", relation_gc}, {"__close", relation_close}, {"__tostring", relation_tostring}, {NULL, NULL}};

void nsl_open_relation(lua_State *L) {
  static const luaL_Reg functions[] = {{"FirstOrderLinearTIR", new_linear_ti},
                                       {"FirstOrderLinearR", new_linear_r},
                                       {"FirstOrderType1R", new_type1},
                                       {"FirstOrderType2R", new_type2},
                                       {"FirstOrderNonLinearR", new_nonlinear_r},
                                       {"LagrangianLinearTIR", bind_relation_new_lagrangian},
                                       {"LagrangianScleronomousR", new_scleronomous},
                                       {"LagrangianRheonomousR", new_rheonomous},
                                       {"LagrangianCompliantLinearTIR", new_compliant_linear},
                                       {"LagrangianCompliantR", new_compliant},
                                       {"NewtonEulerR", bind_relation_new_newton_euler},
                                       {"NewtonEuler1DR", new_contact_1d},
                                       {"NewtonEuler3DR", new_contact_3d},
                                       {NULL, NULL}};
  for (int i = 0; i < NS_RELATION_KINDS; i++)
    nsl_register_callee_type(L, &types[i], &classes[i], meta, methods, i >= NS_RELATION_CONTACT_1D ? contact_methods : NULL);
  luaL_setfuncs(L, functions, 0);
}
