/*
** solvers.c
** For the specs alone: parts of solvers with contracts of their own, and block matrices.
*/
#include "internal.h"

#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "bind/numerics/answer.h"
#include "linalg/block.h"
#include "solvers/box/active.h"
#include "solvers/balance.h"
#include "solvers/box/box_solver.h"
#include "solvers/chain.h"
#include "solvers/study/bounded.h"
#include "solvers/components.h"
#include "solvers/map.h"
#include "solvers/residual.h"
#include "solvers/mcp/mcp_jacobian.h"
#include "solvers/mcp/mcp_map.h"
#include "solvers/scale.h"
#include "solvers/box/sparse_path.h"
#include "solvers/box/methods.h"
#include "solvers/box/sparse_search.h"

/* The objects of one call, in its arena. */
typedef struct SolverParts {
  NslCall *call;
  NsActive *active;
  NsBlock *block;
  NsSparse *sparse, *other;
  NsSparseMap *map;
  NsMcpJacobian jacobian;
  NsSparsePath *path;
  NsSparseSearch search;
  NsLu *lu;
  NsBox *box;
} SolverParts;

static void spec_solvers_free(void *object) {
  SolverParts *c = object;
  ns_active_free(c->active);
  ns_block_free(c->block);
  ns_sparse_map_free(c->map);
  ns_mcp_jacobian_release(&c->jacobian);
  ns_sparse_path_free(c->path);
  ns_sparse_search_release(&c->search);
  ns_sparse_free(c->sparse);
  ns_sparse_free(c->other);
  ns_lu_free(c->lu);
  ns_box_free(c->box);
}

static SolverParts *spec_solvers_new_call(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  luaL_checkstack(L, 60, NULL);
  NslCall *call = nsl_new_call(L, "solvers", 0);
  SolverParts *c = nsl_call_take(L, call, 1, sizeof *c);
  c->call = call;
  nsl_call_owns(call, c, spec_solvers_free);
  return c;
}

/* The rows of a matrix, for the engine. */
static int leading(int n) {
  return n > 0 ? n : 1;
}

static int give_table(lua_State *L) {
  lua_newtable(L);
  return 1;
}

static NsBoxProblem box_fields(lua_State *L) {
  NsBoxProblem p = {0};
  double *M, *q, *lower, *upper;
  nsl_internal_take(L, 1, &p.n, "M# q* lower* upper*=inf", &M, &q, &lower, &upper);
  p.M = M, p.ldm = leading(p.n), p.q = q, p.lower = lower, p.upper = upper;
  return p;
}

static int spec_solvers_scale(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  NsBoxScaled s;
  NsBoxProblem p = box_fields(L);
  double *point, *z = nsl_internal_room(L, p.n);
  nsl_internal_take(L, 1, &p.n, "point*", &point);
  ns_box_scaled_take(&s, &c->call->arena, p.n);
  if (c->call->arena.failed) return luaL_error(L, "not enough memory");
  ns_box_scale(&s, &p);
  ns_box_unscale(&s, &p, point, z);
  give_table(L);
  nsl_internal_give(L, p.n, "well_scaled? now_well_scaled? row% col% M# q* lower* upper* z*", ns_box_well_scaled(&p),
                    ns_box_well_scaled(&s.problem), s.row, s.col, s.M, s.q, s.lower, s.upper, z);
  return 1;
}

