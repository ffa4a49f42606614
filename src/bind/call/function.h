/*
** function.h
** Callbacks and their Jacobians, given or by dual numbers, as the engine's NsFunctions.
*/
#ifndef NSL_CALL_FUNCTION_H
#define NSL_CALL_FUNCTION_H

#include "bind/call/callee.h"

/* A Jacobian that no callback gives. */
enum { NSL_IMPLICIT = -2 };

/*
** Makes number `which` of the callee's NsFunctions out of the slots of a value and its Jacobians by x and by lambda
** (-1: independent; NSL_IMPLICIT: dependent, with no slot for the Jacobian). What is missing is computed: of a vector
** exactly, by dual numbers; of a matrix (a mass) too, or by central differences when the callback takes none or is
** native; of a native vector not at all. A Lua vector has exact derivatives along lines (`along`), as far as the
** callback takes dual numbers.
*/
NsFunction nsl_function(NslCallee *callee, int which, int value, int by_x, int by_lambda);

/* Makes the NsFunction of a single slot: for coefficients of time. */
NsFunction nsl_coefficient_function(NslCallee *callee, int slot);

/*
** out = the exact Jacobian of function `which` by argument number `by` at a point, whether a Jacobian callback is
** given or not: by dual numbers, or by central differences (native callbacks, and those that take no dual numbers;
** *exact is then false). Returns 0, or negative with the error kept.
*/
int nsl_exact_jacobian(NslCallee *callee, int which, int by, double t, const double *const *args, double *out, bool *exact);

#endif
