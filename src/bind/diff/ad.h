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
** Calls the function at stack index `function` as f([self,] t, args..., out) with dual numbers and fills the
** Jacobians. `self` is a stack index or 0; has_time says whether t is passed. `plain` holds the nout values of the
** plain evaluation: the value parts must equal them to the last bit, otherwise an error says which differs and that
** a Jacobian must be given. Raises Lua errors (call it protected). The callback's math functions accept duals
** during the call, captured ones too (upvalues are swapped and put back, also after an error). The callback may
** return a table, a vector or a number of exactly nout values in place of filling `out`. A call that raises is made
** again, once, when there are math functions to swap that it did not know of, farther away than the first call of a
** function looks or put there since; then the error goes through.
** Derivatives must be finite. Labels need static storage. Variables go in passes of 16. Griewank and Walther,
** Evaluating Derivatives, 2nd ed., 2008, chapter 3 (forward mode).
*/
void nsl_dual_jacobians(lua_State *L, int function, int self, bool has_time, double t, int nargs, const NslDualArg *args,
                        const char *outlabel, int nout, const double *plain);

/*
** The same for a callback whose output is a matrix of `rows` rows, plain and Jacobians column by column. The callback
** sees it as a table of rows, M[i][j], and may write rows, M[i] = {...}, or return a table of rows; whatever else a
** matrix has raises an error.
*/
void nsl_dual_matrix_jacobians(lua_State *L, int function, int self, bool has_time, double t, int nargs, const NslDualArg *args,
                               const char *outlabel, int nout, int rows, const double *plain);

/*
** The same for the derivatives in s, at s = 0, of f(t + s tdot, args + s directions): first (nout) and, by jets of second
** order, second (nout; NULL: not wanted). An argument with the direction NULL stays; `jacobian` is not read. Griewank
** and Walther, chapter 13.
*/
void nsl_dual_along(lua_State *L, int function, int self, bool has_time, double t, double tdot, int nargs,
                    const NslDualArg *args, const double *const *directions, const char *outlabel, int nout,
                    const double *plain, double *first, double *second);

/*
** The same in numbers of any kind of ad/jet.h, in one pass of f(t, args, out): seed has those ns_jet_size(jet) derivatives
** of each element of the one argument that is not passed as it is, one element after the other, and all gets those of each
** value, which of the kind SLOPES may be nan or infinite. The first derivative of t is tdot.
*/
void nsl_dual_jets(lua_State *L, int function, double t, double tdot, int nargs, const NslDualArg *args, NsJet jet,
                   const double *seed, const char *outlabel, int nout, const double *plain, double *all);

void nsl_open_ad(lua_State *L);

/* The functions of t and q that lua/nslua/mechanics.lua evaluates, in the hidden table motion_support. */
void nsl_open_kinematics(lua_State *L);

#endif
