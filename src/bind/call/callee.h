/*
** callee.h
** A model object with callbacks: its slots, its functions and argument vectors, its fields and its class.
*/
#ifndef NSL_CALL_CALLEE_H
#define NSL_CALL_CALLEE_H

#include "base/arena.h"
#include "base/function.h"
#include "bind/lua/host.h"
#include "bind/array/matrix.h"
#include "bind/array/vector.h"
#include "io/library.h"
#include "model/class.h"
#include "model/nsds.h"

enum { NSL_MAX_SLOTS = 10, NSL_MAX_FUNCTIONS = 4 };

/* A method gets self first. COMPILED: by ns.compile. */
typedef enum NslBacking { NSL_ABSENT, NSL_LUA, NSL_METHOD, NSL_LIBRARY, NSL_COMPILED, NSL_COMPILED_METHOD } NslBacking;

typedef NsSymbol NslSymbol;

typedef struct NslCallee NslCallee;

/* One callback of one object. */
struct NslCallback {
  NslCallee *callee;
  const NsSlot *slot;
  NslBacking backing;
  NslSymbol symbol;  /* NSL_LIBRARY */
  NslVector *vector; /* the output, anchored in the sheet: one of the two */
  NslMatrix *matrix;
  double *out; /* its numbers, so many */
  int entries;
  struct NslTrace *trace; /* compiled: for these sizes; NULL until it is called. The function keeps it alive */
  bool timed;             /* with the trace: it gets the time */
  int inputs;             /* with the trace: how many of the arguments that the slot lists are not empty */
  char letter[4];         /* with the trace: which, and their sizes */
  int count[4];
  int argument[2]; /* with the trace: the numbers of the arguments that Jacobians are by; -1: there is none */
  bool silent;     /* the last call of a Lua function neither wrote anything into the output nor returned anything */
};

/*
** A value callback together with those of its Jacobians, as one NsFunction of the engine; and the memory of its last
** point.
*/
typedef struct NslFunction {
  NslCallee *callee;
  int value;             /* slot */
  int by[2];             /* the slots of the Jacobians by x and by lambda; -1: the value does not depend on it */
  double t, *x, *lambda; /* the last point of a plain evaluation */
  double *plain;         /* its value, when it is a vector */
  bool plain_known, jacobians_known;
  double *jacobian[2]; /* by dual numbers, at that point */
  double *low;         /* room for a value: of differences, or of a matrix */
  bool no_duals;       /* a matrix whose callback did not take dual numbers */
} NslFunction;

/*
** What the binding does for a family of classes: systems, relations, boundary conditions. `bind` hands the callbacks that are
** there to the engine's object; it is called whenever one came or went, and when the sizes become known. NS_ENOMEM.
*/
typedef struct NslCalleeFamily {
  NslCallee *(*check)(lua_State *L, int idx); /* the open object of the family at idx, else an error */
  void *(*object)(NslCallee *callee);         /* the engine's, which has the fields of the class; NULL before it is made */
  NsStatus (*bind)(NslCallee *callee);
  void (*set_z)(lua_State *L, int idx, int value, bool shared); /* gives it the parameters at `value`; NULL: it has none */
  uint64_t *(*version)(NslCallee *callee);                      /* of the state, for COUNTED fields; NULL: there are none */
  const char *no_callback; /* what a setter says of a callback that the class has not: of itself, the type, the callback */
  bool brief;              /* that has its brief name there */
  void (*clone)(lua_State *L, int from, int to); /* gives a clone what is no field; NULL: there is nothing */
  /* Adjusts the numbers that a script gives for a vector, or raises; NULL: any finite numbers do. */
  void (*fit)(lua_State *L, const NslCallee *callee, const NsField *field, double *given);
} NslCalleeFamily;

/* User values of a callee, with NSL_FIELDS and NSL_CLASS. */
enum { NSL_SHEET = 2, NSL_USERVALUES = 3 };

/* Places in the sheet: the arguments, then for each slot its function and its output. */
enum { NSL_SHEET_X = 1, NSL_SHEET_LAMBDA, NSL_SHEET_Z, NSL_SHEET_RATE, NSL_SHEET_SLOTS };

static inline int nsl_function_place(int slot) {
  return NSL_SHEET_SLOTS + 2 * slot;
}

