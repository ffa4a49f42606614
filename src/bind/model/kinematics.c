/*
** kinematics.c
** Functions f(t, q) with their derivatives: the hidden table motion_support, for mechanics.
*/
#include "ad/jet_passes.h"
#include "bind/lua/open.h"

#include <string.h>

#include "bind/diff/ad.h"
#include "bind/diff/compile.h"
#include "bind/diff/dual.h"
#include "bind/diff/trace_jets.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"

/* One function f(t, q) and its plain values. trace: of a compiled f, with its inputs set; else NULL. */
typedef struct Motion {
  double t;
  const NslVector *q;
  NslVector *values;
  NslTrace *trace;
} Motion;

/* Replaces the vector at idx by a contiguous copy of it. */
static NslVector *take_copy(lua_State *L, int idx, int n, const char *what) {
  NslVector *copy = nsl_push_vector_copy(L, nsl_to_vector(L, idx, n, "mechanics", what));
  lua_replace(L, idx);
  return copy;
}

/* Evaluates a compiled f with `rows` values. */
static void evaluate_trace(lua_State *L, Motion *m, int rows) {
  int top = lua_gettop(L), n = m->q->n;
  NslTraceArg args[] = {
      {NSL_TRACE_NUMBER, 1, 1, "t", 0}, {NSL_TRACE_VECTOR, n, 1, "q", 0}, {NSL_TRACE_VECTOR, rows, 1, "out", 0}};
  double *in = lua_newuserdatauv(L, (size_t)(1 + n + rows) * sizeof *in, 0);
  in[0] = m->t;
  memcpy(in + 1, m->q->data, (size_t)n * sizeof *in);
  memset(in + 1 + n, 0, (size_t)rows * sizeof *in);
  m->trace = nsl_trace_of(L, 1, 3, args, in, rows, "f", false);
  nsl_trace_check(L, m->trace);
  lua_settop(L, top);
  m->values = nsl_push_vector(L, rows, NULL);
  if (!ns_paths_value(&m->trace->fn, m->values->data)) nsl_trace_raise(L, m->trace);
  nsl_vector_must_be_finite(L, m->values, "mechanics", "f");
}

/*
** Evaluates f(t, q, out) and leaves the values, a vector, on top of the stack. Arguments: f at 1, t at 2, q at 3, at 4 the
** number of values (-1: as many as f returns).
*/
static Motion kinematics_evaluate(lua_State *L) {
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
    luaL_error(
        L, rows < 0 ? "f returned nothing: return the values, or give their number" : "f returned nothing and filled nothing");
  int n = rows < 0 && lua_type(L, -1) == LUA_TNUMBER ? 1 : rows;
  m.values = take_copy(L, lua_gettop(L), n, "f");
  nsl_vector_must_be_finite(L, m.values, "mechanics", "f");
  lua_copy(L, -1, out);
  lua_settop(L, out);
  return m;
}

/* values(f, t, q, rows): the values as a vector. */
static int motion_values(lua_State *L) {
  lua_settop(L, 4);
  kinematics_evaluate(L);
  return 1;
}

/* A call of f (at stack index 1) with dual numbers. */
static NslDualCall kinematics_call(const Motion *m, const NslDualArg *q) {
  return (NslDualCall){.function = 1,
                       .has_time = true,
                       .t = m->t,
                       .nargs = 1,
                       .args = q,
                       .outlabel = "f",
                       .nout = m->values->n,
                       .plain = m->values->data};
}

/* jacobian(f, t, q, rows): the values, and their derivatives by q. */
static int motion_jacobian(lua_State *L) {
  lua_settop(L, 4);
  Motion m = kinematics_evaluate(L);
  NslMatrix *J = nsl_push_matrix(L, m.values->n, m.q->n, NULL);
  NslDualArg arg = {"q", 0, m.q->n, m.q->data, J->data};
  if (J->rows == 0 || J->cols == 0) return 2;
  if (!m.trace) {
    NslDualCall call = kinematics_call(&m, &arg);
    nsl_dual_run(L, &call);
  } else if (!ns_paths_jacobian(&m.trace->fn, 1, J->data)) {
    nsl_check_derivatives(L, "f", "q", J->rows, J->cols, J->data);
  }
  return 2;
}

/* along(f, t, q, rows, tdot, v): value, first and second derivative in s of f(t + s tdot, q + s v) at s = 0. */
static int motion_along(lua_State *L) {
  lua_settop(L, 6);
  double tdot = luaL_checknumber(L, 5);
  Motion m = kinematics_evaluate(L);
  const NslVector *v = take_copy(L, 6, m.q->n, "v");
  NslVector *first = nsl_push_vector(L, m.values->n, NULL), *second = nsl_push_vector(L, m.values->n, NULL);
  NslDualArg arg = {"q", 0, m.q->n, m.q->data, NULL};
  const double *directions[] = {v->data};
  NslDualCall call = kinematics_call(&m, &arg);
  call.tdot = tdot;
  call.directions = directions;
  call.first = first->data;
  call.second = second->data;
  if (!m.trace) nsl_dual_run(L, &call);
  else if (!ns_paths_along(&m.trace->fn, 0, tdot, 1, v->data, first->data, second->data))
    luaL_error(L, "f: a derivative along the motion is not finite");
  return 3;
}

/* ---- higher derivatives ---- */

static double *kinematics_push_room(lua_State *L, ptrdiff_t count) {
  return lua_newuserdatauv(L, (size_t)(count > 0 ? count : 1) * sizeof(double), 0);
}

/* f (at stack index 1) at a point, for passes with jets. */
typedef struct MotionJets {
  lua_State *L;
  const Motion *motion;
} MotionJets;

