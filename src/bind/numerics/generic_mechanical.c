/*
** generic_mechanical.c
** ns.numerics.generic_mechanical: rows with bounds and contacts with friction in one problem.
*/
#include <math.h>

#include "base/arena.h"
#include "bind/lua/number_text.h"
#include "bind/lua/sigint.h"
#include "bind/array/sparse.h"
#include "bind/array/matrix.h"
#include "bind/model/model.h"
#include "bind/numerics/answer.h"
#include "bind/numerics/friction.h"
#include "bind/array/vector.h"
#include "solvers/contact/mixed.h"

static const char who[] = "generic_mechanical";

/* One call: a userdata owns what the engine allocated, so that any error frees it. */
typedef struct Call {
  NslHead head;
  NsArena arena;
  NsMixed *solver;
  NsMixedProblem p;
  NsMixedGroup *groups;
  double *q, *guess, *z, *w;
  bool guessed;
} Call;

static const NslType call_type = {.name = "nslua.numerics.mixed"};

static int bind_rows_call_gc(lua_State *L) {
  Call *c = lua_touserdata(L, 1);
  ns_mixed_free(c->solver);
  ns_arena_release(&c->arena);
  c->solver = NULL;
  return 0;
}

/* Leaves a sparse W on the stack: it stays alive. */
static void bind_rows_read_W(lua_State *L, Call *c) {
  if (lua_getfield(L, 1, "W") == LUA_TNIL) nsl_bad(L, who, "W", "a square matrix", -1);
  const NsSparse *S = nsl_test_sparse(L, -1);
  if (!S) {
    lua_pop(L, 1);
    c->p.W = nsl_numerics_square(L, who, "W", &c->arena, &c->p.n);
    return;
  }
  if (S->rows != S->cols || S->rows == 0) nsl_bad(L, who, "W", "a square matrix", -1);
  c->p.sparse = S;
  c->p.n = S->rows;
}

/* groups[g].name of the group on top of the stack as a number; `missing` when it is absent. */
static double group_number(lua_State *L, int g, const char *name, double missing) {
  double value = missing;
  if (lua_getfield(L, -1, name) != LUA_TNIL) {
    if (lua_type(L, -1) != LUA_TNUMBER)
      luaL_error(L, "%s: groups[%d].%s: expected a number, got %s", who, g, name, nsl_describe(L, -1));
    value = lua_tonumber(L, -1);
    if (isnan(value)) luaL_error(L, "%s: groups[%d].%s is nan", who, g, name);
  }
  lua_pop(L, 1);
  return value;
}

static void bind_rows_refuse_field(lua_State *L, int g, const char *name, const char *of) {
  if (lua_getfield(L, -1, name) != LUA_TNIL) luaL_error(L, "%s: groups[%d].%s: %s has none", who, g, name, of);
  lua_pop(L, 1);
}

static NsMixedGroup read_row(lua_State *L, int g) {
  char low[32], high[32];
  bind_rows_refuse_field(L, g, "mu", "a row (dim = 1)");
  NsMixedGroup row = {1, group_number(L, g, "lower", -INFINITY), group_number(L, g, "upper", INFINITY), 0};
  nsl_format_number(low, row.lower), nsl_format_number(high, row.upper);
  if (row.lower == INFINITY) luaL_error(L, "%s: groups[%d].lower is %s", who, g, low);
  if (row.upper == -INFINITY) luaL_error(L, "%s: groups[%d].upper is %s", who, g, high);
  if (row.lower > row.upper) luaL_error(L, "%s: groups[%d].lower = %s is above upper = %s", who, g, low, high);
  return row;
}

static NsMixedGroup read_contact(lua_State *L, int g, int dim) {
  char text[32];
  bind_rows_refuse_field(L, g, "lower", "a contact");
  bind_rows_refuse_field(L, g, "upper", "a contact");
  NsMixedGroup contact = {dim, 0, 0, group_number(L, g, "mu", -1)};
  nsl_format_number(text, contact.mu);
  if (lua_getfield(L, -1, "mu") == LUA_TNIL) luaL_error(L, "%s: groups[%d].mu: expected a number, got nil", who, g);
  lua_pop(L, 1);
  if (contact.mu < 0) luaL_error(L, "%s: groups[%d].mu = %s is negative", who, g, text);
  if (contact.mu == INFINITY) luaL_error(L, "%s: groups[%d].mu is %s", who, g, text);
  return contact;
}

