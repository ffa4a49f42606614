/*
** mixed.c
** Problems of rows and contacts, for the specs alone: many with one solver, and each method by itself.
*/
#include "internal.h"

#include "base/clock.h"
#include "base/memory.h"
#include "bind/numerics/answer.h"
#include "solvers/contact/heap.h"
#include "solvers/contact/heap_held.h"
#include "solvers/contact/heap_path.h"
#include "solvers/contact/mixed.h"
#include "solvers/contact/mixed_embed.h"
#include "solvers/contact/mixed_interior.h"
#include "solvers/contact/mixed_newton.h"
#include "solvers/contact/mixed_path.h"
#include "solvers/contact/mixed_plane.h"
#include "solvers/contact/mixed_sweep.h"
#include "solvers/contact/mixed_system.h"

/* The objects of one call, in its arena. */
typedef struct MixedCall {
  NslCall *call;
  NsMixed *solver;
  NsSparse *sparse;
  const NsMethod *method;
  void *work; /* the workspace of the method */
  NsHeapHeld *held;
  NsHeapPath *follow;
  NsMixedSystem system;
} MixedCall;

static void spec_mixed_free(void *object) {
  MixedCall *c = object;
  ns_mixed_free(c->solver);
  ns_sparse_free(c->sparse);
  if (c->method) c->method->release(c->work);
  ns_heap_held_free(c->held);
  ns_heap_path_free(c->follow);
  ns_mixed_system_release(&c->system);
}

static MixedCall *spec_mixed_begin(lua_State *L) {
  NslCall *call = nsl_new_call(L, "mixed", 0);
  MixedCall *c = nsl_call_take(L, call, 1, sizeof *c);
  c->call = call;
  nsl_call_owns(call, c, spec_mixed_free);
  return c;
}

/* ---- a problem: a table with W, a matrix, q and guess, vectors, groups, a list ---- */

typedef struct Given {
  NsMixedProblem p;
  NsMixedGroup *groups;
  double *q, *guess, *z, *w;
  bool guessed;
} Given;

static void spec_mixed_read_groups(lua_State *L, int at, MixedCall *c, Given *g) {
  lua_getfield(L, at, "groups");
  int count = (int)luaL_len(L, -1);
  g->p.groups = g->groups = nsl_call_take(L, c->call, (size_t)count, sizeof *g->groups);
  g->p.ngroups = count;
  for (int k = 0; k < count; k++) {
    double mu[2], lower, upper;
    int top = lua_gettop(L), dim;
    lua_geti(L, -1, k + 1);
    nsl_internal_take(L, -1, NULL, "dim:=1 mu. mu_r.=-1 lower.=-inf upper.=inf", &dim, &mu[0], &mu[1], &lower, &upper);
    const NsConeClass *cone = ns_cone_find(dim, mu[1] < 0 ? 1 : 2);
    g->groups[k] = cone ? ns_mixed_contact(cone, mu) : ns_mixed_row(lower, upper);
    g->groups[k].dim = dim;
    lua_settop(L, top);
  }
}

/* Reads the problem at `at`; what it holds stays on the stack. */
static Given spec_mixed_read_problem(lua_State *L, int at, MixedCall *c) {
  Given g = {.guessed = false};
  double *W;
  bool sparse;
  nsl_internal_take(L, at, &g.p.n, "W# q* guess* none*=nan none*=nan sparse?", &W, &g.q, &g.guess, &g.z, &g.w, &sparse);
  g.p.q = g.q, g.p.W = W;
  g.guessed = lua_getfield(L, at, "guess") != LUA_TNIL;
  spec_mixed_read_groups(L, at, c, &g);
  if (!sparse) return g;
  ns_sparse_free(c->sparse);
  nsl_internal_check(L, ns_sparse_from_dense(&c->sparse, g.p.n, g.p.n, W, g.p.n > 0 ? g.p.n : 1));
  g.p.W = NULL;
  g.p.sparse = c->sparse;
  return g;
}

