/*
** osi.c
** The integrators: constructors and methods out of the tables of their classes.
*/
#include <string.h>

#include "bind/lua/open.h"
#include "bind/array/field.h"
#include "bind/lua/options.h"
#include "bind/simulation/simulation.h"

/* One for each class, in the order of ns_scheme_classes. */
static const NslType types[NS_SCHEME_CLASSES] = {
#define X(name) {ns_scheme_##name##_text, NULL, NULL},
    NS_SCHEME_LIST(X)
#undef X
};

NslOsi *nsl_check_osi(lua_State *L, int idx) {
  return nsl_check_family(L, idx, types, NS_SCHEME_CLASSES, "integrator", "osi");
}

static NslHead *check_osi_head(lua_State *L, int idx) {
  return &nsl_check_osi(L, idx)->head;
}

static void *integrator_of_head(NslHead *head) {
  return ((NslOsi *)head)->integrator;
}

static void given_of_integrator(void *object, const NsField *field) {
  const NsSchemeClass *class = ((NsIntegrator *)object)->class;
  if (class->given) class->given(object, field);
}

/* Whether the options fit each other. */
static NsStatus verify_integrator(const void *object, NsError *err) {
  const NsIntegrator *integrator = object;
  return integrator->class->check ? integrator->class->check(integrator, err) : NS_OK;
}

static const NslFieldOwner owners[NS_SCHEME_CLASSES] = {
#define X(name) {&types[NS_SCHEME_AT_##name], check_osi_head, integrator_of_head, verify_integrator, NULL, given_of_integrator},
    NS_SCHEME_LIST(X)
#undef X
};

/*
** Reads the values from idx to the top into the fields in `names`, in order. A value whose name ends with '?' is optional: nil
** or missing leaves the field as it is.
*/
static void osi_read(lua_State *L, int idx, const char *const *names, NsIntegrator *integrator, const char *who) {
  int count = 0;
  while (names[count]) count++;
  int given = lua_gettop(L) - idx + 1;
  if (given > count) luaL_error(L, "%s: expected at most %d argument%s, got %d", who, count, count == 1 ? "" : "s", given);
  for (; *names; names++, idx++) {
    const NsField *field = ns_field_find(integrator->class->fields, *names);
    if (lua_isnoneornil(L, idx) && strchr(*names, '?')) continue;
    nsl_read_field(L, idx, field, integrator, NULL, who, field->name);
    given_of_integrator(integrator, field);
  }
}

enum { MOST_ARGUMENTS = 15 }; /* of a constructor */

/* Replaces an option table at 2 by its values, in the order of the arguments. */
static void spread_options(lua_State *L, const NsSchemeClass *class) {
  const char *known[MOST_ARGUMENTS + 1] = {NULL};
  int count = 0;
  for (; count < MOST_ARGUMENTS && class->arguments[count]; count++)
    known[count] = ns_field_find(class->fields, class->arguments[count])->name;
  nsl_check_options(L, 2, class->name, known);
  luaL_checkstack(L, count, NULL);
  for (int i = 0; i < count; i++) lua_getfield(L, 2, known[i]);
  lua_remove(L, 2);
}

static NslOsi *push_osi(lua_State *L, const NslType *type, const NsIntegrator *options) {
  const NsSchemeClass *class = ns_scheme_classes[type - types];
  NslOsi *self = nsl_new(L, type, sizeof *self + class->bytes, 0);
  self->integrator = (NsIntegrator *)(self + 1);
  memcpy(self->integrator, options, class->bytes);
  self->integrator->class = class;
  return self;
}

static int new_osi(lua_State *L) {
  const NslType *type = lua_touserdata(L, lua_upvalueindex(1));
  const NsSchemeClass *class = ns_scheme_classes[type - types];
  NslOsi *self = push_osi(L, type, class->defaults);
  NsError err = {NS_OK, ""};
  lua_insert(L, 1);
  if (lua_gettop(L) == 2 && nsl_is_options(L, 2)) spread_options(L, class);
  osi_read(L, 2, class->arguments, self->integrator, class->name);
  if (verify_integrator(self->integrator, &err) != NS_OK) luaL_error(L, "%s", err.text);
  lua_settop(L, 1);
  return 1;
}

