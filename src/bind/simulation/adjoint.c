/*
** adjoint.c
** core.adjoint: the record of a run, for simulation:gradient (lua/nslua/gradient.lua).
*/
#include <math.h>
#include <string.h>

#include "bind/lua/open.h"
#include "base/memory.h"
#include "bind/array/vector.h"
#include "bind/lua/sigint.h"
#include "bind/simulation/sensitivities.h"
#include "integrators/sensitivity_tape.h"
#include "simulation/user_search.h"

/* times(simulation): the ends of the intervals of the adjoint pass. */
static int core_adjoint_times(lua_State *L) {
  const NsSensitivities *s = nsl_check_recorded(L);
  double *times;
  long count;
  NsError err = {NS_OK, ""};
  if (ns_sensitivities_times(s, &times, &count, &err) != NS_OK) return nsl_raise(L, &err);
  lua_createtable(L, (int)count, 0);
  for (long k = 0; k < count; k++) lua_pushnumber(L, times[k]), lua_rawseti(L, -2, k + 1);
  ns_free(times);
  return 1;
}

/* start(simulation, mu, reach): the adjoint pass begins. */
static int core_adjoint_start(lua_State *L) {
  NsSensitivities *s = nsl_check_recorded(L);
  NslTimeStepping *self = lua_touserdata(L, 1);
  const NslVector *mu = nsl_to_finite_vector(L, 2, s->nx, "gradient", "terminal");
  const NslVector *reach = nsl_to_finite_vector(L, 3, s->nx, "gradient", "cost");
  NslModelCall call = nsl_begin_model_call(L, self, false);
  NsStatus status = ns_sensitivities_adjoint_start(s, self->ts->nsds, mu->data, reach->data, &call.err);
  return nsl_end_model_call(L, self, &call, status), 0;
}

/*
** The numbers at the nodes of an interval, node after node, *n for each: a vector of all, or a list of vectors, from which this pushes
** them.
*/
static const double *node_numbers(lua_State *L, int idx, int *n) {
  if (lua_type(L, idx) != LUA_TTABLE) {
    const NslVector *all = nsl_check_vector(L, idx);
    return *n = all->n / NS_BERNSTEIN_SIZE, all->data;
  }
  lua_rawgeti(L, idx, 1);
  *n = nsl_check_vector(L, -1)->n;
  double *numbers = lua_newuserdatauv(L, (NS_BERNSTEIN_SIZE * (size_t)*n + 1) * sizeof *numbers, 0);
  for (int k = 0; k < NS_BERNSTEIN_SIZE; k++) {
    lua_rawgeti(L, idx, k + 1);
    nsl_vector_read(nsl_to_finite_vector(L, lua_gettop(L), *n, "gradient", "cost"), numbers + (ptrdiff_t)k * *n);
    lua_pop(L, 1);
  }
  return numbers;
}

/* back(simulation, a, b, c): from b to a; c: the cost's derivatives by the states at the nodes, see node_numbers; nil: 0. */
static int core_adjoint_back(lua_State *L) {
  NsSensitivities *s = nsl_check_recorded(L);
  NslTimeStepping *self = lua_touserdata(L, 1);
  double a = luaL_checknumber(L, 2), b = luaL_checknumber(L, 3);
  lua_settop(L, 4);
  size_t numbers = NS_BERNSTEIN_SIZE * (size_t)s->nx;
  double *zero = lua_isnil(L, 4) ? lua_newuserdatauv(L, (numbers + 1) * sizeof *zero, 0) : NULL;
  if (zero) memset(zero, 0, numbers * sizeof *zero);
  int n = s->nx;
  const double *c = zero ? zero : node_numbers(L, 4, &n);
  if (n != s->nx) return luaL_error(L, "gradient: cost: expected %d derivatives, got %d", s->nx, n);
  NslModelCall call = nsl_begin_model_call(L, self, false);
  return nsl_end_model_call(L, self, &call, ns_sensitivities_adjoint(s, self->ts->nsds, a, b, c, &call.err)), 0;
}

