/*
** math_slots.c
** Finds the places from which a callback takes its math functions, and replaces the functions there during a call.
*/
#include "bind/diff/math_slots.h"

/* FEW_PLACES: number of places whose marks fit on the C stack. */
enum { FEW_PLACES = 512, MAX_LEVELS = 16, MAX_NUMBERS = 256, NEAR = 1, ROOM = 3 };

/* Limits of a walk: functions, other objects, places looked at, entries of one table, elements of one array. */
typedef struct Bounds {
  lua_Integer functions, objects, places, entries, elements;
} Bounds;

static const Bounds near_bounds = {1024, 768, 8192, 512, 256}, far_bounds = {20000, 20000, 80000, 80000, 20000};

/* The entries of a group of the list. */
enum { HOLDER = 1, KEY, ORIGINAL, REPLACEMENT, GROUP = REPLACEMENT };

/* Stack indices of a walk's tables, and its counts. */
typedef struct Walk {
  int map, inverse, list, visited, queue;
  lua_Integer places, head, tail, looked, functions, objects;
  int level;
  Bounds most;
  bool (*replace)(lua_State *L, int map, int value); /* NULL: the places of functions are wanted */
} Walk;

/* Pops the value on top (a table, Lua function or userdata) into the queue, unless it was met before. */
static void enqueue(lua_State *L, Walk *w) {
  bool function = lua_isfunction(L, -1);
  lua_Integer *count = function ? &w->functions : &w->objects;
  lua_pushvalue(L, -1);
  if (*count >= (function ? w->most.functions : w->most.objects) || lua_rawget(L, w->visited) != LUA_TNIL) {
    lua_pop(L, 2);
    return;
  }
  lua_pop(L, 1);
  ++*count;
  lua_pushvalue(L, -1);
  lua_pushboolean(L, 1);
  lua_rawset(L, w->visited);
  lua_rawseti(L, w->queue, ++w->tail);
}

/* Appends the value on top to the list and pops it. */
static void math_slots_append(lua_State *L, Walk *w) {
  lua_rawseti(L, w->list, ++w->places);
}

/* Appends a place, whose original and replacement are at these indices. */
static void append_place(lua_State *L, Walk *w, int holder, int key, int original, int replacement) {
  const int group[] = {holder, key, original, replacement};
  for (int i = 0; i < GROUP; i++) {
    lua_pushvalue(L, group[i]);
    math_slots_append(L, w);
  }
}

/* Pops the C function on top; adds its place to the list when it is an original or a replacement. */
static void add_place(lua_State *L, Walk *w, int holder, int key) {
  int top = lua_gettop(L);
  lua_pushvalue(L, top);
  bool original = lua_rawget(L, w->map) != LUA_TNIL;
  lua_pushvalue(L, top);
  bool replacement = lua_rawget(L, w->inverse) != LUA_TNIL;
  if (original) append_place(L, w, holder, key, top, top + 1);
  else if (replacement) append_place(L, w, holder, key, top + 2, top);
  lua_settop(L, top - 1);
}

/* Whether the userdata or table on top has a replacement: then it is popped, and its place is in the list. */
static bool add_object(lua_State *L, Walk *w, int holder, int key) {
  int top = lua_gettop(L);
  bool object = lua_type(L, top) == LUA_TUSERDATA || lua_type(L, top) == LUA_TTABLE;
  bool found = object && w->replace && w->replace(L, w->map, top);
  if (found) append_place(L, w, holder, key, top, lua_gettop(L));
  lua_settop(L, found ? top - 1 : top);
  return found;
}

/* Pops the value on top, found at holder[key] or as upvalue number `key` of the function holder, and handles it. */
static void meet(lua_State *L, Walk *w, int holder, int key) {
  int type = lua_type(L, -1);
  w->looked++;
  if (add_object(L, w, holder, key)) return;
  if (w->replace && type == LUA_TUSERDATA) lua_pop(L, 1);
  else if (lua_iscfunction(L, -1)) add_place(L, w, holder, key);
  else if (type == LUA_TFUNCTION || type == LUA_TTABLE || type == LUA_TUSERDATA) enqueue(L, w);
  else lua_pop(L, 1);
}

/* Whether the upvalue is met for the first time (closures may share it). */
static bool new_upvalue(lua_State *L, Walk *w, int f, int i) {
  bool met = lua_rawgetp(L, w->visited, lua_upvalueid(L, f, i)) != LUA_TNIL;
  lua_pop(L, 1);
  if (met) return false;
  lua_pushboolean(L, 1);
  lua_rawsetp(L, w->visited, lua_upvalueid(L, f, i));
  return true;
}

static void walk_function(lua_State *L, Walk *w, int f) {
  for (int i = 1; lua_getupvalue(L, f, i); i++) {
    if (new_upvalue(L, w, f, i)) {
      lua_pushinteger(L, i);
      lua_insert(L, -2);
      meet(L, w, f, lua_gettop(L) - 1);
    }
    lua_pop(L, 1);
  }
}

