/*
** field.c
** Generates methods from tables of fields.
*/
#include "bind/array/field.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bind/array/matrix.h"
#include "bind/array/vector.h"

/* ---- values ---- */

/* Pushes and returns the number as text, without a point when it is whole. */
static const char *push_limit(lua_State *L, double x) {
  bool whole = x == floor(x) && fabs(x) < 1e15;
  return whole ? lua_pushfstring(L, "%I", (LUAI_UACINT)x) : nsl_pushf(L, "%f", x);
}

/* Raises "WHO: WHAT: expected 0 or more, got -1.0"; the message describes the field's range. */
static void refuse_number(lua_State *L, const NsField *field, double value, const char *who, const char *what) {
  const char *least = push_limit(L, field->least), *most = push_limit(L, field->most), *expected = least;
  if (field->flags & NS_FIELD_ABOVE && field->least == 0) expected = "a positive number";
  else if (field->most == INFINITY) expected = lua_pushfstring(L, "%s or more", least);
  else if (field->least == -INFINITY) expected = lua_pushfstring(L, "%s or less", most);
  else if (field->most > field->least) expected = lua_pushfstring(L, "a number in [%s, %s]", least, most);
  nsl_error(L, "%s: %s: expected %s, got %f", who, what, expected, value);
}

static int read_count(lua_State *L, int idx, const NsField *field, const char *who, const char *what) {
  lua_Integer value = nsl_integer(L, idx, who, what);
  if ((double)value >= field->least && (double)value <= field->most) return (int)value;
  if (field->most == field->least + 1)
    luaL_error(L, "%s: %s: expected %d or %d, got %I", who, what, (int)field->least, (int)field->most, value);
  if (field->least == field->most) return luaL_error(L, "%s: %s: expected %d, got %I", who, what, (int)field->least, value);
  return luaL_error(L, "%s: %s: expected %d..%d, got %I", who, what, (int)field->least, (int)field->most, value);
}

static double read_number(lua_State *L, int idx, const NsField *field, const char *who, const char *what) {
  if (field->flags & NS_FIELD_OPTIONAL && lua_isnil(L, idx)) return NAN;
  double value = nsl_finite(L, idx, who, what);
  bool at_least = field->flags & NS_FIELD_ABOVE ? value > field->least : value >= field->least;
  if (!at_least || value > field->most) refuse_number(L, field, value, who, what);
  return value;
}

/* The index of the word at idx in the field's list of words. */
static int read_word(lua_State *L, int idx, const NsField *field, const char *who, const char *what) {
  char known[160] = "";
  bool string = lua_type(L, idx) == LUA_TSTRING;
  for (int i = 0; string && field->words[i]; i++)
    if (strcmp(lua_tostring(L, idx), field->words[i]) == 0) return i;
  for (int i = 0, length = 0; field->words[i] && length < (int)sizeof known; i++)
    length += snprintf(known + length, sizeof known - (size_t)length, "%s\"%s\"", i > 0 ? " or " : "", field->words[i]);
  if (!string) nsl_bad(L, who, what, known, idx);
  return luaL_error(L, "%s: %s: expected %s, got '%s'", who, what, known, lua_tostring(L, idx));
}

static void field_read_vector(lua_State *L, int idx, const NsField *field, int n, double *to, const char *who,
                              const char *what) {
  bool any = field->flags & NS_FIELD_INFINITE;
  if (any && lua_type(L, idx) == LUA_TNUMBER) {
    for (int i = 0; i < n; i++) to[i] = lua_tonumber(L, idx);
    return;
  }
  nsl_vector_read(any ? nsl_to_vector(L, idx, n, who, what) : nsl_to_finite_vector(L, idx, n, who, what), to);
}

static double *make_array(lua_State *L, const NsField *field, void *object, NsArena *arena) {
  size_t bytes;
  if (!ns_field_make(field, object, arena)) luaL_error(L, "not enough memory");
  return ns_field_data(field, object, &bytes);
}

