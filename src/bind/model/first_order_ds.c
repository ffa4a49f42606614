/*
** first_order_ds.c
** FirstOrderNonLinearDS, FirstOrderLinearDS and FirstOrderLinearTIDS.
*/
#include <stdio.h>
#include <string.h>

#include "bind/diff/compile.h"
#include "bind/call/function.h"
#include "bind/model/ds.h"
#include "model/first_order_ds.h"

enum { SLOT_F, SLOT_JACOBIAN, SLOT_M, SLOT_A, SLOT_B };

static const NslSlot slots[] = {
    {"computef", "f", "xz", "f", 'n', '1', NSL_NATIVE_DS_F},
    {"computeJacobianfx", "jacobianfx", "xz", "J", 'n', 'n', NSL_NATIVE_DS_F},
    {"computeM", "M", "z", "M", 'n', 'n', NSL_NATIVE_TIME},
    {"computeA", "A", "z", "A", 'n', 'n', NSL_NATIVE_TIME},
    {"computeb", "b", "z", "b", 'n', '1', NSL_NATIVE_TIME},
};

/* The engine's object; NULL before it is made. */
static NsFirstOrderDs *model(const NslDs *self) {
  return (NsFirstOrderDs *)self->ds;
}

/* Hands f and the coefficients that are functions of time to the engine. */
static NsStatus bind_first_order_ds_bind(NslCallee *callee) {
  NsFirstOrderDs *ds = model((NslDs *)callee);
  if (!ds) return NS_OK;
  NsCoef *coefs[] = {[SLOT_M] = &ds->M, [SLOT_A] = &ds->A, [SLOT_B] = &ds->b};
  ds->f = nsl_function(callee, 0, SLOT_F, SLOT_JACOBIAN, -1);
  for (int slot = SLOT_M; slot < callee->kind->nslots; slot++) {
    NsFunction function = nsl_coefficient_function(callee, slot);
    if (function.value) {
      NsStatus status = ns_coef_set_function(coefs[slot], ds->base.n, slot == SLOT_B ? 1 : ds->base.n, function);
      if (status != NS_OK) return status;
    } else if (ns_coef_varies(coefs[slot])) {
      ns_coef_clear(coefs[slot]);
    }
  }
  return NS_OK;
}

/* A nonlinear system has f and M, a linear one M, A and b as functions of time too, a time-invariant one none. */
static const NslCalleeClass nonlinear_class = {"dynamical system", slots, 3, bind_first_order_ds_bind, NULL, NULL};
static const NslCalleeClass linear_class = {"dynamical system", slots, 5, bind_first_order_ds_bind, NULL, NULL};
static const NslCalleeClass invariant_class = {"dynamical system", slots, 0, bind_first_order_ds_bind, NULL, NULL};

static const NslType nonlinear_type = {.name = "FirstOrderNonLinearDS"};
static const NslType linear_type = {.name = "FirstOrderLinearDS"};
static const NslType invariant_type = {.name = "FirstOrderLinearTIDS"};

bool nsl_is_first_order(const NslType *type) {
  return type == &nonlinear_type || type == &linear_type || type == &invariant_type;
}

/* The first-order system at 1. */
static NsFirstOrderDs *check_model(lua_State *L) {
  NslDs *self = nsl_check_ds(L, 1);
  if (self->ds->family != NS_FIRST_ORDER) luaL_argerror(L, 1, "first-order dynamical system expected");
  return model(self);
}

/* ---- making ---- */

/* Pushes a new system that starts at the vector or table at stack index x0. */
static NslDs *new_ds(lua_State *L, const NslType *type, const NslCalleeClass *kind, int x0) {
  lua_pushvalue(L, x0);
  NslVector *start = nsl_to_finite_vector(L, lua_gettop(L), -1, type->name, "x0");
  if (start->n == 0) luaL_error(L, "%s: x0: expected at least one state, got an empty vector", type->name);
  NslVector *flat = nsl_push_vector(L, start->n, NULL);
  nsl_vector_read(start, flat->data);
  NslDs *self = nsl_new(L, type, sizeof *self, NSL_USERVALUES);
  static const char unnamed[] = "";
  nsl_callee_init(L, -1, &self->callee, kind, unnamed);
  NsFirstOrderDs *ds;
  if (ns_first_order_new(&ds, flat->n, flat->data) != NS_OK) luaL_error(L, "not enough memory");
  self->ds = &ds->base;
  self->callee.name = self->ds->name;
  nsl_callee_size(L, -1, self->ds->n, 0, 0);
  lua_replace(L, -3);
  lua_pop(L, 1);
  return self;
}

