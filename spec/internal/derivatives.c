/*
** derivatives.c
** For the specs alone: where parameters are in a model, and the derivatives by them.
*/
#include "internal.h"
#include "bind/lua/host.h"
#include "bind/simulation/sensitivities.h"
#include "bind/simulation/simulation.h"
#include "model/vjp.h"

static const char *const number_words[] = {"unknown", "A", "b", "mass", "stiffness", "damping", "fExt", "C",
                                           "D",       "e", "B", "K",    "lower",     "upper",   "law",  "z"};

/* places(simulation, parameters): a list of {kind, system, systems, first, i, j, copied, shared = the interactions with it}. */
static int internal_places(lua_State *L) {
  NsRunSensitivities asked;
  const NsNsds *nsds = nsl_check_simulation(L, 1)->ts->nsds;
  nsl_read_sensitivities(L, 2, &asked);
  lua_createtable(L, asked.p, 0);
  for (int k = 0; k < asked.p; k++) {
    NsParameterPlace place = ns_parameter_place(nsds, &asked.parameters[k]);
    int shared = 0;
    for (int e = place.first; e >= 0; e = ns_parameter_next(nsds, &place, e)) shared++;
    lua_newtable(L);
    nsl_internal_give(L, 0, "kind$ system: systems: first: shared: i: j: copied?", number_words[place.kind], place.system + 1,
                      place.systems, place.first + 1, shared, place.i + 1, place.j + 1, place.copied);
    lua_rawseti(L, -2, k + 1);
  }
  return 1;
}

/* Field `key` of the table at 3, a list of numbers, as memory of Lua; NULL: it is absent. */
static const double *point_vector(lua_State *L, const char *key) {
  if (lua_getfield(L, 3, key) != LUA_TTABLE) return lua_pop(L, 1), NULL;
  int count = (int)lua_rawlen(L, -1), list = lua_gettop(L);
  return nsl_internal_list(L, list, count);
}

/*
** model_derivative(simulation, parameters, {t, x, v, rate, lambda, force, input, output, lower, upper, apart, rates}): a list of {known, vjp,
** forward (jvp is known), F, Y}. rates: all outputs are by their rates.
*/
static int internal_model_derivative(lua_State *L) {
  NsRunSensitivities asked;
  NsNsds *nsds = nsl_check_simulation(L, 1)->ts->nsds;
  lua_settop(L, 3);
  nsl_read_sensitivities(L, 2, &asked);
  luaL_checkstack(L, 24, NULL);
  NsModelPoint at = {.x = point_vector(L, "x"), .v = point_vector(L, "v"), .rate = point_vector(L, "rate"), .one = 1};
  NsModelWeights weights = {.force = point_vector(L, "force"), .output = point_vector(L, "output")};
  at.lambda = point_vector(L, "lambda");
  weights.input = point_vector(L, "input"), weights.lower = point_vector(L, "lower"), weights.upper = point_vector(L, "upper");
  lua_getfield(L, 3, "t");
  at.t = lua_tonumber(L, -1);
  lua_getfield(L, 3, "apart");
  weights.apart = lua_toboolean(L, -1);
  int n = 0, m = 0;
  for (int d = 0; d < nsds->nds; d++) n += nsds->ds[d]->nr;
  for (int e = 0; e < nsds->ninteractions; e++) m += nsds->interactions[e]->m;
  double *F = lua_newuserdatauv(L, (size_t)(n + m + 1) * sizeof *F, 0), *Y = F + n;
  bool *rates = lua_newuserdatauv(L, (size_t)(m + 1) * sizeof *rates, 0);
  lua_getfield(L, 3, "rates");
  for (int i = 0; i < m; i++) rates[i] = lua_toboolean(L, -1);
  at.by_rate = rates;
  NsModelDerivative derivative;
  NsArena arena = {0};
  if (ns_model_derivative_take(&derivative, &arena, nsds, asked.parameters, asked.p) != NS_OK ||
      ns_model_take_z(&derivative) != NS_OK)
    return ns_arena_release(&arena), luaL_error(L, "not enough memory");
  NsStatus status = NS_OK;
  NsError err = {0};
  NslEdge edge = nsl_enter(nsl_host(L), L, NULL, nsds);
  for (int d = 0; d < nsds->nds && status == NS_OK; d++) status = ns_ds_update(nsds->ds[d], at.t, &err);
  for (int e = 0; e < nsds->ninteractions && status == NS_OK; e++)
    status = ns_interaction_update(nsds->interactions[e], at.t, &err);
  if (status == NS_OK) ns_model_look(&derivative, &at);
  nsl_leave(nsl_host(L), edge);
  if (status != NS_OK) return ns_arena_release(&arena), nsl_raise(L, &err);
  lua_createtable(L, asked.p, 0);
  for (int j = 0; j < asked.p; j++) {
    double sum = 0;
    for (int i = 0; i < n + m; i++) F[i] = 0;
    bool known = ns_model_vjp(&derivative, &at, &weights, j, &sum), forward = ns_model_jvp(&derivative, &at, j, F, Y);
    lua_newtable(L);
    nsl_internal_give(L, n, "known? vjp. forward? F~", known, sum, forward, F);
    nsl_internal_give(L, m, "Y~", Y);
    lua_rawseti(L, -2, j + 1);
  }
  ns_arena_release(&arena);
  return 1;
}

void nsl_internal_derivatives(lua_State *L) {
  nsl_set_cfunction(L, "model_derivative", internal_model_derivative);
  nsl_set_cfunction(L, "places", internal_places);
}
