/*
** journal.c
** journal_support for the Lua side: append-only journals, and folders.
*/
#include "bind/lua/open.h"

#include "bind/lua/object.h"
#include "io/folder.h"
#include "io/journal.h"

/* ---- appending ---- */

typedef struct Journal {
  NslHead head;
  NsJournal *journal; /* NULL: closed */
} Journal;

static const NslType journal_type = {.name = "internal.journal"};

static int bind_journal_close(lua_State *L) {
  Journal *self = lua_touserdata(L, 1);
  ns_journal_close(self->journal);
  self->journal = NULL;
  return 0;
}

static NsJournal *check_journal(lua_State *L) {
  Journal *self = nsl_check(L, 1, &journal_type);
  if (!self->journal) luaL_error(L, "the journal is closed");
  return self->journal;
}

/* open(path): a journal for appending; nil and a message when that fails. */
static int bind_journal_open(lua_State *L) {
  const char *path = nsl_path(L, 1, "journal", "file");
  NsError err = {NS_OK, ""};
  Journal *self = nsl_new(L, &journal_type, sizeof *self, 0);
  if (ns_journal_open(&self->journal, path, &err) == NS_OK) return 1;
  return nsl_nil(L, err.text);
}

/* holder(path): the number of the process that has a journal open for appending; nothing when there is none. */
static int bind_journal_holder(lua_State *L) {
  long pid = ns_journal_holder(nsl_path(L, 1, "journal", "file"));
  if (pid == 0) return 0;
  return lua_pushinteger(L, pid), 1;
}

/* journal:append(record) */
static int bind_journal_append(lua_State *L) {
  size_t size;
  NsJournal *journal = check_journal(L);
  const char *bytes = luaL_checklstring(L, 2, &size);
  if (ns_journal_append(journal, bytes, size) != NS_OK) luaL_error(L, "not enough memory");
  return 0;
}

/* journal:sync(): true, or nil and a message. */
static int bind_journal_sync(lua_State *L) {
  NsError err = {NS_OK, ""};
  if (ns_journal_sync(check_journal(L), &err) == NS_OK) return lua_pushboolean(L, true), 1;
  return nsl_nil(L, err.text);
}

/* ---- reading ---- */

typedef struct Reader {
  NslHead head;
  NsJournalReader *reader;
} Reader;

static const NslType reader_type = {.name = "internal.journal_reader"};

static int bind_reader_close(lua_State *L) {
  Reader *self = lua_touserdata(L, 1);
  ns_journal_read_close(self->reader);
  self->reader = NULL;
  return 0;
}

/* The iterator of read(): the next record, or nil. */
static int bind_reader_next(lua_State *L) {
  const char *bytes;
  size_t size;
  NsStatus status;
  Reader *self = lua_touserdata(L, lua_upvalueindex(1));
  if (!self->reader) return 0;
  if (ns_journal_next(self->reader, &bytes, &size, &status)) return lua_pushlstring(L, bytes, size), 1;
  if (status != NS_OK) luaL_error(L, "not enough memory");
  return 0;
}

/* read(path): an iterator over the whole records of a journal; nil and a message when it can't be read. */
static int bind_journal_read(lua_State *L) {
  const char *path = nsl_path(L, 1, "journal", "file");
  NsError err = {NS_OK, ""};
  Reader *self = nsl_new(L, &reader_type, sizeof *self, 0);
  if (ns_journal_read(&self->reader, path, &err) != NS_OK) return nsl_nil(L, err.text);
  return lua_pushcclosure(L, bind_reader_next, 1), 1;
}

/* ---- folders ---- */

/* Calls an engine function of a path; true, or nil and a message. */
static int on_path(lua_State *L, NsStatus (*call)(const char *path, NsError *err)) {
  NsError err = {NS_OK, ""};
  if (call(nsl_path(L, 1, "folder", "path"), &err) == NS_OK) return lua_pushboolean(L, true), 1;
  return nsl_nil(L, err.text);
}

static int bind_journal_make_folder(lua_State *L) {
  return on_path(L, ns_folder_make);
}

static int bind_journal_remove_folder(lua_State *L) {
  return on_path(L, ns_folder_remove);
}

/* Names of at most NAMES bytes in all are collected: no Lua error may be raised while the folder is open. */
typedef struct Names {
  size_t used, room;
  char *bytes;
} Names;

static void collect_name(void *context, const char *name) {
  Names *names = context;
  for (; names->used < names->room; name++) {
    names->bytes[names->used++] = *name;
    if (!*name) return;
  }
}

/* list_folder(path): the names in a folder, sorted by the caller; nil and a message when it can't be read. */
static int bind_journal_list_folder(lua_State *L) {
  enum { ROOM = 1 << 20 }; /* bytes of all names together; a sweep's folder has some hundred names */
  const char *path = nsl_path(L, 1, "folder", "path");
  NsError err = {NS_OK, ""};
  Names names = {0, ROOM, lua_newuserdatauv(L, ROOM, 0)};
  if (ns_folder_list(path, collect_name, &names, &err) != NS_OK) return nsl_nil(L, err.text);
  if (names.used == names.room) return luaL_error(L, "cannot read '%s': it holds too many names", path);
  lua_newtable(L);
  lua_Integer n = 0;
  for (size_t i = 0, from = 0; i < names.used; i++) {
    if (names.bytes[i]) continue;
    lua_pushstring(L, names.bytes + from);
    lua_rawseti(L, -2, ++n);
    from = i + 1;
  }
  return 1;
}

void nsl_open_journal(lua_State *L) {
  static const luaL_Reg methods[] = {
      {"append", bind_journal_append}, {"sync", bind_journal_sync}, {"close", bind_journal_close}, {NULL, NULL}};
  static const luaL_Reg meta[] = {{"__gc", bind_journal_close}, {"__close", bind_journal_close}, {NULL, NULL}};
  static const luaL_Reg reader_meta[] = {{"__gc", bind_reader_close}, {NULL, NULL}};
#define ROW(name)                                                                                                              \
  { #name, bind_journal_##name }
  static const luaL_Reg functions[] = {ROW(open),          ROW(read),        ROW(holder), ROW(make_folder),
                                       ROW(remove_folder), ROW(list_folder), {NULL, NULL}};
  nsl_register_type(L, &journal_type, meta, methods);
  nsl_register_type(L, &reader_type, reader_meta, NULL);
  luaL_newlib(L, functions);
  lua_setfield(L, -2, "journal_support");
}