/* A matrix (cols 0: a vector) or a function of time for one of M, A, b. */
static void bind_first_order_ds_set_coefficient(lua_State *L, int idx, int slot, int value, bool shared) {
  NslDs *self = lua_touserdata(L, idx);
  NsCoef *coefs[] = {[SLOT_M] = &model(self)->M, [SLOT_A] = &model(self)->A, [SLOT_B] = &model(self)->b};
  if (slot < self->callee.kind->nslots && nsl_may_be_callback(L, value)) {
    nsl_set_function(L, idx, slot, value);
    return;
  }
  nsl_set_coef(L, idx, coefs[slot], value, self->ds->n, slot == SLOT_B ? 0 : self->ds->n, slots[slot].brief, shared);
  if (slot < self->callee.kind->nslots && self->callee.callbacks[slot].backing != NSL_ABSENT) {
    lua_pushnil(L);
    nsl_set_function(L, idx, slot, -1);
    lua_pop(L, 1);
  }
}

static const char *const linear_keys[] = {"x0", "A", "b", "M", "z", "name", NULL};
static const char *const nonlinear_keys[] = {"x0", "f", "jacobianfx", "M", "z", "name", NULL};

/* What the option table at `options` says, for the system on top of the stack. */
static void bind_first_order_ds_apply_options(lua_State *L, int options, const NslType *type) {
  int self_idx = lua_gettop(L);
  NslDs *self = lua_touserdata(L, self_idx);
  if (lua_getfield(L, options, "name") != LUA_TNIL) nsl_set_name(L, self->ds->name, -1, type->name);
  if (lua_getfield(L, options, "z") != LUA_TNIL) nsl_set_ds_z(L, self_idx, lua_gettop(L), true);
  static const struct {
    const char *key;
    int slot;
  } coefficients[] = {{"M", SLOT_M}, {"A", SLOT_A}, {"b", SLOT_B}};
  for (int i = 0; i < 3; i++)
    if (lua_getfield(L, options, coefficients[i].key) != LUA_TNIL)
      bind_first_order_ds_set_coefficient(L, self_idx, coefficients[i].slot, lua_gettop(L), true);
  for (int slot = SLOT_F; slot <= SLOT_JACOBIAN; slot++)
    if (lua_getfield(L, options, slots[slot].brief) != LUA_TNIL) {
      if (!nsl_may_be_callback(L, -1)) nsl_bad(L, type->name, slots[slot].brief, "a function", -1);
      nsl_set_function(L, self_idx, slot, lua_gettop(L));
    }
  lua_settop(L, self_idx);
}

/* (x0, ...) or one option table. Returns with the new system on top; true when options were given and applied. */
static bool bind_first_order_ds_construct(lua_State *L, const NslType *type, const NslCalleeClass *kind, int most) {
  nsl_at_most(L, most, type->name);
  if (nsl_is_options(L, 1)) {
    lua_settop(L, 1);
    nsl_check_options(L, 1, type->name, type == &nonlinear_type ? nonlinear_keys : linear_keys);
    lua_getfield(L, 1, "x0");
    new_ds(L, type, kind, 2);
    bind_first_order_ds_apply_options(L, 1, type);
    return true;
  }
  lua_settop(L, most);
  new_ds(L, type, kind, 1);
  return false;
}

static int bind_first_order_ds_new_linear(lua_State *L, const NslType *type, const NslCalleeClass *kind) {
  if (bind_first_order_ds_construct(L, type, kind, 3)) return 1;
  if (!lua_isnil(L, 2)) bind_first_order_ds_set_coefficient(L, 4, SLOT_A, 2, true);
  if (!lua_isnil(L, 3)) bind_first_order_ds_set_coefficient(L, 4, SLOT_B, 3, true);
  return 1;
}

static int new_invariant_ds(lua_State *L) {
  return bind_first_order_ds_new_linear(L, &invariant_type, &invariant_class);
}

static int new_linear_ds(lua_State *L) {
  return bind_first_order_ds_new_linear(L, &linear_type, &linear_class);
}

