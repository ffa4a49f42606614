/*
** numerics.c
** ns.numerics.lcp, box (relay) and mlcp: options in, a verified result out.
*/
#include "bind/numerics.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "bind/guard.h"
#include "bind/elements.h"
#include "bind/linalg.h"
#include "bind/matrix.h"
#include "bind/vector.h"
#include "solvers/default.h"
#include "solvers/residual.h"
#include "solvers/sparse_box.h"

/* One call: a userdata owns what the engine allocated, so that any error frees it. */
typedef struct Call {
  NslHead head;
  const char *who;
  NsArena arena;
  NsBox *box;
  NsSparseBox *sparse_box;
  NsBoxOptions options;
  int n, free; /* variables; of these, the first `free` are the u of a mixed problem */
  const NsSparse *sparse; /* M when it is sparse: anchored by the option table at 1 */
  double *M, *q, *lower, *upper, *guess, *z, *w, *size;
  bool guessed, mixed;
} Call;

static const NslType call_type = {.name = "nslua.numerics.call"};

typedef struct Method {
  const char *name;
  NsBoxMethod method;
} Method;

static const Method methods[] = {
    {"default", NS_BOX_DEFAULT}, {"lemke", NS_BOX_PIVOT}, {"pivot", NS_BOX_PIVOT}, {"psor", NS_BOX_PGS},
    {"pgs", NS_BOX_PGS},         {"enumerate", NS_BOX_ENUMERATE}, {"principal", NS_BOX_PRINCIPAL},
    {"newton_min", NS_BOX_NEWTON_MIN}, {"newton_fb", NS_BOX_NEWTON_FB}, {"interior", NS_BOX_INTERIOR},
};

enum { METHODS = sizeof methods / sizeof *methods };

static int call_gc(lua_State *L) {
  Call *c = lua_touserdata(L, 1);
  ns_box_free(c->box);
  ns_sparse_box_free(c->sparse_box);
  c->sparse_box = NULL;
  ns_arena_release(&c->arena);
  c->box = NULL;
  return 0;
}

/* ---- options ---- */

static const char *const linear_keys[] = {"M",         "q",              "lower", "upper", "solver",
                                          "tolerance", "max_iterations", "omega", "z0",    NULL};
static const char *const lcp_keys[] = {"M", "q", "solver", "tolerance", "max_iterations", "omega", "z0", NULL};
static const char *const mixed_keys[] = {"A", "B", "C",      "D",         "a",              "b",
                                         "solver", "tolerance", "max_iterations", "omega", "u0", "v0", NULL};

static int unknown_key(lua_State *L, const char *who, const char *const *known) {
  luaL_Buffer text;
  const char *key = luaL_tolstring(L, -1, NULL);
  luaL_buffinit(L, &text);
  for (int k = 0; known[k]; k++) {
    if (k > 0) luaL_addstring(&text, ", ");
    luaL_addstring(&text, known[k]);
  }
  luaL_pushresult(&text);
  return luaL_error(L, "%s: unknown option '%s' (known: %s)", who, key, lua_tostring(L, -1));
}

static void check_options(lua_State *L, const char *who, const char *const *known) {
  lua_settop(L, 1);
  if (!lua_istable(L, 1)) nsl_bad(L, who, "options", "one table", 1);
  lua_pushnil(L);
  while (lua_next(L, 1)) {
    int k = 0;
    lua_pop(L, 1);
    const char *key = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    while (known[k] && strcmp(key, known[k]) != 0) k++;
    if (!known[k]) unknown_key(L, who, known);
  }
}

static Call *new_call(lua_State *L, const char *who) {
  Call *c = nsl_new(L, &call_type, sizeof *c, 0);
  c->who = who;
  return c;
}

static int unknown_solver(lua_State *L, const Call *c, const char *name) {
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  for (int k = 0; k < METHODS; k++) {
    if (k > 0) luaL_addstring(&text, ", ");
    luaL_addstring(&text, methods[k].name);
  }
  luaL_pushresult(&text);
  return luaL_error(L, "%s: unknown solver '%s' (known: %s)", c->who, name, lua_tostring(L, -1));
}

