/*
** coefficient.c
** Makes methods, options and clones from the tables of classes with callbacks.
*/
#include "bind/model/coefficient.h"

#include <ctype.h>
#include <string.h>

#include "bind/call/function.h"

static void *coefficient_object(NslCallee *callee) {
  return callee->family->object(callee);
}

static const NsField *field_of(const NslCallee *callee, const char *name, NsFieldType type) {
  const NsField *field = ns_field_find(callee->kind->fields, name);
  return field && field->type == type ? field : NULL;
}

NsCoef *nsl_coefficient(NslCallee *callee, const char *name) {
  const NsField *field = field_of(callee, name, NS_FIELD_COEF);
  return field ? ns_field_place(field, coefficient_object(callee)) : NULL;
}

/* ---- callbacks ---- */

/* The slot of the Jacobian of a callback; NSL_IMPLICIT: no callback gives it; -1: there is none. */
static int jacobian_slot(const NsModelClass *kind, const char *of, char by) {
  for (int i = 0; i < kind->nslots; i++) {
    const NsSlot *slot = &kind->slots[i];
    if (slot->of && strcmp(slot->of, of) == 0 && slot->by == by) return strcmp(slot->brief, of) == 0 ? NSL_IMPLICIT : i;
  }
  return -1;
}

/* NsFunction number `which` of the callee, for the slot with this brief name. */
static NsFunction function_of(NslCallee *callee, int which, const char *brief) {
  int slot = nsl_slot(callee, brief);
  if (slot < 0) return (NsFunction){0};
  return nsl_function(callee, which, slot, jacobian_slot(callee->kind, brief, 'x'), jacobian_slot(callee->kind, brief, 'l'));
}

/* Binds a coefficient that is a function of time; does nothing before the sizes are known. */
static NsStatus bind_coefficient(NslCallee *callee, const char *name, NsCoef *coef) {
  int slot = nsl_slot(callee, name);
  if (slot < 0 || !callee->sized || strcmp(callee->kind->slots[slot].args, "z") != 0) return NS_OK;
  const NsSlot *s = &callee->kind->slots[slot];
  NsFunction function = nsl_coefficient_function(callee, slot);
  if (function.value)
    return ns_coef_set_function(coef, nsl_dimension(callee, s->rows), nsl_dimension(callee, s->cols), function);
  if (ns_coef_varies(coef)) ns_coef_clear(coef);
  return NS_OK;
}

NsStatus nsl_bind_fields(NslCallee *callee) {
  void *object = coefficient_object(callee);
  NsStatus status = NS_OK;
  int which = 0;
  if (!object) return NS_OK;
  for (const NsField *field = callee->kind->fields; field->name && status == NS_OK; field++) {
    void *place = ns_field_place(field, object);
    if (field->type == NS_FIELD_CALLBACK) *(NsFunction *)place = function_of(callee, which++, field->name);
    if (field->type == NS_FIELD_COEF) status = bind_coefficient(callee, field->name, place);
  }
  return status;
}

void nsl_take_callback_away(lua_State *L, int idx, int slot) {
  const NslCallee *callee = lua_touserdata(L, idx);
  if (slot < 0 || callee->callbacks[slot].backing == NSL_ABSENT) return;
  idx = lua_absindex(L, idx);
  lua_pushnil(L);
  nsl_set_function(L, idx, slot, -1);
  lua_pop(L, 1);
}

/* Removes the constant that a callback of this name replaces. */
static void drop_constant(NslCallee *callee, const char *name) {
  NsCoef *coef = nsl_coefficient(callee, name);
  if (coef && !ns_coef_varies(coef)) ns_coef_clear(coef);
}

void nsl_set_coefficient(lua_State *L, int idx, const char *name, int value, bool shared) {
  NslCallee *callee = lua_touserdata(L, idx);
  const NsField *field = field_of(callee, name, NS_FIELD_COEF);
  const char *type = callee->head.type->name;
  if (!field || !(field->flags & NS_FIELD_SETTER)) luaL_error(L, "%s: it has no %s", type, name);
  const void *object = coefficient_object(callee);
  int slot = nsl_slot(callee, name), rows = ns_field_rows(field, object), cols = ns_field_cols(field, object);
  if (slot >= 0 && nsl_may_be_callback(L, value)) {
    nsl_set_function(L, idx, slot, value);
    drop_constant(callee, name);
    return;
  }
  if (field->cols && cols == 0) luaL_error(L, "%s: %s: there are no parameters z for it", type, name);
  nsl_set_coef(L, idx, ns_field_place(field, object), value, rows, cols, name, shared);
  nsl_take_callback_away(L, idx, slot);
}