/* The group on top of the stack: {dim = 2 or 3, mu = ...}, or a row {lower = -inf, upper = inf}. */
static NsMixedGroup read_group(lua_State *L, int g) {
  static const char *const known[] = {"dim", "mu", "lower", "upper", NULL};
  if (!lua_istable(L, -1)) luaL_error(L, "%s: groups[%d]: expected a table, got %s", who, g, nsl_describe(L, -1));
  nsl_check_options(L, -1, "generic_mechanical: groups", known);
  double dim = group_number(L, g, "dim", 1);
  if (dim == 1) return read_row(L, g);
  if (dim == 2 || dim == 3) return read_contact(L, g, (int)dim);
  lua_getfield(L, -1, "dim");
  luaL_error(L, "%s: groups[%d].dim: expected 1, 2 or 3, got %s", who, g, luaL_tolstring(L, -1, NULL));
  return (NsMixedGroup){0};
}

static void bind_rows_read_groups(lua_State *L, Call *c) {
  int rows = 0;
  if (lua_getfield(L, 1, "groups") != LUA_TTABLE) nsl_bad(L, who, "groups", "a list of tables", -1);
  int count = (int)lua_rawlen(L, -1);
  c->groups = ns_arena_take(&c->arena, (size_t)count, sizeof *c->groups);
  if (c->arena.failed) luaL_error(L, "not enough memory");
  for (int g = 0; g < count; g++) {
    lua_rawgeti(L, -1, g + 1);
    c->groups[g] = read_group(L, g + 1);
    rows += c->groups[g].dim;
    lua_pop(L, 1);
  }
  if (rows != c->p.n) luaL_error(L, "%s: groups: expected %d rows in all, got %d", who, c->p.n, rows);
  c->p.groups = c->groups;
  c->p.ngroups = count;
}

static void bind_rows_push_result(lua_State *L, const Call *c, const NsSolverInfo *info, double seconds) {
  lua_newtable(L);
  nsl_set_status(L, info->status, who);
  nsl_set_vector(L, "z", c->p.n, c->z);
  nsl_set_vector(L, "w", c->p.n, c->w);
  nsl_set_number(L, "residual", info->residual);
  nsl_set_number(L, "relative", info->relative);
  nsl_set_number(L, "backward", info->backward);
  nsl_set_integer(L, "iterations", info->iterations);
  nsl_set_string(L, "solver", info->solver);
  nsl_set_number(L, "time", seconds);
}

static int generic_mechanical(lua_State *L) {
  static const char *const keys[] = {"W", "q", "groups", "tolerance", "max_iterations", "z0", NULL};
  NsSolverInfo info = {0};
  nsl_numerics_options(L, who, keys);
  Call *c = nsl_new(L, &call_type, sizeof *c, 0);
  if (ns_mixed_new(&c->solver) != NS_OK) luaL_error(L, "not enough memory");
  ns_mixed_options(c->solver)->tolerance = nsl_numerics_number(L, who, "tolerance", 0, 1, 0);
  ns_mixed_options(c->solver)->max_iterations = nsl_numerics_count(L, who, "max_iterations", 1, 0);
  bind_rows_read_W(L, c);
  bind_rows_read_groups(L, c);
  double **vectors[] = {&c->q, &c->guess, &c->z, &c->w};
  for (int i = 0; i < 4; i++) *vectors[i] = ns_arena_doubles(&c->arena, c->p.n);
  if (c->arena.failed) luaL_error(L, "not enough memory");
  nsl_numerics_need_vector(L, who, "q", c->p.n, c->q);
  c->guessed = nsl_numerics_vector(L, who, "z0", c->p.n, c->guess);
  c->p.q = c->q;
  NslGuard guard;
  nsl_guard_begin(&guard, L);
  double start = nsl_numerics_now();
  ns_mixed_solve(c->solver, &c->p, c->guessed ? c->guess : NULL, c->z, c->w, &info);
  double seconds = nsl_numerics_now() - start;
  if (nsl_guard_end(&guard, L)) return luaL_error(L, "%s: interrupted", who);
  bind_rows_push_result(L, c, &info, seconds);
  return 1;
}

void nsl_open_numerics_mixed(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", bind_rows_call_gc}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"generic_mechanical", generic_mechanical}, {NULL, NULL}};
  nsl_register_type(L, &call_type, meta, NULL);
  luaL_getsubtable(L, -1, "numerics");
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
}
