/*
** solution.c
** The recorded run: columns by name.
*/
#include <string.h>

#include "bind/lua/open.h"
#include "bind/array/linear_systems.h"
#include "bind/array/vector.h"
#include "bind/simulation/sensitivities.h"
#include "simulation/adaptive.h"

/* User value 1: a table { names = {...}, index = {name = column}, status, message, stats, events (once asked for) }. */
typedef struct NslSolution {
  NslHead head;
  NsSolution *solution;
} NslSolution;

static const NslType solution_type = {.name = "solution"};

static NslSolution *check_solution(lua_State *L, int idx) {
  return nsl_check(L, idx, &solution_type);
}

/* ---- names ---- */

/* Pushes the list of {name, n, nx, nr, first_order, names} of all systems. */
static void push_systems(lua_State *L, int simulation) {
  lua_newtable(L);
  int list = lua_gettop(L);
  lua_getiuservalue(L, simulation, NSL_TS_NSDS);
  lua_getiuservalue(L, -1, 1);
  lua_getfield(L, -1, "ds");
  for (lua_Integer i = 1; lua_rawgeti(L, list + 3, i) != LUA_TNIL; i++, lua_settop(L, list + 3)) {
    const NsDs *ds = ((const NslDs *)lua_touserdata(L, -1))->ds;
    lua_getiuservalue(L, -1, NSL_FIELDS);
    lua_newtable(L);
    nsl_set_string(L, "name", ds->name);
    nsl_set_integer(L, "n", ds->n);
    nsl_set_integer(L, "nx", ds->nx);
    nsl_set_integer(L, "nr", ds->nr);
    nsl_set_boolean(L, "first_order", ns_ds_family(ds) == NS_FIRST_ORDER);
    if (lua_getfield(L, -2, "anchor names") == LUA_TTABLE) lua_setfield(L, -2, "names"), lua_pushnil(L);
    lua_pop(L, 1);
    lua_rawseti(L, list, i);
  }
  lua_settop(L, list);
}

/* Pushes the list of names, and the columns by name; observed: the list of further names, 0: none. */
static void push_names_of_columns(lua_State *L, int simulation, const NsNsds *nsds, int observed) {
  if (!nsl_push_hook(L, "columns")) luaL_error(L, "run: nslua is not loaded");
  push_systems(L, simulation);
  lua_createtable(L, nsds->ninteractions, 0);
  for (int i = 0; i < nsds->ninteractions; i++) {
    lua_createtable(L, 0, 2);
    nsl_set_string(L, "name", nsds->interactions[i]->name);
    nsl_set_integer(L, "m", nsds->interactions[i]->m);
    lua_rawseti(L, -2, i + 1);
  }
  if (observed) lua_pushvalue(L, observed);
  else lua_pushnil(L);
  lua_call(L, 3, 2);
}

/*
** Whether the list on top still tells the names that the graph's columns come from: of its version, of each system and its states, of each
** interaction. Otherwise replaces it by a new list.
*/
static bool names_are_known(lua_State *L, int simulation, const NsNsds *nsds) {
  int known = lua_gettop(L), at = 1, now = known + 1;
  lua_createtable(L, 1 + 2 * nsds->nds + nsds->ninteractions, 0);
  lua_pushinteger(L, (lua_Integer)nsds->version);
  lua_rawseti(L, now, at++);
  lua_getiuservalue(L, simulation, NSL_TS_NSDS);
  lua_getiuservalue(L, -1, 1);
  lua_getfield(L, -1, "ds");
  for (int i = 0; i < nsds->nds; i++) {
    lua_rawgeti(L, now + 3, i + 1);
    lua_getiuservalue(L, -1, NSL_FIELDS);
    lua_getfield(L, -1, "anchor names");
    if (lua_isnil(L, -1)) lua_pop(L, 1), lua_pushboolean(L, 0);
    lua_rawseti(L, now, at++);
    lua_pushstring(L, nsds->ds[i]->name);
    lua_rawseti(L, now, at++);
    lua_settop(L, now + 3);
  }
  for (int i = 0; i < nsds->ninteractions; i++) {
    lua_pushstring(L, nsds->interactions[i]->name);
    lua_rawseti(L, now, at++);
  }
  bool same = lua_istable(L, known);
  for (int i = 1; same && i < at; i++, lua_settop(L, now)) {
    lua_rawgeti(L, now, i);
    lua_rawgeti(L, known, i);
    same = lua_rawequal(L, -1, -2);
  }
  lua_settop(L, now);
  lua_replace(L, known);
  return same;
}

