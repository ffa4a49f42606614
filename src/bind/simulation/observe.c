/*
** observe.c
** The function of run{observe = f}: its keys, in bytewise order, and its values.
*/
#include "base/text.h"
#include "bind/simulation/observe.h"

#include <stdarg.h>
#include <string.h>

#include "bind/model/ds.h"
#include "bind/array/vector.h"

/*
** User values: the function; the list of its keys, which also maps a key to its number of values (0: a plain number); the names
** of the columns; the memory of the values; another value to keep alive.
*/
enum { OBSERVE_FUNCTION = 1, OBSERVE_KEYS, OBSERVE_NAMES, OBSERVE_VALUES, OBSERVE_KEPT, OBSERVE_USERVALUES = OBSERVE_KEPT };

NslObserver *nsl_push_observer(lua_State *L, int simulation, int f, int keep) {
  NslObserver *self = lua_newuserdatauv(L, sizeof *self, OBSERVE_USERVALUES);
  int idx = lua_gettop(L);
  *self = (NslObserver){.L = L, .ts = nsl_check_simulation(L, simulation)->ts, .self = idx, .simulation = simulation};
  lua_pushvalue(L, f);
  lua_setiuservalue(L, idx, OBSERVE_FUNCTION);
  lua_pushvalue(L, keep);
  lua_setiuservalue(L, idx, OBSERVE_KEPT);
  return self;
}

void nsl_push_observed_names(lua_State *L, int observer) {
  lua_getiuservalue(L, observer, OBSERVE_NAMES);
}

/* Raises "run: observe: t=0.3 step 3: " and the message. */
static int raise_observed(lua_State *L, const NslObserver *self, const char *format, ...) {
  char place[64];
  va_list args;
  ns_print(place, sizeof place, "t=%.10g step %ld", ns_ts_time(self->ts), self->ts->k);
  va_start(args, format);
  const char *message = lua_pushvfstring(L, format, args);
  va_end(args);
  return luaL_error(L, "run: observe: %s: %s", place, message);
}

/* The number of values in the value on top, which belongs to a key; 0 for a plain number. */
static int size_of_value(lua_State *L, const NslObserver *self, const char *key) {
  int type = lua_type(L, -1);
  if (type == LUA_TNUMBER) return 0;
  if (type != LUA_TTABLE && type != LUA_TUSERDATA)
    raise_observed(L, self, "%s: expected a number or a vector, got %s", key, nsl_describe(L, -1));
  int top = lua_gettop(L), size = nsl_to_vector(L, top, -1, "run: observe", key)->n;
  lua_settop(L, top);
  return size;
}

/* Inserts the key on top, which is popped, into the list at idx, which is sorted bytewise. */
static void insert_key(lua_State *L, int idx) {
  const char *key = lua_tostring(L, -1);
  int at = (int)lua_rawlen(L, idx) + 1;
  for (; at > 1; at--) {
    lua_rawgeti(L, idx, at - 1);
    if (strcmp(lua_tostring(L, -1), key) < 0) {
      lua_pop(L, 1);
      break;
    }
    lua_rawseti(L, idx, at);
  }
  lua_rawseti(L, idx, at);
}

/* Raises when the key at idx is not a string, or is a name that a solution has already. */
static const char *check_observed_key(lua_State *L, const NslObserver *self, int idx) {
  if (lua_type(L, idx) != LUA_TSTRING)
    raise_observed(L, self, "expected a table of numbers by name, got the key %s", luaL_tolstring(L, idx, NULL));
  const char *key = lua_tostring(L, idx), *meaning = nsl_meaning_in_solution(key);
  if (strlen(key) != lua_rawlen(L, idx)) raise_observed(L, self, "'%s...' has a byte of 0 in it; choose another name", key);
  if (meaning) raise_observed(L, self, "'%s' is %s; choose another name", key, meaning);
  return key;
}

/*
** Adds the names of a key's columns to the list at idx: "force" or, for several values, "force[1]", ... Returns their number.
*/
static int name_columns(lua_State *L, int idx, const char *key, int size) {
  int columns = size > 0 ? size : 1;
  for (int i = 1; i <= columns; i++) {
    if (columns == 1) lua_pushstring(L, key);
    else lua_pushfstring(L, "%s[%d]", key, i);
    lua_rawseti(L, idx, (lua_Integer)lua_rawlen(L, idx) + 1);
  }
  return columns;
}

