/*
** friction.c
** ns.numerics.fc2d and fc3d: options in, a verified result out.
*/
#include "bind/numerics/friction.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "bind/lua/number_text.h"
#include "bind/lua/sigint.h"
#include "bind/array/sparse.h"
#include "bind/array/matrix.h"
#include "bind/numerics/answer.h"
#include "bind/array/vector.h"
#include "solvers/contact/friction_chain.h"
#include "solvers/contact/friction_residual.h"
#include "solvers/contact/mixed.h"

/* One call: a userdata owns what the engine allocated, so that any error frees it. */
typedef struct Call {
  NslHead head;
  const char *who;
  NsArena arena;
  NsMixed *solver;
  NsMixedProblem p;
  int dim;
  NsMixedGroup *groups;
  double *mu, *q, *guess, *r, *u;
  bool guessed;
} Call;

static const NslType call_type = {.name = "nslua.numerics.friction"};

static const char *const keys[] = {"W", "q", "mu", "solver", "tolerance", "max_iterations", "r0", NULL};
static int bind_friction_call_gc(lua_State *L) {
  Call *c = lua_touserdata(L, 1);
  ns_mixed_free(c->solver);
  ns_arena_release(&c->arena);
  c->solver = NULL;
  return 0;
}

/* ---- data ---- */

static void bind_friction_no_memory(lua_State *L, const Call *c) {
  if (c->arena.failed) luaL_error(L, "not enough memory");
}

static void check_order(lua_State *L, Call *c, int rows, int cols) {
  if (rows != cols) nsl_bad(L, c->who, "W", "a square matrix", -1);
  if (rows == 0) luaL_error(L, "%s: the problem is empty", c->who);
  if (rows % c->dim != 0) luaL_error(L, "%s: W: expected an order that is a multiple of %d, got %d", c->who, c->dim, rows);
  c->p.n = rows;
  c->p.ngroups = rows / c->dim;
}

/* Leaves a sparse W on the stack: it stays alive. */
static void bind_friction_read_W(lua_State *L, Call *c) {
  if (lua_getfield(L, 1, "W") == LUA_TNIL) nsl_bad(L, c->who, "W", "a square matrix", -1);
  c->p.sparse = nsl_test_sparse(L, -1);
  if (c->p.sparse) {
    check_order(L, c, c->p.sparse->rows, c->p.sparse->cols);
    if (!ns_sparse_finite(c->p.sparse)) nsl_raise_status(L, NS_ENAN, c->who);
    return;
  }
  const NslMatrix *A = nsl_to_finite_matrix(L, -1, -1, -1, c->who, "W");
  check_order(L, c, A->rows, A->cols);
  double *W = ns_arena_matrix(&c->arena, A->rows, A->cols);
  bind_friction_no_memory(L, c);
  nsl_matrix_read(A, W);
  c->p.W = W;
  lua_pop(L, 1);
}

static void read_mu(lua_State *L, const Call *c) {
  char text[32];
  bool number = lua_getfield(L, 1, "mu") == LUA_TNUMBER;
  if (number) {
    double mu = nsl_finite(L, -1, c->who, "mu");
    for (int i = 0; i < c->p.ngroups; i++) c->mu[i] = mu;
  } else if (lua_isnil(L, -1)) {
    nsl_bad(L, c->who, "mu", "a number or a vector", -1);
  } else {
    nsl_vector_read(nsl_to_finite_vector(L, -1, c->p.ngroups, c->who, "mu"), c->mu);
  }
  lua_pop(L, 1);
  for (int i = 0; i < c->p.ngroups; i++) {
    if (c->mu[i] >= 0) continue;
    nsl_format_number(text, c->mu[i]);
    if (number) luaL_error(L, "%s: mu = %s is negative", c->who, text);
    luaL_error(L, "%s: mu[%d] = %s is negative", c->who, i + 1, text);
  }
}

