/*
** callee.h
** A model object with callbacks: its slots, its functions and argument vectors, its fields and its class.
*/
#pragma once

#include "ad/derived.h"
#include "base/function.h"
#include "bind/lua/host.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"
#include "bind/diff/shadow.h"
#include "io/library.h"
#include "model/class.h"
#include "model/nsds.h"

enum { NSL_MAX_SLOTS = 10, NSL_MAX_FUNCTIONS = 4 };

/* Where a callback comes from. METHOD: a field or class function, which gets self first. COMPILED: made by ns.compile. */
typedef enum NslBacking { NSL_ABSENT, NSL_LUA, NSL_METHOD, NSL_LIBRARY, NSL_COMPILED, NSL_COMPILED_METHOD } NslBacking;

typedef struct NslCallee NslCallee;

/* A vector that a callback gets: user value `place` of the callee, number `of` in NsFunction's args. */
typedef struct NslInput {
  NslVector *vector;
  int place, of;
} NslInput;

/* One callback of one object. */
struct NslCallback {
  NslCallee *callee;
  const NsSlot *slot;
  int place; /* the first of its user values of the callee */
  NslBacking backing;
  NsSymbol symbol; /* used by NSL_LIBRARY */
  double *
      out; /* the `entries` numbers of the output, a vector or a matrix that is a user value of the callee; NULL: not made yet */
  int entries;
  const uint64_t *version; /* counts what scripts write into the output */
  NslInput inputs[NS_FUNCTION_ARGS];
  int ninputs;
  struct NslTrace *trace; /* compiled: made for these sizes; NULL until the first call. The function keeps it alive */
  NsDirect direct;        /* where the inputs of the traced function come from; direct.fn: of `trace` */
  bool inexact;           /* it does not accept dual numbers: see `exact` of NsFunction */
  NslShadow shadow;       /* of a plain callback, for its derivatives */
  uint64_t shadow_run;    /* the run (NslHost.runs) that it was made in; 0: none */
  bool stays;             /* a plain callback that nslua.compile has seen, and has left as it is */
  bool silent;            /* the last call of a Lua function neither wrote anything into the output nor returned anything */
};

/*
** What the binding does for a family of classes: systems, relations, boundary conditions. `bind` hands the present callbacks to
** the engine's object, after one came or went and when the sizes become known. NS_ENOMEM.
*/
typedef struct NslCalleeFamily {
  NslCallee *(*check)(lua_State *L, int idx); /* the open object of the family at idx, else an error */
  void *(*object)(NslCallee *callee); /* the engine's object, which has the fields of the class; NULL before it is made */
  NsStatus (*bind)(NslCallee *callee);
  void (*set_z)(lua_State *L, int idx, int value, bool shared); /* sets the parameters z; NULL: the family has no z */
  uint64_t *(*version)(NslCallee *callee);                      /* counts changes of COUNTED fields; NULL: no such fields */
  const char *no_callback; /* error format for a callback that the class lacks; arguments: setter, type, callback */
  bool brief;              /* the setters of callbacks have the brief names of the callbacks */
  void (*clone)(lua_State *L, int from, int to); /* clones what is not in the table of fields; NULL: nothing */
  /* Adjusts the numbers that a script gives for a vector, or raises; NULL: any finite numbers do. */
  void (*fit)(lua_State *L, const NslCallee *callee, const NsField *field, double *given);
} NslCalleeFamily;

/* User values of a callee, with NSL_FIELDS and NSL_CLASS: the arguments of its callbacks, then the function, the output and the shadow of each slot. */
enum { NSL_PLACE_X = 2, NSL_PLACE_LAMBDA = 4, NSL_PLACE_Z, NSL_PLACE_RATE, NSL_PLACE_SLOTS };

enum { NSL_FUNCTION, NSL_OUTPUT, NSL_SHADOW, NSL_SLOT_PLACES }; /* from the `place` of a callback on */

static inline int nsl_callee_uservalues(const NsModelClass *kind) {
  return NSL_PLACE_SLOTS - 1 + NSL_SLOT_PLACES * kind->nslots;
}

/*
** The head of a userdata with callbacks. Its table of fields (NSL_FIELDS) holds what scripts set on the object and anchors what
** the engine points to. Functions and argument vectors are user values, which are read in half the time of a table's elements.
*/
struct NslCallee {
  NslHead head;
  NslHost *host;
  const NslCalleeFamily *family;
  const NsModelClass *kind;
  const char *name; /* the engine object's name, in its buffer */
  int number;       /* in NslHost.callees */
  NslCallback callbacks[NSL_MAX_SLOTS];
  NsDerived functions[NSL_MAX_FUNCTIONS];
  NsArena arena; /* holds the memory of the functions */
  bool sized;
  bool watched;
  NslCallee *next_watched; /* see NslHost.watched */
  unsigned present;        /* the slots that had a callback when they were bound last */
  int n, m, nz;
  NslVector *x, *lambda, *z, *rate; /* the arguments, user values */
  const NsNsds *nsds;               /* the graph that holds the object, anchored in the fields; NULL: none */
};