void nsl_share_coefficient(lua_State *L, int idx, const char *name, int value) {
  NslCallee *callee = lua_touserdata(L, idx);
  const NsField *field = field_of(callee, name, NS_FIELD_COEF);
  if (field && !field->cols && lua_type(L, value) == LUA_TNUMBER)
    luaL_error(
        L, "%s: %s: expected a vector, whose numbers it follows, got number %f; a discrete state that is followed is { %f }",
        callee->head.type->name, name, lua_tonumber(L, value), lua_tonumber(L, value));
  nsl_set_coefficient(L, idx, name, value, true);
}

int nsl_set_callback(lua_State *L, NslCallee *callee, const char *name, const char *who) {
  nsl_callee_idle(L, callee, who);
  int slot = nsl_slot(callee, name);
  if (slot < 0) luaL_error(L, callee->family->no_callback, who, callee->head.type->name, name);
  nsl_lua_set_function(L, slot, who);
  if (!lua_isnil(L, 2)) drop_constant(callee, callee->kind->slots[slot].brief);
  return 0;
}

/* ---- option tables and clones ---- */

enum { MOST_KEYS = 64 };

static int add_key(const char **keys, int count, const char *key) {
  for (int i = 0; i < count; i++)
    if (strcmp(keys[i], key) == 0) return count;
  if (count < MOST_KEYS) keys[count++] = key;
  return count;
}

static bool is_argument(const NsModelClass *kind, const char *key) {
  for (int i = 0; kind->arguments && kind->arguments[i]; i++)
    if (strcmp(kind->arguments[i], key) == 0) return true;
  return false;
}

static bool is_option(const NsField *field) {
  return field->type != NS_FIELD_CALLBACK && !(field->flags & (NS_FIELD_HIDDEN | NS_FIELD_LATE | NS_FIELD_RUN));
}

void nsl_check_keys(lua_State *L, int options, const NsModelClass *kind) {
  const char *keys[MOST_KEYS + 1];
  int count = 0;
  for (int i = 0; kind->arguments && kind->arguments[i]; i++) count = add_key(keys, count, kind->arguments[i]);
  for (int i = 0; i < kind->nslots; i++) count = add_key(keys, count, kind->slots[i].brief);
  for (const NsField *field = kind->fields; field->name; field++)
    if (is_option(field)) count = add_key(keys, count, field->name);
  keys[count] = NULL;
  nsl_check_options(L, options, kind->name, keys);
}

/* Pushes the option of that name; nil when it is an argument by position. */
static bool get_option(lua_State *L, int options, const NsModelClass *kind, const char *name) {
  if (is_argument(kind, name)) lua_pushnil(L);
  else lua_getfield(L, options, name);
  return !lua_isnil(L, -1);
}

void nsl_apply_options(lua_State *L, int options, int idx, const char *except) {
  int top = lua_gettop(L);
  NslCallee *callee = lua_touserdata(L, idx);
  const NsModelClass *kind = callee->kind;
  const char *type = callee->head.type->name;
  if (get_option(L, options, kind, "name")) nsl_set_name(L, (char *)(size_t)callee->name, -1, type);
  if (callee->family->set_z && get_option(L, options, kind, "z")) callee->family->set_z(L, idx, lua_gettop(L), true);
  for (const NsField *field = kind->fields; field->name; field++) {
    lua_settop(L, top);
    if (field->type == NS_FIELD_COEF && is_option(field) && get_option(L, options, kind, field->name))
      nsl_set_coefficient(L, idx, field->name, lua_gettop(L), true);
  }
  for (int i = 0; i < kind->nslots; i++) {
    const NsField *field = field_of(callee, kind->slots[i].brief, NS_FIELD_COEF);
    lua_settop(L, top);
    if ((field && is_option(field)) || !get_option(L, options, kind, kind->slots[i].brief)) continue;
    if (except && strcmp(kind->slots[i].brief, except) == 0) continue;
    if (!nsl_may_be_callback(L, -1)) nsl_bad(L, type, kind->slots[i].brief, "a function", -1);
    nsl_set_function(L, idx, i, lua_gettop(L));
  }
  lua_settop(L, top);
}

