/*
** object.h
** The base of the binding: object headers, type checks, wording of errors.
*/
#pragma once

#include <lauxlib.h>
#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/status.h"
#include "bind/lua/tables.h"
#include "model/state.h"

#define NSL_EXPORT __attribute__((visibility("default")))

/*
** A userdata type. `name` is the metatable's key in the registry and the object's name in messages; the address of the NslType
** is the type's identity. `describe` pushes a description of one object, "vector of 3"; NULL: the name is used. `visit` walks the
** memory that live views of the object show, for a clone of it; NULL: systems and interactions have a walk of their own, others none.
*/
typedef struct NslType {
  const char *name; /* "FirstOrderLinearTIDS", "vector" */
  const char *(*describe)(lua_State *L, const void *object);
  void (*visit)(const void *object, NsVisitor visitor, void *context);
} NslType;

/*
** Every userdata of nslua starts with this header. `type` is NULL until the object is complete, and again after __gc. `closed`
** is set by close() and __gc; a closed object raises at every use. `reads` is not NULL while reads of the object's numbers are noted there
** (reads.h). `scripted`: scripts may set fields on the object and give it a class; they are in the user values NSL_FIELDS (a table) and
** NSL_CLASS. `stepped`: steps write into the vectors that the object's views show.
*/
typedef struct NslHead {
  uint64_t magic; /* NSL_MAGIC: distinguishes our userdata from foreign ones */
  const NslType *type;
  bool closed, scripted, stepped;
  const struct NslHead *owner; /* of a view: the object whose memory it shows, with which it is closed; NULL: no view */
  struct NslReads *reads;
} NslHead;

enum { NSL_FIELDS = 1, NSL_CLASS = 3 };

#define NSL_MAGIC UINT64_C(0x6e736c75615f6f62)

/* A named function; `which` distinguishes names that share one body. A list ends with name NULL. */
typedef struct NslVariant {
  const char *name;
  lua_CFunction call;
  int which;
} NslVariant;

/* Sets the functions in the table on top, as closures with `which` as upvalue 1. */
void nsl_set_variants(lua_State *L, const NslVariant *list);

/* Inside such a closure: its `which`. */
static inline int nsl_which(lua_State *L) {
  return (int)lua_tointeger(L, lua_upvalueindex(1));
}

/*
** Pushes and returns a new zeroed userdata of `size` bytes (a struct that starts with NslHead), with `uservalues` user values
** and the type's metatable. The header is valid before anything else can throw.
*/
void *nsl_new(lua_State *L, const NslType *type, size_t size, int uservalues);

/*
** Registers a type; leaves the stack unchanged. Its metatable gets the metamethods `meta` (may be NULL), __name and
** __metatable (the type's name). Unless meta has an __index, it gets a table of `methods`, where an unknown name is an error,
** and a __newindex that names the setter to use or says that there is no such field. A __close is not called for a closed
** object.
*/
void nsl_register_type(lua_State *L, const NslType *type, const luaL_Reg *meta, const luaL_Reg *methods);

/*
** Raises that objects of a class have no method (or what else `what` says, "column ") of the name at idx, with the hint of
** nslua.base.names; the table at `known` holds the existing ones. Pushes nil and returns 1, as an __index does, for a key that
** is no string or begins with an underscore, and for code of nslua itself; when not `sure`, as the name may belong to a field
** which is not set, also unless one that exists is near.
*/
int nsl_no_such_name(lua_State *L, const char *type, const char *what, int known, int idx, bool sure);
int nsl_no_such_method(lua_State *L, const char *type, int methods, int idx);

/* Pushes the function that the Lua side has given for what the core asks it (open.h); false, nothing pushed, when there is none. */
bool nsl_push_hook(lua_State *L, const char *name);

/* Pushes the method `name` of the object at idx from its table of methods, nil if there is none. Returns its type. */
int nsl_get_method(lua_State *L, int idx, const char *name);

/* The object at idx if it is one of ours and of this type, else NULL. A closed one counts. */
void *nsl_test(lua_State *L, int idx, const NslType *type);

/* The header of the object at idx if it is one of ours, else NULL. */
NslHead *nsl_head(lua_State *L, int idx);

static inline bool nsl_is_closed(const NslHead *head) {
  return head->closed || (head->owner && head->owner->closed);
}

/* Whether a method can not use the object, since it is closed. The use of a watched one is noted. */
bool nsl_is_shut(const NslHead *head);

/* Whether it, or its owner, is closed or watched: the quick question before a number is read. */
static inline bool nsl_is_guarded(const NslHead *head) {
  const NslHead *owner = head->owner;
  return head->closed || head->reads || (owner && (owner->closed || owner->reads));
}

