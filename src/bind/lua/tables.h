/*
** tables.h
** Fields of Lua tables, a line each: results of a call, plain options, lists of numbers.
*/
#ifndef NSL_LUA_TABLES_H
#define NSL_LUA_TABLES_H

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

/* Push a list of n numbers, or set a field to it; `stride` numbers apart in x, which counts from 0. */
void nsl_push_list(lua_State *L, int n, const double *x, int stride);
void nsl_set_list(lua_State *L, const char *name, int n, const double *x);
void nsl_push_integers(lua_State *L, int n, const int *x);
void nsl_set_integers(lua_State *L, const char *name, int n, const int *x);

/* Set a field to the list of texts up to NULL. */
void nsl_set_texts(lua_State *L, const char *name, const char *const *texts);

/* Element i, from 1, of the list at idx: a number, an integer (0 for anything else). */
double nsl_list_number(lua_State *L, int idx, lua_Integer i);
int nsl_list_integer(lua_State *L, int idx, lua_Integer i);

/* A field of the table at idx, unchecked but for luaL_optnumber: a number (`missing` when absent), whether it is true. */
double nsl_field_number(lua_State *L, int idx, const char *name, double missing);
bool nsl_field_flag(lua_State *L, int idx, const char *name);

#endif
