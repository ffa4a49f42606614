/*
** ode.c
** ns.solve_ivp: reads and checks arguments and options, and runs the solver.
*/
#include "bind/lua/open.h"

#include "bind/ode/ode_call.h"
#include "bind/ode/ode_result.h"
#include "bind/ode/ode_sensitivity.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ad/colour.h"
#include "bind/diff/compile.h"
#include "bind/lua/sigint.h"
#include "bind/lua/host.h"
#include "bind/array/sparse.h"
#include "bind/array/vector.h"
#include "bind/array/matrix.h"
#include "bind/lua/optional_module.h"

static const char who[] = "solve_ivp";

/* Stack indices in solve_ivp. */
enum {
  F = 1,
  SPAN,
  Y0,
  OPTIONS,
  METHOD,
  RTOL,
  ATOL,
  T_EVAL,
  DENSE_OUTPUT,
  EVENTS,
  MAX_STEP,
  FIRST_STEP,
  MAX_STEPS,
  JAC,
  ARGS,
  SPARSITY,
  SENSITIVITIES,               /* of ivp_gradient: its option parameters */
  COMPILE = SENSITIVITIES + 1, /* of solve_ivp, the others of ivp_gradient */
  COST = COMPILE,
  TERMINAL,
  Y,
  OUT,
  PLAIN,
  EVENT_LIST,
  APPLIES,
  NAMES,
  EVENT_DATA, /* first the list of directions, and behind it, for a while, the list of terminals */
  DENSE,
  TERMINALS = DENSE
};

#define SOLVE_OPTIONS                                                                                                          \
  "method", "rtol", "atol", "t_eval", "dense_output", "events", "max_step", "first_step", "max_steps", "jac", "args",          \
      "jac_sparsity"

/* In the order of the stack indices. */
static const char *const known[] = {SOLVE_OPTIONS, "sensitivities", "compile", NULL};
static const char *const known_of_gradient[] = {SOLVE_OPTIONS, "parameters", "cost", "terminal", NULL};

/* The positive number at idx, which may be infinite when `infinite`; `otherwise` for nil. */
static double positive(lua_State *L, int idx, const char *what, bool infinite, double otherwise) {
  if (lua_isnil(L, idx)) return otherwise;
  double value = lua_type(L, idx) == LUA_TNUMBER ? lua_tonumber(L, idx) : NAN;
  if (!(value > 0) || (!infinite && isinf(value))) {
    if (lua_type(L, idx) == LUA_TNUMBER) nsl_error(L, "%s: %s: expected a number above 0, got %f", who, what, value);
    nsl_bad(L, who, what, "a number above 0", idx);
  }
  return value;
}

static double not_negative(lua_State *L, const char *what, double value) {
  if (value < 0) nsl_error(L, "%s: %s: expected 0 or more, got %f", who, what, value);
  return value;
}

/* ---- tolerances ---- */

/* Reads rtol, and replaces the value at ATOL by the vector of absolute tolerances. */
static const double *bind_ode_read_tolerances(lua_State *L, int n, double *rtol) {
  *rtol = lua_isnil(L, RTOL) ? 1e-3 : not_negative(L, "rtol", nsl_finite(L, RTOL, who, "rtol"));
  *rtol = fmax(*rtol, 100 * DBL_EPSILON);
  NslVector *atol = nsl_push_vector(L, n, "atol");
  if (lua_isnil(L, ATOL) || lua_type(L, ATOL) == LUA_TNUMBER) {
    double value = lua_isnil(L, ATOL) ? 1e-6 : not_negative(L, "atol", nsl_finite(L, ATOL, who, "atol"));
    for (int i = 0; i < n; i++) atol->data[i] = value;
  } else {
    nsl_vector_read(nsl_to_finite_vector(L, ATOL, n, who, "atol"), atol->data);
    for (int i = 0; i < n; i++)
      if (atol->data[i] < 0) nsl_error(L, "%s: atol[%d]: expected 0 or more, got %f", who, i + 1, atol->data[i]);
  }
  lua_replace(L, ATOL);
  return atol->data;
}

