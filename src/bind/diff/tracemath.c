/*
** tracemath.c
** Lua's math functions for traced numbers: each is the original as long as no argument is one.
*/
#include <math.h>

#include "bind/diff/math_slots.h"
#include "bind/diff/trace.h"

#define PI 3.141592653589793238462643383279502884

/* Upvalues of a replacement, after those of all closures. */
enum { ORIGINAL = NSL_TRACE_UPVALUES + 1, WHICH, UPVALUES = WHICH };

static bool any_traced(lua_State *L) {
  for (int i = lua_gettop(L); i > 0; i--)
    if (nsl_test_traced(L, i)) return true;
  return false;
}

static int tracemath_original(lua_State *L) {
  return nsl_swap_call_original(L, ORIGINAL);
}

static int node(lua_State *L, int arg) {
  int found = nsl_traced_node(L, arg);
  if (found < 0) luaL_checknumber(L, arg);
  return found < 0 ? nsl_constant_node(L, lua_touserdata(L, lua_upvalueindex(NSL_TRACER)), lua_tonumber(L, arg)) : found;
}

static int tracemath_constant(lua_State *L, double value) {
  return nsl_constant_node(L, lua_touserdata(L, lua_upvalueindex(NSL_TRACER)), value);
}

static int call_one(lua_State *L) {
  if (!nsl_test_traced(L, 1)) return tracemath_original(L);
  return nsl_record(L, (NsTapeOp)lua_tointeger(L, lua_upvalueindex(WHICH)), node(L, 1), 0);
}

static int call_two(lua_State *L) {
  if (!any_traced(L)) return tracemath_original(L);
  return nsl_record(L, (NsTapeOp)lua_tointeger(L, lua_upvalueindex(WHICH)), node(L, 1), node(L, 2));
}

static int call_atan(lua_State *L) {
  if (!any_traced(L)) return tracemath_original(L);
  return nsl_record(L, NS_TAPE_ATAN, node(L, 1), lua_isnoneornil(L, 2) ? tracemath_constant(L, 1) : node(L, 2));
}

/* log(x), log2 and log10 for those bases, else a quotient of logarithms, as the library has it. */
static int call_log(lua_State *L) {
  if (!any_traced(L)) return tracemath_original(L);
  int x = node(L, 1);
  if (lua_isnoneornil(L, 2)) return nsl_record(L, NS_TAPE_LOG, x, 0);
  double base = nsl_test_traced(L, 2) ? 0 : luaL_checknumber(L, 2);
  if (base == 2 || base == 10) return nsl_record(L, base == 2 ? NS_TAPE_LOG2 : NS_TAPE_LOG10, x, 0);
  lua_settop(L, 2);
  nsl_record(L, NS_TAPE_LOG, x, 0);
  if (nsl_test_traced(L, 2)) nsl_record(L, NS_TAPE_LOG, node(L, 2), 0);
  else lua_pushnumber(L, log(base));
  return nsl_record(L, NS_TAPE_DIV, node(L, 3), node(L, 4));
}

static int tracemath_call_extreme(lua_State *L) {
  NsTapeOp op = (NsTapeOp)lua_tointeger(L, lua_upvalueindex(WHICH));
  int n = lua_gettop(L);
  if (!any_traced(L)) return tracemath_original(L);
  lua_pushvalue(L, 1);
  (void)node(L, 1);
  for (int i = 2; i <= n; i++) {
    nsl_record(L, op, node(L, n + 1), node(L, i));
    lua_replace(L, n + 1);
  }
  return 1;
}

static int call_factor(lua_State *L) {
  if (!nsl_test_traced(L, 1)) return tracemath_original(L);
  bool degrees = lua_tointeger(L, lua_upvalueindex(WHICH)) != 0;
  return nsl_record(L, NS_TAPE_MUL, node(L, 1), tracemath_constant(L, degrees ? 180.0 / PI : PI / 180.0));
}