void nsl_clone_osi(lua_State *L, int idx) {
  const NslOsi *from = nsl_check_osi(L, idx);
  push_osi(L, from->head.type, from->integrator);
}

/* ---- options that go together; the upvalue is the type ---- */

static NslOsi *check_group(lua_State *L) {
  const NslType *type = lua_touserdata(L, lua_upvalueindex(1));
  NslOsi *self = nsl_check_osi(L, 1);
  if (self->head.type != type) nsl_wrong_type(L, 1, type->name, type->name);
  return self;
}

static int osi_group(lua_State *L) {
  const NsIntegrator *integrator = check_group(L)->integrator;
  const char *const *names = integrator->class->group->fields;
  int count = 0;
  for (; names[count]; count++) nsl_push_field(L, ns_field_find(integrator->class->fields, names[count]), integrator);
  return count;
}

static int osi_set_group(lua_State *L) {
  NsIntegrator *integrator = check_group(L)->integrator;
  osi_read(L, 2, integrator->class->group->fields, integrator, lua_tostring(L, lua_upvalueindex(2)));
  return 0;
}

/* ---- what all have ---- */

static int osi_close(lua_State *L) {
  nsl_check_osi(L, 1)->head.closed = true;
  return 0;
}

static int osi_tostring(lua_State *L) {
  const NslOsi *self = lua_touserdata(L, 1);
  const char *name = self->head.type->name;
  if (self->head.closed) return lua_pushfstring(L, "%s (closed)", name), 1;
  const NsSchemeClass *class = self->integrator->class;
  lua_pushstring(L, name);
  nsl_push_field_words(L, class->fields, self->integrator, class->words ? class->words(self->integrator) : NULL);
  lua_concat(L, 2);
  return 1;
}

static int osi_display(lua_State *L) {
  nsl_check_osi(L, 1);
  return nsl_display_object(L, NULL);
}

/* ---- the classes ---- */

/* Adds the two methods (getter and setter) of a group of options. */
static void add_group(lua_State *L, const NslType *type, const NsFieldGroup *group) {
  luaL_getmetatable(L, type->name);
  lua_getfield(L, -1, "__index");
  lua_pushlightuserdata(L, (void *)(size_t)type);
  lua_pushcclosure(L, osi_group, 1);
  lua_setfield(L, -2, group->name);
  const char *setter = nsl_push_setter_name(L, group->name);
  lua_pushlightuserdata(L, (void *)(size_t)type);
  lua_pushvalue(L, -2);
  lua_pushcclosure(L, osi_set_group, 2);
  lua_setfield(L, -3, setter);
  lua_pop(L, 3);
}

/* Registers a class, and its constructor under all of its names in the module on top of the stack. */
static void open_scheme(lua_State *L, int i) {
  static const luaL_Reg meta[] = {{"__close", osi_close}, {"__tostring", osi_tostring}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"display", osi_display}, {"close", osi_close}, {NULL, NULL}};
  const NsSchemeClass *class = ns_scheme_classes[i];
  nsl_register_type(L, &types[i], meta, methods);
  nsl_add_field_methods(L, &owners[i], class->fields);
  if (class->group) add_group(L, &types[i], class->group);
  lua_pushlightuserdata(L, (void *)(size_t)&types[i]);
  lua_pushcclosure(L, new_osi, 1);
  for (const char *const *alias = class->aliases; alias && *alias; alias++) {
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, *alias);
  }
  lua_setfield(L, -2, class->name);
}

void nsl_open_osi(lua_State *L) {
  for (int i = 0; i < NS_SCHEME_CLASSES; i++) open_scheme(L, i);
}
