/*
** dae.c
** The solver of differential-algebraic equations behind lua/nslua/dae.lua: a userdata and its functions, in a hidden table.
*/
#include "bind/lua/open.h"

#include <math.h>
#include <string.h>

#include "base/engine.h"
#include "bind/diff/ad.h"
#include "bind/diff/compile.h"
#include "bind/model/ds.h"
#include "bind/ode/dae_solver.h"
#include "bind/lua/host.h"
#include "bind/array/matrix.h"
#include "bind/lua/optional_module.h"
#include "bind/array/vector.h"
#include "model/first_order_ds.h"
#include "ode/dae.h"

static int solver_gc(lua_State *L) {
  NslDae *s = lua_touserdata(L, 1);
  ns_dae_run_free(s->run);
  ns_dae_sensitivity_free(s->sensitivity);
  s->sensitivity = NULL;
  if (s->method) s->method->release(s->solver);
  s->run = NULL;
  ns_arena_release(&s->arena);
  s->dae = NULL;
  s->solver = NULL;
  return 0;
}

static const NsDaeState *state_of(const NslDae *s) {
  return s->method->state(s->solver);
}

/* The solver at 1, which must be Radau IIA: other methods lack the function. */
static NslDae *check_radau(lua_State *L) {
  NslDae *s = nsl_check_dae(L);
  luaL_argcheck(L, s->dae, 1, "a solver of kind 'radau' expected");
  return s;
}

/* ---- the residual; the protected parts have the solver at index 1 ---- */

static int run_residual(lua_State *L) {
  NslDae *s = lua_touserdata(L, 1);
  lua_getiuservalue(L, 1, NSL_DAE_OUT);
  NslVector *out = nsl_test_vector(L, 2);
  memset(out->data, 0, (size_t)s->n * sizeof(double));
  uint64_t before = *out->version;
  lua_getiuservalue(L, 1, NSL_DAE_F);
  lua_pushnumber(L, s->t);
  nsl_dae_push_filled(L, NSL_DAE_Y, s->y);
  nsl_dae_push_filled(L, NSL_DAE_YD, s->yd);
  lua_pushvalue(L, 2);
  lua_call(L, 4, 2);
  if (!lua_isnil(L, 4)) luaL_error(L, "dae: residual: " NSL_SEVERAL " (a list of them), or res filled");
  lua_settop(L, 3);
  if (lua_isnil(L, 3) && *out->version == before)
    luaL_error(L, "dae: residual(t, y, yd, res) returned nothing and filled nothing");
  if (*out->version != before && !lua_isnil(L, 3) && !lua_rawequal(L, 2, 3))
    luaL_error(L, "dae: residual: " NSL_BOTH, "res", nsl_describe(L, 3));
  if (lua_isnil(L, 3)) lua_settop(L, 2);
  NslVector *values = nsl_to_vector(L, -1, s->n, "dae", "residual");
  nsl_vector_alive(L, values);
  nsl_vector_read(values, s->F);
  return 0;
}

static void bind_dae_take_matrix(lua_State *L, int idx, int n, const char *what, double *to) {
  NslMatrix *m = nsl_to_finite_matrix(L, idx, n, n, "dae", what);
  nsl_matrix_alive(L, m);
  nsl_matrix_read(m, to);
}

/* Calls the user's function for the Jacobians dF/dy and dF/dyd. */
static int run_given(lua_State *L) {
  NslDae *s = lua_touserdata(L, 1);
  lua_getiuservalue(L, 1, NSL_DAE_JACOBIAN);
  lua_pushnumber(L, s->t);
  nsl_dae_push_filled(L, NSL_DAE_Y, s->y);
  nsl_dae_push_filled(L, NSL_DAE_YD, s->yd);
  lua_call(L, 3, 2);
  bind_dae_take_matrix(L, 2, s->n, "jac: dF/dy", s->Fy);
  bind_dae_take_matrix(L, 3, s->n, "jac: dF/dyd", s->Fyd);
  return 0;
}

static int bind_dae_run_duals(lua_State *L) {
  NslDae *s = lua_touserdata(L, 1);
  if (s->given) return run_given(L);
  NslDualArg args[] = {{"y", 0, s->n, s->y, s->Fy}, {"yd", 0, s->n, s->yd, s->Fyd}};
  lua_getiuservalue(L, 1, NSL_DAE_F);
  nsl_dual_run(L, &(NslDualCall){.function = 2,
                                 .has_time = true,
                                 .t = s->t,
                                 .nargs = 2,
                                 .args = args,
                                 .outlabel = "residual",
                                 .nout = s->n,
                                 .plain = s->F});
  return 0;
}