/* steps_start(simulation): the adjoint pass of a time-stepping run begins, with mu = 0. */
static int core_adjoint_steps_start(lua_State *L) {
  return ns_sensitivities_steps_start(nsl_check_recorded(L)), 0;
}

/* steps_add(simulation, c): mu += c; `who` at 3: the function of the cost. */
static int core_adjoint_steps_add(lua_State *L) {
  NsSensitivities *s = nsl_check_recorded(L);
  const NslVector *c = nsl_to_finite_vector(L, 2, s->nx, "gradient", luaL_checkstring(L, 3));
  double *values = lua_newuserdatauv(L, ((size_t)s->nx + 1) * sizeof *values, 0);
  NsError err = {NS_OK, ""};
  nsl_vector_read(c, values);
  return ns_sensitivities_steps_add(s, values, &err) == NS_OK ? 0 : nsl_raise(L, &err);
}

/*
** steps_back(simulation, t, from, rows): from row `from` of the run, whose times are t (a vector), to the first one; the last row is where the adjoint pass
** begins. rows: what each row adds to mu, row after row; nil: nothing. Returns the row where the record begins: what is before it must be
** recorded again; 0: the adjoint pass is at its end.
*/
static int core_adjoint_steps_back(lua_State *L) {
  NsSensitivities *s = nsl_check_recorded(L);
  NslTimeStepping *self = lua_touserdata(L, 1);
  const NslVector *t = nsl_check_vector(L, 2);
  lua_Integer last = t->n, k = luaL_checkinteger(L, 3);
  const double *rows = lua_isnoneornil(L, 4) ? NULL : nsl_check_vector(L, 4)->data;
  bool reached = true;
  NsStatus status = NS_OK;
  NslModelCall call = nsl_begin_model_call(L, self, false);
  for (; k >= 1 && status == NS_OK && reached; k--) {
    double at = t->data[(k - 1) * t->stride];
    if (k < last && (rows || k == 1)) status = ns_sensitivities_adjoint_steps(s, self->ts->nsds, at, &reached, &call.err);
    if (status == NS_OK && reached && rows) status = ns_sensitivities_steps_add(s, rows + (k - 1) * s->nx, &call.err);
    if (!reached) break;
  }
  return nsl_end_model_call(L, self, &call, status), lua_pushinteger(L, k), 1;
}

/* events(simulation, t): the number of events there that move with parameters. */
static int core_adjoint_events(lua_State *L) {
  const NsSensitivities *s = nsl_check_recorded(L);
  return lua_pushinteger(L, ns_sensitivities_events_at(s, luaL_checknumber(L, 2))), 1;
}

/* cross(simulation, t, jump): through the events at t. */
static int core_adjoint_cross(lua_State *L) {
  NsSensitivities *s = nsl_check_recorded(L);
  return ns_sensitivities_cross(s, luaL_checknumber(L, 2), luaL_checknumber(L, 3)), 0;
}

/* earlier(simulation): records what comes before the record; whether there is something. */
static int core_adjoint_earlier(lua_State *L) {
  NsSensitivities *s = nsl_check_recorded(L);
  NslTimeStepping *self = lua_touserdata(L, 1);
  bool any = false;
  NslModelCall call = nsl_begin_model_call(L, self, false);
  return nsl_end_model_call(L, self, &call, ns_sensitivities_earlier(s, self->ts, &any, &call.err)), lua_pushboolean(L, any), 1;
}

/* state(simulation, t, before): the states at t in the record, where the adjoint pass stands. */
static int core_adjoint_state(lua_State *L) {
  const NsSensitivities *s = nsl_check_recorded(L);
  double t = luaL_checknumber(L, 2);
  bool before = lua_toboolean(L, 3);
  double *x = nsl_push_vector(L, s->nx, "x")->data;
  NsError err = {NS_OK, ""};
  return ns_sensitivities_state(s, t, before, x, &err) == NS_OK ? 1 : nsl_raise(L, &err);
}

