/*
** law.c
** The nonsmooth laws: constructors and methods out of the tables of their classes.
*/
#include "bind/lua/open.h"
#include "bind/array/field.h"
#include "bind/model/law_time.h"
#include "solvers/box/polyhedron.h"

/* One for each class, in the order of ns_law_classes. */
static const NslType types[NS_LAW_CLASSES] = {
#define X(name) {ns_law_##name##_text, NULL, NULL},
    NS_LAW_LIST(X)
#undef X
};

bool nsl_is_law(const NslType *type) {
  return type >= types && type < types + NS_LAW_CLASSES;
}

NslLaw *nsl_check_law(lua_State *L, int idx) {
  return nsl_check_family(L, idx, types, NS_LAW_CLASSES, "nonsmooth law", "law");
}

void nsl_push_law_groups(lua_State *L, const NsLaw *law) {
  lua_newtable(L);
  for (int row = 0, k = 1; row < law->size; k++) {
    NsLawGroup group = ns_law_group(law, row, false);
    lua_createtable(L, 0, 5);
    nsl_set_integer(L, "dim", group.dim);
    nsl_set_number(L, "lower", group.lower);
    nsl_set_number(L, "upper", group.upper);
    nsl_set_number(L, "mu", group.mu[0]);
    if (group.discs > 1) nsl_set_number(L, "mu_r", group.mu[1]);
    if (group.discs > 2) nsl_set_number(L, "mu_spin", group.mu[2]);
    if (ns_law_slides(law)) nsl_set_boolean(L, "slides", true);
    lua_rawseti(L, -2, k);
    row += group.dim;
  }
}

static NslHead *check_law_head(lua_State *L, int idx) {
  return &nsl_check_law(L, idx)->head;
}

static void *law_of_head(NslHead *head) {
  return ((NslLaw *)head)->law;
}

static NsStatus verify_law(const void *law, NsError *err) {
  return ns_law_check(law, err);
}

static const NslFieldOwner owners[NS_LAW_CLASSES] = {
#define X(name) {&types[NS_LAW_AT_##name], check_law_head, law_of_head, verify_law, "bound", NULL},
    NS_LAW_LIST(X)
#undef X
};

/* Finds a point inside a law's polyhedron, where solvers start. */
static void find_inside(lua_State *L, NsLaw *law) {
  const char *who = ns_law_name(law);
  law->inside = ns_arena_doubles(&law->arena, law->size);
  if (!law->inside) luaL_error(L, "not enough memory");
  NsStatus status = ns_polyhedron_nearest(law->size, law->rows, law->H, law->K, law->inside);
  if (status == NS_ENOSOL || status == NS_ERAY) luaL_error(L, "%s: no lambda has H lambda >= K: the set is empty", who);
  if (status == NS_ENOMEM) nsl_raise_status(L, status, who);
  if (status != NS_OK) luaL_error(L, "%s: no lambda with H lambda >= K was found (%s)", who, ns_status_message(status));
}

/* The constructor of the class in the upvalue. */
static int new_law(lua_State *L) {
  const NslType *type = lua_touserdata(L, lua_upvalueindex(1));
  const NsLawClass *class = ns_law_classes[type - types];
  NslLaw *self = nsl_new(L, type, sizeof *self, NSL_LAW_USERVALUES);
  NsError err = {NS_OK, ""};
  if (ns_law_new(&self->law, class) != NS_OK) luaL_error(L, "not enough memory");
  lua_insert(L, 1);
  nsl_take_bound_functions(L, 2);
  nsl_read_fields(L, 2, class->arguments, class->fields, self->law, &self->law->arena, class->name);
  if (ns_law_complete(self->law, &err) != NS_OK) nsl_raise(L, &err);
  if (self->law->H) find_inside(L, self->law);
  nsl_bind_bound_functions(L, 1, 1);
  lua_settop(L, 1);
  return 1;
}

void nsl_clone_law(lua_State *L, int idx) {
  const NslLaw *from = nsl_check_law(L, idx);
  idx = lua_absindex(L, idx);
  NslLaw *self = nsl_new(L, from->head.type, sizeof *self, NSL_LAW_USERVALUES);
  if (ns_law_clone(&self->law, from->law) != NS_OK) luaL_error(L, "not enough memory");
  nsl_bind_bound_functions(L, idx, -1);
}

