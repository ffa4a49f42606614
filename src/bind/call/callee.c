/*
** callee.c
** Model objects with callbacks: slots, argument vectors, fields and classes.
*/
#include "bind/call/callee.h"
#include "bind/lua/open.h"

#include <string.h>

#include "bind/diff/compile.h"
#include "bind/diff/digest.h"

/* Prefix of the names of fields that only keep objects alive. */
#define ANCHOR "anchor "

/* ---- setting up ---- */

void nsl_callee_init(lua_State *L, int idx, NslCallee *callee, const NslCalleeFamily *family, const NsModelClass *kind,
                     const char *name) {
  idx = lua_absindex(L, idx);
  callee->host = nsl_host(L);
  callee->head.scripted = true;
  callee->family = family;
  callee->kind = kind;
  callee->name = name;
  for (int i = 0; i < kind->nslots; i++) {
    callee->callbacks[i].callee = callee;
    callee->callbacks[i].slot = &kind->slots[i];
    callee->callbacks[i].place = NSL_PLACE_SLOTS + NSL_SLOT_PLACES * i;
    callee->callbacks[i].direct.timed = !nsl_timeless(&kind->slots[i]);
  }
  lua_newtable(L);
  lua_setiuservalue(L, idx, NSL_FIELDS);
  lua_rawgeti(L, LUA_REGISTRYINDEX, callee->host->callees);
  callee->number = (int)lua_rawlen(L, -1) + 1; /* a place that is free, or has become free */
  lua_pushvalue(L, idx);
  lua_rawseti(L, -2, callee->number);
  lua_pop(L, 1);
  nsl_remember_object(L, idx);
}

void nsl_callee_release(NslCallee *callee) {
  NslCallee **at = callee->watched ? &callee->host->watched : NULL;
  while (at && *at != callee) at = &(*at)->next_watched;
  if (at) *at = callee->next_watched;
  callee->watched = false;
  ns_arena_release(&callee->arena);
  callee->head.closed = true;
  callee->name = "";
}

void nsl_callee_idle(lua_State *L, const NslCallee *callee, const char *what) {
  if (callee->nsds && callee->nsds->busy)
    luaL_error(L, "%s: %s is being used by the step that is computed (called from inside a callback?)", what,
               nsl_callee_title(L, callee));
}

const char *nsl_callee_title(lua_State *L, const NslCallee *callee) {
  return lua_pushfstring(L, "%s '%s'", callee->kind->noun, callee->name[0] ? callee->name : callee->head.type->name);
}

int nsl_slot(const NslCallee *callee, const char *name) {
  for (int i = 0; i < callee->kind->nslots; i++)
    if (strcmp(callee->kind->slots[i].name, name) == 0 || strcmp(callee->kind->slots[i].brief, name) == 0) return i;
  return -1;
}

/* Makes the value at stack index `value` a user value of the callee at idx. */
static void callee_put(lua_State *L, int idx, int place, int value) {
  lua_pushvalue(L, value);
  lua_setiuservalue(L, idx, place);
}

bool nsl_timeless(const NsSlot *slot) {
  return slot->native == NS_NATIVE_MASS || slot->native == NS_NATIVE_FGYR || slot->native == NS_NATIVE_Q ||
         slot->native == NS_NATIVE_QL || slot->native == NS_NATIVE_QV;
}

const char *nsl_argument_name(const NslCallee *callee, char arg) {
  const NsModelClass *kind = callee->kind;
  if (arg == 'z') return "z";
  if (arg == 'v') return "qdot";
  if (arg == 'x') return kind->x ? kind->x : "x";
  return kind->lambda ? kind->lambda : "lambda";
}

int nsl_dimension(const NslCallee *callee, char letter) {
  return letter == 'n' ? callee->n : letter == 'm' ? callee->m : letter == 'p' ? callee->nz : letter == '3' ? 3 : 1;
}

static NslVector *make_vector(lua_State *L, int idx, int place, int n, const char *label, bool readonly) {
  NslVector *v = nsl_push_vector(L, n, label);
  if (readonly) nsl_vector_argument(v);
  callee_put(L, idx, place, -1);
  lua_pop(L, 1);
  return v;
}

