/*
** method.h
** The interface of every solver here: a method looks for a solution of one family of problems.
*/
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* What a method accepts, in bits: kinds of matrices, contacts in the plane or in space; and whether it factors no matrix. */
enum { NS_TAKES_DENSE = 1, NS_TAKES_SPARSE = 2, NS_TAKES_PLANE = 4, NS_TAKES_SPACE = 8, NS_WITHOUT_FACTORS = 16 };

/*
** One search for a solution. Each family of problems has its own struct, whose first member is an NsSearch; it holds the
** problem, the guess, the options and the best candidate. A method hands each candidate to the family, which measures it.
*/
typedef struct NsSearch {
  double tolerance; /* an answer has at most this measure */
  double exact;     /* a candidate with at most this measure ends the search, whatever the method's status */
  double least;     /* the measure of the best candidate so far; INFINITY: there is none */
  double deadline;  /* the time (ns_clock_now) at which the search ends; 0: no limit */
  unsigned final;   /* bits 1u << status: failures that end the search; NS_EINTR and NS_ENOSOL always do */
} NsSearch;

/* What a method did, in 16 bytes: it is returned in registers. */
typedef struct NsOutcome {
  NsStatus status : 16; /* NS_OK: the best candidate is an answer; NS_ENOSOL: it is proved that there is none; else it failed */
  bool warm : 1;        /* the guess was right but for rounding */
  int iterations;       /* in the units of the method: pivots, sweeps, steps */
  const char *solver;   /* the name that an answer gives */
} NsOutcome;

/* A method. Its file states its assumptions, when it ends, and its paper. */
typedef struct NsMethod {
  const char *name;           /* the name that scripts use; NULL: for chains only */
  const char *const *aliases; /* other names, NULL at the end; NULL: none */
  unsigned takes;             /* NS_TAKES_... */
  const char *needs;          /* what a problem must have, in words for messages: "a positive diagonal"; NULL: nothing */
  NsStatus (*reserve)(void **work, NsSearch *search); /* makes the workspace for the sizes in `search`; NULL: it has none */
  void (*release)(void *work);                        /* frees the workspace (or NULL); NULL: it lies in the family's arena */
  NsOutcome (*run)(void *work, NsSearch *search,
                   int mode); /* mode: 0 when a script asked for the method; else see its header */
} NsMethod;

/*
** Name k (from 0) of the methods in `list` (NULL at the end) that accept all of `takes`; NULL after the last name. Name
** 0 is "default", the chain (*method is NULL). Then come the names of each method, each followed by its aliases.
*/
const char *ns_method_name(const NsMethod *const *list, unsigned takes, int k, const NsMethod **method);

/* Writes these names for a message, "'default', 'psor' or 'pgs'", into `to` (`size` bytes). */
void ns_method_words(const NsMethod *const *list, unsigned takes, char *to, size_t size);
