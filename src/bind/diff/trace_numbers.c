/*
** trace_numbers.c
** Traced numbers: constants, guards, arithmetic of those that are integers in Lua, or may be.
*/
#include "bind/diff/trace_numbers.h"

#include <math.h>

static NslTracer *whole_tracer(lua_State *L) {
  return lua_touserdata(L, lua_upvalueindex(NSL_TRACER));
}

static int whole_record(lua_State *L, NsTapeOp op, int a, int b) {
  int node = ns_tape_record(whole_tracer(L)->tape, op, a, b);
  if (node < 0) luaL_error(L, "not enough memory");
  return node;
}

static double whole_value(lua_State *L, int node) {
  return ns_tape_node(whole_tracer(L)->tape, node).value;
}

void nsl_push_traced(lua_State *L, int base, int node) {
  const NslTracer *t = lua_touserdata(L, base);
  NslTraced *x = lua_newuserdatauv(L, sizeof *x, 0);
  *x = (NslTraced){{.magic = NSL_MAGIC, .type = &nsl_traced_type}, t->tag, node, nsl_float_kind};
  lua_pushvalue(L, base > 0 ? base + 1 : lua_upvalueindex(NSL_TRACER + 1));
  lua_setmetatable(L, -2);
}

int nsl_push_kind(lua_State *L, int node, NslTracedKind kind) {
  nsl_push_traced(L, lua_upvalueindex(NSL_TRACER), node);
  ((NslTraced *)lua_touserdata(L, -1))->kind = kind;
  return 1;
}

int nsl_constant_node(lua_State *L, NslTracer *t, double value) {
  int node = ns_tape_constant(t->tape, value);
  if (node < 0) luaL_error(L, "not enough memory");
  return node;
}

/* A path with more comparisons than these is a loop that does not end, or one that is no gain. */
enum { MOST_GUARDS = 10000 };

void nsl_guard_silently(lua_State *L, NslTracer *t, int node) {
  if (ns_tape_guard(t->tape, node) != NS_OK) luaL_error(L, "not enough memory");
  if (ns_tape_view(t->tape).guards > MOST_GUARDS)
    luaL_error(L, "compile: more than %d comparisons in one call: does a loop end?", MOST_GUARDS);
}

/* ---- integers ---- */

/*
** What math.floor(x) gives is an integer in Lua, and a double on the tape. They are the same as long as a double holds each result exactly, with
** 0 in place of -0. Where a result may be larger a guard sees to it: beyond 2^53 the path is left, and there is none that could be made.
*/
static const double most_exact = 0x1p53,
                    most_guarded = 0x1p52; /* half of it: small numbers can be added without a further guard */

/* What the number or traced number at idx is. */
NslTracedKind nsl_traced_kind(lua_State *L, int idx) {
  const NslTraced *x = nsl_test_traced(L, idx);
  NslTracedKind kind = x ? x->kind : nsl_float_kind;
  if (x || !lua_isinteger(L, idx)) return kind;
  kind.most = fabs(lua_tonumber(L, idx));
  return kind;
}

/* Refuses a plain integer that a double does not hold. */
void nsl_check_constant(lua_State *L, int idx) {
  if (lua_type(L, idx) == LUA_TNUMBER && nsl_traced_kind(L, idx).most >= most_exact)
    luaL_error(L, "compile: an integer beyond 2^53 meets an integer, or is compared with a number, that a traced value gives");
}

/* Ends the doubt by a guard: from here on the path is the one for an integer, or for a float. */
NslTracedKind nsl_settle_kind(lua_State *L, NslTracedKind kind) {
  if (kind.doubt < 0) return kind;
  nsl_guard_silently(L, whole_tracer(L), kind.doubt);
  if ((whole_value(L, kind.doubt) != 0) == kind.other) return nsl_float_kind;
  kind.doubt = -1;
  return kind;
}

/* Sees to it that an integer, of which *most is known, is one that a double holds exactly. */
void nsl_bound_integer(lua_State *L, int node, double *most) {
  if (*most <= most_exact) return;
  if (!(fabs(whole_value(L, node)) < most_guarded))
    luaL_error(L, "compile: an integer that a traced value gives is beyond 2^52: it may be more than a trace holds exactly");
  int size = whole_record(L, NS_TAPE_ABS, node, node);
  nsl_guard_silently(L, whole_tracer(L),
                     whole_record(L, NS_TAPE_LESS, size, nsl_constant_node(L, whole_tracer(L), most_guarded)));
  *most = most_guarded;
}

/* The remainder or quotient of two integers. */
static int integer_division(lua_State *L, NsTapeOp op, int a, int b) {
  int zero = whole_record(L, NS_TAPE_EQUAL, b, nsl_constant_node(L, whole_tracer(L), 0));
  if (whole_value(L, b) == 0 && op == NS_TAPE_FMOD) luaL_error(L, "bad argument #2 to 'fmod' (zero)");
  if (whole_value(L, b) == 0) luaL_error(L, "attempt to perform 'n%s0'", op == NS_TAPE_MOD ? "%%" : "//");
  if (nsl_test_traced(L, 2)) nsl_guard_silently(L, whole_tracer(L), zero);
  return whole_record(L, op, a, b);
}

