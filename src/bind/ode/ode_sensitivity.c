/*
** ode_sensitivity.c
** The parameters of sensitivities, and the derivatives of f, of event functions and of apply by dual numbers.
*/
#include "bind/ode/ode_sensitivity.h"

#include <string.h>

#include "bind/array/matrix.h"
#include "bind/diff/ad.h"
#include "bind/diff/tape.h"
#include "linalg/dense.h"

/* ---- shims: functions of (t,) y, w that call f(t, y, args ...) with the numbers of w in args ---- */

/* Upvalues of a shim. */
enum { SHIM_FUNCTION = 1, SHIM_DATA, SHIM_ARGS, SHIM_KIND };

/*
** Kinds of shims: of f, (t, y, w [, out]); of a function of t, y and args: (y, w), where w[1] is the time, and nil as a result stands
** for y; of a function of y and args: the same, without the time.
*/
enum { SHIM_RATE, SHIM_TIMED, SHIM_TIMELESS };

/* Pushes the elements first + 1 .. first + count of the vector or dual vector at idx, as the argument was: a list, or a vector. */
static void push_shim_argument(lua_State *L, int w, int first, const NslSensitivityArg *arg) {
  if (arg->number) {
    lua_geti(L, w, first + 1);
    return;
  }
  if (arg->list) {
    lua_createtable(L, arg->count, 0);
    for (int k = 0; k < arg->count; k++) lua_geti(L, w, first + k + 1), lua_rawseti(L, -2, k + 1);
    return;
  }
  lua_getfield(L, w, "slice");
  lua_pushvalue(L, w);
  lua_pushinteger(L, first + 1);
  lua_pushinteger(L, first + arg->count);
  lua_call(L, 3, 1);
}

/* Pushes the arguments `args`, those that are parameters from w. Returns their number. */
static int push_shim_arguments(lua_State *L, const NslSensitivity *s, int w, int shift) {
  for (int i = 0; i < s->ode->nargs; i++) {
    const NslSensitivityArg *arg = &s->args[i];
    if (arg->count > 0) push_shim_argument(L, w, shift + arg->first, arg);
    else lua_rawgeti(L, lua_upvalueindex(SHIM_ARGS), i + 1);
  }
  return s->ode->nargs;
}

static int sensitivity_shim(lua_State *L) {
  const NslSensitivity *s = lua_touserdata(L, lua_upvalueindex(SHIM_DATA));
  int kind = (int)lua_tointeger(L, lua_upvalueindex(SHIM_KIND)), top = lua_gettop(L), y = kind == SHIM_RATE ? 2 : 1, count = 1;
  nsl_need_stack(L, NSL_ODE_ARGS + 8);
  lua_pushvalue(L, lua_upvalueindex(SHIM_FUNCTION));
  if (kind == SHIM_TIMED) lua_geti(L, 2, 1), count++;
  if (kind == SHIM_RATE) lua_pushvalue(L, 1), count++;
  lua_pushvalue(L, y);
  count += push_shim_arguments(L, s, y + 1, kind != SHIM_RATE);
  if (kind == SHIM_RATE && top >= 4) lua_pushvalue(L, 4), count++;
  lua_call(L, count, 1);
  if (kind == SHIM_TIMED && lua_isnil(L, -1)) lua_pushvalue(L, y);
  return 1;
}

static void push_shim(lua_State *L, NslSensitivity *s, int idx, int kind) {
  lua_pushvalue(L, idx);
  lua_pushlightuserdata(L, s);
  if (s->ode->nargs > 0) lua_pushvalue(L, s->ode->args);
  else lua_pushnil(L);
  lua_pushinteger(L, kind);
  lua_pushcclosure(L, sensitivity_shim, SHIM_KIND);
}

/* Pushes the list of the shims of the functions in the list at `list` (false: none). */
static void push_shims(lua_State *L, NslSensitivity *s, int list, int count) {
  lua_createtable(L, count, 0);
  for (int e = 1; e <= count; e++) {
    lua_rawgeti(L, list, e);
    if (lua_toboolean(L, -1)) push_shim(L, s, lua_gettop(L), SHIM_TIMED), lua_remove(L, -2);
    lua_rawseti(L, -2, e);
  }
}

