/*
** base.c
** Status codes, error texts, the allocator, arenas and the interrupt flag, called from specs.
*/
#include "internal.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/forest.h"
#include "base/interrupt.h"
#include "base/signal.h"
#include "base/memory.h"
#include "base/pool.h"

static int status_count(lua_State *L) {
  return lua_pushinteger(L, NS_STATUS_COUNT), 1;
}

static int status_message(lua_State *L) {
  return lua_pushstring(L, ns_status_message((NsStatus)luaL_checkinteger(L, 1))), 1;
}

static int status_name(lua_State *L) {
  return lua_pushstring(L, ns_status_name((NsStatus)luaL_checkinteger(L, 1))), 1;
}

/* fail(status, text): the status returned, the status stored and the text stored. */
static int spec_base_fail(lua_State *L) {
  NsError err = {0};
  NsStatus status = (NsStatus)luaL_checkinteger(L, 1);
  const char *text = luaL_checkstring(L, 2);
  if (ns_fail(NULL, status, "%s", text) != status) return luaL_error(L, "fail: the status is lost");
  lua_pushinteger(L, ns_fail(&err, status, "%s", text));
  lua_pushinteger(L, err.status);
  lua_pushstring(L, err.text);
  return 3;
}

/* allocates(count, size): whether ns_alloc gives a zeroed block of that many bytes. */
static int allocates(lua_State *L) {
  size_t count = (size_t)luaL_checkinteger(L, 1), size = (size_t)luaL_checkinteger(L, 2);
  unsigned char *block = ns_alloc(count, size);
  bool zero = block != NULL;
  for (size_t i = 0; block && i < count * size; i++) zero = zero && block[i] == 0;
  ns_free(block);
  return lua_pushboolean(L, zero), 1;
}

/* resizes(from, to): whether the bytes of a block survive ns_resize to another length; nil when it is refused. */
static int resizes(lua_State *L) {
  size_t from = (size_t)luaL_checkinteger(L, 1), to = (size_t)luaL_checkinteger(L, 2);
  unsigned char *block = ns_alloc(from, 1), *moved = NULL;
  bool same = true;
  if (!block) return luaL_error(L, "not enough memory");
  for (size_t i = 0; i < from; i++) block[i] = (unsigned char)(i * 7 + 1);
  moved = ns_resize(block, to, 1);
  unsigned char *now = moved ? moved : block;
  for (size_t i = 0; i < (moved && to < from ? to : from); i++) same = same && now[i] == (unsigned char)(i * 7 + 1);
  ns_free(now);
  lua_pushboolean(L, same);
  if (!moved) lua_pushnil(L);
  return moved ? 1 : 2;
}

/* Counts down to the allocation that fails; with `on`, every later one fails too. */
typedef struct Failing {
  lua_Integer left;
  bool on;
} Failing;

static void *failing_allocator(void *context, void *block, size_t size) {
  Failing *failing = context;
  if (size == 0) return free(block), NULL;
  if (failing->left > 0) failing->left--;
  else if (failing->left == 0) {
    if (!failing->on) failing->left = -1;
    return NULL;
  }
  return realloc(block, size);
}

/*
** failing(n, on, f, ...): pcall(f, ...) while the engine's allocation number n (from 0) fails and, with `on`, all later ones.
** Returns whether that allocation was reached, then the results of pcall.
*/
static int failing(lua_State *L) {
  Failing context = {luaL_checkinteger(L, 1), lua_toboolean(L, 2)};
  luaL_argcheck(L, context.left >= 0, 1, "0 or more");
  luaL_checkany(L, 3);
  lua_remove(L, 1);
  lua_remove(L, 1);
  ns_set_allocator(failing_allocator, &context);
  int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  ns_set_allocator(NULL, NULL);
  lua_pushboolean(L, status == LUA_OK);
  lua_insert(L, 1);
  lua_pushboolean(L, context.left < 0 || (context.left == 0 && context.on));
  lua_insert(L, 1);
  return lua_gettop(L);
}

/* ---- arenas ---- */

enum { MAX_BLOCKS = 256 };

typedef struct Arena {
  NslHead head;
  NsArena arena;
  int count;
  struct {
    unsigned char *at;
    size_t bytes;
  } blocks[MAX_BLOCKS];
} Arena;

static const NslType arena_type = {.name = "internal.arena"};

