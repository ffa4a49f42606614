/*
** answer.c
** Reading options, wording results.
*/
#include "bind/numerics/answer.h"
#include "bind/lua/open.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "bind/array/sparse.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"
#include "bind/lua/options.h"
#include "solvers/chain.h"

/* ---- a call ---- */

static const NslType call_type = {.name = "nslua.numerics.call"};

static int call_gc(lua_State *L) {
  NslCall *call = lua_touserdata(L, 1);
  while (call->count > 0) {
    call->count--;
    call->owned[call->count].release(call->owned[call->count].object);
  }
  ns_arena_release(&call->arena);
  return 0;
}

void nsl_open_calls(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", call_gc}, {NULL, NULL}};
  nsl_register_type(L, &call_type, meta, NULL);
}

NslCall *nsl_new_call(lua_State *L, const char *who, int uservalues) {
  NslCall *call = nsl_new(L, &call_type, sizeof *call, uservalues);
  call->who = who;
  return call;
}

void nsl_call_owns(NslCall *call, void *object, void (*release)(void *object)) {
  if (!object) return;
  call->owned[call->count].object = object;
  call->owned[call->count++].release = release;
}

void *nsl_call_take(lua_State *L, NslCall *call, size_t count, size_t size) {
  void *block = ns_arena_take(&call->arena, count, size);
  if (!block) luaL_error(L, "not enough memory");
  return block;
}

double *nsl_call_numbers(lua_State *L, NslCall *call, int n) {
  return nsl_call_take(L, call, (size_t)n, sizeof(double));
}

void nsl_call_begin(lua_State *L, NslCall *call) {
  nsl_guard_begin(&call->guard, L);
  call->start = ns_clock_now();
}

double nsl_call_end(lua_State *L, NslCall *call) {
  double seconds = ns_clock_now() - call->start;
  if (nsl_guard_end(&call->guard, L)) luaL_error(L, "%s: interrupted", call->who);
  return seconds;
}

/* ---- options ---- */

void nsl_numerics_options(lua_State *L, const char *who, const char *const *known) {
  lua_settop(L, 1);
  if (!lua_istable(L, 1)) nsl_bad(L, who, "options", "one table", 1);
  nsl_check_options(L, 1, who, known);
}

double nsl_numerics_number(lua_State *L, const char *who, const char *name, double low, double high, double missing) {
  if (lua_getfield(L, 1, name) == LUA_TNIL) return lua_pop(L, 1), missing;
  double x = nsl_finite(L, -1, who, name);
  if (!(x > low && x < high)) {
    char text[32], a[32], b[32];
    ns_print_short(text, x), ns_print_short(a, low), ns_print_short(b, high);
    luaL_error(L, "%s: %s: expected a number between %s and %s, got %s", who, name, a, b, text);
  }
  lua_pop(L, 1);
  return x;
}

int nsl_numerics_count(lua_State *L, const char *who, const char *name, int least, int missing) {
  if (lua_getfield(L, 1, name) == LUA_TNIL) return lua_pop(L, 1), missing;
  lua_Integer k = nsl_integer(L, -1, who, name);
  if (k < least || k > INT_MAX)
    luaL_error(L, "%s: %s: expected an integer of %d or more, got %I", who, name, least, (LUAI_UACINT)k);
  lua_pop(L, 1);
  return (int)k;
}

const NsMethod *nsl_method_named(const NsMethod *const *list, unsigned takes, const char *name, const char **asked) {
  const NsMethod *method;
  int k = 0;
  while ((*asked = ns_method_name(list, takes, k++, &method)) && strcmp(*asked, name) != 0) continue;
  return method;
}

const char *nsl_push_methods(lua_State *L, const NsMethod *const *list, unsigned takes) {
  const NsMethod *method;
  const char *name;
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  for (int k = 0; (name = ns_method_name(list, takes, k, &method)); k++) {
    if (k > 0) luaL_addstring(&text, ", ");
    luaL_addstring(&text, name);
  }
  luaL_pushresult(&text);
  return lua_tostring(L, -1);
}

const NsMethod *nsl_numerics_method(lua_State *L, const char *who, const NsMethod *const *list, unsigned takes,
                                    const char **asked) {
  const char *name = "default";
  if (lua_getfield(L, 1, "solver") != LUA_TNIL) {
    if (lua_type(L, -1) != LUA_TSTRING) nsl_bad(L, who, "solver", "a name", -1);
    name = lua_tostring(L, -1);
  }
  const NsMethod *method = nsl_method_named(list, takes, name, asked);
  if (!*asked) luaL_error(L, "%s: unknown solver '%s' (known: %s)", who, name, nsl_push_methods(L, list, takes));
  lua_pop(L, 1);
  return method;
}

bool nsl_numerics_vector(lua_State *L, const char *who, const char *name, int n, double *to) {
  if (lua_getfield(L, 1, name) == LUA_TNIL) return lua_pop(L, 1), false;
  nsl_vector_read(nsl_to_finite_vector(L, -1, n, who, name), to);
  lua_pop(L, 1);
  return true;
}

void nsl_numerics_need_vector(lua_State *L, const char *who, const char *name, int n, double *to) {
  if (nsl_numerics_vector(L, who, name, n, to)) return;
  lua_pushfstring(L, "a vector of %d", n);
  lua_pushnil(L);
  nsl_bad(L, who, name, lua_tostring(L, -2), -1);
}