/* memory(simulation): bytes that the record took at most (0: they were not counted), steps that were computed again. */
static int core_adjoint_memory(lua_State *L) {
  const NsSensitivities *s = nsl_check_recorded(L);
  return lua_pushnumber(L, s->most), lua_pushinteger(L, s->steps_again), 2;
}

static int core_adjoint_gradient(lua_State *L) {
  NsSensitivities *s = nsl_check_recorded(L);
  ns_sensitivities_gradient(s, nsl_push_vector(L, s->p - s->options.places, NULL)->data);
  return 1;
}

/* rates(simulation): xdot at the end of the run. */
static int core_adjoint_rates(lua_State *L) {
  const NsSensitivities *s = nsl_check_recorded(L);
  NslTimeStepping *self = lua_touserdata(L, 1);
  double *rates = nsl_push_vector(L, s->nx, NULL)->data;
  NslModelCall call = nsl_begin_model_call(L, self, false);
  return nsl_end_model_call(L, self, &call, ns_sensitivities_end_rates(s, self->ts->nsds, rates, &call.err)), 1;
}

/* values(simulation, sensitivities): the values of the parameters in the option `sensitivities` of run. */
static int core_adjoint_values(lua_State *L) {
  NsRunSensitivities asked;
  lua_settop(L, 2);
  nsl_read_sensitivities(L, 2, &asked);
  NslVector *values = nsl_push_vector(L, asked.p, NULL);
  for (int j = 0; j < asked.p; j++) {
    const NsParameter *parameter = &asked.parameters[j];
    values->data[j] = parameter->number ? *parameter->number : ((const NsDs *)parameter->owner)->x0[parameter->state];
  }
  return 1;
}

/* guard(simulation, name, t, x): the function g of an event of the script; its derivatives by parameters that it reads itself. */
static int core_adjoint_guard(lua_State *L) {
  const NsSensitivities *s = nsl_check_recorded(L);
  NslTimeStepping *self = lua_touserdata(L, 1);
  const NsUserEvents *events = &self->ts->user;
  const char *name = luaL_checkstring(L, 2);
  double t = luaL_checknumber(L, 3), *x = nsl_push_vector_copy(L, nsl_check_vector(L, 4))->data;
  for (int e = 0; e < events->count; e++) {
    if (strcmp(events->of[e].name, name) != 0 || lua_getiuservalue(L, 1, NSL_TS_EVENTS) != LUA_TTABLE) continue;
    lua_rawgeti(L, -1, e + 1);
    lua_getfield(L, -1, "g");
    double *all = lua_newuserdatauv(L, ((size_t)s->p + 1) * sizeof *all, 0);
    NslModelCall call = nsl_begin_model_call(L, self, false);
    nsl_end_model_call(L, self, &call, ns_ts_guard_slopes(self->ts, e, t, x, all, &call.err));
    int shown = s->p - s->options.places;
    memcpy(nsl_push_vector(L, shown, NULL)->data, all, (size_t)shown * sizeof *all);
    return lua_remove(L, -2), 2;
  }
  return lua_pushnil(L), 1;
}

/* fresh(simulation): whether its systems have their initial states, so that reset changes nothing. */
static int core_adjoint_fresh(lua_State *L) {
  const NsNsds *nsds = nsl_check_simulation(L, 1)->ts->nsds;
  bool fresh = true;
  for (int d = 0; d < nsds->nds && fresh; d++)
    fresh = memcmp(nsds->ds[d]->x, nsds->ds[d]->x0, (size_t)nsds->ds[d]->n * sizeof(double)) == 0;
  return lua_pushboolean(L, fresh), 1;
}

