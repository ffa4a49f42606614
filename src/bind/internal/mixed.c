/*
** mixed.c
** Problems of rows and contacts, for the specs alone: many with one solver, and each method by itself.
*/
#include "bind/internal/internal.h"

#include <math.h>

#include "base/memory.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"
#include "bind/numerics/answer.h"
#include "solvers/contact/mixed.h"
#include "solvers/contact/mixed_embed.h"
#include "solvers/contact/mixed_interior.h"
#include "solvers/contact/mixed_newton.h"
#include "solvers/contact/mixed_plane.h"
#include "solvers/contact/mixed_sweep.h"
#include "solvers/contact/mixed_system.h"

enum { ROOM = 30 };

/* The objects of one call, in its arena. */
typedef struct MixedCall {
  NslCall *call;
  NsMixed *solver;
  NsSparse *sparse;
  const NsMethod *method;
  void *work; /* the workspace of the method */
  NsMixedSystem system;
} MixedCall;

static void spec_mixed_free(void *object) {
  MixedCall *c = object;
  ns_mixed_free(c->solver);
  ns_sparse_free(c->sparse);
  if (c->method) c->method->release(c->work);
  ns_mixed_system_release(&c->system);
}

static MixedCall *spec_mixed_begin(lua_State *L) {
  NslCall *call = nsl_new_call(L, "mixed", 0);
  MixedCall *c = nsl_call_take(L, call, 1, sizeof *c);
  c->call = call;
  nsl_call_owns(call, c, spec_mixed_free);
  return c;
}

/* ---- a problem: the table on top of the stack, W a matrix, q and guess vectors, groups a list ---- */

typedef struct Given {
  NsMixedProblem p;
  NsMixedGroup *groups;
  double *q, *guess, *z, *w;
  bool guessed;
} Given;

static double spec_mixed_number_field(lua_State *L, const char *name, double missing) {
  lua_getfield(L, -1, name);
  double value = luaL_optnumber(L, -1, missing);
  lua_pop(L, 1);
  return value;
}

static double *spec_mixed_vector_field(lua_State *L, MixedCall *c, const char *name, int n) {
  double *to = nsl_call_numbers(L, c->call, n);
  if (lua_getfield(L, -1, name) != LUA_TNIL) nsl_vector_read(nsl_to_vector(L, -1, n, "mixed", name), to);
  lua_pop(L, 1);
  return to;
}

static void spec_mixed_read_matrix(lua_State *L, MixedCall *c, Given *g) {
  lua_getfield(L, -1, "W");
  const NslMatrix *W = nsl_to_matrix(L, -1, -1, -1, "mixed", "W");
  double *dense = nsl_call_take(L, c->call, (size_t)W->rows, (size_t)W->cols * sizeof *dense);
  nsl_matrix_read(W, dense);
  int rows = W->rows, cols = W->cols;
  lua_pop(L, 1);
  g->p.n = rows;
  lua_getfield(L, -1, "sparse");
  bool sparse = lua_toboolean(L, -1);
  lua_pop(L, 1);
  g->p.W = sparse ? NULL : dense;
  if (!sparse) return;
  ns_sparse_free(c->sparse);
  NsStatus status = ns_sparse_from_dense(&c->sparse, rows, cols, dense, rows > 0 ? rows : 1);
  if (status) luaL_error(L, "%s", ns_status_name(status));
  g->p.sparse = c->sparse;
}