/* ---- a compiled residual ---- */

static void bind_dae_set_inputs(NslDae *s, double t, const double *const *args) {
  size_t n = (size_t)s->n;
  s->inputs[0] = t; /* behind y and y' there are zeros, for the output */
  memcpy(s->inputs + 1, args[0], n * sizeof *args[0]);
  memcpy(s->inputs + 1 + n, args[1], n * sizeof *args[1]);
}

/* Traces the residual at index 2 at the inputs. Argument 1: the solver. */
static int trace_residual(lua_State *L) {
  NslDae *s = lua_touserdata(L, 1);
  NslTraceArg args[] = {{NSL_TRACE_NUMBER, 1, 1, "t", 0},
                        {NSL_TRACE_VECTOR, s->n, 1, "y", 0},
                        {NSL_TRACE_VECTOR, s->n, 1, "yd", 0},
                        {NSL_TRACE_VECTOR, s->n, 1, "residual", 0}};
  s->trace = nsl_trace_of(L, 2, 4, args, s->inputs, s->n, "dae: residual", false);
  return 0;
}

static const char residual_title[] = "dae: residual";

/* Takes the residual at index 2, or what runs in its place: one that is compiled is traced. Argument 1: the solver. */
static int take_residual(lua_State *L) {
  NslDae *s = lua_touserdata(L, 1);
  s->trace = NULL;
  s->ran = false;
  s->t = NAN;
  nsl_compile_on_request(L, 2, s->compile, residual_title);
  if (nsl_is_compiled(L, 2)) {
    lua_pushcfunction(L, trace_residual);
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2);
    if (lua_pcall(L, 2, 0, 0) != LUA_OK) nsl_compiled_yield(L, 2, residual_title);
  }
  lua_settop(L, 2);
  lua_setiuservalue(L, 1, NSL_DAE_F);
  return 0;
}

/* The same again: Lua has run, and may have changed what the residual reads besides its arguments. */
static int renew_residual(lua_State *L) {
  lua_getiuservalue(L, 1, NSL_DAE_F);
  return take_residual(L);
}

/* A path of the residual could not be made: the plain function goes on where the option `compile` has compiled it. */
static int lose_residual(lua_State *L) {
  NslDae *s = lua_touserdata(L, 1);
  lua_getiuservalue(L, 1, NSL_DAE_F);
  nsl_trace_yield(L, s->trace, 2, residual_title);
  lua_setiuservalue(L, 1, NSL_DAE_F);
  s->trace = NULL;
  return 0;
}

/* Raises when a derivative is not finite. */
static int bind_dae_check_derivatives(lua_State *L) {
  const NslDae *s = lua_touserdata(L, 1);
  nsl_check_derivatives(L, "residual", "y", s->n, s->n, s->Fy);
  nsl_check_derivatives(L, "residual", "yd", s->n, s->n, s->Fyd);
  return 0;
}

/* Gives the trace its inputs, after a look at what it reads. Returns 0, or -1; s->trace is NULL then where the residual stays in Lua. */
static int bind_dae_go_compiled(NslDae *s, double t, const double *const *args) {
  bind_dae_set_inputs(s, t, args);
  bool ran = s->ran;
  s->ran = false;
  if (!ran || (s->compile == NSL_COMPILE_NOTHING && nsl_trace_is_current(s->trace))) return 0;
  return nsl_dae_protect(s, renew_residual, NULL);
}

/* The values (jac NULL) or both Jacobians by the trace, of which one is taken. *done: false: the residual is in Lua from here on. */
static int bind_dae_evaluate_compiled(NslDae *s, double t, const double *const *args, int by, double *out, double *jac,
                                      bool *done) {
  int code = bind_dae_go_compiled(s, t, args);
  size_t n = (size_t)s->n;
  *done = false;
  if (code || !s->trace) return code;
  memcpy(s->trace->fn.in, s->inputs, (size_t)s->trace->fn.inputs * sizeof *s->inputs);
  if (!jac) ns_paths_value(&s->trace->fn, out);
  else ns_paths_jacobian(&s->trace->fn, 1, s->Fy), ns_paths_jacobian(&s->trace->fn, 2, s->Fyd);
  if (s->trace->fn.failed) return nsl_dae_protect(s, lose_residual, NULL);
  *done = true;
  if (!jac) return 0;
  memcpy(jac, by == 0 ? s->Fy : s->Fyd, n * n * sizeof *jac);
  return nsl_dae_protect(s, bind_dae_check_derivatives, NULL);
}

