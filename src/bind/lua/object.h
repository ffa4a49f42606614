/*
** object.h
** What every file of the binding shares: object headers, type checks, error wording.
*/
#ifndef NSL_LUA_OBJECT_H
#define NSL_LUA_OBJECT_H

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/status.h"

#define NSL_EXPORT __attribute__((visibility("default")))

/*
** A userdata type. `name` is the metatable's key in the registry and what messages call the object; the address of
** the NslType is the type's identity. `describe` pushes words for one object, "vector of 3"; NULL: the name does.
*/
typedef struct NslType {
  const char *name; /* "FirstOrderLinearTIDS", "vector" */
  const char *(*describe)(lua_State *L, const void *object);
} NslType;

/*
** Every userdata of nslua starts with this header. `type` is NULL until the object is wholly built and
** again after it is gone; `closed` is set by close() and by __gc: a closed object raises at every use. `scripted`: scripts
** set fields on it and give it a class, in the user values NSL_FIELDS (a table) and NSL_CLASS. `stepped`: a step writes into the
** vectors that it has views of.
*/
typedef struct NslHead {
  uint64_t magic; /* NSL_MAGIC: tells our userdata from a foreign one */
  const NslType *type;
  bool closed, scripted, stepped;
  const struct NslHead *owner; /* of a view: the object that it looks at, with which it is closed; NULL: it is none */
} NslHead;

enum { NSL_FIELDS = 1, NSL_CLASS = 3 };

#define NSL_MAGIC UINT64_C(0x6e736c75615f6f62)

/* A function under a name, and, where several names have one body, which of them it is. A list ends with a name NULL. */
typedef struct NslVariant {
  const char *name;
  lua_CFunction call;
  int which;
} NslVariant;

/* Sets functions in the table on top, as closures on their numbers. */
void nsl_set_variants(lua_State *L, const NslVariant *list);

/* From inside such a closure: its number. */
static inline int nsl_which(lua_State *L) {
  return (int)lua_tointeger(L, lua_upvalueindex(1));
}

/*
** Pushes a new userdata of `size` bytes (a struct that starts with NslHead), zeroed, with `uservalues` user
** values and the type's metatable: valid before anything else can throw. Returns it.
*/
void *nsl_new(lua_State *L, const NslType *type, size_t size, int uservalues);

/*
** Registers a type, leaving nothing on the stack: its metatable gets the metamethods `meta` (may be NULL), and
** __index a table of `methods` unless meta has an __index of its own, where asking for another name is an error, with a
** __newindex that names the setter to use or says that there is no such field. __name and __metatable (the type's name) are set. A __close is not called for
** an object that is closed already.
*/
void nsl_register_type(lua_State *L, const NslType *type, const luaL_Reg *meta, const luaL_Reg *methods);

/*
** Raises that an object of a class has no method of the name at idx, with what nslua.base.names says of it; the methods there
** are stand in the table at `methods`. For what is no string: pushes nil and returns 1, as an __index does.
*/
int nsl_no_such_method(lua_State *L, const char *type, int methods, int idx);

/* Pushes the method of the object at idx, whose methods stand in a table; nil when it has none of that name. Its type. */
int nsl_get_method(lua_State *L, int idx, const char *name);

/* Adds on_unknown(f) to the module on top of the stack: f(class, methods, name) gives the message of nsl_no_such_method. */
void nsl_open_support(lua_State *L);

/* The object at idx when it is one of ours of this type, else NULL. A closed one counts. */
void *nsl_test(lua_State *L, int idx, const NslType *type);

/* The header of any object of ours at idx, else NULL. */
NslHead *nsl_head(lua_State *L, int idx);

static inline bool nsl_is_closed(const NslHead *head) {
  return head->closed || (head->owner && head->owner->closed);
}

/* The header that `closed` of a view on the object at idx is asked of: of that object, or of the owner when it is a view. */
const NslHead *nsl_root(lua_State *L, int idx);

/* Raises when the object, or the one that it looks at, is closed: "vector 'x' belongs to a closed FirstOrderLinearDS". */
void nsl_view_alive(lua_State *L, const NslHead *view, const char *label);

/* The open object at idx; raises "bad argument" naming the type expected and what came, or "... is closed". */
void *nsl_check(lua_State *L, int idx, const NslType *type);

/*
** Raises "bad argument #1 to 'dot' (vector expected, got table of 3)", and for argument 1 of a method that was called
** with a point "...; call it with a colon, SELF:dot(...))".
*/
int nsl_wrong_type(lua_State *L, int idx, const char *expected, const char *self);

/* What stands at idx, for messages: "nil", "string", "vector of 3", "RelayNSL". Pushes and returns the string. */
const char *nsl_describe(lua_State *L, int idx);

/* Raises "vector of 3 + vector of 2: HINT", of the operands at 1 and 2. */
int nsl_undefined(lua_State *L, const char *sign, const char *hint);

/*
** Raises "WHO: WHAT: expected EXPECTED, got <description of idx>", with the position of the Lua caller. `who` names
** the object or function, `what` the argument, "x0".
*/
int nsl_bad(lua_State *L, const char *who, const char *what, const char *expected, int idx);

/* Lua's warn("nslua: TEXT"), for each key the first time only. */
void nsl_warn_once(lua_State *L, const char *key, const char *text);

/* As lua_pushfstring; a number (%f) has a decimal point in every locale. */
const char *nsl_pushf(lua_State *L, const char *format, ...);

/* As luaL_error; a number (%f) has a decimal point in every locale. */
int nsl_error(lua_State *L, const char *format, ...);

/* What is said when Lua's stack has no room for more values. */
#define NSL_NO_STACK "not enough memory for the stack"

/* Makes room for n more values on the stack; raises NSL_NO_STACK. */
void nsl_need_stack(lua_State *L, int n);

/* The name of a file at idx: a string without a zero byte, at which the system would end it. Errors as of nsl_bad. */
const char *nsl_path(lua_State *L, int idx, const char *who, const char *what);

/* Raises "WHO: expected at most 2 arguments, got 3" when more came. */
void nsl_at_most(lua_State *L, int most, const char *who);

/* An integer / a finite number at idx, else an error worded as nsl_bad. */
lua_Integer nsl_integer(lua_State *L, int idx, const char *who, const char *what);
double nsl_finite(lua_State *L, int idx, const char *who, const char *what);

/* A line of a display(): its label and the method of the object that gives the value. */
typedef struct NslDisplayed {
  const char *label;
  lua_CFunction get;
} NslDisplayed;

/* display() of the object at 1: its tostring, then the given fields (up to a NULL label). Returns 0. */
int nsl_display_object(lua_State *L, const NslDisplayed *fields);

/*
** Prints (through the global print) the header at stack index `first` and the pairs of a label and a value that
** follow up to the top, one a line; nil values are left out. Returns 0: what every display() method ends with.
*/
int nsl_display(lua_State *L, int first);

/*
** Raises a status: the text of err when it has one, else the status's message; NS_ENOMEM raises "not enough memory".
*/
int nsl_raise(lua_State *L, const NsError *err);
int nsl_raise_status(lua_State *L, NsStatus status, const char *who);

/* Raises a status but NS_OK. */
static inline void nsl_check_status(lua_State *L, NsStatus status, const char *who) {
  if (status != NS_OK) nsl_raise_status(L, status, who);
}

#endif
