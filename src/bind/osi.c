/*
** osi.c
** EulerMoreauOSI, MoreauJeanOSI and MoreauJeanGOSI: the weights of the schemes.
*/
#include "bind/simulation.h"

static const NslType types[NS_INTEGRATOR_KINDS] = {
#define X(code, name) [code] = {name, NULL},
    NS_INTEGRATOR_LIST(X)
#undef X
};
enum { KINDS = NS_INTEGRATOR_KINDS };

NslOsi *nsl_check_osi(lua_State *L, int idx) {
  NslHead *head = nsl_head(L, idx);
  if (!head || head->type < types || head->type >= types + KINDS) {
    const char *message = lua_pushfstring(L, "integrator expected, got %s", nsl_describe(L, idx));
    luaL_argerror(L, idx, message);
  }
  if (head->closed) luaL_error(L, "%s is closed", head->type->name);
  return (NslOsi *)head;
}

static double weight(lua_State *L, int idx, const char *who, const char *what) {
  double value = nsl_finite(L, idx, who, what);
  if (value < 0 || value > 1) luaL_error(L, "%s: %s: expected a number in [0, 1], got %f", who, what, value);
  return value;
}

static NslOsi *new_osi(lua_State *L, NsIntegratorKind kind) {
  NslOsi *self = nsl_new(L, &types[kind], sizeof *self, 0);
  self->integrator = (NsIntegrator){.kind = kind};
  return self;
}

/* (theta [, gamma]). */
static int new_weights(lua_State *L, NsIntegratorKind kind, double gamma) {
  const char *who = types[kind].name;
  nsl_at_most(L, 2, who);
  double theta = weight(L, 1, who, "theta");
  if (!lua_isnoneornil(L, 2)) gamma = weight(L, 2, who, "gamma");
  NslOsi *self = new_osi(L, kind);
  self->integrator.euler_moreau = (NsEulerMoreauOptions){theta, gamma, false};
  self->integrator.moreau_jean = (NsMoreauJeanOptions){theta, gamma, false};
  return 1;
}

/* EulerMoreauOSI(theta [, gamma = 1]). */
static int new_euler_moreau(lua_State *L) {
  return new_weights(L, NS_EULER_MOREAU, 1);
}

/* MoreauJeanOSI(theta [, gamma = 1/2]). */
static int new_moreau_jean(lua_State *L) {
  return new_weights(L, NS_MOREAU_JEAN, 0.5);
}

/* MoreauJeanGOSI(theta [, gamma = 1/2]). */
static int new_moreau_jean_global(lua_State *L) {
  return new_weights(L, NS_MOREAU_JEAN_GLOBAL, 0.5);
}

void nsl_clone_osi(lua_State *L, int idx) {
  NslOsi *from = nsl_check_osi(L, idx);
  new_osi(L, from->integrator.kind)->integrator = from->integrator;
}

static int osi_theta(lua_State *L) {
  lua_pushnumber(L, nsl_check_osi(L, 1)->integrator.euler_moreau.theta);
  return 1;
}

static int osi_gamma(lua_State *L) {
  lua_pushnumber(L, nsl_check_osi(L, 1)->integrator.euler_moreau.gamma);
  return 1;
}

static int osi_set_theta(lua_State *L) {
  NslOsi *self = nsl_check_osi(L, 1);
  double theta = weight(L, 2, self->head.type->name, "theta");
  self->integrator.euler_moreau.theta = self->integrator.moreau_jean.theta = theta;
  return 0;
}

static int osi_set_gamma(lua_State *L) {
  NslOsi *self = nsl_check_osi(L, 1);
  double gamma = weight(L, 2, self->head.type->name, "gamma");
  self->integrator.euler_moreau.gamma = self->integrator.moreau_jean.gamma = gamma;
  return 0;
}

/* The integrator at 1, which must be of the kind whose method `what` is. */
static NslOsi *check_kind(lua_State *L, NsIntegratorKind kind, const char *what) {
  NslOsi *self = nsl_check_osi(L, 1);
  if (self->integrator.kind != kind) luaL_error(L, "%s: a %s has no such option", what, self->head.type->name);
  return self;
}

static bool flag(lua_State *L, const char *what, const char *name) {
  if (!lua_isboolean(L, 2)) nsl_bad(L, what, name, "a boolean", 2);
  return lua_toboolean(L, 2);
}

static int osi_use_gamma(lua_State *L) {
  lua_pushboolean(L, check_kind(L, NS_EULER_MOREAU, "useGammaForRelation")->integrator.euler_moreau.gamma_in_relation);
  return 1;
}

static int osi_set_use_gamma(lua_State *L) {
  NslOsi *self = check_kind(L, NS_EULER_MOREAU, "setUseGammaForRelation");
  self->integrator.euler_moreau.gamma_in_relation = flag(L, "setUseGammaForRelation", "use");
  return 0;
}

static int osi_linearly_implicit(lua_State *L) {
  lua_pushboolean(L, check_kind(L, NS_MOREAU_JEAN, "linearlyImplicit")->integrator.moreau_jean.linearly_implicit);
  return 1;
}

static int osi_set_linearly_implicit(lua_State *L) {
  NslOsi *self = check_kind(L, NS_MOREAU_JEAN, "setLinearlyImplicit");
  self->integrator.moreau_jean.linearly_implicit = flag(L, "setLinearlyImplicit", "flag");
  return 0;
}

static int osi_close(lua_State *L) {
  nsl_check_osi(L, 1)->head.closed = true;
  return 0;
}

static int osi_tostring(lua_State *L) {
  NslOsi *self = lua_touserdata(L, 1);
  const NsIntegrator *osi = &self->integrator;
  const char *name = self->head.type->name;
  if (self->head.closed) return lua_pushfstring(L, "%s (closed)", name), 1;
  lua_pushfstring(L, "%s: theta %f, gamma %f%s%s", name, osi->euler_moreau.theta, osi->euler_moreau.gamma,
                  osi->euler_moreau.gamma_in_relation ? " in the relation" : "",
                  osi->moreau_jean.linearly_implicit ? ", linearly implicit" : "");
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
                                     {"linearlyImplicit", osi_linearly_implicit},
                                     {"setLinearlyImplicit", osi_set_linearly_implicit},
                                     {"display", osi_display},
                                     {"close", osi_close},
                                     {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__close", osi_close}, {"__tostring", osi_tostring}, {NULL, NULL}};
  static const luaL_Reg functions[] = {
      {"EulerMoreauOSI", new_euler_moreau}, {"MoreauJeanOSI", new_moreau_jean},
      {"MoreauJeanGOSI", new_moreau_jean_global}, {NULL, NULL}};
  for (int i = 0; i < KINDS; i++) nsl_register_type(L, &types[i], meta, methods);
  luaL_setfuncs(L, functions, 0);
}
