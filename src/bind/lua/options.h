/*
** options.h
** Option tables: what may stand in one.
*/
#ifndef NSL_LUA_OPTIONS_H
#define NSL_LUA_OPTIONS_H

#include <lua.h>
#include <stdbool.h>

/*
** Raises unless a table is at idx. Raises for a key that is not among the known ones, which the message lists; NULL ends
** them. Where a key is another spelling of a known one (nslua.base.option_tables), a copy with the known one replaces the
** table at idx.
*/
void nsl_check_options(lua_State *L, int idx, const char *who, const char *const *known);

/* Whether the value at idx is a table with a string among its keys: an option table rather than an array. */
bool nsl_is_options(lua_State *L, int idx);

/* Puts on_option into the module on top of the stack. */
void nsl_open_options(lua_State *L);

#endif
