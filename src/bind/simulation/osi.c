/*
** osi.c
** EulerMoreauOSI, MoreauJeanOSI, MoreauJeanGOSI, SchatzmanPaoliOSI: the weights of the schemes. RungeKuttaOSI: tolerances.
*/
#include <string.h>

#include "bind/simulation/simulation.h"

static const NslType types[NS_INTEGRATOR_KINDS] = {
#define X(code, name) [code] = {name, NULL},
    NS_INTEGRATOR_LIST(X)
#undef X
};
enum { KINDS = NS_INTEGRATOR_KINDS };

NslOsi *nsl_check_osi(lua_State *L, int idx) {
  NslHead *head = nsl_head(L, idx);
  if (!head || head->type < types || head->type >= types + KINDS) return nsl_wrong_type(L, idx, "integrator", "osi"), NULL;
  if (head->closed) luaL_error(L, "%s is closed", head->type->name);
  return (NslOsi *)head;
}

static double weight(lua_State *L, int idx, const char *who, const char *what) {
  double value = nsl_finite(L, idx, who, what);
  if (value < 0 || value > 1) nsl_error(L, "%s: %s: expected a number in [0, 1], got %f", who, what, value);
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
  self->integrator.euler_moreau = (NsEulerMoreauOptions){.theta = theta, .gamma = gamma};
  self->integrator.moreau_jean = (NsMoreauJeanOptions){.theta = theta, .gamma = gamma};
  return 1;
}

/* EulerMoreauOSI(theta [, gamma = 1]). */
static int new_euler_moreau(lua_State *L) {
  return new_weights(L, NS_EULER_MOREAU, 1);
}

/* MoreauJeanOSI(theta [, gamma = 1/2]); the simulation projects, so that Siconos' integrators that do are this one. */
static int new_moreau_jean(lua_State *L) {
  return new_weights(L, NS_MOREAU_JEAN, 0.5);
}

/* MoreauJeanGOSI(theta [, gamma = 1/2]). */
static int new_moreau_jean_global(lua_State *L) {
  return new_weights(L, NS_MOREAU_JEAN_GLOBAL, 0.5);
}

/* SchatzmanPaoliOSI(theta). */
static int new_schatzman_paoli(lua_State *L) {
  const char *who = types[NS_SCHATZMAN_PAOLI].name;
  nsl_at_most(L, 1, who);
  double theta = weight(L, 1, who, "theta");
  NslOsi *self = new_osi(L, NS_SCHATZMAN_PAOLI);
  self->integrator.euler_moreau.theta = self->integrator.schatzman_paoli.theta = theta;
  return 1;
}

/* Reads tolerances (rtol at idx, atol after it) into the options; what is not given stays. */
static void osi_read_tolerances(lua_State *L, int idx, const char *who, NsEventOptions *options) {
  double rtol = lua_isnoneornil(L, idx) ? options->rtol : nsl_finite(L, idx, who, "rtol");
  double atol = lua_isnoneornil(L, idx + 1) ? options->atol : nsl_finite(L, idx + 1, who, "atol");
  if (!(rtol >= 1e-14 && rtol <= 0.1)) nsl_error(L, "%s: rtol: expected a number in [1e-14, 0.1], got %f", who, rtol);
  if (!(atol > 0)) nsl_error(L, "%s: atol: expected a positive number, got %f", who, atol);
  options->rtol = rtol;
  options->atol = atol;
  if (!lua_isnoneornil(L, idx + 1)) options->atol_in_units = true;
}

/* The longest step at idx; what is not given stays. */
static void read_max_step(lua_State *L, int idx, const char *who, NsEventOptions *options) {
  if (lua_isnoneornil(L, idx)) return;
  double h = nsl_finite(L, idx, who, "max_step");
  if (!(h > 0)) nsl_error(L, "%s: max_step: expected a positive number, got %f", who, h);
  options->max_step = h;
}

/* RungeKuttaOSI([rtol = 1e-12 [, atol = 1e-14 [, max_step]]]). */
static int new_runge_kutta(lua_State *L) {
  NsEventOptions options = {.rtol = 1e-12, .atol = 1e-14, .tolerance = 1e-12, .max_events = 1000000};
  nsl_at_most(L, 3, types[NS_RUNGE_KUTTA].name);
  osi_read_tolerances(L, 1, types[NS_RUNGE_KUTTA].name, &options);
  read_max_step(L, 3, types[NS_RUNGE_KUTTA].name, &options);
  new_osi(L, NS_RUNGE_KUTTA)->integrator.events = options;
  return 1;
}

/* D1MinusLinearOSI(). */
static int new_d1_minus_linear(lua_State *L) {
  nsl_at_most(L, 0, types[NS_D1_MINUS_LINEAR].name);
  new_osi(L, NS_D1_MINUS_LINEAR)->integrator.events = (NsEventOptions){
      .fixed = true, .rtol = 1e-12, .atol = 1e-14, .tolerance = 1e-12, .max_events = 1000000};
  return 1;
}

