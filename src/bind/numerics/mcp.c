/*
** mcp.c
** ns.numerics.mcp: nonlinear complementarity problems stated by Lua functions.
*/
#include <math.h>
#include <string.h>

#include "bind/lua/open.h"
#include "base/clock.h"
#include "base/text.h"
#include "bind/diff/ad.h"
#include "bind/lua/sigint.h"
#include "bind/lua/host.h"
#include "bind/array/sparse.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"
#include "bind/numerics/answer.h"
#include "solvers/chain.h"
#include "solvers/mcp/mcp.h"

/*
** One call of mcp. Its user values hold F, J, the vector z that they get, the outputs of F and J, the last return value of J
** and the error of a callback.
*/
typedef struct McpCall {
  lua_State *L;
  int n, at; /* stack index of the call itself */
  bool has_J, sparse, failed, started;
  double *lower, *upper, *start, *z, *w;
  double *last, *plain; /* the last point of F, and F there: duals are compared with it */
  const double *in;     /* input and output of the running callback */
  double *out;
  const NsSparse *matrix;
} McpCall;

enum { USE_F = 1, USE_J, USE_Z, USE_OUT, USE_JOUT, USE_RETURNED, USE_ERROR, USES = USE_ERROR };

static void mcp_call_free(void *mcp) {
  ns_mcp_free(mcp);
}

static McpCall *mcp_call(lua_State *L, int idx) {
  return ((NslCall *)lua_touserdata(L, idx))->self;
}

/* ---- callbacks; the protected parts have the call at index 1 ---- */

static void push_z(lua_State *L, const McpCall *c) {
  lua_getiuservalue(L, 1, USE_Z);
  memcpy(nsl_test_vector(L, -1)->data, c->in, (size_t)c->n * sizeof(double));
}

/* Calls the function below its two arguments, with its output at 2; what it gives is on top. `what` "F" is to give the `values`. */
static void mcp_values_of(lua_State *L, const char *what, const char *values, const uint64_t *version) {
  uint64_t before = version ? *version : 0;
  lua_call(L, 2, 2);
  bool filled = version && *version != before;
  if (!lua_isnil(L, 4)) luaL_error(L, "mcp: %s: " NSL_SEVERAL " (a list of them), or the last argument filled", what);
  lua_settop(L, 3);
  if (lua_isnil(L, 3) && version && !filled)
    luaL_error(L, "mcp: %s returned nothing: return the %s, or fill the last argument", what, values);
  if (lua_isnil(L, 3)) lua_settop(L, 2);
  else if (filled && !lua_rawequal(L, 2, 3)) luaL_error(L, "mcp: %s: " NSL_BOTH, what, "its last argument", nsl_describe(L, 3));
}

static int run_F(lua_State *L) {
  McpCall *c = mcp_call(L, 1);
  lua_getiuservalue(L, 1, USE_OUT);
  NslVector *out = nsl_test_vector(L, 2);
  memset(out->data, 0, (size_t)c->n * sizeof(double));
  lua_getiuservalue(L, 1, USE_F);
  push_z(L, c);
  lua_pushvalue(L, 2);
  mcp_values_of(L, "F", "values", out->version);
  NslVector *values = nsl_to_vector(L, -1, c->n, "mcp", "F");
  nsl_vector_alive(L, values);
  nsl_vector_read(values, c->out);
  return 0;
}

/* Leaves what J returned, or its output, on top. */
static void call_J(lua_State *L, const McpCall *c) {
  lua_settop(L, 1);
  lua_getiuservalue(L, 1, USE_JOUT);
  NslMatrix *out = nsl_test_matrix(L, 2);
  if (out) memset(out->data, 0, (size_t)c->n * (size_t)c->n * sizeof(double));
  lua_getiuservalue(L, 1, USE_J);
  push_z(L, c);
  lua_pushvalue(L, 2);
  mcp_values_of(L, "J", "matrix", out ? out->version : NULL);
}

