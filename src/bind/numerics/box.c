/*
** box.c
** ns.numerics.lcp, box (relay) and mlcp: options in, a verified result out.
*/
#include "bind/lua/open.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "bind/array/sparse.h"
#include "bind/array/matrix.h"
#include "bind/numerics/answer.h"
#include "bind/array/vector.h"
#include "solvers/box/box_solver.h"
#include "solvers/residual.h"
#include "solvers/box/sparse_box.h"

/* A problem as stated by the caller; the call owns what it points at. */
typedef struct BoxCall {
  NslCall *call;
  const char *solver; /* its name as given */
  NsBoxOptions options;
  int n, free;            /* n: number of variables; free: the first `free` of them are the u of a mixed problem */
  const NsSparse *sparse; /* M when it is sparse; anchored by the option table at 1 */
  double *M, *q, *lower, *upper, *guess, *z, *w;
  double *work, *fresh; /* n each: workspace; M z + q, computed afresh */
  bool guessed, mixed;
} BoxCall;

static void box_call_free(void *box) {
  ns_box_free(box);
}

static void box_call_free_sparse(void *box) {
  ns_sparse_box_free(box);
}

/* ---- options ---- */

static const char *const linear_keys[] = {"M",     "q",  "lower", "upper", "solver", "tolerance", "max_iterations",
                                          "omega", "z0", NULL};
static const char *const lcp_keys[] = {"M", "q", "solver", "tolerance", "max_iterations", "omega", "z0", NULL};
static const char *const mixed_keys[] = {"A",     "B",  "C",  "D", "a", "b", "solver", "tolerance", "max_iterations",
                                         "omega", "u0", "v0", NULL};

/* Starts a call: checks that the table has only these keys, and reads its options. */
static BoxCall bind_box_begin(lua_State *L, const char *who, const char *const *keys) {
  nsl_numerics_options(L, who, keys);
  BoxCall c = {.call = nsl_new_call(L, who, 0)};
  c.options.method = nsl_numerics_method(L, who, ns_box_methods, NS_TAKES_DENSE, &c.solver);
  c.options.tolerance = nsl_numerics_number(L, who, "tolerance", 0, 1, 1e-11);
  c.options.max_iterations = nsl_numerics_count(L, who, "max_iterations", 1, 0);
  c.options.omega = nsl_numerics_number(L, who, "omega", 0, 2, 1);
  return c;
}

/* ---- data ---- */

static void bind_box_take(lua_State *L, BoxCall *c) {
  double **vectors[] = {&c->q, &c->lower, &c->upper, &c->guess, &c->z, &c->w, &c->work, &c->fresh};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = nsl_call_numbers(L, c->call, c->n);
}

static void bind_box_take_matrix(lua_State *L, BoxCall *c) {
  c->M = ns_arena_matrix(&c->call->arena, c->n, c->n);
  if (!c->M) luaL_error(L, "not enough memory");
}

/* Copies the matrix at the top of the stack, rows x cols, to (row, col) of the problem's matrix, and pops it. */
static void bind_box_read_block(lua_State *L, BoxCall *c, const char *name, int rows, int cols, int row, int col) {
  const NslMatrix *A = nsl_to_finite_matrix(L, -1, rows, cols, c->call->who, name);
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++)
      c->M[(size_t)(row + i) + (size_t)(col + j) * (size_t)c->n] = A->data[i + (ptrdiff_t)j * A->ld];
  lua_pop(L, 1);
}

/* The order of the square matrix in that option, which is left on the stack. */
static int bind_box_square(lua_State *L, const BoxCall *c, const char *name) {
  if (lua_getfield(L, 1, name) == LUA_TNIL) nsl_bad(L, c->call->who, name, "a square matrix", -1);
  const NslMatrix *A = nsl_to_finite_matrix(L, -1, -1, -1, c->call->who, name);
  if (A->rows != A->cols) nsl_bad(L, c->call->who, name, "a square matrix", -1);
  return A->rows;
}