static NsBoxMethod read_method(lua_State *L, const Call *c) {
  if (lua_getfield(L, 1, "solver") == LUA_TNIL) return lua_pop(L, 1), NS_BOX_DEFAULT;
  if (lua_type(L, -1) != LUA_TSTRING) nsl_bad(L, c->who, "solver", "a name", -1);
  const char *name = lua_tostring(L, -1);
  for (int k = 0; k < METHODS; k++)
    if (strcmp(name, methods[k].name) == 0) return lua_pop(L, 1), methods[k].method;
  return unknown_solver(L, c, name), NS_BOX_DEFAULT;
}

/* A number between two others, both excluded; `missing` when the option is absent. */
static double read_number(lua_State *L, const Call *c, const char *name, double low, double high, double missing) {
  if (lua_getfield(L, 1, name) == LUA_TNIL) return lua_pop(L, 1), missing;
  double x = nsl_finite(L, -1, c->who, name);
  if (!(x > low && x < high)) {
    char text[32], a[32], b[32];
    nsl_format_number(text, x), nsl_format_number(a, low), nsl_format_number(b, high);
    luaL_error(L, "%s: %s: expected a number between %s and %s, got %s", c->who, name, a, b, text);
  }
  lua_pop(L, 1);
  return x;
}

static int read_count(lua_State *L, const Call *c, const char *name) {
  if (lua_getfield(L, 1, name) == LUA_TNIL) return lua_pop(L, 1), 0;
  lua_Integer k = nsl_integer(L, -1, c->who, name);
  if (k < 1 || k > INT_MAX)
    luaL_error(L, "%s: %s: expected an integer of 1 or more, got %I", c->who, name, (LUAI_UACINT)k);
  lua_pop(L, 1);
  return (int)k;
}

static void read_options(lua_State *L, Call *c) {
  c->options.method = read_method(L, c);
  c->options.tolerance = read_number(L, c, "tolerance", 0, 1, 1e-11);
  c->options.max_iterations = read_count(L, c, "max_iterations");
  c->options.omega = read_number(L, c, "omega", 0, 2, 1);
}

/* ---- data ---- */

static void no_memory(lua_State *L, const Call *c) {
  if (c->arena.failed) luaL_error(L, "not enough memory");
}

static void take(lua_State *L, Call *c) {
  double **vectors[] = {&c->q, &c->lower, &c->upper, &c->guess, &c->z, &c->w, &c->size};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = ns_arena_doubles(&c->arena, c->n);
  no_memory(L, c);
}

/* Whether the option is there. Reads it into `to` (n doubles, all finite). */
static bool read_vector(lua_State *L, const Call *c, const char *name, int n, double *to) {
  if (lua_getfield(L, 1, name) == LUA_TNIL) return lua_pop(L, 1), false;
  nsl_vector_read(nsl_to_finite_vector(L, -1, n, c->who, name), to);
  lua_pop(L, 1);
  return true;
}

static void need_vector(lua_State *L, const Call *c, const char *name, int n, double *to) {
  char expected[48];
  if (read_vector(L, c, name, n, to)) return;
  snprintf(expected, sizeof expected, "a vector of %d", n);
  lua_pushnil(L);
  nsl_bad(L, c->who, name, expected, -1);
}

/* Copies the matrix at the top of the stack, rows x cols, to (row, col) of the problem's matrix, and pops it. */
static void read_block(lua_State *L, Call *c, const char *name, int rows, int cols, int row, int col) {
  const NslMatrix *A = nsl_to_finite_matrix(L, -1, rows, cols, c->who, name);
  for (int j = 0; j < cols; j++)
    for (int i = 0; i < rows; i++)
      c->M[(size_t)(row + i) + (size_t)(col + j) * (size_t)c->n] = A->data[i + (ptrdiff_t)j * A->ld];
  lua_pop(L, 1);
}

