/*
** root.c
** ns.root and ns.fsolve: roots of equations in Lua.
*/
#include "ode/root.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "bind/diff/compile.h"
#include "bind/lua/sigint.h"
#include "bind/lua/host.h"
#include "bind/array/matrix.h"
#include "bind/model/model.h"
#include "bind/numerics/answer.h"
#include "bind/ode/ode.h"

/* The stack of both. */
enum { F = 1, X0, OPTIONS, JAC, ARGS, TOLERANCE, CALLS, FULL, X, OUT, PLAIN, VALUES };

/* What the two call their options, in the order of JAC to FULL. */
typedef struct Names {
  const char *who;
  const char *const *known;
} Names;

static void bind_root_lay_out(lua_State *L, const Names *names) {
  nsl_at_most(L, OPTIONS, names->who);
  lua_settop(L, OPTIONS);
  if (!lua_isnil(L, OPTIONS) && !lua_istable(L, OPTIONS)) nsl_bad(L, names->who, "options", "a table", OPTIONS);
  if (lua_istable(L, OPTIONS)) nsl_check_options(L, OPTIONS, names->who, names->known);
  for (int i = 0; JAC + i <= FULL; i++) {
    if (lua_istable(L, OPTIONS) && names->known[i]) lua_getfield(L, OPTIONS, names->known[i]);
    else lua_pushnil(L);
  }
  if (lua_isfunction(L, F)) return;
  if (luaL_getmetafield(L, F, "__call") == LUA_TNIL) nsl_bad(L, names->who, "f", "a function", F);
  lua_pop(L, 1);
}

static NsRootOptions bind_root_read_options(lua_State *L, const Names *names, int n) {
  NsRootOptions o = {1.49012e-8, 0};
  if (!lua_isnil(L, TOLERANCE)) o.xtol = nsl_finite(L, TOLERANCE, names->who, names->known[TOLERANCE - JAC]);
  if (!(o.xtol >= 0)) nsl_error(L, "%s: %s: expected 0 or more, got %f", names->who, names->known[TOLERANCE - JAC], o.xtol);
  lua_Integer calls = lua_isnil(L, CALLS) ? 100 * ((lua_Integer)n + 1) : nsl_integer(L, CALLS, names->who, "maxfev");
  if (calls < 1 || calls > INT_MAX) luaL_error(L, "%s: maxfev: expected 1 or more, got %I", names->who, calls);
  o.calls = (int)calls;
  if (!lua_isnil(L, FULL) && !lua_isboolean(L, FULL)) nsl_bad(L, names->who, "full_output", "a boolean", FULL);
  return o;
}

/* Pushes the vectors up to VALUES; the one at X0 is replaced by a copy of its own. */
static void bind_root_read_callbacks(lua_State *L, const Names *names, NslOde *ode) {
  bool number = lua_type(L, X0) == LUA_TNUMBER;
  NslVector *given = nsl_to_finite_vector(L, X0, number ? 1 : -1, names->who, "x0");
  if (given->n == 0) luaL_error(L, "%s: x0: expected at least one unknown, got none", names->who);
  NslVector *x = nsl_push_vector(L, given->n, NULL);
  nsl_vector_read(given, x->data);
  lua_replace(L, X0);
  ode->n = x->n;
  if (x->n > 40000) luaL_error(L, "%s: x0: expected at most 40000 unknowns, got %d", names->who, x->n);
  if (!lua_isnil(L, ARGS) && !lua_istable(L, ARGS)) nsl_bad(L, names->who, "args", "a list", ARGS);
  lua_Unsigned nargs = lua_isnil(L, ARGS) ? 0 : lua_rawlen(L, ARGS);
  if (nargs > NSL_ODE_ARGS) luaL_error(L, "%s: args: expected at most %d, got %d", names->who, NSL_ODE_ARGS, (int)nargs);
  ode->nargs = (int)nargs;
  ode->at = nsl_push_vector(L, ode->n, "x");
  ode->rate = nsl_push_vector(L, ode->n, "f");
  ode->plain = nsl_push_vector(L, ode->n, NULL)->data;
  nsl_push_vector(L, ode->n, NULL);
  ode->at->readonly = true;
  ode->returns = nsl_ode_returns(L, F, 1 + ode->nargs);
  if (lua_isnil(L, JAC)) return;
  if (!nsl_is_callback(L, JAC)) nsl_bad(L, names->who, names->known[0], "a function", JAC);
  ode->jac = JAC;
}

