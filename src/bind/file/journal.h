/*
** journal.h
** journal_support: journals and folders for the Lua side.
*/
#ifndef NSL_FILE_JOURNAL_H
#define NSL_FILE_JOURNAL_H

#include <lua.h>

/* Adds journal_support = { open, read, make_folder, list_folder, remove_folder } to the module on top of the stack. */
void nsl_open_journal(lua_State *L);

#endif