/* The order of the square matrix of that name, which is left on the stack. */
static int square(lua_State *L, const Call *c, const char *name) {
  if (lua_getfield(L, 1, name) == LUA_TNIL) nsl_bad(L, c->who, name, "a square matrix", -1);
  const NslMatrix *A = nsl_to_finite_matrix(L, -1, -1, -1, c->who, name);
  if (A->rows != A->cols) nsl_bad(L, c->who, name, "a square matrix", -1);
  return A->rows;
}

static void read_matrix(lua_State *L, Call *c) {
  lua_getfield(L, 1, "M");
  c->sparse = nsl_test_sparse(L, -1);
  if (c->sparse && c->sparse->rows != c->sparse->cols) nsl_bad(L, c->who, "M", "a square matrix", -1);
  if (c->sparse && !ns_sparse_finite(c->sparse)) luaL_error(L, "%s: M is not finite", c->who);
  if (c->sparse) c->n = c->sparse->rows;
  lua_pop(L, 1);
  if (!c->sparse) c->n = square(L, c, "M");
  if (c->n == 0) luaL_error(L, "%s: the problem is empty", c->who);
  if (c->sparse) return;
  c->M = ns_arena_matrix(&c->arena, c->n, c->n);
  no_memory(L, c);
  read_block(L, c, "M", c->n, c->n, 0, 0);
}

/* A bound: a number for all components, or a vector; infinities are allowed. */
static void read_bound(lua_State *L, const Call *c, const char *name, double *to) {
  lua_getfield(L, 1, name);
  if (lua_type(L, -1) == LUA_TNUMBER) {
    for (int i = 0; i < c->n; i++) to[i] = lua_tonumber(L, -1);
  } else if (lua_isnil(L, -1)) {
    nsl_bad(L, c->who, name, "a number or a vector", -1);
  } else {
    nsl_vector_read(nsl_to_vector(L, -1, c->n, c->who, name), to);
  }
  lua_pop(L, 1);
}

static void check_bounds(lua_State *L, const Call *c) {
  char low[32], high[32];
  for (int i = 0; i < c->n; i++) {
    double l = c->lower[i], u = c->upper[i];
    nsl_format_number(low, l), nsl_format_number(high, u);
    if (!(l < INFINITY)) luaL_error(L, "%s: lower[%d] is %s", c->who, i + 1, low);
    if (!(u > -INFINITY)) luaL_error(L, "%s: upper[%d] is %s", c->who, i + 1, high);
    if (l > u) luaL_error(L, "%s: lower[%d] = %s is above upper[%d] = %s", c->who, i + 1, low, i + 1, high);
  }
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
    {NS_ERAY, "ray", "a path of pivots ended on a ray: no solution was found (and there is none when M is monotone)"},
    {NS_ENOSOL, "no solution", "there is no solution"},
    {NS_ENOCONV, "no solution", "no solution was found"},
    {NS_ENAN, "no solution", "the iterates grew beyond all bounds, and no solution was found"},
    {NS_EMAXITER, "iteration limit", "the iteration limit was reached"},
    {NS_ESINGULAR, "singular", "a singular system stopped the method, and no solution was found"},
    {NS_EINTR, "interrupted", "interrupted"},
};

static const Words *words_of(NsStatus status) {
  size_t k = 0, count = sizeof words / sizeof *words;
  while (k < count && words[k].status != status) k++;
  return k < count ? &words[k] : NULL;
}

static const char *solver_name(const Call *c) {
  for (int k = 0; k < METHODS; k++)
    if (methods[k].method == c->options.method) return methods[k].name;
  return "?";
}

