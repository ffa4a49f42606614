/*
** tape.h
** The trace of a callback for one set of arguments: its tape with room for inputs and outputs, and native code.
*/
#ifndef NSL_DIFF_TAPE_H
#define NSL_DIFF_TAPE_H

#include "ad/tape.h"
#include "bind/lua/object.h"

enum { NSL_TRACE_ARGS = 40 };

/* What a compiled function is called with. NUMBER, VECTOR (a vector, or a list of numbers) and MATRIX are inputs. */
typedef enum NslTraceKind { NSL_TRACE_NUMBER, NSL_TRACE_VECTOR, NSL_TRACE_MATRIX, NSL_TRACE_OBJECT } NslTraceKind;

/* One argument. A vector has cols 1; OBJECT is passed as it is: `index` is where it stands on the stack. */
typedef struct NslTraceArg {
  NslTraceKind kind;
  int rows, cols;
  const char *label; /* static; NULL: by its number */
  int index;
} NslTraceArg;

/* What the callback gives: nothing, `count` numbers, a list, a vector, a list of rows; or it fills its last argument. */
typedef enum NslTraceResult {
  NSL_RESULT_NOTHING,
  NSL_RESULT_NUMBERS,
  NSL_RESULT_LIST,
  NSL_RESULT_VECTOR,
  NSL_RESULT_ROWS,
  NSL_RESULT_FILLED
} NslTraceResult;

/*
** One trace: inputs are those of all arguments, one after the other, a matrix by columns; outputs likewise. The rooms
** are shared by all users: filled, evaluated and read at once.
*/
typedef struct NslTrace {
  NslHead head;
  NsTape *tape;
  int nargs, inputs, outputs;
  NslTraceArg args[NSL_TRACE_ARGS];
  int offset[NSL_TRACE_ARGS];    /* where the inputs of each begin */
  bool moves[NSL_TRACE_ARGS];    /* whether a value depends on the argument */
  bool constant[NSL_TRACE_ARGS]; /* whether the derivatives by the argument are the same everywhere */
  bool touched;                  /* the inputs of the last argument may be other than 0 */
  uint64_t objects;              /* nsl_digest of the objects among the arguments, when it was made */
  NslTraceResult result;
  int rows;          /* of NSL_RESULT_ROWS */
  bool returns_last; /* FILLED: and returned too */
  double *in, *out;  /* inputs, outputs */
  double *jac;       /* outputs x inputs: of the native Jacobian; NULL: none */
  double *jac_in;    /* inputs: where jac is known */
  bool jac_known;
  double *direction; /* inputs: all 0 */
  void (*native)(const double *in, double *out);
  void (*native_jacobian)(const double *in, double *jac);
  bool checked;         /* compared with the callback at the arguments of its first use */
  const char *compiler; /* NULL: no native code */
  const bool *open;     /* of the native code: false after the state was closed */
  const char *reason;   /* why there is none although it was asked for, anchored; NULL */
} NslTrace;

/* User values of a trace. */
enum {
  NSL_TRACE_LIBRARY = 1,
  NSL_TRACE_OBJECTS,
  NSL_TRACE_ROOM,
  NSL_TRACE_JACOBIAN,
  NSL_TRACE_REASON,
  NSL_TRACE_VALUES = NSL_TRACE_REASON
};

/* Whether an argument is an input, no object; how many inputs it has; what messages call argument a (from 0). */
bool nsl_trace_is_input(const NslTraceArg *arg);
int nsl_trace_size(const NslTraceArg *arg);
const char *nsl_trace_label(const NslTraceArg *args, int a);

/*
** What stands at idx, as an argument. False: a dual or traced number, which the plain function must get. Reading copies its
** numbers to `in`.
*/
bool nsl_trace_classify(lua_State *L, int idx, NslTraceArg *arg);
void nsl_trace_read(lua_State *L, const NslTraceArg *arg, double *in);

/* Pushes a new trace for these arguments, without a tape; it keeps the objects among them. */
NslTrace *nsl_push_trace(lua_State *L, int nargs, const NslTraceArg *args);

/*
** Whether the trace at stack index `at` is one for these arguments. `held`: nsl_trace_objects of them, which tells whether an
** object holds what it held when it was made.
*/
bool nsl_trace_fits(lua_State *L, int at, int nargs, const NslTraceArg *args, uint64_t held);
uint64_t nsl_trace_objects(lua_State *L, int nargs, const NslTraceArg *args);

/* Closes the tape of the trace at index `at` and takes the room for its numbers; that of a native Jacobian. */
void nsl_trace_close(lua_State *L, NslTrace *trace, int at);
void nsl_trace_take_jacobian(lua_State *L, NslTrace *trace, int at);

/* Sets the inputs of the last argument to 0: to be called where they are `touched`. */
void nsl_trace_clear_last(NslTrace *trace);

/* Where the inputs of an argument (from 0) begin in `in`. */
double *nsl_trace_input(NslTrace *trace, int arg);

/*
** out (NULL: trace->out) = the values at trace->in; at `in`, which leaves trace->in alone. No Lua runs, nothing is allocated.
** nan when the state is closed.
*/
void nsl_trace_value(NslTrace *trace, double *out);
void nsl_trace_value_at(NslTrace *trace, const double *in, double *out);

/* jac = the derivatives by an argument at trace->in: column-major, one row for each value. Whether they are finite. */
bool nsl_trace_jacobian(NslTrace *trace, int arg, double *jac);

/* Whether these derivatives are known wherever trace->in is. */
bool nsl_trace_jacobian_known(const NslTrace *trace, int arg);

/*
** The derivatives along the line on which the number `time` (an argument; -1: none) moves by tdot and the vector `arg` by w
** (NULL: it stays), as NsFunction's. False when one is not finite.
*/
bool nsl_trace_along(NslTrace *trace, int time, double tdot, int arg, const double *w, double *first, double *second);

/* Raises "LABEL[1]: the derivative by NAME[2] is nan" for an entry of a rows x cols Jacobian that is not finite. */
void nsl_check_derivatives(lua_State *L, const char *label, const char *name, int rows, int cols, const double *jac);

void nsl_open_trace(lua_State *L);

#endif
