/*
** tape.h
** The trace of a callback for one set of arguments: its tape, arrays for inputs and outputs, and native code.
*/
#pragma once

#include "ad/tape.h"
#include "bind/lua/object.h"

enum { NSL_TRACE_ARGS = 40 };

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

/*
** One way through a callback: its tape, whose guards tell where it holds, and native code. `out` has the outputs and the values of
** the guards at the last evaluation.
*/
typedef struct NslPath {
  NslHead head;
  NsTape *tape;
  int inputs, outputs, guards;
  const NsTapeGuard *guard;
  bool returns_last; /* FILLED: and returned too */
  long count;        /* number of evaluations for values */
  double *out;
  double *jac;    /* outputs x inputs: the native Jacobian; NULL: none */
  double *jac_in; /* inputs: the point of jac */
  bool jac_known;
  void (*native)(const double *in, double *out);
  void (*native_jacobian)(const double *in, double *jac);
  void (*native_vjp)(const double *in, const double *weight, double *bar); /* NULL: not made, see nsl_trace_prepare_vjp */
  bool vjp_tried;
  bool pending, later_jacobian; /* native code, with the Jacobian, is in the making; the tape stands in */
  const char *compiler;         /* NULL: no native code */
  const bool *open;             /* native code may be called: false after the Lua state was closed */
  const char *reason;           /* why there is no native code although it was asked for; anchored; NULL */
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

enum { NSL_MOST_PATHS = 64 };

/* Whether native code is wanted: if there is a compiler; always (else an error); never. */
typedef enum NslNative { NSL_NATIVE_IF_ANY, NSL_NATIVE_MUST, NSL_NATIVE_NEVER } NslNative;

/*
** One trace: the paths of a callback for one set of arguments. A path is added where the values leave all others, by a call of the
** function in Lua. The inputs of all arguments follow each other, a matrix by columns; so do the outputs. All users share the
** arrays: they fill, evaluate and read them without interruption.
*/
typedef struct NslTrace {
  NslHead head;
  int nargs, inputs, outputs, paths, most; /* most: paths at most; 1: branches are refused */
  NslTraceArg args[NSL_TRACE_ARGS];
  int offset[NSL_TRACE_ARGS];    /* index of each argument's first input */
  bool moves[NSL_TRACE_ARGS];    /* whether some output may depend on the argument */
  bool constant[NSL_TRACE_ARGS]; /* whether the derivatives with respect to the argument are constant */
  bool touched;                  /* the inputs of the last argument may differ from 0 */
  uint64_t objects;              /* nsl_digest of the object arguments when the trace was made */
  NslTraceResult result;
  int rows;                      /* of NSL_RESULT_ROWS */
  bool shaped;                   /* result, rows and outputs are known: they are the same for all paths */
  NslPath *path;                 /* the last one taken; NULL: there is none yet */
  NslPath *alone;                /* the only one, without guards; NULL: there may be others */
  NslPath *list[NSL_MOST_PATHS]; /* all */
  double *in;                    /* inputs */
  const double *out;             /* outputs of the last evaluation */
  double *direction;             /* inputs: all 0 */
  double *known_in;              /* inputs: the point for which `path` was found, if it has guards and known is set */
  bool known;
  bool checked;                   /* compared with the callback at the first arguments */
  bool wants_vjp, closed, failed; /* failed: an error of the last growth is kept */
  bool unprobed;                  /* the caller compares its values wherever it is used */
  bool exact;                     /* sums that a library may take in another order are refused */
  bool lenient;                   /* side effects are let happen: the values are the plain function's */
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

/* Pushes a new path of a trace, without a tape. */
NslPath *nsl_push_path(lua_State *L, const NslTrace *trace);

/* Whether the trace at index `at` fits these arguments; held: their nsl_trace_objects, which detects changed objects. */
bool nsl_trace_fits(lua_State *L, int at, int nargs, const NslTraceArg *args, uint64_t held);
uint64_t nsl_trace_objects(lua_State *L, int nargs, const NslTraceArg *args);

/* Closes the tape of the path on top of the stack, allocates its arrays and adds it to the trace at index `at`. */
void nsl_trace_add(lua_State *L, NslTrace *trace, int at, NslPath *path);

/* Removes all paths from `count` on. */
void nsl_trace_cut(NslTrace *trace, int count);

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

/* The path at `in`, which is made where it is unknown; NULL: that failed, and the error is kept. */
NslPath *nsl_trace_at(NslTrace *trace, const double *in);

/* Whether the path at `in` is known. */
bool nsl_trace_knows(NslTrace *trace, const double *in);

/* Sets the inputs of the last argument to 0; call it when `touched`. */
void nsl_trace_clear_last(NslTrace *trace);

/* The address in trace->in of the first input of an argument (from 0). */
double *nsl_trace_input(NslTrace *trace, int arg);

/*
** out (NULL: trace->out) = the values at trace->in; nsl_trace_value_at: at `in`, without changing trace->in. Lua code runs, and memory is
** allocated, where a new path begins. False: that failed, see nsl_trace_raise. The values are nan then, and when the Lua state is closed.
*/
bool nsl_trace_value(NslTrace *trace, double *out);
bool nsl_trace_value_at(NslTrace *trace, const double *in, double *out);

/* Whether the values at trace->in are the function's, `plain`, up to the rounding of what the tape computes in another order. */
bool nsl_trace_agrees(NslTrace *trace, const double *plain);

/* jac = the Jacobian by an argument at trace->in: column-major, a row for each value. Returns whether it is finite. */
bool nsl_trace_jacobian(NslTrace *trace, int arg, double *jac);

/* The same by the inputs first .. first + count - 1, of whatever arguments. */
bool nsl_trace_jacobian_of(NslTrace *trace, int first, int count, double *jac);

/* bar (inputs) = the derivatives of the sum of weight[i] times value i by all inputs, at `in`. Returns whether it is finite. */
bool nsl_trace_vjp(NslTrace *trace, const double *in, const double *weight, double *bar);

/* Whether the path that was taken last takes sums that a library takes in another order in the plain callback. */
bool nsl_trace_is_loose(const NslTrace *trace);

/* Whether this Jacobian is known without an evaluation, wherever trace->in is. */
bool nsl_trace_jacobian_known(const NslTrace *trace, int arg);

/*
** first, second = the derivatives along a line, as NsFunction's: the number `time` (an argument; -1: none) moves by tdot, the
** vector `arg` by w (NULL: not at all). False when one is not finite.
*/
bool nsl_trace_along(NslTrace *trace, int time, double tdot, int arg, const double *w, double *first, double *second);

/* Raises "LABEL[1]: the derivative by NAME[2] is nan" for an entry of a rows x cols Jacobian that is not finite. */
void nsl_check_derivatives(lua_State *L, const char *label, const char *name, int rows, int cols, const double *jac);

void nsl_open_trace(lua_State *L);