/* ---- derivatives ---- */

/* A call with dual numbers: arguments of a C function. */
typedef struct SensitivityCall {
  const NslDualCall *call;
} SensitivityCall;

/* Arguments: the SensitivityCall, the function. */
static int sensitivity_run(lua_State *L) {
  const SensitivityCall *c = lua_touserdata(L, 1);
  nsl_dual_run(L, c->call);
  return 0;
}

/* Derivatives of the shim at stack index `function`: by y (NULL: not wanted) and w. */
static NsStatus sensitivity_call(NslSensitivity *s, int function, bool timed, double t, const double *y, const char *label,
                                 int nout, const double *plain, double *by_y, double *by_w, NsError *err) {
  NslDualArg args[2] = {{"y", 0, s->n, y, by_y}, {timed ? "(t, args)" : "args", 0, s->numbers + timed, s->w + !timed, by_w}};
  NslDualCall call = {.function = 2,
                      .has_time = !timed,
                      .returns = timed || s->ode->returns,
                      .t = t,
                      .nargs = 2,
                      .args = args,
                      .outlabel = label,
                      .nout = nout,
                      .plain = plain};
  SensitivityCall c = {&call};
  s->w[0] = t;
  return nsl_ode_protected(s->ode, sensitivity_run, &c, function, t, err);
}

/* Adds the columns of the parameters in the arguments (rows x numbers) to the columns of all parameters. */
static void spread_columns(const NslSensitivity *s, int rows, const double *by_w, double *to) {
  for (int j = 0; j < s->p; j++) {
    int k = s->column[j] - s->n;
    if (k >= 0) memcpy(to + (ptrdiff_t)j * rows, by_w + (ptrdiff_t)k * rows, (size_t)rows * sizeof *to);
  }
}

/* J and P (NULL: not wanted) by the trace of f; false when there is none, or a derivative is not finite. */
static bool traced_terms(NslSensitivity *s, double t, const double *y, double *J, double *P, NsStatus *status, NsError *err) {
  NslOde *ode = s->ode;
  size_t n = (size_t)s->n;
  if (!nsl_ode_shadow_holds_f(ode, &s->f_shadow, t, y, status, err)) return false;
  if (!ns_paths_jacobian_of(&s->f_shadow.trace->fn, 1, P ? s->last - 1 : s->n, s->all)) return false;
  memcpy(J, ode->matrix ? ode->matrix : s->all, n * n * sizeof *J);
  for (int j = 0; P && j < s->p; j++)
    if (s->input[j] >= 0) memcpy(P + (size_t)j * n, s->all + (size_t)(s->input[j] - 1) * n, n * sizeof *P);
  return true;
}

static NsStatus sensitivity_terms(void *context, double t, const double *y, double *J, double *P, NsError *err) {
  NslSensitivity *s = context;
  NslOde *ode = s->ode;
  NsStatus status;
  bool by_args = P && s->numbers > 0, given = ode->jac || ode->matrix || ode->pattern || !by_args;
  if (traced_terms(s, t, y, J, by_args ? P : NULL, &status, err) || status != NS_OK) return status;
  status = given ? nsl_ode_jacobian(ode, t, y, J, err) : NS_OK;
  if (status != NS_OK || !by_args) return status;
  status = nsl_ode_rate(ode, t, y, ode->plain, err);
  if (status == NS_OK) status = sensitivity_call(s, s->f, false, t, y, "f", s->n, ode->plain, given ? NULL : J, s->by_w, err);
  if (status == NS_OK) spread_columns(s, s->n, s->by_w, P);
  return status;
}

/* Copies the derivatives by the parameters from those by all inputs. */
static void take_vjp(const NslSensitivity *s, double *to) {
  for (int j = 0; j < s->p; j++) to[j] = s->input[j] >= 0 ? s->bar[s->input[j]] : 0;
}