/*
** box{M, q, lower, upper, guess, method, tolerance, max_iterations, repeats}: z and w, lists; the solver's account; solutions, allocations
** (made while solving), seconds (of one of `repeats` solves).
*/
static int spec_solvers_box(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  NsBoxProblem p = box_fields(L);
  int n = p.n, repeats;
  double *guess, *z, *w;
  NsSolverInfo info = {0};
  const char *asked;
  nsl_internal_check(L, ns_box_new(&c->box, n));
  NsBoxOptions *options = ns_box_options(c->box);
  lua_getfield(L, 1, "method");
  options->method = nsl_method_named(ns_box_methods, NS_TAKES_DENSE, luaL_optstring(L, -1, "default"), &asked);
  if (!asked) luaL_error(L, "box: there is no method '%s'", lua_tostring(L, -1));
  options->tolerance = nsl_field_number(L, 1, "tolerance", options->tolerance);
  nsl_internal_take(L, 1, &n, "guess* none*=nan none*=nan repeats:=1 max_iterations:", &guess, &z, &w, &repeats,
                    &options->max_iterations);
  bool guessed = lua_getfield(L, 1, "guess") != LUA_TNIL;
  uint64_t allocations = ns_alloc_count();
  double start = ns_clock_now();
  for (int k = 0; k < repeats; k++) ns_box_solve(c->box, &p, guessed ? guess : NULL, z, w, &info);
  double seconds = (ns_clock_now() - start) / repeats;
  allocations = ns_alloc_count() - allocations;
  give_table(L);
  nsl_set_solver_info(L, &info);
  nsl_internal_give(L, n, "z~ w~ solutions: allocations: seconds.", z, w, (int)ns_box_solutions(c->box), (int)allocations,
                    seconds);
  return 1;
}

/* balance{M, sparse}: the exponents, the trees and, for a dense M, the balanced matrix and whether it is exact. */
static int spec_solvers_balance(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  NsBalance b;
  double *M;
  int n;
  bool sparse, fits = true;
  nsl_internal_take(L, 1, &n, "M# sparse?", &M, &sparse);
  ns_balance_take(&b, &c->call->arena, n);
  int *work = ns_arena_ints(&c->call->arena, (ptrdiff_t)n * n);
  double *power = nsl_internal_room(L, n), *to = nsl_internal_room(L, n * n);
  if (c->call->arena.failed) return luaL_error(L, "not enough memory");
  if (sparse) nsl_internal_check(L, ns_sparse_from_dense(&c->sparse, n, n, M, leading(n)));
  if (sparse) ns_balance_sparse(&b, c->sparse);
  else fits = ns_balance_dense(&b, M, leading(n), n, work);
  ns_balance_apply(&b, M, leading(n), n, power, to);
  give_table(L);
  nsl_internal_give(L, n, "fits? row% col% row_tree% col_tree% M#", fits, b.row, b.col, b.row_tree, b.col_tree, to);
  return 1;
}

/* components{M, index, before} or {n, i, j}: the component of each node; both count from 1. before: a matrix that is taken first. */
static int spec_solvers_components(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  NsComponents parts;
  bool dense = lua_getfield(L, 1, "M") != LUA_TNIL;
  lua_getfield(L, 1, dense ? "index" : "i");
  int count = (int)luaL_len(L, -1), n = dense ? count : (int)nsl_field_number(L, 1, "n", 0), *i, *j;
  nsl_internal_take(L, 1, &count, dense ? "index%" : "i% j%", &i, &j);
  ns_components_take(&parts, &c->call->arena, n);
  if (c->call->arena.failed) return luaL_error(L, "not enough memory");
  for (int k = 0; k < count; k++) i[k]--;
  if (dense) {
    static const char *const matrices[] = {"before@", "M@"};
    bool before = lua_getfield(L, 1, "before") != LUA_TNIL;
    for (int k = before ? 0 : 1; k < 2; k++) {
      NslMatrix *M;
      nsl_internal_take(L, 1, NULL, matrices[k], &M);
      ns_components_dense(&parts, M->data, leading(M->rows), n, i);
    }
  } else {
    ns_components_begin(&parts, n);
    for (int k = 0; k < count; k++) ns_components_join(&parts, i[k], j[k] - 1);
    ns_components_finish(&parts);
  }
  for (int k = 0; k < n; k++) parts.of[k]++, parts.member[k]++;
  give_table(L);
  nsl_internal_give(L, n, "of% member%", parts.of, parts.member);
  nsl_internal_give(L, parts.count + 1, "start%", parts.start);
  return 1;
}

/* Sets the field to the list of the places of the variables. */
static void set_places(lua_State *L, const char *name, int n, const signed char *set) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) lua_pushinteger(L, set[i]), lua_rawseti(L, -2, i + 1);
  lua_setfield(L, -2, name);
}

