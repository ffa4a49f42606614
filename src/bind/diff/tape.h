/*
** tape.h
** The trace of a callback for one set of arguments: a function known by its paths (ad/paths.h) that the callback makes.
*/
#pragma once

#include "ad/paths.h"
#include "bind/lua/object.h"

/* Kinds of arguments of a compiled function. NUMBER, VECTOR (a vector, or a list of numbers) and MATRIX are inputs. */
typedef enum NslTraceKind { NSL_TRACE_NUMBER, NSL_TRACE_VECTOR, NSL_TRACE_MATRIX, NSL_TRACE_OBJECT } NslTraceKind;

/* One argument. A vector has cols 1. An OBJECT is passed unchanged; `index` is its stack index. */
typedef struct NslTraceArg {
  NslTraceKind kind;
  int rows, cols;
  const char *label; /* static; NULL: messages use its number */
  int index;
} NslTraceArg;

/* Results of a callback: nothing; `count` numbers; a list; a vector; a list of rows; or it fills its last argument. */
typedef enum NslTraceResult {
  NSL_RESULT_NOTHING,
  NSL_RESULT_NUMBERS,
  NSL_RESULT_LIST,
  NSL_RESULT_VECTOR,
  NSL_RESULT_ROWS,
  NSL_RESULT_FILLED
} NslTraceResult;

/* One path of a trace, with what its compiler tells. */
typedef struct NslPath {
  NslHead head;
  NsPath way;
  bool returns_last;    /* FILLED: and returned too */
  bool vjp_tried;       /* native code for products with the transposed Jacobian was asked for */
  bool later_jacobian;  /* the native code in the making has the Jacobian */
  const char *compiler; /* NULL: no native code */
  const char *reason;   /* why there is no native code although it was asked for; anchored; NULL */
} NslPath;

/* User values of a path. KEPT: see nsl_tracer_keep. */
enum {
  NSL_PATH_LIBRARY = 1,
  NSL_PATH_OUT,
  NSL_PATH_JACOBIAN,
  NSL_PATH_REASON,
  NSL_PATH_VJP,
  NSL_PATH_KEPT,
  NSL_PATH_VALUES = NSL_PATH_KEPT
};

/* Whether native code is wanted: if there is a compiler; always (else an error); never. */
typedef enum NslNative { NSL_NATIVE_IF_ANY, NSL_NATIVE_MUST, NSL_NATIVE_NEVER } NslNative;

/* One trace: the paths of a callback for one set of arguments, a matrix by columns. A path is added by a call of the function in Lua. */
typedef struct NslTrace {
  NslHead head;
  NsPaths fn;
  int most; /* paths at most; 1: branches are refused */
  NslTraceArg args[NS_PATHS_ARGS];
  uint64_t objects; /* nsl_digest of the object arguments when the trace was made */
  NslTraceResult result;
  int rows;       /* of NSL_RESULT_ROWS */
  bool shaped;    /* result, rows and fn.outputs are known: they are the same for all paths */
  bool checked;   /* compared with the callback at the first arguments */
  bool wants_vjp; /* paths get native code for products with the transposed Jacobian */
  bool unprobed;  /* the caller compares its values wherever it is used */
  bool exact;     /* sums that a library may take in another order are refused */
  bool lenient;   /* side effects are let happen: the values are the plain function's */
  NslNative wanted;
  bool waits;           /* for native code, also at the start of a run */
  lua_CFunction grow;   /* (trace, in, first): adds the path at `in`, of the first arguments or of later ones; raises */
  lua_CFunction adopt;  /* (trace, path, in): takes native code that was made meanwhile, if it is ready */
  lua_State *L;         /* runs `grow` in the middle of an evaluation; its stack holds the trace */
  lua_State *variables; /* what the paths depend on besides the arguments (tape_watch.h); NULL: nothing */
} NslTrace;

/* User values of a trace: VARIABLES: see tape_watch.h; ERROR: what the last growth raised; PROGRAM: the compiler's name. */
enum {
  NSL_TRACE_FUNCTION = 1,
  NSL_TRACE_ROOM,
  NSL_TRACE_OBJECTS,
  NSL_TRACE_PATHS,
  NSL_TRACE_VARIABLES,
  NSL_TRACE_THREAD,
  NSL_TRACE_ERROR,
  NSL_TRACE_PROGRAM,
  NSL_TRACE_VALUES = NSL_TRACE_PROGRAM
};

/* Whether an argument is an input (not an object); the number of its inputs; the name of argument a (from 0) in messages. */
bool nsl_trace_is_input(const NslTraceArg *arg);
int nsl_trace_size(const NslTraceArg *arg);
const char *nsl_trace_label(const NslTraceArg *args, int a);

/*
** Describes the value at idx as an argument. False: a dual or a traced number, with which the plain function must be called.
** nsl_trace_read copies its numbers to `in`.
*/
bool nsl_trace_classify(lua_State *L, int idx, NslTraceArg *arg);
void nsl_trace_read(lua_State *L, const NslTraceArg *arg, double *in);

/* Pushes a new trace of the function at idx for these arguments, without a path; it keeps the function and their objects alive. */
NslTrace *nsl_push_trace(lua_State *L, int idx, int nargs, const NslTraceArg *args);

/* Pushes a new path of a trace, without a tape; the object of a path of a trace. */
NslPath *nsl_push_path(lua_State *L, const NslTrace *trace);
const NslPath *nsl_path_object(const NsPath *way);

/* Whether the trace at index `at` fits these arguments; held: their nsl_trace_objects, which detects changed objects. */
bool nsl_trace_fits(lua_State *L, int at, int nargs, const NslTraceArg *args, uint64_t held);
uint64_t nsl_trace_objects(lua_State *L, int nargs, const NslTraceArg *args);

/* Closes the tape of the path on top of the stack, allocates its arrays and adds it to the trace at index `at`. */
void nsl_trace_add(lua_State *L, NslTrace *trace, int at, NslPath *path);

/* Allocates the arrays of a native Jacobian of the path at index `at`. */
void nsl_path_take_jacobian(lua_State *L, NslPath *path, int at);

/*
** Adds the path of the present inputs to the trace at index `at`, if there is none; raises. In an evaluation it is done by itself, and an
** error is kept: nsl_trace_raise raises it.
*/
void nsl_trace_start(lua_State *L, NslTrace *trace, int at);
int nsl_trace_raise(lua_State *L, NslTrace *trace);

/* The same as a function of Lua, with the trace as its argument. */
int nsl_raise_of_trace(lua_State *L);

/* Raises "LABEL[1]: the derivative by NAME[2] is nan" for an entry of a rows x cols Jacobian that is not finite. */
void nsl_check_derivatives(lua_State *L, const char *label, const char *name, int rows, int cols, const double *jac);

void nsl_open_trace(lua_State *L);