static inline int nsl_output_place(int slot) {
  return NSL_SHEET_SLOTS + 2 * slot + 1;
}

/*
** The head of a userdata that has callbacks. The fields table holds what scripts set on the object and anchors what
** the engine points to; the sheet holds functions and argument vectors by number, for speed.
*/
struct NslCallee {
  NslHead head;
  NslHost *host;
  const NslCalleeFamily *family;
  const NsModelClass *kind;
  const char *name; /* the engine object's name, in its buffer */
  NslCallback callbacks[NSL_MAX_SLOTS];
  NslFunction functions[NSL_MAX_FUNCTIONS];
  NsArena arena; /* of the functions' memories */
  bool sized;
  unsigned present; /* the slots that had a callback when they were bound last */
  int n, m, nz;
  NslVector *x, *lambda, *z, *rate; /* the arguments, anchored in the sheet */
  const NsNsds *nsds;               /* that it is in, anchored in the fields; NULL: none */
};

/* Compiled methods of the callee at idx whose trace was made when a field held something else are traced anew when they are called. */
void nsl_renew_traces(lua_State *L, int idx);

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

/* Raises when a step is being computed with it: "setMPtr: dynamical system 'ds 1' is being used by a step". */
void nsl_callee_idle(lua_State *L, const NslCallee *callee, const char *what);

/* The name for messages, "relation 'clutch'", pushed. */
const char *nsl_callee_title(lua_State *L, const NslCallee *callee);

/* Whether a callback is called without the time: its native form has none. */
bool nsl_timeless(const NsSlot *slot);

/* What an argument of a slot is called: 'x', 'l', 'v' or 'z'. */
const char *nsl_argument_name(const NslCallee *callee, char arg);

/* The size that a slot's letter stands for. */
int nsl_dimension(const NslCallee *callee, char letter);

/* The number of a slot by its full or brief name; -1 when there is none. */
int nsl_slot(const NslCallee *callee, const char *name);

/* Whether a text "library:symbol" stands at idx; whether that, a function or a compiled function does. */
bool nsl_is_plugin(lua_State *L, int idx);
bool nsl_may_be_callback(lua_State *L, int idx);

/*
** Gives a slot the function or compiled function at stack index `function`, called without self (nil: takes the
** callback away), or a native symbol: that of the text "library:symbol" at `function`, or a given one. Raises when there
** is no such library or symbol.
*/
void nsl_set_function(lua_State *L, int idx, int slot, int function);
void nsl_set_symbol(lua_State *L, int idx, int slot, NslSymbol symbol);

/*
** Looks for a method of each slot in the fields and the class of the callee at idx, and takes what it finds, but for
** the slots that were given a function or a symbol. Raises for one that is no function.
*/
void nsl_find_methods(lua_State *L, int idx);

/*
** From Lua, the object at 1: setX(f), setX(nil), or setX(library, symbol) with the path of a shared library. `who`:
** the setter's name. Returns 0.
*/
int nsl_lua_set_function(lua_State *L, int slot, const char *who);

/* Makes the argument vectors and binds the callbacks; called when the sizes are known, and again when they change. */
void nsl_callee_size(lua_State *L, int idx, int n, int m, int nz);

/*
** __index and __newindex of callees: fields, then the class, then the methods table in upvalue 1. A field that would
** hide one of those methods is refused. A method with the name of a callback (computeMass) comes before all: it
** evaluates, and calls the callback.
*/
int nsl_callee_index(lua_State *L);
int nsl_callee_newindex(lua_State *L);

/* Keeps the value at stack index `value` alive as long as the callee at idx, in place of what `key` kept before. */
void nsl_anchor(lua_State *L, int idx, const char *key, int value);

/* Gives the callee at `to` the functions, symbols, fields and class of the one at `from`, of the same type. */
void nsl_clone_callee(lua_State *L, int from, int to);

/*
** Registers a callee type: as nsl_register_type, with the __index and __newindex above. Below the table of its methods, which
** is popped, the core's table is on top of the stack; the names of the type's callbacks are listed there.
*/
void nsl_register_callee_type(lua_State *L, const NslType *type, const NsModelClass *kind, const luaL_Reg *meta);

/* Sets the class table (nil or table at stack index `class`) of the callee at idx, and finds its methods. */
void nsl_set_class(lua_State *L, int idx, int class);

void nsl_open_callee(lua_State *L);

#endif
