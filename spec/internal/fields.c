/*
** fields.c
** For the specs alone: an object with a field of every type.
*/
#include <math.h>

#include "bind/array/field.h"
#include "internal.h"

typedef struct Things {
  double rate, speed, level, limit;
  int count, size, rows, mode;
  bool flag;
  double *weights, *bounds, *table;
  NsArena arena;
} Things;

typedef struct Probe {
  NslHead head;
  Things of;
} Probe;

static const char *const modes[] = {"slow", "quick", NULL};

enum { GIVEN = NS_FIELD_SETTER | NS_FIELD_SHOWN };

static const NsField fields[] = {
    NS_FIELD_A_COUNT("size", Things, size, 1, 8, 0),
    NS_FIELD_A_COUNT("rows", Things, rows, 0, 8, NS_FIELD_HIDDEN),
    NS_FIELD_A_NUMBER("rate", Things, rate, 0, INFINITY, GIVEN | NS_FIELD_STATE),
    NS_FIELD_A_NUMBER("speed", Things, speed, -INFINITY, 1, GIVEN | NS_FIELD_CONSTANT),
    NS_FIELD_A_NUMBER("velocity", Things, speed, -INFINITY, 1, NS_FIELD_ALIAS),
    NS_FIELD_A_NUMBER("level", Things, level, 0, 0, NS_FIELD_SETTER | NS_FIELD_STATE),
    NS_FIELD_A_COUNT("count", Things, count, 1, 2, GIVEN | NS_FIELD_STATE),
    NS_FIELD_A_FLAG("flag", Things, flag, GIVEN | NS_FIELD_STATE),
    NS_FIELD_A_NUMBER("limit", Things, limit, 0, INFINITY, NS_FIELD_SETTER | NS_FIELD_OPTIONAL | NS_FIELD_ABOVE),
    NS_FIELD_A_WORD("mode", Things, mode, modes, NS_FIELD_SETTER),
    NS_FIELD_A_VECTOR("weights", Things, weights, size, NS_FIELD_SETTER | NS_FIELD_CONSTANT),
    NS_FIELD_A_VECTOR("bounds", Things, bounds, size, NS_FIELD_LIVE | NS_FIELD_INFINITE | GIVEN | NS_FIELD_STATE),
    NS_FIELD_A_MATRIX("table", Things, table, rows, size, NS_FIELD_SHOWN | NS_FIELD_CONSTANT | NS_FIELD_SETTER),
    NS_FIELD_END};

static const NslType probe_type = {.name = "internal.Probe"};

static NslHead *check_probe(lua_State *L, int idx) {
  return nsl_check(L, idx, &probe_type);
}

static void *things_of(NslHead *head) {
  return &((Probe *)head)->of;
}

/* Refuses a weight of 13. */
static NsStatus verify_things(const void *object, NsError *err) {
  const Things *of = object;
  for (int i = 0; of->weights && i < of->size; i++)
    if (of->weights[i] == 13) return ns_fail(err, NS_EARG, "weights[%d] is 13", i + 1);
  return NS_OK;
}

/* Called when a field is set: a given speed makes the level not given. */
static void told_of(void *object, const NsField *field) {
  Things *of = object;
  if (field->offset == offsetof(Things, speed)) of->level = 7;
}

static const NslFieldOwner probe_owner = {&probe_type, check_probe, things_of, verify_things, "weight", told_of};

/* probe(size, rate [, speed [, flag [, weights [, bounds [, table]]]]]) */
static int new_probe(lua_State *L) {
  static const char *const names[] = {"size", "rate", "speed?", "flag?", "weights?", "bounds?", "table?", NULL};
  Probe *self = nsl_new(L, &probe_type, sizeof *self, 0);
  lua_insert(L, 1);
  nsl_read_fields(L, 2, names, fields, &self->of, &self->of.arena, "probe");
  return lua_settop(L, 1), 1;
}

/* spread([size,] rate): arguments whose first may be left out. */
static int new_spread(lua_State *L) {
  static const char *const names[] = {"size?", "rate", NULL};
  Probe *self = nsl_new(L, &probe_type, sizeof *self, 0);
  lua_insert(L, 1);
  nsl_read_fields(L, 2, names, fields, &self->of, &self->of.arena, "spread");
  return lua_settop(L, 1), 1;
}

static int probe_gc(lua_State *L) {
  Probe *self = lua_touserdata(L, 1);
  ns_arena_release(&self->of.arena);
  return 0;
}

static int probe_close(lua_State *L) {
  check_probe(L, 1)->closed = true;
  return 0;
}

static int probe_tostring(lua_State *L) {
  const Probe *self = lua_touserdata(L, 1);
  lua_pushliteral(L, "probe");
  nsl_push_field_words(L, fields, &self->of, NULL);
  lua_concat(L, 2);
  return 1;
}

/* probe:words(text): the text with values. */
static int probe_words(lua_State *L) {
  nsl_push_field_words(L, fields, things_of(check_probe(L, 1)), luaL_checkstring(L, 2));
  return 1;
}

static int probe_display(lua_State *L) {
  return nsl_display_fields(L, &probe_owner, fields);
}

static int probe_copy(lua_State *L) {
  Things *from = things_of(check_probe(L, 1));
  Probe *self = nsl_new(L, &probe_type, sizeof *self, 0);
  if (!ns_fields_copy(fields, from, &self->of, &self->of.arena)) return luaL_error(L, "not enough memory");
  return 1;
}

/* Adds name and bytes to the table on top. */
static void note_piece(void *context, const char *name, void *data, size_t bytes) {
  lua_State *L = context;
  (void)data;
  nsl_set_integer(L, name, bytes);
}

/* probe:walk("state" or "constant"): the bytes of each piece, by name. */
static int probe_walk(lua_State *L) {
  static const char *const words[] = {"state", "constant", NULL};
  unsigned flag = luaL_checkoption(L, 2, NULL, words) == 0 ? NS_FIELD_STATE : NS_FIELD_CONSTANT;
  lua_newtable(L);
  ns_fields_walk(fields, things_of(check_probe(L, 1)), flag, note_piece, L);
  return 1;
}

void nsl_internal_fields(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", probe_gc}, {"__tostring", probe_tostring}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"copy", probe_copy},       {"walk", probe_walk},   {"words", probe_words},
                                     {"display", probe_display}, {"close", probe_close}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"probe", new_probe}, {"spread", new_spread}, {NULL, NULL}};
  nsl_register_type(L, &probe_type, meta, methods);
  nsl_add_field_methods(L, &probe_owner, fields);
  luaL_setfuncs(L, functions, 0);
}