/* active{M, q, lower, upper, set | point, tolerance, growth, single}: one attempt, and the repair after NS_ENOCONV. */
static int spec_solvers_active(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  NsBoxProblem p = box_fields(L);
  double backward, *z = nsl_internal_room(L, p.n), *w = nsl_internal_room(L, p.n), *point, tolerance, growth;
  bool single;
  nsl_internal_take(L, 1, &p.n, "point* tolerance.=1e-13 growth.=1e10 single?", &point, &tolerance, &growth, &single);
  signed char *set = ns_arena_take(&c->call->arena, (size_t)p.n, 1);
  if (!set) return luaL_error(L, "not enough memory");
  ns_active_of_point(&p, point, set);
  if (lua_getfield(L, 1, "set") != LUA_TNIL) {
    int *given;
    nsl_internal_take(L, 1, &p.n, "set%", &given);
    for (int i = 0; i < p.n; i++) set[i] = (signed char)given[i];
  }
  nsl_internal_check(L, ns_active_new(&c->active, p.n));
  NsStatus status = ns_active_try(c->active, &p, set, tolerance, growth, z, w, &backward);
  give_table(L);
  set_places(L, "set", p.n, set);
  if (status == NS_ENOCONV) {
    nsl_set_integer(L, "wrong", ns_active_repair(c->active, &p, z, w, single, set));
    set_places(L, "repaired", p.n, set);
  }
  nsl_internal_give(L, p.n, "status! z* w* backward.", status, z, w, backward);
  return 1;
}

/* minor_sign{M, index}: the sign of the minor of these rows and columns (from 1); and the sign by elimination alone. */
static int spec_solvers_minor_sign(lua_State *L) {
  spec_solvers_new_call(L);
  NslMatrix *M;
  lua_getfield(L, 1, "index");
  int count = (int)luaL_len(L, -1), *index;
  nsl_internal_take(L, 1, &count, "M@ index%", &M, &index);
  int n = M->rows;
  for (int i = 0; i < count; i++)
    if (index[i]-- < 1 || index[i] >= n) return luaL_error(L, "index %d", index[i] + 1);
  if (M->cols != n || count > NS_EXACT_MINOR) return luaL_error(L, "M or index");
  NsBounded a = {count, nsl_internal_room(L, count * count), nsl_internal_room(L, count * count)}, b = a;
  b.v = nsl_internal_room(L, count * count), b.e = nsl_internal_room(L, count * count);
  lua_pushinteger(L, ns_minor_sign(n, M->data, count, index, &a, &b));
  a.n = b.n = count;
  ns_bounded_take(n, M->data, count, index, &a);
  lua_pushinteger(L, ns_bounded_det_sign(&a, &b));
  return 2;
}

/* fischer(a, b): the value and the two slopes. */
static int spec_solvers_fischer(lua_State *L) {
  double da, db, value = ns_fischer(luaL_checknumber(L, 1), luaL_checknumber(L, 2), &da, &db);
  return lua_pushnumber(L, value), lua_pushnumber(L, da), lua_pushnumber(L, db), 3;
}

/* fischer_box(z, f, lower, upper): the value, the slopes by z and by f, and the violation. */
static int spec_solvers_fischer_box(lua_State *L) {
  double at_z, at_f, x[4];
  for (int i = 0; i < 4; i++) x[i] = luaL_checknumber(L, i + 1);
  lua_pushnumber(L, ns_fischer_box(x[0], x[1], x[2], x[3], &at_z, &at_f));
  return lua_pushnumber(L, at_z), lua_pushnumber(L, at_f), lua_pushnumber(L, ns_box_violation(x[0], x[1], x[2], x[3])), 4;
}

