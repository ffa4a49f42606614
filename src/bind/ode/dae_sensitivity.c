/*
** dae_sensitivity.c
** Sensitivities of ns.dae: lua/nslua/dae_sensitivity.lua calls these.
*/
#include "bind/ode/dae_solver.h"

#include <string.h>

#include "bind/array/matrix.h"
#include "ode/saltation.h"

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

/* ---- the trace of the residual ---- */

/* inputs: t, y, y', the arguments, and zeros for the output; plain: values of the residual; all: its derivatives by y, y', arguments. */
typedef struct NslDaeTraceRoom {
  int count; /* of inputs without the output */
  double *inputs, *plain, *all;
  int *input; /* of each parameter: its input; -1: a start */
} NslDaeTraceRoom;

/* Lists the arguments of the residual; those in the list at `args` are pushed. -1: too many, or one is no plain value. */
static int dae_list_arguments(lua_State *L, const NslDae *s, int args, NslTraceArg *list) {
  int count = (int)lua_rawlen(L, args), nargs = 0;
  if (count + 4 > NS_PATHS_ARGS) return -1;
  nsl_need_stack(L, count + 16);
  list[nargs++] = (NslTraceArg){NSL_TRACE_NUMBER, 1, 1, "t", 0};
  list[nargs++] = (NslTraceArg){NSL_TRACE_VECTOR, s->n, 1, "y", 0};
  list[nargs++] = (NslTraceArg){NSL_TRACE_VECTOR, s->n, 1, "yd", 0};
  for (int i = 1; i <= count; i++) {
    lua_rawgeti(L, args, i);
    if (!nsl_trace_classify(L, lua_gettop(L), &list[nargs++])) return -1;
  }
  list[nargs++] = (NslTraceArg){NSL_TRACE_VECTOR, s->n, 1, "res", 0};
  return nargs;
}

/* Allocates the arrays, and sets the inputs of the arguments. `which`: a list of {argument, element} of each parameter, or false. */
static void dae_take_trace_room(lua_State *L, NslDae *s, int nargs, const NslTraceArg *list, int which) {
  int first[NS_PATHS_ARGS], n = s->n, at = 0;
  for (int a = 0; a < nargs; a++) first[a] = at, at += nsl_trace_size(&list[a]);
  NslDaeTraceRoom *room = s->room = ns_arena_take(&s->arena, 1, sizeof *room);
  if (!room) luaL_error(L, "not enough memory");
  room->count = at - n;
  room->inputs = ns_arena_doubles(&s->arena, at);
  room->plain = ns_arena_doubles(&s->arena, n);
  room->all = ns_arena_matrix(&s->arena, n, at);
  room->input = ns_arena_ints(&s->arena, s->parameters);
  if (s->arena.failed) luaL_error(L, "not enough memory");
  for (int a = 3; a < nargs - 1; a++)
    if (nsl_trace_is_input(&list[a])) nsl_trace_read(L, &list[a], room->inputs + first[a]);
  for (int j = 0; j < s->parameters; j++) {
    room->input[j] = -1;
    if (lua_rawgeti(L, which, j + 1) == LUA_TTABLE) {
      lua_rawgeti(L, -1, 1), lua_rawgeti(L, -2, 2);
      room->input[j] = first[2 + lua_tointeger(L, -2)] + (int)lua_tointeger(L, -1) - 1;
      lua_pop(L, 2);
    }
    lua_pop(L, 1);
  }
}

/* The inputs at a point. */
static const double *dae_inputs_at(NslDae *s, double t, const double *y, const double *yd) {
  size_t n = (size_t)s->n;
  double *in = s->room->inputs;
  in[0] = t;
  memcpy(in + 1, y, n * sizeof *y);
  memcpy(in + 1 + n, yd, n * sizeof *yd);
  return in;
}

/* Traces the residual at index `f`, a function of (t, y, y', args ..., out), if that is possible. */
static void dae_trace_residual(lua_State *L, NslDae *s, int f, int args, int which) {
  NslTraceArg list[NS_PATHS_ARGS];
  const NsDaeState *at = s->method->state(s->solver);
  bool compiled = nsl_is_compiled(L, f);
  s->shadow = (NslShadow){.plain = !compiled};
  int nargs = lua_istable(L, args) && (compiled || lua_isfunction(L, f)) ? dae_list_arguments(L, s, args, list) : -1;
  if (nargs < 0) return;
  dae_take_trace_room(L, s, nargs, list, which);
  const double *in = dae_inputs_at(s, at->t, at->y, at->yd);
  NslTrace *trace = compiled ? nsl_trace(L, f, nargs, list, in) : nsl_push_plain_trace(L, f, nargs, list, in, true);
  if (!trace || trace->result == NSL_RESULT_NOTHING || trace->fn.outputs != s->n) return;
  lua_pushvalue(L, compiled ? f : -1);
  lua_setiuservalue(L, 1, NSL_DAE_SHADOW);
  s->shadow.trace = trace;
}

