/*
** ode.h
** ns.solve_ivp, ns.root and ns.fsolve: their callbacks as the engine calls them, the result of solve_ivp.
*/
#ifndef NSL_ODE_ODE_H
#define NSL_ODE_ODE_H

#include "bind/array/vector.h"
#include "ode/ivp.h"

enum { NSL_ODE_ARGS = 32, NSL_ODE_COLOURS = 32 };

/*
** Where df/dy may have entries: those of column j are row[colptr[j]] .. row[colptr[j + 1] - 1], and columns of one colour
** share no row. A pass takes NSL_ODE_COLOURS colours at most: seed and all (n times that many) are for it.
*/
typedef struct NslPattern {
  int colours;
  int *colptr, *row, *colour;
  double *seed, *all;
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

/* Whether the function at idx has at most `inputs` parameters: it must return its values. */
bool nsl_ode_returns(lua_State *L, int idx, int inputs);

/* Pushes an empty result for n equations: an object that owns it. */
NsIvp *nsl_push_dense(lua_State *L, int n, int rows, int events);

/* The metatable of what solve_ivp and ns.dae return. */
#define NSL_RESULT "nslua.result"

/* Pushes the table that solve_ivp returns, from the object at `dense`. */
void nsl_push_ivp(lua_State *L, int dense, bool keep, bool events);

void nsl_open_ode_dense(lua_State *L);
void nsl_open_ode(lua_State *L);
void nsl_open_root(lua_State *L);

#endif
