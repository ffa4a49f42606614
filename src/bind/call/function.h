/*
** function.h
** Callbacks and their Jacobians (given, or computed by dual numbers) as the engine's NsFunctions.
*/
#pragma once

#include "bind/call/callee.h"

/* Stands for the slot of a Jacobian that exists but that no callback gives. */
enum { NSL_IMPLICIT = -2 };

/*
** Makes NsFunction number `which` of the callee from the slots of a value and of its Jacobians by x and by lambda (-1:
** independent of it; NSL_IMPLICIT: dependent, without a slot for the Jacobian). A missing Jacobian is computed by dual numbers;
** for a matrix (a mass) whose callback is native or does not accept dual numbers, by central differences; for a native vector
** it is an error. A Lua vector also has exact derivatives along lines (`along`) when its callback accepts dual numbers.
*/
NsFunction nsl_function(NslCallee *callee, int which, int value, int by_x, int by_lambda);

/* Makes the NsFunction of a single slot, for coefficients that depend on time. */
NsFunction nsl_coefficient_function(NslCallee *callee, int slot);

/*
** out = the Jacobian of function `which` by argument number `by` at a point, also when a Jacobian callback is given: by dual
** numbers (*exact is true), or by central differences when the callback is native or does not accept dual numbers. Returns 0,
** or negative with the error kept.
*/
int nsl_exact_jacobian(NslCallee *callee, int which, int by, double t, const double *const *args, double *out, bool *exact);
