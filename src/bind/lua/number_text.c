/*
** number_text.c
** number_support: Lua's conversions of numbers to text, the same in every locale. Lua's %g, tostring and .. use the decimal
** point of the host's locale; files, pages and programs expect a point.
*/
#include "bind/lua/object.h"
#include "bind/lua/open.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "io/csv.h"

/* Calls the function in upvalue 1 with the arguments, in the C locale for numbers. */
static int number_text_call_plainly(lua_State *L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  locale_t before = ns_locale_begin();
  int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
  ns_locale_end(before);
  return status == LUA_OK ? lua_gettop(L) : lua_error(L);
}

/* exact(x): the number in 15 digits, or in 17 where these are not all of it. */
static int number_text_exact(lua_State *L) {
  double x = luaL_checknumber(L, 1);
  char text[40];
  ns_print(text, sizeof text, "%.15g", x);
  if (ns_read_double(text, NULL) != x) ns_print(text, sizeof text, "%.17g", x);
  return lua_pushstring(L, text), 1;
}

/*
** cell(text [, value]): the text as a CSV cell, quoted where necessary. A true `value` says that an empty text means nothing
** and one that reads as a number means the number; these are then not quoted.
*/
static int csv_cell(lua_State *L) {
  size_t size;
  const char *text = luaL_checklstring(L, 1, &size);
  bool quoted = lua_toboolean(L, 2) ? ns_csv_breaks_cell(text, size) : ns_csv_needs_quotes(text, size);
  lua_settop(L, 1);
  if (!quoted) return 1;
  luaL_Buffer b;
  luaL_buffinit(L, &b);
  luaL_addchar(&b, '"');
  for (size_t i = 0; i < size; i++) {
    if (text[i] == '"') luaL_addchar(&b, '"');
    luaL_addchar(&b, text[i]);
  }
  luaL_addchar(&b, '"');
  luaL_pushresult(&b);
  return 1;
}

/* Adds the function NAME of the library LIBRARY ("_G": a global one), wrapped to use the C locale, to the table on top. */
static void add_plain(lua_State *L, const char *library, const char *name) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, library);
  lua_getfield(L, -1, name);
  lua_pushcclosure(L, number_text_call_plainly, 1);
  lua_setfield(L, -4, name);
  lua_pop(L, 2);
}

void nsl_open_number(lua_State *L) {
  lua_createtable(L, 0, 5);
  add_plain(L, "string", "format");
  add_plain(L, "table", "concat");
  add_plain(L, "_G", "tostring");
  nsl_set_cfunction(L, "cell", csv_cell);
  nsl_set_cfunction(L, "exact", number_text_exact);
  lua_setfield(L, -2, "number_support");
}
