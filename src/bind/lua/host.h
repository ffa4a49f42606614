/*
** host.h
** What the binding knows of one Lua universe: who runs, where a step stands, what a callback raised.
*/
#ifndef NSL_LUA_HOST_H
#define NSL_LUA_HOST_H

#include "bind/lua/object.h"
#include "simulation/time_stepping.h"

typedef struct NslCallback NslCallback;

/* One per lua_State (and its coroutines); kept in the registry. */
typedef struct NslHost {
  lua_State *L;               /* the thread that called into the engine last */
  const NsProgress *progress; /* where its simulation stands; NULL outside of one */
  const NslCallback *running; /* the callback that runs; NULL outside */
  uint64_t class_version;     /* counts the changes of classes made by ns.class */
  bool compiled_methods;      /* there are, or were, compiled methods: their objects' fields are looked at when a step begins */
  size_t unseen;              /* bytes of the engine that the garbage collector has not been told of: nsl_count_memory */
  int sheets;                 /* a reference in the registry: callee (its address) -> sheet, weak */
} NslHost;

/* The host of L. */
NslHost *nsl_host(lua_State *L);

/* What an API edge has set, to be put back; edges nest. */
typedef struct NslEdge {
  lua_State *L;
  const NsProgress *progress;
  NsNsds *nsds; /* which is busy meanwhile; NULL */
  bool busy;    /* whether it was before */
} NslEdge;

/* nsds: a graph in which nothing may change meanwhile; NULL: none, or what is called sees to that itself. */
NslEdge nsl_enter(NslHost *host, lua_State *L, const NsProgress *progress, const NsNsds *nsds);
void nsl_leave(NslHost *host, NslEdge edge);

/*
** Pushes the userdata of ours that starts at `object` (nil if it is gone): the way back from C to Lua, without a
** reference that would keep it.
*/
void nsl_push_object(lua_State *L, const void *object);

/* Makes the userdata at idx known to nsl_push_object. */
void nsl_remember_object(lua_State *L, int idx);

/* Keeps the value on top of the stack (popped) as what the next nsl_raise_callback raises. Raises nothing itself. */
void nsl_keep_error(lua_State *L);

/*
** Pushes NSL_NO_STACK for an error of a callback that finds no room on the stack: without an allocation, into the slots
** that Lua keeps in reserve.
*/
void nsl_push_no_stack(lua_State *L);

/* Forgets the error that is kept when it is a text with this part in it; whether it did. */
bool nsl_forget_error(lua_State *L, const char *part);

/* Raises err: for NS_ECALLBACK what the callback raised, as it was; otherwise nsl_raise. */
int nsl_raise_step(lua_State *L, const NsError *err);

void nsl_open_host(lua_State *L);

#endif
