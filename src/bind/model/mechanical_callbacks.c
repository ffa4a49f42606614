/*
** mechanical_callbacks.c
** Mechanical systems: external forces and moments.
*/
#include <string.h>

#include "bind/diff/compile.h"
#include "bind/model/mechanical_ds.h"

/* Sets the constant force (part 0) or moment (part 3) of the rigid body at idx from the three elements at `value`. */
static void set_part(lua_State *L, int idx, int value, int part, const char *what) {
  const NsMechanicalDs *ds = nsl_mechanical(lua_touserdata(L, idx));
  const NslVector *given = nsl_push_flat(L, value, 3, what, part > 0 ? "moment" : "force");
  double *all = nsl_push_vector(L, 6, NULL)->data;
  if (ns_coef_varies(&ds->fext))
    luaL_error(L, "%s: the external force is a function of time, which gives force and moment", what);
  if (ds->fext.value) memcpy(all, ds->fext.value, 6 * sizeof *all);
  memcpy(all + part, given->data, 3 * sizeof *all);
  nsl_set_coefficient(L, idx, "fExt", lua_gettop(L), false);
  lua_pop(L, 2);
}

void nsl_set_moment(lua_State *L, int idx, int value, const char *what) {
  set_part(L, idx, value, 3, what);
  nsl_take_callback_away(L, idx, nsl_slot(lua_touserdata(L, idx), "mExt"));
}

/* setFExt and (1) setFExtPtr. A rigid body takes the force (3 elements, copied) or force and moment (6). */
static int set_force(lua_State *L) {
  bool shared = nsl_which(L) == 1;
  const char *what = shared ? "setFExtPtr" : "setFExt";
  NslDs *self = nsl_check_idle_mechanical(L, what);
  bool rigid = ns_mechanical_turns(nsl_mechanical(self));
  lua_settop(L, 2);
  int n = !rigid || nsl_may_be_callback(L, 2) ? 6 : nsl_push_flat(L, 2, -1, what, "force")->n;
  if (n != 3 && n != 6) nsl_bad(L, what, "force", "a vector of 3 or 6", 2);
  lua_settop(L, 2);
  if (n == 3) set_part(L, 1, 2, 0, what);
  else if (shared) nsl_share_coefficient(L, 1, "fExt", 2);
  else nsl_set_coefficient(L, 1, "fExt", 2, false);
  return 0;
}

/* The rigid body at 1, idle; raises for a system without external moment. */
static NslDs *check_body(lua_State *L, const char *what) {
  NslDs *self = nsl_check_idle_mechanical(L, what);
  if (!ns_mechanical_turns(nsl_mechanical(self)))
    luaL_error(L, "%s: a %s has no external moment", what, self->callee.head.type->name);
  return self;
}

/* setMExt and (1) setMExtPtr; both copy. */
static int set_moment(lua_State *L) {
  const char *what = nsl_which(L) == 1 ? "setMExtPtr" : "setMExt";
  check_body(L, what);
  lua_settop(L, 2);
  if (nsl_is_callback(L, 2) || nsl_push_flat(L, 2, -1, what, "moment")->n != 3) nsl_bad(L, what, "moment", "a vector of 3", 2);
  lua_settop(L, 2);
  nsl_set_moment(L, 1, 2, what);
  return 0;
}

/* Sets the moment in a rigid body's constant external force, which is copied, to 0. */
static void drop_moment(lua_State *L, int idx) {
  const NsCoef *fext = &nsl_mechanical(lua_touserdata(L, idx))->fext;
  if (!fext->value || ns_coef_varies(fext)) return;
  memcpy(nsl_push_vector(L, 6, NULL)->data, fext->value, 3 * sizeof(double));
  nsl_set_coefficient(L, idx, "fExt", lua_gettop(L), false);
  lua_pop(L, 1);
}

static int set_moment_inertial(lua_State *L) {
  NslDs *self = check_body(L, "setIsMextExpressedInInertialFrame");
  if (!lua_isboolean(L, 2)) nsl_bad(L, "setIsMextExpressedInInertialFrame", "flag", "a boolean", 2);
  nsl_mechanical(self)->moment_inertial = lua_toboolean(L, 2);
  return 0;
}

/* Sets the callback of the external moment; it replaces a constant moment. */
static int set_moment_function(lua_State *L) {
  const char *who = "setComputeMExtFunction";
  nsl_set_callback(L, &nsl_check_mechanical(L, 1)->callee, "mExt", who);
  if (!lua_isnil(L, 2)) drop_moment(L, 1);
  return 0;
}

const NslVariant nsl_mechanical_coef_methods[] = {{"setFExt", set_force, 0},
                                                  {"setFExtPtr", set_force, 1},
                                                  {"setMExt", set_moment, 0},
                                                  {"setMExtPtr", set_moment, 1},
                                                  {"setIsMextExpressedInInertialFrame", set_moment_inertial, 0},
                                                  {"setComputeMExtFunction", set_moment_function, 0},
                                                  {NULL, NULL, 0}};