static int new_nonlinear_ds(lua_State *L) {
  int given = lua_gettop(L); /* f may be left out, to be set by other means, but not be nil as the last argument */
  if (bind_first_order_ds_construct(L, &nonlinear_type, &nonlinear_class, 3)) return 1;
  for (int slot = SLOT_F; slot <= SLOT_JACOBIAN; slot++) {
    int arg = 2 + slot;
    if (lua_isnil(L, arg) && (slot != SLOT_F || given != arg)) continue;
    if (!nsl_may_be_callback(L, arg)) nsl_bad(L, nonlinear_type.name, slots[slot].brief, "a function", arg);
    nsl_set_function(L, 4, slot, arg);
  }
  return 1;
}

void nsl_clone_first_order_ds(lua_State *L, int idx) {
  NslDs *from = nsl_check_ds(L, idx);
  idx = lua_absindex(L, idx);
  nsl_push_vector_view(L, idx, from->ds->x0, from->ds->n, 1, "x0", NULL);
  NslDs *to = new_ds(L, from->callee.head.type, from->callee.kind, lua_gettop(L));
  int copy = lua_gettop(L);
  memcpy(to->ds->name, from->ds->name, NS_NAME_SIZE);
  nsl_clone_callee(L, idx, copy);
  if (from->ds->z) {
    nsl_push_vector_view(L, idx, from->ds->z, from->ds->nz, 1, "z", NULL);
    nsl_set_ds_z(L, copy, lua_gettop(L), false);
  }
  NsCoef *source[] = {&model(from)->M, &model(from)->A, &model(from)->b, &model(from)->jacobian_f};
  NsCoef *target[] = {&model(to)->M, &model(to)->A, &model(to)->b, &model(to)->jacobian_f};
  for (int i = 0; i < 4; i++) nsl_clone_coef(L, source[i], target[i]);
  lua_settop(L, copy);
  lua_replace(L, copy - 1);
}

/* ---- views and accessors ---- */

static int ds_rhs(lua_State *L) {
  NslDs *self = nsl_check_ds(L, 1);
  return nsl_ds_view(L, model(self)->rhs, self->ds->n, "rhs", NULL);
}

static int ds_compute_rhs(lua_State *L) {
  NslDs *self = nsl_check_idle_ds(L, "computeRhs");
  double t = nsl_finite(L, 2, "computeRhs", "time");
  NsError err = {NS_OK, ""};
  NslEdge edge = nsl_enter(self->callee.host, L, NULL);
  NsNsds *nsds = (NsNsds *)self->callee.nsds;
  if (nsds) nsds->busy = true;
  NsStatus status = ns_first_order_rhs(model(self), t, &err);
  if (nsds) nsds->busy = false;
  nsl_leave(self->callee.host, edge);
  return status == NS_OK ? 0 : nsl_raise_step(L, &err);
}

static int ds_M(lua_State *L) {
  return nsl_push_coef(L, &check_model(L)->M, false);
}

static int ds_A(lua_State *L) {
  return nsl_push_coef(L, &check_model(L)->A, false);
}

static int ds_b(lua_State *L) {
  return nsl_push_coef(L, &check_model(L)->b, true);
}

static int set_slot_coefficient(lua_State *L, int slot, const char *what, bool shared) {
  NslDs *self = nsl_check_idle_ds(L, what);
  if (slot != SLOT_M && self->callee.head.type == &nonlinear_type)
    luaL_error(L, "%s: %s has no %s; it has f", what, self->callee.head.type->name, slots[slot].brief);
  lua_settop(L, 2);
  bind_first_order_ds_set_coefficient(L, 1, slot, 2, shared);
  return 0;
}

static int ds_set_M_ptr(lua_State *L) {
  return set_slot_coefficient(L, SLOT_M, "setMPtr", true);
}
static int ds_set_A_ptr(lua_State *L) {
  return set_slot_coefficient(L, SLOT_A, "setAPtr", true);
}
static int ds_set_b_ptr(lua_State *L) {
  return set_slot_coefficient(L, SLOT_B, "setbPtr", true);
}
static int ds_set_M(lua_State *L) {
  return set_slot_coefficient(L, SLOT_M, "setM", false);
}
static int ds_set_A(lua_State *L) {
  return set_slot_coefficient(L, SLOT_A, "setA", false);
}
static int ds_set_b(lua_State *L) {
  return set_slot_coefficient(L, SLOT_B, "setb", false);
}

static int ds_set_jacobian(lua_State *L) {
  NslDs *self = nsl_check_idle_ds(L, "setJacobianfxPtr");
  lua_settop(L, 2);
  nsl_set_coef(L, 1, &model(self)->jacobian_f, 2, self->ds->n, self->ds->n, "jacobianfx", true);
  return 0;
}

