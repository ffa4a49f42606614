/*
** mechanical_forces.c
** Masses, forces and their Jacobians of mechanical systems, on request: computeX evaluates and keeps X, X shows the kept value.
*/
#include <string.h>

#include "bind/model/mechanical_ds.h"

void nsl_mechanical_run(lua_State *L, const NslAt *at, NslQuantityFunction f, double *out) {
  NsError err = {NS_OK, ""};
  NslEdge edge = nsl_enter(at->self->base.callee.host, L, NULL, at->self->base.callee.nsds);
  NsStatus status = f(&at->of, out, &err);
  nsl_leave(at->self->base.callee.host, edge);
  if (status != NS_OK) nsl_raise_step(L, &err);
}

NslAt nsl_mechanical_at(lua_State *L, const char *what) {
  NslMechanical *self = (NslMechanical *)nsl_check_idle_mechanical(L, what);
  NsMechanicalDs *ds = nsl_mechanical(&self->base);
  return (NslAt){self, {.ds = ds, .q = ds->q, .v = ds->v}};
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
static NslMechanical *check_quantity(lua_State *L, NsQuantity which, const char *who) {
  NslMechanical *self = (NslMechanical *)nsl_check_mechanical(L, 1);
  if (which >= NS_QUANTITY_MEXT && which <= NS_QUANTITY_MINT_BY_V && !ns_mechanical_turns(nsl_mechanical(&self->base)))
    luaL_error(L, "%s: a %s has no moments", who, self->base.callee.head.type->name);
  return self;
}

static NslAt arguments(lua_State *L, NsQuantity which) {
  const char *who = ns_quantities[which].method;
  NslAt at = nsl_mechanical_at(L, who);
  NsQuantityPoint *of = &at.of;
  int idx = 1;
  lua_settop(L, 4);
  for (const char *args = ns_quantities[which].args; *args; args++) {
    idx++;
    if (*args == 't') of->t = nsl_finite(L, idx, who, "time");
    else if (*args == 'x') of->q = optional(L, idx, of->ds->nq, who, "q", of->q);
    else of->v = optional(L, idx, of->ds->nv, who, "velocity", of->v);
  }
  of->room = nsl_push_vector(L, ns_quantity_room(of->ds, which), NULL)->data;
  return at;
}

/* Allocates the memory where a quantity is kept. */
static double *forces_keep(lua_State *L, NslMechanical *self, NsQuantity which) {
  NsMechanicalDs *ds = nsl_mechanical(&self->base);
  if (self->kept[which]) return self->kept[which];
  if (which == NS_QUANTITY_FORCES) return self->kept[which] = ds->forces;
  self->kept[which] = ns_arena_matrix(&ds->base.arena, ns_quantity_size(ds, ns_quantities[which].rows),
                                      ns_quantity_size(ds, ns_quantities[which].cols));
  if (!self->kept[which]) {
    ds->base.arena.failed = false;
    luaL_error(L, "not enough memory");
  }
  return self->kept[which];
}

/* Evaluates a quantity into a vector or matrix, which is pushed, and keeps the values. */
static int forces_evaluate(lua_State *L, NslAt *at, NsQuantity which) {
  int rows = ns_quantity_size(at->of.ds, ns_quantities[which].rows),
      cols = ns_quantity_size(at->of.ds, ns_quantities[which].cols);
  at->of.which = which;
  double *out = ns_quantities[which].cols == '1' ? nsl_push_vector(L, rows, NULL)->data
                                                 : nsl_push_matrix(L, rows, cols, NULL)->data;
  nsl_mechanical_run(L, at, ns_quantity_evaluate, out);
  memcpy(forces_keep(L, at->self, which), out, (size_t)rows * (size_t)cols * sizeof *out);
  if (which == NS_QUANTITY_RHS || which == NS_QUANTITY_RHS_BY_X) forces_keep(L, at->self, NS_QUANTITY_FORCES);
  return 1;
}

/*
** Calls the Lua function of a callback with the given arguments. A class's own method does this when it is called with all of
** its arguments, the output included.
*/
static int forces_call_plainly(lua_State *L, const NslCallee *callee, int slot) {
  int count = lua_gettop(L);
  bool method = nsl_is_method(&callee->callbacks[slot]);
  lua_getiuservalue(L, 1, callee->callbacks[slot].place);
  if (method) {
    lua_insert(L, 1);
    lua_call(L, count, LUA_MULTRET);
    return lua_gettop(L);
  }
  lua_replace(L, 1);
  lua_call(L, count - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static int compute(lua_State *L, NsQuantity which) {
  const NslCallee *callee = &check_quantity(L, which, ns_quantities[which].method)->base.callee;
  int slot = nsl_slot(callee, ns_quantities[which].method), most = (int)strlen(ns_quantities[which].args);
  NslBacking backing = slot < 0 ? NSL_ABSENT : callee->callbacks[slot].backing;
  bool in_lua = backing != NSL_ABSENT && backing != NSL_LIBRARY;
  if (in_lua && lua_gettop(L) == 3 + most) return forces_call_plainly(L, callee, slot);
  if (lua_gettop(L) > 1 + most)
    luaL_error(L, "%s: expected at most %d argument%s, got %d", ns_quantities[which].method, most, most == 1 ? "" : "s",
               lua_gettop(L) - 1);
  NslAt at = arguments(L, which);
  return forces_evaluate(L, &at, which);
}

/* ---- showing ---- */

/* X(): a live view of what computeX kept last; of a constant, its present value; nil when the quantity is absent. */
static int forces_show(lua_State *L, NsQuantity which) {
  NslMechanical *self = check_quantity(L, which, ns_quantities[which].name);
  NsMechanicalDs *ds = nsl_mechanical(&self->base);
  nsl_at_most(L, 1, ns_quantities[which].name);
  if (ns_quantity_absent(ds, which)) return lua_pushnil(L), 1;
  if (which == NS_QUANTITY_MASS && ds->mass.sparse && ns_quantity_constant(ds, which))
    return nsl_push_coef(L, &ds->mass, false);
  if (ns_quantity_constant(ds, which)) {
    const NsNsds *nsds = self->base.callee.nsds;
    NslAt at = {self, {.ds = ds, .q = ds->q, .v = ds->v, .in_step = nsds && nsds->busy}};
    at.of.room = nsl_push_vector(L, ns_quantity_room(ds, which), NULL)->data;
    forces_evaluate(L, &at, which);
  } else if (!self->kept[which]) {
    luaL_error(L, "%s: nothing is computed yet: call %s(%s) first", ns_quantities[which].name, ns_quantities[which].method,
               ns_quantities[which].args[0] == 't' ? "time" : "");
  }
  int rows = ns_quantity_size(ds, ns_quantities[which].rows), cols = ns_quantity_size(ds, ns_quantities[which].cols);
  if (ns_quantities[which].cols == '1') return nsl_ds_view(L, self->kept[which], rows, ns_quantities[which].name, NULL);
  nsl_push_matrix_view(L, 1, self->kept[which], rows, cols, rows, ns_quantities[which].name, NULL);
  return 1;
}

/* Upvalue: the quantity. */
static int show_quantity(lua_State *L) {
  return forces_show(L, (NsQuantity)lua_tointeger(L, lua_upvalueindex(1)));
}

static int compute_quantity(lua_State *L) {
  return compute(L, (NsQuantity)lua_tointeger(L, lua_upvalueindex(1)));
}

int nsl_mechanical_show_mass(lua_State *L) {
  const NslMechanical *self = (NslMechanical *)nsl_check_mechanical(L, 1);
  bool known = self->kept[NS_QUANTITY_MASS] || ns_quantity_constant(nsl_mechanical(&self->base), NS_QUANTITY_MASS);
  return known ? forces_show(L, NS_QUANTITY_MASS) : (lua_pushnil(L), 1);
}

/* update_inverse_mass(): evaluates the mass at the state; inverseMass() then gives its factors. */
static int update_inverse_mass(lua_State *L) {
  lua_settop(L, 1);
  (void)compute(L, NS_QUANTITY_MASS);
  return 0;
}

/* inverseMass(): the factors of the mass, an LU or a SparseLU. */
static int inverse_mass(lua_State *L) {
  lua_settop(L, 1);
  forces_show(L, NS_QUANTITY_MASS);
  lua_getfield(L, -1, "lu");
  lua_insert(L, -2);
  lua_call(L, 1, 1);
  return 1;
}

/* initRhs(time): calls computeRhs and computeJacobianRhsx. */
static int init_rhs(lua_State *L) {
  NslAt at = arguments(L, NS_QUANTITY_RHS_BY_X);
  forces_evaluate(L, &at, NS_QUANTITY_RHS);
  forces_evaluate(L, &at, NS_QUANTITY_RHS_BY_X);
  return 0;
}

/* updatePlugins(time): evaluates all callbacks at the state. */
static int update_plugins(lua_State *L) {
  static const NsQuantity all[] = {NS_QUANTITY_MASS, NS_QUANTITY_FEXT, NS_QUANTITY_FINT,
                                   NS_QUANTITY_FGYR, NS_QUANTITY_MEXT, NS_QUANTITY_MINT};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    lua_settop(L, 2);
    NslAt at = arguments(L, NS_QUANTITY_RHS);
    bool nothing = ns_quantity_absent(at.of.ds, all[i]) ||
                   (all[i] == NS_QUANTITY_MASS && ns_quantity_constant(at.of.ds, NS_QUANTITY_MASS));
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
  for (int i = 0; i < NS_QUANTITIES; i++) {
    lua_pushinteger(L, i);
    lua_pushcclosure(L, show_quantity, 1);
    lua_setfield(L, -2, ns_quantities[i].name);
    lua_pushinteger(L, i);
    lua_pushcclosure(L, compute_quantity, 1);
    lua_setfield(L, -2, ns_quantities[i].method);
  }
  luaL_setfuncs(L, methods, 0);
}
