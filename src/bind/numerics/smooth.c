/*
** smooth.c
** The hidden functions behind lua/nslua/optimise: an optimiser of the engine on a Lua function.
*/
#include "bind/numerics/smooth.h"
#include "bind/lua/open.h"

#include <string.h>

#include "bind/array/matrix.h"
#include "bind/array/vector.h"
#include "bind/lua/host.h"
#include "bind/lua/optional_module.h"
#include "bind/lua/sigint.h"
#include "solvers/optimise/least_squares.h"
#include "solvers/optimise/minimise.h"

/* ---- calls ---- */

/* Arguments: the NslSmooth, f. */
static int smooth_call(lua_State *L) {
  NslSmooth *s = lua_touserdata(L, 1);
  memcpy(nsl_push_vector(L, s->n, "x")->data, s->x, (size_t)s->n * sizeof *s->x);
  lua_pushboolean(L, s->J != NULL);
  lua_call(L, 2, 1);
  if (s->J) {
    NslMatrix *J = nsl_to_matrix(L, 2, s->m, s->n, s->who, "jac");
    nsl_matrix_alive(L, J);
    nsl_matrix_read(J, s->J);
  } else {
    NslVector *v = nsl_to_vector(L, 2, s->m, s->who, "f(x)");
    nsl_vector_alive(L, v);
    nsl_vector_read(v, s->values);
  }
  return 0;
}

static int smooth_explain(lua_State *L) {
  if (lua_type(L, 1) != LUA_TSTRING || strstr(lua_tostring(L, 1), "\nstack traceback:\n")) return 1;
  luaL_traceback(L, L, lua_tostring(L, 1), 1);
  return 1;
}

/* One protected call: of the values, or of the Jacobian. */
static NsStatus smooth_protect(NslSmooth *s, double *values, double *J) {
  lua_State *L = s->L;
  int top = lua_gettop(L);
  s->values = values;
  s->J = J;
  lua_pushcfunction(L, smooth_explain);
  lua_pushcfunction(L, smooth_call);
  lua_pushlightuserdata(L, s);
  lua_pushvalue(L, s->f);
  NsStatus status = NS_OK;
  if (lua_pcall(L, 2, 0, top + 1) != LUA_OK) {
    nsl_keep_error(L);
    status = ns_fail(s->err, NS_ECALLBACK, "%s: a callback failed", s->who);
  }
  lua_settop(L, top);
  return status;
}

static NsStatus smooth_evaluate(void *context, const double *x, double *f, double *J) {
  NslSmooth *s = context;
  s->x = x;
  NsStatus status = f ? smooth_protect(s, f, NULL) : NS_OK;
  return status == NS_OK && J ? smooth_protect(s, NULL, J) : status;
}

NsSmooth nsl_smooth(NslSmooth *smooth) {
  return (NsSmooth){smooth->n, smooth->m, smooth, smooth_evaluate};
}

/* ---- optimisers ---- */

/*
** lmder(f, x, m, scale, ftol, xtol, gtol, calls, first): first: 0 or the largest first step; x becomes the last point. Returns how it ended ("gradient", "cost", "step",
** "rounding" or "calls") and the numbers of evaluations and of Jacobians.
*/
static int smooth_lmder(lua_State *L) {
  static const char *const ends[] = {"calls", "gradient", "cost", "step", "rounding"};
  NsError err = {NS_OK, ""};
  NslVector *x = nsl_check_vector(L, 2);
  NslSmooth smooth = {.L = L, .f = 1, .n = x->n, .m = (int)luaL_checkinteger(L, 3), .who = "least_squares", .err = &err};
  NsLeastSquaresOptions o = {luaL_checknumber(L, 5),
                             luaL_checknumber(L, 6),
                             luaL_checknumber(L, 7),
                             (int)luaL_checkinteger(L, 8),
                             lua_isnil(L, 4) ? NULL : nsl_check_vector(L, 4)->data,
                             luaL_optnumber(L, 9, 0)};
  NsLeastSquaresInfo info;
  nsl_need_stack(L, 16);
  NslGuard guard;
  NsSmooth problem = nsl_smooth(&smooth);
  nsl_guard_begin(&guard, L);
  NsStatus status = ns_least_squares(&problem, &o, x->data, &info, &err);
  nsl_guard_end(&guard, L);
  if (status == NS_EINTR) return luaL_error(L, "least_squares: interrupted");
  if (status == NS_ENAN) return luaL_error(L, "least_squares: %s", err.text);
  if (status != NS_OK) return nsl_raise_step(L, &err);
  lua_pushstring(L, ends[info.ended]);
  lua_pushinteger(L, info.evaluations);
  lua_pushinteger(L, info.jacobians);
  return 3;
}

