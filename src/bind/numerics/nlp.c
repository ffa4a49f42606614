/*
** nlp.c
** optimise_support.ipopt: a nonlinear program of compiled functions, stated by lua/nslua/optimise/program.lua.
*/
#include "bind/lua/open.h"

#include <lauxlib.h>

#include "bind/array/vector.h"
#include "bind/diff/compile.h"
#include "bind/lua/optional_module.h"
#include "bind/numerics/answer.h"
#include "solvers/optimise/nlp.h"

/* The table of the program is at index 1, the call at index 2. */
enum { PROGRAM = 1, CALL };

/* The vector in a field of the program, which keeps it alive. */
static NslVector *program_vector(lua_State *L, const char *name, int n) {
  lua_getfield(L, PROGRAM, name);
  NslVector *v = nsl_check_vector(L, -1);
  if (n >= 0 && v->n != n) luaL_error(L, "ipopt: %s: expected a vector of %d, got one of %d", name, n, v->n);
  lua_pop(L, 1);
  return v;
}

static double program_number(lua_State *L, const char *name) {
  lua_getfield(L, PROGRAM, name);
  double x = luaL_checknumber(L, -1);
  lua_pop(L, 1);
  return x;
}

/* Copies the list of integers at idx, less 1 each, checked to be in [least, most). */
static const int *program_indices(lua_State *L, NslCall *call, int idx, int count, int least, int most) {
  int *to = nsl_call_take(L, call, (size_t)count + 1, sizeof *to);
  if ((int)lua_rawlen(L, idx) != count) luaL_error(L, "ipopt: expected a list of %d, got %d", count, (int)lua_rawlen(L, idx));
  for (int i = 0; i < count; i++) {
    lua_rawgeti(L, idx, i + 1);
    to[i] = (int)lua_tointeger(L, -1) - 1;
    lua_pop(L, 1);
    if (to[i] < least || to[i] >= most) luaL_error(L, "ipopt: index %d is out of range", to[i] + 1);
  }
  return to;
}

