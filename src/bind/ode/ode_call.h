/*
** ode_call.h
** The callbacks of ns.solve_ivp, ns.root and ns.fsolve: reading them from Lua, and calling them from the engine.
*/
#pragma once

#include "ad/colour.h"
#include "bind/diff/compile.h"
#include "bind/array/vector.h"
#include "ode/ivp.h"

enum { NSL_ODE_ARGS = 32, NSL_ODE_COLOURS = 32 };

struct NslTraceArg;

/* The sparsity pattern of df/dy, with workspace. One pass with dual numbers computes NSL_ODE_COLOURS colours at most. */
typedef struct NslPattern {
  NsPattern of;
  double *seed, *all;              /* n x NSL_ODE_COLOURS: seeds and derivatives of a pass */
  double *direction, *along, *sum; /* n: for the check that the pattern misses no entry */
} NslPattern;

/*
** A solve under way. The callbacks and their vectors are on the stack of the C function that runs it, at these indices. While
** the engine runs, nothing may raise in `L`.
*/
typedef struct NslOde {
  lua_State *L;
  int n, nargs;
  int f, jac, events, args;             /* stack indices; jac 0: dual numbers; events: a list of functions, and the rate of a
                                           cost behind the events in `known`; args: a list */
  int applies;                          /* stack index of a list: of each event its apply, or false */
  const NsEvents *known;                /* the events, for messages */
  int y, out;                           /* stack indices of the vectors */
  NslVector *at, *rate;                 /* the vectors at these indices */
  const double *matrix;                 /* the constant Jacobian, n x n; NULL: jac is no matrix */
  const NslPattern *pattern;            /* pattern of df/dy for dual numbers; NULL: dense */
  bool timeless;                        /* f is called without t: equations f(x) = 0 */
  const char *who, *value, *derivative; /* for messages: "solve_ivp", "f(t, y)", "jac(t, y)" */
  bool returns;                         /* f has no parameter for an output, so it must return its values */
  double t;                             /* the time of the evaluation under way */
  double *plain;                        /* n: the values of f where the Jacobian is evaluated */
  double *J;
  struct NslTrace *trace;        /* the trace of a compiled f; NULL: not compiled */
  struct NslTrace **event_trace; /* for each event its trace, NULL: not compiled; NULL: no event is */
  double *inputs;                /* inputs of the traces: t, y, args (constant), and zeros for the output that f fills */
  int ninputs;                   /* their number, without the zeros */
  NslCompileRequest compile;     /* of the option */
  bool ran;                      /* a function in Lua has run since the traces were made: see ode_call_renew */
} NslOde;

/* The engine's callbacks; the context is an NslOde. A Lua error is kept (nsl_keep_error): NS_ECALLBACK. */
NsStatus nsl_ode_rate(void *context, double t, const double *y, double *ydot, NsError *err);
NsStatus nsl_ode_jacobian(void *context, double t, const double *y, double *J, NsError *err);
NsStatus nsl_ode_event(void *context, int event, double t, const double *y, double *g, NsError *err);
NsStatus nsl_ode_apply(void *context, int event, double t, double *y, NsError *err);

/*
** Traces f and the events that are compiled, or are to be (ode->compile), and compares them with the plain functions at the start (t, y).
** The stack must be laid out; what is pushed stays. Raises.
*/
void nsl_ode_compile(NslOde *ode, double t, const double *y);

/* ---- for derivatives by the arguments ---- */

/*
** Lists the arguments t, y and args of a trace of f or of an event, pushes the values of args, and allocates the inputs of traces when
** there are none yet. Returns their number, -1 when one is no plain value.
*/
int nsl_ode_trace_arguments(NslOde *ode, struct NslTraceArg *args);

/* The inputs of all traces at (t, y); the inputs for the output of f are 0. */
const double *nsl_ode_inputs(NslOde *ode, double t, const double *y);

/*
** Calls the C function with two arguments, `data` as a light userdata and the value at the stack index `value`, and keeps its error:
** NS_ECALLBACK.
*/
NsStatus nsl_ode_protected(NslOde *ode, lua_CFunction function, void *data, int value, double t, NsError *err);

/*
** bar = the derivatives of sum weight[i] out[i] by all inputs of a trace of f or of an event (t, y, args) at (t, y), in the trace's
** order of inputs.
*/
NsStatus nsl_ode_vjp(NslOde *ode, struct NslTrace *trace, double t, const double *y, const double *weight, double *bar,
                     NsError *err);

/* Makes the sweeps of a compiled f, and of the compiled cost behind the events, native code, if these are. Raises. */
void nsl_ode_prepare_vjp(NslOde *ode);

/* ---- reading arguments ---- */

/*
** Pushes the `count` options of the table at `options` (nil: none) behind it, in the order of `known`, nil for absent ones.
** Raises for unknown options and for too many arguments.
*/
void nsl_ode_lay_out(lua_State *L, const char *who, int options, const char *const *known, int count);

/* Raises unless something callable is at idx. */
void nsl_ode_check_function(lua_State *L, const char *who, int idx, const char *what);

/* Replaces the number or vector at idx by a new vector, and returns it. */
NslVector *nsl_ode_start(lua_State *L, const char *who, int idx, const char *what);

/* Pushes the vectors y and out, so named, and one of plain values; prepares the calls of f and of jac (nil: none). */
void nsl_ode_read_callbacks(lua_State *L, NslOde *ode, int n, const char *y, const char *out);