/* As push_names_of_columns, with the tables of the last run where nothing has changed; the simulation keeps them. */
static void push_run_columns(lua_State *L, int simulation, const NsNsds *nsds, int observed) {
  if (observed) {
    push_names_of_columns(L, simulation, nsds, observed);
    return;
  }
  int names = lua_gettop(L) + 1;
  if (lua_getiuservalue(L, simulation, NSL_TS_COLUMNS) != LUA_TTABLE) {
    lua_pop(L, 1);
    lua_createtable(L, 3, 0);
    lua_pushvalue(L, names);
    lua_setiuservalue(L, simulation, NSL_TS_COLUMNS);
  }
  lua_rawgeti(L, names, 3);
  if (!names_are_known(L, simulation, nsds)) {
    lua_rawseti(L, names, 3);
    push_names_of_columns(L, simulation, nsds, 0);
    lua_rawseti(L, names, 2);
    lua_rawseti(L, names, 1);
  }
  lua_settop(L, names);
  lua_rawgeti(L, names, 1);
  lua_rawgeti(L, names, 2);
  lua_remove(L, names);
}

/* Keeps the interactions of the present graph alive in the table on top, until the run ends: their columns are known by them. */
static void keep_interactions(lua_State *L, int simulation) {
  int table = lua_gettop(L);
  lua_getiuservalue(L, simulation, NSL_TS_NSDS);
  lua_getiuservalue(L, -1, 1);
  lua_getfield(L, -1, "interactions");
  lua_newtable(L);
  for (lua_Integer i = 1; lua_rawgeti(L, -2, i) != LUA_TNIL; i++) lua_rawseti(L, -2, i);
  lua_pop(L, 1);
  lua_setfield(L, table, "interactions");
  lua_settop(L, table);
}

NsSolution *nsl_push_solution(lua_State *L, int simulation, long capacity, int observed, int parameters) {
  const NsTimeStepping *ts = nsl_check_simulation(L, simulation)->ts;
  NslSolution *self = nsl_new(L, &solution_type, sizeof *self, 1);
  int idx = lua_gettop(L);
  if (ns_solution_new(&self->solution, ts, capacity, observed ? (int)lua_rawlen(L, observed) : 0,
                      parameters ? (int)lua_rawlen(L, parameters) : 0) != NS_OK)
    luaL_error(L, "run: not enough memory for %I rows", (lua_Integer)capacity);
  nsl_count_memory(L, (size_t)capacity * (size_t)ns_solution_width(self->solution) * sizeof(double));
  lua_newtable(L);
  keep_interactions(L, simulation);
  push_run_columns(L, simulation, ts->nsds, observed);
  lua_setfield(L, idx + 1, "index");
  lua_setfield(L, idx + 1, "names");
  if (parameters) lua_pushvalue(L, parameters), lua_setfield(L, idx + 1, "sensitivities");
  lua_setiuservalue(L, idx, 1);
  return self->solution;
}

void nsl_set_solution_stats(lua_State *L, int idx, const NsTimeStepping *ts, double seconds) {
  NslSolution *self = lua_touserdata(L, idx);
  lua_getiuservalue(L, idx, 1);
  lua_newtable(L);
  nsl_set_integer(L, "rows", self->solution->rows);
  nsl_set_integer(L, "steps", ts->stats.steps);
  nsl_set_integer(L, "newton_iterations", ts->stats.newton_iterations);
  nsl_set_integer(L, "max_newton_iterations", ts->stats.max_newton);
  nsl_set_integer(L, "solver_iterations", ts->stats.solver_iterations);
  nsl_set_number(L, "seconds", seconds);
  if (ns_adaptive_asked(&ts->adaptive)) nsl_push_step_counts(L, &ts->stats);
  lua_setfield(L, -2, "stats");
  lua_pushnil(L);
  lua_setfield(L, -2, "interactions");
  lua_pop(L, 1);
}

/* ---- access ---- */

static int column_view(lua_State *L, const NslSolution *self, int c) {
  NslVector *v = nsl_push_vector_view(L, 1, ns_solution_column(self->solution, c), (int)self->solution->rows, 1, "column",
                                      NULL);
  v->label = NULL;
  return 1;
}

enum { NAMES_SHOWN = 24 };

/* Raises that no column has the name at idx, and lists the names. */
static int no_column(lua_State *L, int idx) {
  lua_getiuservalue(L, 1, 1);
  lua_getfield(L, -1, "names");
  int names = lua_gettop(L), count = (int)lua_rawlen(L, names);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (int i = 1; i <= count && i <= NAMES_SHOWN; i++) {
    lua_rawgeti(L, names, i);
    luaL_addvalue(&b);
    luaL_addstring(&b, i == count ? "" : i == NAMES_SHOWN ? ", ..." : ", ");
  }
  luaL_pushresult(&b);
  return luaL_error(L, "column: no column is called '%s' (known: %s)", lua_tostring(L, idx), lua_tostring(L, -1));
}