/* Makes the output of a slot, unless there is one. */
static void make_output(lua_State *L, int idx, int slot) {
  NslCallee *callee = lua_touserdata(L, idx);
  NslCallback *cb = &callee->callbacks[slot];
  if (cb->out) return;
  int rows = nsl_dimension(callee, cb->slot->rows), cols = nsl_dimension(callee, cb->slot->cols);
  cb->entries = rows * cols;
  if (cb->slot->cols == '1') {
    NslVector *vector = make_vector(L, idx, cb->place + NSL_OUTPUT, rows, cb->slot->label, false);
    cb->out = vector->data, cb->version = vector->version;
    return;
  }
  NslMatrix *matrix = nsl_push_matrix(L, rows, cols, cb->slot->label);
  callee_put(L, idx, cb->place + NSL_OUTPUT, -1);
  lua_pop(L, 1);
  cb->out = matrix->data, cb->version = matrix->version;
}

/*
** To be called after a callback of the callee at idx came, went or changed: makes its output, and updates the engine's object.
*/
static void rebind(lua_State *L, int idx) {
  idx = lua_absindex(L, idx);
  NslCallee *callee = lua_touserdata(L, idx);
  for (int i = 0; callee->sized && i < callee->kind->nslots; i++)
    if (callee->callbacks[i].backing != NSL_ABSENT) make_output(L, idx, i);
  for (int i = 0; i < callee->kind->nslots; i++) callee->callbacks[i].inexact = false, callee->callbacks[i].shadow_run = 0;
  for (int i = 0; i < NSL_MAX_FUNCTIONS; i++) ns_derived_reset(&callee->functions[i]);
  if (callee->family->bind(callee) != NS_OK) luaL_error(L, "not enough memory");
  unsigned present = 0;
  for (int i = 0; i < callee->kind->nslots; i++)
    if (callee->callbacks[i].backing != NSL_ABSENT) present |= 1u << i;
  if (callee->nsds && present != callee->present) ((NsNsds *)callee->nsds)->version++;
  callee->present = present;
}

/* An open shared library, kept as long as a callee may call into it. */
typedef struct NslLibrary {
  NslHead head;
  NsLibrary *library;
} NslLibrary;

static const NslType library_type = {.name = "library"};

static int library_gc(lua_State *L) {
  NslLibrary *handle = lua_touserdata(L, 1);
  ns_library_close(handle->library);
  handle->library = NULL;
  return 0;
}

/*
** Looks up a symbol in a shared library, which the callee at idx keeps open. Raises with the names of the library and the
** symbol.
*/
static NsSymbol find_symbol(lua_State *L, int idx, int slot, const char *path, const char *name) {
  NsError err = {NS_OK, ""};
  NsSymbol symbol = NULL;
  NslLibrary *handle = nsl_new(L, &library_type, sizeof *handle, 0);
  if (ns_library_open(&handle->library, path, &err) != NS_OK) nsl_raise(L, &err);
  if (ns_library_symbol(handle->library, name, &symbol, &err) != NS_OK) nsl_raise(L, &err);
  nsl_anchor(L, idx, ((NslCallee *)lua_touserdata(L, idx))->callbacks[slot].slot->name, -1);
  lua_pop(L, 1);
  return symbol;
}

/* Forgets the trace of a callback, which is another function now, or has other sizes. */
static void drop_trace(NslCallback *cb) {
  cb->trace = NULL;
  cb->direct.fn = NULL;
}

static void set_symbol(lua_State *L, int idx, int slot, NsSymbol symbol) {
  NslCallee *callee = lua_touserdata(L, idx);
  drop_trace(&callee->callbacks[slot]);
  callee->callbacks[slot].backing = NSL_LIBRARY;
  callee->callbacks[slot].symbol = symbol;
  rebind(L, idx);
}

bool nsl_is_plugin(lua_State *L, int idx) {
  const char *text = lua_type(L, idx) == LUA_TSTRING ? lua_tostring(L, idx) : NULL;
  const char *colon = text ? strrchr(text, ':') : NULL;
  return colon && colon > text && colon[1];
}

bool nsl_may_be_callback(lua_State *L, int idx) {
  return nsl_is_callback(L, idx) || nsl_is_plugin(L, idx);
}

/*
** Sets the symbol that the text "library:symbol" at stack index `plugin` names; ".so" is added to a library's name without it.
*/
static void set_plugin(lua_State *L, int idx, int slot, int plugin) {
  const char *text = lua_tostring(L, plugin), *colon = strrchr(text, ':');
  bool whole = colon - text > 3 && strncmp(colon - 3, ".so", 3) == 0;
  const char *path = lua_pushlstring(L, text, (size_t)(colon - text));
  if (!whole) path = lua_pushfstring(L, "%s.so", path);
  set_symbol(L, idx, slot, find_symbol(L, idx, slot, path, colon + 1));
  lua_pop(L, whole ? 1 : 2);
}