static void spec_mixed_push_answer(lua_State *L, const Given *g, const NsSolverInfo *info, double measure) {
  lua_newtable(L);
  nsl_set_solver_info(L, info);
  nsl_internal_give(L, g->p.n, "z* w* measure.", g->z, g->w, measure);
}

/* ---- functions ---- */

/* Solves the problem at `at`, and pushes the answer. */
static void solve_next(lua_State *L, int at, MixedCall *c) {
  Given g = spec_mixed_read_problem(L, at, c);
  NsSolverInfo info = {0};
  NsMixedOptions *options = ns_mixed_options(c->solver);
  int repeats;
  double keep;
  *options = (NsMixedOptions){0};
  nsl_internal_take(L, at, NULL, "repeats:=1 tolerance. max_iterations: keep.", &repeats, &options->tolerance,
                    &options->max_iterations, &keep);
  options->keep = keep != 0;
  uint64_t allocations = ns_alloc_count();
  double start = ns_clock_now();
  for (int k = 0; k < repeats; k++) ns_mixed_solve(c->solver, &g.p, g.guessed ? g.guess : NULL, g.z, g.w, &info);
  double seconds = (ns_clock_now() - start) / repeats;
  allocations = ns_alloc_count() - allocations;
  spec_mixed_push_answer(L, &g, &info, info.backward);
  nsl_internal_give(L, 0, "seconds. allocations.", seconds, (double)allocations);
}

/*
** mixed(problems): solves with one solver a list of problems {W, q, groups, guess, sparse, tolerance, max_iterations, repeats}. Returns
** a list of {z, w, measure, the solver's account, seconds, allocations}.
*/
static int mixed(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  MixedCall *c = spec_mixed_begin(L);
  nsl_internal_check(L, ns_mixed_new(&c->solver));
  int count = (int)luaL_len(L, 1);
  lua_createtable(L, count, 0);
  int results = lua_gettop(L);
  for (int k = 1; k <= count; k++, lua_settop(L, results)) {
    lua_geti(L, 1, k);
    solve_next(L, results + 1, c);
    lua_seti(L, results, k);
  }
  return 1;
}

/* Solves (A W + B) z = q for z, where each block of A has 1 on the diagonal and 1/2 off it, each block of B 2 and 1/4. */
static NsStatus solve_system(lua_State *L, MixedCall *c, const Given *g) {
  enum { BLOCK = NS_CONE_MOST * NS_CONE_MOST };
  double *A = nsl_call_numbers(L, c->call, BLOCK * g->p.ngroups), *B = nsl_call_numbers(L, c->call, BLOCK * g->p.ngroups);
  for (int k = 0; k < g->p.ngroups; k++)
    for (int i = 0, dim = g->p.groups[k].dim; i < dim * dim; i++) {
      A[BLOCK * k + i] = i % (dim + 1) == 0 ? 1 : 0.5;
      B[BLOCK * k + i] = i % (dim + 1) == 0 ? 2 : 0.25;
    }
  NsStatus status = ns_mixed_system_begin(&c->system, &g->p);
  if (!status) status = ns_mixed_system_factor(&c->system, &g->p, BLOCK, A, B);
  for (int i = 0; i < g->p.n; i++) g->z[i] = g->q[i];
  if (!status) ns_mixed_system_solve(&c->system, g->p.n, g->z);
  return status;
}

/* Newton with held forces from the guess. */
static NsStatus solve_held(MixedCall *c, const NsMixedView *v, int most, const Given *g, NsSolverInfo *info) {
  double measure = ns_mixed_measure(v, g->z, g->w);
  NsStatus status = ns_heap_held_new(&c->held);
  return status ? status : ns_heap_held_solve(c->held, c->work, v, most, g->z, g->w, &measure, info);
}

/* The path from the guess. */
static NsStatus solve_follow(MixedCall *c, const NsMixedView *v, int most, const Given *g, NsSolverInfo *info) {
  double measure;
  NsStatus status = ns_heap_path_new(&c->follow);
  if (!status) status = ns_heap_path_begin(c->follow, v, g->z);
  return status ? status : ns_heap_path_continue(c->follow, v, most, g->z, g->w, &measure, info);
}

