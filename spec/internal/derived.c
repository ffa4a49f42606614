/*
** derived.c
** For the specs alone: a callback of an owner that logs what it is asked for.
*/
#include "internal.h"

#include <string.h>

#include "ad/derived.h"

/* y = x1^2 x2 + lambda1, or a given Jacobian of 7. log: gets a letter for each request. */
typedef struct Logged {
  luaL_Buffer *log;
  bool duals, given;
  int failed; /* of a call */
  NsPaths *shadow;
} Logged;

static void logged_add(const void *callback, char what) {
  luaL_addchar(((const Logged *)callback)->log, what);
}

static int logged_call(void *callback, const NsPoint *at, double *out) {
  const Logged *logged = callback;
  logged_add(logged, logged->given ? 'g' : 'c');
  *out = logged->given ? 7 : at->x[0] * at->x[0] * at->x[1] + at->lambda[0];
  return logged->failed;
}

static bool logged_compiled(const void *callback) {
  return (void)callback, false;
}

static NsPaths *logged_shadow(void *callback, const NsPoint *at, const double *plain) {
  (void)at;
  logged_add(callback, plain ? 'S' : 's');
  return ((Logged *)callback)->shadow;
}

static int logged_pass(void *callback, const NsPass *pass) {
  const double *x = pass->at.x, slope[] = {2 * x[0] * x[1], x[0] * x[0]};
  logged_add(callback, 'p');
  if (!((Logged *)callback)->duals) return -1;
  if (pass->kind == NS_PASS_LINE) return *pass->first = slope[0] * pass->w[0] + slope[1] * pass->w[1], 0;
  memcpy(pass->jacobian[0], slope, sizeof slope);
  if (pass->jacobian[1]) *pass->jacobian[1] = 1;
  return 0;
}

static int logged_forget(const void *callback) {
  return logged_add(callback, 'f'), 1;
}

static int logged_missing(void *callback, int number) {
  return logged_add(callback, (char)('0' + number)), -1;
}

/*
** derived(does, {duals, matrix, native, given, failed, traced}): does what the letters say: m moves the point, v is the value, j the Jacobian by x,
** l by lambda, e the exact one by x, a the derivative along (1, 2), r forgets the point, n begins a run. traced: there is a trace, without
** derivatives. Returns the log, with the last result, and the last numbers.
*/
static int internal_derived(lua_State *L) {
  const char *does = luaL_checkstring(L, 1);
  bool inexact = false, traced;
  uint64_t runs = 1;
  NsPath way = {0};
  NsPaths paths = {.path = &way};
  const NsDerivedOwner owner = {.call = logged_call,
                                .compiled = logged_compiled,
                                .shadow = logged_shadow,
                                .pass = logged_pass,
                                .forget = logged_forget,
                                .missing = logged_missing};
  const NsDirect direct = {.argument = {-1, -1}};
  NsArena arena = {0};
  luaL_Buffer log;
  Logged logged = {.log = &log}, given = {.log = &log};
  NsDerived f = {.by = {3, -1}, .direct = &direct, .inexact = &inexact, .runs = &runs, .entries = 1};
  nsl_internal_take(L, 2, NULL, "duals? matrix? native? given? failed: traced?", &logged.duals, &f.matrix, &f.native,
                    &given.given, &logged.failed, &traced);
  if (traced && ns_tape_new(&way.tape, 3) == NS_OK) logged.shadow = &paths;
  f.owner = &owner, f.callback = &logged, f.given[0] = given.given ? &given : NULL;
  ns_derived_size(&f, &arena, 2, 1, 0);
  const NsFunction of = ns_derived_function(&f);
  double x[] = {3, 5}, lambda[] = {0.5}, out[2] = {0};
  const double *const args[NS_FUNCTION_ARGS] = {x, lambda, NULL}, w[] = {1, 2};
  int result = 0;
  luaL_buffinit(L, &log);
  for (; *does; does++) {
    if (*does == 'm') x[0] += 1;
    else if (*does == 'v') result = of.value(of.context, 0, args, out);
    else if (*does == 'j' || *does == 'l') result = of.jacobian(of.context, 0, args, *does == 'l', out);
    else if (*does == 'e') result = of.exact(of.context, 0, args, 0, out);
    else if (*does == 'a') result = of.along(of.context, 0, args, 0, w, out, NULL);
    else if (*does == 'n') runs++;
    else ns_derived_reset(&f);
  }
  ns_tape_free(way.tape);
  ns_arena_release(&arena);
  luaL_pushresult(&log);
  lua_pushinteger(L, result);
  lua_pushnumber(L, out[0]);
  lua_pushnumber(L, out[1]);
  return 4;
}

void nsl_internal_derived(lua_State *L) {
  nsl_set_cfunction(L, "derived", internal_derived);
}