void nsl_numerics_bound(lua_State *L, const char *who, const char *name, int n, double missing, double *to) {
  int type = lua_getfield(L, 1, name);
  if (type == LUA_TNIL || type == LUA_TNUMBER) {
    for (int i = 0; i < n; i++) to[i] = type == LUA_TNIL ? missing : lua_tonumber(L, -1);
  } else {
    nsl_vector_read(nsl_to_vector(L, -1, n, who, name), to);
  }
  lua_pop(L, 1);
}

/* Raises for bounds between which there is no number. */
static void raise_bounds(lua_State *L, const char *who, int i, double lower, double upper) {
  char low[32], high[32];
  ns_print_short(low, lower), ns_print_short(high, upper);
  if (!(lower < INFINITY)) luaL_error(L, "%s: lower[%d] is %s", who, i + 1, low);
  if (!(upper > -INFINITY)) luaL_error(L, "%s: upper[%d] is %s", who, i + 1, high);
  luaL_error(L, "%s: lower[%d] = %s is above upper[%d] = %s", who, i + 1, low, i + 1, high);
}

void nsl_numerics_check_bounds(lua_State *L, const char *who, int n, const double *lower, const double *upper) {
  for (int i = 0; i < n; i++)
    if (!(lower[i] < INFINITY && upper[i] > -INFINITY && lower[i] <= upper[i])) raise_bounds(L, who, i, lower[i], upper[i]);
}

double *nsl_numerics_matrix(lua_State *L, const char *who, const char *name, NsArena *arena, int *rows, int *cols) {
  lua_getfield(L, 1, name);
  if (lua_isnil(L, -1)) nsl_bad(L, who, name, "a matrix", -1);
  if (nsl_test_sparse(L, -1))
    luaL_error(L, "%s: %s: expected a dense matrix, got %s (%s:tomatrix() makes one)", who, name, nsl_describe(L, -1), name);
  const NslMatrix *A = nsl_to_finite_matrix(L, -1, *rows, *cols, who, name);
  double *copy = ns_arena_matrix(arena, A->rows, A->cols);
  if (!copy) luaL_error(L, "not enough memory");
  nsl_matrix_read(A, copy);
  *rows = A->rows;
  *cols = A->cols;
  lua_pop(L, 1);
  return copy;
}

double *nsl_numerics_square(lua_State *L, const char *who, const char *name, NsArena *arena, int *n) {
  int rows = -1, cols = -1;
  double *A = nsl_numerics_matrix(L, who, name, arena, &rows, &cols);
  if (rows != cols) luaL_error(L, "%s: %s: expected a square matrix, got %d x %d matrix", who, name, rows, cols);
  if (rows == 0) luaL_error(L, "%s: the problem is empty", who);
  *n = rows;
  return A;
}

void nsl_set_solver_info(lua_State *L, const NsSolverInfo *info) {
  nsl_set_string(L, "status", ns_status_name(info->status));
  nsl_set_string(L, "message", ns_status_message(info->status));
  nsl_set_string(L, "solver", info->solver ? info->solver : "");
  nsl_set_integer(L, "iterations", info->iterations);
  nsl_set_number(L, "residual", info->residual);
  nsl_set_number(L, "relative", info->relative);
  nsl_set_number(L, "backward", info->backward);
  nsl_set_boolean(L, "warm", info->warm);
}

typedef struct Words {
  NsStatus status;
  const char *name, *message;
} Words;

static const Words words[] = {
    {NS_OK, "ok", "solved"},
    {NS_ERAY, "ray", "a path of pivots ended on a ray: no solution was found (and there is none when M is monotone)"},
    {NS_ENOSOL, "no solution", "there is no solution"},
    {NS_ENOCONV, "no solution", "no solution was found: every attempt stopped at a point that is not a solution"},
    {NS_ENAN, "no solution", "the iterates grew beyond all bounds, and no solution was found"},
    {NS_EMAXITER, "iteration limit", "the limit of iterations or of time was reached"},
    {NS_ESINGULAR, "singular", "singular systems stopped the method, and no solution was found"},
    {NS_EINTR, "interrupted", "interrupted"},
};

void nsl_set_status(lua_State *L, NsStatus status, const char *who) {
  size_t k = 0, count = sizeof words / sizeof *words;
  while (k < count && words[k].status != status) k++;
  if (k == count) {
    nsl_raise_status(L, status, who);
    return;
  }
  nsl_set_boolean(L, "success", status == NS_OK);
  nsl_set_string(L, "status", words[k].name);
  nsl_set_string(L, "message", words[k].message);
  nsl_set_result(L);
}

void nsl_push_account(lua_State *L, const char *who, const NsSolverInfo *info, double seconds) {
  lua_newtable(L);
  nsl_set_status(L, info->status, who);
  nsl_set_number(L, "residual", info->residual);
  nsl_set_number(L, "relative", info->relative);
  nsl_set_integer(L, "iterations", info->iterations);
  nsl_set_string(L, "solver", info->solver);
  nsl_set_number(L, "time", seconds);
}

static const char result_type[] = "result with fields";

void nsl_set_result(lua_State *L) {
  luaL_setmetatable(L, result_type);
}

void nsl_open_answer(lua_State *L) {
  luaL_newmetatable(L, result_type); /* its __tostring is written in Lua */
  lua_setfield(L, -2, "result_fields_meta");
}
