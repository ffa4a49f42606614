/*
** study.c
** ns.numerics.uniqueness and ns.numerics.solutions, and the same for the last one-step problem of a simulation.
*/
#include <math.h>
#include <string.h>

#include "bind/lua/sigint.h"
#include "bind/numerics/answer.h"
#include "bind/simulation/simulation.h"
#include "solvers/study/solutions.h"
#include "solvers/study/uniqueness.h"

/* One call: owns the memory of the problem and of its solutions. */
typedef struct Call {
  NslHead head;
  NsArena arena;
  NsSolutions *solutions;
  int n;
  const double *M;
  double *q, *lower, *upper;
} Call;

static const NslType call_type = {.name = "nslua.numerics.study"};

static int bind_study_call_gc(lua_State *L) {
  Call *c = lua_touserdata(L, 1);
  ns_solutions_free(c->solutions);
  ns_arena_release(&c->arena);
  c->solutions = NULL;
  return 0;
}

/* The square matrix at option `name` of the table at 1, and room for the vectors. */
static Call *bind_study_new_call(lua_State *L, const char *who) {
  Call *c = nsl_new(L, &call_type, sizeof *c, 0);
  c->M = nsl_numerics_square(L, who, "M", &c->arena, &c->n);
  c->q = ns_arena_doubles(&c->arena, c->n);
  c->lower = ns_arena_doubles(&c->arena, c->n);
  c->upper = ns_arena_doubles(&c->arena, c->n);
  if (c->arena.failed) luaL_error(L, "not enough memory");
  return c;
}

/* ---- uniqueness ---- */

static void set_answer(lua_State *L, const char *name, NsAnswer answer) {
  if (answer == NS_UNKNOWN) lua_pushliteral(L, "unknown");
  else lua_pushboolean(L, answer == NS_YES);
  lua_setfield(L, -2, name);
}

static void push_uniqueness(lua_State *L, const NsUniqueness *u) {
  static const char *const words[] = {[NS_NO] = "no", [NS_YES] = "for every q", [NS_UNKNOWN] = "unknown"};
  lua_newtable(L);
  set_answer(L, "P", u->P);
  set_answer(L, "P0", u->P0);
  set_answer(L, "positive_definite", u->positive_definite);
  set_answer(L, "positive_semidefinite", u->positive_semidefinite);
  set_answer(L, "copositive", u->copositive);
  set_answer(L, "strictly_copositive", u->strictly_copositive);
  nsl_set_string(L, "unique", words[u->unique]);
  nsl_set_string(L, "reason", u->reason);
  nsl_set_result(L);
}

static void study(lua_State *L, int n, const double *M, const double *lower, const double *upper, bool polyhedral) {
  NsUniqueness u;
  NsStatus status = ns_uniqueness(n, M, lower, upper, &u);
  if (status) nsl_raise_status(L, status, "uniqueness");
  push_uniqueness(L, &u);
  if (!polyhedral || u.positive_definite == NS_YES) return;
  nsl_set_string(L, "unique", "unknown");
  nsl_set_string(L, "reason", "the set is a polyhedron and the symmetric part is not known to be positive definite");
}

static void fill_bounds(Call *c, double lower, double upper) {
  for (int i = 0; i < c->n; i++) c->lower[i] = lower, c->upper[i] = upper;
}

/* The bounds of a law object: as they are, or repeated when it has one component. True for a polyhedron. */
static bool bounds_of_law(lua_State *L, Call *c) {
  const NsLaw *law = nsl_check_law(L, 3)->law;
  if (law->size != c->n && law->size != 1)
    luaL_error(L, "uniqueness: law: expected a law of size %d (or 1, for every component), got one of size %d", c->n,
               law->size);
  for (int i = 0; i < c->n; i++) {
    c->lower[i] = law->lower[law->size == 1 ? 0 : i];
    c->upper[i] = law->upper[law->size == 1 ? 0 : i];
  }
  return ns_law_needs(law) & NS_NEEDS_POLYHEDRON;
}