/* ---- times ---- */

static void read_span(lua_State *L, NsIvpOptions *o) {
  double span[2];
  nsl_vector_read(nsl_to_finite_vector(L, SPAN, 2, who, "t_span"), span);
  o->t0 = span[0];
  o->tf = span[1];
}

/* Replaces the times at T_EVAL by a copy. */
static void read_t_eval(lua_State *L, NsIvpOptions *o) {
  if (lua_isnil(L, T_EVAL)) return;
  NslVector *given = nsl_to_finite_vector(L, T_EVAL, -1, who, "t_eval"), *t = nsl_push_vector(L, given->n, "t_eval");
  double sign = o->tf < o->t0 ? -1 : 1;
  nsl_vector_read(given, t->data);
  for (int i = 0; i < t->n; i++) {
    if (sign * (t->data[i] - o->t0) < 0 || sign * (t->data[i] - o->tf) > 0)
      nsl_error(L, "%s: t_eval[%d]: expected a time from %f to %f, got %f", who, i + 1, o->t0, o->tf, t->data[i]);
    if (i > 0 && sign * (t->data[i] - t->data[i - 1]) <= 0)
      nsl_error(L, "%s: t_eval[%d]: expected times in the order of integration, got %f after %f", who, i + 1, t->data[i],
                t->data[i - 1]);
  }
  o->t_eval = t->data;
  o->evals = t->n;
  lua_replace(L, T_EVAL);
}

static void read_steps(lua_State *L, NsIvpOptions *o) {
  double way = fabs(o->tf - o->t0);
  o->h_most = positive(L, MAX_STEP, "max_step", true, INFINITY);
  o->h_first = positive(L, FIRST_STEP, "first_step", false, 0);
  if (o->h_first > way) nsl_error(L, "%s: first_step: expected at most |tf - t0| = %f, got %f", who, way, o->h_first);
  lua_Integer most = lua_isnil(L, MAX_STEPS) ? 1000000 : nsl_integer(L, MAX_STEPS, who, "max_steps");
  if (most < 1) luaL_error(L, "%s: max_steps: expected 1 or more, got %I", who, most);
  o->steps_most = (long)most;
  if (!lua_isnil(L, DENSE_OUTPUT) && !lua_isboolean(L, DENSE_OUTPUT))
    nsl_bad(L, who, "dense_output", "a boolean", DENSE_OUTPUT);
  o->dense = lua_toboolean(L, DENSE_OUTPUT);
}

/* ---- events ---- */

/* Pushes the lists of functions, of applies and of names, and the block with the rest. */
static void read_events(lua_State *L, NsIvpOptions *o) {
  lua_settop(L, PLAIN);
  if (lua_isnil(L, EVENTS)) {
    for (int list = EVENT_LIST; list <= TERMINALS; list++) lua_newtable(L);
  } else {
    if (!nsl_push_hook(L, "events")) luaL_error(L, "%s: events: nslua is not loaded", who);
    lua_pushvalue(L, EVENTS);
    lua_pushstring(L, who);
    lua_call(L, 2, TERMINALS - PLAIN);
  }
  size_t size = lua_rawlen(L, EVENT_LIST);
  if (size > INT_MAX / 8) luaL_error(L, "%s: too many events", who);
  const char **name = lua_newuserdatauv(L, size * (sizeof *name + sizeof(long) + sizeof(int) + 1) + 1, 0);
  long *terminal = (long *)(void *)(name + size);
  int *direction = (int *)(void *)(terminal + size);
  bool *acts = (bool *)(void *)(direction + size);
  for (size_t e = 0; e < size; e++, lua_pop(L, 4)) {
    for (int list = APPLIES; list <= TERMINALS; list++) lua_rawgeti(L, list, (lua_Integer)e + 1);
    acts[e] = lua_toboolean(L, -4);
    name[e] = lua_tostring(L, -3); /* the list keeps it */
    direction[e] = (int)lua_tointeger(L, -2);
    terminal[e] = (long)lua_tointeger(L, -1);
    if (acts[e]) o->apply = nsl_ode_apply;
  }
  lua_replace(L, EVENT_DATA);
  lua_settop(L, EVENT_DATA);
  o->events.count = (int)size;
  o->events.direction = direction;
  o->events.terminal = terminal;
  o->events.names = name;
  o->events.acts = o->apply ? acts : NULL;
}

