/*
** mpi_module.c
** luaopen_nslua_mpi: the optional module by which sweeps run on the ranks of an MPI launcher.
*/
#include <lauxlib.h>
#include <lua.h>
#include <stdlib.h>
#include <unistd.h>

#include "bind/file/core_functions.h"
#include "bind/lua/object.h"
#include "workers/mpi.h"

/* Seconds in which the last messages to other ranks may leave at the end of the process. */
static const double LAST_MESSAGES = 5;

static const NsEngine *engine;
static int rank, count; /* of this process; count 0 before start */
static bool any_lost;   /* some rank is gone */
static pid_t owner;     /* the process that has joined; a copy of it leaves MPI alone */

static int mpi_raises(lua_State *L, const NsError *err) {
  lua_pushboolean(L, false); /* not nil, which ends a loop over receive */
  lua_pushstring(L, err->text);
  return 2;
}

/* The end of the process: a message tells the other ranks that no more sweeps come, and "lost" that a rank is. */
static void mpi_leave(void) {
  NsError err;
  if (getpid() != owner) return;
  for (int i = 1; rank == 0 && i < count; i++) ns_mpi_send(i, "lost", any_lost ? 4 : 0, &err);
  ns_mpi_finish(LAST_MESSAGES);
}

/* start(): this process's rank, from 0, and how many there are; false and a message when that fails. */
static int mpi_start(lua_State *L) {
  NsError err = {NS_OK, ""};
  bool first = count == 0;
  if (ns_mpi_start(engine, &rank, &count, &err) != NS_OK) return mpi_raises(L, &err);
  owner = getpid();
  if (first) atexit(mpi_leave);
  lua_pushinteger(L, rank);
  lua_pushinteger(L, count);
  return 2;
}

/* send(rank, bytes): true; false and a message. */
static int mpi_send(lua_State *L) {
  NsError err = {NS_OK, ""};
  size_t size;
  int to = (int)luaL_checkinteger(L, 1);
  const char *bytes = luaL_checklstring(L, 2, &size);
  luaL_argcheck(L, count > 0 && to >= 0 && to < count, 1, "no such rank");
  if (ns_mpi_send(to, bytes, size, &err) != NS_OK) return mpi_raises(L, &err);
  return lua_pushboolean(L, true), 1;
}

/* receive(): the rank of a sender and its message; nothing when none has come; false and a message. */
static int mpi_receive(lua_State *L) {
  NsError err = {NS_OK, ""};
  const char *bytes = NULL;
  size_t size = 0;
  int from = 0;
  luaL_argcheck(L, count > 0, 1, "start comes first");
  if (ns_mpi_receive(&from, &bytes, &size, &err) != NS_OK) return mpi_raises(L, &err);
  if (!bytes) return 0;
  lua_pushinteger(L, from);
  lua_pushlstring(L, bytes, size);
  return 2;
}

/* lose(rank): the rank is gone. */
static int mpi_lose(lua_State *L) {
  int gone = (int)luaL_checkinteger(L, 1);
  luaL_argcheck(L, gone >= 0 && gone < count, 1, "no such rank");
  ns_mpi_lose(gone);
  any_lost = true;
  return 0;
}

/* abandoned(): whether the process of rank 0 has ended. */
static int mpi_abandoned(lua_State *L) {
  luaL_argcheck(L, count > 0, 1, "start comes first");
  return lua_pushboolean(L, ns_mpi_abandoned()), 1;
}

NSL_EXPORT int luaopen_nslua_mpi(lua_State *L) {
  static const luaL_Reg functions[] = {{"start", mpi_start}, {"send", mpi_send},           {"receive", mpi_receive},
                                       {"lose", mpi_lose},   {"abandoned", mpi_abandoned}, {NULL, NULL}};
  luaL_checkversion(L);
  engine = nsl_borrow(L, "nslua.mpi");
  luaL_newlib(L, functions);
  lua_pushstring(L, ns_mpi_version());
  lua_setfield(L, -2, "version");
  return 1;
}