static bool bind_dae_same_point(const NslDae *s, double t, const double *const *args) {
  size_t bytes = (size_t)s->n * sizeof(double);
  return s->t == t && memcmp(s->y, args[0], bytes) == 0 && memcmp(s->yd, args[1], bytes) == 0;
}

static void go_to_point(NslDae *s, double t, const double *const *args) {
  size_t bytes = (size_t)s->n * sizeof(double);
  s->t = t;
  memcpy(s->y, args[0], bytes);
  memcpy(s->yd, args[1], bytes);
}

static int bind_dae_value(void *context, double t, const double *const *args, double *out) {
  NslDae *s = context;
  size_t bytes = (size_t)s->n * sizeof *out;
  bool done = false;
  int code = s->trace ? bind_dae_evaluate_compiled(s, t, args, 0, out, NULL, &done) : 0;
  if (code || done) return code;
  s->known = false;
  go_to_point(s, t, args);
  code = nsl_dae_protect(s, run_residual, NULL);
  if (code) s->t = NAN;
  memcpy(out, s->F, bytes);
  return code;
}

static int bind_dae_jacobian(void *context, double t, const double *const *args, int by, double *jac) {
  NslDae *s = context;
  size_t n = (size_t)s->n;
  bool done = false;
  int code = s->trace && !s->given ? bind_dae_evaluate_compiled(s, t, args, by, NULL, jac, &done) : 0;
  if (code || done) return code;
  if (s->given) nsl_dae_lua_ran(s);
  if (!bind_dae_same_point(s, t, args)) {
    code = s->given ? 0 : bind_dae_value(s, t, args, s->F);
    if (s->given) go_to_point(s, t, args), s->known = false;
  }
  if (!code && !s->known) code = nsl_dae_protect(s, bind_dae_run_duals, NULL);
  s->known = !code;
  memcpy(jac, by == 0 ? s->Fy : s->Fyd, n * n * sizeof *jac);
  return code;
}

/* ---- making ---- */

static double bind_dae_number(lua_State *L, const char *name, double otherwise) {
  lua_getfield(L, 3, name);
  double found = lua_isnil(L, -1) ? otherwise : luaL_checknumber(L, -1);
  lua_pop(L, 1);
  return found;
}

static void bind_dae_take_room(lua_State *L, NslDae *s) {
  s->inputs = ns_arena_doubles(&s->arena, 1 + 3 * s->n);
  NS_ARENA_VECTORS(&s->arena, s->n, &s->atol, &s->y, &s->yd, &s->F);
  s->index = ns_arena_ints(&s->arena, s->n);
  s->Fy = ns_arena_matrix(&s->arena, s->n, s->n);
  s->Fyd = ns_arena_matrix(&s->arena, s->n, s->n);
  if (s->arena.failed) luaL_error(L, "not enough memory");
}

static NslVector *push_argument(lua_State *L, int solver, int use, int n, const char *label) {
  NslVector *v = nsl_push_vector(L, n, label);
  lua_setiuservalue(L, solver, use);
  return v;
}

/* Sets the inputs of the residual's trace to the start (t, y, yd), the option `start`, and zeros where it is not given. */
static void bind_dae_read_start(lua_State *L, NslDae *s) {
  int top = lua_gettop(L);
  if (lua_getfield(L, 3, "start") != LUA_TNIL) {
    lua_rawgeti(L, top + 1, 1);
    s->inputs[0] = lua_tonumber(L, -1);
    for (int k = 0; k < 2; k++) {
      lua_rawgeti(L, top + 1, 2 + k);
      nsl_vector_read(nsl_to_vector(L, -1, s->n, "dae", k ? "yd0" : "y0"), s->inputs + 1 + k * s->n);
    }
  }
  lua_settop(L, top);
}

/* Makes the engine's solver: the one in the field `method` of the options at 3, or Radau IIA. */
static void make_engine(lua_State *L, NslDae *s, const NsDaeProblem *problem) {
  lua_getfield(L, 3, "method");
  const NsDaeMethod *method = lua_touserdata(L, -1);
  lua_pop(L, 1);
  if (!method) method = &ns_dae_radau;
  NsStatus status = method->make(&s->solver, problem);
  if (status == NS_OK) s->method = method;
  s->dae = method == &ns_dae_radau ? s->solver : NULL;
  if (status != NS_OK) luaL_error(L, "not enough memory");
}