/* The header whose `closed` counts for a view on the object at idx: the object's, or its owner's if it is itself a view. */
const NslHead *nsl_root(lua_State *L, int idx);

/* Raises when the view or its owner is closed: "vector 'x' belongs to a closed FirstOrderLinearDS". */
void nsl_view_alive(lua_State *L, const NslHead *view, const char *label);

/* The open object of this type at idx; raises "bad argument ..." with the expected and the actual type, or "... is closed". */
void *nsl_check(lua_State *L, int idx, const NslType *type);

/*
** The object at idx if its type is among the `count` of a family, types[0] and so on, else NULL; check: the open one, or an error as
** nsl_check's, "nonsmooth law expected, got ...; call it with a colon, law:NAME(...)".
*/
NslHead *nsl_test_family(lua_State *L, int idx, const NslType *types, int count);
void *nsl_check_family(lua_State *L, int idx, const NslType *types, int count, const char *expected, const char *self);

/*
** Raises "bad argument #1 to 'dot' (vector expected, got a list of 3)", and for argument 1 of a method that was called
** with a point "...; call it with a colon, SELF:dot(...))".
*/
int nsl_wrong_type(lua_State *L, int idx, const char *expected, const char *self);

/* Pushes and returns a description of the value at idx, for messages: "nil", "string", "vector of 3", "RelayNSL". */
const char *nsl_describe(lua_State *L, int idx);

/* Raises "vector of 3 + vector of 2: HINT" for the operands at 1 and 2. */
int nsl_undefined(lua_State *L, const char *sign, const char *hint);

/*
** Raises "WHO: WHAT: expected EXPECTED, got <description of idx>", with the position of the Lua caller. `who` names
** the object or function, `what` the argument, "x0".
*/
int nsl_bad(lua_State *L, const char *who, const char *what, const char *expected, int idx);

/* Calls Lua's warn("nslua: TEXT"), once for each key. */
void nsl_warn_once(lua_State *L, const char *key, const char *text);

/* As lua_pushfstring; a number (%f) has a decimal point in every locale. */
const char *nsl_pushf(lua_State *L, const char *format, ...);

/* As luaL_error; a number (%f) has a decimal point in every locale. */
int nsl_error(lua_State *L, const char *format, ...);

/* The error when Lua's stack is full. */
#define NSL_NO_STACK "not enough memory for the stack"

/* Makes space for n more values on the stack, or raises NSL_NO_STACK. */
void nsl_need_stack(lua_State *L, int n);

/*
** Calls the function below nargs arguments for its value. Raises NSL_SEVERAL when it returns a second one (not nil), which would be lost.
*/
void nsl_call_for_value(lua_State *L, int nargs);
#define NSL_SEVERAL "several values returned: expected one"
#define NSL_BOTH    "it fills %s and returns %s too: expected one or the other"

/* The file name at idx: a string without a zero byte (the system would cut it there). Errors as nsl_bad. */
const char *nsl_path(lua_State *L, int idx, const char *who, const char *what);

/* Raises "WHO: expected at most 2 arguments, got 3" when more came. */
void nsl_at_most(lua_State *L, int most, const char *who);

/* Whether the value at idx can be called: a function, or an object with __call. */
bool nsl_is_callable(lua_State *L, int idx);

/* The integer / the finite number at idx, else an error worded as nsl_bad. */
lua_Integer nsl_integer(lua_State *L, int idx, const char *who, const char *what);
double nsl_finite(lua_State *L, int idx, const char *who, const char *what);

/* A line of a display(): its label, and the object's method that gives the value. */
typedef struct NslDisplayed {
  const char *label;
  lua_CFunction get;
} NslDisplayed;

/* display() of the object at 1: its tostring, then the given fields (up to a NULL label). Returns 0. */
int nsl_display_object(lua_State *L, const NslDisplayed *fields);

/*
** Prints (by the global print) the header at stack index `first`, then the pairs of label and value up to the top, one pair a
** line; pairs with nil are left out. Returns 0: every display() method ends with this call.
*/
int nsl_display(lua_State *L, int first);

/* Raises a status: the text of err when it has one, else the status's message; NS_ENOMEM raises "not enough memory". */
int nsl_raise(lua_State *L, const NsError *err);
int nsl_raise_status(lua_State *L, NsStatus status, const char *who);

/* Raises any status other than NS_OK. */
static inline void nsl_check_status(lua_State *L, NsStatus status, const char *who) {
  if (status != NS_OK) nsl_raise_status(L, status, who);
}