/* reads(): how often functions have read parameters of the last run by themselves. */
static int core_adjoint_reads(lua_State *L) {
  return lua_pushinteger(L, (lua_Integer)nsl_host(L)->asides), 1;
}

/* refused(simulation): why the last run has no record although forward derivatives may exist; nil. */
static int core_adjoint_refused(lua_State *L) {
  const NsTimeStepping *ts = nsl_check_simulation(L, 1)->ts;
  return lua_pushstring(L, ts->tape ? ns_sensitivities_refused(ts->tape) : NULL), 1;
}

/* drives(simulation): whether its steps go from event to event. */
static int core_adjoint_drives(lua_State *L) {
  return lua_pushboolean(L, nsl_check_simulation(L, 1)->ts->drives), 1;
}

/* same(simulation): whether there is a record of the model as it is now. Raises when the simulation is closed. */
static int core_adjoint_same(lua_State *L) {
  const NsTimeStepping *ts = nsl_idle_simulation(L, 1, "gradient")->ts;
  return lua_pushboolean(L, ts->tape && ns_sensitivities_same(ts->tape, ts->nsds)), 1;
}

static int core_adjoint_close(lua_State *L) {
  NsTimeStepping *ts = nsl_check_simulation(L, 1)->ts;
  if (ts->tape && ns_sensitivities_same(ts->tape, ts->nsds)) ns_sensitivities_rewind(ts->tape);
  ns_sensitivities_free(ts->tape);
  ts->tape = NULL;
  return 0;
}

/* nodes(): the nodes of an interval, in [0, 1]. */
static int core_adjoint_nodes(lua_State *L) {
  lua_createtable(L, NS_BERNSTEIN_SIZE, 0);
  for (int k = 0; k < NS_BERNSTEIN_SIZE; k++)
    lua_pushnumber(L, k + 1 < NS_BERNSTEIN_SIZE ? ns_bernstein_node(k) : 1), lua_rawseti(L, -2, k + 1);
  return 1;
}

/* resolve(numbers at the nodes): their mean over the interval, its errors, the largest sizes. */
static int core_adjoint_resolve(lua_State *L) {
  lua_settop(L, 1);
  int n;
  const double *of = node_numbers(L, 1, &n);
  double *mean = nsl_push_vector(L, n, NULL)->data, *error = nsl_push_vector(L, n, NULL)->data;
  double *most = nsl_push_vector(L, n, NULL)->data;
  for (int i = 0; i < n; i++) {
    double v[NS_BERNSTEIN_SIZE], b[NS_BERNSTEIN_SIZE];
    for (int k = 0; k < NS_BERNSTEIN_SIZE; k++) {
      v[k] = of[i + (ptrdiff_t)k * n];
      most[i] = fmax(most[i], fabs(v[k]));
    }
    if (most[i] == 0) continue;
    error[i] = ns_adjoint_integral_error(ns_bernstein_interpolate(v, b), most[i]);
    for (int k = 0; k < NS_BERNSTEIN_SIZE; k++) mean[i] += b[k] / NS_BERNSTEIN_SIZE;
  }
  return 3;
}

void nsl_open_adjoint(lua_State *L) {
#define ROW(name)                                                                                                              \
  { #name, core_adjoint_##name }
  static const luaL_Reg functions[] = {
      ROW(times),    ROW(start),  ROW(back),    ROW(events), ROW(cross),   ROW(steps_start), ROW(steps_add), ROW(steps_back),
      ROW(rates),    ROW(guard),  ROW(fresh),   ROW(values), ROW(refused), ROW(close),       ROW(nodes),     ROW(resolve),
      ROW(gradient), ROW(drives), ROW(earlier), ROW(state),  ROW(memory),  ROW(same),        ROW(reads),     {NULL, NULL}};
  luaL_newlib(L, functions);
  nsl_open_cost_trace(L);
  lua_setfield(L, -2, "adjoint");
}