/* The column (from 0) that the name or number at idx means. */
static int column_argument(lua_State *L, const NslSolution *self, int idx) {
  int count = ns_solution_width(self->solution);
  if (lua_type(L, idx) == LUA_TSTRING) {
    lua_getiuservalue(L, 1, 1);
    lua_getfield(L, -1, "index");
    lua_pushvalue(L, idx);
    if (lua_rawget(L, -2) == LUA_TNIL) no_column(L, idx);
    return (int)lua_tointeger(L, -1) - 1;
  }
  lua_Integer c = nsl_integer(L, idx, "column", "name or number");
  if (c < 1 || c > count) luaL_error(L, "column: expected 1..%d, got %I", count, c);
  return (int)c - 1;
}

static int solution_column(lua_State *L) {
  NslSolution *self = check_solution(L, 1);
  return column_view(L, self, column_argument(L, self, 2));
}

static int solution_names(lua_State *L) {
  check_solution(L, 1);
  lua_getiuservalue(L, 1, 1);
  lua_getfield(L, -1, "names");
  int names = lua_gettop(L), count = (int)lua_rawlen(L, names);
  lua_createtable(L, count, 0);
  for (int i = 1; i <= count; i++) {
    lua_rawgeti(L, names, i);
    lua_rawseti(L, -2, i);
  }
  return 1;
}

static int bind_solution_block(lua_State *L, const NslSolution *self, double *data, int cols) {
  nsl_push_matrix_view(L, 1, data, (int)self->solution->rows, cols, (int)self->solution->capacity, NULL, NULL);
  return 1;
}

static int solution_close(lua_State *L) {
  check_solution(L, 1)->head.closed = true;
  return 0;
}

static int solution_gc(lua_State *L) {
  NslSolution *self = lua_touserdata(L, 1);
  self->head.closed = true;
  ns_solution_free(self->solution);
  self->solution = NULL;
  return 0;
}

static int solution_tostring(lua_State *L) {
  NslSolution *self = lua_touserdata(L, 1);
  if (self->head.closed) return lua_pushliteral(L, "solution (closed)"), 1;
  const NsSolution *s = self->solution;
  lua_getiuservalue(L, 1, 1);
  lua_getfield(L, -1, "status");
  nsl_pushf(L, "solution (%s): %I row%s, t = %f .. %f, %d state%s, %d multiplier%s", lua_tostring(L, -1), (lua_Integer)s->rows,
            s->rows == 1 ? "" : "s", s->rows ? s->t[0] : 0.0, s->rows ? s->t[s->rows - 1] : 0.0, s->nx, s->nx == 1 ? "" : "s",
            s->m, s->m == 1 ? "" : "s");
  return 1;
}

static int solution_display(lua_State *L) {
  check_solution(L, 1);
  return nsl_display_object(L, NULL);
}

static int solution_length(lua_State *L) {
  return lua_pushinteger(L, check_solution(L, 1)->solution->rows), 1;
}

/* Pushes the list of the events of the run; it is made at the first request. */
static int push_run_events(lua_State *L, const NsSolution *s) {
  lua_getiuservalue(L, 1, 1);
  if (lua_getfield(L, -1, "events") != LUA_TNIL) return 1;
  lua_pop(L, 1);
  nsl_push_events(L, s->events, s->nevents, &s->slopes);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "events");
  return 1;
}

/* Pushes the list of S of each row; it is made at the first request. nil: the run has no sensitivities. */
static int push_run_slopes(lua_State *L, const NsSolution *s) {
  if (s->np == 0) return lua_pushnil(L), 1;
  lua_getiuservalue(L, 1, 1);
  if (lua_getfield(L, -1, "S") != LUA_TNIL) return 1;
  lua_pop(L, 1);
  nsl_push_sensitivity_rows(L, s);
  lua_pushvalue(L, -1);
  lua_setfield(L, -3, "S");
  return 1;
}

/* sensitivity(parameter): the derivatives of all rows. */
static int solution_sensitivity(lua_State *L) {
  const NslSolution *self = check_solution(L, 1);
  lua_settop(L, 2);
  if (self->solution->np == 0) luaL_error(L, "sensitivity: the run was asked for no sensitivities");
  lua_getiuservalue(L, 1, 1);
  lua_getfield(L, -1, "sensitivities");
  return nsl_push_sensitivity(L, self->solution, lua_gettop(L), 2);
}

