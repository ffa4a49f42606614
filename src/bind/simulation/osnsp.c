/*
** osnsp.c
** LCP, Relay, MLCP, Equality, AVI, FrictionContact, RollingFrictionContact and GenericMechanical: the one-step problems.
*/
#include <string.h>

#include "bind/lua/open.h"
#include "bind/array/field.h"
#include "bind/numerics/answer.h"
#include "bind/numerics/study.h"
#include "bind/simulation/simulation.h"
#include "simulation/dump.h"

static const NslType types[NS_OSNSP_KINDS] = {
#define X(code, name, laws) [code] = {name, NULL, NULL},
    NS_OSNSP_LIST(X)
#undef X
};

NslOsnsp *nsl_check_osnsp(lua_State *L, int idx) {
  return nsl_check_family(L, idx, types, NS_OSNSP_KINDS, "one-step problem", "problem");
}

static NslHead *check_osnsp_head(lua_State *L, int idx) {
  return &nsl_check_osnsp(L, idx)->head;
}

/* The problem for its views; before the first solve it has no vectors. */
static void *solved_problem(NslHead *head) {
  static const NsOsnsp unsolved;
  NsOsnsp *problem = ((NslOsnsp *)head)->problem;
  return ns_osnsp_solved(problem) ? problem : (void *)(size_t)&unsolved;
}

static const NslFieldOwner owners[NS_OSNSP_KINDS] = {
#define X(code, name, laws) [code] = {&types[code], check_osnsp_head, solved_problem, NULL, NULL, NULL},
    NS_OSNSP_LIST(X)
#undef X
};

/* ---- options ---- */

static void set_tolerance(lua_State *L, NslOsnsp *self, int idx) {
  double tolerance = nsl_finite(L, idx, self->head.type->name, "tolerance");
  if (!(tolerance > 0) || tolerance > 0.1)
    nsl_error(L, "%s: tolerance: expected a number in (0, 0.1], got %f", self->head.type->name, tolerance);
  ns_osnsp_ask_tolerance(self->problem, tolerance);
}

static void set_max_iterations(lua_State *L, NslOsnsp *self, int idx) {
  lua_Integer most = nsl_integer(L, idx, self->head.type->name, "max_iterations");
  if (most < 0 || most > 1 << 30)
    luaL_error(L, "%s: max_iterations: expected 0 (automatic) or more, got %I", self->head.type->name, most);
  self->problem->options.max_iterations = (int)most;
}

static void set_solver(lua_State *L, NslOsnsp *self, int idx) {
  const char *who = self->head.type->name, *wanted = lua_type(L, idx) == LUA_TSTRING ? lua_tostring(L, idx) : NULL;
  if (!wanted) nsl_bad(L, who, "solver", "a name", idx);
  const char *asked;
  unsigned takes;
  const NsMethod *const *list = ns_osnsp_methods(self->problem, &takes),
                        *method = nsl_method_named(list, takes, wanted, &asked);
  if (!asked) luaL_error(L, "%s: solver: there is no '%s' (known: %s)", who, wanted, nsl_push_methods(L, list, takes));
  self->problem->options.method = method;
  self->problem->asked = asked;
}

/* The options, and their setters. */
static const struct {
  const char *option, *setter;
  void (*set)(lua_State *L, NslOsnsp *self, int idx);
} osnsp_options[] = {{"tolerance", "setTolerance", set_tolerance},
                     {"max_iterations", "setMaxIterations", set_max_iterations},
                     {"solver", "setSolver", set_solver}};

enum { OSNSP_OPTIONS = sizeof osnsp_options / sizeof *osnsp_options };

static int osnsp_set_option(lua_State *L) {
  return osnsp_options[nsl_which(L)].set(L, nsl_check_osnsp(L, 1), 2), 0;
}

/* LCP() or LCP{tolerance=, max_iterations=, solver=}; dim: of contacts, or 0. */
static int new_osnsp(lua_State *L, NsOsnspKind kind, int dim) {
  const char *known[OSNSP_OPTIONS + 1] = {NULL};
  nsl_at_most(L, 1, types[kind].name);
  if (!lua_isnone(L, 1) && !lua_istable(L, 1)) nsl_bad(L, types[kind].name, "options", "a table", 1);
  lua_settop(L, 1);
  NslOsnsp *self = nsl_new(L, &types[kind], sizeof *self, 0);
  if (ns_osnsp_new(&self->problem, kind) != NS_OK) luaL_error(L, "not enough memory");
  self->problem->dim = dim;
  if (lua_isnil(L, 1)) return 1;
  for (int i = 0; i < OSNSP_OPTIONS; i++) known[i] = osnsp_options[i].option;
  nsl_check_options(L, 1, types[kind].name, known);
  for (int i = 0; i < OSNSP_OPTIONS; i++)
    if (lua_getfield(L, 1, known[i]) != LUA_TNIL) osnsp_options[i].set(L, self, -1);
  return lua_settop(L, 2), 1;
}