void nsl_clone_fields(lua_State *L, int from, int to) {
  from = lua_absindex(L, from);
  to = lua_absindex(L, to);
  NslCallee *source = lua_touserdata(L, from), *target = lua_touserdata(L, to);
  const void *given = coefficient_object(source);
  void *object = coefficient_object(target);
  const NsField *z = field_of(source, "z", NS_FIELD_VECTOR);
  size_t bytes;
  for (const NsField *field = source->kind->fields; field->name; field++) {
    if (field->flags & (NS_FIELD_ALIAS | NS_FIELD_STATE) || ns_field_is_array(field)) continue;
    const void *data = ns_field_data(field, given, &bytes);
    if (field->type == NS_FIELD_COEF) nsl_clone_coef(L, data, ns_field_place(field, object));
    else if (bytes > 0 && field->type != NS_FIELD_INDICES) memcpy(ns_field_place(field, object), data, bytes);
  }
  nsl_clone_callee(L, from, to);
  double *numbers = z ? ns_field_data(z, given, &bytes) : NULL;
  if (!numbers) return;
  nsl_push_vector_view(L, from, numbers, ns_field_rows(z, given), 1, "z", NULL);
  target->family->set_z(L, to, lua_gettop(L), false);
  lua_pop(L, 1);
}

/* ---- methods ---- */

NslVector *nsl_push_flat(lua_State *L, int idx, int n, const char *who, const char *what) {
  lua_pushvalue(L, idx);
  NslVector *flat = nsl_push_vector_copy(L, nsl_to_finite_vector(L, lua_gettop(L), n, who, what));
  lua_remove(L, -2);
  return flat;
}

/* The callee at 1. Upvalues of these closures: the family, names of the field or slot and of the method, whether to share. */
static NslCallee *check_member(lua_State *L) {
  const NslCalleeFamily *family = lua_touserdata(L, lua_upvalueindex(1));
  return family->check(L, 1);
}

static const char *member_name(lua_State *L) {
  return lua_touserdata(L, lua_upvalueindex(2));
}

static NslCallee *check_idle_member(lua_State *L) {
  NslCallee *callee = check_member(L);
  nsl_callee_idle(L, callee, lua_tostring(L, lua_upvalueindex(3)));
  lua_settop(L, 2);
  return callee;
}

static int get_coefficient(lua_State *L) {
  NslCallee *callee = check_member(L);
  const NsField *field = field_of(callee, member_name(L), NS_FIELD_COEF);
  if (!field) return lua_pushnil(L), 1;
  return nsl_push_coef(L, ns_field_place(field, coefficient_object(callee)), field->cols == 0);
}

static int set_coefficient(lua_State *L) {
  NslCallee *callee = check_idle_member(L);
  const char *name = member_name(L);
  if (callee->kind->instead && !field_of(callee, name, NS_FIELD_COEF))
    luaL_error(L, "%s: %s has no %s; it has %s", lua_tostring(L, lua_upvalueindex(3)), callee->head.type->name, name,
               callee->kind->instead);
  if (lua_toboolean(L, lua_upvalueindex(4))) nsl_share_coefficient(L, 1, name, 2);
  else nsl_set_coefficient(L, 1, name, 2, false);
  return 0;
}

static int set_member_callback(lua_State *L) {
  return nsl_set_callback(L, check_member(L), member_name(L), lua_tostring(L, lua_upvalueindex(3)));
}

static int get_name(lua_State *L) {
  return lua_pushstring(L, check_member(L)->name), 1;
}

static int set_name(lua_State *L) {
  return nsl_set_name(L, (char *)(size_t)check_member(L)->name, 2, "setName");
}

static int get_z(lua_State *L) {
  NslCallee *callee = check_member(L);
  const void *object = coefficient_object(callee);
  const NsField *field = field_of(callee, "z", NS_FIELD_VECTOR);
  size_t bytes;
  return nsl_push_z(L, 1, ns_field_data(field, object, &bytes), ns_field_rows(field, object));
}