/* Walks through a table: skips a long array of numbers, and all but the first elements of another long array. */
static void walk_table(lua_State *L, Walk *w, int t) {
  lua_Integer length = (lua_Integer)lua_rawlen(L, t);
  bool numbers = lua_rawgeti(L, t, 1) == LUA_TNUMBER;
  lua_pop(L, 1);
  lua_Integer first = numbers && length > MAX_NUMBERS ? 0 : length < w->most.elements ? length : w->most.elements;
  for (lua_Integer i = 1; first < length && i <= first; i++) {
    lua_pushinteger(L, i);
    lua_rawgeti(L, t, i);
    meet(L, w, t, lua_gettop(L) - 1);
    lua_pop(L, 1);
  }
  if (first < length) lua_pushinteger(L, length);
  else lua_pushnil(L);
  for (lua_Integer i = 0; lua_next(L, t); i++) {
    if (i >= w->most.entries || w->looked >= w->most.places) return;
    meet(L, w, t, lua_gettop(L) - 1);
  }
}

/* Walks through a userdata. User values of far objects are skipped: a model leads to all its objects and their callbacks. */
static void walk_userdata(lua_State *L, Walk *w, int u) {
  if (w->level > NEAR) return;
  for (int i = 1; lua_getiuservalue(L, u, i) != LUA_TNONE; i++) {
    if (lua_iscfunction(L, -1)) lua_pop(L, 1);
    else meet(L, w, u, u);
  }
  lua_pop(L, 1);
}

static void walk_object(lua_State *L, Walk *w) {
  int object = lua_gettop(L), type = lua_type(L, object);
  if (type == LUA_TFUNCTION) walk_function(L, w, object);
  else if (type == LUA_TTABLE) walk_table(L, w, object);
  else walk_userdata(L, w, object);
  if (type != LUA_TFUNCTION && lua_getmetatable(L, object)) enqueue(L, w);
  lua_settop(L, object - 1);
}

/* Puts the table of the math library into the queue, whatever the limits are. */
static void enqueue_math(lua_State *L, Walk *w) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, "math") == LUA_TTABLE) enqueue(L, w);
  else lua_pop(L, 1);
  lua_pop(L, 1);
}

/* Marks package and package.loaded as met. */
static void pass_over_packages(lua_State *L, Walk *w) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  if (lua_getfield(L, -1, "package") != LUA_TNIL) {
    lua_pushboolean(L, 1);
    lua_rawset(L, w->visited);
  } else {
    lua_pop(L, 1);
  }
  lua_pushboolean(L, 1);
  lua_rawset(L, w->visited);
}

/* Walks through the roots and what they reach; the walk's tables are at the three indices from w->list on. Leaves the list. */
static void math_slots_walk(lua_State *L, Walk *w, int first, int last) {
  for (int i = 0; i < 3; i++) lua_newtable(L);
  pass_over_packages(L, w);
  for (int i = first; i <= last; i++) {
    if (lua_iscfunction(L, i)) { /* a closure of C may hold the script's function */
      walk_function(L, w, i);
      continue;
    }
    lua_pushvalue(L, i);
    meet(L, w, i, i);
  }
  if (!w->replace) enqueue_math(L, w);
  lua_Integer end = w->tail;
  for (; w->level < MAX_LEVELS && w->head < w->tail; w->level++, end = w->tail)
    while (w->head < end && w->looked < w->most.places) {
      lua_rawgeti(L, w->queue, ++w->head);
      walk_object(L, w);
    }
  lua_settop(L, w->list);
}

void nsl_swap_find(lua_State *L, int map, int inverse, int first, int last, bool far) {
  nsl_need_stack(L, 20);
  int top = lua_gettop(L);
  Walk w = {.map = map, .inverse = inverse, .list = top + 1, .visited = top + 2, .queue = top + 3};
  w.most = far ? far_bounds : near_bounds;
  math_slots_walk(L, &w, first, last);
}

void nsl_swap_find_objects(lua_State *L, int map, bool (*replace)(lua_State *L, int map, int value), int first, int last) {
  nsl_need_stack(L, 40);
  int top = lua_gettop(L);
  Walk w = {.map = map, .inverse = map, .list = top + 1, .visited = top + 2, .queue = top + 3, .most = far_bounds};
  w.replace = replace;
  math_slots_walk(L, &w, first, last);
}

void nsl_swap_select(lua_State *L, int list, bool (*wanted)(lua_State *L, int replacement)) {
  lua_Integer to = 0;
  int n = nsl_swap_count(L, list);
  lua_newtable(L);
  int selected = lua_gettop(L);
  for (int group = 0; group < n * GROUP; group += GROUP) {
    lua_rawgeti(L, list, group + REPLACEMENT);
    bool take = wanted(L, selected + 1);
    lua_pop(L, 1);
    for (int k = 1; take && k <= GROUP; k++) {
      lua_rawgeti(L, list, group + k);
      lua_rawseti(L, selected, ++to);
    }
  }
}

