/*
** solvers.c
** For the specs alone: parts of solvers with contracts of their own, and block matrices.
*/
#include "bind/internal/internal.h"

#include <math.h>
#include <string.h>

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

/* The objects of one call, in its arena. */
typedef struct SolverParts {
  NslCall *call;
  NsActive *active;
  NsBlock *block;
  NsSparse *sparse, *other;
  NsSparseMap *map;
  NsMcpJacobian jacobian;
  NsSparsePath *path;
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

static void set_matrix(lua_State *L, const char *name, int rows, int cols, const double *x) {
  nsl_matrix_write(nsl_push_matrix(L, rows, cols, NULL), x);
  lua_setfield(L, -2, name);
}

static void set_status(lua_State *L, NsStatus status) {
  nsl_set_string(L, "status", ns_status_name(status));
}

static void set_places(lua_State *L, const char *name, int n, const signed char *set) {
  lua_createtable(L, n, 0);
  for (int i = 0; i < n; i++) lua_pushinteger(L, set[i]), lua_rawseti(L, -2, i + 1);
  lua_setfield(L, -2, name);
}

static NsBoxProblem box_fields(lua_State *L) {
  NslMatrix *M = nsl_internal_matrix(L, 1, "M");
  int n = M->rows;
  if (M->cols != n) luaL_error(L, "M is not square");
  double *q = nsl_internal_vector(L, 1, "q", n, 0), *lower = nsl_internal_vector(L, 1, "lower", n, 0);
  return (NsBoxProblem){n, M->data, n > 0 ? n : 1, q, lower, nsl_internal_vector(L, 1, "upper", n, INFINITY), 0};
}

static int spec_solvers_scale(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  NsBoxScaled s;
  NsBoxProblem p = box_fields(L);
  double *point = nsl_internal_vector(L, 1, "point", p.n, 0), *z = nsl_internal_room(L, p.n);
  ns_box_scaled_take(&s, &c->call->arena, p.n);
  if (c->call->arena.failed) return luaL_error(L, "not enough memory");
  ns_box_scale(&s, &p);
  ns_box_unscale(&s, &p, point, z);
  lua_newtable(L);
  nsl_set_boolean(L, "well_scaled", ns_box_well_scaled(&p));
  nsl_set_boolean(L, "now_well_scaled", ns_box_well_scaled(&s.problem));
  nsl_set_integers(L, "row", p.n, s.row);
  nsl_set_integers(L, "col", p.n, s.col);
  set_matrix(L, "M", p.n, p.n, s.M);
  nsl_set_vector(L, "q", p.n, s.q);
  nsl_set_vector(L, "lower", p.n, s.lower);
  nsl_set_vector(L, "upper", p.n, s.upper);
  nsl_set_vector(L, "z", p.n, z);
  return 1;
}

/*
** box{M, q, lower, upper, guess, method, tolerance, max_iterations, repeats}: z and w, lists; the solver's account; solutions, allocations
** (made while solving), seconds (of one of `repeats` solves).
*/
static int spec_solvers_box(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  NsBoxProblem p = box_fields(L);
  int n = p.n, repeats = (int)nsl_field_number(L, 1, "repeats", 1);
  double *guess = nsl_internal_vector(L, 1, "guess", n, 0), *z = nsl_internal_vector(L, 1, "none", n, NAN);
  double *w = nsl_internal_vector(L, 1, "none", n, NAN);
  bool guessed = lua_getfield(L, 1, "guess") != LUA_TNIL;
  NsSolverInfo info = {0};
  const char *asked;
  nsl_internal_check(L, ns_box_new(&c->box, n));
  NsBoxOptions *options = ns_box_options(c->box);
  lua_getfield(L, 1, "method");
  options->method = nsl_method_named(ns_box_methods, NS_TAKES_DENSE, luaL_optstring(L, -1, "default"), &asked);
  if (!asked) luaL_error(L, "box: there is no method '%s'", lua_tostring(L, -1));
  options->tolerance = nsl_field_number(L, 1, "tolerance", options->tolerance);
  options->max_iterations = (int)nsl_field_number(L, 1, "max_iterations", 0);
  uint64_t allocations = ns_alloc_count();
  double start = ns_search_now();
  for (int k = 0; k < repeats; k++) ns_box_solve(c->box, &p, guessed ? guess : NULL, z, w, &info);
  double seconds = (ns_search_now() - start) / repeats;
  allocations = ns_alloc_count() - allocations;
  lua_newtable(L);
  nsl_set_list(L, "z", n, z);
  nsl_set_list(L, "w", n, w);
  nsl_set_solver_info(L, &info);
  nsl_set_integer(L, "solutions", ns_box_solutions(c->box));
  nsl_set_integer(L, "allocations", allocations);
  nsl_set_number(L, "seconds", seconds);
  return 1;
}

/* balance{M, sparse}: the exponents, the trees and, for a dense M, the balanced matrix and whether it is exact. */
static int spec_solvers_balance(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  NsBalance b;
  NslMatrix *M = nsl_internal_matrix(L, 1, "M");
  int n = M->rows;
  bool sparse = nsl_field_flag(L, 1, "sparse"), fits = true;
  ns_balance_take(&b, &c->call->arena, n);
  int *work = ns_arena_ints(&c->call->arena, (ptrdiff_t)n * n);
  double *power = nsl_internal_room(L, n), *to = nsl_push_matrix(L, n, n, NULL)->data;
  if (c->call->arena.failed) return luaL_error(L, "not enough memory");
  if (sparse) nsl_internal_check(L, ns_sparse_from_dense(&c->sparse, n, n, M->data, n > 0 ? n : 1));
  if (sparse) ns_balance_sparse(&b, c->sparse);
  else fits = ns_balance_dense(&b, M->data, n > 0 ? n : 1, n, work);
  ns_balance_apply(&b, M->data, n > 0 ? n : 1, n, power, to);
  lua_newtable(L);
  nsl_set_boolean(L, "fits", fits);
  nsl_set_integers(L, "row", n, b.row);
  nsl_set_integers(L, "col", n, b.col);
  nsl_set_integers(L, "row_tree", n, b.row_tree);
  nsl_set_integers(L, "col_tree", n, b.col_tree);
  set_matrix(L, "M", n, n, to);
  return 1;
}

/* components{M, index, before} or {n, i, j}: the component of each node; both count from 1. before: a matrix that is taken first. */
static int spec_solvers_components(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  NsComponents parts;
  lua_getfield(L, 1, "M");
  bool dense = !lua_isnil(L, -1);
  NslMatrix *M = dense ? nsl_internal_matrix(L, 1, "M") : NULL;
  lua_getfield(L, 1, dense ? "index" : "i");
  int count = (int)luaL_len(L, -1), n = dense ? count : (int)nsl_field_number(L, 1, "n", 0);
  int *i = nsl_internal_integers(L, 1, dense ? "index" : "i", count),
      *j = dense ? NULL : nsl_internal_integers(L, 1, "j", count);
  ns_components_take(&parts, &c->call->arena, n);
  if (c->call->arena.failed) return luaL_error(L, "not enough memory");
  if (dense) {
    for (int k = 0; k < count; k++) i[k]--;
    lua_getfield(L, 1, "before");
    NslMatrix *before = lua_isnil(L, -1) ? NULL : nsl_internal_matrix(L, 1, "before");
    if (before) ns_components_dense(&parts, before->data, before->rows > 0 ? before->rows : 1, n, i);
    ns_components_dense(&parts, M->data, M->rows > 0 ? M->rows : 1, n, i);
  } else {
    ns_components_begin(&parts, n);
    for (int k = 0; k < count; k++) ns_components_join(&parts, i[k] - 1, j[k] - 1);
    ns_components_finish(&parts);
  }
  for (int k = 0; k < n; k++) parts.of[k]++, parts.member[k]++;
  lua_newtable(L);
  nsl_set_integers(L, "of", n, parts.of);
  nsl_set_integers(L, "member", n, parts.member);
  nsl_set_integers(L, "start", parts.count + 1, parts.start);
  return 1;
}

/* active{M, q, lower, upper, set | point, tolerance, growth, single}: one attempt, and the repair after NS_ENOCONV. */
static int spec_solvers_active(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  NsBoxProblem p = box_fields(L);
  double backward, *z = nsl_internal_room(L, p.n), *w = nsl_internal_room(L, p.n),
                   *point = nsl_internal_vector(L, 1, "point", p.n, 0);
  double tolerance = nsl_field_number(L, 1, "tolerance", 1e-13), growth = nsl_field_number(L, 1, "growth", 1e10);
  bool single = nsl_field_flag(L, 1, "single");
  signed char *set = ns_arena_take(&c->call->arena, (size_t)p.n, 1);
  if (!set) return luaL_error(L, "not enough memory");
  ns_active_of_point(&p, point, set);
  if (lua_getfield(L, 1, "set") != LUA_TNIL) {
    const int *given = nsl_internal_integers(L, 1, "set", p.n);
    for (int i = 0; i < p.n; i++) set[i] = (signed char)given[i];
  }
  nsl_internal_check(L, ns_active_new(&c->active, p.n));
  NsStatus status = ns_active_try(c->active, &p, set, tolerance, growth, z, w, &backward);
  lua_newtable(L);
  set_places(L, "set", p.n, set);
  if (status == NS_ENOCONV) {
    nsl_set_integer(L, "wrong", ns_active_repair(c->active, &p, z, w, single, set));
    set_places(L, "repaired", p.n, set);
  }
  set_status(L, status);
  nsl_set_vector(L, "z", p.n, z);
  nsl_set_vector(L, "w", p.n, w);
  nsl_set_number(L, "backward", backward);
  return 1;
}

/* minor_sign{M, index}: the sign of the minor of these rows and columns (from 1); and the sign by elimination alone. */
static int spec_solvers_minor_sign(lua_State *L) {
  spec_solvers_new_call(L);
  NslMatrix *M = nsl_internal_matrix(L, 1, "M");
  lua_getfield(L, 1, "index");
  int count = (int)luaL_len(L, -1), n = M->rows;
  int *index = nsl_internal_integers(L, 1, "index", count);
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
  double da, db, a = luaL_checknumber(L, 1), b = luaL_checknumber(L, 2);
  lua_pushnumber(L, ns_fischer(a, b, &da, &db));
  lua_pushnumber(L, da);
  lua_pushnumber(L, db);
  return 3;
}

/* fischer_box(z, f, lower, upper): the value, the slopes by z and by f, and the violation. */
static int spec_solvers_fischer_box(lua_State *L) {
  double at_z, at_f, z = luaL_checknumber(L, 1), f = luaL_checknumber(L, 2);
  double lower = luaL_checknumber(L, 3), upper = luaL_checknumber(L, 4);
  lua_pushnumber(L, ns_fischer_box(z, f, lower, upper, &at_z, &at_f));
  lua_pushnumber(L, at_z);
  lua_pushnumber(L, at_f);
  lua_pushnumber(L, ns_box_violation(z, f, lower, upper));
  return 4;
}

/* mcp_jacobian{J, sparse, x, a, b, rhs, next}: J dense or sparse; next: other values, which are loaded first. */
static int spec_solvers_mcp_jacobian(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  NslMatrix *J = nsl_internal_square(L, 1, "J"), *next = NULL;
  int n = J->rows, ld = n > 0 ? n : 1;
  bool sparse = nsl_field_flag(L, 1, "sparse");
  if (lua_getfield(L, 1, "next") != LUA_TNIL) next = nsl_internal_square(L, 1, "next");
  double *x = nsl_internal_vector(L, 1, "x", n, 0), *a = nsl_internal_vector(L, 1, "a", n, 1),
         *b = nsl_internal_vector(L, 1, "b", n, 1);
  double *rhs = nsl_internal_vector(L, 1, "rhs", n, 1), *y = nsl_internal_room(L, n), *size = nsl_internal_room(L, n),
         *largest = nsl_internal_room(L, n);
  double *transposed = nsl_internal_room(L, n);
  NsMcpJacobian *jac = &c->jacobian;
  nsl_internal_check(L, ns_mcp_jacobian_init(jac, &c->call->arena, n, sparse));
  if (sparse) {
    if (next) {
      nsl_internal_check(L, ns_sparse_from_dense(&c->other, next->rows, next->cols, next->data, next->rows));
      nsl_internal_check(L, ns_mcp_jacobian_take(jac, c->other));
    }
    nsl_internal_check(L, ns_sparse_from_dense(&c->sparse, n, n, J->data, ld));
    nsl_internal_check(L, ns_mcp_jacobian_take(jac, c->sparse));
  } else {
    memcpy(jac->dense, J->data, (size_t)n * (size_t)n * sizeof *jac->dense);
  }
  ns_mcp_jacobian_rows(jac, x, y, size, largest);
  ns_mcp_jacobian_transposed(jac, x, transposed);
  NsStatus status = ns_mcp_jacobian_solve(jac, a, b, rhs);
  lua_newtable(L);
  set_status(L, status);
  nsl_set_boolean(L, "finite", ns_mcp_jacobian_finite(jac));
  nsl_set_vector(L, "y", n, y);
  nsl_set_vector(L, "size", n, size);
  nsl_set_vector(L, "largest", n, largest);
  nsl_set_vector(L, "transposed", n, transposed);
  nsl_set_vector(L, "solution", n, rhs);
  return 1;
}

/* box_map{M, sparse, x, d, e, b}: the products, and the solution of (diag(d) + diag(e) M) x = b. */
static int spec_solvers_box_map(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  NsBoxMap map = {0};
  NslMatrix *M = nsl_internal_square(L, 1, "M");
  int n = M->rows, order = n + 2;
  double *x = nsl_internal_vector(L, 1, "x", n, 0), *d = nsl_internal_vector(L, 1, "d", n, 1),
         *e = nsl_internal_vector(L, 1, "e", n, 1);
  double *b = nsl_internal_vector(L, 1, "b", n, 1), *y = nsl_internal_room(L, n), *transposed = nsl_internal_room(L, n);
  NsDenseMap dense = {M->data, n, n > 0 ? n : 1, nsl_internal_room(L, order * order), nsl_internal_room(L, order), NULL};
  if (nsl_field_flag(L, 1, "sparse")) {
    nsl_internal_check(L, ns_sparse_from_dense(&c->sparse, n, n, M->data, n > 0 ? n : 1));
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
  lua_newtable(L);
  set_status(L, status);
  nsl_set_vector(L, "product", n, y);
  nsl_set_vector(L, "transposed", n, transposed);
  nsl_set_vector(L, "solution", n, b);
  return 1;
}

/* sparse_path{M, q, lower, upper, z, w, rho, inside, max_pivots}: the solution and the pivots. M has a full diagonal. */
static int spec_solvers_sparse_path(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  NslMatrix *M = nsl_internal_square(L, 1, "M");
  int n = M->rows, pivots = 0;
  double *q = nsl_internal_vector(L, 1, "q", n, 0), *lower = nsl_internal_vector(L, 1, "lower", n, 0);
  double *upper = nsl_internal_vector(L, 1, "upper", n, INFINITY), *z = nsl_internal_vector(L, 1, "z", n, 0),
         *w = nsl_internal_vector(L, 1, "w", n, 0);
  double *rho = nsl_internal_vector(L, 1, "rho", n, 1), *out = nsl_internal_room(L, n);
  bool bounds = nsl_field_flag(L, 1, "at_bounds"), upper_first = nsl_field_flag(L, 1, "upper_first");
  NsPathStart start = {bounds ? NULL : z,
                       w,
                       rho,
                       nsl_field_number(L, 1, "inside", 1),
                       upper_first,
                       nsl_field_number(L, 1, "compact", 0),
                       (int)nsl_field_number(L, 1, "max_pivots", 100 + 20 * n)};
  nsl_internal_check(L, ns_sparse_from_dense(&c->sparse, n, n, M->data, n > 0 ? n : 1));
  nsl_internal_check(L, ns_sparse_path_new(&c->path, c->sparse));
  NsStatus status = ns_sparse_path_solve(c->path, c->sparse, q, lower, upper, &start, out, &pivots);
  lua_newtable(L);
  set_status(L, status);
  nsl_set_integer(L, "pivots", pivots);
  nsl_set_vector(L, "z", n, out);
  return 1;
}

static NsStatus spec_solvers_read_block(lua_State *L, SolverParts *c, int dim) {
  if (lua_getfield(L, 1, "i") == LUA_TNIL) {
    NslMatrix *M = nsl_internal_square(L, 1, "M");
    int n = M->rows;
    if (!nsl_field_flag(L, 1, "sparse")) return ns_block_from_dense(&c->block, dim, n, M->data, n > 0 ? n : 1);
    nsl_internal_check(L, ns_sparse_from_dense(&c->sparse, n, n, M->data, n > 0 ? n : 1));
    return ns_block_from_sparse(&c->block, dim, c->sparse);
  }
  int count = (int)luaL_len(L, -1), *i = nsl_internal_integers(L, 1, "i", count), *j = nsl_internal_integers(L, 1, "j", count);
  for (int k = 0; k < count; k++) i[k]--, j[k]--;
  return ns_block_from_triplets(&c->block, dim, (int)nsl_field_number(L, 1, "n", 0), count, i, j,
                                nsl_internal_vector(L, 1, "v", count, 0));
}

/* block{dim, M, sparse | n, i, j, v; x, q}: indices from 1. */
static int spec_solvers_block(lua_State *L) {
  SolverParts *c = spec_solvers_new_call(L);
  int dim = (int)nsl_field_number(L, 1, "dim", 1);
  NsStatus status = spec_solvers_read_block(L, c, dim);
  if (status) {
    lua_newtable(L);
    set_status(L, status);
    nsl_set_boolean(L, "made", c->block != NULL);
    return 1;
  }
  NsBlock *A = c->block;
  int n = A->dim * A->nb;
  double *x = nsl_internal_vector(L, 1, "x", n, 1), *q = nsl_internal_vector(L, 1, "q", n, 0), *y = nsl_internal_room(L, n),
         *outside = nsl_internal_room(L, n);
  NslMatrix *D = nsl_push_matrix(L, n, n, NULL);
  ns_block_product(A, x, q, y);
  for (int i = 0; i < A->nb; i++) ns_block_row_outside(A, i, x, outside + (size_t)A->dim * (size_t)i);
  ns_sparse_free(c->other);
  nsl_internal_check(L, ns_block_to_sparse(&c->other, A));
  ns_sparse_to_dense(c->other, D->data, n > 0 ? n : 1);
  lua_newtable(L);
  set_status(L, NS_OK);
  nsl_set_vector(L, "y", n, y);
  nsl_set_vector(L, "outside", n, outside);
  set_matrix(L, "dense", n, n, D->data);
  nsl_set_integer(L, "count", ns_block_count(A));
  return 1;
}

void nsl_internal_solvers(lua_State *L) {
#define ROW(name)                                                                                                              \
  { #name, spec_solvers_##name }
  static const luaL_Reg functions[] = {ROW(box),         ROW(scale),   ROW(balance),     ROW(components),   ROW(active),
                                       ROW(minor_sign),  ROW(fischer), ROW(fischer_box), ROW(mcp_jacobian), ROW(box_map),
                                       ROW(sparse_path), ROW(block),   {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