void nsl_set_function(lua_State *L, int idx, int slot, int function) {
  NslCallee *callee = lua_touserdata(L, idx);
  if (lua_type(L, function) == LUA_TSTRING) {
    set_plugin(L, lua_absindex(L, idx), slot, function);
    return;
  }
  NslCallback *cb = &callee->callbacks[slot];
  callee_put(L, idx, cb->place, function);
  cb->backing = lua_isnil(L, function) ? NSL_ABSENT : nsl_is_compiled(L, function) ? NSL_COMPILED : NSL_LUA;
  drop_trace(cb);
  cb->stays = false;
  rebind(L, idx);
}

/*
** Pushes the method `name` from the fields or the class of the callee at idx. When there is none, pushes nothing and returns
** false.
*/
static bool push_method(lua_State *L, int idx, const char *name) {
  int top = lua_gettop(L);
  lua_getiuservalue(L, idx, NSL_FIELDS);
  lua_pushstring(L, name);
  if (lua_rawget(L, -2) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_getiuservalue(L, idx, NSL_CLASS);
    if (lua_istable(L, -1)) lua_getfield(L, -1, name);
  }
  bool found = nsl_is_callback(L, -1);
  if (!found && !lua_isnil(L, -1)) nsl_bad(L, nsl_callee_title(L, lua_touserdata(L, idx)), name, "a function", -2);
  if (found) lua_replace(L, top + 1);
  lua_settop(L, top + found);
  return found;
}

void nsl_exchange_function(lua_State *L, int idx, int slot, int function) {
  NslCallback *cb = &((NslCallee *)lua_touserdata(L, idx))->callbacks[slot];
  bool method = nsl_is_method(cb), compiled = nsl_is_compiled(L, function);
  callee_put(L, idx, cb->place, function);
  cb->backing = method ? compiled ? NSL_COMPILED_METHOD : NSL_METHOD : compiled ? NSL_COMPILED : NSL_LUA;
  if (method && compiled) nsl_watch_callee(cb->callee);
  drop_trace(cb);
}

void nsl_replace_function(lua_State *L, int idx, int slot, int function) {
  nsl_exchange_function(L, idx, slot, function);
  rebind(L, idx);
}

/* Whether the slot of the callee at idx has the function on top of the stack in a compiled form. */
static bool has_compiled(lua_State *L, int idx, int slot) {
  int top = lua_gettop(L);
  lua_getiuservalue(L, idx, ((NslCallee *)lua_touserdata(L, idx))->callbacks[slot].place);
  nsl_push_plain_function(L, -1);
  bool same = nsl_is_compiled(L, top + 1) && lua_rawequal(L, top, -1);
  lua_settop(L, top);
  return same;
}

void nsl_find_methods(lua_State *L, int idx) {
  idx = lua_absindex(L, idx);
  NslCallee *callee = lua_touserdata(L, idx);
  bool changed = false;
  for (int i = 0; i < callee->kind->nslots; i++) {
    NslCallback *cb = &callee->callbacks[i];
    bool was = nsl_is_method(cb);
    if (cb->backing != NSL_ABSENT && !was) continue;
    if (push_method(L, idx, cb->slot->name)) {
      if (was && has_compiled(L, idx, i)) {
        lua_pop(L, 1);
        continue;
      }
      callee_put(L, idx, cb->place, -1);
      cb->backing = nsl_is_compiled(L, -1) ? NSL_COMPILED_METHOD : NSL_METHOD;
      if (nsl_is_compiled(L, -1)) nsl_watch_callee(callee);
      drop_trace(cb);
      cb->stays = false;
      lua_pop(L, 1);
      changed = changed || !was;
    } else if (was) {
      cb->backing = NSL_ABSENT;
      changed = true;
    }
  }
  if (changed) rebind(L, idx);
}

void nsl_watch_callee(NslCallee *callee) {
  if (callee->watched) return;
  callee->watched = true;
  callee->next_watched = callee->host->watched;
  callee->host->watched = callee;
}

static void renew_traces_of(lua_State *L, NslCallee *callee) {
  uint64_t held = 0;
  bool known = false;
  for (int i = 0; i < callee->kind->nslots; i++) {
    NslCallback *cb = &callee->callbacks[i];
    if (!cb->trace) continue;
    if (!nsl_trace_is_current(cb->trace)) drop_trace(cb);
    if (cb->backing != NSL_COMPILED_METHOD || !cb->trace) continue;
    if (!known) {
      nsl_push_object(L, callee);
      held = nsl_digest(L, lua_gettop(L)), known = true;
      lua_pop(L, 1);
    }
    if (cb->trace->objects != held) drop_trace(cb);
  }
}

