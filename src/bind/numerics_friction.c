/*
** numerics_friction.c
** ns.numerics.fc2d and fc3d: options in, a verified result out.
*/
#include "bind/numerics_friction.h"

#include <limits.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "bind/guard.h"
#include "bind/elements.h"
#include "bind/linalg.h"
#include "bind/matrix.h"
#include "bind/vector.h"
#include "solvers/friction_default.h"
#include "solvers/friction_residual.h"

/* One call: a userdata owns what the engine allocated, so that any error frees it. */
typedef struct Call {
  NslHead head;
  const char *who;
  NsArena arena;
  NsBlock *W;
  NsFrictionSolver *solver;
  NsFriction p;
  double *mu, *q, *guess, *r, *u;
  bool guessed;
} Call;

static const NslType call_type = {.name = "nslua.numerics.friction"};

static const char *const keys[] = {"W", "q", "mu", "solver", "tolerance", "max_iterations", "r0", NULL};
static const char *const solvers[] = {"default", "nsgs", "newton", "first_order", "lcp", NULL};

static int call_gc(lua_State *L) {
  Call *c = lua_touserdata(L, 1);
  ns_friction_free(c->solver);
  ns_block_free(c->W);
  ns_arena_release(&c->arena);
  c->solver = NULL;
  c->W = NULL;
  return 0;
}

/* ---- options ---- */

static const char *push_list(lua_State *L, const char *const *names, int count) {
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  for (int k = 0; k < count && names[k]; k++) {
    if (k > 0) luaL_addstring(&text, ", ");
    luaL_addstring(&text, names[k]);
  }
  luaL_pushresult(&text);
  return lua_tostring(L, -1);
}

static void check_options(lua_State *L, const char *who) {
  lua_settop(L, 1);
  if (!lua_istable(L, 1)) nsl_bad(L, who, "options", "one table", 1);
  lua_pushnil(L);
  while (lua_next(L, 1)) {
    int k = 0;
    lua_pop(L, 1);
    const char *key = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    while (keys[k] && strcmp(key, keys[k]) != 0) k++;
    if (keys[k]) continue;
    key = luaL_tolstring(L, -1, NULL);
    luaL_error(L, "%s: unknown option '%s' (known: %s)", who, key, push_list(L, keys, INT_MAX));
  }
}

/* "lcp", the last, is a method of the plane. */
static NsFrictionMethod read_method(lua_State *L, const Call *c) {
  int known = c->p.dim == 2 ? NS_FRICTION_LCP + 1 : NS_FRICTION_LCP;
  if (lua_getfield(L, 1, "solver") == LUA_TNIL) return lua_pop(L, 1), NS_FRICTION_DEFAULT;
  if (lua_type(L, -1) != LUA_TSTRING) nsl_bad(L, c->who, "solver", "a name", -1);
  const char *name = lua_tostring(L, -1);
  for (int k = 0; k < known; k++)
    if (strcmp(name, solvers[k]) == 0) return lua_pop(L, 1), (NsFrictionMethod)k;
  luaL_error(L, "%s: unknown solver '%s' (known: %s)", c->who, name, push_list(L, solvers, known));
  return NS_FRICTION_DEFAULT;
}

static double read_tolerance(lua_State *L, const Call *c) {
  if (lua_getfield(L, 1, "tolerance") == LUA_TNIL) return lua_pop(L, 1), 1e-8;
  double x = nsl_finite(L, -1, c->who, "tolerance");
  if (!(x > 0 && x < 1)) {
    char text[32];
    nsl_format_number(text, x);
    luaL_error(L, "%s: tolerance: expected a number between 0 and 1, got %s", c->who, text);
  }
  lua_pop(L, 1);
  return x;
}

static int read_count(lua_State *L, const Call *c) {
  if (lua_getfield(L, 1, "max_iterations") == LUA_TNIL) return lua_pop(L, 1), 0;
  lua_Integer k = nsl_integer(L, -1, c->who, "max_iterations");
  if (k < 1 || k > INT_MAX)
    luaL_error(L, "%s: max_iterations: expected an integer of 1 or more, got %I", c->who, (LUAI_UACINT)k);
  lua_pop(L, 1);
  return (int)k;
}

/* ---- data ---- */

static void no_memory(lua_State *L, const Call *c) {
  if (c->arena.failed) luaL_error(L, "not enough memory");
}

static void check_order(lua_State *L, Call *c, int rows, int cols) {
  if (rows != cols) nsl_bad(L, c->who, "W", "a square matrix", -1);
  if (rows == 0) luaL_error(L, "%s: the problem is empty", c->who);
  if (rows % c->p.dim != 0)
    luaL_error(L, "%s: W: expected an order that is a multiple of %d, got %d", c->who, c->p.dim, rows);
  c->p.nc = rows / c->p.dim;
}

static void read_W(lua_State *L, Call *c) {
  NsStatus status;
  if (lua_getfield(L, 1, "W") == LUA_TNIL) nsl_bad(L, c->who, "W", "a square matrix", -1);
  const NsSparse *S = nsl_test_sparse(L, -1);
  if (S) {
    check_order(L, c, S->rows, S->cols);
    status = ns_block_from_sparse(&c->W, c->p.dim, S);
  } else {
    const NslMatrix *A = nsl_to_finite_matrix(L, -1, -1, -1, c->who, "W");
    check_order(L, c, A->rows, A->cols);
    status = ns_block_from_dense(&c->W, c->p.dim, A->rows, A->data, A->ld);
  }
  if (status) nsl_raise_status(L, status, c->who);
  lua_pop(L, 1);
}

