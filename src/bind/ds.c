/*
** ds.c
** FirstOrderNonLinearDS, FirstOrderLinearDS and FirstOrderLinearTIDS.
*/
#include <stdio.h>
#include <string.h>

#include "bind/function.h"
#include "bind/model.h"

enum { SLOT_F, SLOT_JACOBIAN, SLOT_M, SLOT_A, SLOT_B };

static const NslSlot slots[] = {
    {"computef", "f", "xz", "f", 'n', '1', NSL_NATIVE_DS_F},
    {"computeJacobianfx", "jacobianfx", "xz", "J", 'n', 'n', NSL_NATIVE_DS_F},
    {"computeM", "M", "z", "M", 'n', 'n', NSL_NATIVE_TIME},
    {"computeA", "A", "z", "A", 'n', 'n', NSL_NATIVE_TIME},
    {"computeb", "b", "z", "b", 'n', '1', NSL_NATIVE_TIME},
};

/* Hands f and the coefficients that are functions of time to the engine. */
static NsStatus bind(NslCallee *callee) {
  NsFirstOrderDs *ds = ((NslDs *)callee)->ds;
  NsCoef *coefs[] = {[SLOT_M] = &ds->M, [SLOT_A] = &ds->A, [SLOT_B] = &ds->b};
  if (!ds) return NS_OK;
  ds->f = nsl_function(callee, 0, SLOT_F, SLOT_JACOBIAN, -1);
  for (int slot = SLOT_M; slot < callee->kind->nslots; slot++) {
    NsFunction function = nsl_coefficient_function(callee, slot);
    if (function.value) {
      NsStatus status = ns_coef_set_function(coefs[slot], ds->n, slot == SLOT_B ? 1 : ds->n, function);
      if (status != NS_OK) return status;
    } else if (ns_coef_varies(coefs[slot])) {
      ns_coef_clear(coefs[slot]);
    }
  }
  return NS_OK;
}

/* A nonlinear system has f and M, a linear one M, A and b as functions of time too, a time-invariant one none. */
static const NslCalleeClass nonlinear_class = {"dynamical system", slots, 3, bind};
static const NslCalleeClass linear_class = {"dynamical system", slots, 5, bind};
static const NslCalleeClass invariant_class = {"dynamical system", slots, 0, bind};

static const NslType nonlinear_type = {.name = "FirstOrderNonLinearDS"};
static const NslType linear_type = {.name = "FirstOrderLinearDS"};
static const NslType invariant_type = {.name = "FirstOrderLinearTIDS"};

NslDs *nsl_check_ds(lua_State *L, int idx) {
  NslHead *head = nsl_head(L, idx);
  if (!head || (head->type != &nonlinear_type && head->type != &linear_type && head->type != &invariant_type)) {
    const char *message = lua_pushfstring(L, "dynamical system expected, got %s", nsl_describe(L, idx));
    luaL_argerror(L, idx, message);
  }
  NslDs *self = (NslDs *)head;
  if (head->closed) luaL_error(L, "%s is closed", nsl_callee_title(L, &self->callee));
  return self;
}

/* The system at 1, which must not be in the middle of a step. */
static NslDs *check_idle(lua_State *L, const char *what) {
  NslDs *self = nsl_check_ds(L, 1);
  nsl_callee_idle(L, &self->callee, what);
  return self;
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
  if (ns_ds_new(&self->ds, flat->n, flat->data) != NS_OK) luaL_error(L, "not enough memory");
  self->callee.name = self->ds->name;
  nsl_callee_size(L, -1, self->ds->n, 0, 0);
  lua_replace(L, -3);
  lua_pop(L, 1);
  return self;
}

/* Whether an interaction may rely on the number of its parameters. */
static bool linked(const NslDs *self) {
  const NsNsds *nsds = self->callee.nsds;
  for (int i = 0; nsds && i < nsds->ninteractions; i++)
    if (nsds->interactions[i]->ds[0] == self->ds || nsds->interactions[i]->ds[1] == self->ds) return true;
  return false;
}

static void set_z(lua_State *L, int idx, int value, bool shared) {
  NslDs *self = lua_touserdata(L, idx);
  nsl_set_z(L, idx, &self->ds->z, &self->ds->nz, value, linked(self), shared);
  nsl_callee_size(L, idx, self->ds->n, 0, self->ds->nz);
}

