/*
** ad.h
** Exact Jacobians of a Lua callback: one call with dual numbers instead of numbers.
*/
#pragma once

#include "ad/jet.h"
#include "bind/lua/object.h"

/*
** An argument of the callback after the time: n contiguous values. When `jacobian` is set (column-major, nout x n) the
** argument is passed as a dual vector and the Jacobian is filled; otherwise it is passed as a read-only vector. When `pass` is
** not 0, the Lua value at that stack index is passed unchanged; then only `label` is used besides.
*/
typedef struct NslDualArg {
  const char *label; /* "x", "lambda" */
  int pass;
  int n;
  const double *value;
  double *jacobian;
} NslDualArg;

/*
** A call of f([self,] t, args..., out) with dual numbers. It computes one of: the Jacobians of the arguments with a
** `jacobian`; with `first` set, derivatives along a line; with `seed` set, derivatives of a kind of ad/jet.h.
**
** out has nout values; the callback may also return them as a table, a vector or a number. rows > 0: out is a matrix with that
** many rows, and all arrays hold it column by column. The callback sees a table of rows (M[i][j]), and may write rows (M[i] =
** {...}) or return a table of rows; other uses of a matrix raise an error. Labels need static storage.
*/
typedef struct NslDualCall {
  int function, self;     /* positive stack indices; self 0: no self is passed */
  bool has_time, returns; /* has_time: t is passed; returns: out is not passed */
  double t, tdot;         /* tdot: the derivative of t */
  int nargs;
  const NslDualArg *args;
  const char *outlabel;
  int nout, rows;
  const double *plain; /* nout: the values of the evaluation with plain numbers */

  const double *const *directions; /* for each argument its derivative in s (n), NULL: 0 */
  double *first,
      *second; /* nout: first and second derivative at s = 0 of f(t + s tdot, args + s directions); second NULL: not wanted */

  NsJet jet;          /* with seed: the kind of numbers, each with ns_jet_size(jet) derivatives; there is one pass */
  const double *seed; /* ns_jet_size(jet) derivatives for each element of the one argument without `pass` */
  double *all;        /* ns_jet_size(jet) derivatives for each value of out; of the kind SLOPES they may be nan or infinite */
  bool *not_finite;   /* set before a derivative that is not finite is raised; NULL: not wanted */
} NslDualCall;

/*
** Makes the call. Its values must equal `plain` to the last bit, otherwise an error names the one that differs and asks for a
** Jacobian. Derivatives must be finite. Raises Lua errors: call it protected. During the call the callback's math functions
** accept duals, also those captured as upvalues (they are replaced, and restored even after an error). The first search for
** math functions is short. If the call raises, a full search follows, and when it finds more functions the call is repeated
** once; otherwise the error is passed on. Variables are taken 16 in a pass. Griewank and Walther, Evaluating Derivatives, 2nd
** ed., 2008, chapters 3 (forward mode) and 13 (second order).
*/
void nsl_dual_run(lua_State *L, const NslDualCall *call);