/* Stores the keys of the table at 3 and the sizes of their values. */
static void learn_keys(lua_State *L, NslObserver *self) {
  lua_newtable(L); /* 4: the keys */
  lua_newtable(L); /* 5: the names */
  for (lua_pushnil(L); lua_next(L, 3); lua_settop(L, 6)) {
    int size = size_of_value(L, self, check_observed_key(L, self, 6));
    lua_pushvalue(L, 6);
    lua_pushinteger(L, size);
    lua_rawset(L, 4);
    lua_pushvalue(L, 6);
    insert_key(L, 4);
  }
  int keys = (int)lua_rawlen(L, 4);
  self->count = 0;
  for (int i = 1; i <= keys; i++, lua_settop(L, 5)) {
    lua_rawgeti(L, 4, i);
    lua_pushvalue(L, 6);
    lua_rawget(L, 4);
    self->count += name_columns(L, 5, lua_tostring(L, 6), (int)lua_tointeger(L, 7));
  }
  lua_setiuservalue(L, 1, OBSERVE_NAMES);
  lua_setiuservalue(L, 1, OBSERVE_KEYS);
  self->values = lua_newuserdatauv(L, (size_t)self->count * sizeof(double) + 1, 0);
  lua_setiuservalue(L, 1, OBSERVE_VALUES);
  self->known = true;
}

/* Raises when the table at 3 has a key that is not among those at 4. */
static void check_no_more_keys(lua_State *L, const NslObserver *self) {
  for (lua_pushnil(L); lua_next(L, 3); lua_settop(L, 5)) {
    const char *key = check_observed_key(L, self, 5);
    lua_pushvalue(L, 5);
    if (lua_rawget(L, 4) != LUA_TNIL) continue;
    raise_observed(L, self, "it gives '%s', which it did not give in the first row", key);
  }
  lua_settop(L, 4);
}

/* Copies the value on top to `to`; raises unless it has the size of the key's first value. Returns the number of columns. */
static int read_value(lua_State *L, const NslObserver *self, const char *key, int size, double *to) {
  if (lua_isnil(L, -1)) raise_observed(L, self, "it does not give '%s', which it gave in the first row", key);
  if (size_of_value(L, self, key) != size) {
    if (size == 0) raise_observed(L, self, "%s: expected a number as in the first row, got %s", key, nsl_describe(L, 7));
    raise_observed(L, self, "%s: expected %d numbers as in the first row, got %s", key, size, nsl_describe(L, 7));
  }
  if (size == 0) return *to = lua_tonumber(L, 7), 1;
  const NslVector *v = nsl_to_vector(L, 7, size, "run: observe", key);
  for (int i = 0; i < size; i++) to[i] = v->data[i * v->stride];
  return size;
}

/* Reads the values of the table at 3. */
static void read_values(lua_State *L, const NslObserver *self) {
  lua_settop(L, 3);
  lua_getiuservalue(L, 1, OBSERVE_KEYS);
  check_no_more_keys(L, self);
  double *to = self->values;
  int keys = (int)lua_rawlen(L, 4);
  for (int i = 1; i <= keys; i++, lua_settop(L, 4)) {
    lua_rawgeti(L, 4, i);
    lua_pushvalue(L, 5);
    lua_rawget(L, 4);
    lua_pushvalue(L, 5);
    lua_rawget(L, 3);
    to += read_value(L, self, lua_tostring(L, 5), (int)lua_tointeger(L, 6), to);
  }
}

/* Runs inside lua_pcall. Arguments: the observer, the simulation. */
static int call_observer(lua_State *L) {
  NslObserver *self = lua_touserdata(L, 1);
  long k = self->ts->k;
  lua_getiuservalue(L, 1, OBSERVE_FUNCTION);
  lua_pushvalue(L, 2);
  lua_call(L, 1, 1);
  if (self->ts->k != k || self->ts->computed) raise_observed(L, self, "it must not step, run or reset the simulation");
  if (!lua_istable(L, 3)) raise_observed(L, self, "expected a table of numbers by name, got %s", nsl_describe(L, 3));
  if (!self->known) learn_keys(L, self);
  read_values(L, self);
  return 0;
}

NsStatus nsl_observe(void *context, NsError *err) {
  NslObserver *self = context;
  lua_State *L = self->L;
  int top = lua_gettop(L);
  if (self->ahead) {
    self->ahead = false;
    return NS_OK;
  }
  if (!lua_checkstack(L, 8)) {
    nsl_push_no_stack(L);
  } else {
    NsNsds *nsds = self->ts->nsds;
    bool before = nsds->observed;
    lua_pushcfunction(L, call_observer);
    lua_pushvalue(L, self->self);
    lua_pushvalue(L, self->simulation);
    nsds->observed = true;
    int outcome = lua_pcall(L, 2, 0, 0);
    nsds->observed = before;
    if (outcome == LUA_OK) return NS_OK;
  }
  nsl_keep_error(L);
  lua_settop(L, top);
  return ns_fail(err, NS_ECALLBACK, "observe failed");
}