static int run_J(lua_State *L) {
  McpCall *c = mcp_call(L, 1);
  call_J(L, c);
  if (nsl_test_sparse(L, -1)) luaL_error(L, "mcp: J: expected a dense matrix as at the start, got %s", nsl_describe(L, -1));
  NslMatrix *J = nsl_to_matrix(L, -1, c->n, c->n, "mcp", "J");
  nsl_matrix_alive(L, J);
  nsl_matrix_read(J, c->out);
  return 0;
}

static int run_sparse_J(lua_State *L) {
  McpCall *c = mcp_call(L, 1);
  call_J(L, c);
  int n = c->n;
  const NsSparse *J = c->matrix = nsl_test_sparse(L, -1);
  if (!J) return luaL_error(L, "mcp: J: expected a sparse matrix as at the start, got %s", nsl_describe(L, -1));
  if (J->rows != n || J->cols != n)
    luaL_error(L, "mcp: J: expected a %d x %d sparse matrix, got %d x %d", n, n, J->rows, J->cols);
  lua_setiuservalue(L, 1, USE_RETURNED);
  return 0;
}

static int bind_mcp_run_duals(lua_State *L) {
  McpCall *c = mcp_call(L, 1);
  NslDualArg arg = {"z", 0, c->n, c->in, c->out};
  lua_getiuservalue(L, 1, USE_F);
  nsl_dual_run(L, &(NslDualCall){.function = 2, .nargs = 1, .args = &arg, .outlabel = "F", .nout = c->n, .plain = c->plain});
  return 0;
}

/* Whether the error on top says only that a derivative is not finite where F is finite: the search can skip that point. */
static bool only_infinite(lua_State *L, const McpCall *c) {
  const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
  return c->started && text && strstr(text, "the derivative by z[");
}

/* Runs a part protected. Returns 0; -1 with the error kept; 1 when only_infinite. */
static int bind_mcp_protect(McpCall *c, lua_CFunction part, const double *in, double *out) {
  lua_State *L = c->L;
  int top = lua_gettop(L), code = 0;
  c->in = in;
  c->out = out;
  if (!lua_checkstack(L, 8)) {
    nsl_push_no_stack(L);
    lua_setiuservalue(L, c->at, USE_ERROR);
    c->failed = true;
    return -1;
  }
  lua_pushcfunction(L, part);
  lua_pushvalue(L, c->at);
  if (lua_pcall(L, 1, 0, 0) != LUA_OK) {
    code = only_infinite(L, c) ? 1 : -1;
    c->failed = code < 0;
    lua_setiuservalue(L, c->at, USE_ERROR);
  }
  lua_settop(L, top);
  return code;
}

static int bind_mcp_value(void *context, double t, const double *const *args, double *out) {
  McpCall *c = context;
  (void)t;
  size_t bytes = (size_t)c->n * sizeof *out;
  int code = bind_mcp_protect(c, run_F, args[0], out);
  memcpy(c->last, args[0], bytes);
  if (!code && out != c->plain) memcpy(c->plain, out, bytes);
  if (code) c->last[0] = NAN;
  return code;
}

/* The Jacobian. Duals need the plain value at the same point: F is called again if it was last evaluated elsewhere. */
static int bind_mcp_jacobian(void *context, double t, const double *const *args, int by, double *jac) {
  McpCall *c = context;
  (void)by;
  bool known = c->has_J || memcmp(c->last, args[0], (size_t)c->n * sizeof *jac) == 0;
  int code = known ? 0 : bind_mcp_value(c, t, args, c->plain);
  if (!code) code = bind_mcp_protect(c, c->has_J ? run_J : bind_mcp_run_duals, args[0], jac);
  c->started = c->started || !code;
  return code;
}

