/*
** chain.h
** One loop for the methods of every family: each is tried when its turn has come, until there is a verified answer.
*/
#ifndef NS_SOLVERS_CHAIN_H
#define NS_SOLVERS_CHAIN_H

#include "base/arena.h"
#include "solvers/method.h"

/*
** A step of a chain; a chain ends with {0}. A step without a method goes back by `back` steps while `when` says so: that makes
** rounds.
*/
typedef struct NsChainStep {
  const NsMethod *method;
  bool (*when)(const NsSearch *search); /* NULL: always */
  int mode;                             /* for the method */
  bool exact;                           /* an answer must measure at most `exact`; one within the tolerance is kept, no more */
  bool tells;                           /* when the chain fails, the outcome of the last such step is the chain's */
  int back;
} NsChainStep;

/* The methods of a family (`list` ends with NULL) and their workspaces. */
typedef struct NsMethods {
  const NsMethod *const *list;
  void **work;
} NsMethods;

/* Makes all workspaces; `arena` holds the list of them. NS_ENOMEM, ...: to be released as well. */
NsStatus ns_methods_reserve(NsMethods *methods, const NsMethod *const *list, NsArena *arena, NsSearch *search);
void ns_methods_release(NsMethods *methods);

/* A chain, and the workspace of each of its steps. */
typedef struct NsChain {
  const NsChainStep *step;
  void **work;
} NsChain;

/* Binds the steps to the workspaces of their methods; `arena` holds what it makes. NS_ENOMEM; NS_EARG: a method is not in the list. */
NsStatus ns_chain_bind(NsChain *chain, const NsChainStep *steps, const NsMethods *methods, NsArena *arena);

/*
** Runs the steps in their order. Ends with NS_OK as soon as the best candidate measures at most search->exact, or a method says
** NS_OK and the measure is within search->tolerance; what a method says and the measure does not confirm is NS_ENOCONV. Ends with
** NS_EINTR, NS_ENOSOL and the failures of search->final when a method says so, with NS_EINTR when a stop was asked for between two
** methods, with NS_EMAXITER after the deadline. Else the outcome is that of the last step that `tells`, without one that of the last
** step.
*/
NsOutcome ns_chain_run(const NsChain *chain, NsSearch *search);

/* The same for one method of a list alone, mode 0. */
NsOutcome ns_method_run(const NsMethod *method, const NsMethods *methods, NsSearch *search);

/* Seconds of a steady clock; whether the deadline has passed. */
double ns_search_now(void);
static inline bool ns_search_late(const NsSearch *search) {
  return search->deadline > 0 && ns_search_now() > search->deadline;
}

#endif