static int set_z(lua_State *L) {
  check_idle_member(L)->family->set_z(L, 1, 2, lua_toboolean(L, lua_upvalueindex(4)));
  return 0;
}

/* The field of the callee at 1 that is a vector (not its parameters), and its numbers. */
static const NsField *vector_of(lua_State *L, NslCallee *callee, double **data) {
  const NsField *field = field_of(callee, member_name(L), NS_FIELD_VECTOR);
  size_t bytes;
  *data = ns_field_data(field, coefficient_object(callee), &bytes);
  return field;
}

static int get_live_vector(lua_State *L) {
  NslCallee *callee = check_member(L);
  double *data;
  const NsField *field = vector_of(L, callee, &data);
  uint64_t *version = field->flags & NS_FIELD_COUNTED ? callee->family->version(callee) : NULL;
  nsl_push_vector_view(L, 1, data, ns_field_rows(field, coefficient_object(callee)), 1, field->name, version);
  return 1;
}

static int set_live_vector(lua_State *L) {
  NslCallee *callee = check_idle_member(L);
  double *data;
  const NsField *field = vector_of(L, callee, &data);
  int n = ns_field_rows(field, coefficient_object(callee));
  const NslVector *given = nsl_push_flat(L, 2, n, callee->head.type->name, field->name);
  if (callee->family->fit) callee->family->fit(L, callee, field, given->data);
  memcpy(data, given->data, (size_t)n * sizeof *data);
  if (field->flags & NS_FIELD_COUNTED) ++*callee->family->version(callee);
  return 0;
}

/* Adds a closure to the table below the name on top, under that name, which is popped. */
static void add_method(lua_State *L, const NslCalleeFamily *family, const char *member, lua_CFunction f, bool shared) {
  lua_pushlightuserdata(L, (void *)(size_t)family);
  lua_pushlightuserdata(L, (void *)(size_t)member);
  lua_pushvalue(L, -3);
  lua_pushboolean(L, shared);
  lua_pushcclosure(L, f, 4);
  lua_rawset(L, -3);
}

/* Pushes "setC", "setMassPtr", "setX". A name of one letter keeps its case, unless `capital`. */
static void push_setter_name(lua_State *L, const char *name, bool capital, const char *end) {
  int first = capital || name[1] ? toupper((unsigned char)name[0]) : name[0];
  lua_pushfstring(L, "set%c%s%s", first, name + 1, end);
}

/* Pushes "setComputehFunction"; e and f become capitals, as in Siconos. */
static void push_function_setter_name(lua_State *L, const char *slot) {
  const char *letter = strcmp(slot, "computee") == 0 ? "E" : strcmp(slot, "computef") == 0 ? "F" : slot + strlen("compute");
  lua_pushfstring(L, "setCompute%sFunction", letter);
}

/* The getter and the setter for a type of field. */
typedef struct FieldMethods {
  lua_CFunction get, set;
  bool capital, shared; /* capital: the setter's name has a capital; shared: there is also a setter that shares its argument */
} FieldMethods;

static FieldMethods methods_of(const NsField *field) {
  switch (field->type) {
    case NS_FIELD_COEF: return (FieldMethods){get_coefficient, set_coefficient, false, true};
    case NS_FIELD_TEXT: return (FieldMethods){get_name, set_name, true, false};
    case NS_FIELD_VECTOR:
      if (strcmp(field->name, "z") == 0) return (FieldMethods){get_z, set_z, false, true};
      return (FieldMethods){get_live_vector, set_live_vector, true, false};
    default: return (FieldMethods){NULL, NULL, false, false};
  }
}

static void add_field_methods(lua_State *L, const NslCalleeFamily *family, const NsField *field) {
  FieldMethods methods = methods_of(field);
  if (field->flags & NS_FIELD_HIDDEN || !methods.get) return;
  lua_pushstring(L, field->name);
  add_method(L, family, field->name, methods.get, false);
  if (!(field->flags & NS_FIELD_SETTER)) return;
  push_setter_name(L, field->name, methods.capital, "");
  add_method(L, family, field->name, methods.set, false);
  if (!methods.shared) return;
  push_setter_name(L, field->name, methods.capital, "Ptr");
  add_method(L, family, field->name, methods.set, true);
}

