/*
** box.c
** ns.numerics.lcp, box (relay) and mlcp: options in, a verified result out.
*/
#include "bind/numerics/box.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "bind/lua/sigint.h"
#include "bind/array/sparse.h"
#include "bind/array/matrix.h"
#include "bind/numerics/answer.h"
#include "bind/array/vector.h"
#include "solvers/box/box_solver.h"
#include "solvers/residual.h"
#include "solvers/box/sparse_box.h"

/* One call: a userdata owns what the engine allocated, so that any error frees it. */
typedef struct Call {
  NslHead head;
  const char *who, *solver; /* the solver by the name that was given */
  NsArena arena;
  NsBox *box;
  NsSparseBox *sparse_box;
  NsBoxOptions options;
  int n, free;            /* variables; of these, the first `free` are the u of a mixed problem */
  const NsSparse *sparse; /* M when it is sparse: anchored by the option table at 1 */
  double *M, *q, *lower, *upper, *guess, *z, *w, *size;
  bool guessed, mixed;
} Call;

static const NslType call_type = {.name = "nslua.numerics.call"};

static int bind_box_call_gc(lua_State *L) {
  Call *c = lua_touserdata(L, 1);
  ns_box_free(c->box);
  ns_sparse_box_free(c->sparse_box);
  c->sparse_box = NULL;
  ns_arena_release(&c->arena);
  c->box = NULL;
  return 0;
}

/* ---- options ---- */

static const char *const linear_keys[] = {"M",     "q",  "lower", "upper", "solver", "tolerance", "max_iterations",
                                          "omega", "z0", NULL};
static const char *const lcp_keys[] = {"M", "q", "solver", "tolerance", "max_iterations", "omega", "z0", NULL};
static const char *const mixed_keys[] = {"A",     "B",  "C",  "D", "a", "b", "solver", "tolerance", "max_iterations",
                                         "omega", "u0", "v0", NULL};

static Call *bind_box_new_call(lua_State *L, const char *who) {
  Call *c = nsl_new(L, &call_type, sizeof *c, 0);
  c->who = who;
  return c;
}

static void bind_box_read_options(lua_State *L, Call *c) {
  c->options.method = nsl_numerics_method(L, c->who, ns_box_methods, NS_TAKES_DENSE, &c->solver);
  c->options.tolerance = nsl_numerics_number(L, c->who, "tolerance", 0, 1, 1e-11);
  c->options.max_iterations = nsl_numerics_count(L, c->who, "max_iterations", 1, 0);
  c->options.omega = nsl_numerics_number(L, c->who, "omega", 0, 2, 1);
}

/* ---- data ---- */

static void bind_box_no_memory(lua_State *L, const Call *c) {
  if (c->arena.failed) luaL_error(L, "not enough memory");
}

static void bind_box_take(lua_State *L, Call *c) {
  double **vectors[] = {&c->q, &c->lower, &c->upper, &c->guess, &c->z, &c->w, &c->size};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = ns_arena_doubles(&c->arena, c->n);
  bind_box_no_memory(L, c);
}

/* Copies the matrix at the top of the stack, rows x cols, to (row, col) of the problem's matrix, and pops it. */
static void bind_box_read_block(lua_State *L, Call *c, const char *name, int rows, int cols, int row, int col) {
  const NslMatrix *A = nsl_to_finite_matrix(L, -1, rows, cols, c->who, name);
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++)
      c->M[(size_t)(row + i) + (size_t)(col + j) * (size_t)c->n] = A->data[i + (ptrdiff_t)j * A->ld];
  lua_pop(L, 1);
}

/* The order of the square matrix of that name, which is left on the stack. */
static int bind_box_square(lua_State *L, const Call *c, const char *name) {
  if (lua_getfield(L, 1, name) == LUA_TNIL) nsl_bad(L, c->who, name, "a square matrix", -1);
  const NslMatrix *A = nsl_to_finite_matrix(L, -1, -1, -1, c->who, name);
  if (A->rows != A->cols) nsl_bad(L, c->who, name, "a square matrix", -1);
  return A->rows;
}

static void bind_box_read_matrix(lua_State *L, Call *c) {
  lua_getfield(L, 1, "M");
  c->sparse = nsl_test_sparse(L, -1);
  if (c->sparse && c->sparse->rows != c->sparse->cols) nsl_bad(L, c->who, "M", "a square matrix", -1);
  if (c->sparse && !ns_sparse_finite(c->sparse)) luaL_error(L, "%s: M is not finite", c->who);
  if (c->sparse) c->n = c->sparse->rows;
  lua_pop(L, 1);
  if (!c->sparse) c->n = bind_box_square(L, c, "M");
  if (c->n == 0) luaL_error(L, "%s: the problem is empty", c->who);
  if (c->sparse) return;
  c->M = ns_arena_matrix(&c->arena, c->n, c->n);
  bind_box_no_memory(L, c);
  bind_box_read_block(L, c, "M", c->n, c->n, 0, 0);
}