/* Solves: the root is at X0, the values of f at VALUES. Raises what f raises. */
static NsStatus bind_root_solve(lua_State *L, const Names *names, NsRootInfo *info, NsError *err) {
  bind_root_lay_out(L, names);
  NslOde ode = {.L = L,
                .f = F,
                .args = ARGS,
                .y = X,
                .out = OUT,
                .timeless = true,
                .who = names->who,
                .value = "f(x)",
                .derivative = names->known[0]};
  bind_root_read_callbacks(L, names, &ode);
  NsRootOptions options = bind_root_read_options(L, names, ode.n);
  nsl_ode_compile(&ode, 0, nsl_check_vector(L, X0)->data);
  NsOdeProblem equations = {.n = ode.n, .rate = nsl_ode_rate, .context = &ode, .jacobian = nsl_ode_jacobian};
  NslVector *x = nsl_check_vector(L, X0), *f = nsl_check_vector(L, VALUES);
  nsl_need_stack(L, NSL_ODE_ARGS + 16);
  NslGuard guard;
  nsl_guard_begin(&guard, L);
  NsStatus status = ns_root_solve(&equations, &options, x->data, f->data, info, err);
  nsl_guard_end(&guard, L);
  bool told = status == NS_OK || status == NS_EMAXITER || status == NS_ENOCONV || status == NS_ENAN;
  if (!told) nsl_raise_step(L, err);
  return status;
}

/* Pushes the numbers and the values of f as a table. */
static void bind_root_push_info(lua_State *L, const NsRootInfo *info) {
  lua_createtable(L, 0, 8);
  lua_pushvalue(L, VALUES), lua_setfield(L, -2, "fun");
  lua_pushinteger(L, info->evaluations), lua_setfield(L, -2, "nfev");
  lua_pushinteger(L, info->jacobians), lua_setfield(L, -2, "njev");
}

static void bind_root_push_message(lua_State *L, NsStatus status, const NsError *err) {
  lua_pushstring(L, status == NS_OK ? "a root was found" : err->text);
}

/* ns.root(f, x0 [, {jac=, args=, tol=, maxfev=}]): a table with x, success, status, message, fun, nfev, njev. */
static int root(lua_State *L) {
  static const char *const known[] = {"jac", "args", "tol", "maxfev", NULL};
  const Names names = {"root", known};
  NsRootInfo info;
  NsError err = {NS_OK, ""};
  NsStatus status = bind_root_solve(L, &names, &info, &err);
  bind_root_push_info(L, &info);
  lua_pushvalue(L, X0), lua_setfield(L, -2, "x");
  lua_pushboolean(L, status == NS_OK), lua_setfield(L, -2, "success");
  lua_pushstring(L, status == NS_OK ? "ok" : status == NS_EMAXITER ? "iteration limit" : "no convergence");
  lua_setfield(L, -2, "status");
  bind_root_push_message(L, status, &err), lua_setfield(L, -2, "message");
  nsl_set_result(L);
  return 1;
}

/*
** ns.fsolve(f, x0 [, {fprime=, args=, xtol=, maxfev=, full_output=}]): the root; when there is none an error, or with
** full_output x, the table of root's numbers, whether x is a root, and the message.
*/
static int fsolve(lua_State *L) {
  static const char *const known[] = {"fprime", "args", "xtol", "maxfev", "full_output", NULL};
  const Names names = {"fsolve", known};
  NsRootInfo info;
  NsError err = {NS_OK, ""};
  NsStatus status = bind_root_solve(L, &names, &info, &err);
  bool full = lua_toboolean(L, FULL);
  if (status != NS_OK && !full) return luaL_error(L, "fsolve: %s", err.text);
  lua_pushvalue(L, X0);
  if (!full) return 1;
  bind_root_push_info(L, &info);
  lua_pushboolean(L, status == NS_OK);
  bind_root_push_message(L, status, &err);
  return 4;
}

void nsl_open_root(lua_State *L) {
  lua_pushcfunction(L, root);
  lua_setfield(L, -2, "root");
  lua_pushcfunction(L, fsolve);
  lua_setfield(L, -2, "fsolve");
}