void nsl_add_class_methods(lua_State *L, const NslCalleeFamily *family, const NsModelClass *kind) {
  for (const NsField *field = kind->fields; field->name; field++) add_field_methods(L, family, field);
  for (int i = 0; i < kind->nslots; i++) {
    push_function_setter_name(L, kind->slots[i].name);
    add_method(L, family, family->brief ? kind->slots[i].brief : kind->slots[i].name, set_member_callback, false);
  }
}

/* Whether the method at -1, with its name at -2, sets a member that the class lacks; the methods of the class are at `own`. */
static bool sets_nothing(lua_State *L, const NslCalleeFamily *family, const NsModelClass *class, int own) {
  const char *name = lua_tostring(L, -2);
  if (strncmp(name, "set", 3) != 0 || !lua_getupvalue(L, -1, 1)) return false;
  bool member = lua_touserdata(L, -1) == (const void *)family;
  lua_pop(L, 1);
  if (!member) return false;
  bool found = lua_getfield(L, own, name) != LUA_TNIL;
  lua_pop(L, 1);
  if (found || strncmp(name, "setCompute", 10) == 0) return !found;
  lua_getupvalue(L, -1, 2); /* the field of a setter under an alias: C of setJachqPtr */
  const char *field_name = lua_touserdata(L, -1);
  const NsField *field = ns_field_find(class->fields, field_name);
  lua_pop(L, 1);
  bool alias = tolower((unsigned char)name[3]) != tolower((unsigned char)field_name[0]);
  return !field || !(alias || field->flags & NS_FIELD_SETTER);
}

void nsl_copy_methods(lua_State *L, int methods, const NslCalleeFamily *family, const NsModelClass *class) {
  methods = lua_absindex(L, methods);
  lua_newtable(L);
  lua_newtable(L);
  nsl_add_class_methods(L, family, class);
  int own = lua_gettop(L);
  for (lua_pushnil(L); lua_next(L, methods);) {
    if (sets_nothing(L, family, class, own)) {
      lua_pop(L, 1);
      continue;
    }
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, own - 1);
  }
  lua_settop(L, own - 1);
}

void nsl_drop_methods(lua_State *L, const char *const *names) {
  for (; *names; names++) {
    lua_pushnil(L);
    lua_setfield(L, -2, *names);
  }
}

void nsl_add_coefficient_alias(lua_State *L, const NslCalleeFamily *family, const char *coefficient, const char *name,
                               const char *setter) {
  if (name) {
    lua_pushstring(L, name);
    add_method(L, family, coefficient, get_coefficient, false);
  }
  lua_pushstring(L, setter);
  add_method(L, family, coefficient, set_coefficient, true);
}

/* Pushes a coefficient, the parameters or a live view of the callee at 1. */
static void push_shown(lua_State *L, const NsField *field, const void *object) {
  size_t bytes;
  void *data = ns_field_data(field, object, &bytes);
  if (field->type == NS_FIELD_COEF) nsl_push_coef(L, data, field->cols == 0);
  else if (strcmp(field->name, "z") == 0) nsl_push_z(L, 1, data, ns_field_rows(field, object));
  else nsl_push_vector_view(L, 1, data, ns_field_rows(field, object), 1, field->name, NULL);
}

/* Pushes the SHOWN fields with their names: the fields of the state and the input, or the others. */
static void push_all_shown(lua_State *L, NslCallee *callee, bool state) {
  for (const NsField *field = callee->kind->fields; field->name; field++) {
    bool z = strcmp(field->name, "z") == 0;
    if (!(field->flags & NS_FIELD_SHOWN) || (field->type == NS_FIELD_VECTOR && !z) != state) continue;
    nsl_need_stack(L, 6);
    lua_pushstring(L, field->name);
    push_shown(L, field, coefficient_object(callee));
  }
}

int nsl_display_callee(lua_State *L, NslCallee *callee) {
  lua_settop(L, 1);
  luaL_tolstring(L, 1, NULL);
  push_all_shown(L, callee, true);
  push_all_shown(L, callee, false);
  return nsl_display(L, 2);
}
