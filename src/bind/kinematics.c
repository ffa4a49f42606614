/*
** kinematics.c
** Functions of the time and the coordinates, with their derivatives: the hidden table motion_support, for mechanics.
*/
#include <string.h>

#include "bind/ad.h"
#include "bind/compile.h"
#include "bind/matrix.h"
#include "bind/vector.h"

/* One function f(t, q) with its plain values; trace: of a compiled one, with its inputs there, or NULL. */
typedef struct Motion {
  double t;
  const NslVector *q;
  NslVector *values;
  NslTrace *trace;
} Motion;

/* Replaces the vector at idx by a contiguous copy of it. */
static NslVector *take_copy(lua_State *L, int idx, int n, const char *what) {
  NslVector *given = nsl_to_vector(L, idx, n, "mechanics", what);
  nsl_vector_alive(L, given);
  NslVector *copy = nsl_push_vector(L, given->n, NULL);
  nsl_vector_read(given, copy->data);
  lua_replace(L, idx);
  return copy;
}

/* The same of a compiled f with so many values. */
static void evaluate_trace(lua_State *L, Motion *m, int rows) {
  int top = lua_gettop(L), n = m->q->n;
  NslTraceArg args[] = {{NSL_TRACE_NUMBER, 1, 1, "t", 0}, {NSL_TRACE_VECTOR, n, 1, "q", 0},
                        {NSL_TRACE_VECTOR, rows, 1, "out", 0}};
  m->trace = nsl_trace_of(L, 1, 3, args, rows, "f", false);
  m->trace->in[0] = m->t;
  memcpy(m->trace->in + 1, m->q->data, (size_t)n * sizeof(double));
  memset(m->trace->in + 1 + n, 0, (size_t)rows * sizeof(double));
  nsl_trace_check(L, 1, m->trace, 3, args);
  lua_settop(L, top);
  m->values = nsl_push_vector(L, rows, NULL);
  nsl_trace_value(m->trace, m->values->data);
  nsl_vector_must_be_finite(L, m->values, "mechanics", "f");
}

/*
** f at 1, t at 2, q at 3, the number of values at 4 or -1 for as many as f returns. Evaluates f(t, q, out) and leaves
** the values, a vector, on top of the stack.
*/
static Motion evaluate(lua_State *L) {
  Motion m = {luaL_checknumber(L, 2), NULL, NULL, NULL};
  int rows = (int)luaL_checkinteger(L, 4);
  m.q = take_copy(L, 3, -1, "q");
  if (rows >= 0 && nsl_is_compiled(L, 1)) return evaluate_trace(L, &m, rows), m;
  int top = lua_gettop(L), out = top + 1;
  const NslVector *filled = nsl_push_vector(L, rows < 0 ? 0 : rows, "out");
  lua_pushvalue(L, 1);
  lua_pushnumber(L, m.t);
  NslVector *q = nsl_push_vector(L, m.q->n, "q");
  memcpy(q->data, m.q->data, (size_t)q->n * sizeof *q->data);
  q->readonly = true;
  if (rows >= 0) lua_pushvalue(L, out);
  lua_call(L, rows < 0 ? 2 : 3, 1);
  if (lua_isnil(L, -1) && *filled->version > 0) lua_settop(L, out);
  if (lua_isnil(L, -1))
    luaL_error(L, rows < 0 ? "f returned nothing: return the values, or give their number"
                           : "f returned nothing and filled nothing");
  int n = rows < 0 && lua_type(L, -1) == LUA_TNUMBER ? 1 : rows;
  m.values = take_copy(L, lua_gettop(L), n, "f");
  nsl_vector_must_be_finite(L, m.values, "mechanics", "f");
  lua_copy(L, -1, out);
  lua_settop(L, out);
  return m;
}

/* values(f, t, q, rows): a vector. */
static int motion_values(lua_State *L) {
  lua_settop(L, 4);
  evaluate(L);
  return 1;
}

/* jacobian(f, t, q, rows): the values, and their derivatives by q. */
static int motion_jacobian(lua_State *L) {
  lua_settop(L, 4);
  Motion m = evaluate(L);
  NslMatrix *J = nsl_push_matrix(L, m.values->n, m.q->n, NULL);
  NslDualArg arg = {"q", 0, m.q->n, m.q->data, J->data};
  if (J->rows == 0 || J->cols == 0) return 2;
  if (!m.trace) {
    nsl_dual_jacobians(L, 1, 0, true, m.t, 1, &arg, "f", J->rows, m.values->data);
  } else if (!nsl_trace_jacobian(m.trace, 1, J->data)) {
    nsl_check_derivatives(L, "f", "q", J->rows, J->cols, J->data);
  }
  return 2;
}

/* along(f, t, q, rows, tdot, v): the values, their first and their second derivative in s of f(t + s tdot, q + s v). */
static int motion_along(lua_State *L) {
  lua_settop(L, 6);
  double tdot = luaL_checknumber(L, 5);
  Motion m = evaluate(L);
  const NslVector *v = take_copy(L, 6, m.q->n, "v");
  NslVector *first = nsl_push_vector(L, m.values->n, NULL), *second = nsl_push_vector(L, m.values->n, NULL);
  NslDualArg arg = {"q", 0, m.q->n, m.q->data, NULL};
  const double *directions[] = {v->data};
  if (!m.trace)
    nsl_dual_along(L, 1, 0, true, m.t, tdot, 1, &arg, directions, "f", first->n, m.values->data, first->data,
                   second->data);
  else if (!nsl_trace_along(m.trace, 0, tdot, 1, v->data, first->data, second->data))
    luaL_error(L, "f: a derivative along the motion is not finite");
  return 3;
}

/* plain(f): the function that was compiled; any other f itself. */
static int motion_plain(lua_State *L) {
  luaL_checkany(L, 1);
  nsl_push_plain_function(L, 1);
  return 1;
}

void nsl_open_kinematics(lua_State *L) {
  static const luaL_Reg functions[] = {
      {"values", motion_values}, {"jacobian", motion_jacobian}, {"along", motion_along}, {"plain", motion_plain},
      {NULL, NULL}};
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "motion_support");
}