static int bind_first_order_ds_set_callback(lua_State *L, int slot, const char *what) {
  NslDs *self = nsl_check_idle_ds(L, what);
  if (slot >= self->callee.kind->nslots || (slot <= SLOT_JACOBIAN && self->callee.head.type != &nonlinear_type))
    luaL_error(L, "%s: a %s has no %s callback", what, self->callee.head.type->name, slots[slot].brief);
  return nsl_lua_set_function(L, slot, what);
}

static int ds_set_f(lua_State *L) {
  return bind_first_order_ds_set_callback(L, SLOT_F, "setComputeFFunction");
}
static int ds_set_jacobian_function(lua_State *L) {
  return bind_first_order_ds_set_callback(L, SLOT_JACOBIAN, "setComputeJacobianfxFunction");
}
static int ds_set_M_function(lua_State *L) {
  return bind_first_order_ds_set_callback(L, SLOT_M, "setComputeMFunction");
}
static int ds_set_A_function(lua_State *L) {
  return bind_first_order_ds_set_callback(L, SLOT_A, "setComputeAFunction");
}
static int ds_set_b_function(lua_State *L) {
  return bind_first_order_ds_set_callback(L, SLOT_B, "setComputebFunction");
}

static int bind_first_order_ds_ds_display(lua_State *L) {
  static const NslDisplayed fields[] = {{"x0", nsl_ds_x0}, {"x", nsl_ds_x}, {"r", nsl_ds_r}, {"M", ds_M},
                                        {"A", ds_A},       {"b", ds_b},     {"z", nsl_ds_z}, {NULL, NULL}};
  nsl_check_ds(L, 1);
  return nsl_display_object(L, fields);
}

static int bind_first_order_ds_ds_gc(lua_State *L) {
  NslDs *self = lua_touserdata(L, 1);
  nsl_ds_let_go(L);
  self->callee.kind = &invariant_class;
  ns_first_order_free(model(self));
  self->ds = NULL;
  return 0;
}

static int bind_first_order_ds_ds_tostring(lua_State *L) {
  const NslDs *self = lua_touserdata(L, 1);
  return nsl_ds_tostring(L, self->ds ? self->ds->n : 0, "state", "states");
}

static int bind_first_order_ds_ds_dimension(lua_State *L) {
  lua_pushinteger(L, nsl_check_ds(L, 1)->ds->n);
  return 1;
}

static const luaL_Reg methods[] = {{"rhs", ds_rhs},
                                   {"computeRhs", ds_compute_rhs},
                                   {"dimension", bind_first_order_ds_ds_dimension},
                                   {"n", bind_first_order_ds_ds_dimension},
                                   {"M", ds_M},
                                   {"setMPtr", ds_set_M_ptr},
                                   {"setM", ds_set_M},
                                   {"A", ds_A},
                                   {"setAPtr", ds_set_A_ptr},
                                   {"setA", ds_set_A},
                                   {"b", ds_b},
                                   {"setbPtr", ds_set_b_ptr},
                                   {"setb", ds_set_b},
                                   {"setJacobianfxPtr", ds_set_jacobian},
                                   {"setComputeFFunction", ds_set_f},
                                   {"setComputeJacobianfxFunction", ds_set_jacobian_function},
                                   {"setComputeMFunction", ds_set_M_function},
                                   {"setComputeAFunction", ds_set_A_function},
                                   {"setComputebFunction", ds_set_b_function},
                                   {"display", bind_first_order_ds_ds_display},
                                   {NULL, NULL}};

static const luaL_Reg meta[] = {{"__gc", bind_first_order_ds_ds_gc},
                                {"__close", nsl_ds_close},
                                {"__tostring", bind_first_order_ds_ds_tostring},
                                {NULL, NULL}};

void nsl_open_first_order_ds(lua_State *L) {
  static const luaL_Reg functions[] = {{"FirstOrderLinearTIDS", new_invariant_ds},
                                       {"FirstOrderLinearDS", new_linear_ds},
                                       {"FirstOrderNonLinearDS", new_nonlinear_ds},
                                       {NULL, NULL}};
  nsl_register_callee_type(L, &nonlinear_type, &nonlinear_class, meta, methods, nsl_ds_methods);
  nsl_register_callee_type(L, &linear_type, &linear_class, meta, methods, nsl_ds_methods);
  nsl_register_callee_type(L, &invariant_type, &invariant_class, meta, methods, nsl_ds_methods);
  luaL_setfuncs(L, functions, 0);
}
