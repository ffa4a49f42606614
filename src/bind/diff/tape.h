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
** One trace. The inputs of all arguments follow each other, a matrix by columns; so do the outputs. All users share the
** arrays: they fill, evaluate and read them without interruption.
*/
typedef struct NslTrace {
  NslHead head;
  NsTape *tape;
  int nargs, inputs, outputs;
  NslTraceArg args[NSL_TRACE_ARGS];
  int offset[NSL_TRACE_ARGS];    /* index of each argument's first input */
  bool moves[NSL_TRACE_ARGS];    /* whether some output depends on the argument */
  bool constant[NSL_TRACE_ARGS]; /* whether the derivatives with respect to the argument are constant */
  bool touched;                  /* the inputs of the last argument may differ from 0 */
  uint64_t objects;              /* nsl_digest of the object arguments when the trace was made */
  NslTraceResult result;
  int rows;          /* of NSL_RESULT_ROWS */
  bool returns_last; /* FILLED: and returned too */
  double *in, *out;  /* inputs, outputs */
  double *jac;       /* outputs x inputs: the native Jacobian; NULL: none */
  double *jac_in;    /* inputs: the point of jac */
  bool jac_known;
  double *direction; /* inputs: all 0 */
  void (*native)(const double *in, double *out);
  void (*native_jacobian)(const double *in, double *jac);
  void (*native_vjp)(const double *in, const double *weight, double *bar); /* NULL: not made, see nsl_trace_prepare_vjp */
  bool vjp_tried;
  bool checked;         /* compared with the callback at the first arguments */
  const char *compiler; /* NULL: no native code */
  const bool *open;     /* native code may be called: false after the Lua state was closed */
  const char *reason;   /* why there is no native code although it was asked for; anchored; NULL */
} NslTrace;

/* User values of a trace. */
enum {
  NSL_TRACE_LIBRARY = 1,
  NSL_TRACE_OBJECTS,
  NSL_TRACE_ROOM,
  NSL_TRACE_JACOBIAN,
  NSL_TRACE_REASON,
  NSL_TRACE_VJP,
  NSL_TRACE_KEPT,
  NSL_TRACE_VALUES = NSL_TRACE_KEPT
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

/* Pushes a new trace for these arguments, without a tape; it keeps their objects alive. */
NslTrace *nsl_push_trace(lua_State *L, int nargs, const NslTraceArg *args);

/* Whether the trace at index `at` fits these arguments; held: their nsl_trace_objects, which detects changed objects. */
bool nsl_trace_fits(lua_State *L, int at, int nargs, const NslTraceArg *args, uint64_t held);
uint64_t nsl_trace_objects(lua_State *L, int nargs, const NslTraceArg *args);

/* Closes the tape of the trace at index `at` and allocates its arrays; the second: the arrays of a native Jacobian. */
void nsl_trace_close(lua_State *L, NslTrace *trace, int at);
void nsl_trace_take_jacobian(lua_State *L, NslTrace *trace, int at);

/* Sets the inputs of the last argument to 0; call it when `touched`. */
void nsl_trace_clear_last(NslTrace *trace);

/* The address in trace->in of the first input of an argument (from 0). */
double *nsl_trace_input(NslTrace *trace, int arg);

/*
** out (NULL: trace->out) = the values at trace->in; nsl_trace_value_at: at `in`, without changing trace->in. No Lua code runs,
** nothing is allocated. The values are nan when the Lua state is closed.
*/
void nsl_trace_value(NslTrace *trace, double *out);
void nsl_trace_value_at(NslTrace *trace, const double *in, double *out);

/* Whether the values at trace->in are the function's, `plain`, up to the rounding of what the tape computes in another order. */
bool nsl_trace_agrees(NslTrace *trace, const double *plain);

/* jac = the Jacobian by an argument at trace->in: column-major, a row for each value. Returns whether it is finite. */
bool nsl_trace_jacobian(NslTrace *trace, int arg, double *jac);

/* The same by the inputs first .. first + count - 1, of whatever arguments. */
bool nsl_trace_jacobian_of(NslTrace *trace, int first, int count, double *jac);

/* bar (inputs) = the derivatives of the sum of weight[i] times value i by all inputs, at `in`. Returns whether it is finite. */
bool nsl_trace_vjp(NslTrace *trace, const double *in, const double *weight, double *bar);

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