static int new_arena(lua_State *L) {
  nsl_new(L, &arena_type, sizeof(Arena), 0);
  return 1;
}

/* Pushes the address of a block (nil: none) and whether it is zeroed; fills the block with its number. */
static int note_block(lua_State *L, Arena *a, unsigned char *block, size_t bytes) {
  bool zero = true;
  if (!block) return lua_pushnil(L), 1;
  if (a->count == MAX_BLOCKS) return luaL_error(L, "too many blocks");
  for (size_t i = 0; i < bytes; i++) zero = zero && block[i] == 0;
  a->blocks[a->count].at = block;
  a->blocks[a->count++].bytes = bytes;
  memset(block, a->count & 0xff, bytes);
  lua_pushinteger(L, (lua_Integer)(uintptr_t)block);
  lua_pushboolean(L, zero);
  return 2;
}

static int arena_take(lua_State *L) {
  Arena *a = nsl_check(L, 1, &arena_type);
  size_t count = (size_t)luaL_checkinteger(L, 2), size = (size_t)luaL_checkinteger(L, 3);
  return note_block(L, a, ns_arena_take(&a->arena, count, size), count * size);
}

static int arena_doubles(lua_State *L) {
  Arena *a = nsl_check(L, 1, &arena_type);
  ptrdiff_t n = luaL_checkinteger(L, 2);
  return note_block(L, a, (unsigned char *)ns_arena_doubles(&a->arena, n), (size_t)n * sizeof(double));
}

static int arena_matrix(lua_State *L) {
  Arena *a = nsl_check(L, 1, &arena_type);
  ptrdiff_t rows = luaL_checkinteger(L, 2), cols = luaL_checkinteger(L, 3);
  unsigned char *block = (unsigned char *)ns_arena_matrix(&a->arena, rows, cols);
  return note_block(L, a, block, block ? (size_t)(rows * cols) * sizeof(double) : 0);
}

static int arena_ints(lua_State *L) {
  Arena *a = nsl_check(L, 1, &arena_type);
  ptrdiff_t n = luaL_checkinteger(L, 2);
  return note_block(L, a, (unsigned char *)ns_arena_ints(&a->arena, n), (size_t)n * sizeof(int));
}

/* Whether every block still holds its own number: none has moved, no two overlap. */
static int arena_intact(lua_State *L) {
  Arena *a = nsl_check(L, 1, &arena_type);
  bool intact = true;
  for (int k = 0; k < a->count; k++)
    for (size_t i = 0; i < a->blocks[k].bytes; i++) intact = intact && a->blocks[k].at[i] == ((k + 1) & 0xff);
  return lua_pushboolean(L, intact), 1;
}

static int arena_failed(lua_State *L) {
  Arena *a = nsl_check(L, 1, &arena_type);
  return lua_pushboolean(L, a->arena.failed), 1;
}

static int arena_release(lua_State *L) {
  Arena *a = lua_touserdata(L, 1);
  ns_arena_release(&a->arena);
  a->count = 0;
  return 0;
}

/* ---- the flag ---- */

static int interrupt_raise(lua_State *L) {
  (void)L;
  ns_interrupt_watch();
  ns_interrupt_raise();
  return 0;
}

static int interrupt_clear(lua_State *L) {
  (void)L;
  ns_interrupt_clear();
  ns_interrupt_unwatch();
  return 0;
}

static _Thread_local int signals_told, signals_stopped;
static _Thread_local void *signal_script;

static void spec_signal_stop(void *script) {
  signals_stopped++;
  signal_script = script;
}

static void spec_signal_told(void) {
  signals_told++;
}

static bool spec_signal_prompted(void) {
  return false;
}

/*
** signal(): a SIGINT in a run within a run: how often the hooks are told of it and stop, whether they stop the inner run, what the ends of the
** two runs say, and whether the host's handler is back.
*/
static int spec_signal(lua_State *L) {
  static const NsSignalHooks hooks = {spec_signal_stop, spec_signal_told, spec_signal_prompted};
  char outer, inner;
  struct sigaction before, after;
  signals_told = signals_stopped = 0;
  sigaction(SIGINT, NULL, &before);
  void *first = ns_signal_begin(&hooks, &outer, false), *second = ns_signal_begin(&hooks, &inner, false);
  raise(SIGINT);
  lua_pushinteger(L, signals_told), lua_pushinteger(L, signals_stopped);
  lua_pushboolean(L, signal_script == &inner && second == &outer && !first);
  lua_pushboolean(L, ns_signal_end(second)), lua_pushboolean(L, ns_signal_end(first));
  sigaction(SIGINT, NULL, &after);
  lua_pushboolean(L, before.sa_handler == after.sa_handler);
  return 6;
}