static NsStatus dae_traced_jacobians(void *context, double t, const double *y, const double *yd, double *Fyd, double *Fy,
                                     double *P, bool *known, NsError *err) {
  NslDae *s = context;
  NslTrace *trace = s->shadow.trace;
  size_t n = (size_t)s->n, square = n * n;
  const double *args[NS_FUNCTION_ARGS] = {y, yd, NULL};
  if (!trace) return NS_OK;
  if (nsl_shadow_asks(&s->shadow)) {
    NsStatus status = ns_callback_status(s->problem.residual.value(s->problem.residual.context, t, args, s->room->plain));
    if (status != NS_OK) return ns_fail(err, status, "the residual failed (t=%.10g)", t);
    memcpy(trace->fn.in, dae_inputs_at(s, t, y, yd), (size_t)trace->fn.inputs * sizeof *y);
    if (!ns_paths_agrees(&trace->fn, s->room->plain)) return s->shadow.trace = NULL, NS_OK;
  }
  memcpy(trace->fn.in, dae_inputs_at(s, t, y, yd), (size_t)trace->fn.inputs * sizeof *y);
  if (!ns_paths_jacobian_of(&trace->fn, 1, s->room->count - 1, s->room->all)) return NS_OK;
  *known = true;
  memcpy(Fy, s->room->all, square * sizeof *Fy);
  memcpy(Fyd, s->room->all + square, square * sizeof *Fyd);
  for (int j = 0; P && j < s->parameters; j++)
    if (s->room->input[j] >= 0) memcpy(P + (size_t)j * n, s->room->all + (size_t)(s->room->input[j] - 1) * n, n * sizeof *P);
  return NS_OK;
}

/* ---- functions ---- */

/*
** follow(solver, S, rtol (0: the solver's), by_parameters (t, y, yd) -> n x p; nil: dF/dparameters is 0; residual, args, which,
** parameters): residual, args and which are for its trace; parameters are the p numbers, 0 for initial values.
** Returns the part of its size below which the rate of a guard counts as 0.
*/
static int dae_follow(lua_State *L) {
  NslDae *s = nsl_check_dae(L);
  lua_settop(L, 8);
  double *S = take_sensitivity_matrix(L, s, 2);
  NsDaeSensitivityProblem problem = {.method = s->method, .solver = s->solver, .dae = s->problem, .p = s->parameters};
  problem.rtol = luaL_checknumber(L, 3);
  problem.context = s;
  const NslVector *values = nsl_to_finite_vector(L, 8, s->parameters, "dae", "parameters");
  double *parameters = lua_newuserdatauv(L, (size_t)s->parameters * sizeof *parameters + 1, 0);
  nsl_vector_read(values, parameters);
  problem.parameters = parameters;
  if (!lua_isnil(L, 4)) problem.by_parameters = dae_by_parameters;
  lua_pushvalue(L, 4);
  lua_setiuservalue(L, 1, NSL_DAE_BY_PARAMETERS);
  dae_trace_residual(L, s, 5, 6, 7);
  if (s->shadow.trace) problem.jacobians = dae_traced_jacobians;
  if (ns_dae_sensitivity_new(&s->sensitivity, &problem) != NS_OK) return luaL_error(L, "not enough memory");
  ns_dae_sensitivity_start(s->sensitivity, S);
  return lua_pushnumber(L, ns_crossing_part(s->problem.rtol)), 1;
}

/* jump(solver, S): S after an event; the solver has been restarted. */
static int dae_jump(lua_State *L) {
  NslDae *s = nsl_check_dae(L);
  s->shadow.changed = true; /* apply may have changed a variable of the residual */
  ns_dae_sensitivity_start(s->sensitivity, take_sensitivity_matrix(L, s, 2));
  return 0;
}

static NsStatus reach_time(NslDae *s, void *what, NsError *err) {
  return ns_dae_sensitivity_reach(s->sensitivity, *(double *)what, err);
}

static NsStatus go_to_time(NslDae *s, void *what, NsError *err) {
  return ns_dae_sensitivity_go_to(s->sensitivity, *(double *)what, err);
}

/* reach(solver, t): takes S to t, in the last step. */
static int dae_reach(lua_State *L) {
  return nsl_dae_to_time(L, reach_time);
}

/* go_to_with(solver, t): go_to with S. */
static int dae_go_to_with(lua_State *L) {
  return nsl_dae_to_time(L, go_to_time);
}

/* sensitivity(solver): S, the largest |y'| of each unknown since the last start, and its size. */
static int dae_sensitivity(lua_State *L) {
  NslDae *s = nsl_check_dae(L);
  NslMatrix *m = nsl_push_matrix(L, s->n, s->parameters, NULL);
  const double *S = ns_dae_sensitivity_matrix(s->sensitivity);
  for (int j = 0; j < s->parameters; j++)
    for (int i = 0; i < s->n; i++) m->data[i + (ptrdiff_t)j * m->ld] = S[i + (ptrdiff_t)j * s->n];
  nsl_dae_push_values(L, s->n, ns_dae_sensitivity_pace(s->sensitivity));
  nsl_dae_push_values(L, s->n, ns_dae_sensitivity_sizes(s->sensitivity));
  return 3;
}

void nsl_open_dae_sensitivity(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"follow", dae_follow},           {"jump", dae_jump}, {"reach", dae_reach}, {"go_to_with", dae_go_to_with},
      {"sensitivity", dae_sensitivity}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