void nsl_clone_osi(lua_State *L, int idx) {
  NslOsi *from = nsl_check_osi(L, idx);
  new_osi(L, from->integrator.kind)->integrator = from->integrator;
}

/* The integrator at 1, one with a weight theta. */
static NslOsi *check_weighted(lua_State *L, const char *what) {
  NslOsi *self = nsl_check_osi(L, 1);
  if (ns_integrator_has_events(&self->integrator)) luaL_error(L, "%s: a %s has no such option", what, self->head.type->name);
  return self;
}

/* The same, with gamma too. */
static NslOsi *check_gamma(lua_State *L, const char *what) {
  NslOsi *self = check_weighted(L, what);
  if (self->integrator.kind == NS_SCHATZMAN_PAOLI) luaL_error(L, "%s: a %s has no such option", what, self->head.type->name);
  return self;
}

static int osi_theta(lua_State *L) {
  lua_pushnumber(L, check_weighted(L, "theta")->integrator.euler_moreau.theta);
  return 1;
}

static int osi_gamma(lua_State *L) {
  lua_pushnumber(L, check_gamma(L, "gamma")->integrator.euler_moreau.gamma);
  return 1;
}

static int osi_set_theta(lua_State *L) {
  NslOsi *self = check_weighted(L, "setTheta");
  double theta = weight(L, 2, self->head.type->name, "theta");
  self->integrator.euler_moreau.theta = self->integrator.moreau_jean.theta = theta;
  self->integrator.schatzman_paoli.theta = theta;
  return 0;
}