void nsl_renew_traces(lua_State *L, const NslHost *host, const NsNsds *nsds) {
  for (NslCallee *callee = host->watched; callee; callee = callee->next_watched)
    if (callee->nsds == nsds || !callee->nsds) renew_traces_of(L, callee);
}

int nsl_lua_set_function(lua_State *L, int slot, const char *who) {
  NslCallee *callee = lua_touserdata(L, 1);
  nsl_callee_idle(L, callee, who);
  if (lua_type(L, 2) == LUA_TSTRING) {
    if (lua_type(L, 3) != LUA_TSTRING) nsl_bad(L, who, "symbol", "a string (the name of the function in the library)", 3);
    set_symbol(L, 1, slot, find_symbol(L, 1, slot, lua_tostring(L, 2), lua_tostring(L, 3)));
    return 0;
  }
  if (!nsl_is_callback(L, 2) && !lua_isnil(L, 2)) nsl_bad(L, who, "callback", "a function, or a library and a symbol", 2);
  nsl_set_function(L, 1, slot, 2);
  return 0;
}

static void list_inputs(NslCallback *cb) {
  const NslCallee *callee = cb->callee;
  const NslInput x = {callee->x, NSL_PLACE_X, 0}, lambda = {callee->lambda, NSL_PLACE_LAMBDA, 1},
                 rate = {callee->rate, NSL_PLACE_RATE, 1}, z = {callee->z, NSL_PLACE_Z, 2};
  cb->ninputs = 0;
  for (const char *a = cb->slot->args; *a; a++)
    cb->inputs[cb->ninputs++] = *a == 'x' ? x : *a == 'l' ? lambda : *a == 'v' ? rate : z;
}

void nsl_callee_size(lua_State *L, int idx, int n, int m, int nz) {
  idx = lua_absindex(L, idx);
  NslCallee *callee = lua_touserdata(L, idx);
  if (callee->sized && callee->n == n && callee->m == m && callee->nz == nz) return;
  callee->sized = false;
  callee->n = n;
  callee->m = m;
  callee->nz = nz;
  callee->x = make_vector(L, idx, NSL_PLACE_X, n, nsl_argument_name(callee, 'x'), true);
  callee->lambda = make_vector(L, idx, NSL_PLACE_LAMBDA, m, nsl_argument_name(callee, 'l'), true);
  callee->z = make_vector(L, idx, NSL_PLACE_Z, nz, "z", false);
  callee->rate = make_vector(L, idx, NSL_PLACE_RATE, n, nsl_argument_name(callee, 'v'), true);
  for (int i = 0; i < callee->kind->nslots; i++)
    callee->callbacks[i].out = NULL, drop_trace(&callee->callbacks[i]), list_inputs(&callee->callbacks[i]);
  ns_arena_release(&callee->arena);
  for (int i = 0; i < NSL_MAX_FUNCTIONS; i++) ns_derived_size(&callee->functions[i], &callee->arena, n, m, nz);
  callee->sized = true;
  rebind(L, idx);
}

/* ---- fields and classes ---- */

/*
** Pushes the built-in method (from the table in upvalue 1) when the name at 2 is also a callback's name: such a method
** evaluates, and calls the callback.
*/
static bool push_evaluation(lua_State *L) {
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;
  if (!name || strncmp(name, "compute", 7) != 0 || nsl_slot(lua_touserdata(L, 1), name) < 0) return false;
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL) return true;
  lua_pop(L, 1);
  return false;
}

/* Whether a name begins or ends like the name of a method, which no callback and no unset field does. */
static bool looks_like_method(const char *name) {
  static const char *const beginnings[] = {"set", "init", "initialize", "update", "swap", "reset", "get", "insert"};
  size_t length = strlen(name);
  for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
    size_t n = strlen(beginnings[i]);
    if (strncmp(name, beginnings[i], n) == 0 && ((name[n] >= 'A' && name[n] <= 'Z') || name[n] == '_')) return true;
  }
  bool setter = strncmp(name, "set", 3) == 0 && (length == 4 || strcmp(name + length - 3, "Ptr") == 0);
  return setter || (length > 6 && strcmp(name + length - 6, "Memory") == 0);
}