static int interrupted(lua_State *L) {
  return lua_pushboolean(L, ns_interrupted()), 1;
}

/* Tasks of `pool`: how often each was run, and from which on they fail. */
typedef struct PoolCounts {
  int *runs, *nested, from, members;
} PoolCounts;

static NsStatus count_nested(void *context, int index, int member) {
  (void)member;
  ((int *)context)[index]++;
  return NS_OK;
}

static NsStatus count_run(void *context, int index, int member) {
  PoolCounts *counts = context;
  int own[3] = {0, 0, 0};
  for (volatile int k = 0; k < 3000; k++) continue;
  counts->runs[index] += member < counts->members;
  NsStatus status = ns_pool_run(counts->members, 3, count_nested, own);
  counts->nested[index] = own[0] + own[1] + own[2];
  if (status || index + 1 < counts->from) return status;
  return index % 2 ? NS_ENAN : NS_EARG;
}

/*
** pool(threads, count, from): runs tasks 1 .. count, of which those from `from` on fail, the even ones with NS_ENAN, the odd ones with NS_EARG. The
** status, how many of those before `from` were run once with all of three nested tasks, how often the others.
*/
static int run_pool(lua_State *L) {
  int count = (int)luaL_checkinteger(L, 2), before = 0, after = 0;
  int *runs = lua_newuserdatauv(L, 2 * ((size_t)count + 1) * sizeof *runs, 0);
  PoolCounts counts = {runs, runs + count, (int)luaL_checkinteger(L, 3), (int)luaL_checkinteger(L, 1)};
  memset(runs, 0, 2 * (size_t)count * sizeof *runs);
  NsStatus status = ns_pool_run(counts.members, count, count_run, &counts);
  for (int k = 0; k < count; k++) {
    if (k + 1 < counts.from) before += runs[k] == 1 && counts.nested[k] == 3;
    else after += runs[k];
  }
  lua_pushstring(L, ns_status_name(status));
  lua_pushinteger(L, before);
  lua_pushinteger(L, after);
  return 3;
}

/*
** forest(n, {{i, j}, ...}): joins the pairs of n elements (from 1); returns the number of sets, each element's set, the joins.
*/
static int forest(lua_State *L) {
  int n = (int)luaL_checkinteger(L, 1), joins = 0;
  int *parent = lua_newuserdatauv(L, ((size_t)n + 1) * sizeof *parent, 0);
  for (int i = 0; i < n; i++) parent[i] = i;
  for (lua_Integer k = 1; lua_rawgeti(L, 2, k) != LUA_TNIL; k++, lua_pop(L, 1)) {
    joins += ns_forest_join(parent, nsl_list_integer(L, -1, 1) - 1, nsl_list_integer(L, -1, 2) - 1);
  }
  lua_pushinteger(L, ns_forest_number(parent, n, parent));
  for (int i = 0; i < n; i++) parent[i]++;
  nsl_push_integers(L, n, parent);
  lua_pushinteger(L, joins);
  return 3;
}

void nsl_internal_base(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", arena_release}, {NULL, NULL}};
  static const luaL_Reg methods[] = {
      {"take", arena_take},     {"doubles", arena_doubles}, {"matrix", arena_matrix},   {"ints", arena_ints},
      {"intact", arena_intact}, {"failed", arena_failed},   {"release", arena_release}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"status_count", status_count},
                                       {"status_message", status_message},
                                       {"status_name", status_name},
                                       {"fail", spec_base_fail},
                                       {"allocates", allocates},
                                       {"resizes", resizes},
                                       {"failing", failing},
                                       {"arena", new_arena},
                                       {"interrupt_raise", interrupt_raise},
                                       {"interrupt_clear", interrupt_clear},
                                       {"interrupted", interrupted},
                                       {"signal", spec_signal},
                                       {"forest", forest},
                                       {"pool", run_pool},
                                       {NULL, NULL}};
  nsl_register_type(L, &arena_type, meta, methods);
  luaL_setfuncs(L, functions, 0);
}
