/*
** classes.c
** For the specs alone: the tables of the model's classes, unchanged.
*/
#include "internal.h"
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
    nsl_internal_give(L, 0, "name$ type$ offset: least. most.", table[i].name, types[table[i].type], (int)table[i].offset,
                      table[i].least, table[i].most);
    lua_rawseti(L, -2, i + 1);
  }
}

/* The letter as a text; NULL for none. */
static const char *letter_text(char to[2], char letter) {
  to[0] = letter, to[1] = 0;
  return letter ? to : NULL;
}

static void push_slots(lua_State *L, const NsModelClass *class) {
  lua_newtable(L);
  for (int i = 0; i < class->nslots; i++) {
    const NsSlot *slot = &class->slots[i];
    char rows[2], cols[2], by[2];
    lua_newtable(L);
    nsl_internal_give(L, 0, "name$ brief$ args$ of$ rows$ cols$ by$", slot->name, slot->brief, slot->args, slot->of,
                      letter_text(rows, slot->rows), letter_text(cols, slot->cols), letter_text(by, slot->by));
    lua_rawseti(L, -2, i + 1);
  }
}

/* Adds {name, noun, fields, slots, arguments} to the list below. */
static void add_class(lua_State *L, const NsModelClass *class) {
  lua_newtable(L);
  nsl_internal_give(L, 0, "name$ noun$", class->name, class->noun);
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
          NULL};
  const char *integrators[NS_SCHEME_CLASSES + 1] = {NULL}, *simulations[NS_SIMULATION_CLASSES + 1] = {NULL};
  for (int i = 0; i < NS_SCHEME_CLASSES; i++) integrators[i] = ns_scheme_classes[i]->name;
  for (int i = 0; i < NS_SIMULATION_CLASSES; i++) simulations[i] = ns_simulation_classes[i].name;
  lua_newtable(L);
  nsl_set_texts(L, "integrators", integrators);
  nsl_set_texts(L, "problems", problems);
  nsl_set_texts(L, "simulations", simulations);
  return 1;
}

void nsl_internal_classes(lua_State *L) {
  static const luaL_Reg functions[] = {{"classes", classes}, {"names", names}, {NULL, NULL}};
  luaL_setfuncs(L, functions, 0);
}