/* Reads a matrix; one that does not exist yet gets its number of rows from the value. */
static void field_read_matrix(lua_State *L, int idx, const NsField *field, void *object, NsArena *arena, const char *who,
                              const char *what) {
  size_t bytes;
  bool made = ns_field_data(field, object, &bytes) != NULL;
  int rows = made ? ns_field_rows(field, object) : -1;
  NslMatrix *m = nsl_to_finite_matrix(L, idx, rows, ns_field_cols(field, object), who, what);
  *(int *)(void *)((char *)object + field->rows) = m->rows;
  nsl_matrix_read(m, make_array(L, field, object, arena));
}

void nsl_read_field(lua_State *L, int idx, const NsField *field, void *object, NsArena *arena, const char *who,
                    const char *what) {
  char *at = (char *)object + field->offset;
  switch (field->type) {
    case NS_FIELD_NUMBER: *(double *)(void *)at = read_number(L, idx, field, who, what); break;
    case NS_FIELD_COUNT: *(int *)(void *)at = read_count(L, idx, field, who, what); break;
    case NS_FIELD_WORD: *(int *)(void *)at = read_word(L, idx, field, who, what); break;
    case NS_FIELD_FLAG:
      if (!lua_isboolean(L, idx)) nsl_bad(L, who, what, "a boolean", idx);
      *(bool *)(void *)at = lua_toboolean(L, idx);
      break;
    case NS_FIELD_VECTOR:
      field_read_vector(L, idx, field, ns_field_rows(field, object), make_array(L, field, object, arena), who, what);
      break;
    case NS_FIELD_MATRIX: field_read_matrix(L, idx, field, object, arena, who, what); break;
    case NS_FIELD_POINT: nsl_vector_read(nsl_to_finite_vector(L, idx, 3, who, what), (double *)(void *)at); break;
    default: luaL_error(L, "%s: %s: cannot be set", who, what); /* types that the model's binding reads itself */
  }
}

/* Whether the argument may be left out. */
static bool is_optional(const char *name) {
  return strchr(name, '?') != NULL;
}

void nsl_read_fields(lua_State *L, int idx, const char *const *names, const NsField *fields, void *object, NsArena *arena,
                     const char *who) {
  int count = 0, given = lua_gettop(L) - idx + 1;
  while (names[count]) count++;
  if (given > count) luaL_error(L, "%s: expected at most %d argument%s, got %d", who, count, count == 1 ? "" : "s", given);
  if (given < count)
    while (is_optional(*names)) names++;
  nsl_need_stack(L, LUA_MINSTACK);
  for (; *names; names++, idx++) {
    if (is_optional(*names) && lua_isnone(L, idx)) continue;
    const NsField *field = ns_field_find(fields, *names);
    nsl_read_field(L, idx, field, object, arena, who, field->name);
  }
}

/* ---- getters ---- */

/* The object at 1, of the owner's type; a method taken from another class of the family is refused. */
static void *check_object(lua_State *L, const NslFieldOwner *owner) {
  NslHead *head = owner->check(L, 1);
  if (head->type != owner->type) nsl_wrong_type(L, 1, owner->type->name, owner->type->name);
  return owner->object(head);
}

static void push_scalar(lua_State *L, const NsField *field, const void *object) {
  const char *at = (const char *)object + field->offset;
  double number = field->type == NS_FIELD_NUMBER ? *(const double *)(const void *)at : 0;
  if (field->flags & NS_FIELD_OPTIONAL && isnan(number)) lua_pushnil(L);
  else if (field->type == NS_FIELD_NUMBER) lua_pushnumber(L, number);
  else if (field->type == NS_FIELD_WORD) lua_pushstring(L, field->words[*(const int *)(const void *)at]);
  else if (field->type == NS_FIELD_COUNT) lua_pushinteger(L, *(const int *)(const void *)at);
  else lua_pushboolean(L, *(const bool *)(const void *)at);
}

