/*
** compile.h
** ns.compile: a callback traced into a tape, once for each set of sizes, and into native code.
*/
#ifndef NSL_BIND_COMPILE_H
#define NSL_BIND_COMPILE_H

#include "bind/trace.h"

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
  NSL_RESULT_NOTHING, NSL_RESULT_NUMBERS, NSL_RESULT_LIST, NSL_RESULT_VECTOR, NSL_RESULT_ROWS, NSL_RESULT_FILLED
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
  NslTraceResult result;
  int rows;           /* of NSL_RESULT_ROWS */
  bool returns_last;  /* FILLED: and returned too */
  double *in, *out;   /* inputs, outputs */
  double *jac;        /* outputs x inputs: of the native Jacobian; NULL: none */
  double *direction;  /* inputs: all 0 */
  void (*native)(const double *in, double *out);
  void (*native_jacobian)(const double *in, double *jac);
  const char *compiler; /* NULL: no native code */
  const bool *open;     /* of the native code: false after the state was closed */
} NslTrace;

/* Whether a compiled function stands at idx. */
bool nsl_is_compiled(lua_State *L, int idx);

/* Whether a function or a compiled function stands at idx: what a callback may be. */
bool nsl_is_callback(lua_State *L, int idx);

/* Pushes the plain function behind what stands at idx: of a compiled function its own, else that value. */
void nsl_push_plain_function(lua_State *L, int idx);

/*
** The trace of the compiled function at idx for these arguments, made when there is none yet: it lives as long as the
** compiled function. Raises what the callback raises, for what cannot be traced, and when the values of the trace are
** not those of the callback.
*/
NslTrace *nsl_trace(lua_State *L, int idx, int nargs, const NslTraceArg *args);

/*
** The same with the number of values checked: nout of them, "LABEL: expected 3 values, got 2". quiet: nothing filled and
** nothing returned stands for zeros.
*/
NslTrace *nsl_trace_of(lua_State *L, int idx, int nargs, const NslTraceArg *args, int nout, const char *label, bool quiet);

/* Raises "LABEL[1]: the derivative by NAME[2] is nan" for an entry of a rows x cols Jacobian that is not finite. */
void nsl_check_derivatives(lua_State *L, const char *label, const char *name, int rows, int cols, const double *jac);

/*
** What stands at idx, as an argument. False: a dual or traced number, which the plain function must get. Reading copies its
** numbers to `in`.
*/
bool nsl_trace_classify(lua_State *L, int idx, NslTraceArg *arg);
void nsl_trace_read(lua_State *L, const NslTraceArg *arg, double *in);

/* Where the inputs of an argument (from 0) begin in `in`. */
double *nsl_trace_input(NslTrace *trace, int arg);

/* out = the values at trace->in; NULL: in trace->out only. No Lua runs, nothing is allocated. nan when the state is closed. */
void nsl_trace_value(NslTrace *trace, double *out);

/*
** The derivatives along the line on which the number `time` (an argument; -1: none) moves by tdot and the vector `arg` by w
** (NULL: it stays), as NsFunction's. False when one is not finite.
*/
bool nsl_trace_along(NslTrace *trace, int time, double tdot, int arg, const double *w, double *first, double *second);

/* jac = the derivatives by an argument at trace->in: column-major, one row for each value. */
void nsl_trace_jacobian(NslTrace *trace, int arg, double *jac);

void nsl_open_compile(lua_State *L);

#endif