static void spec_mixed_read_groups(lua_State *L, MixedCall *c, Given *g) {
  lua_getfield(L, -1, "groups");
  int count = (int)luaL_len(L, -1);
  g->groups = nsl_call_take(L, c->call, (size_t)count, sizeof *g->groups);
  for (int k = 0; k < count; k++) {
    lua_geti(L, -1, k + 1);
    double mu[] = {spec_mixed_number_field(L, "mu", 0), spec_mixed_number_field(L, "mu_r", -1)};
    int dim = (int)spec_mixed_number_field(L, "dim", 1);
    const NsConeClass *cone = ns_cone_find(dim, mu[1] < 0 ? 1 : 2);
    g->groups[k] = cone ? ns_mixed_contact(cone, mu)
                        : ns_mixed_row(spec_mixed_number_field(L, "lower", -INFINITY),
                                       spec_mixed_number_field(L, "upper", INFINITY));
    g->groups[k].dim = dim;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  g->p.groups = g->groups;
  g->p.ngroups = count;
}

static Given spec_mixed_read_problem(lua_State *L, MixedCall *c) {
  Given g = {.guessed = false};
  luaL_checktype(L, -1, LUA_TTABLE);
  spec_mixed_read_matrix(L, c, &g);
  spec_mixed_read_groups(L, c, &g);
  g.p.q = g.q = spec_mixed_vector_field(L, c, "q", g.p.n);
  g.guess = spec_mixed_vector_field(L, c, "guess", g.p.n);
  g.guessed = lua_getfield(L, -1, "guess") != LUA_TNIL;
  lua_pop(L, 1);
  g.z = nsl_call_numbers(L, c->call, g.p.n);
  g.w = nsl_call_numbers(L, c->call, g.p.n);
  for (int i = 0; i < g.p.n; i++) g.z[i] = g.w[i] = NAN;
  return g;
}

/* ---- answers ---- */

static void spec_mixed_push_answer(lua_State *L, const Given *g, const NsSolverInfo *info, double measure) {
  lua_newtable(L);
  nsl_set_vector(L, "z", g->p.n, g->z);
  nsl_set_vector(L, "w", g->p.n, g->w);
  nsl_set_string(L, "status", ns_status_name(info->status));
  nsl_set_string(L, "solver", info->solver);
  nsl_set_integer(L, "iterations", info->iterations);
  lua_pushboolean(L, info->warm), lua_setfield(L, -2, "warm");
  nsl_set_number(L, "residual", info->residual);
  nsl_set_number(L, "relative", info->relative);
  nsl_set_number(L, "backward", info->backward);
  nsl_set_number(L, "measure", measure);
}

/* ---- functions ---- */

/* Solves the problem on top of the stack, and replaces it by the answer. */
static void solve_next(lua_State *L, MixedCall *c) {
  Given g = spec_mixed_read_problem(L, c);
  NsSolverInfo info = {0};
  int repeats = (int)spec_mixed_number_field(L, "repeats", 1);
  *ns_mixed_options(c->solver) = (NsMixedOptions){.tolerance = spec_mixed_number_field(L, "tolerance", 0),
                                                  .max_iterations = (int)spec_mixed_number_field(L, "max_iterations", 0),
                                                  .keep = spec_mixed_number_field(L, "keep", 0) != 0};
  uint64_t allocations = ns_alloc_count();
  double start = ns_search_now();
  for (int k = 0; k < repeats; k++) ns_mixed_solve(c->solver, &g.p, g.guessed ? g.guess : NULL, g.z, g.w, &info);
  double seconds = (ns_search_now() - start) / repeats;
  allocations = ns_alloc_count() - allocations;
  spec_mixed_push_answer(L, &g, &info, info.backward);
  nsl_set_number(L, "seconds", seconds);
  nsl_set_number(L, "allocations", (double)allocations);
  lua_remove(L, -2);
}

static int mixed(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  luaL_checkstack(L, ROOM, NULL);
  MixedCall *c = spec_mixed_begin(L);
  if (ns_mixed_new(&c->solver) != NS_OK) return luaL_error(L, "not enough memory");
  int count = (int)luaL_len(L, 1);
  lua_createtable(L, count, 0);
  for (int k = 1; k <= count; k++) {
    lua_geti(L, 1, k);
    solve_next(L, c);
    lua_seti(L, -2, k);
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

static int mixed_part(lua_State *L) {
  static const char *const methods[] = {"measure",    "newton", "plane",    "embed",     "sweeps", "interior",
                                        "associated", "system", "proximal", "conjugate", NULL};
  static const NsMethod *const owners[] = {
      NULL, &ns_mixed_newton,   &ns_mixed_plane,    &ns_mixed_embed, &ns_mixed_sweeps, &ns_mixed_interior, &ns_mixed_interior,
      NULL, &ns_mixed_interior, &ns_mixed_conjugate};
  luaL_checktype(L, 1, LUA_TTABLE);
  int method = luaL_checkoption(L, 2, NULL, methods);
  luaL_checkstack(L, ROOM, NULL);
  MixedCall *c = spec_mixed_begin(L);
  lua_pushvalue(L, 1);
  Given g = spec_mixed_read_problem(L, c);
  int count = (int)spec_mixed_number_field(L, "max_iterations", 1000), n = g.p.n;
  NsSolverInfo info = {.solver = methods[method]};
  NsMixedView v = {.p = g.p,
                   .tolerance = spec_mixed_number_field(L, "tolerance", 1e-10),
                   .early = spec_mixed_number_field(L, "early", 0) != 0,
                   .max_iterations = count,
                   .rho = nsl_call_numbers(L, c->call, g.p.ngroups),
                   .explained = nsl_call_numbers(L, c->call, n),
                   .size = nsl_call_numbers(L, c->call, n),
                   .load = nsl_call_numbers(L, c->call, n)};
  bool exact = true;
  c->method = owners[method];
  if (c->method && c->method->reserve(&c->work, NULL) != NS_OK) return luaL_error(L, "not enough memory");
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
    case 9:
      info.status = ns_mixed_conjugate_solve(c->work, &v, (int)spec_mixed_number_field(L, "least", 0), count, g.z, g.w, &info);
      break;
    default: break;
  }
  double measure = ns_mixed_measure(&v, g.z, g.w);
  info.residual = ns_mixed_residual(&v, g.z, g.w, &info.relative);
  spec_mixed_push_answer(L, &g, &info, measure);
  lua_pushboolean(L, exact), lua_setfield(L, -2, "exact");
  nsl_set_vector(L, "rho", g.p.ngroups, v.rho);
  return 1;
}

void nsl_internal_mixed(lua_State *L) {
  static const luaL_Reg functions[] = {{"mixed", mixed}, {"mixed_part", mixed_part}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