/* Pushes a view of an array of the object at 1, or a copy; nil when the array does not exist. */
static void field_push_array(lua_State *L, const NsField *field, const void *object) {
  size_t bytes;
  double *data = ns_field_data(field, object, &bytes);
  int rows = ns_field_rows(field, object), cols = ns_field_cols(field, object);
  bool live = field->flags & NS_FIELD_LIVE, matrix = field->type == NS_FIELD_MATRIX;
  if (!data) {
    lua_pushnil(L);
  } else if (matrix) {
    NslMatrix *m = live ? nsl_push_matrix_view(L, 1, data, rows, cols, rows, field->name, NULL)
                        : nsl_push_matrix(L, rows, cols, field->name);
    if (!live) nsl_matrix_write(m, data);
    else m->readonly = !(field->flags & NS_FIELD_SETTER);
  } else {
    NslVector *v = live ? nsl_push_vector_view(L, 1, data, rows, 1, field->name, NULL) : nsl_push_vector(L, rows, field->name);
    if (!live) nsl_vector_write(v, data);
    else v->readonly = !(field->flags & NS_FIELD_SETTER);
  }
}

void nsl_push_field(lua_State *L, const NsField *field, const void *object) {
  if (ns_field_is_array(field)) field_push_array(L, field, object);
  else push_scalar(L, field, object);
}

/* Upvalues: the field, its owner. */
static int get_field(lua_State *L) {
  const NsField *field = lua_touserdata(L, lua_upvalueindex(1));
  const void *object = check_object(L, lua_touserdata(L, lua_upvalueindex(2)));
  nsl_push_field(L, field, object);
  return 1;
}

/* ---- setters ---- */

/* Element i (at 2) of a vector of n = the number at 3. */
static void set_element(lua_State *L, const NsField *field, int n, double *data, const char *setter, const char *element) {
  lua_Integer i = nsl_integer(L, 2, setter, "component");
  if (i < 1 || i > n) luaL_error(L, "%s: component: expected 1..%d, got %I", setter, n, i);
  if (!(field->flags & NS_FIELD_INFINITE)) nsl_finite(L, 3, setter, element);
  if (lua_type(L, 3) != LUA_TNUMBER) nsl_bad(L, setter, element, "a number", 3);
  data[i - 1] = lua_tonumber(L, 3);
}

/* Sets an existing array from the values at 2 and 3, which may be views of it; a refused value leaves it unchanged. */
static void set_array(lua_State *L, const NslFieldOwner *owner, const NsField *field, void *object, const char *setter) {
  size_t bytes;
  double *data = ns_field_data(field, object, &bytes);
  int rows = ns_field_rows(field, object), cols = ns_field_cols(field, object);
  const char *who = owner->type->name;
  NsError err = {NS_OK, ""};
  if (!data) luaL_error(L, "%s: there is no %s", setter, field->name);
  lua_settop(L, 3);
  double *before = nsl_push_vector(L, (lua_Integer)rows * cols, NULL)->data;
  double *wanted = nsl_push_vector(L, (lua_Integer)rows * cols, NULL)->data;
  memcpy(before, data, bytes);
  memcpy(wanted, data, bytes);
  if (field->type == NS_FIELD_MATRIX) nsl_matrix_read(nsl_to_finite_matrix(L, 2, rows, cols, who, field->name), wanted);
  else if (!lua_isnil(L, 3)) set_element(L, field, rows, wanted, setter, owner->element);
  else field_read_vector(L, 2, field, rows, wanted, who, field->name);
  memcpy(data, wanted, bytes);
  if (!owner->verify || owner->verify(object, &err) == NS_OK) return;
  memcpy(data, before, bytes);
  nsl_raise(L, &err);
}

/* Sets a field that is no array; a refused value leaves it unchanged. */
static void set_value(lua_State *L, const NslFieldOwner *owner, const NsField *field, void *object, const char *setter) {
  size_t bytes;
  unsigned char before[sizeof(double)]; /* holds a number, a count, a word or a flag */
  NsError err = {NS_OK, ""};
  void *data = ns_field_data(field, object, &bytes);
  bool checked = owner->verify && bytes <= sizeof before;
  if (checked) memcpy(before, data, bytes);
  nsl_read_field(L, 2, field, object, NULL, setter, field->name);
  if (!checked || owner->verify(object, &err) == NS_OK) return;
  memcpy(data, before, bytes);
  nsl_raise(L, &err);
}

/* Upvalues: the field, its owner, the name of the setter. */
static int set_field(lua_State *L) {
  const NsField *field = lua_touserdata(L, lua_upvalueindex(1));
  const NslFieldOwner *owner = lua_touserdata(L, lua_upvalueindex(2));
  const char *setter = lua_tostring(L, lua_upvalueindex(3));
  void *object = check_object(L, owner);
  if (ns_field_is_array(field)) set_array(L, owner, field, object, setter);
  else set_value(L, owner, field, object, setter);
  if (owner->given) owner->given(object, field);
  return 0;
}