static void bind_friction_read_data(lua_State *L, Call *c) {
  bind_friction_read_W(L, c);
  int n = c->p.n;
  double **vectors[] = {&c->q, &c->guess, &c->r, &c->u};
  c->mu = ns_arena_doubles(&c->arena, c->p.ngroups);
  c->groups = ns_arena_take(&c->arena, (size_t)c->p.ngroups, sizeof *c->groups);
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = ns_arena_doubles(&c->arena, n);
  bind_friction_no_memory(L, c);
  nsl_numerics_need_vector(L, c->who, "q", n, c->q);
  read_mu(L, c);
  c->guessed = nsl_numerics_vector(L, c->who, "r0", n, c->guess);
  for (int i = 0; i < c->p.ngroups; i++) c->groups[i] = (NsMixedGroup){.dim = c->dim, .mu = c->mu[i]};
  c->p.q = c->q;
  c->p.groups = c->groups;
}

/* ---- the answer ---- */

/* A vector under two names. */
static void set_both(lua_State *L, const char *name, const char *other, int n, const double *x) {
  nsl_vector_write(nsl_push_vector(L, n, NULL), x);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, name);
  lua_setfield(L, -2, other);
}

static void bind_friction_push_result(lua_State *L, const Call *c, const NsSolverInfo *info, double seconds) {
  int n = c->p.n;
  NsFriction p = {.dim = c->dim, .nc = c->p.ngroups, .mu = c->mu, .q = c->q};
  double residual = ns_friction_residual(&p, c->r, c->u), scale = ns_friction_scale(&p, c->r);
  lua_newtable(L);
  nsl_set_status(L, info->status, c->who);
  set_both(L, "r", "z", n, c->r);
  set_both(L, "u", "w", n, c->u);
  nsl_set_number(L, "residual", residual);
  nsl_set_number(L, "scale", scale);
  nsl_set_number(L, "relative", residual / scale);
  nsl_set_number(L, "scaled", info->backward);
  nsl_set_integer(L, "iterations", info->iterations);
  nsl_set_string(L, "solver", info->solver);
  nsl_set_number(L, "time", seconds);
}

static int bind_friction_solve(lua_State *L, int dim, const char *who) {
  NsSolverInfo info = {0};
  nsl_numerics_options(L, who, keys);
  Call *c = nsl_new(L, &call_type, sizeof *c, 0);
  c->who = who;
  c->dim = dim;
  if (ns_mixed_new(&c->solver) != NS_OK) luaL_error(L, "not enough memory");
  const char *asked;
  const NsMethod *method = nsl_numerics_method(L, who, ns_friction_methods, dim == 2 ? NS_TAKES_PLANE : NS_TAKES_SPACE, &asked);
  *ns_mixed_options(c->solver) = (NsMixedOptions){.tolerance = nsl_numerics_number(L, who, "tolerance", 0, 1, 1e-8),
                                                  .max_iterations = nsl_numerics_count(L, who, "max_iterations", 1, 0),
                                                  .contacts = true,
                                                  .method = method};
  bind_friction_read_data(L, c);
  NslGuard guard;
  nsl_guard_begin(&guard, L);
  double start = nsl_numerics_now();
  ns_mixed_solve(c->solver, &c->p, c->guessed ? c->guess : NULL, c->r, c->u, &info);
  double seconds = nsl_numerics_now() - start;
  if (nsl_guard_end(&guard, L)) return luaL_error(L, "%s: interrupted", who);
  bind_friction_push_result(L, c, &info, seconds);
  return 1;
}

static int fc2d(lua_State *L) {
  return bind_friction_solve(L, 2, "fc2d");
}

static int fc3d(lua_State *L) {
  return bind_friction_solve(L, 3, "fc3d");
}

void nsl_open_numerics_friction(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", bind_friction_call_gc}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"fc2d", fc2d}, {"fc3d", fc3d}, {NULL, NULL}};
  nsl_register_type(L, &call_type, meta, NULL);
  luaL_getsubtable(L, -1, "numerics");
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
}