static void bind_box_read_matrix(lua_State *L, BoxCall *c) {
  lua_getfield(L, 1, "M");
  c->sparse = nsl_test_sparse(L, -1);
  if (c->sparse && c->sparse->rows != c->sparse->cols) nsl_bad(L, c->call->who, "M", "a square matrix", -1);
  if (c->sparse && !ns_sparse_finite(c->sparse)) luaL_error(L, "%s: M is not finite", c->call->who);
  if (c->sparse) c->n = c->sparse->rows;
  lua_pop(L, 1);
  if (!c->sparse) c->n = bind_box_square(L, c, "M");
  if (c->n == 0) luaL_error(L, "%s: the problem is empty", c->call->who);
  if (c->sparse) return;
  bind_box_take_matrix(L, c);
  bind_box_read_block(L, c, "M", c->n, c->n, 0, 0);
}

/* Reads a bound that is required. */
static void need_bound(lua_State *L, const BoxCall *c, const char *name, double *to) {
  if (lua_getfield(L, 1, name) == LUA_TNIL) nsl_bad(L, c->call->who, name, "a number or a vector", -1);
  lua_pop(L, 1);
  nsl_numerics_bound(L, c->call->who, name, c->n, 0, to);
}

/* ---- the answer ---- */

/* Raises for a status that concerns the call, not the problem. */
static void raise_bad_call(lua_State *L, const BoxCall *c, NsStatus status) {
  if (status == NS_ETOOLARGE) luaL_error(L, "%s: solver '%s' takes no problem of %d variables", c->call->who, c->solver, c->n);
  if (status == NS_EARG) luaL_error(L, "%s: solver '%s' needs %s of M", c->call->who, c->solver, c->options.method->needs);
}