static int osi_set_gamma(lua_State *L) {
  NslOsi *self = check_gamma(L, "setGamma");
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

static bool osi_flag(lua_State *L, const char *what, const char *name) {
  if (!lua_isboolean(L, 2)) nsl_bad(L, what, name, "a boolean", 2);
  return lua_toboolean(L, 2);
}

static int osi_use_gamma(lua_State *L) {
  lua_pushboolean(L, check_kind(L, NS_EULER_MOREAU, "useGammaForRelation")->integrator.euler_moreau.gamma_in_relation);
  return 1;
}

static int osi_set_use_gamma(lua_State *L) {
  NslOsi *self = check_kind(L, NS_EULER_MOREAU, "setUseGammaForRelation");
  self->integrator.euler_moreau.gamma_in_relation = osi_flag(L, "setUseGammaForRelation", "use");
  return 0;
}

static int osi_restart(lua_State *L) {
  bool restart = check_kind(L, NS_EULER_MOREAU, "restart")->integrator.euler_moreau.restart;
  lua_pushstring(L, restart ? "implicit" : "none");
  return 1;
}

/* setRestart("implicit") or ("none"). */
static int osi_set_restart(lua_State *L) {
  NslOsi *self = check_kind(L, NS_EULER_MOREAU, "setRestart");
  if (lua_type(L, 2) != LUA_TSTRING) nsl_bad(L, "setRestart", "restart", "\"implicit\" or \"none\"", 2);
  const char *how = lua_tostring(L, 2);
  bool implicit = strcmp(how, "implicit") == 0;
  if (!implicit && strcmp(how, "none") != 0)
    luaL_error(L, "setRestart: restart: expected \"implicit\" or \"none\", got '%s'", how);
  self->integrator.euler_moreau.restart = implicit;
  return 0;
}

static int osi_linearly_implicit(lua_State *L) {
  lua_pushboolean(L, check_kind(L, NS_MOREAU_JEAN, "linearlyImplicit")->integrator.moreau_jean.linearly_implicit);
  return 1;
}

static int osi_set_linearly_implicit(lua_State *L) {
  NslOsi *self = check_kind(L, NS_MOREAU_JEAN, "setLinearlyImplicit");
  self->integrator.moreau_jean.linearly_implicit = osi_flag(L, "setLinearlyImplicit", "flag");
  return 0;
}

/* The integrator at 1, a MoreauJeanOSI of either form. */
static NslOsi *check_moreau_jean(lua_State *L, const char *what) {
  NslOsi *self = nsl_check_osi(L, 1);
  NsIntegratorKind kind = self->integrator.kind;
  if (kind != NS_MOREAU_JEAN && kind != NS_MOREAU_JEAN_GLOBAL)
    luaL_error(L, "%s: a %s has no such option", what, self->head.type->name);
  return self;
}

static int osi_activation_threshold(lua_State *L) {
  const NsMoreauJeanOptions *options = &check_moreau_jean(L, "constraintActivationThreshold")->integrator.moreau_jean;
  if (options->has_threshold) lua_pushnumber(L, options->threshold);
  else lua_pushnil(L);
  return 1;
}

/* setConstraintActivationThreshold(y), or nil for the tolerance of the integrator's own. */
static int osi_set_activation_threshold(lua_State *L) {
  NsMoreauJeanOptions *options = &check_moreau_jean(L, "setConstraintActivationThreshold")->integrator.moreau_jean;
  bool given = !lua_isnil(L, 2);
  double threshold = given ? nsl_finite(L, 2, "setConstraintActivationThreshold", "threshold") : 0;
  options->has_threshold = given;
  options->threshold = threshold;
  return 0;
}

/* The tolerances of a RungeKuttaOSI: rtol, atol. */
static int osi_tolerances(lua_State *L) {
  const NsEventOptions *options = &check_kind(L, NS_RUNGE_KUTTA, "tolerances")->integrator.events;
  lua_pushnumber(L, options->rtol);
  lua_pushnumber(L, options->atol);
  return 2;
}

static int osi_set_tolerances(lua_State *L) {
  osi_read_tolerances(L, 2, "setTolerances", &check_kind(L, NS_RUNGE_KUTTA, "setTolerances")->integrator.events);
  return 0;
}

static int osi_contact_tolerance(lua_State *L) {
  lua_pushnumber(L, check_kind(L, NS_RUNGE_KUTTA, "contactTolerance")->integrator.events.tolerance);
  return 1;
}

static int osi_set_contact_tolerance(lua_State *L) {
  NsEventOptions *options = &check_kind(L, NS_RUNGE_KUTTA, "setContactTolerance")->integrator.events;
  double value = nsl_finite(L, 2, "setContactTolerance", "tolerance");
  if (!(value > 0)) nsl_error(L, "setContactTolerance: tolerance: expected a positive number, got %f", value);
  options->tolerance = value;
  options->tolerance_in_units = true;
  return 0;
}

/* nil: found. */
static int osi_max_step(lua_State *L) {
  double h = check_kind(L, NS_RUNGE_KUTTA, "maxStep")->integrator.events.max_step;
  if (h > 0) lua_pushnumber(L, h);
  else lua_pushnil(L);
  return 1;
}

static int osi_set_max_step(lua_State *L) {
  NsEventOptions *options = &check_kind(L, NS_RUNGE_KUTTA, "setMaxStep")->integrator.events;
  options->max_step = 0;
  read_max_step(L, 2, "setMaxStep", options);
  return 0;
}

static int osi_set_max_events(lua_State *L) {
  NsEventOptions *options = &check_kind(L, NS_RUNGE_KUTTA, "setMaxEvents")->integrator.events;
  lua_Integer most = nsl_integer(L, 2, "setMaxEvents", "events");
  if (most < 1) luaL_error(L, "setMaxEvents: events: expected 1 or more, got %I", most);
  options->max_events = (long)most;
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
  if (osi->kind == NS_D1_MINUS_LINEAR) return lua_pushstring(L, name), 1;
  if (osi->kind == NS_SCHATZMAN_PAOLI) return nsl_pushf(L, "%s: theta %f", name, osi->schatzman_paoli.theta), 1;
  if (ns_integrator_has_events(osi)) return nsl_pushf(L, "%s: rtol %f, atol %f", name, osi->events.rtol, osi->events.atol), 1;
  nsl_pushf(L, "%s: theta %f, gamma %f%s%s%s", name, osi->euler_moreau.theta, osi->euler_moreau.gamma,
            osi->euler_moreau.gamma_in_relation ? " in the relation" : "",
            osi->euler_moreau.restart ? ", implicit restarts" : "",
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
                                     {"restart", osi_restart},
                                     {"setRestart", osi_set_restart},
                                     {"linearlyImplicit", osi_linearly_implicit},
                                     {"setLinearlyImplicit", osi_set_linearly_implicit},
                                     {"constraintActivationThreshold", osi_activation_threshold},
                                     {"setConstraintActivationThreshold", osi_set_activation_threshold},
                                     {"tolerances", osi_tolerances},
                                     {"setTolerances", osi_set_tolerances},
                                     {"contactTolerance", osi_contact_tolerance},
                                     {"setContactTolerance", osi_set_contact_tolerance},
                                     {"maxStep", osi_max_step},
                                     {"setMaxStep", osi_set_max_step},
                                     {"setMaxEvents", osi_set_max_events},
                                     {"display", osi_display},
                                     {"close", osi_close},
                                     {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__close", osi_close}, {"__tostring", osi_tostring}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"EulerMoreauOSI", new_euler_moreau},
                                       {"MoreauJeanOSI", new_moreau_jean},
                                       {"MoreauJeanDirectProjectionOSI", new_moreau_jean},
                                       {"MoreauJeanCombinedProjectionOSI", new_moreau_jean},
                                       {"MoreauJeanGOSI", new_moreau_jean_global},
                                       {"RungeKuttaOSI", new_runge_kutta},
                                       {"SchatzmanPaoliOSI", new_schatzman_paoli},
                                       {"D1MinusLinearOSI", new_d1_minus_linear},
                                       {NULL, NULL}};
  for (int i = 0; i < KINDS; i++) nsl_register_type(L, &types[i], meta, methods);
  luaL_setfuncs(L, functions, 0);
}