/* A bound that must be there. */
static void need_bound(lua_State *L, const Call *c, const char *name, double *to) {
  if (lua_getfield(L, 1, name) == LUA_TNIL) nsl_bad(L, c->who, name, "a number or a vector", -1);
  lua_pop(L, 1);
  nsl_numerics_bound(L, c->who, name, c->n, 0, to);
}

/* ---- the answer ---- */

/* Failures that say something about the call rather than about the problem are errors. */
static void raise_bad_call(lua_State *L, const Call *c, NsStatus status) {
  if (status == NS_ETOOLARGE) luaL_error(L, "%s: solver '%s' takes no problem of %d variables", c->who, c->solver, c->n);
  if (status == NS_EARG) luaL_error(L, "%s: solver '%s' needs %s of M", c->who, c->solver, c->options.method->needs);
}

static double bind_box_largest(int n, const double *x, double so_far) {
  for (int i = 0; i < n; i++) so_far = ns_larger(so_far, fabs(x[i]));
  return so_far;
}

/* max |z - proj(z - w)| with w = M z + q computed afresh, in c->size. */
static double bind_box_natural_residual(const Call *c, const double *fresh) {
  double worst = 0;
  for (int i = 0; i < c->n; i++) {
    double r = fabs(c->z[i] - ns_box_clamp(c->z[i] - fresh[i], c->lower[i], c->upper[i]));
    if (!(r <= worst)) worst = r;
  }
  return worst;
}

static void push_measures(lua_State *L, const Call *c, const double *fresh) {
  double scale = bind_box_largest(c->n, c->q, bind_box_largest(c->n, c->z, 0)), residual = bind_box_natural_residual(c, fresh);
  nsl_set_number(L, "residual", residual);
  nsl_set_number(L, "scale", scale);
  nsl_set_number(L, "relative", residual > 0 ? residual / scale : residual);
}

static void bind_box_push_answer(lua_State *L, const Call *c) {
  int n = c->free, m = c->n - n;
  if (!c->mixed) {
    nsl_set_vector(L, "z", c->n, c->z);
    nsl_set_vector(L, "w", c->n, c->w);
    return;
  }
  nsl_set_vector(L, "u", n, c->z);
  nsl_set_vector(L, "v", m, c->z + n);
  nsl_set_vector(L, "w", m, c->w + n);
}

static void bind_box_push_result(lua_State *L, const Call *c, const NsSolverInfo *info, const double *fresh, double seconds) {
  lua_newtable(L);
  nsl_set_status(L, info->status, c->who);
  bind_box_push_answer(L, c);
  push_measures(L, c, fresh);
  nsl_set_integer(L, "iterations", info->iterations);
  nsl_set_string(L, "solver", info->solver);
  nsl_set_number(L, "time", seconds);
}

/* solutions = the z of all solutions that an enumeration saw. */
static void bind_box_push_solutions(lua_State *L, const Call *c) {
  int found = ns_box_solutions(c->box);
  lua_createtable(L, found, 0);
  for (int k = 0; k < found; k++) {
    memcpy(c->size, c->z, (size_t)c->n * sizeof *c->z);
    ns_box_solution(c->box, k, c->size);
    nsl_vector_write(nsl_push_vector(L, c->n, NULL), c->size);
    lua_rawseti(L, -2, k + 1);
  }
  lua_setfield(L, -2, "solutions");
}

static int bind_box_solve_sparse(lua_State *L, Call *c) {
  NsSolverInfo info = {0};
  NsStatus status = ns_sparse_box_new(&c->sparse_box, c->sparse, &c->options);
  if (status == NS_EARG) return luaL_error(L, "%s: M: solver '%s' takes no sparse matrix", c->who, c->solver);
  if (status) return nsl_raise_status(L, status, c->who);
  NslGuard guard;
  nsl_guard_begin(&guard, L);
  double start = nsl_numerics_now();
  ns_sparse_box_solve(c->sparse_box, c->q, c->lower, c->upper, c->guessed ? c->guess : NULL, c->z, c->w, &info);
  double seconds = nsl_numerics_now() - start;
  if (nsl_guard_end(&guard, L)) return luaL_error(L, "%s: interrupted", c->who);
  raise_bad_call(L, c, info.status);
  memcpy(c->size, c->q, (size_t)c->n * sizeof *c->q);
  ns_sparse_gemv(1, c->sparse, c->z, 1, c->size);
  bind_box_push_result(L, c, &info, c->size, seconds);
  return 1;
}