/* The derivatives of an event by one sweep of its trace. */
static NsStatus vjp_of_event(NslSensitivity *s, struct NslTrace *trace, double t, const double *y, double *gt, double *gy,
                             double *gp, NsError *err) {
  const double one = 1;
  NsStatus status = nsl_ode_vjp(s->ode, trace, t, y, &one, s->bar, err);
  if (status != NS_OK) return status;
  *gt = s->bar[0];
  memcpy(gy, s->bar + 1, (size_t)s->n * sizeof *gy);
  take_vjp(s, gp);
  return NS_OK;
}

static NsStatus sensitivity_event(void *context, int event, double t, const double *y, double *gt, double *gy, double *gp,
                                  NsError *err) {
  NslSensitivity *s = context;
  lua_State *L = s->ode->L;
  double g;
  if (s->ode->event_trace && s->ode->event_trace[event])
    return vjp_of_event(s, s->ode->event_trace[event], t, y, gt, gy, gp, err);
  NsStatus status = nsl_ode_event(s->ode, event, t, y, &g, err);
  if (status != NS_OK) return status;
  lua_rawgeti(L, s->events, event + 1);
  status = sensitivity_call(s, lua_gettop(L), true, t, y, "g", 1, &g, gy, s->by_w, err);
  lua_pop(L, 1);
  *gt = s->by_w[0];
  if (status == NS_OK) spread_columns(s, 1, s->by_w + 1, gp);
  return status;
}

static NsStatus sensitivity_reset(void *context, int event, double t, const double *y, const double *after, double *Rt,
                                  double *Ry, double *Rp, NsError *err) {
  NslSensitivity *s = context;
  lua_State *L = s->ode->L;
  s->f_shadow.changed = s->cost_shadow.changed = true;
  lua_rawgeti(L, s->applies, event + 1);
  NsStatus status = sensitivity_call(s, lua_gettop(L), true, t, y, "apply", s->n, after, Ry, s->by_w, err);
  lua_pop(L, 1);
  if (status != NS_OK) return status;
  memcpy(Rt, s->by_w, (size_t)s->n * sizeof *Rt);
  spread_columns(s, s->n, s->by_w + s->n, Rp);
  return NS_OK;
}

/* J' mu and P' mu with these matrices. */
static NsStatus vjp_by_terms(NslSensitivity *s, double t, const double *mu, double *Jmu, double *Pmu, NsError *err) {
  size_t n = (size_t)s->n, p = (size_t)s->p;
  memset(s->J, 0, n * n * sizeof *s->J);
  memset(s->P, 0, n * p * sizeof *s->P);
  NsStatus status = sensitivity_terms(s, t, s->y, s->J, s->P, err);
  for (size_t j = 0; j < n; j++) Jmu[j] = ns_dense_dot(s->n, s->J + j * n, 1, mu, 1);
  for (size_t j = 0; j < p; j++) Pmu[j] = ns_dense_dot(s->n, s->P + j * n, 1, mu, 1);
  return status;
}

NsStatus nsl_ode_vjp_rate(void *context, double t, const double *mu, double *Jmu, double *Pmu, NsError *err) {
  NslSensitivity *s = context;
  NsStatus status;
  ns_ivp_adjoint_state(s->adjoint, t, s->y);
  bool traced = nsl_ode_shadow_holds_f(s->ode, &s->f_shadow, t, s->y, &status, err);
  if (status != NS_OK) return status;
  if (!traced || !ns_paths_vjp(&s->f_shadow.trace->fn, s->f_shadow.trace->fn.in, mu, s->bar))
    return vjp_by_terms(s, t, mu, Jmu, Pmu, err);
  memcpy(Jmu, s->bar + 1, (size_t)s->n * sizeof *Jmu);
  take_vjp(s, Pmu);
  return NS_OK;
}

NsStatus nsl_ode_cost_value(void *context, double t, const double *y, double *value, NsError *err) {
  NslSensitivity *s = context;
  return nsl_ode_event(s->ode, s->ode->known->count, t, y, value, err);
}

