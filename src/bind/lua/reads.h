/*
** reads.h
** Which numbers of a model a script's functions read by themselves, besides what the engine gives them.
*/
#pragma once

#include "bind/lua/host.h"
#include "model/parameter_place.h"

/*
** A callback gets z as an argument, whose derivatives are exact. It may as well read these numbers in a vector that is a variable outside of
** it, by a view (ds:z()), or by a method (law:mu()). While the objects that have them are watched, such reads are noted: in
** `read_aside` of the parameters, and in `asides` of the host, which tells a trace that it has a number as a constant.
*/

/*
** A number of a parameter, whose flag it has; owner: its object of the engine, NULL: it is in vectors z, or an initial value; of: our object for
** that. An initial value may be read where no callback runs.
*/
typedef struct NslReadNumber {
  const double *number;
  const void *owner;
  const NslHead *of;
  bool initial, *flag;
} NslReadNumber;

/* User value 1: the list of the watched objects. The flags stand behind the numbers. */
typedef struct NslReads {
  NslHead head;
  NslHost *host;
  int count;
  NslReadNumber number[];
} NslReads;

/* Pushes a record for p parameters (of: with those that move along), whose `read_aside` point into it from now on. */
void nsl_push_reads(lua_State *L, NsParameter *of, int p);

/*
** Has the record at stack index `at` watch our object at idx where n numbers of it are parameters', or those of the engine's object
** `owner`. The record keeps the object alive. nsl_reads_end: nothing is watched any more.
*/
void nsl_reads_watch_numbers(lua_State *L, int at, int idx, const double *numbers, ptrdiff_t n);
void nsl_reads_watch_owner(lua_State *L, int at, int idx, const void *owner);
void nsl_reads_end(lua_State *L, int at);

/* Whether a number is one of n numbers from `first` on, `stride` apart, or lies between them. */
bool nsl_read_within(const double *number, const double *first, ptrdiff_t n, ptrdiff_t stride);

/* Where an object is watched: notes that n numbers, `stride` apart, are read by a view of it; that a callback calls a method of it. */
void nsl_note_numbers(const NslHead *view, const double *numbers, ptrdiff_t n, ptrdiff_t stride);
void nsl_note_object(const NslHead *object);
