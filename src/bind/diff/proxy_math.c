/*
** proxy_math.c
** Lua's math functions for proxies; each equals the original when no argument is a proxy.
*/
#include "bind/diff/proxy_math.h"

#include <math.h>
#include <string.h>

#define PI 3.141592653589793238462643383279502884

/* Upvalues of a replacement, after the upvalues of all closures: the original, its entry in the list, whether it met a proxy. */
enum { ORIGINAL = 2, WHICH, USED };

/* Values of the upvalue USED. ALWAYS is for functions that accept a proxy without an error, and must not be left out. */
enum { NO, YES, ALWAYS };

/* Largest exponent e for which 2^e and 2^-e are surely normal numbers. */
enum { MOST_EXPONENT = 1000 };

static inline int math_upvalue(const NslProxy *kind, int which) {
  return lua_upvalueindex(kind->values + which);
}

/* Calls the original with the arguments on the stack; returns the number of its results. */
static int call_original(lua_State *L, const NslProxy *kind) {
  int original = math_upvalue(kind, ORIGINAL);
  if (!lua_getupvalue(L, original, 1)) return lua_tocfunction(L, original)(L);
  lua_pop(L, 1);
  lua_pushvalue(L, original);
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

static inline bool math_stands_in(lua_State *L, const NslProxy *kind, int idx) {
  return nsl_test_fast(L, idx, kind->number, sizeof(NslHead)) != NULL;
}

/* Whether one of the first `most` arguments is a proxy; if so, marks the replacement as used. */
static bool math_meets(lua_State *L, const NslProxy *kind, int most) {
  int i = 1, use = math_upvalue(kind, USED);
  while (i <= most && !math_stands_in(L, kind, i)) i++;
  if (i > most) return false;
  if (lua_tointeger(L, use) & YES) return true;
  lua_pushinteger(L, lua_tointeger(L, use) | YES);
  lua_replace(L, use);
  return true;
}

/* An entry of the list: a function of math and its operation. */
typedef struct MathFunction {
  const char *name;
  lua_CFunction call;
  NsTapeOp op;
} MathFunction;

static const MathFunction *entry_of(lua_State *L, const NslProxy *kind);

static int math_of_one(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  if (!math_meets(L, kind, 1)) return call_original(L, kind);
  kind->apply(L, entry_of(L, kind)->op, 1, 0);
  return 1;
}

static int math_of_two(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  if (!math_meets(L, kind, 2)) return call_original(L, kind);
  kind->apply(L, entry_of(L, kind)->op, 1, 2);
  return 1;
}

/* Pushes op of the argument and a constant. */
static int math_with_constant(lua_State *L, NsTapeOp op, double constant) {
  const NslProxy *kind = nsl_proxy(L);
  lua_pushnumber(L, constant);
  kind->apply(L, op, 1, lua_gettop(L));
  return 1;
}

static int math_atan(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  return !lua_isnoneornil(L, 2) || !math_meets(L, kind, 1) ? math_of_two(L) : math_with_constant(L, NS_TAPE_ATAN, 1);
}

/* log(x), and log(x, base): log2 and log10 for these bases, else a quotient of logarithms, as in the library. */
static int math_log(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  if (!math_meets(L, kind, 2)) return call_original(L, kind);
  if (kind->logarithm && !lua_isnoneornil(L, 2)) return kind->logarithm(L), 1;
  double base = lua_isnoneornil(L, 2) || math_stands_in(L, kind, 2) ? 0 : luaL_checknumber(L, 2);
  NsTapeOp op = base == 2 ? NS_TAPE_LOG2 : base == 10 ? NS_TAPE_LOG10 : NS_TAPE_LOG;
  lua_settop(L, 2);
  kind->apply(L, op, 1, 0);
  if (lua_isnil(L, 2) || op != NS_TAPE_LOG) return 1;
  if (math_stands_in(L, kind, 2)) kind->apply(L, NS_TAPE_LOG, 2, 0);
  else lua_pushnumber(L, log(base));
  kind->apply(L, NS_TAPE_DIV, 3, 4);
  return 1;
}

static int math_extreme(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  return math_meets(L, kind, lua_gettop(L)) ? kind->extreme(L, entry_of(L, kind)->op) : call_original(L, kind);
}

static int math_deg(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  return math_meets(L, kind, 1) ? math_with_constant(L, NS_TAPE_MUL, 180.0 / PI) : call_original(L, kind);
}

static int math_rad(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  return math_meets(L, kind, 1) ? math_with_constant(L, NS_TAPE_MUL, PI / 180.0) : call_original(L, kind);
}

/* The whole part of a dual number is a plain one. */
static int math_modf(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  if (!math_meets(L, kind, 1)) return call_original(L, kind);
  if (kind->records_steps) {
    kind->apply(L, NS_TAPE_WHOLE, 1, 0);
  } else {
    lua_pushvalue(L, math_upvalue(kind, ORIGINAL));
    kind->push_value(L, 1, "math.modf of");
    lua_call(L, 1, 1);
  }
  kind->apply(L, NS_TAPE_PART, 1, 0);
  return 2;
}

/* Pushes x 2^e, x at 1; by two factors when 2^e is out of range, because the product may be in range. */
static void push_power_of_two(lua_State *L, int e) {
  int half = e < -MOST_EXPONENT || e > MOST_EXPONENT ? e / 2 : 0;
  math_with_constant(L, NS_TAPE_MUL, ldexp(1, e - half));
  if (half == 0) return;
  lua_replace(L, 1);
  math_with_constant(L, NS_TAPE_MUL, ldexp(1, half));
}

static int math_ldexp(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  if (!math_meets(L, kind, 2)) return call_original(L, kind);
  if (math_stands_in(L, kind, 2)) {
    kind->push_value(L, 2, "math.ldexp with the exponent of");
    lua_replace(L, 2);
  }
  if (!math_stands_in(L, kind, 1)) return call_original(L, kind);
  push_power_of_two(L, (int)luaL_checkinteger(L, 2));
  return 1;
}

static int math_frexp(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  int e;
  if (!math_meets(L, kind, 1)) return call_original(L, kind);
  kind->push_value(L, 1, "math.frexp of");
  (void)frexp(lua_tonumber(L, -1), &e);
  push_power_of_two(L, -e);
  lua_pushinteger(L, e);
  return 2;
}

/* floor, ceil, type, tointeger, ult: computed from the values; floor and ceil are recorded if the kind does so. */
static int math_step(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  const MathFunction *entry = entry_of(L, kind);
  int top = lua_gettop(L);
  if (!math_meets(L, kind, top)) return call_original(L, kind);
  if (kind->records_steps && entry->op != NS_TAPE_OPS) {
    kind->apply(L, entry->op, 1, 0);
    return 1;
  }
  const char *what = lua_pushfstring(L, "math.%s of", entry->name);
  for (int i = 1; i <= top; i++) {
    if (!math_stands_in(L, kind, i)) continue;
    kind->push_value(L, i, what);
    lua_replace(L, i);
  }
  lua_settop(L, top);
  return call_original(L, kind);
}

/* string.format of the values; the text marks proxies, so that it is not read back as a number. */
static int math_format(lua_State *L) {
  const NslProxy *kind = nsl_proxy(L);
  bool found = math_meets(L, kind, lua_gettop(L));
  int results = math_step(L);
  if (!found) return results;
  lua_pushliteral(L, " (dual)");
  lua_concat(L, 2);
  return 1;
}

/* The list. The operation NS_TAPE_OPS stands for none. */
static const MathFunction entries[] = {
    {"sin", math_of_one, NS_TAPE_SIN},   {"cos", math_of_one, NS_TAPE_COS},   {"tan", math_of_one, NS_TAPE_TAN},
    {"asin", math_of_one, NS_TAPE_ASIN}, {"acos", math_of_one, NS_TAPE_ACOS}, {"exp", math_of_one, NS_TAPE_EXP},
    {"sqrt", math_of_one, NS_TAPE_SQRT}, {"abs", math_of_one, NS_TAPE_ABS},   {"sinh", math_of_one, NS_TAPE_SINH},
    {"cosh", math_of_one, NS_TAPE_COSH}, {"tanh", math_of_one, NS_TAPE_TANH}, {"log10", math_of_one, NS_TAPE_LOG10},
    {"fmod", math_of_two, NS_TAPE_FMOD}, {"pow", math_of_two, NS_TAPE_CPOW},  {"atan", math_atan, NS_TAPE_ATAN},
    {"atan2", math_atan, NS_TAPE_ATAN},  {"log", math_log, NS_TAPE_LOG},      {"max", math_extreme, NS_TAPE_MAX},
    {"min", math_extreme, NS_TAPE_MIN},  {"deg", math_deg, NS_TAPE_MUL},      {"rad", math_rad, NS_TAPE_MUL},
    {"modf", math_modf, NS_TAPE_PART},   {"ldexp", math_ldexp, NS_TAPE_MUL},  {"floor", math_step, NS_TAPE_FLOOR},
    {"ceil", math_step, NS_TAPE_CEIL},   {"type", math_step, NS_TAPE_OPS},    {"tointeger", math_step, NS_TAPE_OPS},
    {"ult", math_step, NS_TAPE_OPS},     {"frexp", math_frexp, NS_TAPE_OPS},  {"format", math_format, NS_TAPE_OPS},
};

static const MathFunction *entry_of(lua_State *L, const NslProxy *kind) {
  return &entries[lua_tointeger(L, math_upvalue(kind, WHICH))];
}

/* map[original] = replacement for function `which` of the list, in the table on top; the inverse table is behind the map. */
static void math_replace(lua_State *L, const NslProxy *kind, int first, int map, int which) {
  bool silent = strcmp(entries[which].name, "type") == 0 || strcmp(entries[which].name, "tointeger") == 0;
  lua_getfield(L, -1, entries[which].name);
  int original = lua_gettop(L);
  if (lua_iscfunction(L, original)) {
    lua_pushlightuserdata(L, (void *)kind);
    for (int i = 0; i < kind->values; i++) lua_pushvalue(L, first + i);
    lua_pushvalue(L, original);
    lua_pushinteger(L, which);
    lua_pushinteger(L, silent ? ALWAYS : NO);
    lua_pushcclosure(L, entries[which].call, kind->values + USED);
    lua_pushvalue(L, -1);
    lua_pushvalue(L, original);
    lua_rawset(L, map + 1);
    lua_pushvalue(L, original);
    lua_insert(L, -2);
    lua_rawset(L, map);
  }
  lua_settop(L, original - 1);
}

void nsl_proxy_math(lua_State *L, const NslProxy *kind, int first, bool format) {
  lua_newtable(L);
  lua_newtable(L);
  int map = lua_gettop(L) - 1;
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  for (int i = 0; i < (int)(sizeof entries / sizeof *entries); i++) {
    bool text = entries[i].call == math_format;
    if (text && !format) continue;
    if (lua_getfield(L, -1, text ? "string" : "math") == LUA_TTABLE) math_replace(L, kind, first, map, i);
    lua_pop(L, 1);
  }
  lua_settop(L, map + 1);
}

/* ---- use ---- */

/* The index of the upvalue USED of the replacement at idx. */
static int used_upvalue(lua_State *L, int idx) {
  lua_getupvalue(L, idx, 1);
  const NslProxy *kind = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return kind->values + USED;
}

static lua_Integer math_use(lua_State *L, int idx) {
  lua_getupvalue(L, idx, used_upvalue(L, idx));
  lua_Integer use = lua_tointeger(L, -1);
  lua_pop(L, 1);
  return use;
}

static void set_math_use(lua_State *L, int idx, lua_Integer use) {
  lua_pushinteger(L, use);
  lua_setupvalue(L, idx, used_upvalue(L, idx));
}

void nsl_math_forget(lua_State *L, int map) {
  for (lua_pushnil(L); lua_next(L, map); lua_pop(L, 1)) set_math_use(L, lua_gettop(L), math_use(L, lua_gettop(L)) & ALWAYS);
}

void nsl_math_remember(lua_State *L, int idx) {
  set_math_use(L, idx, math_use(L, idx) | YES);
}

bool nsl_math_used(lua_State *L, int idx) {
  return math_use(L, idx) != NO;
}
