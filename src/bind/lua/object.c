/*
** object.c
** Object headers, type checks and error wording for the binding.
*/
#include "bind/lua/object.h"
#include "bind/lua/open.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/text.h"
#include "bind/lua/reads.h"

void *nsl_new(lua_State *L, const NslType *type, size_t size, int uservalues) {
  NslHead *head = lua_newuserdatauv(L, size, uservalues);
  memset(head, 0, size);
  head->magic = NSL_MAGIC;
  head->type = type;
  luaL_setmetatable(L, type->name);
  return head;
}

void nsl_set_variants(lua_State *L, const NslVariant *list) {
  for (; list->name; list++) {
    lua_pushinteger(L, list->which);
    lua_pushcclosure(L, list->call, 1);
    lua_setfield(L, -2, list->name);
  }
}

/* __close of every type: calls close() (upvalue 1) unless the object is closed. */
static int leave_scope(lua_State *L) {
  const NslHead *head = nsl_head(L, 1);
  if (head && nsl_is_closed(head)) return 0;
  return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* Pushes the setter's name, among the methods in upvalue 1, for the getter `name`; false, nothing pushed: there is none. */
static bool push_setter(lua_State *L, const char *name) {
  for (int ptr = 0; ptr < 4; ptr++) {
    int first = ptr < 2 ? toupper((unsigned char)name[0]) : name[0];
    lua_pushfstring(L, ptr % 2 ? "set%c%sPtr" : "set%c%s", first, name + 1);
    lua_pushvalue(L, -1);
    if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return lua_pop(L, 1), true;
    lua_pop(L, 2);
  }
  return false;
}

/* __newindex of types with methods (upvalue 1) and no fields: the error names the setter to use. */
static int object_refuse_field(lua_State *L) {
  const NslHead *head = nsl_head(L, 1);
  const char *who = head && head->type ? head->type->name : "object";
  lua_settop(L, 2);
  const char *name = luaL_tolstring(L, 2, NULL);
  bool word = lua_type(L, 2) == LUA_TSTRING && name[0];
  if (word && push_setter(L, name))
    return luaL_error(L, "%s: %s: cannot be assigned to; use %s", who, name, lua_tostring(L, -1));
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return luaL_error(L, "%s: %s: a method cannot be assigned to", who, name);
  return luaL_error(L, "%s: it has no field '%s'", who, name);
}

/* ---- names that are not there ---- */

bool nsl_push_hook(lua_State *L, const char *name) {
  lua_pushfstring(L, "nslua.on %s", name);
  if (lua_rawget(L, LUA_REGISTRYINDEX) == LUA_TFUNCTION) return true;
  return lua_pop(L, 1), false;
}

/* on(name, f): f is the hook of that name, see open.h. */
static int object_on(lua_State *L) {
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_settop(L, 2);
  lua_pushfstring(L, "nslua.on %s", luaL_checkstring(L, 1));
  lua_insert(L, 2);
  lua_rawset(L, LUA_REGISTRYINDEX);
  return 0;
}

int nsl_no_such_name(lua_State *L, const char *type, const char *what, int known, int idx, bool sure) {
  if (lua_type(L, idx) != LUA_TSTRING) return lua_pushnil(L), 1;
  known = lua_absindex(L, known);
  idx = lua_absindex(L, idx);
  if (!nsl_push_hook(L, "unknown")) {
    if (sure) luaL_error(L, "%s: it has no %s'%s'", type, what, lua_tostring(L, idx));
    return lua_pushnil(L), 1;
  }
  lua_pushstring(L, type);
  lua_pushstring(L, what);
  lua_pushvalue(L, known);
  lua_pushvalue(L, idx);
  lua_pushboolean(L, sure);
  lua_call(L, 5, 1);
  return lua_isnil(L, -1) ? 1 : luaL_error(L, "%s", lua_tostring(L, -1));
}

int nsl_no_such_method(lua_State *L, const char *type, int methods, int idx) {
  return nsl_no_such_name(L, type, "method ", methods, idx, true);
}

/* __index of a table of methods; the type's name is in upvalue 1. */
static int missing_method(lua_State *L) {
  return nsl_no_such_method(L, lua_tostring(L, lua_upvalueindex(1)), 1, 2);
}

/* Gives the table of methods on top of the stack a metatable in which unknown names are errors. */
static void guard_methods(lua_State *L, const char *type) {
  lua_createtable(L, 0, 1);
  lua_pushstring(L, type);
  lua_pushcclosure(L, missing_method, 1);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
}

int nsl_get_method(lua_State *L, int idx, const char *name) {
  int top = lua_gettop(L);
  idx = lua_absindex(L, idx);
  int type = luaL_getmetafield(L, idx, "__index");
  if (type == LUA_TNIL) return lua_pushnil(L), LUA_TNIL;
  bool methods = type == LUA_TTABLE && luaL_getmetafield(L, -1, "__metatable") == LUA_TNIL; /* else see nsl_index_by_table */
  if (methods) {
    lua_pushstring(L, name);
    type = lua_rawget(L, -2);
  } else {
    type = lua_getfield(L, idx, name);
  }
  lua_replace(L, top + 1);
  lua_settop(L, top + 1);
  return type;
}

void nsl_open_support(lua_State *L) {
  nsl_set_cfunction(L, "on", object_on);
  lua_getglobal(L, "pcall");
  lua_CFunction protected_call = lua_tocfunction(L, -1);
  lua_pushcclosure(L, protected_call, 1);
  lua_setfield(L, -2, "pcall");
}

/* ---- types ---- */

void nsl_register_type(lua_State *L, const NslType *type, const luaL_Reg *meta, const luaL_Reg *methods) {
  luaL_newmetatable(L, type->name);
  if (methods) {
    lua_newtable(L);
    luaL_setfuncs(L, methods, 0);
    guard_methods(L, type->name);
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, "__index");
    lua_pushcclosure(L, object_refuse_field, 1);
    lua_setfield(L, -2, "__newindex");
  }
  if (meta) luaL_setfuncs(L, meta, 0);
  if (lua_getfield(L, -1, "__close") == LUA_TFUNCTION) {
    lua_pushcclosure(L, leave_scope, 1);
    lua_setfield(L, -2, "__close");
  } else {
    lua_pop(L, 1);
  }
  nsl_set_string(L, "__metatable", type->name);
  lua_pop(L, 1);
}