static void bind_box_push_answer(lua_State *L, const BoxCall *c) {
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

static void bind_box_push_result(lua_State *L, const BoxCall *c, const NsSolverInfo *info, double seconds) {
  NsSolverInfo plain = *info;
  double scale = ns_largest(c->n, c->q, ns_largest(c->n, c->z, 0));
  plain.residual = ns_box_plain_residual(c->n, c->lower, c->upper, c->z, c->fresh);
  plain.relative = plain.residual > 0 ? plain.residual / scale : plain.residual;
  nsl_push_account(L, c->call->who, &plain, seconds);
  bind_box_push_answer(L, c);
  nsl_set_number(L, "scale", scale);
}

/* solutions = the list of z of all solutions that an enumeration found. */
static void bind_box_push_solutions(lua_State *L, const BoxCall *c, const NsBox *box) {
  int found = ns_box_solutions(box);
  lua_createtable(L, found, 0);
  for (int k = 0; k < found; k++) {
    memcpy(c->work, c->z, (size_t)c->n * sizeof *c->z);
    ns_box_solution(box, k, c->work);
    nsl_vector_write(nsl_push_vector(L, c->n, NULL), c->work);
    lua_rawseti(L, -2, k + 1);
  }
  lua_setfield(L, -2, "solutions");
}

static int bind_box_solve_sparse(lua_State *L, BoxCall *c) {
  NsSolverInfo info = {0};
  NsSparseBox *box;
  NsStatus status = ns_sparse_box_new(&box, c->sparse, &c->options);
  nsl_call_owns(c->call, box, box_call_free_sparse);
  if (status == NS_EARG) return luaL_error(L, "%s: M: solver '%s' takes no sparse matrix", c->call->who, c->solver);
  if (status) return nsl_raise_status(L, status, c->call->who);
  nsl_call_begin(L, c->call);
  ns_sparse_box_solve(box, c->q, c->lower, c->upper, c->guessed ? c->guess : NULL, c->z, c->w, &info);
  double seconds = nsl_call_end(L, c->call);
  raise_bad_call(L, c, info.status);
  memcpy(c->fresh, c->q, (size_t)c->n * sizeof *c->q);
  ns_sparse_gemv(1, c->sparse, c->z, 1, c->fresh);
  bind_box_push_result(L, c, &info, seconds);
  return 1;
}

static int bind_box_solve_dense(lua_State *L, BoxCall *c) {
  NsSolverInfo info = {0};
  NsBox *box;
  NsBoxProblem p = {c->n, c->M, c->n, c->q, c->lower, c->upper, 0};
  NsStatus status = ns_box_new(&box, c->n);
  nsl_call_owns(c->call, box, box_call_free);
  if (status) return nsl_raise_status(L, status, c->call->who);
  *ns_box_options(box) = c->options;
  nsl_call_begin(L, c->call);
  ns_box_solve(box, &p, c->guessed ? c->guess : NULL, c->z, c->w, &info);
  double seconds = nsl_call_end(L, c->call);
  raise_bad_call(L, c, info.status);
  ns_box_product(&p, c->z, c->fresh, c->work);
  bind_box_push_result(L, c, &info, seconds);
  if (strcmp(c->solver, "enumerate") == 0) bind_box_push_solutions(L, c, box);
  if (info.status == NS_ERAY && ns_box_ray(box, c->fresh)) nsl_set_vector(L, "ray", c->n, c->fresh);
  return 1;
}

/* ---- the functions ---- */

static int bind_box_solve(lua_State *L, BoxCall *c) {
  return c->sparse ? bind_box_solve_sparse(L, c) : bind_box_solve_dense(L, c);
}

static int lcp(lua_State *L) {
  BoxCall begun = bind_box_begin(L, "lcp", lcp_keys), *c = &begun;
  bind_box_read_matrix(L, c);
  bind_box_take(L, c);
  nsl_numerics_need_vector(L, c->call->who, "q", c->n, c->q);
  c->guessed = nsl_numerics_vector(L, c->call->who, "z0", c->n, c->guess);
  for (int i = 0; i < c->n; i++) c->upper[i] = INFINITY;
  return bind_box_solve(L, c);
}

static int bind_box_box(lua_State *L) {
  BoxCall begun = bind_box_begin(L, "box", linear_keys), *c = &begun;
  bind_box_read_matrix(L, c);
  bind_box_take(L, c);
  nsl_numerics_need_vector(L, c->call->who, "q", c->n, c->q);
  need_bound(L, c, "lower", c->lower);
  need_bound(L, c, "upper", c->upper);
  nsl_numerics_check_bounds(L, c->call->who, c->n, c->lower, c->upper);
  c->guessed = nsl_numerics_vector(L, c->call->who, "z0", c->n, c->guess);
  return bind_box_solve(L, c);
}

static int mlcp(lua_State *L) {
  BoxCall begun = bind_box_begin(L, "mlcp", mixed_keys), *c = &begun;
  int n = c->free = bind_box_square(L, c, "A"), m = bind_box_square(L, c, "B");
  if (n > INT_MAX - m) luaL_error(L, "mlcp: size too large");
  c->n = n + m;
  c->mixed = true;
  if (c->n == 0) luaL_error(L, "mlcp: the problem is empty");
  bind_box_take_matrix(L, c);
  bind_box_read_block(L, c, "B", m, m, n, n);
  bind_box_read_block(L, c, "A", n, n, 0, 0);
  lua_getfield(L, 1, "C"), bind_box_read_block(L, c, "C", n, m, 0, n);
  lua_getfield(L, 1, "D"), bind_box_read_block(L, c, "D", m, n, n, 0);
  bind_box_take(L, c);
  nsl_numerics_need_vector(L, c->call->who, "a", n, c->q);
  nsl_numerics_need_vector(L, c->call->who, "b", m, c->q + n);
  for (int i = 0; i < c->n; i++) c->lower[i] = i < n ? -INFINITY : 0, c->upper[i] = INFINITY;
  bool u0 = nsl_numerics_vector(L, c->call->who, "u0", n, c->guess),
       v0 = nsl_numerics_vector(L, c->call->who, "v0", m, c->guess + n);
  c->guessed = u0 || v0;
  return bind_box_solve(L, c);
}

void nsl_open_numerics(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"lcp", lcp}, {"box", bind_box_box}, {"relay", bind_box_box}, {"mlcp", mlcp}, {NULL, NULL}};
  nsl_open_calls(L);
  luaL_getsubtable(L, -1, "numerics");
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
}