/* More than the rows of any contact. */
enum { MOST_DIMENSION = 20 };

/* Refuses a dimension of contacts that the kind does not take. */
static void check_dimension(lua_State *L, NsOsnspKind kind, int dim) {
  if (ns_osnsp_takes_dimension(kind, dim)) return;
  int large = MOST_DIMENSION;
  while (!ns_osnsp_takes_dimension(kind, large)) large--;
  lua_pushliteral(L, "");
  for (int k = 0; k < large; k++) {
    if (!ns_osnsp_takes_dimension(kind, k)) continue;
    lua_pushfstring(L, "%s%s%d", lua_tostring(L, -1), lua_tostring(L, -1)[0] ? ", " : "", k);
    lua_remove(L, -2);
  }
  luaL_error(L, "%s: dim: expected %s or %d, got %d", types[kind].name, lua_tostring(L, -1), large, dim);
}

/* The constructor of the kind in the upvalue; FrictionContact([dim] [, options]). */
static int construct_osnsp(lua_State *L) {
  NsOsnspKind kind = (NsOsnspKind)lua_tointeger(L, lua_upvalueindex(1));
  const NsField *field = ns_field_find(ns_osnsp_fields, "dimension of contacts");
  NsOsnsp given = {0};
  if (ns_osnsp_of_contacts(kind) && lua_type(L, 1) == LUA_TNUMBER) {
    nsl_read_field(L, 1, field, &given, NULL, types[kind].name, "dim");
    check_dimension(L, kind, given.dim);
    lua_remove(L, 1);
  }
  return new_osnsp(L, kind, given.dim);
}

void nsl_clone_osnsp(lua_State *L, int idx) {
  NslOsnsp *from = nsl_check_osnsp(L, idx);
  NslOsnsp *to = nsl_new(L, from->head.type, sizeof *to, 0);
  if (ns_osnsp_new(&to->problem, from->problem->kind) != NS_OK) luaL_error(L, "not enough memory");
  ns_osnsp_ask_like(to->problem, from->problem);
  to->verbose = from->verbose;
}

static int osnsp_set_verbose(lua_State *L) {
  NslOsnsp *self = nsl_check_osnsp(L, 1);
  bool number = lua_isinteger(L, 2) && (lua_tointeger(L, 2) == 0 || lua_tointeger(L, 2) == 1);
  if (!lua_isboolean(L, 2) && !number) nsl_bad(L, "setNumericsVerboseMode", "verbose", "a boolean, 0 or 1", 2);
  self->verbose = number ? lua_tointeger(L, 2) == 1 : lua_toboolean(L, 2);
  return 0;
}

/* M(): nil before the first solve, and for the sparse problem of a large model, which is not of the form y = M lambda + q. */
static int osnsp_M(lua_State *L) {
  const NsOsnsp *problem = nsl_check_osnsp(L, 1)->problem;
  if (!ns_osnsp_solved(problem) || ns_osnsp_is_sparse(problem)) return lua_pushnil(L), 1;
  NslMatrix *M = nsl_push_matrix(L, problem->m, problem->m, NULL);
  const double *from = ns_osnsp_matrix(problem);
  if (!from) return luaL_error(L, "not enough memory");
  if (problem->m) memcpy(M->data, from, (size_t)problem->m * (size_t)problem->m * sizeof(double));
  return 1;
}

static int osnsp_size(lua_State *L) {
  return lua_pushinteger(L, nsl_check_osnsp(L, 1)->problem->m), 1;
}

/* info(): {status, message, solver, iterations, residual, relative, warm} of the last solve; nil before the first. */
static int osnsp_info(lua_State *L) {
  const NsOsnsp *problem = nsl_check_osnsp(L, 1)->problem;
  const NsSolverInfo *info = &problem->info;
  if (!ns_osnsp_solved(problem)) return lua_pushnil(L), 1;
  lua_newtable(L);
  nsl_set_solver_info(L, info);
  return 1;
}

