/*
** samples.h
** Vectors as samples of a function: cumulative sums, differences, sorting, integrals, interpolation.
*/
#ifndef NSL_ARRAY_SAMPLES_H
#define NSL_ARRAY_SAMPLES_H

#include <lua.h>

/* Adds trapz and interp to the module on top of the stack, cumsum, diff and sort to the methods of vectors. */
void nsl_open_samples(lua_State *L);

#endif
