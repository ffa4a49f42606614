/*
** cost_trace.c
** A cost of simulation:gradient as a tape: its values and derivatives at the nodes of an interval (core.adjoint.trace, sample).
*/
#include <math.h>
#include <string.h>

#include "bind/array/vector.h"
#include "bind/diff/compile.h"
#include "bind/simulation/sensitivities.h"
#include "simulation/sensitivities.h"
#include "ode/bernstein.h"

/* The arguments of a cost: t, x and, in a function of three arguments, p. */
enum { COST_TIME, COST_STATES, COST_PARAMETERS };

/*
** trace(cost, t, x, p): the tape of the function, as an object; p nil: it has two arguments. Nil where the function can not be traced, or
** the tape has another value there.
*/
static int cost_trace_make(lua_State *L) {
  lua_settop(L, 4);
  const NslVector *x = nsl_check_vector(L, 3), *p = lua_isnil(L, 4) ? NULL : nsl_check_vector(L, 4);
  NslTraceArg args[NS_PATHS_ARGS] = {{NSL_TRACE_NUMBER, 1, 1, "t", 0}, {NSL_TRACE_VECTOR, x->n, 1, "x", 0}};
  if (p) args[COST_PARAMETERS] = (NslTraceArg){NSL_TRACE_VECTOR, p->n, 1, "p", 0};
  double *in = lua_newuserdatauv(L, (size_t)(1 + x->n + (p ? p->n : 0)) * sizeof *in, 0);
  in[0] = luaL_checknumber(L, 2);
  nsl_vector_read(x, in + 1);
  if (p) nsl_vector_read(p, in + 1 + x->n);
  NslTrace *trace = nsl_push_plain_trace(L, 1, p ? 3 : 2, args, in, true);
  if (!trace || trace->result != NSL_RESULT_NUMBERS || trace->fn.outputs != 1) return lua_pushnil(L), 1;
  memcpy(trace->fn.in, in, (size_t)trace->fn.inputs * sizeof *in);
  return 1;
}

/* Whether the function at stack index `cost` has the tape's value at the inputs of the trace. */
static bool cost_agrees(lua_State *L, int cost, NslTrace *trace) {
  const double *in = trace->fn.in + 1;
  lua_pushvalue(L, cost);
  lua_pushnumber(L, trace->fn.in[0]);
  for (int a = COST_STATES; a < trace->fn.nargs; in += trace->args[a++].rows)
    memcpy(nsl_push_vector(L, trace->args[a].rows, NULL)->data, in, (size_t)trace->args[a].rows * sizeof *in);
  lua_call(L, trace->fn.nargs, 1);
  double plain = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : NAN;
  lua_pop(L, 1);
  return isfinite(plain) && ns_paths_agrees(&trace->fn, &plain);
}

/*
** sample(simulation, trace, cost, a, b, check): vectors of the values at the nodes of [a, b], of the derivatives by x, node after node, and
** of those by p, or nil. `check`: the number of a node where the tape is compared with the function, last, as it may do anything. Nothing
** when the two differ, or a number is not finite.
*/
static int cost_trace_sample(lua_State *L) {
  const NsSensitivities *s = nsl_check_recorded(L);
  NslTrace *trace = lua_touserdata(L, 2);
  double a = luaL_checknumber(L, 4), b = luaL_checknumber(L, 5), one = 1;
  int check = (int)luaL_checkinteger(L, 6), np = trace->fn.nargs > COST_PARAMETERS ? trace->args[COST_PARAMETERS].rows : 0;
  int nx = trace->args[COST_STATES].rows;
  NsError err = {NS_OK, ""};
  double *bar = lua_newuserdatauv(L, 2 * (size_t)trace->fn.inputs * sizeof *bar, 0), *checked = bar + trace->fn.inputs;
  double *of_value = nsl_push_vector(L, NS_BERNSTEIN_SIZE, NULL)->data;
  double *by_x = nsl_push_vector(L, NS_BERNSTEIN_SIZE * nx, NULL)->data;
  double *by_p = np > 0 ? nsl_push_vector(L, NS_BERNSTEIN_SIZE * np, NULL)->data : NULL;
  if (!by_p) lua_pushnil(L);
  for (int k = 0; k < NS_BERNSTEIN_SIZE; k++) {
    bool last = k + 1 == NS_BERNSTEIN_SIZE;
    double t = trace->fn.in[0] = last ? b : a + ns_bernstein_node(k) * (b - a);
    if (ns_sensitivities_state(s, t, t >= b, trace->fn.in + 1, &err) != NS_OK) return nsl_raise(L, &err);
    if (k == check) memcpy(checked, trace->fn.in, (size_t)trace->fn.inputs * sizeof *checked);
    if (!ns_paths_value(&trace->fn, &of_value[k])) return 0;
    if (!ns_paths_vjp(&trace->fn, trace->fn.in, &one, bar) || !isfinite(of_value[k])) return 0;
    memcpy(by_x + (ptrdiff_t)k * nx, bar + 1, (size_t)nx * sizeof *bar);
    if (by_p) memcpy(by_p + (ptrdiff_t)k * np, bar + 1 + nx, (size_t)np * sizeof *bar);
  }
  memcpy(trace->fn.in, checked, (size_t)trace->fn.inputs * sizeof *checked);
  return cost_agrees(L, 3, trace) ? 3 : 0;
}