static int law_close(lua_State *L) {
  NslLaw *self = nsl_check_law(L, 1);
  self->head.closed = self->law->closed = true;
  return 0;
}

static int law_gc(lua_State *L) {
  NslLaw *self = lua_touserdata(L, 1);
  self->head.closed = true;
  ns_law_free(self->law);
  self->law = NULL;
  return 0;
}

static int law_tostring(lua_State *L) {
  const NslLaw *self = lua_touserdata(L, 1);
  const NsLaw *law = self->law;
  if (nsl_is_closed(&self->head)) return lua_pushfstring(L, "%s (closed)", self->head.type->name), 1;
  lua_pushfstring(L, "%s of size %d", self->head.type->name, law->size);
  nsl_push_field_words(L, law->class->fields, law, law->class->words ? law->class->words(law) : NULL);
  lua_concat(L, 2);
  return 1;
}

static int law_display(lua_State *L) {
  const NslLaw *self = nsl_check_law(L, 1);
  return nsl_display_fields(L, &owners[self->head.type - types], self->law->class->fields);
}

/*
** Getters and setters of what may be a function of time, as lb(): views of what functions give are read-only, and numbers
** do not replace functions. Upvalues: the method for numbers, the field, whether the method sets it.
*/
static int law_bound(lua_State *L) {
  const NslLaw *self = nsl_check_law(L, 1);
  const NsField *field = lua_touserdata(L, lua_upvalueindex(2));
  bool varies = ns_law_field_varies(self->law, field), sets = lua_toboolean(L, lua_upvalueindex(3));
  const char *who = self->head.type->name;
  const char *of = ns_law_slides(self->law) ? "the slip" : "time";
  if (sets && varies) luaL_error(L, "%s: %s is a function of %s, and stays one", who, field->name, of);
  if (sets && nsl_is_bound_function(L, 2))
    luaL_error(L, "%s: %s: functions of %s are given when the law is made", who, field->name, of);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, sets ? 0 : 1);
  if (!sets && varies && ns_field_is_array(field)) ((NslVector *)lua_touserdata(L, -1))->readonly = true;
  return sets ? 0 : 1;
}

/* Puts law_bound before a method of the table on top. */
static void guard_bound(lua_State *L, const char *method, const NsField *field, bool sets) {
  lua_getfield(L, -1, method);
  lua_pushlightuserdata(L, (void *)(size_t)field);
  lua_pushboolean(L, sets);
  lua_pushcclosure(L, law_bound, 3);
  lua_setfield(L, -2, method);
}

/* What may be a function of time in a class. */
static void guard_bounds(lua_State *L, const NsLawClass *class) {
  luaL_getmetatable(L, class->name);
  lua_getfield(L, -1, "__index");
  const NsField *field;
  for (int k = 0; (field = ns_law_timed_field(class, k)); k++) {
    const char *setter = nsl_push_setter_name(L, field->name);
    lua_insert(L, -2);
    guard_bound(L, field->name, field, false);
    guard_bound(L, setter, field, true);
    lua_remove(L, -2);
  }
  lua_pop(L, 2);
}

/* Registers the class, and its constructor in the module at the top. */
static void open_class(lua_State *L, int i) {
  static const luaL_Reg meta[] = {{"__gc", law_gc}, {"__close", law_close}, {"__tostring", law_tostring}, {NULL, NULL}};
  static const luaL_Reg methods[] = {{"display", law_display}, {"close", law_close}, {NULL, NULL}};
  const NsLawClass *class = ns_law_classes[i];
  nsl_register_type(L, &types[i], meta, methods);
  nsl_add_field_methods(L, &owners[i], class->fields);
  guard_bounds(L, class);
  lua_pushlightuserdata(L, (void *)(size_t)&types[i]);
  lua_pushcclosure(L, new_law, 1);
  lua_setfield(L, -2, class->name);
}

void nsl_open_law(lua_State *L) {
  for (int i = 0; i < NS_LAW_CLASSES; i++) open_class(L, i);
}
