/*
** functions.h
** Mathematical functions of numbers, vectors and matrices, element by element; comparisons of elements.
*/
#ifndef NSL_ARRAY_FUNCTIONS_H
#define NSL_ARRAY_FUNCTIONS_H

#include <lua.h>

/*
** Adds sin, exp, abs ..., atan, maximum, minimum, where to the module on top of the stack, and the comparisons gt, lt ..., any,
** all, find, pick to the methods of vectors and matrices. Another argument is left to its metamethod __each(a, b, op), where b
** is nil for a function of one argument and op is the NsTapeOp: so proxies keep their derivatives.
*/
void nsl_open_functions(lua_State *L);

#endif
