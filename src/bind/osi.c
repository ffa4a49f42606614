/*
** osi.c
** EulerMoreauOSI: the weights of the theta-gamma scheme.
*/
#include "bind/simulation.h"

static const NslType osi_type = {.name = "EulerMoreauOSI"};

NslOsi *nsl_check_osi(lua_State *L, int idx) {
  return nsl_check(L, idx, &osi_type);
}

static double weight(lua_State *L, int idx, const char *what) {
  double value = nsl_finite(L, idx, osi_type.name, what);
  if (value < 0 || value > 1)
    luaL_error(L, "%s: %s: expected a number in [0, 1], got %f", osi_type.name, what, value);
  return value;
}

/* EulerMoreauOSI(theta [, gamma = 1]). */
static int new_osi(lua_State *L) {
  nsl_at_most(L, 2, osi_type.name);
  double theta = weight(L, 1, "theta"), gamma = lua_isnoneornil(L, 2) ? 1 : weight(L, 2, "gamma");
  NslOsi *self = nsl_new(L, &osi_type, sizeof *self, 0);
  self->options = (NsEulerMoreauOptions){theta, gamma, false};
  return 1;
}

void nsl_clone_osi(lua_State *L, int idx) {
  NslOsi *from = nsl_check_osi(L, idx), *to = nsl_new(L, &osi_type, sizeof *to, 0);
  to->options = from->options;
}

static int osi_theta(lua_State *L) {
  lua_pushnumber(L, nsl_check_osi(L, 1)->options.theta);
  return 1;
}

static int osi_gamma(lua_State *L) {
  lua_pushnumber(L, nsl_check_osi(L, 1)->options.gamma);
  return 1;
}

static int osi_set_theta(lua_State *L) {
  NslOsi *self = nsl_check_osi(L, 1);
  self->options.theta = weight(L, 2, "theta");
  return 0;
}

static int osi_set_gamma(lua_State *L) {
  NslOsi *self = nsl_check_osi(L, 1);
  self->options.gamma = weight(L, 2, "gamma");
  return 0;
}

static int osi_use_gamma(lua_State *L) {
  lua_pushboolean(L, nsl_check_osi(L, 1)->options.gamma_in_relation);
  return 1;
}

static int osi_set_use_gamma(lua_State *L) {
  NslOsi *self = nsl_check_osi(L, 1);
  if (!lua_isboolean(L, 2)) nsl_bad(L, "setUseGammaForRelation", "use", "a boolean", 2);
  self->options.gamma_in_relation = lua_toboolean(L, 2);
  return 0;
}

static int osi_close(lua_State *L) {
  nsl_check_osi(L, 1)->head.closed = true;
  return 0;
}

static int osi_tostring(lua_State *L) {
  NslOsi *self = lua_touserdata(L, 1);
  if (self->head.closed) return lua_pushfstring(L, "%s (closed)", osi_type.name), 1;
  lua_pushfstring(L, "%s: theta %f, gamma %f%s", osi_type.name, self->options.theta, self->options.gamma,
                  self->options.gamma_in_relation ? " in the relation" : "");
  return 1;
}

static int osi_display(lua_State *L) {
  nsl_check_osi(L, 1);
  return nsl_display_object(L, NULL);
}

void nsl_open_osi(lua_State *L) {
  static const luaL_Reg methods[] = {{"theta", osi_theta},
                                     {"gamma", osi_gamma},
                                     {"setTheta", osi_set_theta},
                                     {"setGamma", osi_set_gamma},
                                     {"useGammaForRelation", osi_use_gamma},
                                     {"setUseGammaForRelation", osi_set_use_gamma},
                                     {"display", osi_display},
                                     {"close", osi_close},
                                     {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__close", osi_close}, {"__tostring", osi_tostring}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"EulerMoreauOSI", new_osi}, {NULL, NULL}};
  nsl_register_type(L, &osi_type, meta, methods);
  luaL_setfuncs(L, functions, 0);
}