/*
** mixed_part(problem, method): runs one method ("measure" is the measure of guess) alone; returns also exact (embed), rho, and the error of
** each group.
*/
static int mixed_part(lua_State *L) {
  static const char *const methods[] = {"measure",          "newton", "plane",    "embed", "sweeps", "interior",
                                        "associated",       "system", "proximal", "heap",  "held",   "path",
                                        "path_from_bounds", "follow", NULL};
  static const NsMethod *const owners[] = {
      NULL, &ns_mixed_newton,   &ns_mixed_plane, &ns_mixed_embed,  &ns_mixed_sweeps, &ns_mixed_interior, &ns_mixed_interior,
      NULL, &ns_mixed_interior, &ns_heap_race,   &ns_mixed_newton, &ns_mixed_path,   &ns_mixed_path,     NULL};
  luaL_checktype(L, 1, LUA_TTABLE);
  int method = luaL_checkoption(L, 2, NULL, methods);
  MixedCall *c = spec_mixed_begin(L);
  Given g = spec_mixed_read_problem(L, 1, c);
  int count, n = g.p.n;
  double tolerance, early;
  nsl_internal_take(L, 1, NULL, "max_iterations:=1000 tolerance.=1e-10 early.", &count, &tolerance, &early);
  NsSolverInfo info = {.solver = methods[method]};
  NsMixedView v = {.p = g.p,
                   .tolerance = tolerance,
                   .early = early != 0,
                   .max_iterations = count,
                   .rho = nsl_call_numbers(L, c->call, g.p.ngroups),
                   .explained = nsl_call_numbers(L, c->call, n),
                   .size = nsl_call_numbers(L, c->call, n),
                   .load = nsl_call_numbers(L, c->call, n)};
  bool exact = true;
  c->method = owners[method];
  if (c->method) nsl_internal_check(L, c->method->reserve(&c->work, NULL));
  ns_mixed_look(&g.p, &v.kinds);
  ns_mixed_prepare(&v);
  for (int i = 0; i < n; i++) g.z[i] = g.guess[i];
  switch (method) {
    case 1: info.status = ns_mixed_newton_solve(c->work, &v, count, g.z, g.w, &info); break;
    case 2: info.status = ns_mixed_plane_solve(c->work, &v, g.z, &info); break;
    case 3: info.status = ns_mixed_embed_solve(c->work, &v, g.z, &exact, &info); break;
    case 4: info.status = ns_mixed_sweeps_solve(c->work, &v, count, g.z, g.w, &info); break;
    case 5: info.status = ns_mixed_interior_solve(c->work, &v, 0, 0, g.z, &info); break;
    case 6: info.status = ns_mixed_interior_solve(c->work, &v, NS_INTERIOR_ASSOCIATED, 0, g.z, &info); break;
    case 7: info.status = solve_system(L, c, &g); break;
    case 8: info.status = ns_mixed_interior_solve(c->work, &v, NS_INTERIOR_PROXIMAL, 0.1, g.z, &info); break;
    case 9: info.status = ns_heap_race_solve(c->work, &v, count, g.z, g.w, &info); break;
    case 10: info.status = solve_held(c, &v, count, &g, &info); break;
    case 11: info.status = ns_mixed_path_solve(c->work, &v, NS_PATH_NEAR, g.z, g.w, &info); break;
    case 12: info.status = ns_mixed_path_solve(c->work, &v, NS_PATH_FROM_BOUNDS, g.z, g.w, &info); break;
    case 13: info.status = solve_follow(c, &v, count, &g, &info); break;
    default: break;
  }
  double *errors = nsl_call_numbers(L, c->call, g.p.ngroups), measure = ns_mixed_errors(&v, g.z, g.w, errors);
  info.residual = ns_mixed_residual(&v, g.z, g.w, &info.relative);
  spec_mixed_push_answer(L, &g, &info, measure);
  nsl_internal_give(L, g.p.ngroups, "exact? rho* errors*", exact, v.rho, errors);
  return 1;
}

void nsl_internal_mixed(lua_State *L) {
  static const luaL_Reg functions[] = {{"mixed", mixed}, {"mixed_part", mixed_part}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