/* ---- the methods of a type ---- */

const char *nsl_push_setter_name(lua_State *L, const char *field) {
  return lua_pushfstring(L, "set%c%s", toupper((unsigned char)field[0]), field + 1);
}

void nsl_add_field_methods(lua_State *L, const NslFieldOwner *owner, const NsField *fields) {
  luaL_getmetatable(L, owner->type->name);
  lua_getfield(L, -1, "__index");
  for (const NsField *field = fields; field->name; field++) {
    if (field->flags & NS_FIELD_HIDDEN) continue;
    lua_pushlightuserdata(L, (void *)(size_t)field);
    lua_pushlightuserdata(L, (void *)(size_t)owner);
    lua_pushcclosure(L, get_field, 2);
    lua_setfield(L, -2, field->name);
    if (!(field->flags & NS_FIELD_SETTER)) continue;
    const char *setter = nsl_push_setter_name(L, field->name);
    lua_pushlightuserdata(L, (void *)(size_t)field);
    lua_pushlightuserdata(L, (void *)(size_t)owner);
    lua_pushvalue(L, -3);
    lua_pushcclosure(L, set_field, 3);
    lua_setfield(L, -3, setter);
    lua_pop(L, 1);
  }
  lua_pop(L, 2);
}

/* ---- words ---- */

/* Adds a value as Lua prints it; for an array its first element. */
static void field_add_value(lua_State *L, luaL_Buffer *b, const NsField *field, const void *object) {
  size_t bytes;
  const void *data = ns_field_data(field, object, &bytes);
  if (field->type == NS_FIELD_FLAG) lua_pushstring(L, *(const bool *)data ? "true" : "false");
  else if (field->type == NS_FIELD_COUNT) lua_pushfstring(L, "%d", *(const int *)data);
  else if (field->type == NS_FIELD_WORD) lua_pushstring(L, field->words[*(const int *)data]);
  else nsl_pushf(L, "%f", bytes > 0 ? *(const double *)data : NAN);
  luaL_addvalue(b);
}

/* Adds the text with each {field} replaced by its value. */
static void add_template(lua_State *L, luaL_Buffer *b, const NsField *fields, const void *object, const char *text) {
  for (const char *open = strchr(text, '{'); open; open = strchr(text, '{')) {
    char name[64] = "";
    size_t length = strcspn(open + 1, "}");
    memcpy(name, open + 1, length < sizeof name - 1 ? length : sizeof name - 1);
    luaL_addlstring(b, text, (size_t)(open - text));
    field_add_value(L, b, ns_field_find(fields, name), object);
    text = open + 2 + length;
  }
  luaL_addstring(b, text);
}

void nsl_push_field_words(lua_State *L, const NsField *fields, const void *object, const char *text) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  if (text) add_template(L, &b, fields, object, text);
  for (const NsField *field = fields; !text && field->name; field++) {
    if (!(field->flags & NS_FIELD_SHOWN) || ns_field_is_array(field)) continue;
    luaL_addstring(&b, ", ");
    luaL_addstring(&b, field->name);
    luaL_addstring(&b, " = ");
    field_add_value(L, &b, field, object);
  }
  luaL_pushresult(&b);
}

int nsl_display_more(lua_State *L, const NslFieldOwner *owner, const NsField *fields) {
  const void *object = check_object(L, owner);
  for (const NsField *field = fields; field->name; field++) {
    if (!(field->flags & NS_FIELD_SHOWN) || !ns_field_is_array(field)) continue;
    nsl_need_stack(L, 4);
    lua_pushstring(L, field->name);
    field_push_array(L, field, object);
  }
  return nsl_display(L, 2);
}

int nsl_display_fields(lua_State *L, const NslFieldOwner *owner, const NsField *fields) {
  lua_settop(L, 1);
  (void)check_object(L, owner);
  luaL_tolstring(L, 1, NULL);
  return nsl_display_more(L, owner, fields);
}
