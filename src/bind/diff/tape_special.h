/*
** tape_special.h
** What tape_watch.c and tape_special.c share: the watch, and the functions of Lua's library that take other ones in their place.
*/
#pragma once

#include "ad/bytecode.h"
#include "bind/diff/tape_watch.h"

#define NSL_NO_EFFECTS ": a compiled callback must have no side effects"

enum { NSL_PENDING = 16 }; /* most registers that wait for their values */

/* A register that gets its value back at the next instruction of its frame, which is one of two. */
typedef struct NslPending {
  const void *frame;
  int reg, next[2];
} NslPending;

struct NslWatch {
  NslTracer *tracer;
  NsBytecode code;
  bool lenient, exact;
  const void *made_in; /* the frame that has just made a table, in the register `made` */
  int made, pending;
  NslPending waits[NSL_PENDING];
  lua_Hook hook; /* what was set before */
  int mask, period;
};

/*
** User values of a watch. OUTSIDE: the identities of the variables that the script has outside. INSIDE: the tables that the trace has made.
** REFUSED: what it was ended by, which the script may have caught.
*/
enum {
  NSL_WATCH_PREVIOUS = 1,
  NSL_WATCH_COPIES,
  NSL_WATCH_DUMPS,
  NSL_WATCH_OUTSIDE,
  NSL_WATCH_VARIABLES,
  NSL_WATCH_SAVED,
  NSL_WATCH_INSIDE,
  NSL_WATCH_REFUSED,
  NSL_WATCH_VALUES = NSL_WATCH_REFUSED
};

/* Pushes the present watch; NULL, and nil is pushed, when there is none. */
NslWatch *nsl_watch_push(lua_State *L);

/* Lets the watch, or nil, on top of the stack be the present one; pops it. */
void nsl_watch_set(lua_State *L);

/* Records an operation of two nodes; returns its node. */
int nsl_watch_record(lua_State *L, const NslWatch *w, NsTapeOp op, int a, int b);

/* Raises again what the present watch has refused, which the function may have caught. */
void nsl_watch_check(lua_State *L);

/* The node of the traced number at idx of the present trace; -1: it is none. */
int nsl_watch_node(lua_State *L, const NslWatch *w, int idx);

/* Raises the text on top of the stack, with the place of the function that is watched. */
int nsl_watch_refuse(lua_State *L);

/* Remembers the table on top of the stack, which the trace has made; it stays. */
void nsl_watch_keep(lua_State *L);

/* Whether what is at idx, which is written to, was there before the trace: it is no table of the trace and no traced vector. */
bool nsl_watch_is_outside(lua_State *L, int idx);

/* The number of the function on top among those that have another one in their place; -1: none. Raises where it acts outside. */
int nsl_special_of(lua_State *L);

/* Puts that other one in the place of the function on top. */
void nsl_special_push(lua_State *L, int number);

/* Raises where the function of C on top is one of coroutine.wrap from before the trace. */
void nsl_special_check_wrap(lua_State *L);