/* The term at the top of the stack: { compiled, indices, rows, weights }. */
static void program_term(lua_State *L, NslCall *call, const NsNlp *nlp, NsNlpTerm *term) {
  int at = lua_gettop(L);
  for (int i = 1; i <= 4; i++) lua_rawgeti(L, at, i);
  int inputs = (int)lua_rawlen(L, at + 2), outputs = (int)lua_rawlen(L, at + 3);
  NslTraceArg arg = {NSL_TRACE_VECTOR, inputs, 1, "z", 0};
  NslTrace *trace = nsl_trace_of(L, at + 1, 1, &arg, NULL, outputs, "minimize", false);
  if (trace->fn.path->guards > 0) luaL_error(L, "minimize: expected functions compiled with paths = 1");
  term->tape = trace->fn.path->tape;
  term->index = program_indices(L, call, at + 2, inputs, 0, nlp->n);
  term->row = program_indices(L, call, at + 3, outputs, NS_NLP_OBJECTIVE, nlp->m);
  double *weight = nsl_call_numbers(L, call, outputs);
  for (int o = 0; o < outputs; o++) {
    lua_rawgeti(L, at + 4, o + 1);
    weight[o] = lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
  term->weight = weight;
  lua_settop(L, at);
}

static void program_read(lua_State *L, NslCall *call, NsNlp *nlp) {
  NslVector *lower = program_vector(L, "lower", -1), *rows = program_vector(L, "row_lower", -1);
  nlp->n = lower->n;
  nlp->m = rows->n;
  nlp->lower = lower->data;
  nlp->upper = program_vector(L, "upper", nlp->n)->data;
  nlp->row_lower = rows->data;
  nlp->row_upper = program_vector(L, "row_upper", nlp->m)->data;
  lua_getfield(L, PROGRAM, "row");
  nlp->nentries = (int)lua_rawlen(L, -1);
  nlp->row = program_indices(L, call, lua_gettop(L), nlp->nentries, NS_NLP_OBJECTIVE, nlp->m);
  lua_getfield(L, PROGRAM, "column");
  nlp->column = program_indices(L, call, lua_gettop(L), nlp->nentries, 0, nlp->n);
  lua_getfield(L, PROGRAM, "value");
  double *value = nsl_call_numbers(L, call, nlp->nentries);
  for (int e = 0; e < nlp->nentries; e++) {
    lua_rawgeti(L, -1, e + 1);
    value[e] = lua_tonumber(L, -1);
    lua_pop(L, 1);
  }
  nlp->value = value;
  lua_pop(L, 3);
  lua_getfield(L, PROGRAM, "terms");
  nlp->nterms = (int)lua_rawlen(L, -1);
  NsNlpTerm *terms = nsl_call_take(L, call, (size_t)nlp->nterms + 1, sizeof *terms);
  for (int k = 0; k < nlp->nterms; k++) {
    lua_rawgeti(L, -1, k + 1);
    program_term(L, call, nlp, &terms[k]);
    lua_pop(L, 1);
  }
  nlp->terms = terms;
  lua_pop(L, 1);
}

static const NsNlpSolver *program_solver(lua_State *L) {
  static const NslOptional module = {"nslua.ipopt", " is in the module", "IPOPT", "coinor-libipopt-dev"};
  lua_getfield(L, PROGRAM, "who");
  nsl_push_optional(L, &module, lua_tostring(L, -1), "the solver", "ns.minimize with NLopt solves small smooth problems");
  lua_getfield(L, -1, "solver");
  const NsNlpSolver *solver = lua_touserdata(L, -1);
  lua_pop(L, 3);
  return solver;
}

/*
** ipopt(t): solves the program and writes the point into its vectors x (n), multiplier (m), at_lower, at_upper (n). t has lower,
** upper, row_lower, row_upper (vectors; the ends of rows), row, column, value (lists: affine entries, row 0: the objective),
** terms (list of { compiled function of a vector, indices, rows, weights }), tolerance, complementarity, barrier, push, iterations, warm, who.
** Returns how it ended, the objective and the number of iterations.
*/
static int program_ipopt(lua_State *L) {
  static const char *const ends[] = {"solved", "acceptable", "infeasible", "iterations", "unbounded", "failed", "freedom"};
  luaL_checktype(L, PROGRAM, LUA_TTABLE);
  lua_settop(L, PROGRAM);
  NslCall *call = nsl_new_call(L, "minimize", 0);
  NsNlp nlp = {0};
  NsError err = {NS_OK, ""};
  program_read(L, call, &nlp);
  NsNlpPoint point = {.x = program_vector(L, "x", nlp.n)->data,
                      .multiplier = program_vector(L, "multiplier", nlp.m)->data,
                      .at_lower = program_vector(L, "at_lower", nlp.n)->data,
                      .at_upper = program_vector(L, "at_upper", nlp.n)->data};
  lua_getfield(L, PROGRAM, "warm");
  NsNlpOptions o = {.tolerance = program_number(L, "tolerance"),
                    .complementarity = program_number(L, "complementarity"),
                    .barrier = program_number(L, "barrier"),
                    .push = program_number(L, "push"),
                    .iterations = (int)program_number(L, "iterations"),
                    .warm = lua_toboolean(L, -1)};
  NsStatus status = ns_nlp_prepare(&nlp, &call->arena, &err);
  if (status != NS_OK) return luaL_error(L, "minimize: %s", err.text);
  const NsNlpSolver *solver = program_solver(L); /* last: what is wrong in the program is told without the module, too */
  nsl_call_begin(L, call);
  status = solver->solve(solver->engine, &nlp, &o, &point, &err);
  nsl_call_end(L, call);
  if (status != NS_OK) return luaL_error(L, "minimize: %s", err.text);
  lua_pushstring(L, ends[point.ended]);
  lua_pushnumber(L, point.objective);
  lua_pushinteger(L, point.iterations);
  return 3;
}

void nsl_open_nlp(lua_State *L) {
  lua_getfield(L, -1, "optimise_support");
  nsl_set_cfunction(L, "ipopt", program_ipopt);
  lua_pop(L, 1);
}