/* The law at 3: a name, a law object, a table {lower=, upper=}; nil: complementarity. */
static bool read_law(lua_State *L, Call *c) {
  static const char *const known[] = {"lower", "upper", NULL};
  const char *name = lua_type(L, 3) == LUA_TSTRING ? lua_tostring(L, 3) : NULL;
  if (lua_isnil(L, 3) || (name && strcmp(name, "lcp") == 0)) return fill_bounds(c, 0, INFINITY), false;
  if (name && (strcmp(name, "box") == 0 || strcmp(name, "relay") == 0)) return fill_bounds(c, -1, 1), false;
  if (name && strcmp(name, "equality") == 0) return fill_bounds(c, -INFINITY, INFINITY), false;
  if (name) luaL_error(L, "uniqueness: unknown law '%s' (known: lcp, box, relay, equality)", name);
  if (nsl_head(L, 3)) return bounds_of_law(L, c);
  if (!lua_istable(L, 3)) nsl_bad(L, "uniqueness", "law", "a name, a law or a table {lower=, upper=}", 3);
  nsl_check_options(L, 3, "uniqueness", known);
  lua_pushvalue(L, 1);
  lua_pushvalue(L, 3);
  lua_replace(L, 1);
  nsl_numerics_bound(L, "uniqueness", "lower", c->n, 0, c->lower);
  nsl_numerics_bound(L, "uniqueness", "upper", c->n, INFINITY, c->upper);
  lua_replace(L, 1);
  nsl_numerics_check_bounds(L, "uniqueness", c->n, c->lower, c->upper);
  return false;
}

/* The other functions take M as a field of a table; this one takes the matrix. */
static void refuse_problem_table(lua_State *L) {
  if (!lua_istable(L, 1)) return;
  lua_pushliteral(L, "M");
  bool has_field = lua_rawget(L, 1) != LUA_TNIL;
  lua_pop(L, 1);
  if (has_field)
    luaL_error(L, "uniqueness: M: expected the matrix itself, uniqueness(M [, law]), got a table with the field 'M'");
}

/* uniqueness(M [, law]) */
static int uniqueness(lua_State *L) {
  lua_settop(L, 2);
  refuse_problem_table(L);
  lua_newtable(L);
  lua_insert(L, 1);
  lua_pushvalue(L, 2);
  lua_setfield(L, 1, "M");
  Call *c = bind_study_new_call(L, "uniqueness");
  bool polyhedral = read_law(L, c);
  study(L, c->n, c->M, c->lower, c->upper, polyhedral);
  return 1;
}

/* ---- solutions ---- */

static void push_vector(lua_State *L, int n, const double *x) {
  nsl_vector_write(nsl_push_vector(L, n, NULL), x);
}

/* Pushes the list of `count` vectors. */
static void bind_study_push_list(lua_State *L, int n, int count, const double *x) {
  lua_createtable(L, count, 0);
  for (int k = 0; k < count; k++) {
    push_vector(L, n, x + (size_t)k * (size_t)n);
    lua_rawseti(L, -2, k + 1);
  }
}

/* Appends the value on top to the list at the field of the table below it. */
static void bind_study_append(lua_State *L, const char *list) {
  lua_getfield(L, -2, list);
  lua_insert(L, -2);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pop(L, 1);
}

static void push_ray(lua_State *L, int n, const NsSolutionPiece *piece) {
  lua_newtable(L);
  push_vector(L, n, piece->point);
  lua_setfield(L, -2, "from");
  push_vector(L, n, piece->direction);
  lua_setfield(L, -2, "direction");
  lua_pushboolean(L, piece->directions > 1);
  lua_setfield(L, -2, "both_ways");
}

static void push_face(lua_State *L, int n, const NsSolutionPiece *piece) {
  lua_newtable(L);
  nsl_set_integer(L, "dimension", piece->dimension);
  bind_study_push_list(L, n, piece->points, piece->point);
  lua_setfield(L, -2, "vertices");
  bind_study_push_list(L, n, piece->directions, piece->direction);
  lua_setfield(L, -2, "directions");
  lua_pushboolean(L, piece->directions == 0);
  lua_setfield(L, -2, "bounded");
}