/* Whether the option is there. Reads it into `to` (n doubles, all finite). */
static bool read_vector(lua_State *L, const Call *c, const char *name, int n, bool needed, double *to) {
  if (lua_getfield(L, 1, name) == LUA_TNIL && !needed) return lua_pop(L, 1), false;
  nsl_vector_read(nsl_to_finite_vector(L, -1, n, c->who, name), to);
  lua_pop(L, 1);
  return true;
}

static void read_mu(lua_State *L, const Call *c) {
  char text[32];
  bool number = lua_getfield(L, 1, "mu") == LUA_TNUMBER;
  if (number) {
    double mu = nsl_finite(L, -1, c->who, "mu");
    for (int i = 0; i < c->p.nc; i++) c->mu[i] = mu;
  } else if (lua_isnil(L, -1)) {
    nsl_bad(L, c->who, "mu", "a number or a vector", -1);
  } else {
    nsl_vector_read(nsl_to_finite_vector(L, -1, c->p.nc, c->who, "mu"), c->mu);
  }
  lua_pop(L, 1);
  for (int i = 0; i < c->p.nc; i++) {
    if (c->mu[i] >= 0) continue;
    nsl_format_number(text, c->mu[i]);
    if (number) luaL_error(L, "%s: mu = %s is negative", c->who, text);
    luaL_error(L, "%s: mu[%d] = %s is negative", c->who, i + 1, text);
  }
}

static void read_data(lua_State *L, Call *c) {
  read_W(L, c);
  int n = c->p.dim * c->p.nc;
  double **vectors[] = {&c->q, &c->guess, &c->r, &c->u};
  c->mu = ns_arena_doubles(&c->arena, c->p.nc);
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = ns_arena_doubles(&c->arena, n);
  no_memory(L, c);
  read_vector(L, c, "q", n, true, c->q);
  read_mu(L, c);
  c->guessed = read_vector(L, c, "r0", n, false, c->guess);
  c->p.W = c->W;
  c->p.q = c->q;
  c->p.mu = c->mu;
}

/* ---- the answer ---- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct Words {
  NsStatus status;
  const char *name, *message;
} Words;

static const Words words[] = {
    {NS_OK, "ok", "solved"},
    {NS_ERAY, "ray", "a path of pivots ended on a ray: no solution was found"},
    {NS_ENOSOL, "no solution", "there is no solution"},
    {NS_ENOCONV, "no solution", "no solution was found"},
    {NS_EMAXITER, "iteration limit", "the iteration limit was reached"},
    {NS_ESINGULAR, "singular", "a singular system stopped the method, and no solution was found"},
    {NS_EINTR, "interrupted", "interrupted"},
};

static const Words *words_of(NsStatus status) {
  size_t k = 0, count = sizeof words / sizeof *words;
  while (k < count && words[k].status != status) k++;
  return k < count ? &words[k] : NULL;
}

static void set_number(lua_State *L, const char *name, double x) {
  lua_pushnumber(L, x);
  lua_setfield(L, -2, name);
}

static void set_string(lua_State *L, const char *name, const char *text) {
  lua_pushstring(L, text);
  lua_setfield(L, -2, name);
}

/* A vector under two names. */
static void set_vector(lua_State *L, const char *name, const char *other, int n, const double *x) {
  nsl_vector_write(nsl_push_vector(L, n, NULL), x);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, name);
  lua_setfield(L, -2, other);
}

static void push_result(lua_State *L, const Call *c, const NsSolverInfo *info, double seconds) {
  int n = c->p.dim * c->p.nc;
  const Words *said = words_of(info->status);
  if (!said) {
    nsl_raise_status(L, info->status, c->who);
    return;
  }
  lua_newtable(L);
  lua_pushboolean(L, info->status == NS_OK);
  lua_setfield(L, -2, "success");
  set_string(L, "status", said->name);
  set_string(L, "message", said->message);
  set_vector(L, "r", "z", n, c->r);
  set_vector(L, "u", "w", n, c->u);
  set_number(L, "residual", info->residual);
  set_number(L, "scale", ns_friction_scale(&c->p, c->r));
  set_number(L, "relative", info->relative);
  set_number(L, "scaled", info->backward);
  lua_pushinteger(L, info->iterations);
  lua_setfield(L, -2, "iterations");
  set_string(L, "solver", info->solver);
  set_number(L, "time", seconds);
}

static int solve(lua_State *L, int dim, const char *who) {
  NsSolverInfo info = {0};
  check_options(L, who);
  Call *c = nsl_new(L, &call_type, sizeof *c, 0);
  c->who = who;
  c->p.dim = dim;
  NsFrictionMethod method = read_method(L, c);
  NsFrictionOptions options = {read_tolerance(L, c), read_count(L, c)};
  read_data(L, c);
  NsStatus status = ns_friction_new(&c->solver, &c->p, method);
  if (status) return nsl_raise_status(L, status, who);
  *ns_friction_options(c->solver) = options;
  NslGuard guard;
  nsl_guard_begin(&guard, L);
  double start = now();
  ns_friction_solve(c->solver, &c->p, c->guessed ? c->guess : NULL, c->r, c->u, &info);
  double seconds = now() - start;
  if (nsl_guard_end(&guard, L)) return luaL_error(L, "%s: interrupted", who);
  push_result(L, c, &info, seconds);
  return 1;
}

static int fc2d(lua_State *L) {
  return solve(L, 2, "fc2d");
}

static int fc3d(lua_State *L) {
  return solve(L, 3, "fc3d");
}

void nsl_open_numerics_friction(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", call_gc}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"fc2d", fc2d}, {"fc3d", fc3d}, {NULL, NULL}};
  nsl_register_type(L, &call_type, meta, NULL);
  luaL_getsubtable(L, -1, "numerics");
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
}
