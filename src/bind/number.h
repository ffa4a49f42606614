/*
** number.h
** number_support: numbers as text for the Lua side.
*/
#ifndef NSL_BIND_NUMBER_H
#define NSL_BIND_NUMBER_H

#include "bind/support.h"

/* Adds number_support = { format, concat, tostring, cell } to the module on top of the stack. */
void nsl_open_number(lua_State *L);

#endif