/* Reads the optional word "before" or "after" at idx. */
static bool solution_side(lua_State *L, int idx) {
  const char *word = lua_isnoneornil(L, idx) ? "after" : lua_type(L, idx) == LUA_TSTRING ? lua_tostring(L, idx) : "";
  bool before = strcmp(word, "before") == 0;
  if (!before && strcmp(word, "after") != 0)
    luaL_error(
        L,
        *word ? "at: side: expected \"before\" or \"after\", got '%s'" : "at: side: expected \"before\" or \"after\", got %s",
        *word ? word : nsl_describe(L, idx));
  return before;
}

/* Pushes memory for the numbers of ns_solution_at. */
static double *push_solution_numbers(lua_State *L, const NsSolution *s) {
  return lua_newuserdatauv(L, ((size_t)s->nx * (size_t)(1 + s->np) + 2 * (size_t)s->m + 1) * sizeof(double), 0);
}

static void push_slopes(lua_State *L, const NsSolution *s, const double *S) {
  NslMatrix *matrix = nsl_push_matrix(L, s->nx, s->np, NULL);
  for (int j = 0; j < s->np; j++)
    memcpy(matrix->data + (ptrdiff_t)j * matrix->ld, S + (ptrdiff_t)j * s->nx, (size_t)s->nx * sizeof *S);
}

/*
** Pops the value on top into the table below it, by the name of number i, from 0, of x, lambda and y. A field that is there
** already keeps its value.
*/
static void set_named_value(lua_State *L, int i) {
  lua_getiuservalue(L, 1, 1);
  lua_getfield(L, -1, "names");
  lua_rawgeti(L, -1, i + 2); /* the first column is t */
  lua_replace(L, -3);
  lua_pop(L, 1);
  lua_pushvalue(L, -1);
  bool taken = lua_rawget(L, -4) != LUA_TNIL;
  lua_pop(L, 1);
  lua_insert(L, -2);
  if (taken) lua_pop(L, 2);
  else lua_rawset(L, -3);
}

/*
** at(t [, side]) of one time: a table of t, the vectors x, lambda, y, each of their values by its column's name and, in a run with
** sensitivities, the matrix S.
*/
static int solution_at_time(lua_State *L, const NsSolution *s, double t, bool before) {
  NsError err = {NS_OK, ""};
  static const char *const names[] = {"x", "lambda", "y"};
  const int sizes[] = {s->nx, s->m, s->m};
  int number = 0;
  double *values = push_solution_numbers(L, s);
  if (ns_solution_at(s, t, before, values, &err) != NS_OK) return nsl_raise(L, &err);
  lua_createtable(L, 0, 5);
  nsl_set_number(L, "t", t);
  for (int i = 0; i < 3; values += sizes[i++]) {
    NslVector *v = nsl_push_vector(L, sizes[i], NULL);
    memcpy(v->data, values, (size_t)sizes[i] * sizeof *values);
    lua_setfield(L, -2, names[i]);
    for (int j = 0; j < sizes[i]; j++) {
      lua_pushnumber(L, values[j]);
      set_named_value(L, number++);
    }
  }
  if (s->np > 0) push_slopes(L, s, values), lua_setfield(L, -2, "S");
  return 1;
}

/*
** at(t [, side]) of a vector of times: t, the matrices x, lambda, y with a row for each time, each of their columns by its name,
** and the list S of matrices.
*/
static int solution_at(lua_State *L) {
  const NslSolution *self = check_solution(L, 1);
  const NsSolution *s = self->solution;
  bool before = solution_side(L, 3);
  if (lua_type(L, 2) == LUA_TNUMBER) return solution_at_time(L, s, nsl_finite(L, 2, "at", "t"), before);
  lua_settop(L, 2);
  if (lua_type(L, 2) != LUA_TTABLE && lua_type(L, 2) != LUA_TUSERDATA) nsl_bad(L, "at", "t", "a number or a vector", 2);
  const NslVector *times = nsl_to_finite_vector(L, 2, -1, "at", "t"); /* 3 or 2 */
  int n = times->n;
  static const char *const names[] = {"x", "lambda", "y"};
  const int sizes[] = {s->nx, s->m, s->m};
  NslMatrix *blocks[3];
  NsError err = {NS_OK, ""};
  double *values = push_solution_numbers(L, s);
  lua_createtable(L, 0, 5);
  NslVector *copy = nsl_push_vector(L, n, NULL);
  nsl_vector_read(times, copy->data);
  lua_setfield(L, -2, "t");
  for (int i = 0; i < 3; i++) {
    blocks[i] = nsl_push_matrix(L, n, sizes[i], NULL);
    lua_setfield(L, -2, names[i]);
  }
  if (s->np > 0) lua_createtable(L, n, 0), lua_setfield(L, -2, "S");
  for (int k = 0; k < n; k++) {
    if (ns_solution_at(s, copy->data[k], before, values, &err) != NS_OK) return nsl_raise(L, &err);
    for (int i = 0, at = 0; i < 3; i++)
      for (int j = 0; j < sizes[i]; j++) blocks[i]->data[k + (ptrdiff_t)j * blocks[i]->ld] = values[at++];
    if (s->np == 0) continue;
    lua_getfield(L, -1, "S");
    push_slopes(L, s, values + s->nx + 2 * s->m);
    lua_rawseti(L, -2, k + 1);
    lua_pop(L, 1);
  }
  for (int i = 0, number = 0; i < 3; i++)
    for (int j = 0; j < sizes[i]; j++) {
      NslVector *column = nsl_push_vector(L, n, NULL);
      memcpy(column->data, blocks[i]->data + (ptrdiff_t)j * blocks[i]->ld, (size_t)n * sizeof *column->data);
      set_named_value(L, number++);
    }
  return 1;
}

