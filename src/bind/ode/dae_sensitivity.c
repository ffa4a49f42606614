/*
** dae_sensitivity.c
** Sensitivities of ns.dae: lua/nslua/dae_sensitivity.lua calls these.
*/
#include "bind/ode/dae_solver.h"

#include <string.h>

#include "bind/array/matrix.h"
#include "bind/lua/host.h"

/* An evaluation of dF/dparameters under way. */
typedef struct ParametersCall {
  NslDae *s;
  double t, *P;
  const double *y, *yd;
  int p;
} ParametersCall;

/* Calls by_parameters(t, y, yd). Arguments: the solver, the ParametersCall. */
static int call_by_parameters(lua_State *L) {
  ParametersCall *call = lua_touserdata(L, 2);
  lua_getiuservalue(L, 1, NSL_DAE_BY_PARAMETERS);
  lua_pushnumber(L, call->t);
  nsl_dae_push_values(L, call->s->n, call->y);
  nsl_dae_push_values(L, call->s->n, call->yd);
  lua_call(L, 3, 1);
  nsl_matrix_read(nsl_to_finite_matrix(L, -1, call->s->n, call->p, "dae", "sensitivities: dF/dargs"), call->P);
  return 0;
}

static NsStatus dae_by_parameters(void *context, double t, const double *y, const double *yd, double *P, NsError *err) {
  NslDae *s = context;
  ParametersCall call = {.s = s, .t = t, .P = P, .y = y, .yd = yd, .p = s->parameters};
  if (nsl_dae_protect(s, call_by_parameters, &call) == 0) return NS_OK;
  return ns_fail(err, NS_ECALLBACK, "dae: the derivatives by args failed (t=%.10g)", t);
}

/* The matrix n x p at idx, copied. */
static double *take_sensitivity_matrix(lua_State *L, NslDae *s, int idx) {
  NslMatrix *m = nsl_to_finite_matrix(L, idx, s->n, -1, "dae", "sensitivities");
  s->parameters = (int)m->cols;
  double *S = lua_newuserdatauv(L, (size_t)s->n * (size_t)m->cols * sizeof *S + 1, 0);
  nsl_matrix_read(m, S);
  return S;
}

/* follow(solver, S, rtol (0: that of the solver), by_parameters (t, y, yd) -> n x p; nil: dF/dparameters is 0). */
static int dae_follow(lua_State *L) {
  NslDae *s = nsl_check_dae(L);
  lua_settop(L, 4);
  double *S = take_sensitivity_matrix(L, s, 2);
  NsDaeSensitivityProblem problem = {.method = s->method, .solver = s->solver, .dae = s->problem, .p = s->parameters};
  problem.rtol = luaL_checknumber(L, 3);
  problem.context = s;
  if (!lua_isnil(L, 4)) problem.by_parameters = dae_by_parameters;
  lua_pushvalue(L, 4);
  lua_setiuservalue(L, 1, NSL_DAE_BY_PARAMETERS);
  if (ns_dae_sensitivity_new(&s->sensitivity, &problem) != NS_OK) return luaL_error(L, "not enough memory");
  ns_dae_sensitivity_start(s->sensitivity, S);
  return 0;
}

/* jump(solver, S): S after an event; the solver has been restarted. */
static int dae_jump(lua_State *L) {
  NslDae *s = nsl_check_dae(L);
  ns_dae_sensitivity_start(s->sensitivity, take_sensitivity_matrix(L, s, 2));
  return 0;
}

static NsStatus reach_time(NslDae *s, void *what, NsError *err) {
  return ns_dae_sensitivity_reach(s->sensitivity, *(double *)what, err);
}

static NsStatus go_to_time(NslDae *s, void *what, NsError *err) {
  return ns_dae_sensitivity_go_to(s->sensitivity, *(double *)what, err);
}

/* Runs work with the time at 2: true; or false and the reason. */
static int run_to_time(lua_State *L, NslDaeWork work) {
  NslDae *s = nsl_check_dae(L);
  double t = luaL_checknumber(L, 2);
  lua_settop(L, 2);
  bool done = nsl_dae_run(L, s, work, &t);
  lua_pushboolean(L, done);
  if (done) return 1;
  lua_insert(L, -2);
  return 2;
}

/* reach(solver, t): takes S to t, in the last step. */
static int dae_reach(lua_State *L) {
  return run_to_time(L, reach_time);
}

/* go_to_with(solver, t): go_to with S. */
static int dae_go_to_with(lua_State *L) {
  return run_to_time(L, go_to_time);
}

/* sensitivity(solver): S, and the largest |y'| of each unknown since the last start. */
static int dae_sensitivity(lua_State *L) {
  NslDae *s = nsl_check_dae(L);
  NslMatrix *m = nsl_push_matrix(L, s->n, s->parameters, NULL);
  const double *S = ns_dae_sensitivity_matrix(s->sensitivity);
  for (int j = 0; j < s->parameters; j++)
    for (int i = 0; i < s->n; i++) m->data[i + (ptrdiff_t)j * m->ld] = S[i + (ptrdiff_t)j * s->n];
  nsl_dae_push_values(L, s->n, ns_dae_sensitivity_pace(s->sensitivity));
  return 2;
}

void nsl_open_dae_sensitivity(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"follow", dae_follow},           {"jump", dae_jump}, {"reach", dae_reach}, {"go_to_with", dae_go_to_with},
      {"sensitivity", dae_sensitivity}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