/*
** Has compiled callbacks of the callee looked at when a step begins: they depend on fields or on variables. nsl_renew_traces does that for
** the objects of a graph: it drops the traces that were made with other values, to be made anew.
*/
void nsl_watch_callee(NslCallee *callee);
void nsl_renew_traces(lua_State *L, const NslHost *host, const NsNsds *nsds);

static inline bool nsl_is_method(const NslCallback *cb) {
  return cb->backing == NSL_METHOD || cb->backing == NSL_COMPILED_METHOD;
}

static inline bool nsl_has_trace(const NslCallback *cb) {
  return cb->backing == NSL_COMPILED || cb->backing == NSL_COMPILED_METHOD;
}

/* Sets up a callee just made by nsl_new at idx. */
void nsl_callee_init(lua_State *L, int idx, NslCallee *callee, const NslCalleeFamily *family, const NsModelClass *kind,
                     const char *name);

/* Frees what the callee owns in C (not the engine's object). */
void nsl_callee_release(NslCallee *callee);

/* Raises when a running step uses the callee: "setMPtr: dynamical system 'ds 1' is being used by a step". */
void nsl_callee_idle(lua_State *L, const NslCallee *callee, const char *what);

/* Pushes the callee's name for messages, "relation 'clutch'". */
const char *nsl_callee_title(lua_State *L, const NslCallee *callee);

/* Whether the callback is called without the time, because its native form has no such argument. */
bool nsl_timeless(const NsSlot *slot);

/* The name of an argument in messages; arg: 'x', 'l', 'v' or 'z'. */
const char *nsl_argument_name(const NslCallee *callee, char arg);

/* The size that a slot's letter stands for. */
int nsl_dimension(const NslCallee *callee, char letter);

/* The number of a slot by its full or brief name; -1 when there is none. */
int nsl_slot(const NslCallee *callee, const char *name);

/* Whether a text "library:symbol" stands at idx; whether such a text, a function or a compiled function stands there. */
bool nsl_is_plugin(lua_State *L, int idx);
bool nsl_may_be_callback(lua_State *L, int idx);

/*
** Gives a slot its callback, which is called without self. nsl_set_function takes what stands at stack index `function`: a
** function, a compiled function, the text "library:symbol" of a native one, or nil (removes the callback). nsl_set_symbol takes
** a native symbol. Raises when there is no such library or symbol.
*/
void nsl_set_function(lua_State *L, int idx, int slot, int function);

/*
** Puts the function or compiled function at stack index `function` in the place of the slot's one, which is called in the same way.
** nsl_exchange_function: within a step, where the engine's object stays as it is.
*/
void nsl_exchange_function(lua_State *L, int idx, int slot, int function);
void nsl_replace_function(lua_State *L, int idx, int slot, int function);

/*
** Looks for a method of each slot in the fields and the class of the callee at idx, and uses it as the slot's callback. Slots
** with a function or a symbol of their own, or with that method compiled, are left alone. Raises when a method is not a function.
*/
void nsl_find_methods(lua_State *L, int idx);

/*
** The body of a setter setX called from Lua, with the object at 1: setX(f), setX(nil), or setX(library, symbol) with the path
** of a shared library. `who`: the setter's name. Returns 0.
*/
int nsl_lua_set_function(lua_State *L, int slot, const char *who);

/* Makes the argument vectors and binds the callbacks. To be called when the sizes become known or change. */
void nsl_callee_size(lua_State *L, int idx, int n, int m, int nz);

/*
** __index and __newindex of callees look in the fields, then in the class, then in the table of methods (upvalue 1). A field
** that would hide one of these methods is refused. A built-in method with the name of a callback (computeMass) comes before
** all: it evaluates, and calls the callback.
*/
int nsl_callee_index(lua_State *L);

/* Anchors the value at stack index `value` in the callee at idx, in place of the value that `key` anchored before. */
void nsl_anchor(lua_State *L, int idx, const char *key, int value);

/* Gives the callee at `to` the functions, symbols, fields and class of the callee at `from`, which is of the same type. */
void nsl_clone_callee(lua_State *L, int from, int to);

/*
** Registers a callee type as nsl_register_type does, with the __index and __newindex above. The table of methods is on top of
** the stack and is popped; below it is the core's table, where the names of the type's callbacks are listed.
*/
void nsl_register_callee_type(lua_State *L, const NslType *type, const NsModelClass *kind, const luaL_Reg *meta);

/* Sets the class of the callee at idx (nil or the table at stack index `class`), and finds its methods. */
void nsl_set_class(lua_State *L, int idx, int class);
