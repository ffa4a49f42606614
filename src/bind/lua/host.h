/*
** host.h
** The binding's state for one Lua state: the running thread, the simulation's progress, the error of a callback.
*/
#pragma once

#include "bind/lua/object.h"
#include "simulation/time_stepping.h"

typedef struct NslCallback NslCallback;

/* One per lua_State (and its coroutines); kept in the registry. */
typedef struct NslHost {
  lua_State *L;               /* the thread that called the engine last */
  const NsProgress *progress; /* progress of its simulation; NULL outside of one */
  const NslCallback *running; /* the running callback; NULL: none */
  uint64_t class_version;     /* number of changes to classes made by ns.class */
  struct NslCallee *watched;  /* a list of those that have, or had, compiled callbacks that depend on fields or variables */
  uint64_t runs;              /* counts runs, from 1 */
  uint64_t asides;            /* counts reads of watched numbers (reads.h) */
  size_t unseen;              /* bytes of engine memory not yet reported to the garbage collector (nsl_count_memory) */
  int callees;                /* registry reference: weak list of callees */
} NslHost;

/* Returns the host of L. */
NslHost *nsl_host(lua_State *L);

/* What nsl_enter changed, for nsl_leave to restore; edges nest. */
typedef struct NslEdge {
  lua_State *L;
  const NsProgress *progress;
  NsNsds *nsds; /* marked busy between enter and leave; NULL: none */
  bool busy;    /* whether nsds was busy before */
} NslEdge;

/* Enters the engine. nsds: the graph that must not change meanwhile; NULL: none, or the called function marks it busy. */
NslEdge nsl_enter(NslHost *host, lua_State *L, const NsProgress *progress, const NsNsds *nsds);
void nsl_leave(NslHost *host, NslEdge edge);

/* Pushes our userdata that starts at `object`, nil if it was collected. C thus needs no reference that keeps it alive. */
void nsl_push_object(lua_State *L, const void *object);

/* Registers the userdata at idx for nsl_push_object. */
void nsl_remember_object(lua_State *L, int idx);

/* Pops a value and keeps it as the error that the next nsl_raise_step raises. Raises nothing itself. */
void nsl_keep_error(lua_State *L);

/* Pushes NSL_NO_STACK, for a callback without stack space: without an allocation, into Lua's reserved slots. */
void nsl_push_no_stack(lua_State *L);

/* Drops the kept error when it is a text that contains `part`; returns whether it did. */
bool nsl_forget_error(lua_State *L, const char *part);

/* Raises err: for NS_ECALLBACK the callback's own error object, otherwise as nsl_raise. */
int nsl_raise_step(lua_State *L, const NsError *err);
