/*
** first_order_ds.c
** FirstOrderNonLinearDS, FirstOrderLinearDS and FirstOrderLinearTIDS.
*/
#include "bind/lua/open.h"
#include "bind/model/ds.h"
#include "model/first_order_ds.h"

/* The engine's object; NULL before it is made. */
static NsFirstOrderDs *model(const NslDs *self) {
  return (NsFirstOrderDs *)self->ds;
}

static NslCallee *check_first_order(lua_State *L, int idx) {
  NslDs *self = nsl_check_ds(L, idx);
  if (ns_ds_family(self->ds) != NS_FIRST_ORDER) luaL_argerror(L, idx, "first-order dynamical system expected");
  return &self->callee;
}

static const NslCalleeFamily callee_family = {.check = check_first_order,
                                              .object = nsl_ds_object,
                                              .bind = nsl_bind_fields,
                                              .set_z = nsl_set_ds_z,
                                              .version = nsl_ds_version,
                                              .no_callback = NSL_DS_NO_CALLBACK,
                                              .brief = true};

/* ---- making ---- */

/* Pushes a new system that starts at the vector or table at stack index x0. */
static NslDs *new_ds(lua_State *L, const NsDsClass *class, int x0) {
  const char *who = class->model.name;
  NslVector *start = nsl_push_flat(L, x0, -1, who, "x0");
  if (start->n == 0) luaL_error(L, "%s: x0: expected at least one state, got an empty vector", who);
  NslDs *self = nsl_push_ds(L, class, &callee_family, sizeof *self);
  NsFirstOrderDs *ds;
  if (ns_first_order_new(&ds, class, start->n, start->data) != NS_OK) luaL_error(L, "not enough memory");
  nsl_ds_start(L, self, &ds->base, ds->base.n, 0);
  lua_remove(L, -2);
  return self;
}

/*
** Whether an argument is given. The first callback may be left out, to be set later, but must not be nil as the last argument.
*/
static bool is_given(lua_State *L, int arg, int given, bool callback) {
  return !lua_isnil(L, arg) || (callback && arg == 2 && given == arg);
}

/* Arguments: (x0 [, A [, b]]), (x0 [, f [, jacobianfx]]), or one option table. */
static int construct_first_order(lua_State *L, const NsDsClass *class) {
  const NsModelClass *kind = &class->model;
  int given = lua_gettop(L);
  nsl_at_most(L, 3, kind->name);
  bool options = nsl_is_options(L, 1);
  if (options) {
    lua_settop(L, 1);
    nsl_check_keys(L, 1, kind);
    for (int i = 0; i < 3; i++) lua_getfield(L, 1, kind->arguments[i]);
    lua_rotate(L, 1, -1);
  } else {
    lua_settop(L, 3);
    lua_pushnil(L);
  }
  NslDs *self = new_ds(L, class, 1);
  for (int arg = 2; arg <= 3; arg++) {
    const char *name = kind->arguments[arg - 1];
    const NsField *field = ns_field_find(kind->fields, name);
    bool callback = !field || field->flags & NS_FIELD_HIDDEN || field->type != NS_FIELD_COEF;
    if (!is_given(L, arg, options ? 0 : given, callback)) continue;
    if (callback && !nsl_may_be_callback(L, arg)) nsl_bad(L, kind->name, name, "a function", arg);
    if (callback) nsl_set_function(L, 5, nsl_slot(&self->callee, name), arg);
    else nsl_set_coefficient(L, 5, name, arg, true);
  }
  if (options) nsl_apply_options(L, 4, 5, NULL);
  return 1;
}

/* ---- views and accessors ---- */

static int first_order_compute_rhs(lua_State *L) {
  check_first_order(L, 1);
  NslDs *self = nsl_check_idle_ds(L, "computeRhs");
  double t = nsl_finite(L, 2, "computeRhs", "time");
  NsError err = {NS_OK, ""};
  NslEdge edge = nsl_enter(self->callee.host, L, NULL, self->callee.nsds);
  NsStatus status = ns_first_order_rhs(model(self), t, &err);
  nsl_leave(self->callee.host, edge);
  return status == NS_OK ? 0 : nsl_raise_step(L, &err);
}

/* Shows x0, x and r, then the coefficients that are set. */
static int first_order_display(lua_State *L) {
  return nsl_display_callee(L, check_first_order(L, 1));
}

static int first_order_tostring(lua_State *L) {
  const NslDs *self = lua_touserdata(L, 1);
  return nsl_ds_tostring(L, self->ds ? self->ds->n : 0, "state", "states");
}

static int first_order_dimension(lua_State *L) {
  return lua_pushinteger(L, nsl_check_ds(L, 1)->ds->n), 1;
}

static void add_first_order_methods(lua_State *L) {
  static const luaL_Reg methods[] = {{"computeRhs", first_order_compute_rhs},
                                     {"dimension", first_order_dimension},
                                     {"n", first_order_dimension},
                                     {"display", first_order_display},
                                     {NULL, NULL}};
  nsl_add_coefficient_alias(L, &callee_family, "jacobianfx", NULL, "setJacobianfxPtr");
  luaL_setfuncs(L, methods, 0);
}

void nsl_open_first_order_ds(lua_State *L) {
  static const luaL_Reg meta[] = {
      {"__gc", nsl_ds_gc}, {"__close", nsl_ds_close}, {"__tostring", first_order_tostring}, {NULL, NULL}};
  static const NslDsFamily family = {&callee_family, construct_first_order, add_first_order_methods, meta, NULL};
  nsl_open_ds_family(L, NS_FIRST_ORDER, &family);
}