NsStatus nsl_ode_cost_slopes(void *context, double t, const double *y, double *cy, double *cp, NsError *err) {
  NslSensitivity *s = context;
  double ct;
  NsStatus status;
  int cost = s->ode->known->count;
  bool traced = nsl_ode_shadow_holds_event(s->ode, &s->cost_shadow, cost, t, y, &status, err);
  if (status != NS_OK) return status;
  if (traced && vjp_of_event(s, s->cost_shadow.trace, t, y, &ct, cy, cp, err) == NS_OK) return NS_OK;
  return sensitivity_event(s, cost, t, y, &ct, cy, cp, err);
}

/* Calls the shim of terminal with plain vectors. Arguments: the NslSensitivity, the shim. */
static int call_terminal(lua_State *L) {
  NslSensitivity *s = lua_touserdata(L, 1);
  lua_pushvalue(L, 2);
  NslVector *y = nsl_push_vector(L, s->n, "y"), *w = nsl_push_vector(L, 1 + s->numbers, "args");
  memcpy(y->data, s->y, (size_t)s->n * sizeof *s->y);
  memcpy(w->data, s->w, (size_t)(1 + s->numbers) * sizeof *s->w);
  y->readonly = true;
  lua_call(L, 2, 1);
  if (lua_type(L, -1) != LUA_TNUMBER)
    return luaL_error(L, "%s: terminal: expected a number, got %s", s->ode->who, nsl_describe(L, -1));
  s->terminal = lua_tonumber(L, -1);
  return 0;
}

NsStatus nsl_ode_terminal(NslSensitivity *s, int idx, double t, const double *y, double *value, double *mu, double *gradient,
                          NsError *err) {
  lua_State *L = s->ode->L;
  push_shim(L, s, idx, SHIM_TIMELESS);
  int shim = lua_gettop(L);
  memcpy(s->y, y, (size_t)s->n * sizeof *y);
  NsStatus status = nsl_ode_protected(s->ode, call_terminal, s, shim, t, err);
  if (status == NS_OK) status = sensitivity_call(s, shim, true, t, s->y, "terminal", 1, &s->terminal, mu, s->by_w, err);
  lua_pop(L, 1);
  if (status != NS_OK) return status;
  *value = s->terminal;
  for (int j = 0; j < s->p; j++)
    if (s->column[j] >= s->n) gradient[j] += s->by_w[1 + s->column[j] - s->n];
  return NS_OK;
}

/* ---- reading ---- */

static const char expected[] = "'y0', 'y0[i]', 'args', 'args[i]' or 'args[i][k]'";

/* The name `which` (from 1) of the list at idx. */
static NsIvpName read_name(lua_State *L, const NslSensitivity *s, int idx, int which) {
  const NslOde *ode = s->ode;
  NsIvpName name;
  lua_rawgeti(L, idx, which);
  if (lua_type(L, -1) != LUA_TSTRING)
    luaL_error(L, "%s: %s[%d]: expected a name (%s), got %s", ode->who, s->option, which, expected, nsl_describe(L, -1));
  const char *text = lua_tostring(L, -1);
  if (!ns_ivp_parse_name(text, &name))
    luaL_error(L, "%s: %s[%d]: expected %s, got '%s'", ode->who, s->option, which, expected, text);
  if (!name.args && name.i > ode->n)
    luaL_error(L, "%s: %s[%d]: '%s': y0 has %d elements", ode->who, s->option, which, text, ode->n);
  if (name.args && (name.i > ode->nargs || ode->nargs == 0))
    luaL_error(L, "%s: %s[%d]: '%s': there are %d args", ode->who, s->option, which, text, ode->nargs);
  lua_pop(L, 1);
  return name;
}