/* ---- the pattern of the Jacobian ---- */

/* Counts (row NULL) or stores the entries of each column of the matrix at SPARSITY. Returns their number. */
static int list_entries(lua_State *L, int n, int *colptr, int *row) {
  const NsSparse *sparse = nsl_test_sparse(L, SPARSITY);
  const NslMatrix *dense = sparse ? NULL : nsl_test_matrix(L, SPARSITY);
  int count = 0;
  for (int j = 0; j < n; j++) {
    colptr[j] = count;
    if (sparse) {
      for (int e = sparse->colptr[j]; e < sparse->colptr[j + 1]; e++, count++)
        if (row) row[count] = sparse->row[e];
      continue;
    }
    for (int i = 0; i < n; i++) {
      if (dense->data[i + (ptrdiff_t)j * dense->ld] == 0) continue;
      if (row) row[count] = i;
      count++;
    }
  }
  return colptr[n] = count;
}

/* Reads the pattern at SPARSITY: an n x n matrix, its rows, or a sparse matrix. */
static void take_sparsity(lua_State *L, int n) {
  const NsSparse *sparse = nsl_test_sparse(L, SPARSITY);
  if (sparse) {
    if (sparse->rows != n || sparse->cols != n)
      luaL_error(L, "%s: jac_sparsity: expected a %d x %d matrix, got a %d x %d one", who, n, n, sparse->rows, sparse->cols);
    return;
  }
  nsl_push_matrix_copy(L, nsl_to_finite_matrix(L, SPARSITY, n, n, who, "jac_sparsity"));
  lua_replace(L, SPARSITY);
}

static void *bind_ode_push_block(lua_State *L, size_t count, size_t size) {
  return lua_newuserdatauv(L, count * size + 1, 0);
}

/* Reads the option jac_sparsity; the pattern is pushed, and stays. NULL: not given. */
static const NslPattern *read_pattern(lua_State *L, int n) {
  if (lua_isnil(L, SPARSITY)) return NULL;
  take_sparsity(L, n);
  nsl_need_stack(L, 16);
  size_t count = (size_t)n;
  NslPattern *p = bind_ode_push_block(L, 1, sizeof *p);
  NsPattern *of = &p->of;
  of->n = n;
  of->colptr = bind_ode_push_block(L, count + 1, sizeof *of->colptr);
  of->row = bind_ode_push_block(L, (size_t)list_entries(L, n, of->colptr, NULL), sizeof *of->row);
  list_entries(L, n, of->colptr, of->row);
  of->colour = bind_ode_push_block(L, count, sizeof *of->colour);
  of->colours = ns_colour_columns(n, n, of->colptr, of->row, of->colour, bind_ode_push_block(L, count * count, 1));
  lua_pop(L, 1);
  p->seed = bind_ode_push_block(L, count * NSL_ODE_COLOURS, sizeof *p->seed);
  p->all = bind_ode_push_block(L, count * NSL_ODE_COLOURS, sizeof *p->all);
  p->direction = bind_ode_push_block(L, 3 * count, sizeof *p->direction);
  p->along = p->direction + n;
  p->sum = p->along + n;
  ns_pattern_direction(n, p->direction);
  return p;
}

