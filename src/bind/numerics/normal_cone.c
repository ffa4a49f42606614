/*
** normal_cone.c
** ns.numerics.normal_cone: affine variational inequalities over polyhedra.
*/
#include <math.h>

#include "bind/numerics/answer.h"
#include "bind/lua/sigint.h"
#include "solvers/box/polyhedron.h"

typedef struct Call {
  NslHead head;
  NsArena arena;
  NsPolyhedron *work;
} Call;

static const NslType call_type = {.name = "nslua.numerics.normal_cone"};

static int bind_cone_call_gc(lua_State *L) {
  Call *c = lua_touserdata(L, 1);
  ns_polyhedron_free(c->work);
  ns_arena_release(&c->arena);
  c->work = NULL;
  return 0;
}

static double *bind_cone_take(lua_State *L, Call *c, int n) {
  double *x = ns_arena_doubles(&c->arena, n);
  if (!x) luaL_error(L, "not enough memory");
  return x;
}

static bool present(lua_State *L, const char *name) {
  bool there = lua_getfield(L, 1, name) != LUA_TNIL;
  lua_pop(L, 1);
  return there;
}

static void bind_cone_read_problem(lua_State *L, Call *c, NsAvi *p) {
  int n;
  double *q, *K, *lower, *upper;
  p->M = nsl_numerics_square(L, "normal_cone", "M", &c->arena, &n);
  p->n = n;
  p->m = -1;
  p->H = nsl_numerics_matrix(L, "normal_cone", "H", &c->arena, &p->m, &n);
  p->q = q = bind_cone_take(L, c, n);
  p->K = K = bind_cone_take(L, c, p->m);
  nsl_numerics_need_vector(L, "normal_cone", "q", n, q);
  nsl_numerics_need_vector(L, "normal_cone", "K", p->m, K);
  p->lower = p->upper = NULL;
  if (!present(L, "lower") && !present(L, "upper")) return;
  p->lower = lower = bind_cone_take(L, c, n);
  p->upper = upper = bind_cone_take(L, c, n);
  nsl_numerics_bound(L, "normal_cone", "lower", n, -INFINITY, lower);
  nsl_numerics_bound(L, "normal_cone", "upper", n, INFINITY, upper);
  nsl_numerics_check_bounds(L, "normal_cone", n, lower, upper);
}

/*
** normal_cone{M=, q=, H=, K=, lower=, upper=, z0=, tolerance=, max_iterations=}: z in {H z >= K}, and in the bounds,
** with -(M z + q) in its normal cone at z.
*/
static int normal_cone(lua_State *L) {
  static const char *const known[] = {"M",      "q", "H", "K", "lower", "upper", "z0", "tolerance", "max_iterations",
                                      "solver", NULL};
  const char *asked;
  NsAvi p;
  NsSolverInfo info;
  nsl_numerics_options(L, "normal_cone", known);
  Call *c = nsl_new(L, &call_type, sizeof *c, 0);
  double tolerance = nsl_numerics_number(L, "normal_cone", "tolerance", 0, 1, 1e-11);
  int max_iterations = nsl_numerics_count(L, "normal_cone", "max_iterations", 1, 0);
  const NsMethod *method = nsl_numerics_method(L, "normal_cone", ns_box_methods, NS_TAKES_DENSE, &asked);
  bind_cone_read_problem(L, c, &p);
  double *z = bind_cone_take(L, c, p.n), *w = bind_cone_take(L, c, p.n), *mu = bind_cone_take(L, c, p.m),
         *guess = bind_cone_take(L, c, p.n);
  bool guessed = nsl_numerics_vector(L, "normal_cone", "z0", p.n, guess);
  NsStatus status = ns_polyhedron_new(&c->work, p.n, p.m);
  if (status) return nsl_raise_status(L, status, "normal_cone");
  NsBoxOptions *options = ns_polyhedron_options(c->work);
  options->tolerance = tolerance;
  options->max_iterations = max_iterations;
  options->method = method;
  NslGuard guard;
  nsl_guard_begin(&guard, L);
  double start = nsl_numerics_now();
  ns_polyhedron_solve(c->work, &p, guessed ? guess : NULL, z, w, mu, &info);
  double seconds = nsl_numerics_now() - start;
  if (nsl_guard_end(&guard, L)) return luaL_error(L, "normal_cone: interrupted");
  if (info.status == NS_EARG)
    return luaL_error(L, "normal_cone: solver '%s' needs a positive diagonal, which the problem in its rows has not",
                      info.solver);
  lua_newtable(L);
  nsl_set_status(L, info.status, "normal_cone");
  nsl_set_vector(L, "z", p.n, z);
  nsl_set_vector(L, "w", p.n, w);
  nsl_set_vector(L, "multipliers", p.m, mu);
  nsl_set_number(L, "residual", info.residual);
  nsl_set_number(L, "scale", info.relative > 0 ? info.residual / info.relative : 0);
  nsl_set_number(L, "relative", info.relative);
  nsl_set_integer(L, "iterations", info.iterations);
  nsl_set_string(L, "solver", info.solver);
  nsl_set_number(L, "time", seconds);
  return 1;
}

void nsl_open_numerics_cone(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", bind_cone_call_gc}, {NULL, NULL}};
  nsl_register_type(L, &call_type, meta, NULL);
  luaL_getsubtable(L, -1, "numerics");
  lua_pushcfunction(L, normal_cone);
  lua_setfield(L, -2, "normal_cone");
  lua_pop(L, 1);
}