/*
** The result for an unknown name at 2: nil (a field or callback that is not set); an error when it looks like a method, or is
** near one and the object has no class: methods of a class may read fields before they set them.
*/
static int missing_name(lua_State *L) {
  NslCallee *callee = lua_touserdata(L, 1);
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "", *type = callee->head.type->name;
  if (nsl_slot(callee, name) >= 0) return lua_pushnil(L), 1;
  if (looks_like_method(name)) return nsl_no_such_method(L, type, lua_upvalueindex(1), 2);
  if (lua_getiuservalue(L, 1, NSL_CLASS) == LUA_TTABLE) return lua_pushnil(L), 1;
  return nsl_no_such_name(L, type, "method ", lua_upvalueindex(1), 2, false);
}

int nsl_callee_index(lua_State *L) {
  if (push_evaluation(L)) return 1;
  lua_getiuservalue(L, 1, NSL_FIELDS);
  lua_pushvalue(L, 2);
  if (lua_istable(L, 3) && lua_rawget(L, 3) != LUA_TNIL) return 1;
  lua_settop(L, 2);
  lua_getiuservalue(L, 1, NSL_CLASS);
  if (lua_istable(L, 3)) {
    lua_pushvalue(L, 2);
    if (lua_gettable(L, 3) != LUA_TNIL) return 1;
  }
  lua_settop(L, 2);
  lua_pushvalue(L, 2);
  return lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL ? 1 : missing_name(L);
}

/*
** Refuses a field that would hide a method (of the table in upvalue 1), a function that would never be called, and a field in
** place of something that the engine points to.
*/
static void check_field(lua_State *L, const NslCallee *callee, const char *name, int slot) {
  const char *who = nsl_callee_title(L, callee);
  if (strncmp(name, ANCHOR, sizeof ANCHOR - 1) == 0)
    luaL_error(L, "%s: %s: the name of a field cannot begin with '" ANCHOR "'", who, name);
  bool callback = slot >= 0 && strcmp(callee->kind->slots[slot].name, name) == 0;
  lua_pushvalue(L, 2);
  if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL && !callback) {
    lua_pushfstring(L, "set%sPtr", name);
    bool settable = lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL;
    luaL_error(L,
               settable ? "%s: %s: a field cannot hide the method of this name; use set%sPtr, or another name"
                        : "%s: %s: a field cannot hide the method of this name",
               who, name, name);
  }
  if (slot < 0) return;
  if (!callback) {
    const char *method = callee->kind->slots[slot].name;
    if (nsl_is_callback(L, 3))
      luaL_error(L, "%s: %s: a callback is set as %s (with self as its first argument)", who, name, method);
  } else {
    nsl_callee_idle(L, callee, name);
    if (!nsl_is_callback(L, 3) && !lua_isnil(L, 3)) nsl_bad(L, who, name, "a function", 3);
  }
}

/* Pushes "computeh, computeg". */
static const char *push_known(lua_State *L, const NsModelClass *kind) {
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  for (int i = 0; i < kind->nslots; i++) {
    if (i > 0) luaL_addstring(&b, ", ");
    luaL_addstring(&b, kind->slots[i].name);
  }
  luaL_pushresult(&b);
  return lua_tostring(L, -1);
}

/* Refuses a function (at 3) named like a callback that the class lacks: it would never be called. */
static void check_callback_name(lua_State *L, const NslCallee *callee, const char *name) {
  if (strncmp(name, "compute", 7) != 0 || !nsl_is_callback(L, 3)) return;
  const char *who = nsl_callee_title(L, callee), *type = callee->head.type->name;
  if (callee->kind->nslots == 0) luaL_error(L, "%s: %s: a %s has no callbacks", who, name, type);
  luaL_error(L, "%s: %s: no callback of a %s (known: %s)", who, name, type, push_known(L, callee->kind));
}

static int callee_newindex(lua_State *L) {
  NslCallee *callee = lua_touserdata(L, 1);
  if (nsl_is_closed(&callee->head))
    luaL_error(L, "%s is closed", callee->name[0] ? nsl_callee_title(L, callee) : callee->head.type->name);
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : NULL;
  int slot = name ? nsl_slot(callee, name) : -1;
  if (name) check_field(L, callee, name, slot);
  if (name && slot < 0) check_callback_name(L, callee, name);
  lua_settop(L, 3);
  bool given = !lua_isnil(L, 3);
  lua_getiuservalue(L, 1, NSL_FIELDS);
  lua_insert(L, 2);
  lua_rawset(L, 2);
  for (int i = 0; i < callee->kind->nslots; i++)
    if (callee->callbacks[i].backing == NSL_COMPILED_METHOD) drop_trace(&callee->callbacks[i]);
  if (slot < 0 || strcmp(callee->kind->slots[slot].name, name) != 0) return 0;
  if (given && !nsl_is_method(&callee->callbacks[slot])) callee->callbacks[slot].backing = NSL_ABSENT;
  nsl_find_methods(L, 1);
  return 0;
}

