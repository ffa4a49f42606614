/*
** ad.h
** Exact Jacobians of a Lua callback: one call with dual numbers in place of numbers.
*/
#ifndef NSL_DIFF_AD_H
#define NSL_DIFF_AD_H

#include "ad/jet.h"
#include "bind/lua/object.h"

/*
** An argument of the callback after the time: n values, contiguous. With `jacobian` set (column-major, nout x n) it
** is passed as a dual vector and its Jacobian is wanted; else as a plain read-only vector. When `pass` is not 0 the
** Lua value at that stack index is passed as it is and nothing else of the struct is used but `label`.
*/
typedef struct NslDualArg {
  const char *label; /* "x", "lambda" */
  int pass;
  int n;
  const double *value;
  double *jacobian;
} NslDualArg;

/*
** A call of f([self,] t, args..., out) with dual numbers, and what is wanted of it: the Jacobians of the arguments that have one; or, where
** `first` is set, derivatives along a line; or, where `seed` is set, those of a kind of ad/jet.h.
**
** out: nout values. The callback may return a table, a vector or a number of nout values in place of filling it. rows > 0: a
** matrix of so many rows, all arrays column by column; the callback sees a table of rows, M[i][j], may write rows, M[i] = {...},
** or return a table of rows; whatever else a matrix has raises an error. Labels need static storage.
*/
typedef struct NslDualCall {
  int function, self;     /* positive stack indices; self 0: none is passed */
  bool has_time, returns; /* has_time: t is passed; returns: out is not passed */
  double t, tdot;         /* tdot: the derivative of t */
  int nargs;
  const NslDualArg *args;
  const char *outlabel;
  int nout, rows;
  const double *plain; /* nout: the values of the plain evaluation */

  const double *const *directions; /* of each argument: its derivative, n; NULL: it stays */
  double *first, *second; /* nout: derivatives in s at s = 0 of f(t + s tdot, args + s directions); second NULL: not wanted */

  NsJet jet;          /* with seed: one pass with numbers of this kind, whose size is ns_jet_size(jet) */
  const double *seed; /* so many derivatives of each element of the one argument that is not passed as it is */
  double *all;        /* so many of each value; those of the kind SLOPES may be nan or infinite */
} NslDualCall;

/*
** Makes the call. The value parts must equal `plain` to the last bit: otherwise an error says which differs and that a Jacobian
** must be given. Derivatives must be finite. Raises Lua errors (call it protected). The callback's math functions accept duals
** during the call, captured ones too (upvalues are swapped and put back, also after an error). A call that raises is made
** again, once, when there are math functions to swap that it did not know of, farther away than the first call of a
** function looks or put there since; then the error goes through. Variables go in passes of 16. Griewank and Walther, Evaluating
** Derivatives, 2nd ed., 2008, chapters 3 (forward mode) and 13 (jets of second order).
*/
void nsl_dual_run(lua_State *L, const NslDualCall *call);

void nsl_open_ad(lua_State *L);

#endif
