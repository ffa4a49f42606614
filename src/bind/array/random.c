/*
** random.c
** Random numbers in Lua: ns.rng(seed), with uniform, normal and integer numbers, permutations, and its state as a text.
*/
#include "bind/array/random.h"
#include "bind/lua/open.h"

#include "base/philox.h"
#include "bind/array/vector.h"

/* at: its own generator, or the generator of the object in user value 1. */
typedef struct NslRng {
  NslHead head;
  NsPhilox *at, own;
} NslRng;

static const NslType rng_type = {.name = "rng"};

static NsPhilox *check_rng(lua_State *L) {
  return ((NslRng *)nsl_check(L, 1, &rng_type))->at;
}

NsPhilox *nsl_test_rng(lua_State *L, int idx) {
  const NslRng *self = nsl_test(L, idx, &rng_type);
  return self ? self->at : NULL;
}

void nsl_push_rng(lua_State *L, int owner, NsPhilox *at) {
  owner = lua_absindex(L, owner);
  NslRng *self = nsl_new(L, &rng_type, sizeof *self, 1);
  self->at = at;
  lua_pushvalue(L, owner);
  lua_setiuservalue(L, -2, 1);
}

static uint64_t rng_number(lua_State *L, int idx, const char *what) {
  return lua_isnoneornil(L, idx) ? 0 : (uint64_t)nsl_integer(L, idx, "rng", what);
}

static int new_rng(lua_State *L) {
  nsl_at_most(L, 2, "rng");
  if (lua_isnoneornil(L, 1)) return nsl_bad(L, "rng", "seed", "an integer", 1);
  uint64_t seed = rng_number(L, 1, "seed"), stream = rng_number(L, 2, "stream");
  NslRng *self = nsl_new(L, &rng_type, sizeof *self, 0);
  self->own = (NsPhilox){seed, stream, 0};
  self->at = &self->own;
  return 1;
}

/* ---- distributions ---- */

/* A distribution with two parameters. */
typedef double (*RngDraw)(NsPhilox *p, double a, double b);

static double draw_normal(NsPhilox *p, double mean, double deviation) {
  return mean + deviation * ns_philox_normal(p);
}

/* The number of numbers that are asked for, at idx. */
static lua_Integer rng_count(lua_State *L, int idx, const char *who) {
  lua_Integer n = nsl_integer(L, idx, who, "n");
  if (n < 0) luaL_error(L, "%s: n: expected 0 or more, got %I", who, n);
  return n;
}

/* Pushes one number, or a vector of n when the argument at idx is n. */
static int rng_push(lua_State *L, NsPhilox *p, RngDraw draw, double a, double b, int idx, const char *who) {
  if (lua_isnoneornil(L, idx)) return lua_pushnumber(L, draw(p, a, b)), 1;
  NslVector *v = nsl_push_vector(L, rng_count(L, idx, who), NULL);
  for (int i = 0; i < v->n; i++) v->data[i] = draw(p, a, b);
  return 1;
}

/* NAME(), NAME(n), NAME(a, b), NAME(a, b, n); a and b have the given defaults. */
static int rng_distribution(lua_State *L, RngDraw draw, const char *who, const char *const names[2], double a, double b) {
  NsPhilox *p = check_rng(L);
  nsl_at_most(L, 4, who);
  int count = lua_gettop(L) <= 2 ? 2 : 4;
  if (count == 4) a = nsl_finite(L, 2, who, names[0]), b = nsl_finite(L, 3, who, names[1]);
  return rng_push(L, p, draw, a, b, count, who);
}

static int rng_uniform(lua_State *L) {
  static const char *const names[] = {"a", "b"};
  return rng_distribution(L, ns_philox_between, "uniform", names, 0, 1);
}

static int rng_normal(lua_State *L) {
  static const char *const names[] = {"mean", "deviation"};
  return rng_distribution(L, draw_normal, "normal", names, 0, 1);
}

/* integers(a, b) gives an integer; integers(a, b, n) a vector. Elements of vectors are doubles: beyond 2^53 they are refused. */
static int rng_integers(lua_State *L) {
  static const lua_Integer whole = (lua_Integer)1 << 53;
  NsPhilox *p = check_rng(L);
  nsl_at_most(L, 4, "integers");
  lua_Integer a = nsl_integer(L, 2, "integers", "a"), b = nsl_integer(L, 3, "integers", "b");
  if (a > b) return luaL_error(L, "integers: a = %I is above b = %I", a, b);
  if (lua_isnoneornil(L, 4)) return lua_pushinteger(L, ns_philox_integer(p, a, b)), 1;
  if (a < -whole || b > whole) return luaL_error(L, "integers: a vector holds integers up to 2^53, got %I and %I", a, b);
  NslVector *v = nsl_push_vector(L, rng_count(L, 4, "integers"), NULL);
  for (int i = 0; i < v->n; i++) v->data[i] = (double)ns_philox_integer(p, a, b);
  return 1;
}

/* permutation(n): the numbers 1 to n in random order. */
static int rng_permutation(lua_State *L) {
  NsPhilox *p = check_rng(L);
  nsl_at_most(L, 2, "permutation");
  NslVector *v = nsl_push_vector(L, rng_count(L, 2, "permutation"), NULL);
  ns_philox_permutation(p, v->n, v->data);
  return 1;
}

/* ---- state ---- */

static int rng_state(lua_State *L) {
  char text[NS_PHILOX_TEXT];
  ns_philox_print(check_rng(L), text);
  return lua_pushstring(L, text), 1;
}

static int rng_set_state(lua_State *L) {
  NsPhilox *p = check_rng(L);
  bool good = lua_type(L, 2) == LUA_TSTRING && ns_philox_read(lua_tostring(L, 2), p);
  return good ? 0 : nsl_bad(L, "setState", "state", "a text of rng:state()", 2);
}

static int rng_tostring(lua_State *L) {
  const NsPhilox *p = check_rng(L);
  lua_pushfstring(L, "rng of seed %I, stream %I: %I numbers drawn", (lua_Integer)p->seed, (lua_Integer)p->stream,
                  (lua_Integer)p->draw);
  return 1;
}

/* normal_quantile(u) */
static int normal_quantile(lua_State *L) {
  double u = nsl_finite(L, 1, "normal_quantile", "u");
  if (u <= 0 || u >= 1) return nsl_bad(L, "normal_quantile", "u", "a number between 0 and 1", 1);
  return lua_pushnumber(L, ns_normal_quantile(u)), 1;
}

void nsl_open_random(lua_State *L) {
  static const luaL_Reg methods[] = {{"uniform", rng_uniform},
                                     {"normal", rng_normal},
                                     {"integers", rng_integers},
                                     {"permutation", rng_permutation},
                                     {"state", rng_state},
                                     {"setState", rng_set_state},
                                     {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__tostring", rng_tostring}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"rng", new_rng}, {"normal_quantile", normal_quantile}, {NULL, NULL}};
  nsl_register_type(L, &rng_type, meta, methods);
  luaL_setfuncs(L, functions, 0);
}