/* lua_rawlen is 0 for a light userdata; a value with a length but no address is no userdata at all. */
NslHead *nsl_head(lua_State *L, int idx) {
  NslHead *head = lua_touserdata(L, idx);
  return head && lua_rawlen(L, idx) >= sizeof *head && head->magic == NSL_MAGIC ? head : NULL;
}

const NslHead *nsl_root(lua_State *L, int idx) {
  const NslHead *head = nsl_head(L, idx);
  return head && head->owner ? head->owner : head;
}

void nsl_view_alive(lua_State *L, const NslHead *view, const char *label) {
  if (!nsl_is_closed(view)) return;
  const NslType *type = view->owner ? view->owner->type : NULL;
  const char *owner = type ? type->name : "object", *name = view->type->name;
  if (label) luaL_error(L, "%s '%s' belongs to a closed %s", name, label, owner);
  luaL_error(L, "%s belongs to a closed %s", name, owner);
}

void *nsl_test(lua_State *L, int idx, const NslType *type) {
  NslHead *head = nsl_head(L, idx);
  return head && head->type == type ? head : NULL;
}

/* The name of the running C function if it was called with a point and is no function of ns; else NULL. */
static const char *method_after_point(lua_State *L) {
  lua_Debug call;
  if (!lua_getstack(L, 0, &call) || !lua_getinfo(L, "nf", &call)) return NULL;
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  bool field = strcmp(call.namewhat, "field") == 0;
  if (field && lua_getfield(L, -1, "nslua.core") == LUA_TTABLE) {
    lua_getfield(L, -1, call.name);
    field = !lua_rawequal(L, -1, -4);
  }
  return field ? call.name : NULL;
}

int nsl_wrong_type(lua_State *L, int idx, const char *expected, const char *self) {
  const char *message = lua_pushfstring(L, "%s expected, got %s", expected, nsl_describe(L, idx));
  const char *method = idx == 1 ? method_after_point(L) : NULL;
  if (method) message = lua_pushfstring(L, "%s; call it with a colon, %s:%s(...)", message, self, method);
  return luaL_argerror(L, idx, message);
}

