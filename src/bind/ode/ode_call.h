/*
** ode_call.h
** The callbacks of ns.solve_ivp, ns.root and ns.fsolve: their arguments read, and the functions as the engine calls them.
*/
#ifndef NSL_ODE_ODE_CALL_H
#define NSL_ODE_ODE_CALL_H

#include "ad/colour.h"
#include "bind/array/vector.h"
#include "ode/ivp.h"

enum { NSL_ODE_ARGS = 32, NSL_ODE_COLOURS = 32 };

/* Where df/dy may have entries, and room. A pass takes NSL_ODE_COLOURS colours at most. */
typedef struct NslPattern {
  NsPattern of;
  double *seed, *all;              /* n times that many: of a pass */
  double *direction, *along, *sum; /* n: for the check that nothing was left out */
} NslPattern;

/*
** A solve that runs. Callbacks and the vectors they are given stand in the stack frame of the C function that runs it,
** at these indices; in the stack `L` nothing is raised while the engine runs.
*/
typedef struct NslOde {
  lua_State *L;
  int n, nargs;
  int f, jac, events, args;             /* stack indices; jac 0: by dual numbers; events: a list of functions; args: a list */
  int y, out;                           /* of the vectors */
  NslVector *at, *rate;                 /* those vectors */
  const double *matrix;                 /* jac is this constant matrix, n x n; NULL */
  const NslPattern *pattern;            /* of df/dy by dual numbers; NULL: dense */
  bool timeless;                        /* no t is passed: equations f(x) = 0 */
  const char *who, *value, *derivative; /* for messages: "solve_ivp", "f(t, y)", "jac(t, y)" */
  bool returns;                         /* f has no parameter for an output: it must return */
  double t;                             /* of the evaluation under way */
  double *plain;                        /* n: the values that go with the Jacobian */
  double *J;
  struct NslTrace *trace;        /* f is compiled; NULL */
  struct NslTrace **event_trace; /* of each event, NULL where it is not compiled; NULL: none is */
  double *inputs;                /* of the traces: t, y, args (which stay), and zeros for what f fills */
} NslOde;

/* The engine's callbacks; the context is an NslOde. What Lua raises is kept (nsl_keep_error): NS_ECALLBACK. */
NsStatus nsl_ode_rate(void *context, double t, const double *y, double *ydot, NsError *err);
NsStatus nsl_ode_jacobian(void *context, double t, const double *y, double *J, NsError *err);
NsStatus nsl_ode_event(void *context, int event, double t, const double *y, double *g, NsError *err);

/*
** Takes the traces of f and of the events that are compiled, compared with the plain ones at the start (t, y): the stack is
** laid out, and what is pushed stays. Raises.
*/
void nsl_ode_compile(NslOde *ode, double t, const double *y);

/* ---- reading arguments ---- */

/*
** Lays the options of the table at `options` (nil: none) out behind it, `count` of them in the order of `known`, nil where there is
** none. Raises for what is not known and for too many arguments.
*/
void nsl_ode_lay_out(lua_State *L, const char *who, int options, const char *const *known, int count);

/* Raises unless a function, or what can be called, is at idx. */
void nsl_ode_check_function(lua_State *L, const char *who, int idx, const char *what);

/* A number or a vector at idx, replaced by a vector of its own. */
NslVector *nsl_ode_start(lua_State *L, const char *who, int idx, const char *what);

/* Pushes the vectors y and out, called as said, and one of plain values, and makes ready what calls f and the function at jac (nil: none). */
void nsl_ode_read_callbacks(lua_State *L, NslOde *ode, int n, const char *y, const char *out);

#endif
