/*
** normal_cone.c
** ns.numerics.normal_cone: affine variational inequalities over polyhedra.
*/
#include <math.h>

#include "bind/lua/open.h"
#include "bind/array/vector.h"
#include "bind/numerics/answer.h"
#include "solvers/box/polyhedron.h"

static void cone_free(void *work) {
  ns_polyhedron_free(work);
}

static bool present(lua_State *L, const char *name) {
  bool there = lua_getfield(L, 1, name) != LUA_TNIL;
  lua_pop(L, 1);
  return there;
}

static void bind_cone_read_problem(lua_State *L, NslCall *c, NsAvi *p) {
  int n;
  double *q, *K, *lower, *upper;
  p->M = nsl_numerics_square(L, "normal_cone", "M", &c->arena, &n);
  p->n = n;
  p->m = -1;
  p->H = nsl_numerics_matrix(L, "normal_cone", "H", &c->arena, &p->m, &n);
  p->q = q = nsl_call_numbers(L, c, n);
  p->K = K = nsl_call_numbers(L, c, p->m);
  nsl_numerics_need_vector(L, "normal_cone", "q", n, q);
  nsl_numerics_need_vector(L, "normal_cone", "K", p->m, K);
  p->lower = p->upper = NULL;
  if (!present(L, "lower") && !present(L, "upper")) return;
  p->lower = lower = nsl_call_numbers(L, c, n);
  p->upper = upper = nsl_call_numbers(L, c, n);
  nsl_numerics_bound(L, "normal_cone", "lower", n, -INFINITY, lower);
  nsl_numerics_bound(L, "normal_cone", "upper", n, INFINITY, upper);
  nsl_numerics_check_bounds(L, "normal_cone", n, lower, upper);
}

/*
** normal_cone{M=, q=, H=, K=, lower=, upper=, z0=, tolerance=, max_iterations=}: finds z in the set S = {lower <= z <= upper, H
** z >= K} with -(M z + q) in the normal cone of S at z.
*/
static int normal_cone(lua_State *L) {
  static const char *const known[] = {"M",      "q", "H", "K", "lower", "upper", "z0", "tolerance", "max_iterations",
                                      "solver", NULL};
  const char *asked;
  NsAvi p;
  NsSolverInfo info;
  nsl_numerics_options(L, "normal_cone", known);
  NslCall *c = nsl_new_call(L, "normal_cone", 0);
  double tolerance = nsl_numerics_number(L, "normal_cone", "tolerance", 0, 1, 1e-11);
  int max_iterations = nsl_numerics_count(L, "normal_cone", "max_iterations", 1, 0);
  const NsMethod *method = nsl_numerics_method(L, "normal_cone", ns_box_methods, NS_TAKES_DENSE, &asked);
  bind_cone_read_problem(L, c, &p);
  double *z = nsl_call_numbers(L, c, p.n), *w = nsl_call_numbers(L, c, p.n), *mu = nsl_call_numbers(L, c, p.m),
         *guess = nsl_call_numbers(L, c, p.n);
  bool guessed = nsl_numerics_vector(L, "normal_cone", "z0", p.n, guess);
  NsPolyhedron *work;
  NsStatus status = ns_polyhedron_new(&work, p.n, p.m);
  nsl_call_owns(c, work, cone_free);
  if (status) return nsl_raise_status(L, status, "normal_cone");
  NsBoxOptions *options = ns_polyhedron_options(work);
  options->tolerance = tolerance;
  options->max_iterations = max_iterations;
  options->method = method;
  nsl_call_begin(L, c);
  ns_polyhedron_solve(work, &p, guessed ? guess : NULL, z, w, mu, &info);
  double seconds = nsl_call_end(L, c);
  if (info.status == NS_EARG)
    return luaL_error(L, "normal_cone: solver '%s' needs %s, which this problem, written in the rows of H, does not have",
                      asked, method->needs);
  nsl_push_account(L, "normal_cone", &info, seconds);
  nsl_set_vector(L, "z", p.n, z);
  nsl_set_vector(L, "w", p.n, w);
  nsl_set_vector(L, "multipliers", p.m, mu);
  nsl_set_number(L, "scale", info.relative > 0 ? info.residual / info.relative : 0);
  return 1;
}

void nsl_open_numerics_cone(lua_State *L) {
  luaL_getsubtable(L, -1, "numerics");
  nsl_set_cfunction(L, "normal_cone", normal_cone);
  lua_pop(L, 1);
}