/* mcp_jacobian{J, sparse, x, a, b, rhs, next}: J dense or sparse; next: other values, which are loaded first. */
static int spec_solvers_mcp_jacobian(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  int n;
  bool sparse;
  double *J, *next, *x, *a, *b, *rhs;
  nsl_internal_take(L, 1, &n, "J# sparse? x* a*=1 b*=1 rhs*=1", &J, &sparse, &x, &a, &b, &rhs);
  double *y = nsl_internal_room(L, n), *size = nsl_internal_room(L, n), *largest = nsl_internal_room(L, n),
         *transposed = nsl_internal_room(L, n);
  NsMcpJacobian *jac = &c->jacobian;
  nsl_internal_check(L, ns_mcp_jacobian_init(jac, &c->call->arena, n, sparse));
  if (sparse) {
    if (lua_getfield(L, 1, "next") != LUA_TNIL) {
      nsl_internal_take(L, 1, &n, "next#", &next);
      nsl_internal_check(L, ns_sparse_from_dense(&c->other, n, n, next, n));
      nsl_internal_check(L, ns_mcp_jacobian_take(jac, c->other));
    }
    nsl_internal_check(L, ns_sparse_from_dense(&c->sparse, n, n, J, leading(n)));
    nsl_internal_check(L, ns_mcp_jacobian_take(jac, c->sparse));
  } else {
    memcpy(jac->dense, J, (size_t)n * (size_t)n * sizeof *jac->dense);
  }
  ns_mcp_jacobian_rows(jac, x, y, size, largest);
  ns_mcp_jacobian_transposed(jac, x, transposed);
  NsStatus status = ns_mcp_jacobian_solve(jac, a, b, rhs);
  give_table(L);
  nsl_internal_give(L, n, "status! finite? y* size* largest* transposed* solution*", status, ns_mcp_jacobian_finite(jac), y,
                    size, largest, transposed, rhs);
  return 1;
}

/* box_map{M, sparse, x, d, e, b}: the products, and the solution of (diag(d) + diag(e) M) x = b. */
static int spec_solvers_box_map(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  NsBoxMap map = {0};
  int n;
  bool sparse;
  double *M, *x, *d, *e, *b;
  nsl_internal_take(L, 1, &n, "M# sparse? x* d*=1 e*=1 b*=1", &M, &sparse, &x, &d, &e, &b);
  int order = n + 2;
  double *y = nsl_internal_room(L, n), *transposed = nsl_internal_room(L, n);
  NsDenseMap dense = {M, n, leading(n), nsl_internal_room(L, order * order), nsl_internal_room(L, order), NULL};
  if (sparse) {
    nsl_internal_check(L, ns_sparse_from_dense(&c->sparse, n, n, M, leading(n)));
    nsl_internal_check(L, ns_sparse_map_new(&c->map, c->sparse));
    ns_sparse_map(&map, c->map);
  } else {
    nsl_internal_check(L, ns_lu_new(&c->lu, order));
    dense.lu = c->lu;
    ns_dense_map(&map, &dense);
  }
  map.product(map.self, x, y);
  map.product_transposed(map.self, x, transposed);
  NsStatus status = map.factor(map.self, d, e);
  if (!status) map.solve(map.self, b);
  give_table(L);
  nsl_internal_give(L, n, "status! product* transposed* solution*", status, y, transposed, b);
  return 1;
}

/* sparse_path{M, q, lower, upper, z, w, rho, inside, max_pivots}: the solution and the pivots. M has a full diagonal. */
static int spec_solvers_sparse_path(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  NsBoxProblem p = box_fields(L);
  int n = p.n, pivots = 0, most = 100 + 20 * n;
  double *z, *w, *rho, inside, compact, *out = nsl_internal_room(L, n);
  bool at_bounds, upper_first;
  nsl_internal_take(L, 1, &n, "z* w* rho*=1 inside.=1 compact. at_bounds? upper_first?", &z, &w, &rho, &inside, &compact,
                    &at_bounds, &upper_first);
  most = (int)nsl_field_number(L, 1, "max_pivots", most);
  NsPathStart start = {at_bounds ? NULL : z, w, rho, inside, upper_first, compact, most};
  nsl_internal_check(L, ns_sparse_from_dense(&c->sparse, n, n, p.M, leading(n)));
  nsl_internal_check(L, ns_sparse_path_new(&c->path, c->sparse));
  NsStatus status = ns_sparse_path_solve(c->path, c->sparse, p.q, p.lower, p.upper, &start, out, &pivots);
  give_table(L);
  nsl_internal_give(L, n, "status! pivots: z*", status, pivots, out);
  return 1;
}