/* The size of argument i (from 0): 1 for a number, the length of a vector or of a list of numbers; -1: it is none of these. */
static int size_of_parameter(lua_State *L, const NslOde *ode, int i, NslSensitivityArg *arg) {
  lua_rawgeti(L, ode->args, i + 1);
  int size = -1;
  const NslVector *v = nsl_test_vector(L, -1);
  *arg = (NslSensitivityArg){.number = lua_type(L, -1) == LUA_TNUMBER, .list = lua_istable(L, -1)};
  if (arg->number) size = 1;
  else if (v) size = (int)v->n;
  else if (arg->list) size = (int)lua_rawlen(L, -1);
  for (int k = 1; arg->list && k <= size; k++) {
    if (lua_rawgeti(L, -1, k) != LUA_TNUMBER) size = -1;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return size;
}

/* Gives argument i (from 0) its place in w. `named`: it must hold numbers; else it is left out if it does not. */
static void take_argument(lua_State *L, NslSensitivity *s, int i, bool named, int which) {
  NslSensitivityArg arg;
  if (s->args[i].count > 0) return;
  int size = size_of_parameter(L, s->ode, i, &arg);
  if (size < 0 && named)
    luaL_error(L, "%s: %s[%d]: args[%d]: expected a number, a vector or a list of numbers", s->ode->who, s->option, which,
               i + 1);
  if (size <= 0) return;
  arg.first = s->numbers;
  arg.count = size;
  s->args[i] = arg;
  s->numbers += size;
}

static void take_parameters(lua_State *L, NslSensitivity *s, int idx, int names) {
  for (int which = 1; which <= names; which++) {
    NsIvpName name = read_name(L, s, idx, which);
    for (int i = 0; name.args && i < s->ode->nargs; i++)
      if (name.i == 0 || name.i == i + 1) take_argument(L, s, i, name.i > 0, which);
    if (name.args && name.k > 0 && (s->args[name.i - 1].number || name.k > s->args[name.i - 1].count))
      luaL_error(L, "%s: %s[%d]: args[%d] has no element %d", s->ode->who, s->option, which, (int)name.i, (int)name.k);
  }
}

/* Adds y0[k + 1] (i = 0), or element k of argument i, to the list of parameters; column NULL: only counts it. */
static void add_sensitivity(lua_State *L, NslSensitivity *s, int i, int k) {
  const NslSensitivityArg *arg = i > 0 ? &s->args[i - 1] : NULL;
  int which = s->p++;
  if (!s->column) return;
  s->column[which] = arg ? s->n + arg->first + k : k;
  if (!arg) lua_pushfstring(L, "y0[%d]", k + 1);
  else if (arg->number) lua_pushfstring(L, "args[%d]", i);
  else lua_pushfstring(L, "args[%d][%d]", i, k + 1);
  lua_rawseti(L, s->names, which + 1);
}

/* Counts (column NULL), or lists, the parameters in their order. */
static void list_parameters(lua_State *L, NslSensitivity *s, int idx, int names) {
  s->p = 0;
  for (int which = 1; which <= names; which++) {
    NsIvpName name = read_name(L, s, idx, which);
    for (int k = 0; !name.args && k < s->n; k++)
      if (name.i == 0 || name.i == k + 1) add_sensitivity(L, s, 0, k);
    for (int i = 0; name.args && i < s->ode->nargs; i++) {
      const NslSensitivityArg *arg = &s->args[i];
      for (int k = 0; (name.i == 0 || name.i == i + 1) && k < arg->count; k++)
        if (name.k == 0 || name.k == k + 1) add_sensitivity(L, s, i + 1, k);
    }
  }
}

static void read_sensitivity_keys(lua_State *L, NslSensitivity *s, int idx) {
  for (lua_pushnil(L); lua_next(L, idx); lua_pop(L, 1)) {
    if (lua_type(L, -2) == LUA_TNUMBER) continue;
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : nsl_describe(L, -2);
    if (strcmp(key, "rtol") != 0 && strcmp(key, "on_grazing") != 0)
      luaL_error(L, "%s: %s: unknown option '%s' (known: rtol, on_grazing)", s->ode->who, s->option, key);
  }
  if (lua_getfield(L, idx, "rtol") != LUA_TNIL) {
    s->rtol = lua_type(L, -1) == LUA_TNUMBER ? lua_tonumber(L, -1) : 0;
    if (!(s->rtol > 0 && s->rtol < 1))
      luaL_error(L, "%s: %s: rtol: expected a number between 0 and 1, got %s", s->ode->who, s->option, nsl_describe(L, -1));
  }
  if (lua_getfield(L, idx, "on_grazing") != LUA_TNIL) {
    const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    s->one_sided = strcmp(text, "one-sided") == 0;
    if (!s->one_sided && strcmp(text, "error") != 0)
      luaL_error(L, "%s: %s: on_grazing: expected 'error' or 'one-sided', got %s", s->ode->who, s->option, nsl_describe(L, -1));
  }
  lua_pop(L, 2);
}

/* Pushes a block of doubles, zeroed. */
static double *push_doubles(lua_State *L, size_t count) {
  double *block = lua_newuserdatauv(L, (count + 1) * sizeof *block, 0);
  memset(block, 0, (count + 1) * sizeof *block);
  return block;
}

/* Copies the numbers of the arguments to w. */
static void read_numbers_of_args(lua_State *L, NslSensitivity *s) {
  for (int i = 0; i < s->ode->nargs; i++) {
    const NslSensitivityArg *arg = &s->args[i];
    if (arg->count == 0) continue;
    double *to = s->w + 1 + arg->first;
    lua_rawgeti(L, s->ode->args, i + 1);
    for (int k = 0; arg->list && k < arg->count; k++) lua_rawgeti(L, -1, k + 1), to[k] = lua_tonumber(L, -1), lua_pop(L, 1);
    if (arg->number) to[0] = lua_tonumber(L, -1);
    else if (!arg->list) nsl_vector_read(nsl_test_vector(L, -1), to);
    lua_pop(L, 1);
  }
}

/* Makes space for the derivatives by all inputs of the traces, and finds the parameters among these; t and y come first. */
static void take_inputs_of_traces(lua_State *L, NslSensitivity *s) {
  s->input = lua_newuserdatauv(L, ((size_t)s->p + 1) * sizeof *s->input, 0);
  for (int j = 0; j < s->p; j++) s->input[j] = -1;
  int at = 1 + s->n;
  for (int i = 0; s->ode->inputs && i < s->ode->nargs; i++) {
    lua_rawgeti(L, s->ode->args, i + 1);
    NslTraceArg arg;
    int size = nsl_trace_classify(L, lua_gettop(L), &arg) && nsl_trace_is_input(&arg) ? nsl_trace_size(&arg) : 0;
    lua_pop(L, 1);
    for (int j = 0; j < s->p; j++) {
      int k = s->column[j] - s->n - s->args[i].first;
      if (s->column[j] >= s->n && s->args[i].count > 0 && k >= 0 && k < s->args[i].count) s->input[j] = at + k;
    }
    at += size;
  }
  s->last = at;
  s->all = push_doubles(L, (size_t)at * (size_t)s->n);
  s->bar = push_doubles(L, (size_t)(at + s->n));
}

/* Traces f and the rate of a cost. A known pattern of a large Jacobian is worth more than a trace. */
static void take_shadows(NslSensitivity *s, int events, double t, const double *y) {
  NslOde *ode = s->ode;
  if (!ode->pattern || ode->trace) nsl_ode_shadow_f(ode, &s->f_shadow, t, y);
  if (events > ode->known->count) nsl_ode_shadow_event(ode, &s->cost_shadow, ode->known->count, t, y);
}

void nsl_ode_read_sensitivity(NslSensitivity *s, NslOde *ode, const char *option, int idx, int events, double t,
                              const double *y) {
  lua_State *L = ode->L;
  *s = (NslSensitivity){.ode = ode, .option = option, .n = ode->n};
  nsl_need_stack(L, 24);
  if (lua_type(L, idx) == LUA_TSTRING) {
    lua_createtable(L, 1, 0);
    lua_pushvalue(L, idx);
    lua_rawseti(L, -2, 1);
    lua_replace(L, idx);
  }
  if (!lua_istable(L, idx)) nsl_bad(L, ode->who, s->option, "a list of names", idx);
  int names = (int)lua_rawlen(L, idx);
  read_sensitivity_keys(L, s, idx);
  take_parameters(L, s, idx, names);
  list_parameters(L, s, idx, names);
  lua_createtable(L, s->p, 0);
  s->names = lua_gettop(L);
  s->column = lua_newuserdatauv(L, ((size_t)s->p + 1) * sizeof *s->column, 0);
  list_parameters(L, s, idx, names);
  if (s->p == 0) luaL_error(L, "%s: %s: expected at least one parameter (%s)", ode->who, s->option, expected);
  size_t n = (size_t)s->n, numbers = (size_t)s->numbers;
  s->w = push_doubles(L, numbers + 1);
  s->S0 = push_doubles(L, n * (size_t)s->p);
  s->by_w = push_doubles(L, n * (numbers + 1) + numbers + 1);
  s->y = push_doubles(L, n);
  s->J = push_doubles(L, n * n);
  s->P = push_doubles(L, n * (size_t)s->p);
  take_shadows(s, events, t, y);
  take_inputs_of_traces(L, s);
  read_numbers_of_args(L, s);
  for (int j = 0; j < s->p; j++)
    if (s->column[j] < s->n) s->S0[s->column[j] + (ptrdiff_t)j * s->n] = 1;
  push_shim(L, s, ode->f, SHIM_RATE), s->f = lua_gettop(L);
  push_shims(L, s, ode->events, events), s->events = lua_gettop(L);
  push_shims(L, s, ode->applies, events), s->applies = lua_gettop(L);
  s->derivatives = (NsIvpDerivatives){s->p, s, sensitivity_terms, sensitivity_event, sensitivity_reset};
}

void nsl_ode_check_jacobian(NslSensitivity *s, const NsOdeProblem *problem, double t, const double *y) {
  NslOde *ode = s->ode;
  NsError err = {NS_OK, ""};
  size_t entries = (size_t)s->n * (size_t)s->n;
  if (!ode->jac && !ode->matrix) return;
  double *given = push_doubles(ode->L, entries), *exact = push_doubles(ode->L, entries);
  if (nsl_ode_jacobian(ode, t, y, given, &err) != NS_OK) return; /* the run tells it */
  if (nsl_ode_rate(ode, t, y, ode->plain, &err) != NS_OK) return;
  if (sensitivity_call(s, s->f, false, t, y, "f", s->n, ode->plain, exact, s->by_w, &err) != NS_OK) return;
  int i, j, n = s->n;
  if (!ns_ivp_jacobian_differs(problem, n, y, given, exact, &i, &j)) return;
  nsl_error(ode->L, "%s: %s: jac[%d][%d] is %f, the derivative of f is %f (t=%f): jac must be exact", ode->who, s->option,
            i + 1, j + 1, given[i + (ptrdiff_t)j * n], exact[i + (ptrdiff_t)j * n], t);
}

/* ---- the result ---- */

static void push_rows_of_times(lua_State *L, const NsIvpRows *rows) {
  NslMatrix *m = nsl_push_matrix(L, rows->count, rows->width, NULL);
  for (long k = 0; k < rows->count; k++)
    for (int j = 0; j < rows->width; j++) m->data[k + (ptrdiff_t)j * m->ld] = rows->row[k * rows->width + j];
}

void nsl_ode_push_sensitivity(const NslSensitivity *s, const NsIvpSensitivity *values, int result, bool events) {
  lua_State *L = s->ode->L;
  const NsIvpRows *S = &values->S;
  lua_createtable(L, (int)S->count, 0);
  for (long k = 0; k < S->count; k++) {
    NslMatrix *m = nsl_push_matrix(L, values->n, values->p, NULL);
    for (int j = 0; j < values->p; j++)
      for (int i = 0; i < values->n; i++)
        m->data[i + (ptrdiff_t)j * m->ld] = S->row[(ptrdiff_t)k * S->width + i + (ptrdiff_t)j * values->n];
    lua_rawseti(L, -2, k + 1);
  }
  lua_setfield(L, result, "S");
  lua_pushvalue(L, s->names);
  lua_setfield(L, result, "sensitivities");
  if (!events) return;
  lua_createtable(L, values->events, 0);
  for (int e = 0; e < values->events; e++) push_rows_of_times(L, &values->dt[e]), lua_rawseti(L, -2, e + 1);
  lua_setfield(L, result, "dt_events");
}