bool nsl_is_shut(const NslHead *head) {
  if (head->reads) nsl_note_object(head);
  return head->closed;
}

void *nsl_check(lua_State *L, int idx, const NslType *type) {
  NslHead *head = nsl_test(L, idx, type);
  if (!head) return nsl_wrong_type(L, idx, type->name, "object"), NULL;
  if (nsl_is_shut(head)) luaL_error(L, "%s is closed", head->type->name);
  return head;
}

NslHead *nsl_test_family(lua_State *L, int idx, const NslType *types, int count) {
  NslHead *head = nsl_head(L, idx);
  return head && head->type >= types && head->type < types + count ? head : NULL;
}

void *nsl_check_family(lua_State *L, int idx, const NslType *types, int count, const char *expected, const char *self) {
  NslHead *head = nsl_test_family(L, idx, types, count);
  if (!head) return nsl_wrong_type(L, idx, expected, self), NULL;
  if (nsl_is_shut(head)) luaL_error(L, "%s is closed", head->type->name);
  return head;
}

/* Pushes what a message says of a plain table: by its key that is first by name, when it has no list. */
static const char *object_tell_table(lua_State *L, int idx) {
  int n = (int)lua_rawlen(L, idx), table = lua_absindex(L, idx);
  const char *least = NULL;
  if (n > 0) return lua_pushfstring(L, "a list of %d", n);
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
    if (key && (!least || strcmp(key, least) < 0)) least = key; /* the table keeps it */
  }
  return least ? lua_pushfstring(L, "a table with the key '%s'", least) : lua_pushstring(L, "an empty table");
}

const char *nsl_describe(lua_State *L, int idx) {
  const NslHead *head = nsl_head(L, idx);
  if (head && head->type) return head->type->describe ? head->type->describe(L, head) : lua_pushstring(L, head->type->name);
  switch (lua_type(L, idx)) {
    case LUA_TNONE: return lua_pushliteral(L, "no value");
    case LUA_TTABLE: return object_tell_table(L, idx);
    case LUA_TNUMBER:
      if (isnan(lua_tonumber(L, idx))) return lua_pushliteral(L, "number nan");
      return nsl_pushf(L, "number %f", lua_tonumber(L, idx));
    default: return lua_pushstring(L, luaL_typename(L, idx));
  }
}

/* Arguments of push_formatted. */
typedef struct Formatted {
  const char *format;
  va_list args;
} Formatted;

static int push_formatted(lua_State *L) {
  Formatted *f = lua_touserdata(L, 1);
  return lua_pushvfstring(L, f->format, f->args), 1;
}

/* Pushes the text, or the error of lua_pcall: running out of memory must not leave the locale changed. */
static int push_plainly(lua_State *L, Formatted *f) {
  lua_pushcfunction(L, push_formatted);
  lua_pushlightuserdata(L, f);
  locale_t before = ns_locale_begin();
  int status = lua_pcall(L, 1, 1, 0);
  ns_locale_end(before);
  return status;
}

const char *nsl_pushf(lua_State *L, const char *format, ...) {
  Formatted f = {.format = format};
  va_start(f.args, format);
  int status = push_plainly(L, &f);
  va_end(f.args);
  if (status != LUA_OK) lua_error(L);
  return lua_tostring(L, -1);
}

int nsl_error(lua_State *L, const char *format, ...) {
  Formatted f = {.format = format};
  luaL_where(L, 1);
  va_start(f.args, format);
  int status = push_plainly(L, &f);
  va_end(f.args);
  if (status == LUA_OK) lua_concat(L, 2);
  return lua_error(L);
}

int nsl_undefined(lua_State *L, const char *sign, const char *hint) {
  const char *left = nsl_describe(L, 1), *right = nsl_describe(L, 2);
  return luaL_error(L, "%s %s %s: %s", left, sign, right, hint);
}

int nsl_bad(lua_State *L, const char *who, const char *what, const char *expected, int idx) {
  idx = lua_absindex(L, idx);
  return luaL_error(L, "%s: %s: expected %s, got %s", who, what, expected, nsl_describe(L, idx));
}