/* A matrix (cols 0: a vector) or a function of time for one of M, A, b. */
static void set_coefficient(lua_State *L, int idx, int slot, int value, bool shared) {
  NslDs *self = lua_touserdata(L, idx);
  NsCoef *coefs[] = {[SLOT_M] = &self->ds->M, [SLOT_A] = &self->ds->A, [SLOT_B] = &self->ds->b};
  if (slot < self->callee.kind->nslots && lua_isfunction(L, value)) {
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
static void apply_options(lua_State *L, int options, const NslType *type) {
  int self_idx = lua_gettop(L);
  NslDs *self = lua_touserdata(L, self_idx);
  if (lua_getfield(L, options, "name") != LUA_TNIL) nsl_set_name(L, self->ds->name, -1, type->name);
  if (lua_getfield(L, options, "z") != LUA_TNIL) set_z(L, self_idx, lua_gettop(L), true);
  static const struct {
    const char *key;
    int slot;
  } coefficients[] = {{"M", SLOT_M}, {"A", SLOT_A}, {"b", SLOT_B}};
  for (int i = 0; i < 3; i++)
    if (lua_getfield(L, options, coefficients[i].key) != LUA_TNIL)
      set_coefficient(L, self_idx, coefficients[i].slot, lua_gettop(L), true);
  for (int slot = SLOT_F; slot <= SLOT_JACOBIAN; slot++)
    if (lua_getfield(L, options, slots[slot].brief) != LUA_TNIL) {
      if (!lua_isfunction(L, -1)) nsl_bad(L, type->name, slots[slot].brief, "a function", -1);
      nsl_set_function(L, self_idx, slot, lua_gettop(L));
    }
  lua_settop(L, self_idx);
}

/* (x0, ...) or one option table. Returns with the new system on top; true when options were given and applied. */
static bool construct(lua_State *L, const NslType *type, const NslCalleeClass *kind, int most) {
  nsl_at_most(L, most, type->name);
  if (nsl_is_options(L, 1)) {
    lua_settop(L, 1);
    nsl_check_options(L, 1, type->name, type == &nonlinear_type ? nonlinear_keys : linear_keys);
    lua_getfield(L, 1, "x0");
    new_ds(L, type, kind, 2);
    apply_options(L, 1, type);
    return true;
  }
  lua_settop(L, most);
  new_ds(L, type, kind, 1);
  return false;
}

static int new_linear(lua_State *L, const NslType *type, const NslCalleeClass *kind) {
  if (construct(L, type, kind, 3)) return 1;
  if (!lua_isnil(L, 2)) set_coefficient(L, 4, SLOT_A, 2, true);
  if (!lua_isnil(L, 3)) set_coefficient(L, 4, SLOT_B, 3, true);
  return 1;
}

static int new_invariant_ds(lua_State *L) {
  return new_linear(L, &invariant_type, &invariant_class);
}

static int new_linear_ds(lua_State *L) {
  return new_linear(L, &linear_type, &linear_class);
}

static int new_nonlinear_ds(lua_State *L) {
  if (construct(L, &nonlinear_type, &nonlinear_class, 3)) return 1;
  for (int slot = SLOT_F; slot <= SLOT_JACOBIAN; slot++) {
    int arg = 2 + slot;
    if (lua_isnil(L, arg)) continue;
    if (!lua_isfunction(L, arg)) nsl_bad(L, nonlinear_type.name, slots[slot].brief, "a function", arg);
    nsl_set_function(L, 4, slot, arg);
  }
  return 1;
}

void nsl_clone_ds(lua_State *L, int idx) {
  NslDs *from = nsl_check_ds(L, idx);
  idx = lua_absindex(L, idx);
  nsl_push_vector_view(L, idx, from->ds->x0, from->ds->n, 1, "x0", NULL);
  NslDs *to = new_ds(L, from->callee.head.type, from->callee.kind, lua_gettop(L));
  int copy = lua_gettop(L);
  memcpy(to->ds->name, from->ds->name, NS_NAME_SIZE);
  nsl_clone_callee(L, idx, copy);
  if (from->ds->z) {
    nsl_push_vector_view(L, idx, from->ds->z, from->ds->nz, 1, "z", NULL);
    set_z(L, copy, lua_gettop(L), false);
  }
  NsCoef *source[] = {&from->ds->M, &from->ds->A, &from->ds->b, &from->ds->jacobian_f};
  NsCoef *target[] = {&to->ds->M, &to->ds->A, &to->ds->b, &to->ds->jacobian_f};
  for (int i = 0; i < 4; i++) nsl_clone_coef(L, source[i], target[i]);
  lua_settop(L, copy);
  lua_replace(L, copy - 1);
}

/* ---- views and accessors ---- */

static int view(lua_State *L, double *data, int n, const char *label, uint64_t *version) {
  nsl_push_vector_view(L, 1, data, n, 1, label, version);
  return 1;
}

static int ds_x(lua_State *L) {
  NslDs *self = nsl_check_ds(L, 1);
  return view(L, self->ds->x, self->ds->n, "x", &self->ds->x_version);
}

static int ds_x0(lua_State *L) {
  NslDs *self = nsl_check_ds(L, 1);
  return view(L, self->ds->x0, self->ds->n, "x0", NULL);
}

static int ds_r(lua_State *L) {
  NslDs *self = nsl_check_ds(L, 1);
  return view(L, self->ds->r, self->ds->n, "r", NULL);
}

static int ds_rhs(lua_State *L) {
  NslDs *self = nsl_check_ds(L, 1);
  return view(L, self->ds->rhs, self->ds->n, "rhs", NULL);
}

/* Copies a vector or table into one of the system's own vectors. */
static int assign(lua_State *L, NslDs *self, double *to, const char *what) {
  NslVector *v = nsl_to_finite_vector(L, 2, self->ds->n, self->callee.head.type->name, what);
  nsl_vector_read(v, to);
  return 0;
}

static int ds_set_x(lua_State *L) {
  NslDs *self = check_idle(L, "setX");
  self->ds->x_version++;
  return assign(L, self, self->ds->x, "x");
}

static int ds_set_x0(lua_State *L) {
  NslDs *self = check_idle(L, "setX0");
  return assign(L, self, self->ds->x0, "x0");
}

static int ds_compute_rhs(lua_State *L) {
  NslDs *self = check_idle(L, "computeRhs");
  double t = nsl_finite(L, 2, "computeRhs", "time");
  NsError err = {NS_OK, ""};
  NslEdge edge = nsl_enter(self->callee.host, L, NULL);
  NsNsds *nsds = (NsNsds *)self->callee.nsds;
  if (nsds) nsds->busy = true;
  NsStatus status = ns_ds_rhs(self->ds, t, &err);
  if (nsds) nsds->busy = false;
  nsl_leave(self->callee.host, edge);
  return status == NS_OK ? 0 : nsl_raise_step(L, &err);
}

static int ds_dimension(lua_State *L) {
  lua_pushinteger(L, nsl_check_ds(L, 1)->ds->n);
  return 1;
}

static int ds_name(lua_State *L) {
  lua_pushstring(L, nsl_check_ds(L, 1)->ds->name);
  return 1;
}

static int ds_set_name(lua_State *L) {
  return nsl_set_name(L, nsl_check_ds(L, 1)->ds->name, 2, "setName");
}

static int ds_M(lua_State *L) {
  return nsl_push_coef(L, &nsl_check_ds(L, 1)->ds->M, false);
}

static int ds_A(lua_State *L) {
  return nsl_push_coef(L, &nsl_check_ds(L, 1)->ds->A, false);
}

static int ds_b(lua_State *L) {
  return nsl_push_coef(L, &nsl_check_ds(L, 1)->ds->b, true);
}

static int set_slot_coefficient(lua_State *L, int slot, const char *what, bool shared) {
  NslDs *self = check_idle(L, what);
  if (slot != SLOT_M && self->callee.head.type == &nonlinear_type)
    luaL_error(L, "%s: %s has no %s; it has f", what, self->callee.head.type->name, slots[slot].brief);
  lua_settop(L, 2);
  set_coefficient(L, 1, slot, 2, shared);
  return 0;
}

static int ds_set_M_ptr(lua_State *L) { return set_slot_coefficient(L, SLOT_M, "setMPtr", true); }
static int ds_set_A_ptr(lua_State *L) { return set_slot_coefficient(L, SLOT_A, "setAPtr", true); }
static int ds_set_b_ptr(lua_State *L) { return set_slot_coefficient(L, SLOT_B, "setbPtr", true); }
static int ds_set_M(lua_State *L) { return set_slot_coefficient(L, SLOT_M, "setM", false); }
static int ds_set_A(lua_State *L) { return set_slot_coefficient(L, SLOT_A, "setA", false); }
static int ds_set_b(lua_State *L) { return set_slot_coefficient(L, SLOT_B, "setb", false); }

static int ds_set_jacobian(lua_State *L) {
  NslDs *self = check_idle(L, "setJacobianfxPtr");
  lua_settop(L, 2);
  nsl_set_coef(L, 1, &self->ds->jacobian_f, 2, self->ds->n, self->ds->n, "jacobianfx", true);
  return 0;
}

static int set_callback(lua_State *L, int slot, const char *what) {
  NslDs *self = check_idle(L, what);
  if (slot >= self->callee.kind->nslots || (slot <= SLOT_JACOBIAN && self->callee.head.type != &nonlinear_type))
    luaL_error(L, "%s: a %s has no %s callback", what, self->callee.head.type->name, slots[slot].brief);
  return nsl_lua_set_function(L, slot, what);
}

static int ds_set_f(lua_State *L) { return set_callback(L, SLOT_F, "setComputeFFunction"); }
static int ds_set_jacobian_function(lua_State *L) {
  return set_callback(L, SLOT_JACOBIAN, "setComputeJacobianfxFunction");
}
static int ds_set_M_function(lua_State *L) { return set_callback(L, SLOT_M, "setComputeMFunction"); }
static int ds_set_A_function(lua_State *L) { return set_callback(L, SLOT_A, "setComputeAFunction"); }
static int ds_set_b_function(lua_State *L) { return set_callback(L, SLOT_B, "setComputebFunction"); }

static int ds_z(lua_State *L) {
  NslDs *self = nsl_check_ds(L, 1);
  if (!self->ds->z) return lua_pushnil(L), 1;
  return view(L, self->ds->z, self->ds->nz, "z", NULL);
}

static int set_parameters(lua_State *L, const char *what, bool shared) {
  check_idle(L, what);
  lua_settop(L, 2);
  set_z(L, 1, 2, shared);
  return 0;
}

static int ds_set_z_ptr(lua_State *L) { return set_parameters(L, "setzPtr", true); }
static int ds_set_z(lua_State *L) { return set_parameters(L, "setz", false); }

static int ds_reset(lua_State *L) {
  ns_ds_reset(check_idle(L, "resetToInitialState")->ds);
  return 0;
}

static int ds_close(lua_State *L) {
  NslDs *self = nsl_check_ds(L, 1);
  nsl_callee_idle(L, &self->callee, "close");
  self->callee.head.closed = self->ds->closed = true;
  return 0;
}

/*
** The graph that it is in is of no use without it: finalizers of scripts, which run in any order, find that closed.
*/
static int ds_gc(lua_State *L) {
  NslDs *self = lua_touserdata(L, 1);
  lua_getiuservalue(L, 1, NSL_FIELDS);
  if (lua_istable(L, -1) && lua_getfield(L, -1, "anchor nsds") == LUA_TUSERDATA) nsl_head(L, -1)->closed = true;
  nsl_callee_release(&self->callee);
  self->callee.kind = &invariant_class;
  ns_ds_free(self->ds);
  self->ds = NULL;
  return 0;
}

static int ds_tostring(lua_State *L) {
  NslDs *self = lua_touserdata(L, 1);
  if (self->callee.head.closed) return lua_pushfstring(L, "%s (closed)", self->callee.head.type->name), 1;
  lua_pushfstring(L, self->ds->name[0] ? "%s '%s'" : "%s", self->callee.head.type->name, self->ds->name);
  lua_pushfstring(L, " with %d state%s", self->ds->n, self->ds->n == 1 ? "" : "s");
  lua_concat(L, 2);
  return 1;
}

static int ds_display(lua_State *L) {
  static const NslDisplayed fields[] = {{"x0", ds_x0}, {"x", ds_x}, {"r", ds_r}, {"M", ds_M},
                                        {"A", ds_A},   {"b", ds_b}, {"z", ds_z}, {NULL, NULL}};
  nsl_check_ds(L, 1);
  return nsl_display_object(L, fields);
}

static bool is_numbered(const char *name, const char *stem) {
  size_t length = strlen(stem);
  if (strncmp(name, stem, length) != 0) return false;
  return name[length] && strspn(name + length, "0123456789") == strlen(name + length);
}

/* What a solution has under a name already; NULL: nothing. */
static const char *meaning_in_solution(const char *name) {
  static const char *const fields[] = {"t", "x", "y", "lambda", "iterations", "status", "message", "stats"};
  static const char *const solution_methods[] = {"save", "column", "names", "display", "close"};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (strcmp(name, fields[i]) == 0) return "a field of solutions";
  for (size_t i = 0; i < sizeof solution_methods / sizeof *solution_methods; i++)
    if (strcmp(name, solution_methods[i]) == 0) return "a method of solutions";
  bool column = strcmp(name, "newton_iterations") == 0 || is_numbered(name, "lambda") || is_numbered(name, "y");
  return column ? "a column of solutions" : NULL;
}

/* Refuses the name on top, number i of those in the list at 3, when it clashes. */
static void check_state_name(lua_State *L, int i) {
  const char *name = lua_tostring(L, -1), *meaning = meaning_in_solution(name);
  if (meaning) luaL_error(L, "setNames: names[%d]: '%s' is %s", i, name, meaning);
  for (int j = 1; j < i; j++) {
    lua_rawgeti(L, 3, j);
    if (lua_rawequal(L, -1, -2)) luaL_error(L, "setNames: names[%d]: '%s' is names[%d] already", i, name, j);
    lua_pop(L, 1);
  }
}

/* setNames{"c", "w1", ...}: what the states are called in a solution. */
static int ds_set_names(lua_State *L) {
  NslDs *self = nsl_check_ds(L, 1);
  lua_settop(L, 2);
  if (!lua_istable(L, 2) || (int)lua_rawlen(L, 2) != self->ds->n) {
    const char *expected = lua_pushfstring(L, "a table of %d strings", self->ds->n);
    nsl_bad(L, "setNames", "names", expected, 2);
  }
  lua_createtable(L, self->ds->n, 0);
  for (int i = 1; i <= self->ds->n; i++) {
    if (lua_rawgeti(L, 2, i) != LUA_TSTRING) {
      const char *what = lua_pushfstring(L, "names[%d]", i);
      nsl_bad(L, "setNames", what, "a string", -2);
    }
    check_state_name(L, i);
    lua_rawseti(L, 3, i);
  }
  nsl_anchor(L, 1, "names", 3);
  return 0;
}

static const luaL_Reg methods[] = {
    {"x", ds_x}, {"x0", ds_x0}, {"r", ds_r}, {"rhs", ds_rhs}, {"setX", ds_set_x}, {"setX0", ds_set_x0},
    {"computeRhs", ds_compute_rhs}, {"dimension", ds_dimension}, {"n", ds_dimension},
    {"name", ds_name}, {"setName", ds_set_name},
    {"M", ds_M}, {"setMPtr", ds_set_M_ptr}, {"setM", ds_set_M},
    {"A", ds_A}, {"setAPtr", ds_set_A_ptr}, {"setA", ds_set_A},
    {"b", ds_b}, {"setbPtr", ds_set_b_ptr}, {"setb", ds_set_b},
    {"setJacobianfxPtr", ds_set_jacobian},
    {"setComputeFFunction", ds_set_f}, {"setComputeJacobianfxFunction", ds_set_jacobian_function},
    {"setComputeMFunction", ds_set_M_function}, {"setComputeAFunction", ds_set_A_function},
    {"setComputebFunction", ds_set_b_function},
    {"z", ds_z}, {"setzPtr", ds_set_z_ptr}, {"setz", ds_set_z},
    {"resetToInitialState", ds_reset}, {"setNames", ds_set_names}, {"display", ds_display}, {"close", ds_close},
    {NULL, NULL}};

static const luaL_Reg meta[] = {{"__gc", ds_gc}, {"__close", ds_close}, {"__tostring", ds_tostring}, {NULL, NULL}};

void nsl_open_ds(lua_State *L) {
  static const luaL_Reg functions[] = {{"FirstOrderLinearTIDS", new_invariant_ds},
                                       {"FirstOrderLinearDS", new_linear_ds},
                                       {"FirstOrderNonLinearDS", new_nonlinear_ds},
                                       {NULL, NULL}};
  nsl_register_callee_type(L, &nonlinear_type, &nonlinear_class, meta, methods);
  nsl_register_callee_type(L, &linear_type, &linear_class, meta, methods);
  nsl_register_callee_type(L, &invariant_type, &invariant_class, meta, methods);
  luaL_setfuncs(L, functions, 0);
}