/* Failures that say something about the call rather than about the problem are errors. */
static void raise_bad_call(lua_State *L, const Call *c, NsStatus status) {
  if (status == NS_ETOOLARGE)
    luaL_error(L, "%s: solver '%s' takes no problem of %d variables", c->who, solver_name(c), c->n);
  if (status == NS_EARG) luaL_error(L, "%s: solver '%s' needs a positive diagonal of M", c->who, solver_name(c));
  if (!words_of(status)) nsl_raise_status(L, status, c->who);
}

static void set_number(lua_State *L, const char *name, double x) {
  lua_pushnumber(L, x);
  lua_setfield(L, -2, name);
}

static void set_string(lua_State *L, const char *name, const char *text) {
  lua_pushstring(L, text);
  lua_setfield(L, -2, name);
}

static void set_vector(lua_State *L, const char *name, int n, const double *x) {
  nsl_vector_write(nsl_push_vector(L, n, NULL), x);
  lua_setfield(L, -2, name);
}

static double largest(int n, const double *x, double so_far) {
  for (int i = 0; i < n; i++) so_far = ns_larger(so_far, fabs(x[i]));
  return so_far;
}

/* max |z - proj(z - w)| with w = M z + q computed afresh, in c->size. */
static double natural_residual(const Call *c, const double *fresh) {
  double worst = 0;
  for (int i = 0; i < c->n; i++) {
    double r = fabs(c->z[i] - ns_box_clamp(c->z[i] - fresh[i], c->lower[i], c->upper[i]));
    if (!(r <= worst)) worst = r;
  }
  return worst;
}

static void push_measures(lua_State *L, const Call *c, const double *fresh) {
  double scale = largest(c->n, c->q, largest(c->n, c->z, 0)), residual = natural_residual(c, fresh);
  set_number(L, "residual", residual);
  set_number(L, "scale", scale);
  set_number(L, "relative", residual > 0 ? residual / scale : residual);
}

static void push_answer(lua_State *L, const Call *c) {
  int n = c->free, m = c->n - n;
  if (!c->mixed) {
    set_vector(L, "z", c->n, c->z);
    set_vector(L, "w", c->n, c->w);
    return;
  }
  set_vector(L, "u", n, c->z);
  set_vector(L, "v", m, c->z + n);
  set_vector(L, "w", m, c->w + n);
}

static void push_result(lua_State *L, const Call *c, const NsSolverInfo *info, const double *fresh, double seconds) {
  const Words *said = words_of(info->status);
  lua_newtable(L);
  lua_pushboolean(L, info->status == NS_OK);
  lua_setfield(L, -2, "success");
  set_string(L, "status", said->name);
  set_string(L, "message", said->message);
  push_answer(L, c);
  push_measures(L, c, fresh);
  lua_pushinteger(L, info->iterations);
  lua_setfield(L, -2, "iterations");
  set_string(L, "solver", info->solver);
  set_number(L, "time", seconds);
}