static int bind_box_solve_dense(lua_State *L, Call *c) {
  NsStatus status = ns_box_new(&c->box, c->n);
  NsBoxProblem p = {c->n, c->M, c->n, c->q, c->lower, c->upper, 0};
  NsSolverInfo info = {0};
  if (status) return nsl_raise_status(L, status, c->who);
  *ns_box_options(c->box) = c->options;
  double *fresh = ns_arena_doubles(&c->arena, c->n);
  bind_box_no_memory(L, c);
  NslGuard guard;
  nsl_guard_begin(&guard, L);
  double start = nsl_numerics_now();
  ns_box_solve(c->box, &p, c->guessed ? c->guess : NULL, c->z, c->w, &info);
  double seconds = nsl_numerics_now() - start;
  if (nsl_guard_end(&guard, L)) return luaL_error(L, "%s: interrupted", c->who);
  raise_bad_call(L, c, info.status);
  ns_box_product(&p, c->z, fresh, c->size);
  bind_box_push_result(L, c, &info, fresh, seconds);
  if (strcmp(c->solver, "enumerate") == 0) bind_box_push_solutions(L, c);
  if (info.status == NS_ERAY && ns_box_ray(c->box, fresh)) nsl_set_vector(L, "ray", c->n, fresh);
  return 1;
}

/* ---- the functions ---- */

static int bind_box_solve(lua_State *L, Call *c) {
  return c->sparse ? bind_box_solve_sparse(L, c) : bind_box_solve_dense(L, c);
}

static int lcp(lua_State *L) {
  nsl_numerics_options(L, "lcp", lcp_keys);
  Call *c = bind_box_new_call(L, "lcp");
  bind_box_read_options(L, c);
  bind_box_read_matrix(L, c);
  bind_box_take(L, c);
  nsl_numerics_need_vector(L, c->who, "q", c->n, c->q);
  c->guessed = nsl_numerics_vector(L, c->who, "z0", c->n, c->guess);
  for (int i = 0; i < c->n; i++) c->upper[i] = INFINITY;
  return bind_box_solve(L, c);
}

static int bind_box_box(lua_State *L) {
  nsl_numerics_options(L, "box", linear_keys);
  Call *c = bind_box_new_call(L, "box");
  bind_box_read_options(L, c);
  bind_box_read_matrix(L, c);
  bind_box_take(L, c);
  nsl_numerics_need_vector(L, c->who, "q", c->n, c->q);
  need_bound(L, c, "lower", c->lower);
  need_bound(L, c, "upper", c->upper);
  nsl_numerics_check_bounds(L, c->who, c->n, c->lower, c->upper);
  c->guessed = nsl_numerics_vector(L, c->who, "z0", c->n, c->guess);
  return bind_box_solve(L, c);
}

static int mlcp(lua_State *L) {
  nsl_numerics_options(L, "mlcp", mixed_keys);
  Call *c = bind_box_new_call(L, "mlcp");
  bind_box_read_options(L, c);
  int n = c->free = bind_box_square(L, c, "A"), m = bind_box_square(L, c, "B");
  if (n > INT_MAX - m) luaL_error(L, "mlcp: size too large");
  c->n = n + m;
  c->mixed = true;
  if (c->n == 0) luaL_error(L, "mlcp: the problem is empty");
  c->M = ns_arena_matrix(&c->arena, c->n, c->n);
  bind_box_no_memory(L, c);
  bind_box_read_block(L, c, "B", m, m, n, n);
  bind_box_read_block(L, c, "A", n, n, 0, 0);
  lua_getfield(L, 1, "C"), bind_box_read_block(L, c, "C", n, m, 0, n);
  lua_getfield(L, 1, "D"), bind_box_read_block(L, c, "D", m, n, n, 0);
  bind_box_take(L, c);
  nsl_numerics_need_vector(L, c->who, "a", n, c->q);
  nsl_numerics_need_vector(L, c->who, "b", m, c->q + n);
  for (int i = 0; i < c->n; i++) c->lower[i] = i < n ? -INFINITY : 0, c->upper[i] = INFINITY;
  bool u0 = nsl_numerics_vector(L, c->who, "u0", n, c->guess), v0 = nsl_numerics_vector(L, c->who, "v0", m, c->guess + n);
  c->guessed = u0 || v0;
  return bind_box_solve(L, c);
}

void nsl_open_numerics(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", bind_box_call_gc}, {NULL, NULL}};
  static const luaL_Reg functions[] = {
      {"lcp", lcp}, {"box", bind_box_box}, {"relay", bind_box_box}, {"mlcp", mlcp}, {NULL, NULL}};
  nsl_register_type(L, &call_type, meta, NULL);
  luaL_getsubtable(L, -1, "numerics");
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
}