static int osnsp_dump(lua_State *L) {
  const NslOsnsp *self = nsl_check_osnsp(L, 1);
  const char *path = nsl_path(L, 2, "dump", "file");
  NsError err = {NS_OK, ""};
  return ns_osnsp_dump(self->problem, path, &err) == NS_OK ? 0 : nsl_raise(L, &err);
}

static int osnsp_close(lua_State *L) {
  nsl_check_osnsp(L, 1)->head.closed = true;
  return 0;
}

static int osnsp_gc(lua_State *L) {
  NslOsnsp *self = lua_touserdata(L, 1);
  self->head.closed = true;
  ns_osnsp_free(self->problem);
  self->problem = NULL;
  return 0;
}

static int osnsp_tostring(lua_State *L) {
  NslOsnsp *self = lua_touserdata(L, 1);
  if (self->head.closed) return lua_pushfstring(L, "%s (closed)", self->head.type->name), 1;
  lua_pushfstring(L, "%s of size %d, solver '%s'", self->head.type->name, self->problem->m,
                  self->problem->asked ? self->problem->asked : "default");
  return 1;
}

static int osnsp_display(lua_State *L) {
  nsl_check_osnsp(L, 1);
  lua_settop(L, 1);
  luaL_tolstring(L, 1, NULL);
  lua_pushliteral(L, "M");
  osnsp_M(L);
  return nsl_display_more(L, &owners[nsl_head(L, 1)->type - types], ns_osnsp_fields);
}

/* ---- the last problem, studied ---- */

static const NsOsnsp *osnsp_last(lua_State *L, const char *what) {
  const NsOsnsp *problem = nsl_check_osnsp(L, 1)->problem;
  if (ns_osnsp_has_contacts(problem))
    luaL_error(L, "%s: %s: not for contacts with friction", ns_osnsp_name(problem->kind), what);
  if (ns_osnsp_is_sparse(problem))
    luaL_error(L, "%s: %s: the one-step problem is a sparse one, which is too large for this", ns_osnsp_name(problem->kind),
               what);
  if (!ns_osnsp_solved(problem))
    luaL_error(L, "%s: %s: no one-step problem has been solved yet", ns_osnsp_name(problem->kind), what);
  return problem;
}

static int osnsp_uniqueness(lua_State *L) {
  const NsOsnsp *problem = osnsp_last(L, "uniqueness");
  nsl_push_uniqueness(L, problem->m, ns_osnsp_matrix(problem), problem->lower, problem->upper, problem->polyhedron != NULL);
  return 1;
}

static int osnsp_solutions(lua_State *L) {
  const NsOsnsp *problem = osnsp_last(L, "solutions");
  if (problem->polyhedron)
    return luaL_error(L, "%s: solutions: not for polyhedral laws (NormalConeNSL)", ns_osnsp_name(problem->kind));
  NsBoxProblem p = {problem->m, ns_osnsp_matrix(problem), problem->m, problem->q, problem->lower, problem->upper, 0};
  return nsl_push_solutions(L, &p);
}

void nsl_open_osnsp(lua_State *L) {
  static const luaL_Reg methods[] = {{"setNumericsVerboseMode", osnsp_set_verbose},
                                     {"M", osnsp_M},
                                     {"W", osnsp_M},
                                     {"size", osnsp_size},
                                     {"info", osnsp_info},
                                     {"dump", osnsp_dump},
                                     {"uniqueness", osnsp_uniqueness},
                                     {"solutions", osnsp_solutions},
                                     {"display", osnsp_display},
                                     {"close", osnsp_close},
                                     {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__gc", osnsp_gc}, {"__close", osnsp_close}, {"__tostring", osnsp_tostring}, {NULL, NULL}};
  for (int i = 0; i < NS_OSNSP_KINDS; i++) {
    nsl_register_type(L, &types[i], meta, methods);
    nsl_add_field_methods(L, &owners[i], ns_osnsp_fields);
    luaL_getmetatable(L, types[i].name);
    lua_getfield(L, -1, "__index");
    for (int k = 0; k < OSNSP_OPTIONS; k++)
      nsl_set_variants(L, (NslVariant[]){{osnsp_options[k].setter, osnsp_set_option, k}, {0}});
    lua_pop(L, 2);
    lua_pushinteger(L, i);
    lua_pushcclosure(L, construct_osnsp, 1);
    lua_setfield(L, -2, types[i].name);
  }
}
