/*
** ad.c
** For the specs alone: the Jacobians of a callback as C asks for them.
*/
#include "internal.h"

#include "bind/diff/ad.h"

enum { MAX_ARGS = 4 };

/* Labels need static storage. */
static const char *const labels[] = {"x", "lambda", "z", NULL};

/*
** Reads {label, vector, wanted}, on top of the stack, into arg; pushes the vector and, when wanted, the Jacobian (nout x n). A
** table without a label is passed unchanged.
*/
static void read_argument(lua_State *L, NslDualArg *arg, int nout) {
  int given = lua_gettop(L);
  if (lua_rawgeti(L, given, 1) != LUA_TSTRING) {
    *arg = (NslDualArg){.label = "z", .pass = given};
    lua_settop(L, given);
    return;
  }
  arg->label = labels[luaL_checkoption(L, -1, NULL, labels)];
  lua_rawgeti(L, given, 2);
  const NslVector *v = nsl_check_vector(L, -1);
  arg->n = v->n;
  arg->value = v->data;
  lua_rawgeti(L, given, 3);
  if (lua_toboolean(L, -1)) arg->jacobian = nsl_push_matrix(L, nout, v->n, NULL)->data;
}

/* jacobians(f, self or false, t or false, plain values, argument...): the wanted Jacobians, in order. */
static int spec_ad_jacobians(lua_State *L) {
  NslDualArg args[MAX_ARGS] = {{0}};
  int place[MAX_ARGS], n = lua_gettop(L) - 4, count = 0;
  luaL_argcheck(L, n >= 0 && n <= MAX_ARGS, 5, "too many");
  const NslVector *plain = nsl_check_vector(L, 4);
  luaL_checkstack(L, 8 * MAX_ARGS, NULL);
  for (int a = 0; a < n; a++) {
    lua_pushvalue(L, 5 + a);
    read_argument(L, &args[a], plain->n);
    place[a] = lua_gettop(L);
  }
  int self = lua_toboolean(L, 2) ? 2 : 0;
  nsl_dual_run(L, &(NslDualCall){.function = 1,
                                 .self = self,
                                 .has_time = lua_isnumber(L, 3),
                                 .t = lua_tonumber(L, 3),
                                 .nargs = n,
                                 .args = args,
                                 .outlabel = "r",
                                 .nout = plain->n,
                                 .plain = plain->data});
  for (int a = 0; a < n; a++) {
    if (!args[a].jacobian) continue;
    lua_pushvalue(L, place[a]);
    count++;
  }
  return count;
}

/* along(f, plain values, t or false, tdot, x, w or false, first only): first and second derivatives along the line. */
static int spec_ad_along(lua_State *L) {
  lua_settop(L, 7);
  const NslVector *plain = nsl_check_vector(L, 2), *x = nsl_check_vector(L, 5);
  const double *directions[] = {lua_toboolean(L, 6) ? nsl_check_vector(L, 6)->data : NULL};
  NslDualArg arg = {"x", 0, x->n, x->data, NULL};
  bool short_of_second = lua_toboolean(L, 7);
  double *first = nsl_push_vector(L, plain->n, NULL)->data, *second = nsl_push_vector(L, plain->n, NULL)->data;
  nsl_dual_run(L, &(NslDualCall){.function = 1,
                                 .has_time = lua_isnumber(L, 3),
                                 .t = lua_tonumber(L, 3),
                                 .tdot = luaL_checknumber(L, 4),
                                 .nargs = 1,
                                 .args = &arg,
                                 .outlabel = "y",
                                 .nout = plain->n,
                                 .plain = plain->data,
                                 .directions = directions,
                                 .first = first,
                                 .second = short_of_second ? NULL : second});
  return 2;
}

void nsl_internal_ad(lua_State *L) {
  nsl_set_cfunction(L, "along", spec_ad_along);
  nsl_set_cfunction(L, "jacobians", spec_ad_jacobians);
}
