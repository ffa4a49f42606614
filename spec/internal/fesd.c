/*
** fesd.c
** For the specs alone: the coefficients of Runge-Kutta methods, and cycles of events.
*/
#include "internal.h"

#include "integrators/accumulation.h"
#include "integrators/fesd/tableau.h"

/* Sets the field `name` to the rows of an s x s matrix. */
static void set_rows(lua_State *L, int s, const double *A, const char *name) {
  lua_createtable(L, s, 0);
  for (int i = 0; i < s; i++) nsl_push_list(L, s, A + i, NS_TABLEAU_STAGES), lua_rawseti(L, -2, i + 1);
  lua_setfield(L, -2, name);
}

/* tableau(scheme, stages): {s, order, stiff, early, c, b, d, A, W}; nil when there is no such method. */
static int spec_tableau(lua_State *L) {
  static const char *const names[] = {
#define X(code, text) text,
      NS_TABLEAU_LIST(X)
#undef X
          NULL};
  NsTableau t;
  if (ns_tableau_make(&t, (NsTableauKind)luaL_checkoption(L, 1, NULL, names), (int)luaL_checkinteger(L, 2)) != NS_OK)
    return lua_pushnil(L), 1;
  lua_createtable(L, 0, 9);
  nsl_internal_give(L, t.s, "s: order: stiff? early? c~ b~ d~", t.s, t.order, t.stiff, t.early, t.c, t.b, t.d);
  set_rows(L, t.s, t.A, "A");
  set_rows(L, t.s, t.W, "W");
  return 1;
}

/* tableau_weights(nodes, x): the weights of interpolation. */
static int spec_tableau_weights(lua_State *L) {
  double node[8], weight[8];
  int n = (int)lua_rawlen(L, 1);
  luaL_argcheck(L, n <= 8, 1, "too many");
  for (int i = 0; i < n; i++) node[i] = nsl_list_number(L, 1, i + 1);
  ns_tableau_weights(n, node, luaL_checknumber(L, 2), weight);
  nsl_push_list(L, n, weight, 1);
  return 1;
}

/* accumulation(times, rows): rest, cycle of events that end infinitely many; nil when they do not. Events of even rows have output. */
static int spec_accumulation(lua_State *L) {
  NsEventMarks marks = {.count = 0};
  double rest;
  int cycle;
  for (int i = 1; i <= (int)lua_rawlen(L, 1); i++) {
    int row = nsl_list_integer(L, 2, i);
    ns_event_marks_add(&marks, nsl_list_number(L, 1, i), row, row % 2 == 0);
  }
  if (!ns_event_marks_accumulate(&marks, &rest, &cycle)) return lua_pushnil(L), 1;
  lua_pushnumber(L, rest);
  lua_pushinteger(L, cycle);
  lua_createtable(L, 4, 0);
  for (int row = 1; row <= 4; row++) {
    bool output, has = ns_event_marks_have(&marks, cycle, row, &output);
    lua_pushstring(L, !has ? "none" : output ? "output" : "multiplier");
    lua_rawseti(L, -2, row);
  }
  return 3;
}

void nsl_internal_fesd(lua_State *L) {
  nsl_set_cfunction(L, "tableau", spec_tableau);
  nsl_set_cfunction(L, "tableau_weights", spec_tableau_weights);
  nsl_set_cfunction(L, "accumulation", spec_accumulation);
}
