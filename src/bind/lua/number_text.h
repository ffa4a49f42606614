/*
** number_text.h
** number_support: numbers as text for the Lua side.
*/
#ifndef NSL_LUA_NUMBER_TEXT_H
#define NSL_LUA_NUMBER_TEXT_H

#include "bind/lua/object.h"

/* Adds number_support = { format, concat, tostring, cell } to the module on top of the stack. */
void nsl_open_number(lua_State *L);

#endif