static int sparse_jacobian(void *context, const double *z, const NsSparse **J) {
  McpCall *c = context;
  int code = bind_mcp_protect(c, run_sparse_J, z, NULL);
  *J = c->matrix;
  c->started = c->started || !code;
  return code;
}

/* ---- options ---- */

static void read_functions(lua_State *L, McpCall *c) {
  lua_getfield(L, 1, "F");
  if (!nsl_is_callable(L, -1)) nsl_bad(L, "mcp", "F", "a function", -1);
  lua_setiuservalue(L, c->at, USE_F);
  lua_getfield(L, 1, "J");
  c->has_J = !lua_isnil(L, -1);
  if (c->has_J && !nsl_is_callable(L, -1)) nsl_bad(L, "mcp", "J", "a function", -1);
  lua_setiuservalue(L, c->at, USE_J);
}

/* The number of variables: the length of the first vector among z0, lower, upper. */
static int count_variables(lua_State *L) {
  static const char *const names[] = {"z0", "lower", "upper"};
  for (int i = 0; i < 3; i++) {
    int type = lua_getfield(L, 1, names[i]);
    bool alone = type == LUA_TNIL || (type == LUA_TNUMBER && i > 0);
    if (!alone) {
      int n = nsl_to_vector(L, -1, -1, "mcp", names[i])->n;
      if (n == 0) luaL_error(L, "mcp: %s: the problem is empty", names[i]);
      return lua_pop(L, 1), n;
    }
    lua_pop(L, 1);
  }
  return luaL_error(L,
                    "mcp: z0: expected a vector (or lower or upper as a vector, which tells the number of "
                    "variables)");
}

static void bind_mcp_read_data(lua_State *L, NslCall *call, McpCall *c) {
  double **vectors[] = {&c->lower, &c->upper, &c->start, &c->z, &c->w, &c->last, &c->plain};
  int n = c->n = count_variables(L);
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = nsl_call_numbers(L, call, n);
  nsl_numerics_bound(L, "mcp", "lower", n, 0, c->lower);
  nsl_numerics_bound(L, "mcp", "upper", n, INFINITY, c->upper);
  nsl_numerics_check_bounds(L, "mcp", n, c->lower, c->upper);
  nsl_numerics_vector(L, "mcp", "z0", n, c->start);
  for (int i = 0; i < n; i++) c->start[i] = fmin(fmax(c->start[i], c->lower[i]), c->upper[i]);
  NslVector *z = nsl_push_vector(L, n, "z");
  z->readonly = true;
  lua_setiuservalue(L, c->at, USE_Z);
  nsl_push_vector(L, n, "F");
  lua_setiuservalue(L, c->at, USE_OUT);
}

static int look_at_J(lua_State *L) {
  McpCall *c = mcp_call(L, 1);
  c->in = c->start;
  call_J(L, c);
  c->sparse = nsl_test_sparse(L, -1) != NULL;
  return 0;
}

/* Calls J at the start, to see whether it returns a sparse matrix. Returns whether the call succeeded. */
static bool try_J(lua_State *L, McpCall *c) {
  lua_pushcfunction(L, look_at_J);
  lua_pushvalue(L, c->at);
  bool good = lua_pcall(L, 1, 0, 0) == LUA_OK;
  if (!good) lua_pop(L, 1);
  return good;
}

/*
** Finds out whether J is dense or sparse. J gets an n x n output to fill only when a call without one failed or returned
** nothing, since for a large sparse problem that memory would be wasted.
*/
static void find_kind(lua_State *L, McpCall *c) {
  if (!c->has_J) return;
  bool good = try_J(L, c);
  if (c->sparse) return;
  nsl_push_matrix(L, c->n, c->n, "J");
  lua_setiuservalue(L, c->at, USE_JOUT);
  if (!good) try_J(L, c);
}