/* Rows between two comparisons of the tape with the function. 16: a call then takes little beside the tape. */
enum { ROWS_BETWEEN = 16 };

/*
** rows(trace, cost, t, x): of the trapezoidal rule on the rows (t, x), vectors or lists: the value; a vector of the derivatives by x, row after
** row; of those by p, or nil. The tape is compared with the function in some rows. Nothing when the two differ, or a number is not finite.
*/
static int cost_trace_rows(lua_State *L) {
  NslTrace *trace = lua_touserdata(L, 1);
  lua_settop(L, 4);
  int nx = trace->args[COST_STATES].rows, np = trace->fn.nargs > COST_PARAMETERS ? trace->args[COST_PARAMETERS].rows : 0;
  lua_Integer count = luaL_len(L, 3);
  double one = 1, sum = 0, value;
  double *bar = lua_newuserdatauv(L, (2 * (size_t)trace->fn.inputs + (size_t)count + 1) * sizeof *bar, 0);
  double *in = bar + trace->fn.inputs, *t = in + trace->fn.inputs;
  memcpy(in, trace->fn.in, (size_t)trace->fn.inputs * sizeof *in);
  for (lua_Integer k = 0; k < count; k++) lua_geti(L, 3, k + 1), t[k] = lua_tonumber(L, -1), lua_pop(L, 1);
  double *by_x = nsl_push_vector(L, (int)count * nx, NULL)->data;
  double *by_p = np > 0 ? nsl_push_vector(L, np, NULL)->data : NULL;
  if (!by_p) lua_pushnil(L);
  for (lua_Integer k = 0; k < count; k++) {
    double weight = (t[k + 1 < count ? k + 1 : k] - t[k > 0 ? k - 1 : 0]) / 2;
    lua_geti(L, 4, k + 1);
    in[0] = t[k];
    nsl_vector_read(nsl_check_vector(L, -1), in + 1);
    lua_pop(L, 1);
    memcpy(trace->fn.in, in, (size_t)trace->fn.inputs * sizeof *in);
    if ((k % ROWS_BETWEEN == 0 || k + 1 == count) && !cost_agrees(L, 2, trace)) return 0;
    memcpy(trace->fn.in, in, (size_t)trace->fn.inputs * sizeof *in);
    if (!ns_paths_value(&trace->fn, &value)) return 0;
    if (!ns_paths_vjp(&trace->fn, trace->fn.in, &one, bar) || !isfinite(value)) return 0;
    sum += weight * value;
    for (int i = 0; i < nx; i++) by_x[k * nx + i] = weight * bar[1 + i];
    for (int i = 0; i < np; i++) by_p[i] += weight * bar[1 + nx + i];
  }
  lua_pushnumber(L, sum);
  return lua_insert(L, -3), 3;
}

void nsl_open_cost_trace(lua_State *L) {
  nsl_set_cfunction(L, "trace", cost_trace_make);
  nsl_set_cfunction(L, "sample", cost_trace_sample);
  nsl_set_cfunction(L, "rows", cost_trace_rows);
}
