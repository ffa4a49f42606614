/*
** tables.h
** Fields of Lua tables, a line each: results of a call, plain options, lists of numbers.
*/
#pragma once

#include <lua.h>
#include <stdbool.h>

/* Set a field of the table on top of the stack. */
void nsl_set_number(lua_State *L, const char *name, double x);
void nsl_set_integer(lua_State *L, const char *name, lua_Integer x);
void nsl_set_boolean(lua_State *L, const char *name, bool x);
void nsl_set_string(lua_State *L, const char *name, const char *text);
void nsl_set_cfunction(lua_State *L, const char *name, lua_CFunction f);

/* Pushes nil and a text that says why; returns 2. */
int nsl_nil(lua_State *L, const char *why);

/* Pushes a list of n numbers, `stride` numbers apart in x. */
void nsl_push_list(lua_State *L, int n, const double *x, int stride);

/* A field of the table at idx, a number; `missing` when it is absent. Raises only as luaL_optnumber. */
double nsl_field_number(lua_State *L, int idx, const char *name, double missing);
