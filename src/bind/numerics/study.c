/*
** study.c
** ns.numerics.uniqueness and ns.numerics.solutions.
*/
#include "bind/numerics/study.h"
#include "bind/lua/open.h"

#include <math.h>
#include <string.h>

#include "bind/numerics/answer.h"
#include "bind/model/model.h"
#include "solvers/study/solutions.h"
#include "solvers/study/uniqueness.h"

/* A problem as stated by the caller; the call owns what it points at. */
typedef struct Studied {
  int n;
  const double *M;
  double *q, *lower, *upper;
} Studied;

static void study_free(void *solutions) {
  ns_solutions_free(solutions);
}

/* Reads the square matrix in option `M` of the table at 1, and allocates the vectors. */
static Studied study_begin(lua_State *L, NslCall *call) {
  Studied c;
  c.M = nsl_numerics_square(L, call->who, "M", &call->arena, &c.n);
  c.q = nsl_call_numbers(L, call, c.n);
  c.lower = nsl_call_numbers(L, call, c.n);
  c.upper = nsl_call_numbers(L, call, c.n);
  return c;
}

/* ---- uniqueness ---- */

static void set_answer(lua_State *L, const char *name, NsAnswer answer) {
  if (answer == NS_UNKNOWN) lua_pushliteral(L, "unknown");
  else lua_pushboolean(L, answer == NS_YES);
  lua_setfield(L, -2, name);
}

static void study_push_answers(lua_State *L, const NsUniqueness *u) {
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

void nsl_push_uniqueness(lua_State *L, int n, const double *M, const double *lower, const double *upper, bool polyhedral) {
  NsUniqueness u;
  NsStatus status = ns_uniqueness(n, M, lower, upper, &u);
  if (status) nsl_raise_status(L, status, "uniqueness");
  study_push_answers(L, &u);
  if (!polyhedral || u.positive_definite == NS_YES) return;
  nsl_set_string(L, "unique", "unknown");
  nsl_set_string(L, "reason", "the set is a polyhedron and the symmetric part is not known to be positive definite");
}

static void fill_bounds(Studied *c, double lower, double upper) {
  for (int i = 0; i < c->n; i++) c->lower[i] = lower, c->upper[i] = upper;
}

/* Reads the bounds of a law object; the bounds of a law with one component are repeated. True for a polyhedron. */
static bool bounds_of_law(lua_State *L, Studied *c) {
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

/* Reads the law at 3: a name, a law object, a table {lower=, upper=}, or nil for complementarity. */
static bool read_law(lua_State *L, Studied *c) {
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

/* Raises for a table with a field M, which the other functions take: this one takes the matrix itself. */
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
  Studied c = study_begin(L, nsl_new_call(L, "uniqueness", 0));
  bool polyhedral = read_law(L, &c);
  nsl_push_uniqueness(L, c.n, c.M, c.lower, c.upper, polyhedral);
  return 1;
}

/* ---- solutions ---- */

static void push_vector(lua_State *L, int n, const double *x) {
  nsl_vector_write(nsl_push_vector(L, n, NULL), x);
}

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
  nsl_set_boolean(L, "both_ways", piece->directions > 1);
}

static void push_face(lua_State *L, int n, const NsSolutionPiece *piece) {
  lua_newtable(L);
  nsl_set_integer(L, "dimension", piece->dimension);
  bind_study_push_list(L, n, piece->points, piece->point);
  lua_setfield(L, -2, "vertices");
  bind_study_push_list(L, n, piece->directions, piece->direction);
  lua_setfield(L, -2, "directions");
  nsl_set_boolean(L, "bounded", piece->directions == 0);
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

int nsl_push_solutions(lua_State *L, const NsBoxProblem *p) {
  static const char *const lists[] = {"isolated", "segments", "rays", "faces"};
  NslCall *call = nsl_new_call(L, "solutions", 0);
  NsSolutions *s;
  nsl_call_begin(L, call);
  NsStatus status = ns_solutions_new(&s, p);
  nsl_call_owns(call, s, study_free);
  nsl_call_end(L, call);
  if (status == NS_ETOOLARGE) return luaL_error(L, "solutions: expected at most %d variables, got %d", NS_SOLUTIONS_MAX, p->n);
  if (status) return nsl_raise_status(L, status, "solutions");
  lua_newtable(L);
  for (int k = 0; k < 4; k++) {
    lua_newtable(L);
    lua_setfield(L, -2, lists[k]);
  }
  for (int k = s->count - 1; k >= 0; k--) push_piece(L, s->n, &s->piece[k]);
  nsl_set_boolean(L, "complete", s->complete);
  if (!s->complete) nsl_set_string(L, "reason", s->reason);
  nsl_set_result(L);
  return 1;
}

/* solutions{M=, q=, lower=0, upper=math.huge} */
static int solutions(lua_State *L) {
  static const char *const known[] = {"M", "q", "lower", "upper", NULL};
  nsl_numerics_options(L, "solutions", known);
  Studied c = study_begin(L, nsl_new_call(L, "solutions", 0));
  nsl_numerics_need_vector(L, "solutions", "q", c.n, c.q);
  nsl_numerics_bound(L, "solutions", "lower", c.n, 0, c.lower);
  nsl_numerics_bound(L, "solutions", "upper", c.n, INFINITY, c.upper);
  nsl_numerics_check_bounds(L, "solutions", c.n, c.lower, c.upper);
  NsBoxProblem p = {c.n, c.M, c.n, c.q, c.lower, c.upper, 0};
  return nsl_push_solutions(L, &p);
}

void nsl_open_numerics_study(lua_State *L) {
  static const luaL_Reg functions[] = {{"uniqueness", uniqueness}, {"solutions", solutions}, {NULL, NULL}};
  luaL_getsubtable(L, -1, "numerics");
  luaL_setfuncs(L, functions, 0);
  lua_pop(L, 1);
}
