/*
** curve_points.c
** thin_support for the Lua side: the functions of linalg/curve_points.h on vectors.
*/
#include "bind/lua/open.h"

#include "bind/array/vector.h"
#include "linalg/curve_points.h"

static NsAxis check_axis(lua_State *L, int idx) {
  NsAxis axis = {luaL_checknumber(L, idx), luaL_checknumber(L, idx + 1), luaL_checknumber(L, idx + 2),
                 lua_toboolean(L, idx + 3)};
  return axis;
}

/* Makes the curve of the vectors at 1 and 2, with memory for all its points. */
static NsCurvePoints check_curve(lua_State *L, const char *who) {
  const NslVector *x = nsl_to_vector(L, 1, -1, who, "x"), *y = nsl_to_vector(L, 2, x->n, who, "y");
  int *room = lua_newuserdatauv(L, (size_t)x->n * sizeof *room + 1, 0);
  return (NsCurvePoints){nsl_samples(L, x), nsl_samples(L, y), room, 0};
}

/* Checks the vectors again after a call that may have run a finaliser. */
static void curve_still_alive(lua_State *L) {
  nsl_check_vector(L, 1);
  nsl_check_vector(L, 2);
}

static int curve_push_kept(lua_State *L, const NsCurvePoints *c) {
  double *u = nsl_push_vector(L, c->count, NULL)->data, *v = nsl_push_vector(L, c->count, NULL)->data;
  curve_still_alive(L);
  for (int k = 0; k < c->count; k++) {
    u[k] = ns_sample(c->x, c->kept[k]);
    v[k] = ns_sample(c->y, c->kept[k]);
  }
  return 2;
}

/* rises(x): whether all elements are finite and none is below the one before. */
static int f_rises(lua_State *L) {
  const NslVector *x = nsl_to_vector(L, 1, -1, "rises", "x");
  return lua_pushboolean(L, ns_samples_rise(nsl_samples(L, x)) == x->n), 1;
}

/* columns(x, y, a, b, length, log): nothing when x falls somewhere or is not finite. */
static int curve_columns(lua_State *L) {
  NsAxis axis = check_axis(L, 3);
  NsCurvePoints c = check_curve(L, "columns");
  if (ns_samples_rise(c.x) < c.x.n) return 0;
  ns_curve_columns(&c, &axis);
  return curve_push_kept(L, &c);
}

/* distance(x, y, the axis x, the axis y) */
static int curve_distance(lua_State *L) {
  NsAxis across = check_axis(L, 3), up = check_axis(L, 7);
  NsCurvePoints c = check_curve(L, "distance");
  ns_curve_distance(&c, &across, &up);
  return curve_push_kept(L, &c);
}

/* corners(x, y, "pre" | "mid" | "post" [, the axis x, the axis y]) */
static int corners(lua_State *L) {
  static const char *const names[] = {"pre", "mid", "post", NULL};
  NsSteps where = (NsSteps)luaL_checkoption(L, 3, NULL, names);
  bool exact = lua_isnoneornil(L, 4);
  NsAxis across = {0}, up = {0};
  if (!exact) across = check_axis(L, 4), up = check_axis(L, 8);
  NsCurvePoints c = check_curve(L, "corners");
  int size = ns_curve_steps(&c, where);
  double *u = nsl_push_vector(L, size, NULL)->data, *v = nsl_push_vector(L, size, NULL)->data;
  curve_still_alive(L);
  ns_curve_corners(&c, where, exact ? NULL : &across, exact ? NULL : &up, u, v);
  return 2;
}

void nsl_open_thin(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"rises", f_rises}, {"columns", curve_columns}, {"distance", curve_distance}, {"corners", corners}, {NULL, NULL}};
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "thin_support");
}
