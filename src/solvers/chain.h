/*
** chain.h
** One loop for the chains of all families: it runs method after method until an answer is verified.
*/
#pragma once

#include "base/arena.h"
#include "base/clock.h"
#include "solvers/method.h"

/*
** A step of a chain; {0} ends the chain. A step without a method makes a loop: it jumps `back` steps back while `when` is true.
*/
typedef struct NsChainStep {
  const NsMethod *method;
  bool (*when)(const NsSearch *search); /* whether the step runs; NULL: always */
  int mode;                             /* passed to the method */
  bool exact; /* only a measure of at most search->exact ends the chain here; else the candidate is kept */
  bool tells; /* if the chain fails, it reports the outcome of its last such step */
  int back;
} NsChainStep;

/* The methods of a family (`list` ends with NULL) and their workspaces. */
typedef struct NsMethods {
  const NsMethod *const *list;
  void **work;
} NsMethods;

/* Makes all workspaces, listed in `arena`. NS_ENOMEM or the status of a method; also after a failure, release them. */
NsStatus ns_methods_reserve(NsMethods *methods, const NsMethod *const *list, NsArena *arena, NsSearch *search);
void ns_methods_release(NsMethods *methods);

/* A chain, and the workspaces of its steps. */
typedef struct NsChain {
  const NsChainStep *step;
  void **work;
} NsChain;

/* Gives each step the workspace of its method; allocates in `arena`. NS_ENOMEM; NS_EARG: a method is not in the list. */
NsStatus ns_chain_bind(NsChain *chain, const NsChainStep *steps, const NsMethods *methods, NsArena *arena);

/*
** Runs the steps in order. The status:
**   NS_OK        as soon as the best measure is at most search->exact, or a method returns NS_OK and the measure is at
**                most search->tolerance
**   NS_ENOCONV   in place of a method's NS_OK that the measure does not confirm
**   NS_EINTR, NS_ENOSOL and the failures in search->final, at once when a method returns one
**   NS_EINTR     also when a stop was asked for between two methods
**   NS_EMAXITER  after the deadline
** Otherwise the outcome of the last step that `tells`; if there is none, of the last step.
*/
NsOutcome ns_chain_run(const NsChain *chain, NsSearch *search);

/* The same for one method of the list, with mode 0. */
NsOutcome ns_method_run(const NsMethod *method, const NsMethods *methods, NsSearch *search);

static inline bool ns_search_late(const NsSearch *search) {
  return search->deadline > 0 && ns_clock_now() > search->deadline;
}