/* sparse_proximal{M, q, lower, upper}: the method alone: its steps, and the best candidate with its error. */
static int spec_solvers_sparse_proximal(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  NsBoxProblem p = box_fields(L);
  NsBoxOptions options = {.tolerance = 1e-11};
  void *work;
  nsl_internal_check(L, ns_sparse_from_dense(&c->sparse, p.n, p.n, p.M, leading(p.n)));
  nsl_internal_check(L, ns_sparse_search_take(&c->search, &c->call->arena, c->sparse, &options, true));
  nsl_internal_check(L, ns_sparse_proximal.reserve(&work, &c->search.box.base));
  ns_sparse_search_begin(&c->search, p.q, p.lower, p.upper, NULL);
  NsOutcome out = ns_sparse_proximal.run(work, &c->search.box.base, 0);
  give_table(L);
  nsl_internal_give(L, p.n, "status! steps: error. z*", out.status, out.iterations, c->search.box.base.least, c->search.best_z);
  return 1;
}

static NsStatus spec_solvers_read_block(lua_State *L, SolverParts *c, int dim) {
  if (lua_getfield(L, 1, "i") == LUA_TNIL) {
    double *M;
    int n;
    bool sparse;
    nsl_internal_take(L, 1, &n, "M# sparse?", &M, &sparse);
    if (!sparse) return ns_block_from_dense(&c->block, dim, n, M, leading(n));
    nsl_internal_check(L, ns_sparse_from_dense(&c->sparse, n, n, M, leading(n)));
    return ns_block_from_sparse(&c->block, dim, c->sparse);
  }
  int count = (int)luaL_len(L, -1), *i, *j;
  double *v;
  nsl_internal_take(L, 1, &count, "i% j% v*", &i, &j, &v);
  for (int k = 0; k < count; k++) i[k]--, j[k]--;
  return ns_block_from_triplets(&c->block, dim, (int)nsl_field_number(L, 1, "n", 0), count, i, j, v);
}

/* block{dim, M, sparse | n, i, j, v; x, q}: indices from 1. */
static int spec_solvers_block(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  NsStatus status = spec_solvers_read_block(L, c, (int)nsl_field_number(L, 1, "dim", 1));
  if (status) {
    give_table(L);
    nsl_internal_give(L, 0, "status! made?", status, c->block != NULL);
    return 1;
  }
  NsBlock *A = c->block;
  int n = A->dim * A->nb;
  double *x, *q, *y = nsl_internal_room(L, n), *outside = nsl_internal_room(L, n), *D = nsl_internal_room(L, n * n);
  nsl_internal_take(L, 1, &n, "x*=1 q*", &x, &q);
  ns_block_product(A, x, q, y);
  for (int i = 0; i < A->nb; i++) ns_block_row_outside(A, i, x, outside + (size_t)A->dim * (size_t)i);
  ns_sparse_free(c->other);
  nsl_internal_check(L, ns_block_to_sparse(&c->other, A));
  ns_sparse_to_dense(c->other, D, leading(n));
  give_table(L);
  nsl_internal_give(L, n, "status! y* outside* dense# count:", NS_OK, y, outside, D, (int)ns_block_count(A));
  return 1;
}

void nsl_internal_solvers(lua_State *L) {
#define ROW(name)                                                                                                              \
  { #name, spec_solvers_##name }
  static const luaL_Reg functions[] = {
      ROW(box),         ROW(scale),        ROW(balance), ROW(components),  ROW(active),          ROW(minor_sign), ROW(fischer),
      ROW(fischer_box), ROW(mcp_jacobian), ROW(box_map), ROW(sparse_path), ROW(sparse_proximal), ROW(block),      {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
