/*
** law_time.h
** Bounds and coefficients of friction of laws that are functions of time.
*/
#pragma once

#include "bind/model/model.h"

/*
** User values of a law: for each field that may be a function of time, in the order of the table, a function or a list; nil: numbers. Behind
** them, for each, the compiled functions: a table with one for each row, 1 for a function of all rows, and the NslBoundTraces at 0.
*/
enum { NSL_LAW_USERVALUES = 2 * NS_LAW_TIMED };

/*
** Takes the functions out of the arguments of the constructor of the law at 1, which begin at idx, and leaves a number in the
** place of each, until a run begins.
*/
void nsl_take_bound_functions(lua_State *L, int idx);

/* Gives the law at idx the functions of the law at `from`, which may be the same. */
void nsl_bind_bound_functions(lua_State *L, int from, int idx);

/* Whether a function, or a list with a function in it, stands at idx. */
bool nsl_is_bound_function(lua_State *L, int idx);