/* Replaces a constant Jacobian at JAC by a copy. */
static void read_matrix(lua_State *L, NslOde *ode) {
  if (lua_isnil(L, JAC) || nsl_is_callback(L, JAC)) return;
  ode->jac = 0;
  ode->matrix = nsl_push_matrix_copy(L, nsl_to_finite_matrix(L, JAC, ode->n, ode->n, who, "jac"))->data;
  lua_replace(L, JAC);
}

/* The method at METHOD, if it belongs to the optional module; else NULL. */
static const NsStepperClass *find_optional(lua_State *L, const char *name) {
  char what[32];
  if (strcmp(name, "CVODE_BDF") != 0 && strcmp(name, "CVODE_Adams") != 0) return NULL;
  snprintf(what, sizeof what, "method '%s'", name);
  nsl_push_sundials(
      L, who, what,
      strcmp(name, "CVODE_BDF") == 0 ? "'BDF' and 'Radau' solve the same problems" : "'DOP853' solves the same problems");
  lua_getfield(L, -1, name);
  const NsStepperClass *method = lua_touserdata(L, -1);
  lua_pop(L, 2);
  return method;
}

static const NsStepperClass *read_method(lua_State *L) {
  if (lua_isnil(L, METHOD)) return ns_stepper_class("RK45");
  const char *name = lua_type(L, METHOD) == LUA_TSTRING ? lua_tostring(L, METHOD) : NULL, *names = ns_stepper_names();
  const NsStepperClass *method = name ? ns_stepper_class(name) : NULL;
  if (!method && name) method = find_optional(L, name);
  if (method) return method;
  if (name) lua_pushfstring(L, "'%s'", name);
  else lua_pushstring(L, nsl_describe(L, METHOD));
  luaL_error(L, "%s: method: expected one of %s, CVODE_BDF, CVODE_Adams, got %s", who, names, lua_tostring(L, -1));
  return NULL;
}

static int free_sensitivity(lua_State *L) {
  NsIvpSensitivity **box = lua_touserdata(L, 1);
  ns_ivp_sensitivity_free(*box);
  *box = NULL;
  return 0;
}

static int free_adjoint(lua_State *L) {
  NsIvpAdjoint **box = lua_touserdata(L, 1);
  ns_ivp_adjoint_free(*box);
  *box = NULL;
  return 0;
}

/* Pushes an empty box for a pointer, with a function that frees what is in it. */
static void *push_box(lua_State *L, lua_CFunction free_it) {
  void **box = lua_newuserdatauv(L, sizeof *box, 0);
  *box = NULL;
  lua_createtable(L, 0, 1);
  nsl_set_cfunction(L, "__gc", free_it);
  lua_setmetatable(L, -2);
  return box;
}

/* Reads the option, and makes the companion of the run; it is freed with a userdata on the stack. */
static NsIvpSensitivity *begin_sensitivity(lua_State *L, NslOde *ode, NslSensitivity *s, const NsStepperClass *method,
                                           const NsOdeProblem *problem, NsIvpOptions *o) {
  nsl_ode_read_sensitivity(s, ode, "sensitivities", SENSITIVITIES, o->events.count, o->t0, o->y0);
  nsl_ode_check_jacobian(s, problem, o->t0, o->y0);
  NsIvpSensitivity **box = push_box(L, free_sensitivity);
  NsIvpSensitivityOptions options = {&s->derivatives, s->S0, s->numbers > 0, s->rtol, s->one_sided};
  o->dense = true;
  NsStatus status = ns_ivp_sensitivity_new(box, method, problem, o, &options);
  if (status != NS_OK) nsl_raise_status(L, status, who);
  o->companion = &(*box)->companion;
  return *box;
}

/* A solve that is laid out on the stack. */
typedef struct IvpSolve {
  NslOde ode;
  NsIvpOptions options;
  NsOdeProblem problem;
  const NsStepperClass *method;
  NsIvp *ivp;
} IvpSolve;

