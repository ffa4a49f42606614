/*
** mixed.c
** Problems of rows and contacts, one after another with one solver; and the methods one by one.
*/
#include "bind/internal/internal.h"

#include <math.h>
#include <time.h>

#include "base/memory.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"
#include "solvers/contact/mixed_embed.h"
#include "solvers/contact/mixed_interior.h"
#include "solvers/contact/mixed_newton.h"
#include "solvers/contact/mixed_plane.h"
#include "solvers/contact/mixed_sweep.h"
#include "solvers/contact/mixed_system.h"

enum { ROOM = 30 };

/* Owns what one call allocates, so that any error frees it. */
typedef struct Call {
  NslHead head;
  NsArena arena;
  NsMixed *solver;
  NsSparse *sparse;
  const NsMethod *method;
  void *work; /* of the method */
  NsMixedSystem system;
} Call;

static const NslType call_type = {.name = "nslua.internal.mixed"};

static int spec_mixed_call_gc(lua_State *L) {
  Call *c = lua_touserdata(L, 1);
  ns_mixed_free(c->solver);
  ns_sparse_free(c->sparse);
  if (c->method) c->method->release(c->work);
  ns_mixed_system_release(&c->system);
  ns_arena_release(&c->arena);
  c->solver = NULL, c->sparse = NULL, c->method = NULL;
  return 0;
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

static double *spec_mixed_vector_field(lua_State *L, Call *c, const char *name, int n) {
  double *to = ns_arena_doubles(&c->arena, n);
  if (!to) luaL_error(L, "not enough memory");
  if (lua_getfield(L, -1, name) != LUA_TNIL) nsl_vector_read(nsl_to_vector(L, -1, n, "mixed", name), to);
  lua_pop(L, 1);
  return to;
}

static void spec_mixed_read_matrix(lua_State *L, Call *c, Given *g) {
  lua_getfield(L, -1, "W");
  const NslMatrix *W = nsl_to_matrix(L, -1, -1, -1, "mixed", "W");
  double *dense = ns_arena_matrix(&c->arena, W->rows, W->cols);
  if (!dense) luaL_error(L, "not enough memory");
  for (int j = 0; j < W->cols; j++)
    for (int i = 0; i < W->rows; i++) dense[i + (size_t)j * (size_t)W->rows] = W->data[i + (size_t)j * (size_t)W->ld];
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

static void spec_mixed_read_groups(lua_State *L, Call *c, Given *g) {
  lua_getfield(L, -1, "groups");
  int count = (int)luaL_len(L, -1);
  g->groups = ns_arena_take(&c->arena, (size_t)count, sizeof *g->groups);
  if (!g->groups) luaL_error(L, "not enough memory");
  for (int k = 0; k < count; k++) {
    lua_geti(L, -1, k + 1);
    g->groups[k] = (NsMixedGroup){(int)spec_mixed_number_field(L, "dim", 1), spec_mixed_number_field(L, "lower", -INFINITY),
                                  spec_mixed_number_field(L, "upper", INFINITY), spec_mixed_number_field(L, "mu", 0)};
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  g->p.groups = g->groups;
  g->p.ngroups = count;
}

static Given spec_mixed_read_problem(lua_State *L, Call *c) {
  Given g = {.guessed = false};
  luaL_checktype(L, -1, LUA_TTABLE);
  spec_mixed_read_matrix(L, c, &g);
  spec_mixed_read_groups(L, c, &g);
  g.p.q = g.q = spec_mixed_vector_field(L, c, "q", g.p.n);
  g.guess = spec_mixed_vector_field(L, c, "guess", g.p.n);
  g.guessed = lua_getfield(L, -1, "guess") != LUA_TNIL;
  lua_pop(L, 1);
  g.z = ns_arena_doubles(&c->arena, g.p.n);
  g.w = ns_arena_doubles(&c->arena, g.p.n);
  if (c->arena.failed) luaL_error(L, "not enough memory");
  for (int i = 0; i < g.p.n; i++) g.z[i] = g.w[i] = NAN;
  return g;
}

/* ---- answers ---- */

static void set_number(lua_State *L, const char *name, double x) {
  lua_pushnumber(L, x);
  lua_setfield(L, -2, name);
}

static void spec_mixed_push_answer(lua_State *L, const Given *g, const NsSolverInfo *info, double measure) {
  lua_newtable(L);
  nsl_vector_write(nsl_push_vector(L, g->p.n, NULL), g->z), lua_setfield(L, -2, "z");
  nsl_vector_write(nsl_push_vector(L, g->p.n, NULL), g->w), lua_setfield(L, -2, "w");
  lua_pushstring(L, ns_status_name(info->status)), lua_setfield(L, -2, "status");
  lua_pushstring(L, info->solver), lua_setfield(L, -2, "solver");
  lua_pushinteger(L, info->iterations), lua_setfield(L, -2, "iterations");
  lua_pushboolean(L, info->warm), lua_setfield(L, -2, "warm");
  set_number(L, "residual", info->residual);
  set_number(L, "relative", info->relative);
  set_number(L, "backward", info->backward);
  set_number(L, "measure", measure);
}

static double spec_mixed_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- functions ---- */

/* The problem on top of the stack; its answer takes its place. */
static void solve_next(lua_State *L, Call *c) {
  Given g = spec_mixed_read_problem(L, c);
  NsSolverInfo info = {0};
  int repeats = (int)spec_mixed_number_field(L, "repeats", 1);
  *ns_mixed_options(c->solver) = (NsMixedOptions){.tolerance = spec_mixed_number_field(L, "tolerance", 0),
                                                  .max_iterations = (int)spec_mixed_number_field(L, "max_iterations", 0),
                                                  .keep = spec_mixed_number_field(L, "keep", 0) != 0};
  uint64_t allocations = ns_alloc_count();
  double start = spec_mixed_now();
  for (int k = 0; k < repeats; k++) ns_mixed_solve(c->solver, &g.p, g.guessed ? g.guess : NULL, g.z, g.w, &info);
  double seconds = (spec_mixed_now() - start) / repeats;
  allocations = ns_alloc_count() - allocations;
  spec_mixed_push_answer(L, &g, &info, info.backward);
  set_number(L, "seconds", seconds);
  set_number(L, "allocations", (double)allocations);
  lua_remove(L, -2);
}

static int mixed(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  luaL_checkstack(L, ROOM, NULL);
  Call *c = nsl_new(L, &call_type, sizeof *c, 0);
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

static NsMixedKinds kinds_of(const NsMixedProblem *p) {
  NsMixedKinds kinds = {.uniform = true};
  for (int g = 0; g < p->ngroups; g++) {
    int dim = p->groups[g].dim;
    if (dim == 1) kinds.uniform = false;
    if (dim == 1 && ns_mixed_equation(&p->groups[g])) kinds.equations++;
    else if (dim == 1) kinds.bounded++;
    else kinds.contacts++;
    if (dim > 1 && kinds.dim > 0 && kinds.dim != dim) kinds.uniform = false;
    if (dim > 1 && dim > kinds.dim) kinds.dim = dim;
  }
  return kinds;
}

/* z with (A W + B) z = q, each block of A 1 on and 1/2 off its diagonal, each of B 2 and 1/4. */
static NsStatus solve_system(Call *c, const Given *g) {
  double *A = ns_arena_doubles(&c->arena, 9 * (ptrdiff_t)g->p.ngroups);
  double *B = ns_arena_doubles(&c->arena, 9 * (ptrdiff_t)g->p.ngroups);
  if (c->arena.failed) return NS_ENOMEM;
  for (int k = 0; k < g->p.ngroups; k++)
    for (int i = 0, dim = g->p.groups[k].dim; i < dim * dim; i++) {
      A[9 * k + i] = i % (dim + 1) == 0 ? 1 : 0.5;
      B[9 * k + i] = i % (dim + 1) == 0 ? 2 : 0.25;
    }
  NsStatus status = ns_mixed_system_begin(&c->system, &g->p);
  if (!status) status = ns_mixed_system_factor(&c->system, &g->p, A, B);
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
  Call *c = nsl_new(L, &call_type, sizeof *c, 0);
  lua_pushvalue(L, 1);
  Given g = spec_mixed_read_problem(L, c);
  int count = (int)spec_mixed_number_field(L, "max_iterations", 1000), n = g.p.n;
  NsSolverInfo info = {.solver = methods[method]};
  NsMixedView v = {.p = g.p,
                   .kinds = kinds_of(&g.p),
                   .tolerance = spec_mixed_number_field(L, "tolerance", 1e-10),
                   .early = spec_mixed_number_field(L, "early", 0) != 0,
                   .max_iterations = count,
                   .rho = ns_arena_doubles(&c->arena, g.p.ngroups),
                   .explained = ns_arena_doubles(&c->arena, n),
                   .size = ns_arena_doubles(&c->arena, n),
                   .load = ns_arena_doubles(&c->arena, n)};
  if (c->arena.failed) return luaL_error(L, "not enough memory");
  bool exact = true;
  c->method = owners[method];
  if (c->method && c->method->reserve(&c->work, NULL) != NS_OK) return luaL_error(L, "not enough memory");
  ns_mixed_prepare(&v);
  for (int i = 0; i < n; i++) g.z[i] = g.guess[i];
  switch (method) {
    case 1: info.status = ns_mixed_newton_solve(c->work, &v, count, g.z, g.w, &info); break;
    case 2: info.status = ns_mixed_plane_solve(c->work, &v, g.z, &info); break;
    case 3: info.status = ns_mixed_embed_solve(c->work, &v, g.z, &exact, &info); break;
    case 4: info.status = ns_mixed_sweeps_solve(c->work, &v, count, g.z, g.w, &info); break;
    case 5: info.status = ns_mixed_interior_solve(c->work, &v, g.z, &info); break;
    case 6: info.status = ns_mixed_associated_solve(c->work, &v, g.z, &info); break;
    case 7: info.status = solve_system(c, &g); break;
    case 8: info.status = ns_mixed_proximal_solve(c->work, &v, 0.1, g.z, &info); break;
    case 9:
      info.status = ns_mixed_conjugate_solve(c->work, &v, (int)spec_mixed_number_field(L, "least", 0), count, g.z, g.w, &info);
      break;
    default: break;
  }
  double measure = ns_mixed_measure(&v, g.z, g.w);
  info.residual = ns_mixed_residual(&v, g.z, g.w, &info.relative);
  spec_mixed_push_answer(L, &g, &info, measure);
  lua_pushboolean(L, exact), lua_setfield(L, -2, "exact");
  nsl_vector_write(nsl_push_vector(L, g.p.ngroups, NULL), v.rho), lua_setfield(L, -2, "rho");
  return 1;
}

void nsl_internal_mixed(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", spec_mixed_call_gc}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"mixed", mixed}, {"mixed_part", mixed_part}, {NULL, NULL}};
  nsl_register_type(L, &call_type, meta, NULL);
  luaL_setfuncs(L, functions, 0);
}