/* __index: a method; a column by its name; x, lambda, y, iterations, events, status, message, stats. */
static int solution_index(lua_State *L) {
  NslSolution *self = check_solution(L, 1);
  const NsSolution *s = self->solution;
  lua_pushvalue(L, 2);
  bool method = lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL;
  if (method && strcmp(lua_tostring(L, 2), "at") != 0) return 1; /* a column may be called "at" */
  if (lua_type(L, 2) != LUA_TSTRING)
    return luaL_error(L, "solution: expected the name of a field or of a column, got %s", nsl_describe(L, 2));
  const char *key = lua_tostring(L, 2);
  lua_getiuservalue(L, 1, 1);
  lua_getfield(L, -1, "index");
  lua_pushvalue(L, 2);
  if (lua_rawget(L, -2) != LUA_TNIL) return column_view(L, self, (int)lua_tointeger(L, -1) - 1);
  if (strcmp(key, "x") == 0) return bind_solution_block(L, self, s->x, s->nx);
  if (strcmp(key, "lambda") == 0) return bind_solution_block(L, self, s->lambda, s->m);
  if (strcmp(key, "y") == 0) return bind_solution_block(L, self, s->y, s->m);
  if (strcmp(key, "iterations") == 0) return column_view(L, self, 1 + s->nx + 2 * s->m);
  if (method) return lua_settop(L, 3), 1;
  if (strcmp(key, "events") == 0) return push_run_events(L, s);
  if (strcmp(key, "S") == 0) return push_run_slopes(L, s);
  lua_settop(L, 2);
  lua_getiuservalue(L, 1, 1);
  if (strcmp(key, "status") == 0 || strcmp(key, "message") == 0 || strcmp(key, "stats") == 0 ||
      strcmp(key, "sensitivities") == 0)
    return lua_getfield(L, 3, key), 1;
  lua_getfield(L, 3, "index");
  return nsl_no_such_column(L, solution_type.name, lua_upvalueindex(1), 4, 2);
}

/* Raises: a solution is read-only. */
static int solution_newindex(lua_State *L) {
  check_solution(L, 1);
  lua_settop(L, 2);
  const char *name = luaL_tolstring(L, 2, NULL);
  lua_pushvalue(L, 1);
  bool known = lua_type(L, 2) == LUA_TSTRING && lua_getfield(L, -1, name) != LUA_TNIL;
  if (known) return luaL_error(L, "solution: %s: a record cannot be assigned to", name);
  return luaL_error(L, "solution: it has no field '%s'", name);
}

void nsl_open_solution(lua_State *L) {
  static const luaL_Reg methods[] = {
      {"column", solution_column},   {"names", solution_names}, {"at", solution_at}, {"sensitivity", solution_sensitivity},
      {"display", solution_display}, {"close", solution_close}, {NULL, NULL}};
  static const luaL_Reg meta[] = {
      {"__gc", solution_gc},      {"__close", solution_close},       {"__tostring", solution_tostring},
      {"__len", solution_length}, {"__newindex", solution_newindex}, {NULL, NULL}};
  int module = lua_gettop(L);
  nsl_register_type(L, &solution_type, meta, NULL);
  luaL_getmetatable(L, solution_type.name);
  lua_newtable(L);
  luaL_setfuncs(L, methods, 0);
  lua_pushvalue(L, -1);
  lua_setfield(L, module, "solution_methods"); /* for the methods that are written in Lua */
  lua_pushcclosure(L, solution_index, 1);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}