static void read_solve(lua_State *L, IvpSolve *solve, const char *name, const char *const *names) {
  NslOde *ode = &solve->ode;
  NsIvpOptions *o = &solve->options;
  if (lua_type(L, SPAN) == LUA_TNUMBER) nsl_bad(L, name, "t_span", "{t0, tf}", SPAN);
  nsl_ode_lay_out(L, name, OPTIONS, names, TERMINAL - OPTIONS);
  nsl_ode_check_function(L, name, F, "f");
  *ode = (NslOde){.L = L,
                  .f = F,
                  .jac = JAC,
                  .args = ARGS,
                  .y = Y,
                  .out = OUT,
                  .events = EVENT_LIST,
                  .applies = APPLIES,
                  .who = name,
                  .value = "f(t, y)",
                  .derivative = "jac(t, y)"};
  *o = (NsIvpOptions){.events = {.value = nsl_ode_event, .context = ode}};
  solve->method = read_method(L);
  NslVector *y0 = nsl_ode_start(L, name, Y0, "y0");
  o->y0 = y0->data;
  read_span(L, o);
  read_t_eval(L, o);
  read_steps(L, o);
  solve->problem = (NsOdeProblem){.n = y0->n, .rate = nsl_ode_rate, .context = ode, .jacobian = nsl_ode_jacobian};
  solve->problem.atol = bind_ode_read_tolerances(L, y0->n, &solve->problem.rtol);
  nsl_ode_read_callbacks(L, ode, y0->n, "y", "ydot");
  read_matrix(L, ode);
  read_events(L, o);
  ode->known = &o->events;
  solve->ivp = nsl_push_dense(L, y0->n, solve->method->rows, o->events.count);
  nsl_need_stack(L, NSL_ODE_ARGS + 48);
  ode->pattern = read_pattern(L, y0->n);
}

static void run_solve(lua_State *L, IvpSolve *solve) {
  NsError err = {NS_OK, ""};
  NslGuard guard;
  nsl_guard_begin(&guard, L);
  NsStatus status = ns_ivp_run(solve->ivp, solve->method, &solve->problem, &solve->options, &err);
  nsl_guard_end(&guard, L);
  if (status == NS_ENOSOL) luaL_error(L, "%s: %s", solve->ode.who, err.text);
  if (status != NS_OK) nsl_raise_step(L, &err);
}

/*
** ns.solve_ivp(f, {t0, tf}, y0 [, options]): y' = f(t, y), y(t0) = y0. f returns the derivatives, or fills its last
** argument.
*/
static int solve_ivp(lua_State *L) {
  IvpSolve solve;
  NslSensitivity sensitivity;
  NsIvpSensitivity *along = NULL;
  read_solve(L, &solve, who, known);
  solve.ode.compile = nsl_compile_request(L, COMPILE, who);
  nsl_ode_compile(&solve.ode, solve.options.t0, solve.options.y0);
  if (!lua_isnil(L, SENSITIVITIES))
    along = begin_sensitivity(L, &solve.ode, &sensitivity, solve.method, &solve.problem, &solve.options);
  run_solve(L, &solve);
  nsl_push_ivp(L, DENSE, lua_toboolean(L, DENSE_OUTPUT), !lua_isnil(L, EVENTS));
  if (along) nsl_ode_push_sensitivity(&sensitivity, along, lua_gettop(L), !lua_isnil(L, EVENTS));
  return 1;
}