static void push_piece(lua_State *L, int n, const NsSolutionPiece *piece) {
  if (piece->dimension == 0) {
    push_vector(L, n, piece->point);
    bind_study_append(L, "isolated");
  } else if (piece->dimension > 1) {
    push_face(L, n, piece);
    bind_study_append(L, "faces");
  } else if (piece->directions > 0) {
    push_ray(L, n, piece);
    bind_study_append(L, "rays");
  } else {
    bind_study_push_list(L, n, piece->points, piece->point);
    bind_study_append(L, "segments");
  }
}

static int bind_study_push_solutions(lua_State *L, Call *c, const NsBoxProblem *p) {
  static const char *const lists[] = {"isolated", "segments", "rays", "faces"};
  NslGuard guard;
  nsl_guard_begin(&guard, L);
  NsStatus status = ns_solutions_new(&c->solutions, p);
  if (nsl_guard_end(&guard, L)) return luaL_error(L, "solutions: interrupted");
  if (status == NS_ETOOLARGE) return luaL_error(L, "solutions: expected at most %d variables, got %d", NS_SOLUTIONS_MAX, p->n);
  if (status) return nsl_raise_status(L, status, "solutions");
  const NsSolutions *s = c->solutions;
  lua_newtable(L);
  for (int k = 0; k < 4; k++) {
    lua_newtable(L);
    lua_setfield(L, -2, lists[k]);
  }
  for (int k = s->count - 1; k >= 0; k--) push_piece(L, s->n, &s->piece[k]);
  lua_pushboolean(L, s->complete);
  lua_setfield(L, -2, "complete");
  if (!s->complete) nsl_set_string(L, "reason", s->reason);
  nsl_set_result(L);
  return 1;
}

/* solutions{M=, q=, lower=0, upper=math.huge} */
static int solutions(lua_State *L) {
  static const char *const known[] = {"M", "q", "lower", "upper", NULL};
  nsl_numerics_options(L, "solutions", known);
  Call *c = bind_study_new_call(L, "solutions");
  nsl_numerics_need_vector(L, "solutions", "q", c->n, c->q);
  nsl_numerics_bound(L, "solutions", "lower", c->n, 0, c->lower);
  nsl_numerics_bound(L, "solutions", "upper", c->n, INFINITY, c->upper);
  nsl_numerics_check_bounds(L, "solutions", c->n, c->lower, c->upper);
  NsBoxProblem p = {c->n, c->M, c->n, c->q, c->lower, c->upper, 0};
  return bind_study_push_solutions(L, c, &p);
}

/* ---- of a simulation ---- */

static const NsOsnsp *last_problem(lua_State *L, const char *what) {
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

int nsl_osnsp_uniqueness(lua_State *L) {
  const NsOsnsp *problem = last_problem(L, "uniqueness");
  study(L, problem->m, ns_osnsp_matrix(problem), problem->lower, problem->upper, problem->polyhedron != NULL);
  return 1;
}

int nsl_osnsp_solutions(lua_State *L) {
  const NsOsnsp *problem = last_problem(L, "solutions");
  if (problem->polyhedron)
    return luaL_error(L, "%s: solutions: not for polyhedral laws (NormalConeNSL)", ns_osnsp_name(problem->kind));
  NsBoxProblem p = {problem->m, ns_osnsp_matrix(problem), problem->m, problem->q, problem->lower, problem->upper, 0};
  Call *c = nsl_new(L, &call_type, sizeof *c, 0);
  return bind_study_push_solutions(L, c, &p);
}

void nsl_open_numerics_study(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", bind_study_call_gc}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"uniqueness", uniqueness}, {"solutions", solutions}, {NULL, NULL}};
  nsl_register_type(L, &call_type, meta, NULL);
  luaL_getsubtable(L, -1, "numerics");
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
}