/*
** Pushes op of two integers. Beyond 2^63 math.floor(x) is a float: operands are bounded, too, where the result does not tell (-2^63 is its own
** negative).
*/
static int push_whole_result(lua_State *L, NsTapeOp op, int a, int b, NslTracedKind ka, NslTracedKind kb) {
  bool scales = op == NS_TAPE_MUL && !(nsl_test_traced(L, 1) && nsl_test_traced(L, 2)) && ka.most != 0 && kb.most != 0;
  int node;
  NslTracedKind kind = {0, -1, false, false};
  if (!scales) nsl_bound_integer(L, a, &ka.most);
  if (!scales && op != NS_TAPE_NEG) nsl_bound_integer(L, b, &kb.most);
  switch (op) {
    case NS_TAPE_NEG:
      node = whole_record(L, NS_TAPE_SUB, nsl_constant_node(L, whole_tracer(L), 0), a), kind.most = ka.most;
      break;
    case NS_TAPE_ADD:
    case NS_TAPE_SUB: node = whole_record(L, op, a, b), kind.most = ka.most + kb.most; break;
    case NS_TAPE_MUL: node = whole_record(L, op, a, b), kind.most = ka.most * kb.most; break;
    default: node = integer_division(L, op, a, b), kind.most = op == NS_TAPE_IDIV ? ka.most : kb.most;
  }
  if (op != NS_TAPE_NEG && op != NS_TAPE_ADD && op != NS_TAPE_SUB)
    node = whole_record(L, NS_TAPE_ADD, node, nsl_constant_node(L, whole_tracer(L), 0)); /* no -0 */
  nsl_bound_integer(L, node, &kind.most);
  return nsl_push_kind(L, node, kind);
}

static bool of_integers(NsTapeOp op) {
  return op == NS_TAPE_ADD || op == NS_TAPE_SUB || op == NS_TAPE_MUL || op == NS_TAPE_NEG || op == NS_TAPE_MOD ||
         op == NS_TAPE_IDIV || op == NS_TAPE_FMOD;
}

/*
** Pushes op of a number that may be an integer and of one that is (at index `whole`), without a guard for what it is: a sum is the same, and of
** max(0, x) times a constant only the integer can be 0. False: a guard is needed.
*/
static bool push_doubtful(lua_State *L, NsTapeOp op, int a, int b, NslTracedKind kind, NslTracedKind factor, int whole) {
  bool negates = op == NS_TAPE_NEG, sum = op == NS_TAPE_ADD || op == NS_TAPE_SUB;
  bool scales = op == NS_TAPE_MUL && lua_type(L, whole) == LUA_TNUMBER && factor.most != 0;
  if (!sum && !(kind.zero && (negates || scales))) return false;
  kind.most = sum ? kind.most + factor.most : scales ? kind.most * factor.most : kind.most;
  kind.zero = kind.zero && !sum;
  if (kind.most > most_exact) return false;
  int node = negates ? whole_record(L, NS_TAPE_SUB, nsl_constant_node(L, whole_tracer(L), 0), a) : whole_record(L, op, a, b);
  return nsl_push_kind(L, sum || negates ? node : whole_record(L, NS_TAPE_ADD, node, nsl_constant_node(L, whole_tracer(L), 0)),
                       kind);
}

/* Pushes op of two numbers that are or may be integers; false: it is one of floats. */
bool nsl_push_whole(lua_State *L, NsTapeOp op, int a, int b) {
  NslTracedKind ka = nsl_traced_kind(L, 1), kb = op == NS_TAPE_NEG ? ka : nsl_traced_kind(L, 2);
  if (!of_integers(op) || ka.most < 0 || kb.most < 0) return false;
  for (int i = 1; i <= 2; i++) nsl_check_constant(L, i);
  if (!nsl_is_whole(ka) && (op == NS_TAPE_NEG || nsl_is_whole(kb)) && push_doubtful(L, op, a, b, ka, kb, 2)) return true;
  if (nsl_is_whole(ka) && !nsl_is_whole(kb) && push_doubtful(L, op, a, b, kb, ka, 1)) return true;
  ka = nsl_settle_kind(L, ka);
  kb = op == NS_TAPE_NEG ? ka : nsl_settle_kind(L, kb);
  return ka.most >= 0 && kb.most >= 0 && push_whole_result(L, op, a, b, ka, kb);
}

/* The largest or smallest of two numbers of these kinds; chosen: the comparison by which it is the second one. */
NslTracedKind nsl_extreme_kind(lua_State *L, NslTracedKind ka, NslTracedKind kb, int chosen, bool zero_first) {
  if (ka.most < 0 && kb.most < 0) return nsl_float_kind;
  ka = nsl_settle_kind(L, ka);
  kb = nsl_settle_kind(L, kb);
  double most = fmax(ka.most, kb.most);
  if ((ka.most < 0) == (kb.most < 0)) return (NslTracedKind){most, -1, false, false};
  return (NslTracedKind){most, chosen, ka.most >= 0, zero_first};
}
