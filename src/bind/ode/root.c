/*
** root.c
** ns.root and ns.fsolve: roots of equations in Lua.
*/
#include "bind/lua/open.h"

#include <limits.h>

#include "bind/lua/sigint.h"
#include "bind/lua/host.h"
#include "bind/numerics/answer.h"
#include "bind/ode/ode_call.h"
#include "ode/root.h"

/* Stack indices in root and fsolve. */
enum { F = 1, X0, OPTIONS, JAC, ARGS, TOLERANCE, CALLS, FULL, X, OUT, PLAIN, VALUES };

/* The names of the options of root or fsolve, in the order of JAC to FULL. */
typedef struct Names {
  const char *who;
  const char *const *known;
} Names;

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

/* Pushes the vectors up to VALUES; replaces the value at X0 by a copy. */
static void bind_root_read_callbacks(lua_State *L, const Names *names, NslOde *ode) {
  int n = nsl_ode_start(L, names->who, X0, "x0")->n;
  if (n == 0) luaL_error(L, "%s: x0: expected at least one unknown, got none", names->who);
  if (n > 40000) luaL_error(L, "%s: x0: expected at most 40000 unknowns, got %d", names->who, n);
  nsl_ode_read_callbacks(L, ode, n, "x", "f");
  nsl_push_vector(L, n, NULL);
  if (!lua_isnil(L, JAC) && !ode->jac) nsl_bad(L, names->who, names->known[0], "a function", JAC);
}

/* Solves; the root is then at X0, the values of f at VALUES. Raises what f raises. */
static NsStatus bind_root_solve(lua_State *L, const Names *names, NsRootInfo *info, NsError *err) {
  nsl_ode_lay_out(L, names->who, OPTIONS, names->known, FULL - OPTIONS);
  nsl_ode_check_function(L, names->who, F, "f");
  NslOde ode = {.L = L,
                .f = F,
                .jac = JAC,
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

/* Pushes a table of the counts and the values of f. */
static void bind_root_push_info(lua_State *L, const NsRootInfo *info) {
  lua_createtable(L, 0, 8);
  lua_pushvalue(L, VALUES), lua_setfield(L, -2, "fun");
  nsl_set_integer(L, "nfev", info->evaluations);
  nsl_set_integer(L, "njev", info->jacobians);
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
  nsl_set_boolean(L, "success", status == NS_OK);
  nsl_set_string(L, "status", status == NS_OK ? "ok" : status == NS_EMAXITER ? "iteration limit" : "no convergence");
  bind_root_push_message(L, status, &err), lua_setfield(L, -2, "message");
  nsl_set_result(L);
  return 1;
}

/*
** ns.fsolve(f, x0 [, {fprime=, args=, xtol=, maxfev=, full_output=}]): returns the root, or raises when none was found. With
** full_output: returns x, a table of counts, whether x is a root, and the message.
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
  nsl_set_cfunction(L, "root", root);
  nsl_set_cfunction(L, "fsolve", fsolve);
}