static const NsMinimiser *smooth_minimiser(lua_State *L, const char *what) {
  static const NslOptional module = {"nslua.nlopt", " is in the module", "NLopt", "libnlopt-dev"};
  nsl_push_optional(L, &module, "minimize", what, "ns.least_squares needs no module");
  lua_getfield(L, -1, "minimiser");
  const NsMinimiser *minimiser = lua_touserdata(L, -1);
  lua_pop(L, 2);
  return minimiser;
}

/* The vector in field `name` of the table at 2, which keeps it alive. */
static NslVector *smooth_vector(lua_State *L, const char *name) {
  lua_getfield(L, 2, name);
  NslVector *v = nsl_check_vector(L, -1);
  lua_pop(L, 1);
  return v;
}

/*
** nlopt(x, t): x becomes the best point. t has objective, equal, above (functions as nsl_smooth takes them), lower, upper,
** equal_tolerance, above_tolerance (vectors), algorithm, method (for messages), ftol, ftol_absolute, xtol, xtol_absolute,
** calls, seed. Returns how it ended, the value, and the numbers of evaluations and gradients.
*/
static int smooth_nlopt(lua_State *L) {
  static const char *const ends[] = {"cost", "step", "calls", "rounding", "failed"}, *const names[] = {"objective", "equal",
                                                                                                       "above"};
  NsError err = {NS_OK, ""};
  NslVector *x = nsl_check_vector(L, 1);
  lua_settop(L, 2);
  lua_getfield(L, 2, "method");
  const NsMinimiser *minimiser = smooth_minimiser(L, lua_tostring(L, 3));
  NslVector *equal = smooth_vector(L, "equal_tolerance"), *above = smooth_vector(L, "above_tolerance");
  NslSmooth smooth[3];
  const int rows[] = {1, equal->n, above->n};
  for (int i = 0; i < 3; i++) {
    lua_getfield(L, 2, names[i]);
    smooth[i] = (NslSmooth){.L = L, .f = lua_gettop(L), .n = x->n, .m = rows[i], .who = "minimize", .err = &err};
  }
  NsMinimiseProblem p = {nsl_smooth(&smooth[0]), nsl_smooth(&smooth[1]), nsl_smooth(&smooth[2]),
                         smooth_vector(L, "lower")->data, smooth_vector(L, "upper")->data};
  lua_getfield(L, 2, "algorithm");
  NsMinimiseOptions o = {.algorithm = lua_tostring(L, -1),
                         .ftol = nsl_field_number(L, 2, "ftol", 0),
                         .ftol_absolute = nsl_field_number(L, 2, "ftol_absolute", 0),
                         .xtol = nsl_field_number(L, 2, "xtol", 0),
                         .xtol_absolute = nsl_field_number(L, 2, "xtol_absolute", 0),
                         .equal_tolerance = equal->data,
                         .above_tolerance = above->data,
                         .calls = (int)nsl_field_number(L, 2, "calls", 0),
                         .seed = (unsigned long)nsl_field_number(L, 2, "seed", 0)};
  NsMinimiseInfo info;
  nsl_need_stack(L, 16);
  NslGuard guard;
  nsl_guard_begin(&guard, L);
  NsStatus status = minimiser->minimise(minimiser->engine, &p, &o, x->data, &info, &err);
  nsl_guard_end(&guard, L);
  if (status == NS_EINTR || status == NS_EARG) return luaL_error(L, "minimize: %s", err.text);
  if (status != NS_OK) return nsl_raise_step(L, &err);
  lua_pushstring(L, ends[info.ended]);
  lua_pushnumber(L, info.value);
  lua_pushinteger(L, info.evaluations);
  lua_pushinteger(L, info.gradients);
  return 4;
}

void nsl_open_optimise(lua_State *L) {
  static const luaL_Reg functions[] = {{"lmder", smooth_lmder}, {"nlopt", smooth_nlopt}, {NULL, NULL}};
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "optimise_support");
}
