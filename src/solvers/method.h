/*
** method.h
** What every solver of this room is: a method that looks for a solution of one family of problems.
*/
#ifndef NS_SOLVERS_METHOD_H
#define NS_SOLVERS_METHOD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* What a method can take, in bits: matrices, contacts of one dimension; and whether it does without factors of the matrix. */
enum { NS_TAKES_DENSE = 1, NS_TAKES_SPARSE = 2, NS_TAKES_PLANE = 4, NS_TAKES_SPACE = 8, NS_WITHOUT_FACTORS = 16 };

/*
** One search for a solution. A family of problems has a struct of its own with a search as its first member: the problem, the
** guess, the options and the best candidate stand there. Methods hand each candidate to the family, which measures it.
*/
typedef struct NsSearch {
  double tolerance; /* an answer measures at most this */
  double exact;     /* a candidate that measures at most this ends the search, whatever its method says */
  double least;     /* the measure of the best candidate so far; INFINITY: there is none */
  double deadline;  /* the time (ns_search_now) at which the search ends; 0: none */
  unsigned final;   /* failures that end the search: 1u << status for each; NS_EINTR and NS_ENOSOL always do */
} NsSearch;

/* What a method did. */
typedef struct NsOutcome {
  NsStatus status;    /* NS_OK: the best candidate is an answer; NS_ENOSOL: it is proved that there is none; else it failed */
  int iterations;     /* in the units of the method: pivots, sweeps, steps */
  const char *solver; /* the name that an answer gives */
  bool warm;          /* the guess was right but for rounding */
} NsOutcome;

/* A method. One file holds it and states what it assumes, where it ends, and the paper. */
typedef struct NsMethod {
  const char *name;           /* by which scripts ask for it; NULL: it works in chains alone */
  const char *const *aliases; /* other names, ending with NULL; NULL: none */
  unsigned takes;             /* NS_TAKES_... */
  const char *needs;          /* what a problem must have, for messages: "a positive diagonal"; NULL: nothing */
  NsStatus (*reserve)(void **work, NsSearch *search); /* makes the workspace for the sizes in `search`; NULL: it needs none */
  void (*release)(void *work);                        /* frees it (NULL as well); NULL: the family's arena holds it */
  NsOutcome (*run)(void *work, NsSearch *search, int mode); /* mode: 0 when it was asked for by name; else see its header */
} NsMethod;

/*
** The names by which scripts ask for the methods of a list (ending with NULL) that take all of `takes`: name k from 0 on, NULL
** after the last. Name 0 is "default", the chain, for which *method is NULL; then come the names of each method, aliases after it.
*/
const char *ns_method_name(const NsMethod *const *list, unsigned takes, int k, const NsMethod **method);

/* These names for a message, "'default', 'psor' or 'pgs'", in `size` bytes. */
void ns_method_words(const NsMethod *const *list, unsigned takes, char *to, size_t size);

#endif
