/*
** classes.c
** For the specs alone: the tables of the model's classes, unchanged.
*/
#include "bind/internal/internal.h"
#include "model/boundary.h"
#include "simulation/time_stepping.h"

void nsl_internal_push_bits(lua_State *L, unsigned bits, const char *const *names) {
  lua_newtable(L);
  for (int i = 0; names[i]; i++)
    if (bits & 1u << i) nsl_set_boolean(L, names[i], true);
  nsl_set_integer(L, "bits", bits);
}

void nsl_internal_push_fields(lua_State *L, const NsField *table) {
  static const char *const types[] = {"number", "count", "flag",    "word",   "vector", "matrix",  "long",
                                      "point",  "text",  "indices", "method", "coef",   "callback"};
  static const char *const flags[] = {"live",     "setter",   "state", "constant", "shown", "alias",   "hidden",
                                      "infinite", "optional", "above", "run",      "late",  "counted", NULL};
  lua_newtable(L);
  for (int i = 0; table[i].name; i++) {
    nsl_internal_push_bits(L, table[i].flags, flags);
    nsl_set_string(L, "name", table[i].name);
    nsl_set_string(L, "type", types[table[i].type]);
    nsl_set_integer(L, "offset", table[i].offset);
    nsl_set_number(L, "least", table[i].least);
    nsl_set_number(L, "most", table[i].most);
    lua_rawseti(L, -2, i + 1);
  }
}

/* The letter as a string; nil for none. */
static void push_letter(lua_State *L, char letter) {
  if (letter) lua_pushlstring(L, &letter, 1);
  else lua_pushnil(L);
}

static void push_slots(lua_State *L, const NsModelClass *class) {
  lua_newtable(L);
  for (int i = 0; i < class->nslots; i++) {
    const NsSlot *slot = &class->slots[i];
    lua_newtable(L);
    nsl_set_string(L, "name", slot->name);
    nsl_set_string(L, "brief", slot->brief);
    nsl_set_string(L, "args", slot->args);
    push_letter(L, slot->rows), lua_setfield(L, -2, "rows");
    push_letter(L, slot->cols), lua_setfield(L, -2, "cols");
    nsl_set_string(L, "of", slot->of);
    push_letter(L, slot->by), lua_setfield(L, -2, "by");
    lua_rawseti(L, -2, i + 1);
  }
}

/* Adds {name, noun, fields, slots, arguments} to the list below. */
static void add_class(lua_State *L, const NsModelClass *class) {
  lua_newtable(L);
  nsl_set_string(L, "name", class->name);
  nsl_set_string(L, "noun", class->noun);
  nsl_internal_push_fields(L, class->fields), lua_setfield(L, -2, "fields");
  push_slots(L, class), lua_setfield(L, -2, "slots");
  nsl_set_texts(L, "arguments", class->arguments);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
}

/* classes(): the classes of systems, relations and boundary conditions, in the order of their lists. */
static int classes(lua_State *L) {
  lua_newtable(L);
  for (int i = 0; i < NS_DS_CLASSES; i++) add_class(L, &ns_ds_classes[i]->model);
  for (int i = 0; i < NS_RELATION_CLASSES; i++) add_class(L, &ns_relation_classes[i]->model);
  for (int i = 0; i < NS_BOUNDARY_CLASSES; i++) add_class(L, ns_boundary_classes[i]);
  return 1;
}

/* names(): the names of the integrators, one-step problems and simulations. */
static int names(lua_State *L) {
  static const char *const problems[] = {
#define X(code, name, handles) name,
      NS_OSNSP_LIST(X)
#undef X
  };
  lua_newtable(L);
  lua_newtable(L);
  for (int i = 0; i < NS_SCHEME_CLASSES; i++) lua_pushstring(L, ns_scheme_classes[i]->name), lua_rawseti(L, -2, i + 1);
  lua_setfield(L, -2, "integrators");
  lua_newtable(L);
  for (int i = 0; i < NS_OSNSP_KINDS; i++) lua_pushstring(L, problems[i]), lua_rawseti(L, -2, i + 1);
  lua_setfield(L, -2, "problems");
  lua_newtable(L);
  for (int i = 0; i < NS_SIMULATION_CLASSES; i++) lua_pushstring(L, ns_simulation_classes[i].name), lua_rawseti(L, -2, i + 1);
  lua_setfield(L, -2, "simulations");
  return 1;
}

void nsl_internal_classes(lua_State *L) {
  static const luaL_Reg functions[] = {{"classes", classes}, {"names", names}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