/*
** new(n, residual, {rtol=, atol= (vector of n), index= (list of n or nil), time= (for index: a length of time), compile=, start= ({t, y, yd}), jacobian=, max_step=, max_steps=, method= (of an
** optional module, or nil)}).
*/
static int dae_new(lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 1);
  NslDae *s = nsl_new(L, &nsl_dae_type, sizeof *s, NSL_DAE_USES);
  s->n = (int)n;
  bind_dae_take_room(L, s);
  bind_dae_read_start(L, s);
  lua_getfield(L, 3, "compile");
  s->compile = nsl_compile_request(L, -1, "dae");
  lua_pushcfunction(L, take_residual);
  lua_pushvalue(L, 4);
  lua_pushvalue(L, 2);
  lua_call(L, 2, 0);
  lua_getfield(L, 3, "jacobian");
  s->given = !lua_isnil(L, -1);
  lua_setiuservalue(L, 4, NSL_DAE_JACOBIAN);
  push_argument(L, 4, NSL_DAE_Y, s->n, "y")->readonly = true;
  push_argument(L, 4, NSL_DAE_YD, s->n, "yd")->readonly = true;
  push_argument(L, 4, NSL_DAE_OUT, s->n, "residual");
  lua_getfield(L, 3, "atol");
  nsl_vector_read(nsl_to_vector(L, -1, s->n, "dae", "atol"), s->atol);
  bool indexed = lua_getfield(L, 3, "index") != LUA_TNIL;
  for (int i = 0; indexed && i < s->n; i++) {
    lua_geti(L, -1, i + 1);
    s->index[i] = (int)lua_tointeger(L, -1);
    lua_pop(L, 1);
  }
  NsDaeProblem problem = {.n = s->n,
                          .residual = {.value = bind_dae_value, .jacobian = bind_dae_jacobian, .context = s},
                          .rtol = bind_dae_number(L, "rtol", 1e-6),
                          .atol = s->atol,
                          .index = indexed ? s->index : NULL,
                          .time = bind_dae_number(L, "time", 1),
                          .max_step = bind_dae_number(L, "max_step", INFINITY),
                          .max_steps = (long)bind_dae_number(L, "max_steps", 0)};
  s->problem = problem;
  make_engine(L, s, &problem);
  lua_settop(L, 4);
  return 1;
}

/* ---- calls ---- */

static void bind_dae_read_vector(lua_State *L, int idx, int n, const char *what, double *out) {
  NslVector *v = nsl_to_vector(L, idx, n, "dae", what);
  nsl_vector_read(v, out);
}

/* start(solver, t, y, yd, first step, last time). */
static int dae_start(lua_State *L) {
  NslDae *s = nsl_check_dae(L);
  NsError err = {NS_OK, ""};
  lua_settop(L, 6);
  double t = luaL_checknumber(L, 2), h_first = luaL_checknumber(L, 5), t_last = luaL_checknumber(L, 6);
  double *y = nsl_push_vector(L, s->n, NULL)->data, *yd = nsl_push_vector(L, s->n, NULL)->data;
  bind_dae_read_vector(L, 3, s->n, "y0", y);
  bind_dae_read_vector(L, 4, s->n, "yd0", yd);
  if (s->method->start(s->solver, t, y, yd, h_first, t_last, &err) != NS_OK) return luaL_error(L, "dae: %s", err.text);
  return 0;
}

static NsStatus bind_dae_go_to(NslDae *s, void *what, NsError *err) {
  double t = *(double *)what;
  return s->method->go_to(s->solver, t, err);
}

/* go_to(solver, t): true, or nil and the reason. */
static int dae_go_to(lua_State *L) {
  return nsl_dae_to_time(L, bind_dae_go_to);
}

/* state(solver): copies of t, y, yd. */
static int dae_state(lua_State *L) {
  const NslDae *s = nsl_check_dae(L);
  const NsDaeState *state = state_of(s);
  lua_pushnumber(L, state->t);
  nsl_dae_push_values(L, s->n, state->y);
  nsl_dae_push_values(L, s->n, state->yd);
  return 3;
}

static int dae_stats(lua_State *L) {
  const NsDaeState *state = state_of(nsl_check_dae(L));
  const struct {
    const char *name;
    long value;
  } counts[] = {{"steps", state->steps},         {"rejected", state->rejected},
                {"residuals", state->residuals}, {"newton_failures", state->newton_failures},
                {"jacobians", state->jacobians}, {"factorizations", state->factorizations}};
  lua_newtable(L);
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) nsl_set_integer(L, counts[i].name, counts[i].value);
  return 1;
}

/* A point (t, y, yd), the residual and Jacobians there, and which unknowns are algebraic. */
typedef struct Point {
  double t, *y, *yd, *F, *Fy, *Fyd;
  bool *algebraic;
} Point;

static NsStatus bind_dae_evaluate(NslDae *s, void *what, NsError *err) {
  Point *p = what;
  return ns_dae_evaluate(s->dae, p->t, p->y, p->yd, p->F, p->Fy, p->Fyd, err);
}