static void find_jets(void *context, double tdot, NsJet jet, const double *seed, double *all) {
  const MotionJets *jets = context;
  const Motion *m = jets->motion;
  NslDualArg arg = {"q", 0, m->q->n, m->q->data, NULL};
  NslDualCall call = kinematics_call(m, &arg);
  call.tdot = tdot;
  call.jet = jet;
  call.seed = seed;
  call.all = all;
  if (m->trace) nsl_trace_jets(jets->L, m->trace, 0, tdot, 1, m->q->n, jet, seed, all);
  else nsl_dual_run(jets->L, &call);
}

static NsJetPasses jet_passes(lua_State *L, MotionJets *jets, double tdot) {
  int n = jets->motion->q->n, rows = jets->motion->values->n;
  ptrdiff_t most = ns_jet_most(n);
  double *seed = kinematics_push_room(L, n * most), *all = kinematics_push_room(L, rows * most);
  return (NsJetPasses){n, rows, tdot, find_jets, jets, seed, all};
}

/*
** twist(f, t, q, rows, tdot, v, a): along q(s) = q + s v + s^2 / 2 a, returns the second derivative in s of f(t + s tdot,
** q(s)), and the first and second derivatives in s of its Jacobian by q, all at s = 0.
*/
static int motion_twist(lua_State *L) {
  lua_settop(L, 7);
  double tdot = luaL_checknumber(L, 5);
  Motion m = kinematics_evaluate(L);
  MotionJets jets = {L, &m};
  int n = m.q->n, rows = m.values->n;
  const NslVector *v = take_copy(L, 6, n, "v"), *a = take_copy(L, 7, n, "a");
  NsJetPasses passes = jet_passes(L, &jets, tdot);
  NslVector *second = nsl_push_vector(L, rows, NULL);
  NslMatrix *J1 = nsl_push_matrix(L, rows, n, NULL), *J2 = nsl_push_matrix(L, rows, n, NULL);
  ns_jets_twist(&passes, v->data, a->data, second->data, NULL, J1->data, J2->data);
  return 3;
}

/* bowl(f, t, q, rows, w): the Hessian by q of w . f. */
static int motion_bowl(lua_State *L) {
  lua_settop(L, 5);
  Motion m = kinematics_evaluate(L);
  MotionJets jets = {L, &m};
  const NslVector *w = take_copy(L, 5, m.values->n, "w");
  NsJetPasses passes = jet_passes(L, &jets, 0);
  NslMatrix *H = nsl_push_matrix(L, m.q->n, m.q->n, NULL);
  ns_jets_bowl(&passes, w->data, H->data);
  return 1;
}

/* partials(f, t, q, v, rows): the values of f(t, q, v, out), and their derivatives by q and by v. */
static int motion_partials(lua_State *L) {
  lua_settop(L, 5);
  double t = luaL_checknumber(L, 2);
  int rows = (int)luaL_checkinteger(L, 5);
  const NslVector *q = take_copy(L, 3, -1, "q"), *v = take_copy(L, 4, -1, "v");
  for (int i = 1; i <= 4; i++) lua_pushvalue(L, i);
  lua_call(L, 3, 1);
  bool number = lua_type(L, -1) == LUA_TNUMBER;
  const NslVector *values = take_copy(L, lua_gettop(L), number ? 1 : rows, "f");
  NslMatrix *Jq = nsl_push_matrix(L, rows, q->n, NULL), *Jv = nsl_push_matrix(L, rows, v->n, NULL);
  NslDualArg args[] = {{"q", 0, q->n, q->data, Jq->data}, {"v", 0, v->n, v->data, Jv->data}};
  nsl_dual_run(L, &(NslDualCall){.function = 1,
                                 .has_time = true,
                                 .t = t,
                                 .nargs = 2,
                                 .args = args,
                                 .outlabel = "f",
                                 .nout = rows,
                                 .plain = values->data});
  return 3;
}

/* plain(f): the Lua function of a compiled f; any other f itself. */
static int motion_plain(lua_State *L) {
  luaL_checkany(L, 1);
  nsl_push_plain_function(L, 1);
  return 1;
}

/*
** dual_values(y): the values of a dual vector as a plain vector; nil for anything else. Raises for jets: callers have first
** derivatives alone.
*/
static int motion_dual_values(lua_State *L) {
  const NslDualVector *y = nsl_test_dual_vector(L, 1);
  if (!y) return lua_pushnil(L), 1;
  if (y->base.tag >> NSL_JET_SHIFT) return luaL_error(L, "dual vector: this does not propagate second derivatives");
  NslVector *out = nsl_push_vector(L, y->base.n, NULL);
  for (int i = 0; i < y->base.n; i++) out->data[i] = *nsl_dual_at(y, i);
  return 1;
}

/*
** is_number(x, value): x is this number itself. A number with derivatives, or one that is traced, is not: terms without it would lose
** its derivatives where it happens to have the value.
*/
static int motion_is_number(lua_State *L) {
  lua_pushboolean(L, lua_type(L, 1) == LUA_TNUMBER && lua_tonumber(L, 1) == luaL_checknumber(L, 2));
  return 1;
}

void nsl_open_kinematics(lua_State *L) {
#define ROW(name)                                                                                                              \
  { #name, motion_##name }
  static const luaL_Reg functions[] = {ROW(values), ROW(jacobian), ROW(along),       ROW(plain),     ROW(twist),
                                       ROW(bowl),   ROW(partials), ROW(dual_values), ROW(is_number), {NULL, NULL}};
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "motion_support");
}