/* solutions = the z of all solutions that an enumeration saw. */
static void push_solutions(lua_State *L, const Call *c) {
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

static int solve_sparse(lua_State *L, Call *c) {
  NsSolverInfo info = {0};
  NsStatus status = ns_sparse_box_new(&c->sparse_box, c->sparse, &c->options);
  if (status == NS_EARG) return luaL_error(L, "%s: M: solver '%s' takes no sparse matrix", c->who, solver_name(c));
  if (status) return nsl_raise_status(L, status, c->who);
  NslGuard guard;
  nsl_guard_begin(&guard, L);
  double start = now();
  ns_sparse_box_solve(c->sparse_box, c->q, c->lower, c->upper, c->guessed ? c->guess : NULL, c->z, c->w, &info);
  double seconds = now() - start;
  if (nsl_guard_end(&guard, L)) return luaL_error(L, "%s: interrupted", c->who);
  raise_bad_call(L, c, info.status);
  memcpy(c->size, c->q, (size_t)c->n * sizeof *c->q);
  ns_sparse_gemv(1, c->sparse, c->z, 1, c->size);
  push_result(L, c, &info, c->size, seconds);
  return 1;
}

static int solve_dense(lua_State *L, Call *c) {
  NsStatus status = ns_box_new(&c->box, c->n);
  NsBoxProblem p = {c->n, c->M, c->n, c->q, c->lower, c->upper};
  NsSolverInfo info = {0};
  if (status) return nsl_raise_status(L, status, c->who);
  *ns_box_options(c->box) = c->options;
  double *fresh = ns_arena_doubles(&c->arena, c->n);
  no_memory(L, c);
  NslGuard guard;
  nsl_guard_begin(&guard, L);
  double start = now();
  ns_box_solve(c->box, &p, c->guessed ? c->guess : NULL, c->z, c->w, &info);
  double seconds = now() - start;
  if (nsl_guard_end(&guard, L)) return luaL_error(L, "%s: interrupted", c->who);
  raise_bad_call(L, c, info.status);
  ns_box_product(&p, c->z, fresh, c->size);
  push_result(L, c, &info, fresh, seconds);
  if (c->options.method == NS_BOX_ENUMERATE) push_solutions(L, c);
  if (info.status == NS_ERAY && ns_box_ray(c->box, fresh)) set_vector(L, "ray", c->n, fresh);
  return 1;
}

/* ---- the functions ---- */

static int solve(lua_State *L, Call *c) {
  return c->sparse ? solve_sparse(L, c) : solve_dense(L, c);
}

static int lcp(lua_State *L) {
  check_options(L, "lcp", lcp_keys);
  Call *c = new_call(L, "lcp");
  read_options(L, c);
  read_matrix(L, c);
  take(L, c);
  need_vector(L, c, "q", c->n, c->q);
  c->guessed = read_vector(L, c, "z0", c->n, c->guess);
  for (int i = 0; i < c->n; i++) c->upper[i] = INFINITY;
  return solve(L, c);
}

static int box(lua_State *L) {
  check_options(L, "box", linear_keys);
  Call *c = new_call(L, "box");
  read_options(L, c);
  read_matrix(L, c);
  take(L, c);
  need_vector(L, c, "q", c->n, c->q);
  read_bound(L, c, "lower", c->lower);
  read_bound(L, c, "upper", c->upper);
  check_bounds(L, c);
  c->guessed = read_vector(L, c, "z0", c->n, c->guess);
  return solve(L, c);
}

static int mlcp(lua_State *L) {
  check_options(L, "mlcp", mixed_keys);
  Call *c = new_call(L, "mlcp");
  read_options(L, c);
  int n = c->free = square(L, c, "A"), m = square(L, c, "B");
  if (n > INT_MAX - m) luaL_error(L, "mlcp: size too large");
  c->n = n + m;
  c->mixed = true;
  if (c->n == 0) luaL_error(L, "mlcp: the problem is empty");
  c->M = ns_arena_matrix(&c->arena, c->n, c->n);
  no_memory(L, c);
  read_block(L, c, "B", m, m, n, n);
  read_block(L, c, "A", n, n, 0, 0);
  lua_getfield(L, 1, "C"), read_block(L, c, "C", n, m, 0, n);
  lua_getfield(L, 1, "D"), read_block(L, c, "D", m, n, n, 0);
  take(L, c);
  need_vector(L, c, "a", n, c->q);
  need_vector(L, c, "b", m, c->q + n);
  for (int i = 0; i < c->n; i++) c->lower[i] = i < n ? -INFINITY : 0, c->upper[i] = INFINITY;
  bool u0 = read_vector(L, c, "u0", n, c->guess), v0 = read_vector(L, c, "v0", m, c->guess + n);
  c->guessed = u0 || v0;
  return solve(L, c);
}

void nsl_open_numerics(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", call_gc}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"lcp", lcp}, {"box", box}, {"relay", box}, {"mlcp", mlcp}, {NULL, NULL}};
  nsl_register_type(L, &call_type, meta, NULL);
  luaL_getsubtable(L, -1, "numerics");
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
}