void nsl_swap_each(lua_State *L, int list, void (*visit)(lua_State *L, int replacement)) {
  int n = nsl_swap_count(L, list);
  for (int i = 0; i < n; i++) {
    lua_rawgeti(L, list, i * GROUP + REPLACEMENT);
    visit(L, lua_gettop(L));
    lua_pop(L, 1);
  }
}

int nsl_swap_count(lua_State *L, int list) {
  return (int)(lua_rawlen(L, list) / GROUP);
}

bool nsl_swap_same(lua_State *L, int a, int b) {
  lua_Integer n = (lua_Integer)lua_rawlen(L, a);
  bool same = n == (lua_Integer)lua_rawlen(L, b);
  for (lua_Integer i = 1; same && i <= n; i++) {
    lua_rawgeti(L, a, i);
    lua_rawgeti(L, b, i);
    same = lua_rawequal(L, -2, -1);
    lua_pop(L, 2);
  }
  return same;
}

void nsl_swap_pack(lua_State *L, int list) {
  int n = nsl_swap_count(L, list) * GROUP;
  lua_State *packed = lua_newthread(L);
  if (!lua_checkstack(packed, n + ROOM)) luaL_error(L, NSL_NO_STACK);
  for (int i = 1; i <= n; i++) {
    lua_rawgeti(L, list, i);
    lua_xmove(L, packed, 1);
  }
}

void nsl_swap_renew(lua_State *L, lua_State *packed, int map, bool (*replace)(lua_State *L, int map, int value)) {
  int top = lua_gettop(L), n = lua_gettop(packed);
  lua_newtable(L);
  for (int i = 1; i <= n; i++, lua_settop(L, top + 1)) {
    lua_pushvalue(packed, i);
    lua_xmove(packed, L, 1);
    if (i % GROUP == 0 && replace(L, map, top + 2)) lua_replace(L, top + 2);
    lua_rawseti(L, top + 1, i);
  }
  nsl_swap_pack(L, top + 1);
  lua_remove(L, top + 1);
}

/* If an upvalue holds entry `from` of its group, stores entry `to` there. */
static bool exchange_upvalue(lua_State *packed, int group, int from, int to) {
  int upvalue = (int)lua_tointeger(packed, group + KEY);
  lua_getupvalue(packed, group + HOLDER, upvalue);
  bool found = lua_rawequal(packed, -1, group + from);
  lua_pop(packed, 1);
  if (!found) return false;
  lua_pushvalue(packed, group + to);
  lua_setupvalue(packed, group + HOLDER, upvalue);
  return true;
}

/* The same for a field. */
static bool exchange_field(lua_State *packed, int group, int from, int to) {
  lua_pushvalue(packed, group + KEY);
  lua_rawget(packed, group + HOLDER);
  bool found = lua_rawequal(packed, -1, group + from);
  lua_pop(packed, 1);
  if (!found) return false;
  lua_pushvalue(packed, group + KEY);
  lua_pushvalue(packed, group + to);
  lua_rawset(packed, group + HOLDER);
  return true;
}

static bool math_slots_exchange(lua_State *packed, int index, int from, int to) {
  int group = index * GROUP;
  bool upvalue = lua_type(packed, group + HOLDER) == LUA_TFUNCTION;
  return upvalue ? exchange_upvalue(packed, group, from, to) : exchange_field(packed, group, from, to);
}

int nsl_swap_packed_count(lua_State *packed) {
  return lua_gettop(packed) / GROUP;
}

/* Stores the replacement at each place that still holds the original, and marks it in `done`. */
static void swap_in(lua_State *packed, unsigned char *done) {
  int n = nsl_swap_packed_count(packed);
  for (int i = 0; i < n; i++) done[i] = math_slots_exchange(packed, i, ORIGINAL, REPLACEMENT);
}

/* Restores the originals at the places marked in `done`, except where something else was stored meanwhile. */
static void swap_out(lua_State *packed, const unsigned char *done) {
  int n = nsl_swap_packed_count(packed);
  for (int i = 0; i < n; i++)
    if (done[i]) math_slots_exchange(packed, i, REPLACEMENT, ORIGINAL);
}

int nsl_swap_call(lua_State *L, lua_State *packed, int nargs, int nresults) {
  unsigned char few[FEW_PLACES], *done = few;
  int places = nsl_swap_packed_count(packed);
  if (places > FEW_PLACES) {
    done = lua_newuserdatauv(L, (size_t)places, 0);
    lua_insert(L, -nargs - 2);
  }
  swap_in(packed, done);
  int status = lua_pcall(L, nargs, nresults, 0);
  swap_out(packed, done);
  return status;
}