void nsl_anchor(lua_State *L, int idx, const char *key, int value) {
  value = lua_absindex(L, value);
  lua_getiuservalue(L, idx, NSL_FIELDS);
  lua_pushfstring(L, ANCHOR "%s", key);
  lua_pushvalue(L, value);
  lua_rawset(L, -3);
  lua_pop(L, 1);
}

/* Copies the fields, except those that tie the original to a graph or to its own parameters. */
static void clone_fields(lua_State *L, int from, int to) {
  lua_getiuservalue(L, from, NSL_FIELDS);
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, -3);) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -4);
  }
  static const char *const own[] = {"anchor nsds", "anchor z", "anchor boundaryConditions", "anchor bodies"};
  for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
    lua_pushnil(L);
    lua_setfield(L, -2, own[i]);
  }
  lua_setiuservalue(L, to, NSL_FIELDS);
  lua_pop(L, 1);
}

void nsl_clone_callee(lua_State *L, int from, int to) {
  from = lua_absindex(L, from);
  to = lua_absindex(L, to);
  NslCallee *source = lua_touserdata(L, from), *target = lua_touserdata(L, to);
  clone_fields(L, from, to);
  lua_getiuservalue(L, from, NSL_CLASS);
  lua_setiuservalue(L, to, NSL_CLASS);
  for (int i = 0; i < source->kind->nslots; i++) {
    target->callbacks[i].backing = source->callbacks[i].backing;
    target->callbacks[i].symbol = source->callbacks[i].symbol;
    drop_trace(&target->callbacks[i]);
    lua_getiuservalue(L, from, source->callbacks[i].place);
    lua_setiuservalue(L, to, source->callbacks[i].place);
  }
  rebind(L, to);
}

/* Sets class_callbacks[type] = { "computeh", ... } in the core's table on top; ns.class reads it. */
static void list_callbacks(lua_State *L, const NslType *type, const NsModelClass *kind) {
  luaL_getsubtable(L, -1, "class_callbacks");
  lua_createtable(L, kind->nslots, 0);
  for (int i = 0; i < kind->nslots; i++) {
    lua_pushstring(L, kind->slots[i].name);
    lua_rawseti(L, -2, i + 1);
  }
  lua_setfield(L, -2, type->name);
  lua_pop(L, 1);
}

void nsl_register_callee_type(lua_State *L, const NslType *type, const NsModelClass *kind, const luaL_Reg *meta) {
  lua_insert(L, -2);
  list_callbacks(L, type, kind);
  nsl_register_type(L, type, meta, NULL);
  luaL_getmetatable(L, type->name);
  lua_rotate(L, -3, -1);
  lua_pushvalue(L, -1);
  lua_pushcclosure(L, nsl_callee_index, 1);
  lua_setfield(L, -3, "__index");
  lua_pushcclosure(L, callee_newindex, 1);
  lua_setfield(L, -2, "__newindex");
  lua_pop(L, 1);
}

void nsl_set_class(lua_State *L, int idx, int class) {
  idx = lua_absindex(L, idx);
  lua_pushvalue(L, class);
  lua_setiuservalue(L, idx, NSL_CLASS);
  nsl_find_methods(L, idx);
}

/* setclass(object, class), for ns.class: gives an object the methods of its class. */
static int set_class(lua_State *L) {
  NslHead *head = nsl_head(L, 1);
  if (!head || !lua_istable(L, 2)) return luaL_error(L, "class: expected a system or a relation and a table of methods");
  nsl_set_class(L, 1, 2);
  lua_settop(L, 1);
  return 1;
}

/* For ns.class: a class has changed; every simulation then looks its callbacks up again. */
static int class_changed(lua_State *L) {
  nsl_host(L)->class_version++;
  return 0;
}

void nsl_open_callee(lua_State *L) {
  static const luaL_Reg meta[] = {{"__gc", library_gc}, {NULL, NULL}};
  static const luaL_Reg functions[] = {{"setclass", set_class}, {"changed", class_changed}, {NULL, NULL}};
  nsl_register_type(L, &library_type, meta, NULL);
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "class_support");
}