static NsStatus make_consistent(NslDae *s, void *what, NsError *err) {
  Point *p = what;
  return ns_dae_consistent(s->dae, p->t, p->algebraic, p->y, p->yd, err);
}

/* Copies the point (t, y, yd) at 2..4 into vectors, which are pushed. */
static Point take_point(lua_State *L, const NslDae *s) {
  Point p = {.t = luaL_checknumber(L, 2)};
  p.y = nsl_push_vector(L, s->n, NULL)->data;
  p.yd = nsl_push_vector(L, s->n, NULL)->data;
  bind_dae_read_vector(L, 3, s->n, "y0", p.y);
  bind_dae_read_vector(L, 4, s->n, "yd0", p.yd);
  return p;
}

/* evaluate(solver, t, y, yd): F, dF/dy, dF/dyd; or nil and the reason. */
static int dae_evaluate(lua_State *L) {
  NslDae *s = check_radau(L);
  lua_settop(L, 4);
  Point p = take_point(L, s);
  p.F = nsl_push_vector(L, s->n, NULL)->data;
  p.Fy = nsl_push_matrix(L, s->n, s->n, NULL)->data;
  p.Fyd = nsl_push_matrix(L, s->n, s->n, NULL)->data;
  return nsl_dae_answer(L, s, bind_dae_evaluate, &p, 3);
}

/* consistent(solver, t, y, yd, algebraic (list of booleans)): y, yd; or nil and the reason. */
static int dae_consistent(lua_State *L) {
  NslDae *s = check_radau(L);
  lua_settop(L, 5);
  bool *algebraic = lua_newuserdatauv(L, (size_t)s->n * sizeof *algebraic + 1, 0);
  for (int i = 0; i < s->n; i++) {
    lua_geti(L, 5, i + 1);
    algebraic[i] = lua_toboolean(L, -1);
    lua_pop(L, 1);
  }
  Point p = take_point(L, s);
  p.algebraic = algebraic;
  return nsl_dae_answer(L, s, make_consistent, &p, 2);
}

/* ---- systems of first order, M(t) y' = f(t, y) ---- */

/* system(x): for a first-order system its number of states, its name and whether it is linked; nil for anything else. */
static int dae_system(lua_State *L) {
  const NslHead *head = lua_type(L, 1) == LUA_TUSERDATA ? nsl_head(L, 1) : NULL;
  if (!head || !nsl_is_first_order(head->type)) return 0;
  const NslDs *ds = nsl_check_ds(L, 1);
  lua_pushinteger(L, ds->ds->n);
  lua_pushstring(L, ns_ds_name(ds->ds));
  lua_pushboolean(L, nsl_ds_linked(ds));
  return 3;
}

/* terms(ds, t, x, jacobian): f(t, x), M(t) and, when `jacobian` is true, df/dx. */
static int dae_terms(lua_State *L) {
  NslDs *self = nsl_check_idle_ds(L, "dae");
  lua_settop(L, 4);
  int n = self->ds->n;
  double t = luaL_checknumber(L, 2), *x = nsl_push_vector(L, n, NULL)->data;
  bind_dae_read_vector(L, 3, n, "y", x);
  double *f = nsl_push_vector(L, n, NULL)->data, *M = nsl_push_matrix(L, n, n, NULL)->data;
  double *J = lua_toboolean(L, 4) ? nsl_push_matrix(L, n, n, NULL)->data : NULL;
  NsError err = {NS_OK, ""};
  NslEdge edge = nsl_enter(self->callee.host, L, NULL, self->callee.nsds);
  NsStatus status = ns_first_order_terms((NsFirstOrderDs *)self->ds, t, x, f, M, J, &err);
  nsl_leave(self->callee.host, edge);
  return status == NS_OK ? 2 + (J != NULL) : nsl_raise_step(L, &err);
}

void nsl_open_dae(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", solver_gc}, {NULL, NULL}};
#define ROW(name)                                                                                                              \
  { #name, dae_##name }
  static const luaL_Reg functions[] = {ROW(new),      ROW(start),      ROW(go_to),  ROW(state), ROW(stats),
                                       ROW(evaluate), ROW(consistent), ROW(system), ROW(terms), {NULL, NULL}};
  nsl_register_type(L, &nsl_dae_type, meta, NULL);
  luaL_newlib(L, functions);
  nsl_open_dae_events(L);
  nsl_open_dae_sensitivity(L);
  nsl_open_optional(L);
  lua_setfield(L, -2, "dae_support");
  lua_pushlightuserdata(L, (void *)ns_engine());
  lua_setfield(L, -2, "engine");
}