static int tracemath_call_modf(lua_State *L) {
  if (!nsl_test_traced(L, 1)) return tracemath_original(L);
  int x = node(L, 1);
  nsl_record(L, NS_TAPE_WHOLE, x, 0);
  nsl_record(L, NS_TAPE_PART, x, 0);
  return 2;
}

/* x 2^e with a constant e. */
static int tracemath_call_ldexp(lua_State *L) {
  if (!any_traced(L)) return tracemath_original(L);
  if (nsl_test_traced(L, 2)) return nsl_untraceable(L, "math.ldexp with the exponent of");
  return nsl_record(L, NS_TAPE_MUL, node(L, 1), tracemath_constant(L, ldexp(1, (int)luaL_checkinteger(L, 2))));
}

static int tracemath_refuse(lua_State *L, const char *what) {
  return any_traced(L) ? nsl_untraceable(L, what) : tracemath_original(L);
}

static int call_type(lua_State *L) {
  return tracemath_refuse(L, "math.type of");
}

static int call_tointeger(lua_State *L) {
  return tracemath_refuse(L, "math.tointeger of");
}

static int call_ult(lua_State *L) {
  return tracemath_refuse(L, "math.ult of");
}

static int tracemath_call_frexp(lua_State *L) {
  return tracemath_refuse(L, "math.frexp of");
}

static const struct {
  const char *name;
  lua_CFunction call;
  int which;
} replacements[] = {
    {"sin", call_one, NS_TAPE_SIN},
    {"cos", call_one, NS_TAPE_COS},
    {"tan", call_one, NS_TAPE_TAN},
    {"asin", call_one, NS_TAPE_ASIN},
    {"acos", call_one, NS_TAPE_ACOS},
    {"exp", call_one, NS_TAPE_EXP},
    {"sqrt", call_one, NS_TAPE_SQRT},
    {"abs", call_one, NS_TAPE_ABS},
    {"sinh", call_one, NS_TAPE_SINH},
    {"cosh", call_one, NS_TAPE_COSH},
    {"tanh", call_one, NS_TAPE_TANH},
    {"log10", call_one, NS_TAPE_LOG10},
    {"floor", call_one, NS_TAPE_FLOOR},
    {"ceil", call_one, NS_TAPE_CEIL},
    {"fmod", call_two, NS_TAPE_FMOD},
    {"pow", call_two, NS_TAPE_CPOW},
    {"atan", call_atan, 0},
    {"atan2", call_atan, 0},
    {"log", call_log, 0},
    {"max", tracemath_call_extreme, NS_TAPE_MAX},
    {"min", tracemath_call_extreme, NS_TAPE_MIN},
    {"deg", call_factor, 1},
    {"rad", call_factor, 0},
    {"modf", tracemath_call_modf, 0},
    {"ldexp", tracemath_call_ldexp, 0},
    {"type", call_type, 0},
    {"tointeger", call_tointeger, 0},
    {"ult", call_ult, 0},
    {"frexp", tracemath_call_frexp, 0},
};

/* map[original] = replacement, for a function of the table of the math library, on top; the map is at index `map`. */
static void tracemath_replace(lua_State *L, int map, const char *name, lua_CFunction f, int which) {
  lua_getfield(L, -1, name);
  if (!lua_iscfunction(L, -1)) {
    lua_pop(L, 1);
    return;
  }
  for (int i = NSL_TRACE_UPVALUES; i > 0; i--) lua_pushvalue(L, map - i);
  lua_pushvalue(L, -1 - NSL_TRACE_UPVALUES);
  lua_pushinteger(L, which);
  lua_pushcclosure(L, f, UPVALUES);
  lua_rawset(L, map);
}

void nsl_trace_math(lua_State *L) {
  lua_newtable(L);
  int map = lua_gettop(L);
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, "math") == LUA_TTABLE)
    for (size_t i = 0; i < sizeof replacements / sizeof *replacements; i++)
      tracemath_replace(L, map, replacements[i].name, replacements[i].call, replacements[i].which);
  lua_settop(L, map);
}
