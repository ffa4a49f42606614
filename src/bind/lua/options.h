/*
** options.h
** Checks of option tables.
*/
#pragma once

#include <lua.h>
#include <stdbool.h>

/*
** Raises unless a table is at idx, and for each key not in `known` (a list that ends with NULL), which the message shows. When
** a key is an alternative spelling of a known one (nslua.base.option_tables), a copy of the table with the known key replaces
** it at idx.
*/
void nsl_check_options(lua_State *L, int idx, const char *who, const char *const *known);

/* Whether the value at idx is an option table rather than an array: a table with a string among its keys. */
bool nsl_is_options(lua_State *L, int idx);