/* The adjoint pass from the end of the run: pushes value and gradient. */
static void push_gradient(lua_State *L, IvpSolve *solve, NslSensitivity *s, NsIvpAdjoint *adjoint) {
  const NsIvpPoints *knots = &solve->ivp->knots;
  int n = s->n;
  double value = 0;
  double *mu = nsl_push_vector(L, n, NULL)->data, *end = nsl_push_vector(L, n, NULL)->data;
  NslVector *gradient = nsl_push_vector(L, s->p, NULL);
  NsError err = {NS_OK, ""};
  NsStatus status = NS_OK;
  NslGuard guard;
  memcpy(end, knots->y + (ptrdiff_t)(knots->count - 1) * n, (size_t)n * sizeof *end);
  nsl_guard_begin(&guard, L);
  if (!lua_isnil(L, TERMINAL))
    status = nsl_ode_terminal(s, TERMINAL, knots->t[knots->count - 1], end, &value, mu, gradient->data, &err);
  if (status == NS_OK) status = ns_ivp_adjoint_solve(adjoint, solve->ivp, mu, gradient->data, &err);
  nsl_guard_end(&guard, L);
  if (status == NS_ENOSOL) luaL_error(L, "%s: %s", s->ode->who, err.text);
  if (status != NS_OK) nsl_raise_step(L, &err);
  for (int j = 0; j < s->p; j++)
    if (s->column[j] < n) gradient->data[j] += mu[s->column[j]];
  lua_pushnumber(L, adjoint->value + value);
  lua_insert(L, -2);
}

/*
** ns.ivp_gradient(f, {t0, tf}, y0, options): solves as ns.solve_ivp does; returns the integral of cost plus terminal at the end, its
** gradient by the parameters, and the result of the run.
*/
static int ivp_gradient(lua_State *L) {
  static const char name[] = "ivp_gradient";
  IvpSolve solve;
  NslSensitivity s;
  read_solve(L, &solve, name, known_of_gradient);
  if (lua_isnil(L, COST) && lua_isnil(L, TERMINAL)) luaL_error(L, "%s: expected the option cost, or terminal, or both", name);
  if (!lua_isnil(L, COST)) {
    nsl_ode_check_function(L, name, COST, "cost");
    lua_pushvalue(L, COST);
    lua_rawseti(L, EVENT_LIST, solve.options.events.count + 1);
  }
  if (!lua_isnil(L, TERMINAL)) nsl_ode_check_function(L, name, TERMINAL, "terminal");
  nsl_ode_compile(&solve.ode, solve.options.t0, solve.options.y0);
  nsl_ode_prepare_vjp(&solve.ode);
  nsl_ode_read_sensitivity(&s, &solve.ode, "parameters", SENSITIVITIES, solve.options.events.count + !lua_isnil(L, COST),
                           solve.options.t0, solve.options.y0);
  nsl_ode_check_jacobian(&s, &solve.problem, solve.options.t0, solve.options.y0);
  NsIvpCost cost = {&s, nsl_ode_cost_value, nsl_ode_cost_slopes};
  NsIvpAdjointOptions options = {.derivatives = &s.derivatives,
                                 .cost = lua_isnil(L, COST) ? NULL : &cost,
                                 .vjp = s.f_shadow.trace ? nsl_ode_vjp_rate : NULL,
                                 .forced = s.numbers > 0,
                                 .rtol = s.rtol,
                                 .one_sided = s.one_sided};
  NsIvpAdjoint **box = push_box(L, free_adjoint);
  solve.options.dense = true;
  NsStatus status = ns_ivp_adjoint_new(box, solve.method, &solve.problem, &solve.options, &options);
  if (status != NS_OK) nsl_raise_status(L, status, name);
  solve.options.companion = &(*box)->companion;
  s.adjoint = *box;
  run_solve(L, &solve);
  if (solve.ivp->end == NS_IVP_FAILED) luaL_error(L, "%s: the run failed: %s", name, solve.ivp->why.text);
  push_gradient(L, &solve, &s, *box);
  nsl_push_ivp(L, DENSE, lua_toboolean(L, DENSE_OUTPUT), !lua_isnil(L, EVENTS));
  return 3;
}

void nsl_open_ode(lua_State *L) {
  nsl_open_ode_dense(L);
  nsl_set_cfunction(L, "solve_ivp", solve_ivp);
  nsl_set_cfunction(L, "ivp_gradient", ivp_gradient);
}