const char *nsl_path(lua_State *L, int idx, const char *who, const char *what) {
  size_t size;
  if (lua_type(L, idx) != LUA_TSTRING) nsl_bad(L, who, what, "a string", idx);
  const char *path = lua_tolstring(L, idx, &size);
  if (strlen(path) != size) luaL_error(L, "%s: %s: expected the name of a file, got '%s' and a zero byte", who, what, path);
  return path;
}

void nsl_at_most(lua_State *L, int most, const char *who) {
  int count = lua_gettop(L);
  if (count <= most) return;
  luaL_error(L, "%s: expected at most %d argument%s, got %d", who, most, most == 1 ? "" : "s", count);
}

bool nsl_is_callable(lua_State *L, int idx) {
  if (lua_isfunction(L, idx)) return true;
  if (luaL_getmetafield(L, idx, "__call") == LUA_TNIL) return false;
  return lua_pop(L, 1), true;
}

lua_Integer nsl_integer(lua_State *L, int idx, const char *who, const char *what) {
  int good;
  lua_Integer value = lua_type(L, idx) == LUA_TNUMBER ? lua_tointegerx(L, idx, &good) : (good = 0);
  if (!good) nsl_bad(L, who, what, "an integer", idx);
  return value;
}

double nsl_finite(lua_State *L, int idx, const char *who, const char *what) {
  double value = lua_tonumber(L, idx);
  if (lua_type(L, idx) != LUA_TNUMBER || !isfinite(value)) nsl_bad(L, who, what, "a finite number", idx);
  return value;
}

int nsl_raise(lua_State *L, const NsError *err) {
  if (err->status == NS_ENOMEM) return luaL_error(L, "not enough memory");
  return luaL_error(L, "%s", err->text[0] ? err->text : ns_status_message(err->status));
}

int nsl_raise_status(lua_State *L, NsStatus status, const char *who) {
  if (status == NS_ENOMEM) return luaL_error(L, "not enough memory");
  return luaL_error(L, "%s: %s", who, ns_status_message(status));
}

int nsl_display(lua_State *L, int first) {
  int top = lua_gettop(L);
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  lua_pushvalue(L, first);
  luaL_addvalue(&b);
  for (int i = first + 1; i + 1 <= top; i += 2) {
    if (lua_isnil(L, i + 1)) continue;
    const char *text = luaL_tolstring(L, i + 1, NULL);
    bool tall = strchr(text, '\n') != NULL;
    lua_pushfstring(L, "\n  %s =%s%s", lua_tostring(L, i), tall ? "\n" : " ", text);
    lua_remove(L, -2);
    luaL_addvalue(&b);
  }
  luaL_pushresult(&b);
  lua_getglobal(L, "print");
  lua_insert(L, -2);
  lua_call(L, 1, 0);
  return 0;
}

/* Its address is the registry key of the table of warnings already given. */
static const char told_key;

void nsl_warn_once(lua_State *L, const char *key, const char *text) {
  int top = lua_gettop(L);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &told_key) != LUA_TTABLE) {
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &told_key);
    lua_replace(L, top + 1);
  }
  if (lua_getfield(L, top + 1, key) == LUA_TNIL) {
    lua_pushboolean(L, true);
    lua_setfield(L, top + 1, key);
    lua_warning(L, "nslua: ", 1);
    lua_warning(L, text, 0);
  }
  lua_settop(L, top);
}

void nsl_need_stack(lua_State *L, int n) {
  if (!lua_checkstack(L, n)) luaL_error(L, NSL_NO_STACK);
}

void nsl_call_for_value(lua_State *L, int nargs) {
  lua_call(L, nargs, 2);
  if (!lua_isnil(L, -1)) luaL_error(L, NSL_SEVERAL);
  lua_pop(L, 1);
}

int nsl_display_object(lua_State *L, const NslDisplayed *fields) {
  lua_settop(L, 1);
  luaL_tolstring(L, 1, NULL);
  for (; fields && fields->label; fields++) {
    nsl_need_stack(L, 4);
    lua_pushstring(L, fields->label);
    lua_pushcfunction(L, fields->get);
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
  }
  return nsl_display(L, 2);
}