static void bind_mcp_solve(lua_State *L, McpCall *c, NsMcp *mcp, NsMcpInfo *info) {
  NsMcpProblem p = {c->n,
                    c->lower,
                    c->upper,
                    {.value = bind_mcp_value, .jacobian = bind_mcp_jacobian, .context = c},
                    c->sparse ? sparse_jacobian : NULL};
  NslGuard guard;
  nsl_guard_begin(&guard, L);
  NsStatus status = ns_mcp_solve(mcp, &p, c->start, c->z, c->w, info);
  bool interrupted = nsl_guard_end(&guard, L);
  if (c->failed) {
    lua_getiuservalue(L, c->at, USE_ERROR);
    lua_error(L);
  }
  if (interrupted) luaL_error(L, "mcp: interrupted");
  if (status == NS_ENAN && info->entry >= 0) {
    luaL_error(L, "mcp: F[%d] is %s at the start", info->entry + 1, ns_word_of_number(c->w[info->entry]));
  }
  if (status == NS_ENAN) luaL_error(L, "mcp: J is not finite at the start");
}

static void bind_mcp_push_result(lua_State *L, const McpCall *c, const NsMcpInfo *info, double seconds) {
  lua_newtable(L);
  nsl_set_status(L, info->status, "mcp");
  nsl_set_vector(L, "z", c->n, c->z);
  nsl_set_vector(L, "w", c->n, c->w);
  nsl_set_number(L, "residual", info->residual);
  nsl_set_number(L, "scale", info->scale);
  nsl_set_number(L, "relative", info->relative);
  nsl_set_number(L, "backward", info->backward);
  nsl_set_integer(L, "iterations", info->iterations);
  nsl_set_integer(L, "evaluations", info->evaluations);
  nsl_set_integer(L, "jacobians", info->jacobians);
  nsl_set_integer(L, "pivots", info->pivots);
  nsl_set_integer(L, "restarts", info->restarts);
  nsl_set_string(L, "solver", info->solver);
  nsl_set_number(L, "time", seconds);
}

/*
** mcp{F=, J=, lower=0, upper=math.huge, z0=0, tolerance=, max_iterations=, max_time=, restarts=, solver=}: finds z with -F(z)
** in the normal cone of [lower, upper] at z.
*/
static int mcp(lua_State *L) {
  static const char *const known[] = {"F",        "J",        "lower",  "upper", "z0", "tolerance", "max_iterations",
                                      "max_time", "restarts", "solver", NULL};
  const char *asked;
  nsl_numerics_options(L, "mcp", known);
  NslCall *call = nsl_new_call(L, "mcp", USES);
  McpCall *c = call->self = nsl_call_take(L, call, 1, sizeof *c);
  c->L = L;
  c->at = 2;
  NsMcpOptions options = {
      nsl_numerics_number(L, "mcp", "tolerance", 0, 1, 1e-10), nsl_numerics_count(L, "mcp", "max_iterations", 1, 500),
      nsl_numerics_number(L, "mcp", "max_time", 0, HUGE_VAL, 0), nsl_numerics_count(L, "mcp", "restarts", 0, 8),
      nsl_numerics_method(L, "mcp", ns_mcp_methods, 0, &asked)};
  read_functions(L, c);
  bind_mcp_read_data(L, call, c);
  double start = ns_clock_now();
  find_kind(L, c);
  NsMcpInfo info;
  NsMcp *solver;
  NsStatus status = ns_mcp_new(&solver, c->n, c->sparse);
  nsl_call_owns(call, solver, mcp_call_free);
  if (status) return nsl_raise_status(L, status, "mcp");
  *ns_mcp_options(solver) = options;
  bind_mcp_solve(L, c, solver, &info);
  bind_mcp_push_result(L, c, &info, ns_clock_now() - start);
  return 1;
}

void nsl_open_numerics_mcp(lua_State *L) {
  luaL_getsubtable(L, -1, "numerics");
  nsl_set_cfunction(L, "mcp", mcp);
  lua_pop(L, 1);
}
